package signin_test

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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
				t.Errorf("ask %d, %s, at %s: retry after %s s, want %s", asks, email,
					time.Now().Format(time.TimeOnly), got, want)
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

// crowd asks for mails from many addresses, each for somebody else.
type crowd struct {
	t     *testing.T
	w     *world
	asked int
}

// asks asks from an address and returns after how many seconds to ask again; 0 means that a mail is on its way.
func (c *crowd) asks(from string) string {
	c.t.Helper()
	c.asked++
	b := c.w.browser()
	b.from = net.JoinHostPort(from, "1")
	got := retryAfter(c.t, b, fmt.Sprintf("person%d@example.org", c.asked))
	if got == "0" {
		c.w.mails.all() // so that the outbox has room
	}
	return got
}

func (c *crowd) want(from, want string) {
	c.t.Helper()
	if got := c.asks(from); got != want {
		c.t.Errorf("ask %d from %s at %s: retry after %s s, want %s", c.asked, from,
			time.Now().Format(time.TimeOnly), got, want)
	}
}

// takesAll asks from one address after the other of networks, as often as each is given a mail, and returns how many
// it got.
func (c *crowd) takesAll(networks int, address func(network, n int) string) (got int) {
	c.t.Helper()
	for network := range networks {
		for n := 0; c.asks(address(network, n)) == "0"; n++ {
			got++
		}
	}
	return got
}

func TestSharesOfNetworks(t *testing.T) {
	for name, tt := range map[string]struct {
		limit int
		// addresses of one network, of another of the same provider, and of another provider
		same, near, far func(n int) string
		network         int // mails that one network gets of an unused hour
		provider        int
	}{
		"IPv4": {
			1000, func(n int) string { return fmt.Sprintf("192.0.2.%d", n%250) },
			func(n int) string { return fmt.Sprintf("192.0.%d.%d", 3+n/3, n%3) },
			func(int) string { return "198.51.100.1" }, 47, 250,
		},
		"IPv6": {
			1000, func(n int) string { return fmt.Sprintf("2001:db8:7:%x::1", n) },
			func(n int) string { return fmt.Sprintf("2001:db8:%x:%x::1", 8+n/3, n%3) },
			func(int) string { return "2001:db9::1" }, 47, 250,
		},
		"IPv4 in IPv6": {
			1000, func(n int) string { return fmt.Sprintf("::ffff:192.0.2.%d", n%250) },
			func(n int) string { return fmt.Sprintf("192.0.%d.%d", 3+n/3, n%3) },
			func(int) string { return "198.51.100.1" }, 47, 250,
		},
		"a small limit": {
			40, func(n int) string { return fmt.Sprintf("192.0.2.%d", n) },
			func(n int) string { return fmt.Sprintf("192.0.%d.%d", 3+n/3, n%3) },
			func(int) string { return "198.51.100.1" }, 3, 10,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(c *signin.Config) { c.TotalLimit = tt.limit }, func(t *testing.T, w *world) {
				c := &crowd{t: t, w: w}
				for n := range tt.network {
					c.want(tt.same(n), "0")
				}
				c.want(tt.same(tt.network), "3600")
				for n := range tt.provider - tt.network {
					c.want(tt.near(n), "0")
				}
				c.want(tt.near(600), "3600")
				c.want(tt.far(0), "0")
				time.Sleep(time.Hour - time.Microsecond)
				c.want(tt.same(0), "1")
				time.Sleep(time.Microsecond)
				c.want(tt.same(0), "0")
				c.want(tt.near(600), "0")
			})
		})
	}
}

// Strangers with hundreds of networks of a few providers do not close signing in for anybody else.
func TestStrangersCannotCloseSigningIn(t *testing.T) {
	for name, address := range map[string]func(network, n int) string{
		"IPv4": func(network, n int) string { return fmt.Sprintf("10.%d.%d.%d", network%6, network/6, n) },
		"IPv6": func(network, n int) string { return fmt.Sprintf("2001:db%x:%x:%x::1", network%6, network, n) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				c := &crowd{t: t, w: w}
				got := c.takesAll(600, address)
				if got < 1000 || got > 1500 {
					t.Errorf("600 networks of 6 providers got %d mails, want all thousand, and at most a quarter for each", got)
				}
				for i, other := range []string{"198.51.100.1", "203.0.113.1", "2001:4860::1", "2a00::1"} {
					for range 3 {
						c.want(other, "0")
					}
					if retry := c.asks(other); retry != "3600" {
						t.Errorf("network %d asks for a fourth mail when none are left: retry after %s s", i, retry)
					}
				}
			})
		})
	}
}

