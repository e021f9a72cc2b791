package main_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"
)

const order = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."

// samples checks that b is a WAV that states its length, and returns the samples in it.
func samples(t testing.TB, b []byte) []byte {
	t.Helper()
	if len(b) < 44 || string(b[:4]) != "RIFF" || string(b[36:40]) != "data" {
		t.Fatalf("no WAV: %q", b[:min(len(b), 44)])
	}
	if riff, data := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[40:]); int(riff) != len(b)-8 ||
		int(data) != len(b)-44 {
		t.Errorf("the header says %d and %d of %d bytes", riff, data, len(b))
	}
	if n := len(b) - 44; n < 10*3840 || n%3840 != 0 {
		t.Errorf("%d bytes of samples, want whole frames, and some", n)
	}
	return b[44:]
}

func TestSayWritesFiles(t *testing.T) {
	s := newShell(t)
	base := s.serve("--workers", "1").base
	say := func(args ...string) result {
		return s.ok(append([]string{"say", "--server", base, "--seed", "7"}, args...)...)
	}
	say("-o", "a.wav", order)
	say("-o", "a.pcm", order)
	say("-o", "A.RAW", order)
	say("-o", "a.opus", order)
	say("-o", "a.ogg", order)
	say("-o", "forced.bin", "--format", "wav", order)
	say("-o", "words.wav", "Namaste!", "Aapka", "order", "kal tak deliver ho jayega, total ₹499 hai.")
	say("-o", "raj.wav", "--voice", "raj", order)
	say("-o", "digits.wav", "--en-digits", "OTP 482913")
	say("-o", "digits-hi.wav", "OTP 482913")
	say("--local", "-o", "local.wav", order)

	want := samples(t, s.read("a.wav"))
	for _, name := range []string{"a.pcm", "A.RAW"} {
		if !bytes.Equal(s.read(name), want) {
			t.Errorf("%s differs from the samples of a.wav", name)
		}
	}
	for _, name := range []string{"forced.bin", "words.wav", "local.wav"} {
		if got := samples(t, s.read(name)); !bytes.Equal(got, want) {
			t.Errorf("%s has %d bytes of samples that differ from the %d of a.wav", name, len(got), len(want))
		}
	}
	for _, name := range []string{"a.opus", "a.ogg"} {
		if b := s.read(name); !bytes.HasPrefix(b, []byte("OggS")) || !bytes.Contains(b, []byte("OpusHead")) {
			t.Errorf("%s begins with %q", name, b[:min(len(b), 40)])
		}
	}
	if bytes.Equal(samples(t, s.read("raj.wav")), want) {
		t.Error("--voice changes nothing")
	}
	if bytes.Equal(s.read("digits.wav"), s.read("digits-hi.wav")) {
		t.Error("--en-digits changes nothing")
	}
	if got, want := s.files(), "A.RAW a.ogg a.opus a.pcm a.wav digits-hi.wav digits.wav forced.bin local.wav raj.wav words.wav"; got != want {
		t.Errorf("files = %s, want %s: nothing temporary may be left", got, want)
	}
}

func TestSayReadsAndWritesPipes(t *testing.T) {
	s := newShell(t, "SWAR_SEED=7")
	s.env = append(s.env, "SWAR_SERVER="+s.serve("--workers", "1").base)
	s.ok("say", "-o", "a.wav", order)
	want := samples(t, s.read("a.wav"))
	for name, run := range map[string]func() result{
		"a text, PCM out":          func() result { return s.ok("say", "-o", "-", "--format", "pcm16", order) },
		"a dash":                   func() result { return s.runWith(order+"\n", "say", "-o", "-", "--format", "pcm16", "-") },
		"nothing, but a pipe":      func() result { return s.runWith(order, "say", "-o", "-", "--format", "pcm16") },
		"in this process":          func() result { return s.runWith(order, "say", "-o", "-", "--format", "pcm16", "--local") },
		"a flag beats the setting": func() result { return s.ok("say", "--seed", "7", "-o", "-", "--format", "pcm16", order) },
	} {
		t.Run(name, func(t *testing.T) {
			if r := run(); r.code != 0 || r.out != string(want) {
				t.Errorf("exit code %d, %d bytes that differ from the %d wanted: %s", r.code, len(r.out),
					len(want), r.err)
			} else if r.err != "" {
				t.Errorf("standard error holds %q, want nothing: it is not a terminal", r.err)
			}
		})
	}
	t.Run("WAV is the default", func(t *testing.T) {
		if r := s.ok("say", "-o", "-", order); r.out[44:] != string(want) || r.out[:4] != "RIFF" {
			t.Errorf("%d bytes", len(r.out))
		}
	})
	t.Run("a device is written to, not replaced", func(t *testing.T) {
		s.ok("say", "-o", "/dev/null", "--format", "wav", order)
		if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
			t.Errorf("/dev/null is %v, %v", info.Mode(), err)
		}
	})
}

