//go:build e2e

package e2e

import (
	"bytes"
	bin "encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"
)

// hostile is a text that means something to shells and compilers.
const hostile = "It's \"₹499\" $HOME $(id) `id` !! \\ back\\n %d ${x} {{.}} </script> #{y}\n'दूसरी' पंक्ति\t'''\"\"\" \u202eabc\u202c क्\u200dष"

// TestSnippetsSayWhatIsTyped: the request as code, in each of five languages, is run as it stands and brings the audio
// of the very text that was typed.
func TestSnippetsSayWhatIsTyped(t *testing.T) {
	p := startPortal(t, t.TempDir())
	key := p.firstKey()
	b := openTab(t, p.portalBase+"/app/?with=key")
	b.do(chromedp.WaitVisible("input[type=password]"))
	b.write("input[type=password]", key)
	b.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible("textarea"))
	b.write("textarea", hostile)
	b.write(".play-side input.mono", "9007199254740993") // which no float holds
	b.wait("the code", `document.querySelector('.play-side pre.code').textContent.includes('9007199254740993')`)
	want := p.speakHostile(key)
	for _, language := range []string{"curl", "Python", "JavaScript", "Go", "wscat"} {
		t.Run(language, func(t *testing.T) {
			var code string
			b.get(fmt.Sprintf(`(async () => {
	[...document.querySelectorAll('.play-side .seg button')].find((x) => x.textContent === %q).click();
	await new Promise((go) => setTimeout(go, 50));
	return document.querySelector('.play-side pre.code').textContent;
})()`, language), &code)
			if strings.Contains(code, key) {
				t.Error("the code holds the key")
			}
			if strings.ContainsAny(code, "\u202e\u202c\u200d") {
				t.Error("the code holds marks that cannot be seen")
			}
			if language == "wscat" {
				p.runWscat(t, code, key)
				return
			}
			if got := runSnippet(t, language, code, key); !bytes.Equal(got, want) {
				t.Errorf("%d bytes, want the %d of the text\n%s", len(got), len(want), code)
			}
		})
	}
}

// speakHostile is what the server answers for the text.
func (p *portal) speakHostile(key string) []byte {
	p.t.Helper()
	text, err := json.Marshal(hostile)
	if err != nil {
		p.t.Fatal(err)
	}
	body := fmt.Sprintf(`{"text":%s,"voice":"anjura","temperature":0.3,"seed":9007199254740993,"stream":false}`, text)
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.base+"/v1/tts", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("x-api-key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	audio, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || len(audio) < 10_000 {
		p.t.Fatalf("status %d, %d bytes, %v", resp.StatusCode, len(audio), err)
	}
	statesItsLength(p.t, audio)
	return audio
}

// statesItsLength checks that a WAV file says how long it is: players and readers believe it.
func statesItsLength(t *testing.T, wav []byte) {
	t.Helper()
	if len(wav) < 44 || !bytes.HasPrefix(wav, []byte("RIFF")) {
		t.Fatalf("%d bytes are no WAV", len(wav))
	}
	if riff, data := bin.LittleEndian.Uint32(wav[4:]), bin.LittleEndian.Uint32(wav[40:]); int(riff) != len(wav)-8 ||
		int(data) != len(wav)-44 {
		t.Errorf("a file of %d bytes states %d and %d", len(wav), riff, data)
	}
}

// runSnippet runs code with the key in the environment and returns the file that it writes.
func runSnippet(t *testing.T, language, code, key string) []byte {
	t.Helper()
	folder := t.TempDir()
	run := map[string][]string{
		"curl": {"take.sh", "sh"}, "Python": {"take.py", "python3"}, "JavaScript": {"take.mjs", "node"}, "Go": {"main.go", "go"},
	}[language]
	if _, err := exec.LookPath(run[1]); err != nil {
		t.Skipf("%s is not installed: its code is NOT RUN", run[1])
	}
	file := filepath.Join(folder, run[0])
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), run[1], file)
	cmd.Dir = folder
	if language == "Go" { // this module, which has the client
		built := filepath.Join(folder, "take")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", built, file).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, code)
		}
		cmd = exec.CommandContext(t.Context(), built)
		cmd.Dir = folder
	}
	cmd.Env = append(os.Environ(), "SWAR_KEY="+key)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, code)
	}
	audio, err := os.ReadFile(filepath.Join(folder, "take.wav"))
	if err != nil {
		t.Fatal(err)
	}
	return audio
}

// runWscat lets a shell read the line, and does what wscat would do with its words.
func (p *portal) runWscat(t *testing.T, code, key string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `wscat() { printf '%s\0' "$@"; }; `+code)
	cmd.Env = append(os.Environ(), "SWAR_KEY="+key)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(words) != 8 || words[0] != "-H" || words[2] != "-c" || words[4] != "-x" || words[6] != "-w" {
		t.Fatalf("wscat is called with %q", words)
	}
	var sent struct{ Text string }
	if err := json.Unmarshal([]byte(words[5]), &sent); err != nil || sent.Text != hostile {
		t.Errorf("wscat sends %q, %v", sent.Text, err)
	}
	name, value, _ := strings.Cut(words[1], ": ")
	conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), words[3], http.Header{name: {value}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.WriteMessage(websocket.TextMessage, []byte(words[5])); err != nil {
		t.Fatal(err)
	}
	var first struct{ Type string }
	if err := conn.ReadJSON(&first); err != nil || first.Type != "start" {
		t.Errorf("the server answers %q, %v", first.Type, err)
	}
}
