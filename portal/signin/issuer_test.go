package signin_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

func TestSignInByLink(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		want(t, "asking", b.ask(" Asha@Example.org "), http.StatusAccepted, "")
		mail := w.mails.one(t)
		if mail.to != "asha@example.org" {
			t.Errorf("mailed to %q", mail.to)
		}
		time.Sleep(time.Minute)
		got := b.verifyToken(mail.token)
		want(t, "verifying", got, http.StatusOK, "")
		if got.fields["expires_in"] != 3600.0 || !strings.HasPrefix(got.get("refresh_token"), "swar_refresh_") {
			t.Errorf("answer %v", slices.Sorted(maps.Keys(got.fields)))
		}
		id, err := w.issuer.Verify(t.Context(), got.get("id_token"))
		wantID := signin.Identity{Issuer: serverURL, Subject: id.Subject, Email: "asha@example.org"}
		if err != nil || id != wantID || !strings.HasPrefix(id.Subject, "usr_") || len(id.Subject) != 30 {
			t.Errorf("identity %+v (%v), want %+v", id, err, wantID)
		}
		claims := claimsOf(t, got.get("id_token"))
		now := float64(time.Now().Unix())
		for name, value := range map[string]any{
			"iss": serverURL, "aud": "swar", "sub": id.Subject, "email": "asha@example.org", "email_verified": true,
			"auth_time": now, "iat": now, "exp": now + 3600,
		} {
			if !reflect.DeepEqual(claims[name], value) {
				t.Errorf("claim %s: got %v, want %v", name, claims[name], value)
			}
			delete(claims, name)
		}
		if len(claims) > 0 {
			t.Errorf("more claims: %v", claims)
		}
	})
}

func TestSubjectIsStable(t *testing.T) {
	var subjects []string
	for range 2 { // on two empty stores
		inWorld(t, nil, func(t *testing.T, w *world) {
			for _, email := range []string{"asha@example.org", "ASHA@example.org", "ravi@example.org"} {
				id, err := w.issuer.Verify(t.Context(), w.browser().signIn(w, email, "").get("id_token"))
				if err != nil {
					t.Fatal(err)
				}
				subjects = append(subjects, id.Subject)
			}
		})
	}
	s := subjects
	if s[0] != s[1] || s[0] == s[2] || s[0] != s[3] || s[2] != s[5] {
		t.Errorf("subjects %q: want one an address", s)
	}
}

func TestSignInByCode(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for i, typed := range []func(string) string{
			func(code string) string { return code },
			func(code string) string { return " " + strings.ToLower(strings.ReplaceAll(code, "-", "")) + "\n" },
			func(code string) string { return strings.ReplaceAll(code, "-", " – ") },
		} {
			email := fmt.Sprintf("asha%d@example.org", i)
			b := w.browser()
			b.ask(email)
			code := typed(w.mails.one(t).code)
			got := b.verifyCode(strings.ToUpper(email), code)
			want(t, fmt.Sprintf("typing %q", code), got, http.StatusOK, "")
			if id, err := w.issuer.Verify(t.Context(), got.get("id_token")); err != nil || id.Email != email {
				t.Errorf("identity %+v (%v)", id, err)
			}
		}
	})
}

func TestReadingALinkSpendsNothing(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		b.ask("asha@example.org")
		mail := w.mails.one(t)
		w.store.trace()
		scanner := w.browser()
		for range 10 {
			for _, path := range []string{"/auth/link", "/auth/link?t=" + mail.token, "/auth/link.js",
				"/auth/v1/verify", "/auth/v1/verify?token=" + mail.token} {
				for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
					scanner.do(request(method, path, ""))
					b.do(request(method, path, ""))
				}
			}
		}
		if steps := w.store.trace(); len(steps) > 0 {
			t.Errorf("the store was touched: %v", steps)
		}
		want(t, "a scanner that runs the page and presses its button", scanner.verifyToken(mail.token),
			http.StatusBadRequest, "other_browser")
		want(t, "the person, after all that", b.verifyToken(mail.token), http.StatusOK, "")
	})
}

