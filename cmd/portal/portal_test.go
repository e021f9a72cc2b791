package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dataplane"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
	"github.com/swar-tts/swar/runtime/meter"
)

const testTimeout = 30 * time.Second

var program string // as it is built

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "swar-portal-test-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "swar-portal")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building swar-portal: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// folder is where a test runs commands.
type folder struct {
	t   *testing.T
	dir string
}

func (f folder) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 2*testTimeout)
	f.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = f.dir, []string{"HOME=" + f.dir}
	return cmd
}

func (f folder) run(args ...string) (code int, out, said string) {
	f.t.Helper()
	cmd := f.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		f.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func (f folder) ok(args ...string) (out, said string) {
	f.t.Helper()
	code, out, said := f.run(args...)
	if code != 0 {
		f.t.Fatalf("swar-portal %v: exit code %d\n%s", args, code, said)
	}
	return out, said
}

// server is a portal at work.
type server struct {
	*exec.Cmd

	Listen, Dataplane, HTTP string // addresses

	out, log lines
}

// lines are output that grows.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start starts a portal on free ports, and waits until it is ready.
func (f folder) start(args ...string) *server {
	f.t.Helper()
	args = append([]string{
		"--listen", "127.0.0.1:0", "--dataplane", "127.0.0.1:0", "--http", "127.0.0.1:0",
		"--model-id", "test", "--voice", "raj", "--voice", "anjura",
	}, args...)
	s := &server{Cmd: f.command(args...)}
	s.Stdout, s.Stderr = &s.out, &s.log
	if err := s.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { s.Process.Kill() })
	eventually(f.t, "it is ready", func() bool {
		for line := range strings.Lines(s.log.String()) {
			if strings.Contains(line, `"msg":"ready"`) {
				return json.Unmarshal([]byte(line), s) == nil && s.HTTP != ""
			}
		}
		return false
	})
	return s
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(testTimeout)
	for !is() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not within %v: %s", testTimeout, what)
		}
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// router is the part of one that knows the portal.
type router struct {
	*access.KeyCache
	*dataplane.Client
}

func follow(t *testing.T, addr string, creds grpcauth.Credentials) router {
	t.Helper()
	cache := access.NewKeyCache(access.KeyCacheConfig{})
	c := dataplane.ClientConfig{Addr: addr, Credentials: creds}
	client, err := dataplane.NewClient(c, cache, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { client.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
		client.Close()
	})
	return router{cache, client}
}

func (r router) knows(t *testing.T, key string) bool {
	_, err := r.Grant(t.Context(), access.Credentials{Key: key})
	return err == nil
}

