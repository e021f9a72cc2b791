package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
)

// Who acts in tests. A token is "token-of-" and an e-mail.
const (
	owner    = "owner@example.org"
	member   = "member@example.org"
	viewer   = "viewer@example.org"
	stranger = "stranger@example.org"
	nobody   = "" // sends no token
)

// verifier takes the tokens of tests.
type verifier struct{}

func (verifier) Verify(_ context.Context, token string) (signin.Identity, error) {
	email, ok := strings.CutPrefix(token, "token-of-")
	switch {
	case token == "old":
		return signin.Identity{}, fmt.Errorf("%w: yesterday", signin.ErrExpiredToken)
	case token == "unlucky":
		return signin.Identity{}, fmt.Errorf("%w: connection refused", signin.ErrUnavailable)
	case token == "panic":
		panic("a defect of the verifier")
	case token == "odd":
		return signin.Identity{}, errors.New("something that is told to nobody")
	case !ok:
		return signin.Identity{}, fmt.Errorf("%w: not of this test", signin.ErrInvalidToken)
	}
	return signin.Identity{Issuer: "https://issuer.example.org", Subject: email, Email: email}, nil
}

// mailer remembers invitations.
type mailer struct {
	mu    sync.Mutex
	mails []tenant.Invitation
	err   error
}

func (m *mailer) Invite(_ *http.Request, i tenant.Invitation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mails = append(m.mails, i)
	return m.err
}

// brokenStore is a store of tenancy that can be made to fail.
type brokenStore struct {
	tenant.Store
	fault func(context.Context) error
	full  error // of every change
}

func (b *brokenStore) Update(ctx context.Context, change func(tenant.Tx) error) error {
	if b.full != nil {
		return b.full
	}
	return b.Store.Update(ctx, change)
}

func (b *brokenStore) View(ctx context.Context, read func(tenant.Reader) error) error {
	if b.fault != nil {
		if err := b.fault(ctx); err != nil {
			return err
		}
	}
	return b.Store.View(ctx, read)
}

// rig is a server on a store in memory.
type rig struct {
	t       testing.TB
	server  *Server
	store   *memstore.Store
	tenancy *tenant.Service
	broken  *brokenStore
	mailer  mailer
	logs    *syncBuffer
	booked  int64
}

func newRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	g := &rig{t: t, store: memstore.New(), logs: &syncBuffer{}}
	g.broken = &brokenStore{Store: g.store}
	model := speech.Model{ID: "espeak-ng-hinglish", Voices: []speech.Voice{
		{Name: "anjura", Language: "hi-IN+en-IN", SampleRate: 24000, PromptFrames: 102},
		{Name: "raj", Language: "hi-IN+en-IN", SampleRate: 24000, PromptFrames: 102},
	}}
	g.tenancy = tenant.New(tenant.Config{
		Voices: func() []string { return []string{"anjura", "raj"} }, Refuse: func(tenant.Key) {},
		Log: slog.New(slog.DiscardHandler),
	}, g.broken)
	reports, err := usage.NewReports(g.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Tenancy: g.tenancy, Reports: reports, Verifier: verifier{}, Mailer: &g.mailer,
		Model: func() speech.Model { return model },
		Log:   slog.New(slog.NewTextHandler(g.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&cfg)
	}
	if g.server, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	return g
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request as somebody, and holds the answer against the API's description.
func (g *rig) do(as, method, path, body string, headers ...string) reply {
	g.t.Helper()
	return g.doAs("Bearer token-of-"+as, as != nobody, method, path, body, headers...)
}

func (g *rig) doAs(authorization string, sent bool, method, path, body string, headers ...string) reply {
	g.t.Helper()
	r := httptest.NewRequestWithContext(g.t.Context(), method, path, strings.NewReader(body))
	if sent {
		r.Header.Set("Authorization", authorization)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, r)
	got := reply{w.Code, w.Result().Header, w.Body.String()}
	if err := described(r, got); err != nil {
		g.t.Errorf("%s %s: the answer %d %s is not as described: %v", method, path, got.status, got.body, err)
	}
	return got
}

// ok is do for what has to work, and decodes the answer into a value of type T.
func ok[T any](g *rig, as, method, path, body string, headers ...string) T {
	g.t.Helper()
	got := g.do(as, method, path, body, headers...)
	if got.status != http.StatusOK {
		g.t.Fatalf("%s %s %s as %s: %d %s", method, path, body, as, got.status, got.body)
	}
	return decoded[T](g.t, got)
}

func decoded[T any](t testing.TB, got reply) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(got.body), &v); err != nil {
		t.Fatalf("the answer %q: %v", got.body, err)
	}
	return v
}

