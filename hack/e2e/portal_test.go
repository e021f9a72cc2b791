//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

const bytesOfFrame = 3840 // of pcm16

var keyPattern = regexp.MustCompile(`swar_(live|play)_[0-9A-Za-z]{38}`)

// portal is a server with the portal on a folder. In a fleet the router's folder lies in that.
type portal struct {
	*server
	t    *testing.T
	data string
	key  string // the first one
}

// startPortal starts a server on data, which may hold a portal already.
func startPortal(t *testing.T, data string, flags ...string) *portal {
	t.Helper()
	p := &portal{server: start(t, append([]string{"--portal", "on", "--data", data}, flags...)...), t: t, data: data}
	return p
}

// firstKey waits until the first start has printed a key.
func (p *portal) firstKey() string {
	p.t.Helper()
	if isFleet(p.t) { // where nothing prints a key that nobody asks for
		p.swar("orgs", "create", "My organisation")
		p.key = keyPattern.FindString(p.swar("keys", "create", "First key"))
		if p.key == "" {
			p.t.Fatal("no key was made")
		}
		return p.key
	}
	eventually(p.t, "the first start prints a key", 10*time.Second, func() bool {
		p.key = keyPattern.FindString(p.printed())
		return p.key != ""
	})
	return p.key
}

// swar runs a command on the server's folder and returns what it prints.
func (p *portal) swar(args ...string) string {
	p.t.Helper()
	name := "swar"
	if isFleet(p.t) {
		name = "swar-portal"
	}
	out, err := exec.Command(program(p.t, name), append(args, "--data", p.data)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// jar keeps cookies: a code is good only for who has asked for it.
var jar = func() http.CookieJar {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err)
	}
	return jar
}()

// call asks the server, with a token or a key unless that is empty, and returns the status and the answer.
func (p *portal) call(method, path, secret string, fields map[string]any) (int, map[string]any) {
	p.t.Helper()
	var content io.Reader
	if fields != nil {
		content = strings.NewReader(body(p.t, fields))
	}
	base := p.base
	if ofPortal := strings.HasPrefix(path, "/portal") ||
		strings.HasPrefix(path, "/auth/"); ofPortal && p.portalBase != "" {
		base = p.portalBase
	}
	req, err := http.NewRequest(method, base+path, content)
	if err != nil {
		p.t.Fatal(err)
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	resp, err := (&http.Client{Jar: jar}).Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer := map[string]any{}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			p.t.Fatal(err)
		}
	}
	return resp.StatusCode, answer
}

// want is call for what must succeed.
func (p *portal) want(method, path, secret string, fields map[string]any) map[string]any {
	p.t.Helper()
	status, answer := p.call(method, path, secret, fields)
	if status/100 != 2 {
		p.t.Fatalf("%s %s: %d %v", method, path, status, answer)
	}
	return answer
}

// speak speaks to the end and returns the number of frames.
func (p *portal) speak(key, text string) int {
	p.t.Helper()
	resp, err := p.begin(key, text)
	if err != nil {
		p.t.Error(err)
		return 0
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || n%bytesOfFrame != 0 {
		p.t.Errorf("speaking: %s, %d bytes, %v", resp.Status, n, err)
	}
	return int(n / bytesOfFrame)
}

func (p *portal) begin(key, text string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodPost, p.base+"/v1/tts",
		strings.NewReader(body(p.t, map[string]any{"text": text, "format": "pcm16"})))
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Api-Key", key)
	return http.DefaultClient.Do(req)
}

// codeMark stands before the code of a mail.
const codeMark = "Or enter this code there:\n"

// codeAfter is the code of the next mail after so many.
func (p *portal) codeAfter(before int) string {
	p.t.Helper()
	eventually(p.t, "the mail is printed", 10*time.Second,
		func() bool { return strings.Count(p.printed(), codeMark) > before })
	all := p.printed()
	code, _, _ := strings.Cut(all[strings.LastIndex(all, codeMark)+len(codeMark):], "\n")
	return code
}

// signIn is the sign-in of a script: a code is mailed, here printed, and becomes tokens.
func (p *portal) signIn(email string) (code string, session map[string]any) {
	p.t.Helper()
	before := strings.Count(p.printed(), codeMark)
	if status, answer := p.call(http.MethodPost, "/auth/v1/email-link", "",
		map[string]any{"email": email}); status != http.StatusAccepted {
		p.t.Fatalf("asking for a link: %d %v", status, answer)
	}
	code = p.codeAfter(before)
	return code, p.want(http.MethodPost, "/auth/v1/verify", "", map[string]any{"email": email, "code": code})
}