// Twice the limit is the end, whoever asks.
func TestLimitOfAll(t *testing.T) {
	inWorld(t, func(c *signin.Config) { c.TotalLimit = 40 }, func(t *testing.T, w *world) {
		c := &crowd{t: t, w: w}
		got := c.takesAll(60, func(network, n int) string { return fmt.Sprintf("%d.%d.0.%d", 11+network, network, n) })
		if got != 80 {
			t.Errorf("%d mails were sent, want 80", got)
		}
		c.want("198.51.100.1", "3600")
		time.Sleep(time.Hour)
		c.want("198.51.100.1", "0")
	})
}

func TestTotalLimitOfTheConfiguration(t *testing.T) {
	for limit, ok := range map[int]bool{-1: false, 0: true, 1: true, signin.MaxTotalLimit: true,
		signin.MaxTotalLimit + 1: false} {
		_, err := signin.New(signin.Config{URL: serverURL, TotalLimit: limit}, newStore(), nil)
		if (err == nil) != ok {
			t.Errorf("%d mails in an hour: %v", limit, err)
		}
	}
}

// The largest record that the limits allow fits into a store.
func TestTheLargestShareFits(t *testing.T) {
	const networks = signin.MaxTotalLimit / 4
	record := `{"until":"2000-01-01T01:00:00Z","mails":5000,"networks":{` +
		strings.Repeat(`"20010db8ffff":250,`, networks) + `}}`
	if len(record) > 200_000 {
		t.Errorf("a record may have %d bytes, want at most 200,000", len(record))
	}
}

// Trying links and codes is limited, right or wrong, by link or by code, for each address by itself.
func TestLimitOfTries(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		b.ask("asha@example.org")
		mail := w.mails.one(t)
		stranger := w.browser()
		stranger.from = "[2001:db8::1]:1"
		for i := range 60 {
			stranger.from = fmt.Sprintf("[2001:db8::%x]:1", i) // one subscriber
			if i%2 == 0 {
				want(t, "a try", stranger.verifyToken(flip(mail.token, 70)), http.StatusBadRequest, "bad_link")
			} else {
				want(t, "a try", stranger.verifyCode("asha@example.org", "AAAA-AAAA"),
					http.StatusBadRequest, "bad_link")
			}
		}
		w.store.trace()
		got := stranger.verifyCode("asha@example.org", "AAAA-AAAA")
		want(t, "one more", got, http.StatusTooManyRequests, "too_many_tries")
		if got.header.Get("Retry-After") != "900" {
			t.Errorf("retry after %q s, want 900", got.header.Get("Retry-After"))
		}
		want(t, "and the right one from there", stranger.verifyToken(mail.token), http.StatusTooManyRequests,
			"too_many_tries")
		for _, step := range w.store.trace() {
			if step.kind != "verify" || step.written {
				t.Errorf("for what is refused the store was asked %+v", step)
			}
		}
		time.Sleep(15*time.Minute - 2*time.Second)
		want(t, "the person from elsewhere", b.verifyToken(mail.token), http.StatusOK, "")
		want(t, "the stranger", stranger.verifyToken(mail.token), http.StatusTooManyRequests, "too_many_tries")
		time.Sleep(2*time.Second - time.Microsecond)
		want(t, "just before the end", stranger.verifyToken(mail.token), http.StatusTooManyRequests, "too_many_tries")
		time.Sleep(time.Microsecond)
		want(t, "after it", stranger.verifyToken(flip(mail.token, 70)), http.StatusBadRequest, "bad_link")
		want(t, "what is not even a try", stranger.post("/auth/v1/verify", map[string]string{}), http.StatusBadRequest,
			"bad_request")
	})
}

// Tries that come all at once are counted one by one.
func TestLimitOfTriesAtOnce(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var mu sync.Mutex
		got := map[string]int{}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				r := w.browser().verifyCode("asha@example.org", "AAAA-AAAA")
				mu.Lock()
				defer mu.Unlock()
				got[r.errorCode()]++
			})
		}
		wg.Wait()
		if want := map[string]int{"bad_link": 60, "too_many_tries": 40}; !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
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
			synctest.Wait() // until the mail is sent: a network may have twenty in the outbox
		}
	})
}

func TestOutboxFull(t *testing.T) {
	inWorld(t, func(c *signin.Config) { c.TotalLimit = 10000 }, func(t *testing.T, w *world) {
		w.mails.hold = make(chan struct{})
		ask := func(i int) reply {
			b := w.browser()
			b.from = fmt.Sprintf("%d.%d.0.1:1", 11+i/5, i) // some for each of many providers
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
