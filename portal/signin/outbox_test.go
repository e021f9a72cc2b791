package signin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

func TestOutboxTriesAgain(t *testing.T) {
	for _, tt := range []struct{ failing, mails, tries int }{{0, 1, 1}, {1, 1, 2}, {3, 1, 4}, {4, 0, 4}} {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.mails.failing = tt.failing
			w.browser().ask("asha@example.org")
			time.Sleep(10 * time.Minute)
			if n := len(w.mails.all()); n != tt.mails || w.mails.tries != tt.tries {
				t.Errorf("failing %d times: %d mails after %d tries, want %d after %d", tt.failing, n, w.mails.tries,
					tt.mails, tt.tries)
			}
			if gaveUp := strings.Contains(w.log.String(),
				`level=ERROR msg="a mail could not be sent"`); gaveUp != (tt.mails == 0) {
				t.Errorf("failing %d times: the log says\n%s", tt.failing, w.log)
			}
			if sent, failed := w.outbox.Counts(); sent != int64(tt.mails) || failed != int64(1-tt.mails) {
				t.Errorf("failing %d times: %d are counted as sent and %d as failed, want %d and %d",
					tt.failing, sent, failed, tt.mails, 1-tt.mails)
			}
		})
	}
}

// Mails that fail do not hold up those of others, however many they are.
func TestFailingMailsHoldUpNobody(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		sent := map[string]time.Duration{}
		begin := time.Now()
		var mu sync.Mutex
		w.outbox = signin.NewOutbox("", mailerFunc(func(m signin.Mail) error {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasSuffix(m.To, "@nowhere.example") {
				return errors.New("450 come again")
			}
			sent[m.To] = time.Since(begin)
			return nil
		}), newLog(w.log))
		w.issuer = w.another(nil)
		go w.outbox.Run(t.Context())
		for i := range 15 {
			b := w.browser()
			b.from = fmt.Sprintf("10.%d.0.1:1", i)
			want(t, "a stranger", b.ask(fmt.Sprintf("person%d@nowhere.example", i)), http.StatusAccepted, "")
		}
		time.Sleep(time.Second)
		want(t, "somebody else", w.browser().ask("asha@example.org"), http.StatusAccepted, "")
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if took, ok := sent["asha@example.org"]; !ok || took != time.Second {
			t.Errorf("the mail was sent after %v (%v), want at once", took, ok)
		}
	})
}

// A mail that the mail server will never take is tried once.
func TestRefusedMailsAreNotTriedAgain(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		tries := 0
		w.outbox = signin.NewOutbox("", mailerFunc(func(signin.Mail) error {
			tries++
			return fmt.Errorf("%w: 550 no such user", signin.ErrMailRefused)
		}), newLog(w.log))
		w.issuer = w.another(nil)
		go w.outbox.Run(t.Context())
		w.browser().ask("asha@example.org")
		time.Sleep(time.Hour)
		synctest.Wait()
		if tries != 1 || !strings.Contains(w.log.String(), `level=ERROR msg="a mail could not be sent"`) {
			t.Errorf("%d tries; the log says\n%s", tries, w.log)
		}
	})
}

// While mails wait, no network, no provider and no inviting member has all the places.
func TestPlacesAreShared(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.mails.hold = make(chan struct{})
		asked := 0
		takes := func(from string) bool {
			t.Helper()
			asked++
			b := w.browser()
			b.from = from + ":1"
			got := b.ask(fmt.Sprintf("person%d@example.org", asked))
			if got.status != http.StatusAccepted {
				want(t, "asking from "+from, got, http.StatusServiceUnavailable, "busy")
			}
			return got.status == http.StatusAccepted
		}
		count := func(address func(n int) string) (n int) {
			for takes(address(n)) {
				n++
			}
			return n
		}
		if n := count(func(n int) string { return fmt.Sprintf("192.0.2.%d", n) }); n != 20 {
			t.Errorf("a network took %d places, want 20", n)
		}
		if n := count(func(n int) string { return fmt.Sprintf("192.0.%d.1", 3+n) }); n != 30 {
			t.Errorf("its provider took %d more, want 30", n)
		}
		invited := 0
		invite := func(from string) bool {
			invited++
			return w.invite(fmt.Sprintf("guest%d@example.org", invited), from) == nil
		}
		for n := range 20 {
			if !invite(fmt.Sprintf("198.51.100.%d", n)) {
				t.Fatalf("invitation %d of a network was refused", n)
			}
		}
		if invite("198.51.100.99") {
			t.Error("a network took more than 20 places with invitations")
		}
		for n := range 30 {
			if !invite("") {
				t.Fatalf("invitation %d of the operator was refused", n)
			}
		}
		if invite("") || invite("203.0.113.1") {
			t.Error("more than 50 invitations wait")
		}
		if n := count(func(n int) string { return fmt.Sprintf("10.%d.0.1", n) }); n != 100 {
			t.Errorf("others took %d places, want the 100 that are left", n)
		}
		close(w.mails.hold)
		time.Sleep(time.Hour)
		w.mails.all()
		for n := range 200 {
			if !takes(fmt.Sprintf("11.%d.0.1", n)) {
				t.Fatalf("when all are sent, place %d is not free", n)
			}
			w.mails.all()
		}
	})
}

