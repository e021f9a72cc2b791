package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/access"
)

var keyPattern = regexp.MustCompile(access.Pattern)

// serveWithPortal starts a server with the portal in the shell's folder data.
func (s *shell) serveWithPortal(args ...string) *server {
	s.t.Helper()
	return s.serve(append([]string{"--portal", "on", "--workers", "1", "--data", "data"}, args...)...)
}

// firstKey waits for the key that the first start prints, and for all that stands around it.
func (v *server) firstKey() string {
	v.t.Helper()
	var key string
	eventually(v.t, "the first start prints a key", func() bool {
		key = keyPattern.FindString(v.stdout())
		return key != "" && strings.Contains(v.stdout(), " say ")
	})
	return key
}

// eventually waits until ok, for as long as a busy machine may need.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(30 * time.Second); !ok(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func (v *server) stop() {
	v.t.Helper()
	v.signal(syscall.SIGTERM)
	if code := v.end(); code != 0 {
		v.t.Errorf("exit code %d\n%s", code, v.log())
	}
}

func TestTheFirstStartMakesAKeyAndShowsItOnce(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal("--api-key", "beside")
	key := v.firstKey()
	if got := strings.Count(v.stdout(), key); got != 3 { // alone, for curl, for say
		t.Errorf("the key is shown %d times in\n%s", got, v.stdout())
	}
	for name, tt := range map[string]struct {
		key  string
		want int
	}{
		"the first key": {key, 0}, "a key of the command line": {"beside", 0}, "none": {"", 4}, "another": {"other", 4},
		"one that was never made": {strings.Replace(key, "live_", "live_x", 1)[:len(key)], 4},
	} {
		if r := s.run("say", "--server", v.base, "--key", tt.key, "-o", "x.wav", "hello"); r.code != tt.want {
			t.Errorf("%s: exit code %d, want %d: %s", name, r.code, tt.want, r.err)
		}
	}
	v.stop()
	first := v.log()

	v = s.serveWithPortal()
	if r := s.run("say", "--server", v.base, "--key", key, "-o", "x.wav", "hello"); r.code != 0 {
		t.Errorf("the first key at the second start: exit code %d: %s", r.code, r.err)
	}
	isLink := regexp.MustCompile(`^\nOpen http://127\.0\.0\.1:\d+/setup#[\w-]{43}\nand become its owner\. Single use; expires in 24 hours\.\n$`)
	if out := v.stdout(); !isLink.MatchString(out) {
		t.Errorf("the second start prints %q, want a link for setting up alone", out)
	}
	v.await(func(line string) bool { return strings.HasSuffix(line, " keys create --data data\n") })
	v.stop()

	if strings.Contains(first+v.log(), key) {
		t.Error("the log holds the key")
	}
	if err := filepath.WalkDir(s.path("data"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v; want it for its owner alone", path, info.Mode(), err)
		}
		if d.Type().IsRegular() {
			if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), key) {
				t.Errorf("%s holds the key, or %v", path, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAPortalThatCannotStart(t *testing.T) {
	s := newShell(t)
	s.serveWithPortal()
	refused := func(name string, want string, args ...string) {
		t.Helper()
		r := s.run(append([]string{"serve", "--listen", "127.0.0.1:0", "--workers", "1"}, args...)...)
		if r.code != 1 || !strings.Contains(r.err, want) || strings.Count(r.err, "\n") != 1 ||
			!strings.HasPrefix(r.err, "swar: ") {
			t.Errorf("%s: exit code %d, %q; want 1 and a line with %q", name, r.code, r.err, want)
		}
	}
	refused("two servers", "is in use by another server: stop it, or give this one another folder", "--data", "data")
	if r := s.run("migrate", "--project", "p", "--data", "data"); r.code != 1 ||
		!strings.HasSuffix(r.err, "is in use by another server: stop it\n") {
		t.Errorf("a move beside a server: exit code %d, %q; want 1 and to stop the server", r.code, r.err)
	}

	if err := os.WriteFile(s.path("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("a file", "cannot make the folder file (not a directory); choose another one with --data", "--data", "file")
	refused("a folder in a file", "cannot make the folder file/data (not a directory); choose another one with --data",
		"--data", "file/data")
	if err := os.MkdirAll(s.path("junk"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path("junk/swar.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("no database", "junk/swar.db", "--data", "junk")
}

// What an answer says of a key is true when the answer comes: otherwise one in ten of these is wrong.
func TestKeysChangeWithTheAnswer(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	v.firstKey()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _,
		_ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", s.path("data/admin.sock"))
	}}}
	defer client.CloseIdleConnections()
	do := func(method, path, body string) (id, key string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://admin/portal/v1/"+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var made struct {
			Key      string
			Row      struct{ ID string }
			Projects []struct{ ID string }
		}
		if err := json.NewDecoder(resp.Body).Decode(&made); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %s, %v", method, path, resp.Status, err)
		}
		if len(made.Projects) > 0 {
			return made.Projects[0].ID, ""
		}
		return made.Row.ID, made.Key
	}
	voices := func(key string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.base+"/v1/voices", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("x-api-key", key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Status + " " + string(body)
	}
	project, _ := do(http.MethodPost, "orgs", `{"name":"Swar"}`)
	const rounds = 20 // wrong keys of one address; further ones are answered late
	for range rounds {
		id, key := do(http.MethodPost, "keys", `{"project_id":"`+project+`","name":"server"}`)
		if got := voices(key); !strings.Contains(got, "anjura") {
			t.Errorf("a new key: %s", got)
		}
		do(http.MethodPatch, "keys/"+id, `{"voices":["raj"]}`)
		if got := voices(key); !strings.HasPrefix(got, "200") || strings.Contains(got, "anjura") {
			t.Errorf("a key that was limited: %s", got)
		}
		do(http.MethodDelete, "keys/"+id, "")
		if got := voices(key); !strings.HasPrefix(got, "401") {
			t.Errorf("a key that was revoked: %s", got)
		}
	}
}

func TestTheMetricsOfThePortal(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	s.ok("say", "--server", v.base, "--key", v.firstKey(), "-o", "x.wav", "hello")
	eventually(t, "what was spoken is in the store", func() bool {
		return strings.Contains(get(t, v.base+"/metrics"), "\ntts_usage_queued_events 0\n")
	})
	m := get(t, v.base+"/metrics")
	for _, want := range []string{"tts_keys 1", "tts_keys_current 1", "tts_usage_lost_events_total 0",
		"tts_usage_reconciliation_difference 0"} {
		if !strings.Contains(m, "\n"+want+"\n") {
			t.Errorf("the metrics lack %q", want)
		}
	}
	if got := get(t, s.serve("--workers", "1").base+"/metrics"); strings.Contains(got, "tts_keys") {
		t.Error("a server without the portal shows its metrics")
	}
}

// A link for setting up makes the first owner, ends when there is one, and another start shows none.
func TestSettingUpFromTheFirstStart(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal()
	v.firstKey()
	_, link, found := strings.Cut(v.stdout(), "\nOpen "+v.base+"/setup#")
	token, _, _ := strings.Cut(link, "\n")
	if !found {
		t.Fatalf("no link in %s", v.stdout())
	}
	newer := s.ok("setup-link", "--data", "data").out
	want := v.base + "/setup#"
	if !strings.HasPrefix(newer, want) || strings.Contains(newer, token) {
		t.Fatalf("the command prints %q, want another link", newer)
	}
	post := func(path, token, bearer string) (int, string) {
		t.Helper()
		body := strings.NewReader(`{"token":"` + token + `","email":"asha@example.org"}`)
		method := http.MethodPost
		if bearer != "" {
			method = http.MethodGet
		}
		req, err := http.NewRequestWithContext(t.Context(), method, v.base+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+bearer)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	if status, text := post("/auth/v1/setup", token, ""); status != http.StatusBadRequest {
		t.Errorf("the older link is answered %d %s", status, text)
	}
	status, text := post("/auth/v1/setup", strings.TrimSpace(strings.TrimPrefix(newer, want)), "")
	var session struct {
		IDToken string `json:"id_token"`
	}
	if err := json.Unmarshal([]byte(text), &session); err != nil || status != http.StatusOK {
		t.Fatalf("the newer link is answered %d %s", status, text)
	}
	if status, text := post("/portal/v1/me", "", session.IDToken); status != http.StatusOK ||
		!strings.Contains(text, `"role":"owner"`) {
		t.Errorf("who has set the server up is %d %s", status, text)
	}
	if r := s.run("setup-link", "--data", "data"); r.code == 0 || !strings.Contains(r.err, "has an owner") {
		t.Errorf("with an owner the command says %q with %d", r.err, r.code)
	}
	v.stop()
	v = s.serveWithPortal()
	v.await(func(line string) bool { return strings.HasSuffix(line, " keys create --data data\n") })
	if out := v.stdout(); out != "" {
		t.Errorf("the next start prints %q", out)
	}
	v.stop()
}

// A server that others reach, and that sends no mails: an operator lets everybody in.
func TestSignInLinksFromTheCommandLine(t *testing.T) {
	s := newShell(t)
	v := s.serve("--portal", "on", "--listen", "0.0.0.0:0", "--data", "data")
	verify := func(link string) (int, string) {
		t.Helper()
		_, token, found := strings.Cut(link, "/auth/link#")
		if !found {
			t.Fatalf("no link in %q", link)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.base+"/auth/v1/verify",
			strings.NewReader(`{"token":"`+token+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	v.firstKey()
	if out := v.stdout(); !strings.Contains(out, "/setup#") {
		t.Errorf("the first start prints no link for setting up:\n%s", out)
	}
	if got := get(t, v.base+"/auth/v1/ways"); !strings.Contains(got, `"email":false,"links":true,"mail":"none"`) {
		t.Errorf("pages are told %s", got)
	}
	invited := s.ok("orgs", "invite", "ravi@example.org", "--data", "data").out
	_, links, found := strings.Cut(invited, "\n\n")
	if !found || !strings.Contains(links, "Hand this link to ravi@example.org") {
		t.Fatalf("the invitation shows\n%s", invited)
	}
	lines := strings.Split(strings.TrimSpace(links), "\n")
	link := lines[len(lines)-1]
	if status, text := verify(link); status != http.StatusOK {
		t.Errorf("the link of an invitation is answered %d %s", status, text)
	}
	if status, _ := verify(link); status != http.StatusBadRequest {
		t.Errorf("and again %d", status)
	}
	newer := strings.Split(strings.TrimSpace(s.ok("signin-link", "ravi@example.org", "--data", "data").out), "\n")
	if status, text := verify(newer[0]); status != http.StatusOK {
		t.Errorf("the link of signin-link is answered %d %s", status, text)
	}
	if r := s.run("signin-link", "ravi", "--data", "data"); r.code != 2 {
		t.Errorf("for what is not an address: exit code %d, %s", r.code, r.err)
	}
	v.stop()
}