func TestSayTellsWhatItLeavesOut(t *testing.T) {
	s := newShell(t)
	s.env = append(s.env, "SWAR_SERVER="+s.serve("--workers", "1").base)
	const hint = `left out: "你\x7f好", which this model cannot speak` + "\n" // what a terminal would obey is escaped
	for where, flags := range map[string][]string{"a server": nil, "this process": {"--local"}} {
		say := func(file, text string) result {
			return s.run(append([]string{"say", "--raw", "--seed", "7", "-o", file, text}, flags...)...)
		}
		whole, part := say("whole.wav", "नमस्ते दोस्त"), say("part.wav", "你\x7f नमस्ते 好 दोस्त 好")
		if whole.err != "" || part.err != hint || part.code != 0 {
			t.Errorf("%s: told %q, then %q with exit code %d; want nothing and then what is missing",
				where, whole.err, part.err, part.code)
		}
		if !bytes.Equal(samples(t, s.read("whole.wav")), samples(t, s.read("part.wav"))) {
			t.Errorf("%s: the rest does not sound as it does alone", where)
		}
		r := say("none.wav", "你好")
		if r.code != 4 || !strings.HasPrefix(r.err, "swar: nothing to say after normalisation") {
			t.Errorf("%s: exit code %d, %q; want a refusal", where, r.code, r.err)
		}
	}
	if got := s.files(); got != "part.wav whole.wav" {
		t.Errorf("files = %s", got)
	}
	if r := s.ok("stream", "你好 Namaste!"); !strings.Contains(r.out, `left out     "你好", which`) {
		t.Errorf("stream shows\n%s", r.out)
	}
	word := regexp.MustCompile(`word +about 0\.\d\d to \d\.\d\d s: Namaste\n`)
	if r := s.ok("stream", "--words", "Namaste!"); !word.MatchString(r.out) {
		t.Errorf("stream shows\n%s", r.out)
	}
	if r := s.ok("stream", "Namaste!"); strings.Contains(r.out, "  word ") {
		t.Errorf("stream shows words that nobody has asked for:\n%s", r.out)
	}
	if r := s.ok("normalize", "你好 Namaste!"); !strings.Contains(r.out, "\n"+`left out: "你好", which`) {
		t.Errorf("normalize shows\n%s", r.out)
	}
	if r := s.ok("normalize", "--json", "你好 Namaste!"); !strings.Contains(r.out, `"unspoken": "你好"`) {
		t.Errorf("normalize shows\n%s", r.out)
	}
}