// TestAPortalAndARouter: a key that is made works at once, what is spoken is billed, and a key that is revoked is not
// good any more once that was answered.
func TestAPortalAndARouter(t *testing.T) {
	ca := grpcauthtest.New(t)
	files := ca.Issue(grpcauth.Portal)
	f := folder{t, t.TempDir()}
	s := f.start("--tls-cert", files.Cert, "--tls-key", files.Key, "--tls-ca", files.CA)
	if status, body := get(t, "http://"+s.HTTP+"/readyz"); status != http.StatusOK {
		t.Errorf("/readyz answers %d %s", status, body)
	}
	r := follow(t, s.Dataplane, grpcauth.Credentials{Certificates: ca.Open(grpcauth.Router)})
	eventually(t, "the router is told that there are no keys", func() bool { return r.Check() == nil })

	key, said := f.ok("keys", "create", "first", "--voice", "raj")
	key = strings.TrimSpace(key)
	if !strings.Contains(said, `created org_`) || !r.knows(t, key) {
		t.Fatalf("the first key is %q, and the router knows it: %v\n%s", key, r.knows(t, key), said)
	}
	if _, said := f.ok("keys", "create"); strings.Contains(said, "created org_") {
		t.Errorf("a second organisation was made: %s", said)
	}
	if code, _, said := f.run("keys", "create", "--voice", "nobody"); code != 4 {
		t.Errorf("a voice that is not there: exit code %d, %s", code, said)
	}
	grant, err := r.Grant(t.Context(), access.Credentials{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	event := meter.Event{
		ID: "evt_1", Seq: 1, Kind: meter.Final, Start: time.Now(), At: time.Now(), Date: meter.DateOf(time.Now()),
		OrgID: grant.OrgID, ProjectID: grant.ProjectID, KeyID: grant.KeyID, Voice: "raj", Endpoint: "rest",
		Status: meter.OK, Frames: 750, Billed: 750,
	}
	for range 2 { // once, however often it is told
		if err := r.Send(t.Context(), meter.Batch{Source: "src_1", Events: []meter.Event{event}}); err != nil {
			t.Fatal(err)
		}
	}
	var usage struct {
		Totals struct {
			Requests int64
			Billed   int64 `json:"billed_frames"`
		}
	}
	out, _ := f.ok("usage", "--json")
	err = json.Unmarshal([]byte(out), &usage)
	if err != nil || usage.Totals.Requests != 1 || usage.Totals.Billed != 750 {
		t.Errorf("usage is %+v, %v, want one request of 750 frames", usage, err)
	}

	f.ok("keys", "revoke", grant.KeyID)
	if r.knows(t, key) {
		t.Error("the revoked key is good")
	}
	eventually(t, "the router has acknowledged everything", func() bool {
		_, metrics := get(t, "http://"+s.HTTP+"/metrics")
		return strings.Contains(metrics, `tts_routers{current="true"} 1`)
	})

	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil || !strings.Contains(s.log.String(), `"msg":"stopped"`) {
		t.Errorf("after SIGTERM: %v\n%s", err, &s.log)
	}
	if all := s.out.String() + s.log.String(); strings.Contains(all, "swar_live_") {
		t.Errorf("a key is printed:\n%s", all)
	}
	if code, _, said := f.run("keys", "list"); code != 3 || !strings.Contains(said, "start one with `swar-portal`") {
		t.Errorf("without a server: exit code %d, %s", code, said)
	}
	f.ok("backup", "swar.db")
	f.ok("restore", "swar.db")
}

// TestWhoIsNoRouter is told nothing.
func TestWhoIsNoRouter(t *testing.T) {
	ca := grpcauthtest.New(t)
	files := ca.Issue(grpcauth.Portal)
	f := folder{t, t.TempDir()}
	s := f.start("--tls-cert", files.Cert, "--tls-key", files.Key, "--tls-ca", files.CA)
	for name, creds := range map[string]grpcauth.Credentials{
		"a worker":                      {Certificates: ca.Open(grpcauth.Worker)},
		"a router of another authority": {Certificates: grpcauthtest.New(t).Open(grpcauth.Router)},
		"a token in plain text":         grpcauthtest.Shared(grpcauthtest.Token),
	} {
		r := follow(t, s.Dataplane, creds)
		ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
		if err := r.Send(ctx, meter.Batch{Source: "src"}); err == nil {
			t.Errorf("%s is taken for a router", name)
		}
		cancel()
		if r.Check() == nil {
			t.Errorf("%s is told keys", name)
		}
	}
	eventually(t, "the log says who was refused", func() bool {
		return strings.Contains(s.log.String(), "is of the role worker, and only router may do this")
	})
}

func TestWhatStandsBeside(t *testing.T) {
	f := folder{t, t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.dir, "token"), []byte(grpcauthtest.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := f.start("--token-file", "token")
	for path, want := range map[string]int{
		"http://" + s.HTTP + "/healthz":            http.StatusOK,
		"http://" + s.HTTP + "/metrics":            http.StatusOK,
		"http://" + s.HTTP + "/portal/v1/me":       http.StatusNotFound,
		"http://" + s.Listen + "/":                 http.StatusNotFound,
		"http://" + s.Listen + "/metrics":          http.StatusNotFound,
		"http://" + s.Listen + "/v1/tts":           http.StatusNotFound,
		"http://" + s.Listen + "/portal/v1/me":     http.StatusUnauthorized,
		"http://" + s.Listen + "/operator/v1/orgs": http.StatusNotFound,
	} {
		if got, body := get(t, path); got != want {
			t.Errorf("%s answers %d, want %d: %s", path, got, want, body)
		}
	}
	r := follow(t, s.Dataplane, grpcauthtest.Shared(grpcauthtest.Token))
	eventually(t, "a router with the token is told", func() bool { return r.Check() == nil })
}

func TestCommandLinesThatCannotBeMeant(t *testing.T) {
	f := folder{t, t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.dir, "token"), []byte(grpcauthtest.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	good := []string{"--model-id", "m", "--voice", "raj", "--token-file", "token", "--dataplane", "127.0.0.1:0"}
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"no model":                  {good[2:], "--model-id"},
		"no voice":                  {append([]string{"--model-id", "m"}, good[4:]...), "--voice"},
		"a voice twice":             {append([]string{"--voice", "raj"}, good...), "names a voice twice"},
		"two voices in one":         {append([]string{"--voice", "a,b"}, good...), "want the name of one voice"},
		"no credentials":            {good[:4], "processes must authenticate to one another"},
		"plain text to everybody":   {append(good[:6:6], "--dataplane", ":0"), "--plaintext"},
		"a file that is not there":  {append(good[:4:4], "--token-file", "nope", "--plaintext"), "cannot read nope: no such file"},
		"no port":                   {append(good[:8:8], "--listen", "1.2.3.4"), "want HOST:PORT"},
		"a proxy that is none":      {append(good[:8:8], "--trust-proxy", "10"), "want a network"},
		"Firestore without project": {append(good[:8:8], "--store", "firestore"), "needs --project"},
		"an argument":               {append(good[:8:8], "serve"), "serve"},
		"a command of another one":  {[]string{"say", "hello"}, "say"},
	} {
		code, _, said := f.run(tt.args...)
		if code != 2 || !strings.Contains(said, tt.says) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: exit code %d, want 2 and a sentence with %q: %s", name, code, tt.says, said)
		}
	}
}

// TestTextsNameThisProgram: whoever copies an example gets this program.
func TestTextsNameThisProgram(t *testing.T) {
	f := folder{t, t.TempDir()}
	for _, command := range []string{
		"", "keys", "keys list", "keys create", "orgs", "orgs invite", "usage", "voice-requests", "signing-keys", "signing-keys rotate",
		"backup", "restore", "migrate",
	} {
		out, _ := f.ok(append(strings.Fields(command), "--help")...)
		for line := range strings.Lines(out) {
			if strings.HasPrefix(strings.TrimSpace(line), "swar ") || strings.Contains(line, "swar serve") ||
				strings.Contains(line, "$(swar ") {
				t.Errorf("%s --help names another program: %s", command, line)
			}
		}
	}
}