func TestProgramsNeedNoCookies(t *testing.T) {
	spend := func(b *browser, body string) reply {
		return b.do(request(http.MethodPost, "/auth/v1/verify", body))
	}
	code := func(m queuedMail) string { return `{"email":"asha@example.org","code":"` + m.code + `"}` }
	token := func(m queuedMail) string { return `{"token":"` + m.token + `"}` }
	for name, tt := range map[string]struct {
		asks    func(b *browser) reply
		spends  func(b *browser, m queuedMail) reply // b is another than the one that asked
		refused string                               // "": it works
	}{
		"a program with the code":              {askAsProgram, func(b *browser, m queuedMail) reply { return spend(b, code(m)) }, ""},
		"a program with the link":              {askAsProgram, func(b *browser, m queuedMail) reply { return spend(b, token(m)) }, ""},
		"a browser with the link of a program": {askAsProgram, func(b *browser, m queuedMail) reply { return b.verifyToken(m.token) }, "other_browser"},
		"a browser with the code of a program": {askAsProgram, func(b *browser, m queuedMail) reply {
			return b.verifyCode("asha@example.org", m.code)
		}, "bad_link"},
		"a program with the link of a browser": {askAsBrowser, func(b *browser, m queuedMail) reply { return spend(b, token(m)) }, "other_browser"},
		"a program with the code of a browser": {askAsBrowser, func(b *browser, m queuedMail) reply { return spend(b, code(m)) }, "bad_link"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				want(t, "asking", tt.asks(w.browser()), http.StatusAccepted, "")
				status := http.StatusOK
				if tt.refused != "" {
					status = http.StatusBadRequest
				}
				want(t, "spending", tt.spends(w.browser(), w.mails.one(t)), status, tt.refused)
			})
		})
	}
}

// Wrong codes for the link of a program count against who tries them: five make it void for them, and for nobody else.
func TestWrongCodesOfPrograms(t *testing.T) {
	spend := func(w *world, from, code string) reply {
		b := w.browser()
		b.from = from
		return b.do(request(http.MethodPost, "/auth/v1/verify", `{"email":"asha@example.org","code":"`+code+`"}`))
	}
	const owner = "192.0.2.1:1"
	for name, tt := range map[string]struct {
		wrong []string // where wrong codes come from
		from  string   // where the right one comes from
		ok    bool
	}{
		"four wrong codes":                      {slices.Repeat([]string{owner}, 4), owner, true},
		"five wrong codes":                      {slices.Repeat([]string{owner}, 5), owner, false},
		"five of somebody else":                 {slices.Repeat([]string{"198.51.100.7:1"}, 5), owner, true},
		"fifty of somebody else":                {slices.Repeat([]string{"198.51.100.7:1"}, 50), owner, true},
		"five of somebody else, who finds it":   {slices.Repeat([]string{"198.51.100.7:1"}, 5), "198.51.100.7:2", false},
		"five of a neighbour in one subnet":     {slices.Repeat([]string{"192.0.2.2:1"}, 5), owner, true},
		"five of the same subscriber of IPv6":   {slices.Repeat([]string{"[2001:db8::1]:1"}, 5), "[2001:db8::ffff:1]:1", false},
		"five of another subscriber of IPv6":    {slices.Repeat([]string{"[2001:db8::1]:1"}, 5), "[2001:db8:0:1::1]:1", true},
		"five of the owner, and many strangers": {append(slices.Repeat([]string{owner}, 5), strangers(63)...), owner, false},
		"so many that the first are forgotten":  {append(slices.Repeat([]string{owner}, 5), strangers(64)...), owner, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				askAsProgram(w.browser())
				mail := w.mails.one(t)
				for _, from := range tt.wrong {
					want(t, "a wrong code", spend(w, from, "AAAA-AAAA"), http.StatusBadRequest, "bad_link")
				}
				status, code := http.StatusOK, ""
				if !tt.ok {
					status, code = http.StatusBadRequest, "bad_link"
				}
				want(t, "the right one", spend(w, tt.from, mail.code), status, code)
			})
		})
	}
	t.Run("who has tried five may ask for another", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			for range 2 {
				askAsProgram(w.browser())
				mail := w.mails.one(t)
				for range 4 {
					want(t, "a wrong code", spend(w, owner, "AAAA-AAAA"), http.StatusBadRequest, "bad_link")
				}
				want(t, "the right one", spend(w, owner, mail.code), http.StatusOK, "")
				time.Sleep(time.Minute)
			}
		})
	})
	t.Run("the cookie of a program is its own", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			jar := w.browser()
			askAsProgram(jar)
			mail := w.mails.one(t)
			for range 5 { // without its cookie, from the same address
				want(t, "a wrong code", spend(w, owner, "AAAA-AAAA"), http.StatusBadRequest, "bad_link")
			}
			body := `{"email":"asha@example.org","code":"` + mail.code + `"}`
			want(t, "the right one with it", jar.do(request(http.MethodPost, "/auth/v1/verify", body)),
				http.StatusOK, "")
		})
	})
}