// A mail server that hangs is given up on, and a link that is too old by then is not mailed.
func TestOutboxIsBounded(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.mails.hold = make(chan struct{})
		for i := range 40 {
			b := w.browser()
			b.from = fmt.Sprintf("192.0.2.%d:1", i)
			b.ask(fmt.Sprintf("person%d@example.org", i))
		}
		time.Sleep(16 * time.Minute)
		close(w.mails.hold)
		time.Sleep(time.Hour)
		if n := len(w.mails.all()); n > 0 {
			t.Errorf("%d mails were sent with links that had expired", n)
		}
	})
}

// While it stops, an outbox sends what waits. What it cannot send in ten seconds is lost, and it says so.
func TestOutboxStops(t *testing.T) {
	for _, tt := range []struct {
		name    string
		failing int
		hang    bool
		mails   int
		within  time.Duration
		log     string
	}{
		{"a good mail server", 0, false, 3, 0, ""},
		{"one that refuses", 99, false, 0, 0, "was lost in stopping"},
		{"one that hangs", 0, true, 0, 10 * time.Second, "was lost in stopping"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mails, log := &mailSink{failing: tt.failing}, &logBuffer{}
				if tt.hang {
					mails.hold = make(chan struct{})
				}
				outbox := newOutbox(mails, log)
				w := &world{t: t, store: &tracedStore{Store: newStore()}, outbox: outbox}
				for i := range 3 {
					if err := w.invite(fmt.Sprintf("person%d@example.org", i), ""); err != nil {
						t.Fatal(err)
					}
				}
				ctx, stop := context.WithCancelCause(t.Context())
				cause := errors.New("the server stops")
				stop(cause)
				start := time.Now()
				if err := outbox.Run(ctx); err != cause {
					t.Errorf("got error %v, want the cause", err)
				}
				if took := time.Since(start); took != tt.within {
					t.Errorf("it took %s, want %s", took, tt.within)
				}
				if n := len(mails.all()); n != tt.mails || strings.Contains(log.String(), "lost") != (tt.log != "") {
					t.Errorf("%d mails, log:\n%s", n, log)
				}
			})
		})
	}
}

func TestInvite(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		invitations := signin.NewInvitations(w.store, w.outbox, 0)
		invite := func(org, by string) signin.Mail {
			time.Sleep(3 * time.Hour) // ten a day
			i := signin.Invitation{Email: "Ravi@Example.org", OrgName: org, InvitedBy: by, Page: serverURL + "/portal"}
			if err := invitations.Mail(t.Context(), i); err != nil {
				t.Fatal(err)
			}
			mails := w.mails.all()
			if len(mails) != 1 {
				t.Fatalf("%d mails", len(mails))
			}
			return mails[0]
		}
		m := invite("आवाज़ Labs & Sons", "asha@example.org")
		if m.To != "ravi@example.org" || m.Subject == "" {
			t.Errorf("mail %+v", m)
		}
		for _, part := range []string{"“आवाज़ Labs & Sons”", "asha@example.org", serverURL + "/portal\n",
			"Sign in with this e-mail address"} {
			if !strings.Contains(m.Text, part) {
				t.Errorf("the text lacks %q:\n%s", part, m.Text)
			}
		}
		if !strings.Contains(m.HTML, "Labs &amp; Sons") || strings.Contains(m.HTML, "<img") ||
			strings.Contains(m.HTML, "http-equiv") {
			t.Errorf("HTML:\n%s", m.HTML)
		}
		if tokenInMail.MatchString(m.Text) || codeInMail.MatchString(m.Text) || strings.Contains(m.Text, "#") {
			t.Errorf("an invitation must not sign in:\n%s", m.Text)
		}
		for name, plain := range map[string]bool{
			"St. Mary": true, "Swar (India) Ltd.": true, "evil.example": false, "http://evil": false, "win a prize at evil。example": false,
			"a@b": false, `evil\path`: false,
		} {
			if got := strings.Contains(invite(name, "asha@example.org").Text, name); got != plain {
				t.Errorf("organisation %q is named in a mail: %v, want %v", name, got, plain)
			}
		}
		if m := invite(`<script>alert(1)<`, `"><b>x</b>@example.org`); strings.Contains(m.HTML, "<script") ||
			strings.Contains(m.HTML, "<b>") {
			t.Errorf("HTML:\n%s", m.HTML)
		}
		if err := w.invite("not an address", ""); err == nil {
			t.Error("an address that is none was taken")
		}
	})
}