// billed is what usage and bills say, as the operator sees it; both must be the same.
func (p *portal) billed() (requests, frames int) {
	p.t.Helper()
	var u struct {
		Totals struct {
			Requests int
			Frames   int
			Billed   int `json:"billed_frames"`
		}
	}
	if err := json.Unmarshal([]byte(p.swar("usage", "--json")), &u); err != nil {
		p.t.Fatal(err)
	}
	var b struct {
		Months []struct {
			Requests int
			Billed   int `json:"billed_frames"`
		}
	}
	if err := json.Unmarshal([]byte(p.swar("usage", "--months", "--json")), &b); err != nil {
		p.t.Fatal(err)
	}
	requests, frames = 0, 0
	for _, m := range b.Months {
		requests, frames = requests+m.Requests, frames+m.Billed
	}
	if u.Totals.Requests != requests || u.Totals.Billed != frames {
		p.t.Errorf("usage says %+v, the bills say %d requests and %d frames", u.Totals, requests, frames)
	}
	return requests, frames
}

// settled waits until everything that was spoken is in the store.
func (p *portal) settled() {
	p.t.Helper()
	eventually(p.t, "no usage is on its way", 20*time.Second,
		func() bool { return p.metric(p.t, "tts_usage_queued_events") == 0 })
	if lost := p.metric(p.t, "tts_usage_lost_events_total"); lost != 0 {
		p.t.Errorf("%v events are lost", lost)
	}
}

// stop drains the server.
func (p *portal) stop() {
	p.t.Helper()
	p.term(p.t)
	p.wait(p.t)
}

// TestPortalFromTheFirstKeyToTheBill is a customer's first hour.
func TestPortalFromTheFirstKeyToTheBill(t *testing.T) {
	p := startPortal(t, t.TempDir(), "--workers", "2", "--log-level", "debug")
	key := p.firstKey()
	secrets := []string{key}
	frames := p.speak(key, sentence)
	for name, wrong := range map[string]string{"no key": "", "another key": "swar_live_" + strings.Repeat("0", 38),
		"junk": "junk"} {
		if status, answer := p.call(http.MethodPost, "/v1/tts", wrong,
			map[string]any{"text": "hello"}); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %v, want 401", name, status, answer)
		}
	}
	if line := p.curlLine(); line == "" {
		t.Errorf("no curl line in %s", p.printed())
	} else {
		sh := exec.Command("sh", "-c", line)
		sh.Dir = t.TempDir()
		if out, err := sh.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		wav, err := os.ReadFile(filepath.Join(sh.Dir, "namaste.wav"))
		if err != nil || len(wav) < 44+bytesOfFrame || (len(wav)-44)%bytesOfFrame != 0 {
			t.Fatalf("the curl line makes %d bytes, %v", len(wav), err)
		}
		if loudest(wav[44:]) < 1000 {
			t.Error("the curl line makes silence")
		}
		frames += (len(wav) - 44) / bytesOfFrame
	}

	p.swar("orgs", "invite", "asha@example.org", "--role", "owner")
	code, session := p.signIn("Asha@Example.org")
	token := session["id_token"].(string)
	secrets = append(secrets, code, token, session["refresh_token"].(string))
	me := p.want(http.MethodGet, "/portal/v1/me", token, nil)
	org := me["orgs"].([]any)[0].(map[string]any)
	project := org["projects"].([]any)[0].(map[string]any)["id"]

	made := p.want(http.MethodPost, "/portal/v1/keys", token, map[string]any{"project_id": project, "name": "app"})
	live, id := made["key"].(string), made["row"].(map[string]any)["id"].(string)
	playground := p.want(http.MethodPost, "/portal/v1/playground-key", token,
		map[string]any{"project_id": project})["key"].(string)
	secrets = append(secrets, live, playground)
	allowed := func(key string, want int) func() bool {
		return func() bool {
			status, _ := p.call(http.MethodGet, "/v1/voices", key, nil)
			return status == want
		}
	}
	eventually(t, "a new key is good", time.Second, allowed(live, http.StatusOK))
	eventually(t, "a playground key is good", time.Second, allowed(playground, http.StatusOK))
	frames += p.speak(live, sentence) + p.speak(playground, sentence)

	p.want(http.MethodPatch, "/portal/v1/keys/"+id, token, map[string]any{"voices": []string{"raj"}})
	eventually(t, "a voice that the key lost is refused", time.Second, func() bool {
		// nothing to say: free if it is allowed
		status, answer := p.call(http.MethodPost, "/v1/tts", live, map[string]any{"text": "..."})
		return status == http.StatusForbidden && answer["error"] == "voice anjura not allowed for this key"
	})
	p.want(http.MethodPatch, "/portal/v1/keys/"+id, token, map[string]any{"voices": []string{}})

	t.Run("revoking cuts a socket that speaks", func(t *testing.T) {
		conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(p.base,
			"http")+"/v1/tts/stream?api_key="+live, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.WriteJSON(map[string]any{"text": longText, "format": "pcm16", "voice": "raj"}); err != nil {
			t.Fatal(err)
		}
		for kind := 0; kind != websocket.BinaryMessage; {
			if kind, _, err = conn.ReadMessage(); err != nil {
				t.Fatal(err)
			}
		}
		p.want(http.MethodDelete, "/portal/v1/keys/"+id, token, nil)
		revoked := time.Now()
		eventually(t, "the key is refused", time.Second, allowed(live, http.StatusUnauthorized))
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, _, err = conn.ReadMessage()
		}
		if e, ok := errors.AsType[*websocket.CloseError](err); !ok || e.Code != websocket.ClosePolicyViolation ||
			e.Text != "invalid api key" {
			t.Errorf("the socket ended with %v, want 1008 invalid api key", err)
		}
		t.Logf("the socket was closed %v after the revocation was answered",
			time.Since(revoked).Round(time.Millisecond))
		if took := time.Since(revoked); took > time.Second {
			t.Errorf("it took %v, want less than a second", took)
		}
	})

	p.settled()
	requests, billed := p.billed()
	rows := p.want(http.MethodGet, "/portal/v1/requests?org_id="+org["id"].(string), token, nil)["requests"].([]any)
	logged := 0
	for _, r := range rows {
		if row := r.(map[string]any); row["endpoint"] == "rest" {
			logged += int(row["billed_frames"].(float64))
		} else {
			// what the socket got before it was cut, which nobody has counted
			frames += int(row["billed_frames"].(float64))
		}
	}
	if requests != 5 || billed != frames || len(rows) != 5 || logged == 0 {
		t.Errorf("%d requests and %d frames are billed, %d are logged; want 5 and %d", requests, billed,
			len(rows), frames)
	}

	all := p.output()
	p.stop()
	all += p.output()
	for _, secret := range secrets {
		if strings.Contains(all, secret) {
			t.Errorf("the log holds the secret %.12s…", secret)
		}
		if found := holds(t, p.data, secret); found != "" {
			t.Errorf("%s holds the secret %.12s…", found, secret)
		}
	}
}