// strangers are so many addresses of as many networks.
func strangers(n int) (from []string) {
	for i := range n {
		from = append(from, fmt.Sprintf("10.%d.0.1:1", i))
	}
	return from
}

func askAsProgram(b *browser) reply {
	return b.do(request(http.MethodPost, "/auth/v1/email-link", `{"email":"asha@example.org"}`))
}

func askAsBrowser(b *browser) reply { return b.ask("asha@example.org") }

func TestVerifyRefuses(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		b.ask("asha@example.org")
		mail := w.mails.one(t)
		other := w.browser()
		other.ask("ravi@example.org")
		others := w.mails.one(t)
		for _, tt := range []struct {
			name string
			by   *browser
			body map[string]any
			code string
		}{
			{"nothing", b, map[string]any{}, "bad_request"},
			{"token and code", b, map[string]any{"token": mail.token, "email": "asha@example.org", "code": mail.code}, "bad_request"},
			{"a code without an e-mail", b, map[string]any{"code": mail.code}, "bad_request"},
			{"a token that is a number", b, map[string]any{"token": 1}, "bad_request"},
			{"a session of another kind", b, map[string]any{"token": mail.token, "session": "forever"}, "bad_request"},
			{"an e-mail that is none", b, map[string]any{"email": "asha", "code": mail.code}, "bad_request"},
			{"an empty token and none else", b, map[string]any{"token": ""}, "bad_request"},
			{"a token of the wrong length", b, map[string]any{"token": mail.token[1:]}, "bad_link"},
			{"a token with another letter", b, map[string]any{"token": flip(mail.token, 70)}, "bad_link"},
			{"a token of another e-mail", b, map[string]any{"token": flip(mail.token, 3)}, "bad_link"},
			{"a wrong code", b, map[string]any{"email": "asha@example.org", "code": "AAAA-AAAA"}, "bad_link"},
			{"a code that cannot be", b, map[string]any{"email": "asha@example.org", "code": "0000-0000"}, "bad_link"},
			{"the code of another person", b, map[string]any{"email": "asha@example.org", "code": others.code}, "bad_link"},
			{"the right code for another person", b, map[string]any{"email": "ravi@example.org", "code": mail.code}, "bad_link"},
			{"the right code in another browser", other, map[string]any{"email": "asha@example.org", "code": mail.code}, "bad_link"},
			{"the right code in no browser", w.browser(), map[string]any{"email": "asha@example.org", "code": mail.code}, "bad_link"},
			{"the right token in another browser", other, map[string]any{"token": mail.token}, "other_browser"},
			{"the right token in no browser", w.browser(), map[string]any{"token": mail.token}, "other_browser"},
		} {
			got := tt.by.post("/auth/v1/verify", tt.body)
			want(t, tt.name, got, http.StatusBadRequest, tt.code)
			if got.get("id_token") != "" || len(got.header.Values("Set-Cookie")) > 0 {
				t.Errorf("%s: refused, and yet given %s", tt.name, got.body)
			}
		}
		want(t, "the right token at last", b.verifyToken(mail.token), http.StatusOK, "")
	})
}

