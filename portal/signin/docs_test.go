package signin_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

// The script of docs/signin.md, run as it stands there, with a mail that is read by the test.
func TestScriptOfTheDocs(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: the script of docs/signin.md was not run, because %s is missing", tool)
		}
	}
	docs, err := os.ReadFile("../../docs/signin.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(docs), "<!-- a test runs this script -->\n```sh\n")
	script, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("docs/signin.md has no such script")
	}

	mails, log := make(chan signin.Mail, 1), &logBuffer{}
	outbox := signin.NewOutbox("", mailerFunc(func(m signin.Mail) error { mails <- m; return nil }), newLog(log))
	done := make(chan struct{})
	go func() { defer close(done); outbox.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	server := httptest.NewUnstartedServer(nil)
	url := "http://" + server.Listener.Addr().String()
	issuer, err := signin.New(signin.Config{URL: url, Log: newLog(log)}, newStore(), outbox)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/portal/v1/me" {
			issuer.ServeHTTP(w, r)
			return
		}
		id, err := issuer.Verify(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		fmt.Fprintf(w, "I am %s (%v)\n", id.Email, err)
	})
	server.Start()
	defer server.Close()

	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-o", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "base="+url, "email=asha@example.org", "no_proxy=*",
		"TMPDIR="+folder)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case m := <-mails:
		io.WriteString(stdin, codeInMail.FindStringSubmatch(m.Text)[1]+"\n")
	case <-time.After(time.Minute):
		t.Error("no mail was sent")
		cmd.Process.Kill()
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "I am asha@example.org (<nil>)") {
		t.Errorf("the script: %v\n%s\n%s", err, out.String(), log)
	}
	session, err := os.ReadFile(filepath.Join(folder, "session.json"))
	if err != nil || !strings.Contains(string(session), `"refresh_token":"swar_refresh_`) {
		t.Errorf("session after the refresh: %s (%v)", session, err)
	}
}