// curlLine is what a first start prints, for people to paste, or make fleet where that is how a first start looks.
func (p *portal) curlLine() string {
	p.t.Helper()
	printed := p.printed()
	if isFleet(p.t) {
		printed = strings.NewReplacer("http://127.0.0.1:8080", p.base, `$(cat "$data/key")`, p.key).
			Replace(string(readFile(p.t, "../fleet.sh")))
	}
	line := regexp.MustCompile(`(?m)^  (curl .*)$`).FindStringSubmatch(printed)
	if line == nil {
		return ""
	}
	return line[1]
}

// loudest returns the largest amplitude of pcm16.
func loudest(pcm []byte) (peak int) {
	for i := 0; i+1 < len(pcm); i += 2 {
		v := int(int16(uint16(pcm[i]) | uint16(pcm[i+1])<<8))
		peak = max(peak, v, -v)
	}
	return peak
}

// holds returns the first file below dir that holds text.
func holds(t *testing.T, dir, text string) (found string) {
	t.Helper()
	files := 0
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(b, []byte(text)) {
			found = path
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("there is nothing in %s", dir)
	}
	return found
}

// TestUsageSurvivesAKill kills the server while somebody listens. What was finished is billed to the frame, and of the
// rest what progress records tell, of which there is one for every ten seconds that the client has taken.
func TestUsageSurvivesAKill(t *testing.T) {
	const step = 125
	p := startPortal(t, t.TempDir(), "--workers", "2")
	key := p.firstKey()
	finished := 0
	for range 5 {
		finished += p.speak(key, sentence)
	}
	resp, err := p.begin(key, longText)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, 2*step*bytesOfFrame); err != nil {
		t.Fatal(err)
	}
	p.kill(t)
	rest, _ := io.Copy(io.Discard, resp.Body)
	resp.Body.Close()

	p = startPortal(t, p.data)
	p.settled()
	requests, billed := p.billed()
	cut, delivered := billed-finished, 2*step+int(rest)/bytesOfFrame
	t.Logf("%d frames were finished, of the stream that was cut %d were delivered, and it is billed for %d", finished,
		delivered, cut)
	if requests != 6 || cut < step || cut > delivered {
		t.Errorf("%d requests and %d frames are billed; want 6, and %d and at least one step of %d but not more than the %d delivered",
			requests, billed, finished, step, delivered)
	}
	more := p.speak(key, sentence)
	p.settled()
	if requests, again := p.billed(); requests != 7 || again != billed+more {
		t.Errorf("after the restart %d requests and %d frames are billed; want 7 and %d", requests, again, billed+more)
	}
	if difference := p.metric(t, "tts_usage_reconciliation_difference"); difference != 0 {
		t.Errorf("the books differ by %v", difference)
	}
}