func TestLinkExpires(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		code  string
	}{{15*time.Minute - time.Microsecond, ""}, {15 * time.Minute, "bad_link"}, {time.Hour, "bad_link"}} {
		inWorld(t, nil, func(t *testing.T, w *world) {
			b, c := w.browser(), w.browser()
			b.ask("asha@example.org")
			mail := w.mails.one(t)
			c.ask("ravi@example.org")
			code := w.mails.one(t).code
			time.Sleep(tt.after)
			status := http.StatusOK
			if tt.code != "" {
				status = http.StatusBadRequest
			}
			want(t, fmt.Sprint("link after ", tt.after), b.verifyToken(mail.token), status, tt.code)
			want(t, fmt.Sprint("code after ", tt.after), c.verifyCode("ravi@example.org", code), status, tt.code)
		})
	}
}

func TestSingleUse(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		b.ask("asha@example.org")
		mail := w.mails.one(t)
		want(t, "once", b.verifyToken(mail.token), http.StatusOK, "")
		time.Sleep(time.Minute - time.Microsecond)
		want(t, "a double click", b.verifyToken(mail.token), http.StatusOK, "")
		want(t, "the same with the code", b.verifyCode("asha@example.org", mail.code), http.StatusOK, "")
		want(t, "in another browser", w.browser().verifyToken(mail.token), http.StatusBadRequest, "other_browser")
		time.Sleep(time.Microsecond)
		want(t, "a minute later", b.verifyToken(mail.token), http.StatusBadRequest, "bad_link")
		want(t, "a minute later with the code", b.verifyCode("asha@example.org", mail.code),
			http.StatusBadRequest, "bad_link")
	})
}

// Two processes on one store, and everything at once: whoever has no right to it gets nothing, and the rest gets no
// more than repeats.
func TestSingleUseAtOnce(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		b.ask("asha@example.org")
		mail := w.mails.one(t)
		issuers := []*signin.Issuer{w.issuer, w.another(nil)}
		var mu sync.Mutex
		got := map[string]int{}
		var wg sync.WaitGroup
		for i := range 40 {
			one := &browser{t, issuers[i%2], b.from, maps.Clone(b.cookies)}
			if i%4 == 3 {
				one.cookies = map[string]*http.Cookie{}
			}
			wg.Go(func() {
				r := one.verifyToken(mail.token)
				mu.Lock()
				defer mu.Unlock()
				got[fmt.Sprint(r.status, r.errorCode())]++
			})
		}
		wg.Wait()
		if want := map[string]int{"200": 1 + 3, "400bad_link": 26, "400other_browser": 10}; !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestOlderLinksAreVoid(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var mails []queuedMail
		var browsers []*browser
		for range 3 {
			b := w.browser()
			b.ask("asha@example.org")
			browsers, mails = append(browsers, b), append(mails, w.mails.one(t))
			time.Sleep(time.Second)
		}
		want(t, "the second link", browsers[1].verifyToken(mails[1].token), http.StatusOK, "")
		want(t, "the older link", browsers[0].verifyToken(mails[0].token), http.StatusBadRequest, "bad_link")
		want(t, "the older code", browsers[0].verifyCode("asha@example.org", mails[0].code),
			http.StatusBadRequest, "bad_link")
		want(t, "the newer link, on another device", browsers[2].verifyToken(mails[2].token), http.StatusOK, "")
		want(t, "the second link again", browsers[1].verifyToken(mails[1].token), http.StatusBadRequest, "bad_link")
	})
}

