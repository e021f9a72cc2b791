//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// wholeFleet is a portal, two workers of one slot each and two routers, which differ in nothing.
type wholeFleet struct {
	fleet
	sites [2]*portal // the fleet, as it is seen behind each of its routers
	key   string
}

// startWholeFleet waits until all of it is ready. Without SWAR_E2E=fleet it skips the test: nothing of swar serve is in
// it. The flags are those of its routers.
func startWholeFleet(t *testing.T, flags ...string) *wholeFleet {
	t.Helper()
	fleetOnly(t)
	f := &wholeFleet{fleet: fleet{token: writeToken(t)}}
	data := t.TempDir()
	site := f.newPortal(t, data)
	site.begin(t)
	workers := []*process{f.newWorker(t), f.newWorker(t)}
	for _, w := range workers {
		w.begin(t)
	}
	for i := range f.sites {
		router, base := f.newRouter(t, filepath.Join(data, fmt.Sprint("router-", i)), flags...)
		router.begin(t)
		f.sites[i] = &portal{t: t, data: data, server: &server{
			base: base, portalBase: f.portal, router: router, workers: workers, portal: site,
		}}
	}
	for _, p := range f.sites {
		p.waitReady(t)
	}
	f.key = f.sites[0].firstKey()
	return f
}

func fleetOnly(t *testing.T) {
	t.Helper()
	if !isFleet(t) {
		t.Skip("SKIPPED, so that nothing was tested: it is about a fleet; set SWAR_E2E=fleet")
	}
}

// settled waits until everything that was spoken is at the portal.
func (f *wholeFleet) settled() {
	for _, p := range f.sites {
		p.settled()
	}
}

// owner signs a member in and returns what the calls of the portal want: a token, the organisation and its project.
func (f *wholeFleet) owner() (token, org, project string) {
	p := f.sites[0]
	p.swar("orgs", "invite", "asha@example.org", "--role", "owner")
	_, session := p.signIn("asha@example.org")
	token = session["id_token"].(string)
	me := p.want(http.MethodGet, "/portal/v1/me", token, nil)["orgs"].([]any)[0].(map[string]any)
	return token, me["id"].(string), me["projects"].([]any)[0].(map[string]any)["id"].(string)
}

