package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent starts `swar mcp` as a program with a language model does.
func (s *shell) agent(args ...string) *mcp.ClientSession {
	s.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(s.t.Context(), &mcp.CommandTransport{Command: s.command(append([]string{"mcp"},
		args...)...)}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() }) // the process has no more to say
	return session
}

// use calls a tool, and returns its text and what it says to programs.
func use(
	t *testing.T, session *mcp.ClientSession, tool string, args map[string]any,
) (text string, failed bool, data map[string]any) {
	t.Helper()
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, c := range r.Content {
		text += c.(*mcp.TextContent).Text
	}
	data, _ = r.StructuredContent.(map[string]any)
	return text, r.IsError, data
}

func TestToolsForLanguageModels(t *testing.T) {
	s := newShell(t)
	v := s.serve("--workers", "1", "--api-key", "good=raj")
	a := s.agent("--server", v.base, "--key", "good", "--mcp-dir", s.dir)

	if text, failed, _ := use(t, a, "list_voices", nil); failed || !strings.Contains(text, "raj") ||
		strings.Contains(text, "anjura") {
		t.Errorf("the voices of a key for raj: %q", text)
	}
	if text, failed, _ := use(t, a, "normalize", map[string]any{"text": "Total ₹499 hai."}); failed ||
		text != "Total चार सौ निन्यानबे रुपये hai." {
		t.Errorf("normalised %q", text)
	}
	say := func(more ...any) (string, bool, map[string]any) {
		args := map[string]any{"text": order, "voice": "raj"}
		for i := 0; i < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		return use(t, a, "say", args)
	}
	text, failed, data := say()
	if failed {
		t.Fatal(text)
	}
	path, _ := data["path"].(string)
	written, err := os.ReadFile(path)
	if err != nil || filepath.Dir(path) != s.dir {
		t.Fatalf("%q: %v, want a file in %s", path, err, s.dir)
	}
	seconds, _ := data["seconds"].(float64)
	if n := float64(len(samples(t, written))) / 48000; seconds < n-.001 || seconds > n+.001 || data["voice"] != "raj" ||
		!strings.Contains(text, path) {
		t.Errorf("%q and %v of %f s", text, data, n)
	}
	for file, begins := range map[string]string{"a.opus": "OggS", "a.wav": "RIFF",
		filepath.Join(s.dir, "b.wav"): "RIFF", "a.pcm": ""} {
		for range 2 { // the second time the file is replaced
			if text, failed, _ := say("file", file); failed {
				t.Errorf("%s: %s", file, text)
			}
		}
		if b := s.read(filepath.Base(file)); len(b) < 1000 || !bytes.HasPrefix(b, []byte(begins)) {
			t.Errorf("%s begins with %q", file, b[:min(len(b), 4)])
		}
	}
	if text, _, data := say("format", "pcm16"); !strings.HasSuffix(data["path"].(string), ".pcm") {
		t.Error(text)
	}
	if text, failed, data := say("format", "opus"); failed || data["seconds"].(float64) < 2 {
		t.Errorf("%s, %v: how long is it?", text, data)
	}
}

func TestToolsRefuse(t *testing.T) {
	s := newShell(t)
	v := s.serve("--workers", "1", "--api-key", "good=raj")
	outside := t.TempDir()
	s.link("inside", outside)
	if err := os.Symlink(outside, s.path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.path("folder.wav"), 0o777); err != nil {
		t.Fatal(err)
	}
	a := s.agent("--server", v.base, "--key", "good", "--mcp-dir", s.dir)
	for name, c := range map[string]struct {
		args map[string]any
		want string
	}{
		"another folder":         {map[string]any{"text": order, "file": "../x.wav"}, "give a name in that folder"},
		"a path elsewhere":       {map[string]any{"text": order, "file": "/etc/x.wav"}, "give a name in that folder"},
		"a link that leads away": {map[string]any{"text": order, "file": "link/x.wav"}, "escapes"},
		"no folder of that name": {map[string]any{"text": order, "file": "missing/x.wav"}, "missing"},
		"the folder itself":      {map[string]any{"text": order, "file": ".", "format": "wav"}, "give a name in that folder"},
		"a folder":               {map[string]any{"text": order, "file": "folder.wav"}, "another name"},
		"an unknown ending":      {map[string]any{"text": order, "file": "x.mp3"}, "a name must end in .wav"},
		"an unknown format":      {map[string]any{"text": order, "format": "mp3"}, "want wav, opus, pcm16"},
		"no text":                {map[string]any{}, "text"},
		"an empty text":          {map[string]any{"text": " "}, "text"},
		"one too many":           {map[string]any{"text": strings.Repeat("a", 4001)}, "4000"},
		"a voice that is closed": {map[string]any{"text": order, "voice": "anjura"}, "anjura"},
		"an unknown argument":    {map[string]any{"text": order, "pitch": 2}, "pitch"},
	} {
		if c.args["voice"] == nil {
			c.args["voice"] = "raj"
		}
		if text, failed, _ := use(t, a, "say", c.args); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s: failed %v, %q, want %q", name, failed, text, c.want)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v: something was written outside", entries, err)
	}
	if got, want := s.files(), "folder.wav link"; got != want {
		t.Errorf("files = %s, want %s: nothing unfinished may be left", got, want)
	}
	b := s.agent("--server", "127.0.0.1:1", "--mcp-dir", s.dir)
	if text, failed, _ := use(t, b, "list_voices", nil); !failed ||
		!strings.Contains(text, "start one with `swar serve`") {
		t.Errorf("without a server: %q", text)
	}
	if r := s.run("mcp", "--mcp-dir", s.path("missing")); r.code == 0 ||
		!strings.Contains(r.err, "create the folder first") || r.out != "" {
		t.Errorf("without a folder: %+v", r)
	}
}

// TestToolsOfOldClients: one JSON object a line, in the version of the protocol that the client asks for, and nothing
// else on standard output.
func TestToolsOfOldClients(t *testing.T) {
	s := newShell(t)
	v := s.serve("--workers", "1")
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18"} {
		cmd := s.command("mcp", "--server", v.base, "--mcp-dir", s.dir)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"nonsense"}
`); err != nil {
			t.Fatal(err)
		}
		answers := map[float64]map[string]any{}
		for lines := bufio.NewScanner(out); len(answers) < 3 && lines.Scan(); {
			line := lines.Text()
			var answer map[string]any
			if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
				t.Fatalf("%s: %q: %v", version, line, err)
			}
			answers[answer["id"].(float64)] = answer
		}
		if result, _ := answers[1]["result"].(map[string]any); result["protocolVersion"] != version {
			t.Errorf("%s: answered %v", version, answers[1])
		}
		if result, _ := answers[2]["result"].(map[string]any); len(result["tools"].([]any)) != 3 {
			t.Errorf("%s: tools %v", version, answers[2])
		}
		if answers[3]["error"] == nil {
			t.Errorf("%s: a method that does not exist: %v", version, answers[3])
		}
		if err := in.Close(); err != nil { // the client goes
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: ended with %v", version, err)
		}
	}
}