// wantError checks an error in full.
func (r reply) wantError(t *testing.T, status int, code, text string) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"error": text})
	if r.status != status || r.header.Get("X-Error-Code") != code || !sameJSON(r.body, string(body)) {
		t.Errorf("answered %d %s %s, want %d %s %s", r.status, r.header.Get("X-Error-Code"), r.body, status, code, body)
	}
	if r.header.Get("Content-Type") != "application/json" || r.header.Get("X-Request-Id") == "" {
		t.Errorf("answered with the header %v, want a JSON body and a request's identifier", r.header)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil &&
		fmt.Sprint(x) == fmt.Sprint(y)
}

// Answers as tests read them.
type (
	orgAnswer struct {
		ID, Name, Role string
		Projects       []struct{ ID, Name string }
	}
	meAnswer struct {
		User struct{ ID, Email string }
		Orgs []orgAnswer
	}
	keyAnswer struct {
		ID        string
		Kind      string
		Name      string
		Voices    []string
		Origin    string
		RevokedAt string `json:"revoked_at"`
	}
	createdKeyAnswer struct {
		Key      string
		Replayed bool
		Row      keyAnswer
	}
)

// world is an organisation with a member of every role.
func (g *rig) world() (org, project string) {
	g.t.Helper()
	made := ok[orgAnswer](g, owner, "POST", "/portal/v1/orgs", `{"name":"Swar"}`)
	for _, m := range []struct{ email, role string }{{member, "member"}, {viewer, "viewer"}} {
		ok[any](g, owner, "POST", "/portal/v1/orgs/"+made.ID+"/members",
			fmt.Sprintf(`{"email":%q,"role":%q}`, m.email, m.role))
		ok[any](g, m.email, "GET", "/portal/v1/me", "")
	}
	return made.ID, made.Projects[0].ID
}

// book adds a stream of a minute to the usage.
func (g *rig) book(org, project, key string, change func(e *meter.Event)) {
	g.t.Helper()
	g.booked++
	start := time.Now().UTC().Truncate(time.Microsecond)
	e := meter.Event{
		ID: fmt.Sprintf("evt_%026d", g.booked), Seq: g.booked, Kind: meter.Final, Start: start, At: start, OrgID: org,
		ProjectID: project, KeyID: key,
		KeyPrefix: "swar_live_aaaaaa", RequestID: fmt.Sprintf("request-%d", g.booked), Endpoint: "rest",
		Voice: "anjura", Format: "wav",
		Status: meter.OK, Frames: 750, Billed: 750, Chars: 900, Chunks: 9, TTFAus: 41_260, Queueus: 1_200,
		Wallus: 15_100_000, Synthus: 15_000_000, Seed: 7,
	}
	if change != nil {
		change(&e)
	}
	e.Date = meter.DateOf(e.Start)
	if err := usage.NewLedger(g.store).Send(g.t.Context(),
		meter.Batch{Source: "pod-1", Events: []meter.Event{e}}); err != nil {
		g.t.Fatal(err)
	}
}

// describedRoutes finds operations of the API's description. It is made before any test, outside of bubbles.
var describedRoutes = func() routers.Router {
	doc, err := openapi3.NewLoader().LoadFromData(closed(description))
	if err != nil {
		panic(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	return router
}()

// closed forbids members that are not described. The description itself does not: clients must bear more of them.
func closed(description []byte) []byte {
	var doc map[string]any
	if err := json.Unmarshal(description, &doc); err != nil {
		panic(err)
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, open := v["additionalProperties"]; v["type"] == "object" && v["properties"] != nil && !open {
				v["additionalProperties"] = false
			}
			for _, inner := range v {
				visit(inner)
			}
		case []any:
			for _, inner := range v {
				visit(inner)
			}
		}
	}
	visit(doc["components"].(map[string]any)["schemas"])
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return b
}

// described reports how an answer differs from the description. What is no operation must be refused as such.
func described(r *http.Request, got reply) error {
	if r.Method == http.MethodOptions || r.Method == http.MethodHead {
		return nil
	}
	route, vars, err := describedRoutes.FindRoute(r)
	if err != nil {
		if got.status != http.StatusNotFound && got.status != http.StatusMethodNotAllowed {
			return fmt.Errorf("not described: %w", err)
		}
		return nil
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: vars, Route: route},
		Status:                 got.status,
		Header:                 got.header,
		Body:                   io.NopCloser(strings.NewReader(got.body)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true},
	}
	return openapi3filter.ValidateResponse(context.Background(), in)
}

// syncBuffer is a buffer for logs of several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *syncBuffer) has(words ...string) bool {
	return slices.ContainsFunc(strings.Split(s.String(), "\n"), func(line string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) })
	})
}
