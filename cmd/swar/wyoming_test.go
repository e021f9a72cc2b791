package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/dialect/wyoming/wyomingtest"
)

// wyoming returns where a server says that it serves the protocol.
func (v *server) wyoming() (address string) {
	v.t.Helper()
	line := v.await(func(line string) bool { return strings.Contains(line, "serving Wyoming") })
	for _, mark := range []string{"address=", `"address":"`} {
		if _, rest, ok := strings.Cut(line, mark); ok {
			return rest[:strings.IndexAny(rest, " \"\n")]
		}
	}
	v.t.Fatalf("no address in %q", line)
	return ""
}

// TestHomeAssistantIsSpokenTo by a server itself, and by a command in front of one with a key.
func TestHomeAssistantIsSpokenTo(t *testing.T) {
	s := newShell(t)
	v := s.serve("--workers", "1", "--api-key", "good=raj", "--wyoming", "127.0.0.1:0", "--wyoming-key", "good")
	behind := s.start("wyoming", "--server", v.base, "--key", "good", "--listen", "127.0.0.1:0")
	for name, address := range map[string]string{"swar serve": v.wyoming(), "swar wyoming": behind.wyoming()} {
		t.Run(name, func(t *testing.T) {
			c := wyomingtest.Dial(t, address)
			c.Send("describe", nil)
			_, _, info := c.Turn("info")
			programs, _ := info.Data["tts"].([]any)
			if len(programs) != 1 || len(programs[0].(map[string]any)["voices"].([]any)) != 1 {
				t.Errorf("a key for raj has %v", info.Data["tts"])
			}
			raj := map[string]any{"name": "raj"}
			c.Send("synthesize", map[string]any{"text": order, "voice": raj})
			types, whole, start := c.Turn("audio-stop")
			if want := []string{"audio-start", "audio-chunk", "audio-stop"}; !slices.Equal(types, want) ||
				len(whole) < 48000 || len(whole)%3840 != 0 {
				t.Errorf("%v with %d bytes (%v)", types, len(whole), start)
			}
			c.Send("synthesize-start", map[string]any{"voice": raj})
			for _, piece := range strings.SplitAfter(order, " ") {
				c.Send("synthesize-chunk", map[string]any{"text": piece})
			}
			c.Send("synthesize", map[string]any{"text": order, "voice": raj})
			c.Send("synthesize-stop", nil)
			types, fed, _ := c.Turn("synthesize-stopped")
			if want := []string{"audio-start", "audio-chunk", "audio-stop",
				"synthesize-stopped"}; !slices.Equal(types, want) {
				t.Errorf("%v, want %v", types, want)
			}
			if difference := len(fed) - len(whole); difference < -12000 || difference > 12000 {
				t.Errorf("fed there are %d bytes, whole %d", len(fed), len(whole))
			}
			c.Send("synthesize-start", map[string]any{"voice": raj}) // without a text
			c.Send("synthesize-stop", nil)
			if types, audio, _ := c.Turn("synthesize-stopped"); len(audio) > 0 || types[0] != "audio-start" {
				t.Errorf("nothing became %v with %d bytes", types, len(audio))
			}
			c.Send("synthesize", map[string]any{"text": strings.Repeat("a", 4001), "voice": raj})
			if _, _, e := c.Turn("error"); e.Data["code"] != "text_too_long" || e.Data["text"] == "" {
				t.Errorf("the error is %v", e.Data)
			}
			if e, err := c.Next(); err == nil {
				t.Errorf("%v came behind the error", e)
			}
		})
	}
	if metrics := v.fetch("GET", "/metrics", "",
		""); !strings.Contains(metrics, `tts_requests_total{endpoint="wyoming",status="200"} 3`) {
		t.Error("the turns were not counted")
	}
	behind.stop()
	v.stop()
}

func TestWyomingIsNotOpenByMistake(t *testing.T) {
	s := newShell(t)
	for _, args := range [][]string{
		{"serve", "--wyoming", ":10200"}, {"serve", "--wyoming", "10200"}, {"serve", "--wyoming-key", "KEY"},
		{"wyoming", "--listen", "0.0.0.0:10200"}, {"wyoming", "more"},
	} {
		if r := s.run(args...); r.code != 2 {
			t.Errorf("%v: exit code %d, %s", args, r.code, r.err)
		}
	}
}