func TestWrongCodesBurn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		wrong  int
		others int // by a browser that did not ask
		status int
	}{
		{"four wrong codes", 4, 0, http.StatusOK},
		{"five wrong codes", 5, 0, http.StatusBadRequest},
		{"four wrong codes, and hundreds of somebody else", 4, 200, http.StatusOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, byToken := range []bool{true, false} {
				inWorld(t, nil, func(t *testing.T, w *world) {
					b, attacker := w.browser(), w.browser()
					b.ask("asha@example.org")
					mail := w.mails.one(t)
					attacker.ask("asha@example.org")
					w.mails.one(t)
					for i := range tt.others {
						attacker.from = fmt.Sprintf("10.0.%d.1:1", i/50)
						want(t, "the other one", attacker.verifyCode("asha@example.org", "AAAA-AAAA"),
							http.StatusBadRequest, "bad_link")
					}
					for range tt.wrong {
						want(t, "a wrong code", b.verifyCode("asha@example.org", "AAAA-AAAA"),
							http.StatusBadRequest, "bad_link")
					}
					var got reply
					if byToken {
						got = b.verifyToken(mail.token)
					} else {
						got = b.verifyCode("asha@example.org", mail.code)
					}
					if got.status != tt.status {
						t.Errorf("then the right one (a link: %v): got %d, want %d", byToken, got.status, tt.status)
					}
				})
			}
		})
	}
}

// Wrong codes that come all at once are counted one by one.
func TestWrongCodesAtOnce(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		b.ask("asha@example.org")
		mail := w.mails.one(t)
		var wg sync.WaitGroup
		for range 5 {
			one := &browser{t, w.issuer, b.from, maps.Clone(b.cookies)}
			wg.Go(func() { one.verifyCode("asha@example.org", "AAAA-AAAA") })
		}
		wg.Wait()
		want(t, "the right code after them", b.verifyCode("asha@example.org", mail.code),
			http.StatusBadRequest, "bad_link")
	})
}

func TestNoEnumeration(t *testing.T) {
	allowed, err := signin.OnlyEmails("asha@example.org", "@partner.example")
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		replies []reply
		steps   []step
		mails   int
	}
	look := func(t *testing.T, email string) (s seen) {
		inWorld(t, func(c *signin.Config) { c.Allowed = allowed }, func(_ *testing.T, w *world) {
			b := w.browser()
			w.store.trace()
			s.replies = append(s.replies, b.ask(email))
			s.mails += len(w.mails.all())
			s.replies = append(s.replies, b.verifyCode(email, "AAAA-AAAA"), w.browser().verifyCode(email, "AAAA-AAAA"))
			for range 3 {
				s.replies = append(s.replies, b.ask(email))
			}
			s.mails += len(w.mails.all())
			time.Sleep(time.Hour)
			s.replies = append(s.replies, b.verifyCode(email, "AAAA-AAAA"))
			s.steps = w.store.trace()
		})
		for _, r := range s.replies {
			if r.header.Get("Set-Cookie") != "" {
				r.header.Set("Set-Cookie", fmt.Sprint(len(r.header.Get("Set-Cookie")))) // its value is random
			}
		}
		return s
	}
	known, unknown, partner := look(t, "asha@example.org"), look(t, "ravi@example.org"), look(t, "any@partner.example")
	if known.mails != 3 || partner.mails != 3 || unknown.mails != 0 {
		t.Errorf("mails: %d to an allowed address, %d in an allowed domain, %d to another; want 3, 3 and 0",
			known.mails, partner.mails, unknown.mails)
	}
	if len(known.replies) != 7 || known.replies[0].status != http.StatusAccepted ||
		known.replies[5].status != http.StatusTooManyRequests || len(known.steps) < 10 {
		t.Errorf("the test no longer looks at what it should: %v", known)
	}
	if !reflect.DeepEqual(known.replies, unknown.replies) {
		t.Errorf("answers differ:\n%v\n%v", known.replies, unknown.replies)
	}
	if !reflect.DeepEqual(known.steps, unknown.steps) {
		t.Errorf("work differs:\n%v\n%v", known.steps, unknown.steps)
	}
}

