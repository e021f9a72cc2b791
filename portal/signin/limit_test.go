package signin_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

// retryAfter asks and returns after how many seconds to ask again; 0 means that a mail is on its way.
func retryAfter(t *testing.T, b *browser, email string) string {
	t.Helper()
	got := b.ask(email)
	switch got.status {
	case http.StatusAccepted:
		return "0"
	case http.StatusTooManyRequests:
		if got.errorCode() != "too_many_mails" {
			t.Errorf("code %q", got.errorCode())
		}
		return got.header.Get("Retry-After")
	}
	t.Fatalf("asking: %d %s", got.status, got.body)
	return ""
}

func TestLimitOfAnAddress(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		asks := 0
		ask := func(email, want string) {
			t.Helper()
			asks++
			b := w.browser()
			b.from = fmt.Sprintf("192.0.2.%d:1", asks) // always somebody else
			if got := retryAfter(t, b, email); got != want {
				t.Errorf("ask %d, %s, at %s: retry after %s s, want %s", asks, email, time.Now().Format(time.TimeOnly), got, want)
			}
		}
		for _, email := range []string{"asha@example.org", "ASHA@example.org", " asha@EXAMPLE.org"} {
			ask(email, "0")
			time.Sleep(time.Minute)
		}
		ask("asha@example.org", "720") // 12 minutes until the first one is 15 minutes old
		ask("ravi@example.org", "0")
		time.Sleep(12*time.Minute - time.Microsecond)
		ask("asha@example.org", "1")
		time.Sleep(time.Microsecond)
		ask("asha@example.org", "0")
		ask("asha@example.org", "60")
		for range 6 { // ten in all
			time.Sleep(15 * time.Minute)
			ask("asha@example.org", "0")
		}
		time.Sleep(15 * time.Minute)
		ask("asha@example.org", "79200") // it is two o'clock, and the first one was at midnight
		time.Sleep(79200*time.Second - time.Microsecond)
		ask("asha@example.org", "1")
		time.Sleep(time.Microsecond)
		ask("asha@example.org", "0")
		ask("asha@example.org", "60") // the second one is a day old in a minute
	})
}

func TestLimitOfAnIP(t *testing.T) {
	for _, tt := range []struct{ name, first, same, other string }{
		{"IPv4", "192.0.2.7:1", "192.0.2.7:65000", "192.0.2.8:1"},
		{"IPv4 in IPv6", "192.0.2.7:1", "[::ffff:192.0.2.7]:1", "192.0.2.8:1"},
		{"IPv6 by /64", "[2001:db8:0:1::1]:1", "[2001:db8:0:1:ffff:ffff:ffff:ffff]:1", "[2001:db8:0:2::1]:1"},
		{"unknown", "@", "", "192.0.2.8:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				n := 0
				ask := func(from, want string) {
					t.Helper()
					n++
					b := w.browser()
					b.from = from
					if got := retryAfter(t, b, fmt.Sprintf("person%d@example.org", n)); got != want {
						t.Errorf("ask %d from %s: retry after %s s, want %s", n, from, got, want)
					}
				}
				for i := range 20 {
					ask([]string{tt.first, tt.same}[i%2], "0")
					time.Sleep(time.Minute)
				}
				ask(tt.first, "2400")
				ask(tt.same, "2400")
				ask(tt.other, "0")
				time.Sleep(40*time.Minute - time.Microsecond)
				ask(tt.first, "1")
				time.Sleep(time.Microsecond)
				ask(tt.first, "0")
				ask(tt.first, "60")
			})
		})
	}
}

func TestLimitOfAll(t *testing.T) {
	inWorld(t, func(c *signin.Config) { c.TotalLimit = 5 }, func(t *testing.T, w *world) {
		n := 0
		ask := func(want string) {
			t.Helper()
			n++
			b := w.browser()
			b.from = fmt.Sprintf("192.0.2.%d:1", n)
			if got := retryAfter(t, b, fmt.Sprintf("person%d@example.org", n)); got != want {
				t.Errorf("ask %d: retry after %s s, want %s", n, got, want)
			}
		}
		for range 5 {
			ask("0")
			time.Sleep(time.Minute)
		}
		ask("3300")
		time.Sleep(55*time.Minute - time.Microsecond)
		ask("1")
		time.Sleep(time.Microsecond)
		ask("0")
	})
}

// Limits hold in the store: another process knows of them, and so does one that starts anew.
func TestLimitsAreShared(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for range 3 {
			b := w.browser()
			b.handler = w.another(nil)
			if got := retryAfter(t, b, "asha@example.org"); got != "0" {
				t.Errorf("retry after %s s", got)
			}
		}
		if got := retryAfter(t, w.browser(), "asha@example.org"); got != "900" {
			t.Errorf("the fourth, in another process: retry after %s s, want 900", got)
		}
	})
}

func TestClientIPIsAsked(t *testing.T) {
	behindProxy := func(c *signin.Config) {
		c.ClientIP = func(r *http.Request) netip.Addr {
			ip, _ := netip.ParseAddr(r.Header.Get("X-Real-IP"))
			return ip
		}
	}
	inWorld(t, behindProxy, func(t *testing.T, w *world) {
		for i := range 21 {
			r := request(http.MethodPost, "/auth/v1/email-link", fmt.Sprintf(`{"email":"person%d@example.org"}`, i))
			r.Header.Set("X-Real-IP", fmt.Sprintf("198.51.100.%d", i))
			if rec := httptest.NewRecorder(); true {
				w.issuer.ServeHTTP(rec, r)
				if rec.Code != http.StatusAccepted {
					t.Fatalf("client %d behind one proxy: got %d", i, rec.Code)
				}
			}
		}
	})
}

func TestOutboxFull(t *testing.T) {
	inWorld(t, func(c *signin.Config) { c.TotalLimit = 10000 }, func(t *testing.T, w *world) {
		w.mails.hold = make(chan struct{})
		ask := func(i int) reply {
			b := w.browser()
			b.from = fmt.Sprintf("192.0.%d.%d:1", i/250, i%250)
			return b.ask(fmt.Sprintf("person%d@example.org", i))
		}
		for i := range 200 {
			want(t, fmt.Sprint("mail ", i), ask(i), http.StatusAccepted, "")
		}
		w.store.trace()
		got := ask(200)
		want(t, "one mail more", got, http.StatusServiceUnavailable, "busy")
		if steps := w.store.trace(); len(steps) > 0 || got.header.Get("Retry-After") != "60" {
			t.Errorf("something was done for nothing: %v; retry after %q", steps, got.header.Get("Retry-After"))
		}
		close(w.mails.hold)
		if n := len(w.mails.all()); n != 200 {
			t.Errorf("%d mails were sent, want 200", n)
		}
		want(t, "when they are sent", ask(200), http.StatusAccepted, "")
		for range 500 { // what is refused takes no place
			w.browser().ask("not an address")
			w.store.fail = errors.New("away")
			w.browser().ask("asha@example.org")
			w.store.fail = nil
		}
		want(t, "after a thousand refusals", ask(201), http.StatusAccepted, "")
		if strings.Contains(w.log.String(), "panic") {
			t.Error(w.log.String())
		}
	})
}