func TestARevokedKeyClosesSocketsOnBothRouters(t *testing.T) {
	f := startWholeFleet(t)
	p := f.sites[0]
	token, _, project := f.owner()
	made := p.want(http.MethodPost, "/portal/v1/keys", token, map[string]any{"project_id": project, "name": "app"})
	key, id := made["key"].(string), made["row"].(map[string]any)["id"].(string)
	var sockets []*websocket.Conn
	for i, site := range f.sites {
		// The answer of the portal says that all routers know the key.
		if status, answer := site.call(http.MethodGet, "/v1/voices", key, nil); status != http.StatusOK {
			t.Fatalf("router %d refuses a new key: %d %v", i, status, answer)
		}
		idle, speaking := site.socket(t, key), site.socket(t, key)
		sockets = append(sockets, idle, speaking)
		if err := speaking.WriteJSON(map[string]any{"text": longText, "format": "pcm16"}); err != nil {
			t.Fatal(err)
		}
		for kind := 0; kind != websocket.BinaryMessage; {
			var err error
			if kind, _, err = speaking.ReadMessage(); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.want(http.MethodDelete, "/portal/v1/keys/"+id, token, nil)
	revoked := time.Now()
	for i, site := range f.sites {
		if status, _ := site.call(http.MethodGet, "/v1/voices", key, nil); status != http.StatusUnauthorized {
			t.Errorf("router %d answers %d with a revoked key, want 401", i, status)
		}
	}
	var all sync.WaitGroup
	for i, conn := range sockets {
		all.Go(func() {
			_ = conn.SetReadDeadline(revoked.Add(10 * time.Second))
			var err error
			for err == nil {
				_, _, err = conn.ReadMessage()
			}
			if took := time.Since(revoked); !websocket.IsCloseError(err, websocket.ClosePolicyViolation) ||
				took > time.Second {
				t.Errorf("socket %d ended with %v after %v, want 1008 within a second", i, err, took)
			}
		})
	}
	all.Wait()
	t.Logf("all sockets were closed %v after the answer", time.Since(revoked).Round(time.Millisecond))
}

func TestTermOfAWorkerCutsNothing(t *testing.T) {
	f := startWholeFleet(t)
	p := f.sites[0]
	resp, err := p.begin(f.key, longText)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, bytesOfFrame)); err != nil {
		t.Fatal(err)
	}
	var leaves, stays *process
	for i, w := range p.workers {
		if busy, _ := w.metric(t, "tts_slots_busy"); busy == 1 {
			leaves, stays = w, p.workers[1-i]
		}
	}
	if leaves == nil {
		t.Fatal("no worker is busy: the test tests nothing")
	}
	leaves.signal(t, syscall.SIGTERM)
	eventually(t, "it is not ready any more", 5*time.Second,
		func() bool { return !answersOK(leaves.probes + "/readyz") })
	frames, requests := 0, 1
	for _, site := range f.sites {
		for range 3 {
			frames += site.speak(f.key, sentence) // which the other worker speaks
			requests++
		}
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.Trailer.Get("x-audio-s") == "" {
		t.Errorf("the stream ended after %d more bytes with %v, trailers %v; want it complete", n, err, resp.Trailer)
	}
	if err := leaves.wait(); err != nil {
		t.Errorf("the worker ended with %v, want success", err)
	}
	if !answersOK(stays.probes + "/readyz") {
		t.Error("the other worker is not ready")
	}
	f.sites[0].workers, f.sites[1].workers = []*process{stays}, []*process{stays}
	f.settled()
	frames += 1 + int(n)/bytesOfFrame
	if r, billed := p.billed(); r != requests || billed != frames {
		t.Errorf("%d requests and %d frames are billed; want %d and %d", r, billed, requests, frames)
	}
	for i, site := range f.sites {
		if out := cuts(t, site.router); out != "" {
			t.Errorf("router %d has cut streams: %s", i, out)
		}
	}
}

// cuts returns the lines of a router's metrics that tell of streams that were cut.
func cuts(t *testing.T, router *process) (lines string) {
	t.Helper()
	for line := range strings.Lines(run(t, "curl", "-sS", "--fail", router.probes+"/metrics")) {
		if strings.HasPrefix(line, "tts_streams_cut_total{") && !strings.HasSuffix(line, "} 0\n") {
			lines += line
		}
	}
	return lines
}

func TestTermOfARouterLetsItsStreamsFinish(t *testing.T) {
	f := startWholeFleet(t)
	leaving, staying := f.sites[0], f.sites[1]
	resp, err := leaving.begin(f.key, longText)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, bytesOfFrame)); err != nil {
		t.Fatal(err)
	}
	conn := leaving.socket(t, f.key)
	if err := conn.WriteJSON(map[string]any{"text": longText, "format": "pcm16"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.ReadMessage(); err != nil { // its start
		t.Fatal(err)
	}
	leaving.term(t)
	eventually(t, "its readiness is red", 5*time.Second,
		func() bool { return !answersOK(leaving.router.probes + "/readyz") })
	frames := leaving.speak(f.key, sentence) // while it lingers, it serves
	frames += staying.speak(f.key, sentence)
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.Trailer.Get("x-audio-s") == "" {
		t.Errorf("the stream ended after %d more bytes with %v, trailers %v; want it complete", n, err, resp.Trailer)
	}
	heard := hearTurn(conn)
	if heard.how != complete {
		t.Errorf("on the socket: %+v, want the utterance complete", heard)
	}
	frames += 1 + int(n)/bytesOfFrame + heard.frames
	if err := leaving.router.wait(); err != nil {
		t.Errorf("the router ended with %v, want success", err)
	}
	frames += staying.speak(f.key, sentence)
	staying.settled()
	if requests, billed := staying.billed(); requests != 5 || billed != frames {
		t.Errorf("%d requests and %d frames are billed; want 5 and %d", requests, billed, frames)
	}
}

// TestNothingStartsThatIsNotMeant tries each program with what it must refuse.
func TestNothingStartsThatIsNotMeant(t *testing.T) {
	fleetOnly(t)
	token := writeToken(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := (&fleet{token: token}).newPortal(t, t.TempDir())
	taken.begin(t)
	taken.waitReady(t)
	programs := map[string]func(*fleet) *process{
		"swar-worker": func(f *fleet) *process { return f.newWorker(t) },
		"swar-router": func(f *fleet) *process { p, _ := f.newRouter(t, t.TempDir()); return p },
		"swar-portal": func(f *fleet) *process { return f.newPortal(t, t.TempDir()) },
	}
	refused := func(program, name string, p *process, flags []string, wantCode int, says string) {
		t.Helper()
		code, out, complaint := runProgram(t, program, append(p.args, flags...)...)
		oneSentence := strings.HasPrefix(complaint, program+": ") && strings.Count(complaint, "\n") == 1
		if code != wantCode || out != "" || !oneSentence || !strings.Contains(complaint, says) {
			t.Errorf("%s with %s: exit code %d, %q, %q; want %d and one sentence with %q",
				program, name, code, out, complaint, wantCode, says)
		}
	}
	for name, tt := range map[string]struct {
		token string
		flags []string
		code  int
		says  string
	}{
		"a flag that is none":      {token, []string{"--nope"}, 2, "there is no flag --nope"},
		"an argument":              {token, []string{"surplus"}, 2, `takes no argument, but there is "surplus"`},
		"a level that is none":     {token, []string{"--log-level", "loud"}, 2, "want one of info, debug, warn, error"},
		"a missing token file":     {filepath.Join(t.TempDir(), "none"), nil, 2, "no such file or directory"},
		"an empty token file":      {empty, nil, 2, "there is no token"},
		"half of a certificate":    {token, []string{"--tls-cert", "x"}, 2, "give all three or none"},
		"an address that is taken": {token, []string{"--http", strings.TrimPrefix(taken.probes, "http://")}, 1, "choose another address with --http"},
	} {
		for program, newProcess := range programs {
			p := newProcess(&fleet{token: tt.token, pods: []string{freeAddress(t)}})
			refused(program, name, p, tt.flags, tt.code, tt.says)
		}
	}
	for program, flag := range map[string]string{"swar-worker": "--listen", "swar-router": "--watch",
		"swar-portal": "--dataplane"} {
		p := programs[program](&fleet{token: token, pods: []string{freeAddress(t)}})
		refused(program, "plain text for other machines", p, []string{flag, ":0"}, 2,
			flag+" :0 is reached by other machines")
	}
}

// TestWhoDoesNotBelongIsNotUsed: processes go on, and say why.
func TestWhoDoesNotBelongIsNotUsed(t *testing.T) {
	fleetOnly(t)
	own := &fleet{token: writeToken(t)}
	site, worker := own.newPortal(t, t.TempDir()), own.newWorker(t)
	site.begin(t)
	worker.begin(t)
	worker.waitReady(t)
	stranger := *own
	stranger.token = writeToken(t)
	for name, tt := range map[string]struct {
		of    *fleet
		flags []string
		ready bool // for the probe, which is about keys and not about pods
		says  []string
	}{
		"a router with another token": {&stranger, nil, false, []string{"Unauthenticated"}},
		"a router of another model":   {own, []string{"--model-id", "other"}, true, []string{"a pod is not used", "espeak-ng-hinglish", "other"}},
		"a router of another voice": {own, []string{"--model-id", "espeak-ng-hinglish", "--voice", "lata"}, true,
			[]string{"a pod is not used", "lata"}},
	} {
		t.Run(name, func(t *testing.T) {
			router, base := tt.of.newRouter(t, t.TempDir(), tt.flags...)
			router.begin(t)
			eventually(t, "the log says why", 10*time.Second, func() bool {
				for line := range strings.Lines(router.output()) {
					if containsAll(line, tt.says) {
						return true
					}
				}
				return false
			})
			eventually(t, fmt.Sprint("its probe says that it is ready: ", tt.ready), 10*time.Second, func() bool {
				return answersOK(router.probes+"/readyz") == tt.ready
			})
			if answersOK(base + "/readyz") {
				t.Error("the API says that it is ready")
			}
			resp, err := http.Post(base+"/v1/tts", "application/json", strings.NewReader(`{"text":"Namaste"}`))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				t.Error("it speaks")
			}
			router.signal(t, syscall.SIGTERM)
			if err := router.wait(); err != nil {
				t.Errorf("it ended with %v, want success", err)
			}
		})
	}
}

func containsAll(line string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(line, w) {
			return false
		}
	}
	return true
}