func TestSayKeepsWhatWasThereUntilItHasAllOfTheNew(t *testing.T) {
	s := newShell(t)
	base := s.serve("--workers", "1").base
	if err := os.WriteFile(s.path("real.wav"), []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.wav", s.path("link.wav")); err != nil {
		t.Fatal(err)
	}
	if r := s.run("say", "--server", base, "-o", "link.wav", "--voice", "nobody", order); r.code != 4 {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	if got := string(s.read("real.wav")); got != "old" {
		t.Errorf("a refusal changed the file to %q", got)
	}
	s.ok("say", "--server", base, "-o", "link.wav", order)
	samples(t, s.read("real.wav"))
	if info, err := os.Lstat(s.path("link.wav")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is a link no more: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(s.path("real.wav")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode = %v, %v; want the old one", info.Mode(), err)
	}
	if got, want := s.files(), "link.wav real.wav"; got != want {
		t.Errorf("files = %s, want %s", got, want)
	}
}

func TestSayPlays(t *testing.T) {
	s := newShell(t)
	base := s.serve("--workers", "1").base
	s.ok("say", "--server", base, "--seed", "7", "-o", "want.pcm", order)
	say := func() result { return s.run("say", "--server", base, "--seed", "7", order) }

	t.Run("nothing plays here", func(t *testing.T) {
		if r := say(); r.code != 1 || !strings.Contains(r.err, "install ffmpeg") ||
			!strings.Contains(r.err, "-o speech.wav") {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
	})
	t.Run("the first player found", func(t *testing.T) {
		s.script("aplay", `cat > heard.pcm; echo "$@" > args`)
		s.script("paplay", "exit 9")
		if r := say(); r.code != 0 || r.err != "" || r.out != "" {
			t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
		}
		if got, want := s.read("heard.pcm"), s.read("want.pcm"); !bytes.Equal(got, want) {
			t.Errorf("it heard %d bytes, want the %d that were spoken", len(got), len(want))
		}
		if got, want := string(s.read("args")), "-q -t raw -f S16_LE -r 24000 -c 1 -\n"; got != want {
			t.Errorf("called with %q, want %q", got, want)
		}
	})
	t.Run("a player that fails", func(t *testing.T) {
		s.script("aplay", `echo "aplay: main: audio open error: No such device" >&2; exit 1`)
		want := "swar: aplay cannot play here (aplay: main: audio open error: No such device); write a file with -o speech.wav\n"
		if r := say(); r.code != 1 || r.err != want {
			t.Errorf("exit code %d, %q; want %q", r.code, r.err, want)
		}
	})
	t.Run("a player that leaves early", func(t *testing.T) {
		s.script("aplay", `exit 0`)
		if r := say(); r.code != 1 || !strings.Contains(r.err, "aplay stopped playing before the end") {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
	})
	t.Run("ffplay without a sound device calls it success", func(t *testing.T) {
		s.script("ffplay", `cat > heard.wav; echo "No more combinations to try, audio open failed" >&2; exit 0`)
		if r := say(); r.code != 1 || !strings.Contains(r.err, "no sound device") {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
		if b := s.read("heard.wav"); !bytes.Equal(b[44:], s.read("want.pcm")) {
			t.Errorf("it heard %d bytes", len(b))
		}
	})
	t.Run("a refusal starts no player", func(t *testing.T) {
		s.script("ffplay", `cat > started`)
		if r := s.run("say", "--server", base, "--voice", "nobody", order); r.code != 4 {
			t.Errorf("exit code %d, %q", r.code, r.err)
		}
		if strings.Contains(s.files(), "started") {
			t.Error("it was started")
		}
	})
}

// fake is a server that answers POST /v1/tts with h.
func fake(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestSayWhenTheServerFails(t *testing.T) {
	tests := map[string]struct {
		server http.HandlerFunc
		code   int
		text   string
	}{
		"audio that is cut": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Write(make([]byte, 10000))
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}, 1, "the server cut the audio off before its end; try again: audio was cut after 10000 bytes",
		},
		"an engine error": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Error-Code", "engine_error")
				w.Header().Set("X-Request-Id", "r1")
				w.WriteHeader(500)
				io.WriteString(w, `{"error":"out of voice"}`)
			}, 1, "the server failed: out of voice; trying once more often helps (request r1)",
		},
		"busy": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Error-Code", "busy")
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(503)
				io.WriteString(w, `{"error":"busy"}`)
			}, 4, "the server is busy; try again in a moment",
		},
		"something else listens there": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>hello</html>", 404) }, 4, "not found",
		},
		"the connection breaks": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 3, "no server answers at http",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := bareShell(t)
			r := s.run("say", "--server", fake(t, tt.server), "-o", "x.wav", "hello")
			if r.code != tt.code || !strings.Contains(r.err, tt.text) {
				t.Errorf("exit code %d, %q; want %d and %q", r.code, r.err, tt.code, tt.text)
			}
			if got := s.files(); got != "" {
				t.Errorf("it left %s", got)
			}
		})
	}
}