func TestUsageIsWholeAfterDraining(t *testing.T) {
	p := startPortal(t, t.TempDir(), "--workers", "1")
	resp, err := p.begin(p.firstKey(), longText)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, bytesOfFrame)); err != nil {
		t.Fatal(err)
	}
	p.term(t)
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		t.Errorf("the running stream was cut: %v", err)
	}
	p.wait(t)
	p = startPortal(t, p.data)
	want := 1 + int(n)/bytesOfFrame
	if requests, billed := p.billed(); requests != 1 || billed != want {
		t.Errorf("%d requests and %d frames are billed; want 1 and %d", requests, billed, want)
	}
}

func TestBackupUnderLoad(t *testing.T) {
	p := startPortal(t, t.TempDir(), "--workers", "2")
	key := p.firstKey()
	done := make(chan struct{})
	var mu sync.Mutex
	spoken, frames := 0, 0
	var load sync.WaitGroup
	for range 2 {
		load.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				n := p.speak(key, "ek do teen")
				mu.Lock()
				spoken, frames = spoken+1, frames+n
				mu.Unlock()
			}
		})
	}
	eventually(t, "there is some usage in the store", 10*time.Second,
		func() bool { return strings.Contains(p.swar("usage"), "First key") })
	folder := t.TempDir()
	running, final := filepath.Join(folder, "running.db"), filepath.Join(folder, "final.db")
	p.swar("backup", running)
	close(done)
	load.Wait()
	p.settled()
	p.swar("backup", final)
	requests, billed := p.billed()
	if requests != spoken || billed != frames {
		t.Errorf("%d requests and %d frames are billed; want %d and %d", requests, billed, spoken, frames)
	}
	p.stop()

	for backup, whole := range map[string]bool{running: false, final: true} {
		q := &portal{t: t, data: filepath.Join(folder, filepath.Base(backup)+"-restored")}
		q.swar("restore", backup)
		q = startPortal(t, q.data, "--workers", "1")
		r, b := q.billed()
		if lost := r != requests || b != billed; whole && lost || b <= 0 || b > billed {
			t.Errorf("%s bills %d requests and %d frames; want at most %d and %d, and exactly these at the end",
				filepath.Base(backup), r, b, requests, billed)
		}
		if n := q.speak(key, sentence); n == 0 {
			t.Error("the key is not good after a restore")
		}
		q.settled()
		q.stop()
	}
}

