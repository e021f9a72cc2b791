package main_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/swar-tts/swar/internal/testenv/onnxruntimetest"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
)

// neuralShell is a bare one in which the library of the neural engine is found. Where there is none it ends the test,
// see onnxruntimetest.Library.
func neuralShell(t testing.TB, env ...string) *shell {
	t.Helper()
	library := onnxruntimetest.Library(t)
	return bareShell(t, append(env, "SWAR_ONNXRUNTIME="+library)...)
}

// random makes a tiny random bundle.
func (s *shell) random(name string, args ...string) {
	s.t.Helper()
	s.ok(append([]string{"bundle", "synth-random", "-o", name}, args...)...)
}

// rename gives a voice of a bundle another name. The manifest has no hash of its own.
func (s *shell) rename(dir, from, to string) {
	s.t.Helper()
	manifest := s.read(dir + "/manifest.json")
	changed := bytes.Replace(manifest, []byte(`"name": "`+from+`"`), []byte(`"name": "`+to+`"`), 1)
	if bytes.Equal(changed, manifest) {
		s.t.Fatalf("%s has no voice %s", dir, from)
	}
	s.write(dir+"/manifest.json", changed)
}

func (s *shell) write(name string, data []byte) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), data, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func TestMakingABundle(t *testing.T) {
	s := bareShell(t)
	r := s.ok("bundle", "synth-random", "--size", "tiny", "-o", "a bundle")
	for _, want := range []string{
		"✓ a bundle: model ", "fp32, 2 voices, ", " bundle verify 'a bundle'", " serve --bundle 'a bundle'",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("it says %q, want %q", r.out, want)
		}
	}
	if r.err == "" || strings.Contains(r.err, "\x1b") || strings.Contains(r.err, "\r") {
		t.Errorf("progress without a terminal is %q, want plain lines", r.err)
	}
	s.random("same", "--seed", "1")
	s.random("other", "--seed", "2")
	s.random("int8", "--precision", "int8")
	if err := os.Mkdir(s.path("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.random("empty/") // a folder without files is as good as none
	first := s.tree("a bundle")
	if len(first) < 8 {
		t.Fatalf("a bundle of %d files", len(first))
	}
	for name, equal := range map[string]bool{"same": true, "empty": true, "other": false, "int8": false} {
		if got := s.tree(name); (got["lm.onnx"] == first["lm.onnx"]) != equal || len(got) != len(first) {
			t.Errorf("%s: lm.onnx equal is not %v, or %d files", name, equal, len(got))
		}
	}
	s.write("file", nil)
	for place, want := range map[string]string{
		"same": "swar: same holds ", "file": "swar: open file: not a directory",
	} {
		if r := s.run("bundle", "synth-random", "-o", place); r.code != 1 || !strings.HasPrefix(lastLine(r.err), want) {
			t.Errorf("in the place of %s: exit code %d, %q", place, r.code, r.err)
		}
	}
	if got, want := s.files(), "a bundle empty file int8 other same"; got != want {
		t.Errorf("the folder holds %s, want %s", got, want)
	}
}

// tree is the content of every file below dir.
func (s *shell) tree(dir string) map[string]string {
	s.t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(s.path(dir)), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name] = string(s.read(dir + "/" + name))
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

func TestAnInterruptLeavesNothingBehind(t *testing.T) {
	s := bareShell(t)
	v := s.start("bundle", "synth-random", "--size", "base", "-o", "base")
	v.await(func(line string) bool { return line != "" })
	v.signal(syscall.SIGINT)
	if code := v.end(); code != 130 || !strings.HasSuffix(v.log(), "swar: interrupted\n") {
		t.Errorf("exit code %d, %q", code, v.log())
	}
	if got := s.files(); got != "" {
		t.Errorf("it left %s", got)
	}
}

func TestConversionsThatFailLeaveNothingBehind(t *testing.T) {
	s := bareShell(t)
	s.write("config.yaml", []byte("flow_lm: 1\n"))
	for name, args := range map[string][]string{
		"no model of ours":        {"--config", "config.yaml", "--voice", "raj=raj.safetensors"},
		"no configuration at all": {"--config", program, "--voice", "raj=raj.safetensors"},
	} {
		r := s.run(append([]string{"bundle", "convert", "-o", "x"}, args...)...)
		if r.code != 1 || !strings.HasPrefix(r.err, "swar: ") || strings.Count(r.err, "\n") != 1 ||
			strings.Contains(r.err, "struct") {
			t.Errorf("%s: exit code %d, %q", name, r.code, r.err)
		}
		if got := s.files(); got != "config.yaml" {
			t.Errorf("%s: it left %s", name, got)
		}
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func TestInspect(t *testing.T) {
	s := bareShell(t) // no library
	s.random("tiny", "--precision", "int8")
	out := s.ok("bundle", "inspect", "tiny").out
	for _, want := range []string{
		"tiny\n", "\nmodel ", "\nlicence ", "\nlanguages ", "\nprecision  int8, for ONNX Runtime ", "\nflow       lsd, 1 step", "\ntext       ", "\nsampling   temperature 0.3",
		"\nend        logit above ", "\nlimits     50 tokens and 234 frames a chunk (18.7 s)", "\nintegers   the matrices ", "\ndecoding   1 frame, then 4 frames at a time, the first 120 samples", "\nanjura ", "\nraj ", "\nlm.onnx ", "\ncodec.onnx ", "\nall of it ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it lacks %q:\n%s", want, out)
		}
	}
	var got, want any
	if err := json.Unmarshal([]byte(s.ok("bundle", "inspect", "--json", "tiny").out), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(s.read("tiny/manifest.json"), &want); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if !bytes.Equal(a, b) {
		t.Errorf("--json prints\n%s\nand not the manifest\n%s", a, b)
	}
}

func TestPublishedLayouts(t *testing.T) {
	for _, name := range layouttest.Layouts() {
		t.Run(name, func(t *testing.T) {
			s := neuralShell(t)
			r := convert.Tiny()
			r.Width, r.Heads = 64, 1
			if err := layouttest.Write(s.path("m"), name, r); err != nil {
				t.Fatal(err)
			}
			if out := s.ok("bundle", "inspect", "m").out; !strings.Contains(out, "m is in the ") ||
				!strings.Contains(out, "serve --bundle m\n") {
				t.Errorf("inspect says %q", out)
			}
			var shown struct{ Layout string }
			if err := json.Unmarshal([]byte(s.ok("bundle", "inspect", "--json", "m").out), &shown); err != nil ||
				shown.Layout == "" {
				t.Errorf("inspect --json shows %+v, %v", shown, err)
			}
			if out := s.ok("bundle", "verify",
				"m").out; !strings.Contains(out, "ok  files    "+shown.Layout+" layout") ||
				!strings.Contains(out, "ok  voice ") {
				t.Errorf("verify says %q", out)
			}
			if out := s.ok("voices", "--bundle", "m").out; !strings.Contains(out, "24000") {
				t.Errorf("voices says %q", out)
			}
			s.ok("normalize", "--bundle", "m", "hello")
			s.ok("say", "--bundle", "m", "-o", "x.pcm", "hello")
			if n := len(s.read("x.pcm")); n == 0 || n%3840 != 0 {
				t.Errorf("%d bytes, want whole frames", n)
			}
		})
	}
}

// TestLayoutsOfOthersAreRefused shows a folder that no command loads: the same sentence everywhere, with what to do.
func TestLayoutsOfOthersAreRefused(t *testing.T) {
	s := bareShell(t)
	if err := os.Mkdir(s.path("raw"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("raw/model.safetensors", []byte("weights"))
	s.write("raw/config.yaml", []byte("flow_lm:\n"))
	for _, args := range [][]string{
		{"bundle", "inspect", "raw"}, {"bundle", "verify", "raw"}, {"serve", "--listen", "127.0.0.1:0", "--bundle", "raw"},
		{"say", "--bundle", "raw", "-o", "x.wav", "hello"}, {"voices", "--bundle", "raw"}, {"normalize", "--bundle", "raw", "hello"},
	} {
		if r := s.run(args...); r.code != 1 || strings.Count(r.err, "\n") != 1 ||
			!strings.Contains(r.err, "swar bundle convert") {
			t.Errorf("%v: exit code %d, %q", args, r.code, r.err)
		}
	}
}

func TestVerify(t *testing.T) {
	s := neuralShell(t)
	s.random("tiny")
	out := s.ok("bundle", "verify", "tiny").out
	for _, want := range []string{"ok  files ", "ok  graphs ", "ok  voice    anjura: ", "ok  voice    raj: ",
		" frames, ", " s, RMS 0."} {
		if !strings.Contains(out, want) {
			t.Errorf("it lacks %q:\n%s", want, out)
		}
	}
}

// TestABundleThatIsNotWhole shows each fault to every command that speaks.
// TestKernels speaks the same samples with every kernel that this processor has.
func TestKernels(t *testing.T) {
	s := neuralShell(t)
	s.random("tiny", "--precision", "int8")
	out := s.ok("doctor", "--listen", "127.0.0.1:0", "--bundle", "tiny", "--kernel", "plain").out
	_, others, found := strings.Cut(out, "with the kernel plain, whose results are exact; SWAR_KERNEL can choose ")
	if !found {
		t.Fatalf("doctor says\n%s", out)
	}
	others, _, _ = strings.Cut(others, "\n")
	kernels := append(strings.Split(others, ", "), "plain")
	if len(kernels) < 2 {
		t.Skip("SKIPPED, so that nothing was compared: this processor has the kernel plain alone")
	}
	var first []byte
	for _, kernel := range kernels {
		out := s.ok("bundle", "verify", "--kernel", kernel, "tiny").out
		for _, want := range []string{
			"ok  integers kernel " + kernel + ": the largest integers are multiplied exactly\n", "ok  int8     as in floats: frames equal, eos equal, h ",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("with %s verify lacks %q:\n%s", kernel, want, out)
			}
		}
		s.ok("say", "--bundle", "tiny", "--kernel", kernel, "--seed", "7", "-o", "x.pcm", "Namaste, kaise ho?")
		if pcm := s.read("x.pcm"); first == nil {
			first = pcm
		} else if !bytes.Equal(pcm, first) {
			t.Errorf("%s speaks other samples than %s", kernel, kernels[0])
		}
	}
	for _, kernel := range []string{"abacus", map[string]string{"amd64": "i8mm", "arm64": "avx2"}[runtime.GOARCH]} {
		for _, args := range [][]string{{"bundle", "verify", "tiny"},
			{"say", "--bundle", "tiny", "-o", "x.wav", "hello"},
			{"serve", "--listen", "127.0.0.1:0", "--bundle", "tiny"}} {
			r := s.run(append(args, "--kernel", kernel)...)
			if r.code != 1 || !strings.HasPrefix(lastLine(r.err), "swar: kernel ") ||
				!strings.Contains(lastLine(r.err), "; it can run ") {
				t.Errorf("%s with %q: exit code %d, %q", args[0], kernel, r.code, r.err)
			}
		}
	}
}

func TestABundleThatIsNotWhole(t *testing.T) {
	s := neuralShell(t)
	for name, tt := range map[string]struct {
		change func(s *shell)
		text   string
	}{
		"a byte of a graph": {func(s *shell) { s.flip("b/lm.onnx") }, "lm.onnx has SHA-256 "},
		"a byte of a voice": {func(s *shell) { s.flip("b/voices/0.safetensors") }, "0.safetensors has SHA-256 "},
		"the end of a file": {func(s *shell) { data := s.read("b/codec.onnx"); s.write("b/codec.onnx", data[:len(data)-1]) }, "codec.onnx has "},
		"a whole file":      {func(s *shell) { os.Remove(s.path("b/flow.onnx")) }, "flow.onnx"},
		"a manifest":        {func(s *shell) { s.write("b/manifest.json", []byte("{")) }, "manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shell{t, s.env, t.TempDir(), s.bin}
			s.random("b")
			tt.change(s)
			for _, args := range [][]string{
				{"bundle", "verify", "b"}, {"serve", "--listen", "127.0.0.1:0", "--bundle", "b"}, {"say", "--bundle", "b", "-o", "x.wav", "hello"},
			} {
				r := s.run(args...)
				if last := lastLine(r.err); r.code != 1 || !strings.HasPrefix(last, "swar: ") ||
					!strings.Contains(last, tt.text) || r.out != "" {
					t.Errorf("%s: exit code %d, %q, %q; want 1 and %q", args[0], r.code, r.out, r.err, tt.text)
				}
				if strings.Contains(r.err, "ready") {
					t.Errorf("%s was ready: %s", args[0], r.err)
				}
			}
			if got := s.files(); got != "b" {
				t.Errorf("it left %s", got)
			}
		})
	}
}

func (s *shell) flip(name string) {
	s.t.Helper()
	data := s.read(name)
	data[len(data)/2] ^= 1
	s.write(name, data)
}

func TestWithoutTheLibrary(t *testing.T) {
	s := bareShell(t, "SWAR_ONNXRUNTIME=nowhere.so")
	s.random("tiny")
	for _, args := range [][]string{{"bundle", "verify", "tiny"},
		{"serve", "--listen", "127.0.0.1:0", "--bundle", "tiny"}, {"say", "--bundle", "tiny", "-o", "x.wav", "hello"}} {
		if r := s.run(args...); r.code != 1 || !strings.Contains(lastLine(r.err), "nowhere.so") ||
			!strings.Contains(lastLine(r.err), "`make onnxruntime`") {
			t.Errorf("%s: exit code %d, %q", args[0], r.code, r.err)
		}
	}
	if out := s.ok("voices", "--bundle", "tiny").out; !strings.Contains(out, "anjura  hi-IN+en-IN  24000") {
		t.Errorf("voices = %q", out)
	}
	if out := s.ok("normalize", "--bundle", "tiny", "hello").out; !strings.Contains(out, "    0       7  hello") {
		// a space before the letters, a full stop behind them
		t.Errorf("normalize = %q", out)
	}
	r := s.run("doctor", "--listen", "127.0.0.1:0", "--bundle", "tiny")
	if r.code != 1 || !strings.Contains(r.out, "MISS  onnxruntime there is no ONNX Runtime library at nowhere.so") ||
		strings.Contains(r.out, "MISS  espeak-ng") {
		t.Errorf("doctor: exit code %d\n%s", r.code, r.out)
	}
}

func TestDoctorLooksAtTheNeuralEngine(t *testing.T) {
	s := neuralShell(t)
	s.random("tiny")
	out := s.ok("doctor", "--listen", "127.0.0.1:0", "--bundle", "tiny").out
	for _, want := range []string{"ok    onnxruntime 1.", "ok    integers    int8 models multiply with the kernel ",
		"ok    bundle      model ", " with 2 voices; ", "note  espeak-ng   not installed"} {
		if !strings.Contains(out, want) {
			t.Errorf("it lacks %q:\n%s", want, out)
		}
	}
	s.flip("tiny/lm.onnx")
	if r := s.run("doctor", "--listen", "127.0.0.1:0", "--bundle", "tiny"); r.code != 1 ||
		!strings.Contains(r.out, "MISS  bundle      ") {
		t.Errorf("with a bundle that is not whole: exit code %d\n%s", r.code, r.out)
	}
}

func TestSpeakingWithABundle(t *testing.T) {
	s := neuralShell(t)
	s.random("tiny")
	say := func(args ...string) []byte {
		t.Helper()
		s.ok(append([]string{"say", "-o", "x.pcm", "--seed", "7"}, args...)...)
		return s.read("x.pcm")
	}
	const text = "Namaste, kaise ho?"
	pcm := say("--bundle", "tiny", text)
	if len(pcm) == 0 || len(pcm)%3840 != 0 {
		t.Fatalf("%d bytes, want whole frames", len(pcm))
	}
	if again := say("--bundle", "tiny", "--engine", "onnx", text); !bytes.Equal(again, pcm) {
		t.Error("the same seed speaks in another way")
	}
	if raj := say("--bundle", "tiny", "--voice", "raj", text); bytes.Equal(raj, pcm) {
		t.Error("raj speaks as anjura does")
	}
	s.env = append(s.env, "SWAR_BUNDLE=tiny")
	if here := say("--local", text); !bytes.Equal(here, pcm) {
		t.Error("--local does not speak with the bundle of the environment")
	}

	s.rename("tiny", "anjura", "meera")
	if meera := say("--bundle", "tiny", text); !bytes.Equal(meera, pcm) {
		t.Error("without anjura the first voice does not speak")
	}
	if r := s.run("say", "--bundle", "tiny", "-o", "x.pcm", "--voice", "anjura", text); r.code != 4 ||
		!strings.Contains(r.err, "unknown voice 'anjura'") {
		t.Errorf("a voice that the model lacks: exit code %d, %q", r.code, r.err)
	}
	v := s.serve("--workers", "1", "--bundle", "tiny")
	s.ok("say", "--server", v.base, "-o", "y.pcm", "--seed", "7", text)
	if !bytes.Equal(s.read("y.pcm"), pcm) {
		t.Error("a server speaks in another way, or with another voice")
	}
	if say := v.await(func(line string) bool {
		return strings.Contains(line,
			" say ")
	}); strings.Contains(say, "--voice") {
		t.Errorf("the ready line asks for a voice that speaks anyway: %q", say)
	}
	log := v.log()
	for _, want := range []string{`"msg":"engine"`, `"threads":`, `"total_mb":`, `"cache_mb":68`, `"onnxruntime":"1.`,
		`"kernel":"none"`, `"precision":"fp32"`, "swar: warming up 1 worker\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	if got := get(t, v.base+"/metrics"); !strings.Contains(got, "\ntts_prefill_cache_misses_total ") ||
		!strings.Contains(got, "\ntts_batch_size_count ") || !strings.Contains(got, "\ntts_broken_outputs_total 0\n") ||
		!strings.Contains(got, `tts_engine_info{kernel="none",`) {
		t.Errorf("the metrics lack what the engine counts: %.300s", got)
	}
	v.signal(syscall.SIGTERM)
	if code := v.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, v.log())
	}
}

func TestEveryEngineHasItsOwnCache(t *testing.T) {
	s := neuralShell(t)
	s.random("tiny")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, `"cache_mb":68`}, // 64 MiB in megabytes
		{[]string{"--prefill-cache-mb", "1"}, `"cache_mb":2`},
		{[]string{"--prefill-cache-mb", "0"}, `"cache_mb":0`},
	} {
		v := s.serve(slices.Concat([]string{"--workers", "1", "--bundle", "tiny", "--log-format", "json"}, tt.args)...)
		if !strings.Contains(v.log(), tt.want) {
			t.Errorf("%v: the log lacks %s:\n%s", tt.args, tt.want, v.log())
		}
		if strings.Contains(v.log(), "swar: ") {
			t.Errorf("a log of JSON holds prose:\n%s", v.log())
		}
	}
}
