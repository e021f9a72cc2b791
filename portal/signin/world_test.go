package signin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/signin"
)

// world is an issuer with everything around it, at the beginning of the year 2000 of a bubble.
type world struct {
	t      *testing.T
	store  *tracedStore
	mails  *mailSink
	log    *logBuffer
	outbox *signin.Outbox
	issuer *signin.Issuer
}

const serverURL = "https://tts.example.org"

// inWorld runs a test in a bubble.
func inWorld(t *testing.T, change func(*signin.Config), test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, change)) })
}

func newWorld(t *testing.T, change func(*signin.Config)) *world {
	t.Helper()
	w := &world{t: t, store: &tracedStore{Store: memstore.New()}, mails: &mailSink{}, log: &logBuffer{}}
	seedKeys(t, w.store.Store)
	w.outbox = newOutbox(w.mails, w.log)
	w.issuer = w.another(change)
	go w.outbox.Run(t.Context())
	return w
}

func newStore() signin.Store { return memstore.New() }

func newOutbox(mails *mailSink, log *logBuffer) *signin.Outbox {
	return signin.NewOutbox("", mails, newLog(log))
}

func newLog(log *logBuffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// another returns an issuer on the same store, as another process would be.
func (w *world) another(change func(*signin.Config)) *signin.Issuer {
	w.t.Helper()
	cfg := signin.Config{URL: serverURL, Log: newLog(w.log)}
	if change != nil {
		change(&cfg)
	}
	issuer, err := signin.New(cfg, w.store, w.outbox) // which is nil in a world without mails
	if err != nil {
		w.t.Fatal(err)
	}
	return issuer
}

var keysOf2000 struct {
	once   sync.Once
	record []byte
}

// seedKeys puts the same keys into every store, because making them takes long. Every bubble begins at the same time.
func seedKeys(t *testing.T, store signin.Store) {
	t.Helper()
	keysOf2000.once.Do(func() {
		first := memstore.New()
		issuer, err := signin.New(signin.Config{URL: serverURL}, first,
			signin.NewOutbox("", &mailSink{}, slog.New(slog.DiscardHandler)))
		if err != nil {
			t.Fatal(err)
		}
		issuer.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/oauth2/jwks", nil))
		keysOf2000.record = readRecord(first, "keys")
	})
	if keysOf2000.record == nil {
		t.Fatal("no keys were made")
	}
	store.UpdateSignin(t.Context(), "keys", func([]byte) ([]byte, time.Time, error) {
		return keysOf2000.record, time.Now().AddDate(1, 0, 0), nil
	})
}

func readRecord(s signin.Store, id string) (record []byte) {
	s.UpdateSignin(context.Background(), id, func(old []byte) ([]byte, time.Time, error) {
		record = old
		return nil, time.Time{}, errors.New("only reading")
	})
	return record
}

// tracedStore notes what is done to a store, and fails on demand.
type tracedStore struct {
	signin.Store

	mu     sync.Mutex
	fail   error
	slow   time.Duration // what reading takes
	steps  []step
	states [][]byte // every record that was ever written
}

type step struct {
	kind    string // the id up to the colon
	written bool
}

func (s *tracedStore) UpdateSignin(
	ctx context.Context, id string, change func([]byte) ([]byte, time.Time, error),
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	kind, _, _ := strings.Cut(id, ":")
	now := step{kind: kind}
	err := s.Store.UpdateSignin(ctx, id, func(old []byte) ([]byte, time.Time, error) {
		record, expires, err := change(old)
		if err == nil {
			now.written = true
			s.states = append(s.states, bytes.Clone(record))
			if record != nil && !expires.After(time.Now()) {
				return nil, time.Time{}, errors.New("a record was written that had expired")
			}
		}
		return record, expires, err
	})
	s.steps = append(s.steps, now)
	return err
}

func (s *tracedStore) ReadSignin(ctx context.Context, id string) ([]byte, error) {
	s.mu.Lock()
	fail, slow := s.fail, s.slow
	kind, _, _ := strings.Cut(id, ":")
	s.steps = append(s.steps, step{kind: kind})
	s.mu.Unlock()
	if fail != nil {
		return nil, fail
	}
	record, err := s.Store.ReadSignin(ctx, id) // as it was when the store was asked
	select {
	case <-time.After(slow):
		return record, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// trace returns the steps since the last call.
func (s *tracedStore) trace() []step {
	s.mu.Lock()
	defer s.mu.Unlock()
	steps := s.steps
	s.steps = nil
	return steps
}

// mailSink takes mails, after failing for as often as it is told to.
type mailSink struct {
	mu      sync.Mutex
	mails   []signin.Mail
	tries   int
	failing int
	told    chan<- signin.Mail
	hold    chan struct{} // mails are taken when it is closed; nil means at once
}

func (m *mailSink) Send(ctx context.Context, mail signin.Mail) error {
	if m.hold != nil {
		select {
		case <-m.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries++
	if m.failing > 0 {
		m.failing--
		return errors.New("421 try again later")
	}
	m.mails = append(m.mails, mail)
	if m.told != nil {
		m.told <- mail
	}
	return nil
}

// all returns the mails since the last call, when the outbox has come to rest.
func (m *mailSink) all() []signin.Mail {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	mails := m.mails
	m.mails = nil
	return mails
}

func (m *mailSink) one(t *testing.T) queuedMail {
	t.Helper()
	mails := m.all()
	if len(mails) != 1 {
		t.Fatalf("%d mails were sent, want 1", len(mails))
	}
	return readLetter(t, mails[0])
}

// queuedMail is what a person finds in a mail.
type queuedMail struct{ to, token, code string }

var (
	tokenInMail = regexp.MustCompile(regexp.QuoteMeta(serverURL+"/auth/link#") + `(\S+)`)
	codeInMail  = regexp.MustCompile(`(?m)^([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})$`)
)

func readLetter(t *testing.T, m signin.Mail) queuedMail {
	t.Helper()
	token, code := tokenInMail.FindStringSubmatch(m.Text), codeInMail.FindStringSubmatch(m.Text)
	if token == nil || code == nil {
		t.Fatalf("the mail has no link and code:\n%s", m.Text)
	}
	if !strings.Contains(m.HTML, token[1]) || !strings.Contains(m.HTML, code[1]) {
		t.Errorf("the HTML part differs from the text:\n%s", m.HTML)
	}
	return queuedMail{m.To, token[1], code[1]}
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// browser keeps cookies as browsers do.
type browser struct {
	t       *testing.T
	handler http.Handler
	from    string // address and port
	cookies map[string]*http.Cookie
}

func (w *world) browser() *browser {
	return &browser{w.t, w.issuer, "192.0.2.1:40000", map[string]*http.Cookie{}}
}

// reply is an answer. The fields of its body that are strings are in fields.
type reply struct {
	status int
	header http.Header
	body   string
	fields map[string]any
}

func (r reply) get(field string) string { s, _ := r.fields[field].(string); return s }

func (r reply) errorCode() string { return r.header.Get("X-Error-Code") }

func (b *browser) post(path string, body any) reply {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, serverURL+path, bytes.NewReader(text))
	r.Header.Set("Sec-Fetch-Site", "same-origin") // as browsers do; see request for programs
	return b.do(r)
}

func (b *browser) do(r *http.Request) reply {
	b.t.Helper()
	r.RemoteAddr = b.from
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	b.handler.ServeHTTP(rec, r)
	for _, c := range rec.Result().Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c
		}
	}
	got := reply{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
	if got.header.Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(rec.Body.Bytes(), &got.fields); err != nil {
			b.t.Fatalf("%s %s: %v in %q", r.Method, r.URL.Path, err, got.body)
		}
	}
	return got
}

// addMailed asks for a link that it is given.
func (b *browser) ask(email string) reply {
	b.t.Helper()
	return b.post("/auth/v1/email-link", map[string]string{"email": email})
}

// signIn goes all the way.
func (b *browser) signIn(w *world, email, session string) reply {
	b.t.Helper()
	if got := b.ask(email); got.status != http.StatusAccepted {
		b.t.Fatalf("asking for a link: %d %s", got.status, got.body)
	}
	got := b.post("/auth/v1/verify", map[string]string{"token": w.mails.one(b.t).token, "session": session})
	if got.status != http.StatusOK {
		b.t.Fatalf("verifying: %d %s", got.status, got.body)
	}
	return got
}

func (b *browser) verifyToken(token string) reply {
	b.t.Helper()
	return b.post("/auth/v1/verify", map[string]string{"token": token})
}

func (b *browser) verifyCode(email, code string) reply {
	b.t.Helper()
	return b.post("/auth/v1/verify", map[string]string{"email": email, "code": code})
}

func (b *browser) refresh(token string) reply {
	b.t.Helper()
	return b.post("/auth/v1/refresh", map[string]string{"refresh_token": token})
}

func want(t *testing.T, what string, got reply, status int, code string) {
	t.Helper()
	if got.status != status || got.errorCode() != code {
		t.Errorf("%s: got %d %q (%s), want %d %q", what, got.status, got.errorCode(), strings.TrimSpace(got.body),
			status, code)
	}
}

type mailerFunc func(signin.Mail) error

func (f mailerFunc) Send(_ context.Context, m signin.Mail) error { return f(m) }