// invite mails an invitation; from is empty for the operator.
func (w *world) invite(email, from string) error {
	i := signin.Invitation{Email: email, OrgName: "Swar", InvitedBy: "asha@example.org", Page: serverURL}
	if from != "" {
		i.From = netip.MustParseAddr(from)
	}
	return signin.NewInvitations(w.store, w.outbox, 0).Mail(w.t.Context(), i)
}

// Invitations have the limits of sign-in mails, whoever sends them, and take none of those away.
func TestInvitationsAreLimited(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		refused := func(what string, err error, retry time.Duration) {
			t.Helper()
			f, ok := signin.Postponed(err)
			if !ok || f.Status != http.StatusTooManyRequests || f.Code != "too_many_mails" || f.Retry != retry {
				t.Errorf("%s: %v, %+v; want too many mails for %s", what, err, f, retry)
			}
		}
		taken := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			w.mails.all()
		}
		for day := range 2 {
			for n := range 10 {
				taken(fmt.Sprint(day, n), w.invite("victim@example.org", fmt.Sprintf("10.%d.%d.1", day, n)))
				if n == 2 {
					refused("the fourth in 15 minutes", w.invite("Victim@example.org", "11.0.0.1"), 15*time.Minute)
					refused("also of the operator", w.invite("victim@example.org", ""), 15*time.Minute)
				}
				if n%3 == 2 {
					time.Sleep(15 * time.Minute)
				}
			}
			refused("the eleventh of a day", w.invite("victim@example.org", "11.0.0.1"), 24*time.Hour-45*time.Minute)
			want(t, "a sign-in mail", w.browser().ask("victim@example.org"), http.StatusAccepted, "")
			w.mails.all()
			time.Sleep(24*time.Hour - 45*time.Minute)
		}
		for n := range 20 {
			taken(fmt.Sprint("from one address ", n), w.invite(fmt.Sprintf("n%d@example.org", n), "203.0.113.1"))
		}
		refused("the 21st of an hour", w.invite("n21@example.org", "203.0.113.1"), time.Hour)
		taken("of another", w.invite("n21@example.org", "198.51.100.1"))
		b := w.browser()
		b.from = "203.0.113.1:1"
		want(t, "signing in from there", b.ask("me@example.org"), http.StatusAccepted, "")
	})
}

func TestConsole(t *testing.T) {
	for listen, ok := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:8080": true, "[::1]:8080": true, "127.0.0.1:0": true,
		":8080": false, "0.0.0.0:8080": false, "192.0.2.1:8080": false, "[::]:8080": false, "": false, "127.0.0.1": false, "tts.example.org:8080": false,
	} {
		if _, err := signin.NewConsole(nil, listen); (err == nil) != ok {
			t.Errorf("%q: got error %v", listen, err)
		}
	}
	var out bytes.Buffer
	console, err := signin.NewConsole(&out, "127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	if err := console.Send(t.Context(), signin.Mail{To: "asha@example.org", Subject: "subject", Text: "the link",
		HTML: "the page"}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"asha@example.org", "subject", "the link"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("printed without %q:\n%s", part, out.String())
		}
	}
}