func TestSayInterrupted(t *testing.T) {
	begun := make(chan struct{})
	base := fake(t, func(w http.ResponseWriter, r *http.Request) {
		io.ReadAll(r.Body)
		w.Write(make([]byte, 10000))
		http.NewResponseController(w).Flush()
		close(begun)
		<-r.Context().Done()
	})
	s := bareShell(t)
	v := s.start("say", "--server", base, "-o", "x.wav", "hello")
	<-begun
	v.signal(syscall.SIGINT)
	if got := v.end(); got != 130 {
		t.Errorf("exit code %d, want 130\n%s", got, v.log())
	}
	if got := v.log(); got != "swar: interrupted\n" {
		t.Errorf("it says %q", got)
	}
	if got := s.files(); got != "" {
		t.Errorf("it left %s", got)
	}
}

func TestStream(t *testing.T) {
	s := newShell(t)
	s.env = append(s.env, "SWAR_SERVER="+s.serve("--workers", "1").base)

	t.Run("arguments", func(t *testing.T) {
		r := s.ok("stream", "--seed", "7", "Namaste ₹499", "Kya haal hai?")
		first, second, found := strings.Cut(r.out, "Kya haal hai? req_")
		if !found || !strings.HasPrefix(first, "Namaste ₹499 req_") {
			t.Fatalf("it shows\n%s", r.out)
		}
		for _, part := range []string{first, second} {
			rest := part
			for _, want := range []string{"start", "seed 7", "chunk", "audio", "first audio", "chunk end",
				"end", "RTF"} {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("%q is missing, or in the wrong place, in\n%s", want, part)
				}
				rest = after
			}
		}
	})
	t.Run("lines of standard input, into one file", func(t *testing.T) {
		r := s.runWith("Namaste ₹499\n\n  Kya haal hai?  \r\n", "stream", "--seed", "7", "-o", "all.wav")
		if r.code != 0 || !strings.Contains(r.out, "Kya haal hai?") {
			t.Fatalf("exit code %d\n%s%s", r.code, r.out, r.err)
		}
		var want []byte
		for _, text := range []string{"Namaste ₹499", "Kya haal hai?"} {
			want = append(want, s.ok("say", "--seed", "7", "-o", "-", "--format", "pcm16", text).out...)
		}
		if got := samples(t, s.read("all.wav")); !bytes.Equal(got, want) {
			t.Errorf("%d bytes of samples, want the %d of both", len(got), len(want))
		}
	})
	t.Run("to standard output, events beside it", func(t *testing.T) {
		r := s.ok("stream", "-o", "-", "Namaste!")
		if !strings.HasPrefix(r.out, "RIFF") || !strings.Contains(r.err, "first audio") {
			t.Errorf("out %q, err %q", r.out[:min(len(r.out), 20)], r.err)
		}
	})
	t.Run("Opus", func(t *testing.T) {
		if r := s.runWith("Namaste ji kaise ho? Kal", "stream", "--append"); r.code != 0 ||
			strings.Count(r.out, "chunk end") != 2 || !strings.Contains(r.out, "as it comes") {
			t.Errorf("what is fed: exit code %d\n%s", r.code, r.out)
		}
		for text, want := range map[string]int{strings.Repeat("Namaste ji kaise ho? ", 70): 3,
			strings.Repeat("namaste ji ", 300): 2} {
			if r := s.runWith(text, "stream", "--append"); r.code != 0 || strings.Count(r.out, "as it comes") != want {
				t.Errorf("more than an utterance takes: exit code %d\n%s", r.code, r.out)
			}
		}
		s.ok("stream", "-o", "two.opus", "Namaste!", "Kya haal hai?")
		if got := bytes.Count(s.read("two.opus"), []byte("OpusHead")); got != 2 {
			t.Errorf("%d streams in the file, want one for each utterance", got)
		}
	})
	t.Run("raw events", func(t *testing.T) {
		var types []string
		for line := range strings.Lines(s.ok("stream", "--json", "Namaste!").out) {
			var e struct{ Type string }
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			types = append(types, e.Type)
		}
		if got, want := strings.Join(types, " "), "start chunk first_audio_ms chunk_end end"; got != want {
			t.Errorf("events = %s, want %s", got, want)
		}
	})
	t.Run("more lines than a server lets wait", func(t *testing.T) {
		r := s.runWith(strings.Repeat("Haan.\n", 60), "stream", "--json")
		if got := strings.Count(r.out, `"type":"end"`); r.code != 0 || got != 60 {
			t.Errorf("exit code %d, %d utterances ended, want 60\n%s", r.code, got, r.err)
		}
	})
	t.Run("one of them is refused", func(t *testing.T) {
		r := s.run("stream", "Namaste!", "...", "Kya haal hai?")
		if r.code != 4 || strings.Count(r.out, "  end ") != 2 ||
			!strings.Contains(r.err, "nothing to say after normalisation") {
			t.Errorf("exit code %d\n%s%s", r.code, r.out, r.err)
		}
	})
	t.Run("nothing to say is fine, and makes no file", func(t *testing.T) {
		if r := s.runWith("\n", "stream", "-o", "none.wav"); r.code != 0 || r.out != "" {
			t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
		}
		if r := s.run("stream", "-o", "none.wav", "..."); r.code != 4 {
			t.Errorf("exit code %d, %q, %q", r.code, r.out, r.err)
		}
		if got := s.files(); strings.Contains(got, "none") {
			t.Errorf("files = %s", got)
		}
	})
}

