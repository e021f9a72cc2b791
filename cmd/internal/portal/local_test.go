package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// openLocal opens a portal on a folder, with the flags of args. The path of a socket must be short, so that tests have
// a working folder of their own.
func openLocal(t testing.TB, folder string, args ...string) (*Local, *Handler) {
	t.Helper()
	c := Config{
		Model: func() speech.Model { return speech.Model{ID: "test", Voices: []speech.Voice{{Name: "raj"}}} },
		Log:   slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	cmd := &cobra.Command{Use: "swar-test"}
	c.Store.Define(cmd.Flags())
	c.SignIn.Define(cmd.Flags())
	if err := cmd.ParseFlags(append([]string{"--data", folder}, args...)); err != nil {
		t.Fatal(err)
	}
	if err := c.Store.Check(cmd); err != nil {
		t.Fatal(err)
	}
	if err := c.SignIn.Check(cmd); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLocal(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	h, err := l.Handler(t.Context(), Site{
		Address: "127.0.0.1:8080", ClientIP: func(*http.Request) netip.Addr { return netip.Addr{} },
		Mails: io.Discard, Metrics: metrics.New(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, h
}

// run lets the portal work until the returned function is called, which closes it, too.
func run(t testing.TB, l *Local) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	select {
	case <-l.Keys().Ready():
	case err := <-ended:
		t.Fatalf("it ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("the keys are not known within 30 s")
	}
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("running: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
}

// operator asks the portal in a folder over its socket, and reads the answer into v unless that is nil.
func operator(t testing.TB, folder, method, path, body string, v any) {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", SocketIn(folder))
	}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://swar"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s, %s, %v", method, path, resp.Status, answer, err)
	}
	if v != nil {
		if err := json.Unmarshal(answer, v); err != nil {
			t.Fatalf("%s %s: %s: %v", method, path, answer, err)
		}
	}
}

func TestAKeyIsGoodWithTheAnswerAndEndsWithIt(t *testing.T) {
	t.Chdir(t.TempDir())
	const folder = "data"
	l, _ := openLocal(t, folder)
	defer run(t, l)()
	static, err := access.NewStatic([]string{"beside"}, []string{"raj"})
	if err != nil {
		t.Fatal(err)
	}
	isGood := func(ring access.Keyring, key string) bool {
		_, err := ring.Grant(t.Context(), access.Credentials{Key: key})
		return err == nil
	}

	var org OrgRow
	operator(t, folder, http.MethodPost, "/portal/v1/orgs", `{"name":"Swar"}`, &org)
	var made struct {
		Key string
		Row struct{ ID string }
	}
	body := `{"project_id":"` + org.Projects[0].ID + `","name":"server"}`
	operator(t, folder, http.MethodPost, "/portal/v1/keys", body, &made)
	if !isGood(l.Keyring(nil), made.Key) || !isGood(l.Keyring(static), made.Key) {
		t.Error("a new key is refused")
	}
	if isGood(l.Keyring(nil), "beside") || !isGood(l.Keyring(static), "beside") {
		t.Error("a static key is good without the list that holds it, or refused with it")
	}
	operator(t, folder, http.MethodDelete, "/portal/v1/keys/"+made.Row.ID, "", nil)
	if isGood(l.Keyring(static), made.Key) {
		t.Error("a key that was revoked is good")
	}

	var orgs OrgList
	operator(t, folder, http.MethodGet, "/operator/v1/orgs", "", &orgs)
	if len(orgs.Orgs) != 1 || orgs.Orgs[0].ID != org.ID || *orgs.Orgs[0].ActiveKeys != 0 {
		t.Errorf("the operator is shown %+v", orgs)
	}
}

func TestARevocationReachesTheCacheAlsoWithoutTheStore(t *testing.T) {
	t.Chdir(t.TempDir())
	l, _ := openLocal(t, "data")
	defer run(t, l)()
	org, err := l.Tenancy().CreateOrg(t.Context(), tenant.Operator(), "Swar", tenant.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	key, err := l.Tenancy().CreateKey(t.Context(), tenant.Operator(), org.Projects[0].ID, "server", nil,
		tenant.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	l.AwaitKey(t.Context(), key.Key)
	if _, err := l.keys.Grant(t.Context(), access.Credentials{Key: key.Secret}); err != nil {
		t.Fatalf("a new key: %v", err)
	}
	l.refuse(key.Key)
	if _, err := l.keys.Grant(t.Context(), access.Credentials{Key: key.Secret}); err == nil {
		t.Error("it is still good")
	}
}

func TestAPortalThatNeverRanLeavesItsFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	const folder = "data"
	for range 2 {
		l, _ := openLocal(t, folder)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(SocketIn(folder)); err == nil {
		t.Error("its socket is still there")
	}
}

func TestWhoAnswersWhichPath(t *testing.T) {
	other := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "other") })
	answers := func(h *Handler, path string) string {
		w := httptest.NewRecorder()
		h.Wrap(other).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		switch body := w.Body.Bytes(); {
		case bytes.Equal(body, []byte("other")):
			return "other"
		case bytes.Contains(body, []byte("portal is disabled")):
			return "off"
		case bytes.Contains(body, []byte("jwks")), bytes.Contains(body, []byte(`"keys"`)):
			return "sign-in"
		}
		return "portal"
	}
	t.Chdir(t.TempDir())
	l, with := openLocal(t, "one")
	defer run(t, l)()
	m, without := openLocal(t, "other", "--email-sign-in", "off", "--firebase", "swar")
	defer run(t, m)()
	for path, want := range map[string][3]string{
		"/portal":                           {"portal", "portal", "off"},
		"/portal/v1/me":                     {"portal", "portal", "off"},
		"/portals":                          {"other", "other", "other"},
		"/":                                 {"other", "other", "other"},
		"/v1/tts":                           {"other", "other", "other"},
		"/.well-known/openid-configuration": {"sign-in", "other", "other"},
		"/oauth2/jwks":                      {"sign-in", "other", "other"},
	} {
		got := [3]string{answers(with, path), answers(without, path), answers(Off(), path)}
		if got != want {
			t.Errorf("%s is answered by %v, want %v: with sign-in by e-mail, without, without a portal", path,
				got, want)
		}
	}
}