// TestSpeechGoesOnWhenTheDiskIsFull fills the disk under the server for a while. Neither the log of usage nor the
// database can be written then; usage waits in memory.
func TestSpeechGoesOnWhenTheDiskIsFull(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Skipf("SKIPPED, so that nothing was tested: mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	p := startPortal(t, filepath.Join(disk, "data"), "--workers", "1")
	key := p.firstKey()
	frames := p.speak(key, sentence)
	p.settled()

	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v, want that it is full", err)
	}
	const full = 50 // streams; the last page of a file has room for some events
	for range full {
		frames += p.speak(key, sentence)
	}
	eventually(t, "usage waits", 5*time.Second, func() bool { return p.metric(t, "tts_usage_queued_events") != 0 })
	if status, answer := p.call(http.MethodGet, "/v1/voices", key, nil); status != http.StatusOK {
		t.Errorf("the key is refused: %d %v", status, answer)
	}
	t.Logf("%v events waited", p.metric(t, "tts_usage_queued_events"))
	if !strings.Contains(p.output(), "make room on the disk") {
		t.Error("the log does not say what is wrong")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	frames += p.speak(key, sentence)
	eventually(t, "the usage that waited is in the store", 45*time.Second,
		func() bool { return p.metric(p.t, "tts_usage_queued_events") == 0 })
	p.settled()
	if requests, billed := p.billed(); requests != full+2 || billed != frames {
		t.Errorf("%d requests and %d frames are billed; want %d and %d", requests, billed, full+2, frames)
	}
	p.stop()
}

// TestMovingToFirestore goes there and back: keys stay good, and the bill stays the same.
func TestMovingToFirestore(t *testing.T) {
	if os.Getenv("FIRESTORE_EMULATOR_HOST") == "" {
		t.Skip("SKIPPED, so that nothing was tested: no emulator; run hack/firestore-emulator.sh go test -tags e2e ./hack/e2e")
	}
	project := fmt.Sprintf("demo-e2e-%d", time.Now().UnixNano())
	p := startPortal(t, t.TempDir(), "--workers", "1")
	key := p.firstKey()
	frames := p.speak(key, sentence)
	p.swar("orgs", "invite", "asha@example.org")
	p.stop() // what is not in the store by now is moved, too

	if out := p.swar("migrate", "--project", project); !strings.Contains(out,
		"moved 1 organisation, 1 member, 1 key, 1 request and ") {
		t.Errorf("migrate says %q", out)
	}
	p = startPortal(t, p.data, "--workers", "1", "--store", "firestore", "--project", project)
	if requests, billed := p.billed(); requests != 1 || billed != frames {
		t.Errorf("in Firestore %d requests and %d frames are billed; want 1 and %d", requests, billed, frames)
	}
	frames += p.speak(key, sentence)
	made := strings.TrimSpace(keyPattern.FindString(p.swar("keys", "create", "there")))
	eventually(t, "a new key is good", 2*time.Second, func() bool {
		status, _ := p.call(http.MethodGet, "/v1/voices", made, nil)
		return status == http.StatusOK
	})
	p.settled()
	p.stop()

	q := &portal{t: t, data: t.TempDir()}
	q.swar("migrate", "--from", "firestore", "--to", "sqlite", "--project", project)
	q = startPortal(t, q.data, "--workers", "1")
	frames += q.speak(key, sentence) + q.speak(made, sentence)
	q.settled()
	if requests, billed := q.billed(); requests != 4 || billed != frames {
		t.Errorf("back in SQLite %d requests and %d frames are billed; want 4 and %d", requests, billed, frames)
	}
}

func TestTwoServersOnOneFolder(t *testing.T) {
	p := startPortal(t, t.TempDir(), "--workers", "1")
	second := &process{path: program(t, "swar"),
		args: []string{"serve", "--listen", freeAddress(t), "--workers", "1", "--data", p.data}}
	if isFleet(t) {
		second = (&fleet{token: writeToken(t)}).newPortal(t, p.data)
	}
	out, err := exec.Command(second.path, second.args...).CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != 1 ||
		!strings.Contains(string(out), "is in use by another server") {
		t.Errorf("the second server: %v\n%s", err, out)
	}
	if p.speak(p.firstKey(), sentence) == 0 {
		t.Error("the first server does not speak any more")
	}
}

// TestTheSocketIsForTheServersUser opens the folder and the socket to everybody, who still must not get in.
func TestTheSocketIsForTheServersUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, so that nothing was tested: becoming another user needs root")
	}
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	folder := t.TempDir()
	p := startPortal(t, filepath.Join(folder, "data"), "--workers", "1")
	p.firstKey()
	socket := filepath.Join(p.data, "admin.sock")
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v; want it for its owner alone", info.Mode(), err)
	}
	for path, mode := range map[string]fs.FileMode{filepath.Dir(folder): 0o755, folder: 0o755, p.data: 0o755,
		socket: 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for uid, want := range map[uint32]bool{0: true, 65534: false} {
		cmd := exec.Command(curl, "-sS", "--unix-socket", socket, "http://swar/operator/v1/orgs")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		if got := err == nil && strings.Contains(string(out), "My organisation"); got != want {
			t.Errorf("the user %d gets %q, %v", uid, out, err)
		}
	}
	eventually(t, "the log tells of it", 5*time.Second,
		func() bool { return strings.Contains(p.output(), "rejected another user") })
}

// TestWithoutThePortal is how the API looks then. A router is never one, so that it has nothing to say of that.
func TestWithoutThePortal(t *testing.T) {
	says := "map[error:portal is disabled]"
	if isFleet(t) {
		says = "map[error:not found]"
	}
	p := &portal{server: start(t, "--workers", "1"), t: t}
	for _, path := range []string{"/portal/v1/me", "/portal/v1/keys", "/portal"} {
		if status, answer := p.call(http.MethodGet, path, "", nil); status != http.StatusNotFound ||
			fmt.Sprint(answer) != says {
			t.Errorf("%s: %d %v; want 404 %s", path, status, answer, says)
		}
	}
	if status, answer := p.call(http.MethodPost, "/auth/v1/email-link", "",
		map[string]any{"email": "a@example.org"}); status != http.StatusNotFound {
		t.Errorf("signing in: %d %v; want 404", status, answer)
	}
}