func TestStreamThatIsCut(t *testing.T) {
	base := fake(t, func(w http.ResponseWriter, r *http.Request) {
		up := websocket.Upgrader{}
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		ws.ReadMessage()
		ws.WriteMessage(websocket.BinaryMessage, make([]byte, 38400))
	})
	s := bareShell(t)
	r := s.run("stream", "--server", base, "-o", "x.wav", "hello")
	if want := "swar: 1 utterance cut short: connection lost: unexpected EOF\n"; r.code != 1 || r.err != want {
		t.Errorf("exit code %d, %q; want %q", r.code, r.err, want)
	}
	if got := len(samples(t, s.read("x.wav"))); got != 38400 {
		t.Errorf("the file has %d bytes of samples, want what had arrived", got)
	}
}

func TestNormalize(t *testing.T) {
	s := newShell(t)
	base := s.serve("--workers", "1", "--api-key", "k").base
	here := s.ok("normalize", "--json", "Total ₹499 hai, OTP 482913.").out
	there := s.ok("normalize", "--json", "--server", base, "--key", "k", "Total ₹499 hai, OTP 482913.").out
	if here != there {
		t.Errorf("this process says\n%sthe server says\n%s", here, there)
	}
	var n struct {
		Normalized string
		Chars      int
		Chunks     []struct{ Tokens int }
		Spans      []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(here), &n); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(n.Normalized, "रुपये") || n.Chars != len([]rune(n.Normalized)) || len(n.Chunks) != 1 ||
		len(n.Spans) == 0 {
		t.Errorf("normalised = %+v", n)
	}
	table := s.runWith("  Total ₹499 hai, OTP 482913.\n", "normalize", "-").out
	for _, want := range []string{
		"chunk  tokens  spoken\n", "    0  " + right(strconv.Itoa(n.Chunks[0].Tokens), 6) + "  " + n.Normalized + "\n", "   6    10  amount        ₹499 → ",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is missing in\n%s", want, table)
		}
	}
	if got := s.ok("normalize", "--json", "Namaste").out; strings.Contains(got, "null") {
		t.Errorf("null in %s", got)
	}
}

func TestNormalizeShowsWhy(t *testing.T) {
	s := newShell(t)
	for _, c := range []struct {
		text          string
		want, without []string
	}{
		{"Naya Savera Foundation planted 300 trees. Aapka OTP 482913 hai",
			[]string{"message Hindi: 1 sentence in English, 1 in Hindi\n   +16  Aapka: a Hindi function word\n", "planted 300 trees. English -1\n",
				"    +3  Naya: a name", "482913: code, rule \"code by context\", by a word of codes before it, before quantity\n"},
			[]string{"hai Hindi"}},
		{"Your cab is here. It is red. OTP: 3391",
			[]string{"message English: 2 sentences in English, 0 in Hindi\n   -12  is: an English function word\n    -6  Your: "},
			[]string{"OTP: 3391 English", "here. English"}},
		{"YOUR CAB IS HERE. VIG: 98765 43210",
			[]string{"message English: 1 sentence in English, 0 in Hindi; in capitals: 5 words, 0 other\n"}, nil},
		{"The cab is here and it is red. DO NOT WAIT.", []string{"WAIT. English -18, in capitals\n"}, nil},
		{"₹500", []string{"message without a language: 0 sentences in English, 0 in Hindi\n₹500 Hindi +0\n"}, nil},
	} {
		out := s.ok("normalize", "--why", c.text).out
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%q is missing in\n%s", want, out)
			}
		}
		for _, without := range c.without {
			if strings.Contains(out, without) {
				t.Errorf("%q is in\n%s", without, out)
			}
		}
	}
	if got := s.ok("normalize", "--why", "--json", "!").out; strings.Contains(got, "null") {
		t.Errorf("null in %s", got)
	}
	if r := s.run("normalize", "--why", "--server", "http://127.0.0.1:1", "hai"); r.code != 2 ||
		!strings.Contains(r.err, "--why") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func right(s string, width int) string { return strings.Repeat(" ", max(width-len(s), 0)) + s }