func TestAllowedIsAskedEveryTime(t *testing.T) {
	allowed, fault := true, error(nil)
	change := func(c *signin.Config) {
		c.Allowed = func(context.Context, string) (bool, error) { return allowed, fault }
	}
	inWorld(t, change, func(t *testing.T, w *world) {
		b := w.browser()
		first := b.signIn(w, "asha@example.org", "")
		b.ask("asha@example.org")
		mail := w.mails.one(t)
		allowed = false
		want(t, "a link that was mailed before", b.verifyToken(mail.token), http.StatusBadRequest, "bad_link")
		want(t, "a refresh", b.refresh(first.get("refresh_token")), http.StatusBadRequest, "bad_refresh_token")
		allowed = true
		want(t, "a refresh of what has ended", b.refresh(first.get("refresh_token")), http.StatusBadRequest,
			"bad_refresh_token")
		second := b.signIn(w, "asha@example.org", "")
		fault = errors.New("the database is away")
		want(t, "a refresh when nobody knows", b.refresh(second.get("refresh_token")), http.StatusServiceUnavailable,
			"unavailable")
		fault = nil
		want(t, "the same again at once", b.refresh(second.get("refresh_token")), http.StatusOK, "")
	})
}

func TestOnlyEmailsRefuses(t *testing.T) {
	for _, entry := range []string{"", "@", "example.org", "@exa mple.org", "a@b@c"} {
		if _, err := signin.OnlyEmails("asha@example.org", entry); err == nil {
			t.Errorf("%q was taken", entry)
		}
	}
	allowed, err := signin.OnlyEmails("Asha@Example.org", "@Partner.Example")
	if err != nil {
		t.Fatal(err)
	}
	for email, want := range map[string]bool{
		"asha@example.org": true, "ravi@example.org": false, "x@partner.example": true, "x@notpartner.example": false,
		"x@sub.partner.example": false, "partner.example@example.org": false,
	} {
		if got, err := allowed(t.Context(), email); got != want || err != nil {
			t.Errorf("%s: got %v (%v), want %v", email, got, err, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	mails := newOutbox(&mailSink{}, &logBuffer{})
	for _, tt := range []struct {
		name string
		cfg  signin.Config
	}{
		{"no address", signin.Config{}},
		{"an address without encryption", signin.Config{URL: "http://tts.example.org"}},
		{"a path", signin.Config{URL: serverURL + "/portal"}},
		{"a slash at the end", signin.Config{URL: serverURL + "/"}},
		{"a query", signin.Config{URL: serverURL + "?a=b"}},
		{"a password", signin.Config{URL: "https://a:b@tts.example.org"}},
		{"a home elsewhere", signin.Config{URL: serverURL, Home: "https://evil.example"}},
		{"a home elsewhere without scheme", signin.Config{URL: serverURL, Home: "//evil.example"}},
		{"a home that browsers read as elsewhere", signin.Config{URL: serverURL, Home: `/\evil.example`}},
		{"the same with a tab", signin.Config{URL: serverURL, Home: "/\t/evil.example"}},
	} {
		if _, err := signin.New(tt.cfg, nil, mails); err == nil {
			t.Errorf("%s was taken", tt.name)
		}
	}
	for _, url := range []string{serverURL, "https://tts.example.org:8443", "http://127.0.0.1:8080",
		"http://localhost:8080", "http://[::1]:8080"} {
		if _, err := signin.New(signin.Config{URL: url}, nil, mails); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestStoreFaults(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		b := w.browser()
		b.ask("asha@example.org")
		mail := w.mails.one(t)
		w.store.fail = errors.New("disk full at /var/lib/secret-path")
		for _, got := range []reply{b.ask("asha@example.org"), b.verifyToken(mail.token),
			b.verifyCode("asha@example.org", mail.code), b.refresh("swar_refresh_" + strings.Repeat("A", 64))} {
			want(t, "without a store", got, http.StatusServiceUnavailable, "unavailable")
			if got.header.Get("Retry-After") == "" || strings.Contains(got.body, "disk") {
				t.Errorf("answer %v %s", got.header, got.body)
			}
		}
		if !strings.Contains(w.log.String(), "disk full") {
			t.Error("the log does not say why")
		}
		w.store.fail = nil
		want(t, "when it is back", b.verifyToken(mail.token), http.StatusOK, "")
		// What was refused for a fault of ours took no place in the outbox.
		for i := range 300 {
			w.store.fail = errors.New("disk full")
			b.ask(fmt.Sprintf("asha%d@example.org", i))
		}
		w.store.fail = nil
		want(t, "after three hundred faults", b.ask("ravi@example.org"), http.StatusAccepted, "")
	})
}

func TestNoSecretIsLoggedOrStored(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		var secrets []string
		w.mails.failing = 1
		for i, session := range []string{"", "cookie"} {
			b := w.browser()
			email := fmt.Sprintf("asha%d@example.org", i)
			b.ask(email)
			time.Sleep(time.Minute) // for the mail that fails at first
			mail := w.mails.one(t)
			w.browser().verifyToken(mail.token)
			b.verifyCode(email, "AAAA-AAAA")
			got := b.post("/auth/v1/verify", map[string]string{"email": email, "code": mail.code, "session": session})
			want(t, "verifying", got, http.StatusOK, "")
			first := got.get("refresh_token") + value(b, "__Host-swar_refresh")
			next := b.post("/auth/v1/refresh", map[string]string{"refresh_token": got.get("refresh_token")})
			want(t, "refreshing", next, http.StatusOK, "")
			time.Sleep(time.Hour)
			want(t, "reuse", b.refresh(first), http.StatusBadRequest, "bad_refresh_token")
			code := strings.ReplaceAll(mail.code, "-", "")
			secrets = append(secrets, mail.token, mail.token[43:], mail.code, code, first,
				first[len("swar_refresh_")+22:], got.get("id_token"),
				next.get("id_token"), value(b, "__Host-swar_browser"))
			if session == "" {
				secrets = append(secrets, next.get("refresh_token"))
			}
		}
		w.store.fail = errors.New("disk full")
		w.browser().ask("ravi@example.org")
		log := w.log.String()
		for _, line := range []string{"signed in", "used a second time", "could not be sent yet", "disk full"} {
			if !strings.Contains(log, line) {
				t.Errorf("the log has no line %q, so this test looks at too little:\n%s", line, log)
			}
		}
		if len(w.store.states) < 10 {
			t.Errorf("only %d records were written", len(w.store.states))
		}
		for _, s := range secrets {
			if len(s) < 8 {
				t.Errorf("%q is not a secret", s)
			}
			if strings.Contains(log, s) {
				t.Errorf("the log holds %q", s)
			}
			for _, record := range w.store.states {
				if strings.Contains(string(record), s) {
					t.Errorf("a record holds %q:\n%s", s, record)
				}
			}
		}
		if strings.Contains(log, "asha") || strings.Contains(log, "ravi") {
			t.Errorf("the log names people:\n%s", log)
		}
	})
}

// What is over leaves nothing behind once it is swept, and what is not stays.
func TestRecordsExpire(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		got := w.browser().signIn(w, "asha@example.org", "")
		for _, tt := range []struct {
			after time.Duration
			swept int
			what  string
		}{
			{0, 0, "nothing"},
			{15 * time.Minute, 1, "the tries"},
			{45 * time.Minute, 3, "the mails of the subscriber, of the provider, and of all"},
			{23*time.Hour - time.Microsecond, 0, "nothing more"},
			{29 * 24 * time.Hour, 0, "nothing more"},
			{time.Microsecond, 1, "the sign-in"},
			{150*24*time.Hour - time.Microsecond, 0, "nothing more"},
			{time.Microsecond, 1, "the e-mail address"},
		} {
			time.Sleep(tt.after)
			if n, err := w.store.SweepSignin(t.Context(), time.Now()); n != tt.swept || err != nil {
				t.Errorf("after %s more: swept %d (%v), want %d: %s", tt.after, n, err, tt.swept, tt.what)
			}
		}
		want(t, "refreshing after that", w.browser().refresh(got.get("refresh_token")), http.StatusBadRequest,
			"bad_refresh_token")
	})
}
