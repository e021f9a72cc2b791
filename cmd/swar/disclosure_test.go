package main_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/swar-tts/swar/client"
)

// spokenOn has a text spoken on a socket, and returns how it began and ended.
func spokenOn(t *testing.T, conn *client.Conn) (start *client.StartEvent, end *client.EndEvent) {
	t.Helper()
	if _, err := conn.Send(client.Request{Text: "namaste", Seed: new(int64(1))}); err != nil {
		t.Fatal(err)
	}
	for {
		event, err := conn.Next()
		if err != nil {
			t.Fatal(err)
		}
		switch e := event.(type) {
		case *client.StartEvent:
			start = e
		case *client.EndEvent:
			return start, e
		case *client.ErrorEvent:
			t.Fatal(e.Err)
		}
	}
}

// TestADisclosureFromOutside: what is set by command is spoken by the next utterance, is what the preview shows, and is
// on the bill.
func TestADisclosureFromOutside(t *testing.T) {
	s := newShell(t)
	v := s.serveWithPortal("--disclosure", "Server ki awaaz.")
	c, err := client.New(v.base, client.Options{Key: v.firstKey()})
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Keys []struct{ ID string } }
	if err := json.Unmarshal([]byte(s.ok("keys", "list", "--json", "--data", "data").out), &list); err != nil ||
		len(list.Keys) != 1 {
		t.Fatalf("keys: %v, %v", list, err)
	}
	id := list.Keys[0].ID
	conn, err := c.Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	frames := 0
	for _, step := range []struct{ name, before, command string }{
		{"the server's", "Server ki awaaz.", ""},
		{"the organisation's", "Company ki awaaz.", "orgs disclose|Company ki awaaz."},
		{"the key's", "Yeh machine hai.", "keys disclose " + id + "|Yeh machine hai."},
		{"none", "", "keys disclose " + id + "|"},
		{"the organisation's again", "Company ki awaaz.", "keys disclose " + id + " --inherit"},
		{"the server's again", "Server ki awaaz.", "orgs disclose --inherit"},
	} {
		if step.command != "" {
			words, text, hasText := strings.Cut(step.command, "|")
			args := strings.Fields(words)
			if hasText {
				args = append(args, text)
			}
			s.ok(append(args, "--data", "data")...)
		}
		want := strings.TrimSpace(step.before + " namaste")
		n, err := c.Normalize(t.Context(), "namaste", false)
		if err != nil || n.Text != want || n.Disclosure != step.before {
			t.Errorf("%s: normalised to %q after %q, %v; want %q", step.name, n.Text, n.Disclosure, err, want)
		}
		start, end := spokenOn(t, conn)
		if start.Normalized != want || start.Disclosure != step.before || start.Chunks != len(n.Chunks) {
			t.Errorf("%s: the socket speaks %q after %q in %d chunks", step.name, start.Normalized, start.Disclosure,
				start.Chunks)
		}
		audio, err := c.Speak(t.Context(), client.Request{Text: "namaste", Format: client.PCM16, Buffered: true,
			Raw: true, Seed: new(int64(1))})
		if err != nil {
			t.Fatal(err)
		}
		pcm, err := io.ReadAll(audio)
		if err != nil || len(pcm) != end.Frames*client.FrameBytes || end.BilledFrames != end.Frames {
			t.Errorf("%s: %d bytes, %v, where the socket spoke %d frames", step.name, len(pcm), err, end.Frames)
		}
		frames += 2 * end.Frames
	}
	var u struct {
		Totals struct {
			Requests     int
			BilledFrames int `json:"billed_frames"`
		}
	}
	eventually(t, "all is on the bill", func() bool {
		err := json.Unmarshal([]byte(s.ok("usage", "--json", "--data", "data").out), &u)
		return err == nil && u.Totals.Requests == 12
	})
	if u.Totals.BilledFrames != frames {
		t.Errorf("%d frames were spoken, and %d are billed", frames, u.Totals.BilledFrames)
	}
}

func TestADisclosureThatCannotBe(t *testing.T) {
	s := newShell(t)
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"in another script":           {[]string{"serve", "--portal", "off", "--disclosure", "你好。"}, "--disclosure: the model cannot speak 你好"},
		"with a character of another": {[]string{"serve", "--portal", "off", "--disclosure", "Yeh 你 hai."}, "--disclosure: the model cannot speak 你"},
		"required, and there is none": {[]string{"serve", "--portal", "off", "--disclosure-required"}, "--disclosure-required needs --disclosure"},
		"marks, of a key":             {[]string{"keys", "disclose", "key_x", "..."}, "must have a letter or a digit"},
		"no text, and no --inherit":   {[]string{"orgs", "disclose"}, "or --inherit"},
		"a text and --inherit":        {[]string{"orgs", "disclose", "AI", "--inherit"}, "contradict each other"},
	} {
		args := tt.args
		if args[0] == "serve" {
			args = append(args, "--listen", "127.0.0.1:0", "--workers", "1")
		}
		if r := s.run(args...); r.code != 2 || !strings.Contains(r.err, tt.says) {
			t.Errorf("%s: exit code %d, %q; want 2 and %q", name, r.code, r.err, tt.says)
		}
	}
}