func TestVoices(t *testing.T) {
	s := newShell(t)
	base := s.serve("--workers", "1", "--api-key", "all", "--api-key", "one=raj").base
	all := s.ok("voices", "--server", base, "--key", "all").out
	want := "voice   language     sample rate\nanjura  hi-IN+en-IN  24000\nraj     hi-IN+en-IN  24000\n\nmodel espeak-ng-hinglish\n"
	if all != want {
		t.Errorf("it shows\n%swant\n%s", all, want)
	}
	one := s.ok("voices", "--server", base, "--key", "one", "--json").out
	if strings.Contains(one, "anjura") || !strings.Contains(one, `"name": "raj"`) {
		t.Errorf("it shows\n%s", one)
	}
}

func TestDoctor(t *testing.T) {
	well := newShell(t)
	r := well.ok("doctor", "--listen", "127.0.0.1:0")
	for _, want := range []string{"ok    espeak-ng", "ok    voices      anjura, raj", "ok    libopus     1.",
		"ok    processors", "is free", "note  player", "install ffmpeg"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing in\n%s", want, r.out)
		}
	}
	v := well.serve("--workers", "1")
	well.script("aplay", "")
	r = well.ok("doctor", "--listen", strings.TrimPrefix(v.base, "http://"))
	for _, want := range []string{"a Swar server (v0.0-test) speaks at", "with 1 worker\n",
		"ok    player      aplay at "} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing in\n%s", want, r.out)
		}
	}
	other := fake(t, http.NotFound)
	r = well.ok("doctor", "--listen", strings.TrimPrefix(other, "http://"))
	if want := "note  port        another program listens on"; !strings.Contains(r.out, want) {
		t.Errorf("%q is missing in\n%s", want, r.out)
	}

	r = bareShell(t).run("doctor", "--listen", "127.0.0.1:0")
	if r.code != 1 || !strings.Contains(r.out, "MISS  espeak-ng") ||
		!strings.Contains(r.out, "apt-get install espeak-ng") {
		t.Errorf("without espeak-ng: exit code %d\n%s%s", r.code, r.out, r.err)
	}
	broken := bareShell(t)
	broken.script("espeak-ng", "echo something else")
	if r := broken.run("doctor", "--listen", "127.0.0.1:0"); r.code != 1 ||
		!strings.Contains(r.out, "MISS  espeak-ng") {
		t.Errorf("with another espeak-ng: exit code %d\n%s%s", r.code, r.out, r.err)
	}
}

func TestTheReadyLineSpeaks(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("SKIPPED: curl is not installed; apt-get install curl")
	}
	s := newShell(t)
	s.link("curl", curl)
	s.script("aplay", "")
	v := s.serve("--workers", "1")
	line := v.await(func(line string) bool { return strings.Contains(line, "curl") })
	play := v.await(func(line string) bool {
		return strings.Contains(line, "namaste.wav") && strings.Contains(line, "aplay")
	})
	if play != "aplay -q namaste.wav" {
		t.Errorf("it says to play by %q", play)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = s.dir, s.env
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	if b := s.read("namaste.wav"); len(b) < 44+20*3840 {
		t.Errorf("%d bytes came of %s", len(b), line)
	}
	say := v.await(func(line string) bool { return strings.Contains(line, " say ") })
	cmd = exec.Command("sh", "-c", say+" -o said.wav")
	cmd.Dir, cmd.Env = s.dir, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", say, err, out)
	}
	samples(t, s.read("said.wav"))
}
