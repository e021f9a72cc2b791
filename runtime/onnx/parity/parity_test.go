package parity

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// The quantities of every run, and those of some.
var (
	ofVoices = []string{"voice_positions", "voice_kv", "voice_forms"}
	ofRuns   = []string{
		"prepared_text", "tokens", "token_count", "noise", "steps", "frames", "samples", "eos_step", "eos", "stopped_by",
		"h", "eos_logit", "latent", "kv_text",
	}
	ofAudio    = []string{"audio", "audio_first_frame_faded"}
	quantities = map[string][]string{
		"01-v2-tanh":         slices.Concat(ofVoices, ofRuns, ofAudio, []string{"voice_latents", "max_frames", "flow_dir", "text_layers"}),
		"02-v1-erf":          slices.Concat(ofVoices, ofRuns, ofAudio, []string{"voice_latents", "max_frames"}),
		"03-noise-and-steps": slices.Concat(ofVoices, ofRuns, ofAudio),
		"04-codec":           {"voice_latents", "audio", "plans", "traces"},
		"05-eos":             slices.Concat(ofVoices, ofRuns, []string{"max_frames", "frame_rules"}),
		"06-tokenizer":       {"tokens", "lines", "vocabulary"},
		"07-bf16":            slices.Concat(ofVoices, ofRuns, ofAudio, []string{"max_frames"}),
	}
	skipped = []string{"text_layers", "traces"}
)

func TestEveryVectorAgrees(t *testing.T) {
	library := orttest.Need(t)
	dir := t.TempDir()
	for name := range quantities {
		wholeCase(t, filepath.Join(dir, name), name)
	}
	for _, precision := range []string{"", bundle.Int8} {
		t.Run(precision, func(t *testing.T) {
			testEveryVector(t,
				Config{Dir: dir, Library: library, Precision: precision})
		})
	}
}

func testEveryVector(t *testing.T, c Config) {
	got := map[string][]string{}
	finished := false
	c.Progress = func(done, total int64, _ string) { finished = done == total }
	err := Check(t.Context(), c, func(r Result) {
		t.Logf("%s %s %s: %.2g of %.0g %s", r.Case, r.Quantity, r.Run, r.Difference, r.Tolerance, r.Note)
		got[r.Case] = append(got[r.Case], r.Quantity)
		if !r.OK {
			t.Errorf("%s %s %s: %.2g apart, tolerance %.0g: %s", r.Case, r.Quantity, r.Run, r.Difference,
				r.Tolerance, r.Note)
		}
		if r.Skipped != slices.Contains(skipped, r.Quantity) {
			t.Errorf("%s %s: skipped %v", r.Case, r.Quantity, r.Skipped)
		}
		if inIntegers := c.Precision == bundle.Int8 &&
			integerBounds[r.Quantity] > 0; (r.Measure == RelativeRMS) != inIntegers {
			t.Errorf("%s %s: measure %d, want relative rms: %v", r.Case, r.Quantity, r.Measure, inIntegers)
		}
	})
	if err != nil || !finished {
		t.Fatalf("error %v, finished %v", err, finished)
	}
	for name, want := range quantities {
		slices.Sort(got[name])
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(got[name], want) {
			t.Errorf("%s: quantities %v, want %v", name, got[name], want)
		}
	}
	if len(got) != len(quantities) {
		t.Errorf("%d cases, want %d", len(got), len(quantities))
	}
}

func TestDamageIsFound(t *testing.T) {
	library := orttest.Need(t)
	cut := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			edit(t, dir, name, func(data []byte) []byte { return data[:len(data)-4] })
		}
	}
	replace := func(name, old, by string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			edit(t, dir, name, func(data []byte) []byte {
				if !bytes.Contains(data, []byte(old)) {
					t.Fatalf("%s has no %s", name, old)
				}
				return bytes.Replace(data, []byte(old), []byte(by), 1)
			})
		}
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	shift := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			edit(t, dir, name, func(data []byte) []byte {
				last := data[len(data)-4:]
				binary.LittleEndian.PutUint32(last,
					math.Float32bits(math.Float32frombits(binary.LittleEndian.Uint32(last))+1e-3))
				return data
			})
		}
	}
	tests := map[string]struct {
		name   string
		damage func(*testing.T, string)
		failed []string // quantities
		note   string
	}{
		"a latent that is off by 0.001":      {"01-v2-tanh", shift("run_b.latent.npy"), []string{"latent"}, ""},
		"keys and values that are off":       {"01-v2-tanh", shift("run_a.kv_text.npy"), []string{"kv_text"}, ""},
		"a sample that is off":               {"01-v2-tanh", shift("run_a.audio.npy"), []string{"audio"}, ""},
		"noise of another temperature":       {"03-noise-and-steps", replace("case.json", `"temperature": 0.7`, `"temperature": 0.8`), []string{"noise"}, ""},
		"an array that was cut":              {"01-v2-tanh", cut("run_a.h.npy"), []string{"h"}, "run_a.h.npy"},
		"an array that is missing":           {"01-v2-tanh", remove("run_a.eos_logit.npy"), []string{"eos_logit"}, "run_a.eos_logit.npy: no such file"},
		"an array of another shape":          {"01-v2-tanh", replace("run_a.h.npy", "(21, 128)", "(128, 21)"), []string{"h"}, "want float32 of [21 128]"},
		"another number of frames":           {"01-v2-tanh", replace("case.json", `"frames": 20`, `"frames": 21`), []string{"frames"}, "got 20, want 21"},
		"another end":                        {"01-v2-tanh", replace("case.json", `"eos_step": 17`, `"eos_step": null`), []string{"eos_step"}, "got 17, want none"},
		"another reason to stop":             {"05-eos", replace("case.json", `"stopped_by": "max_frames"`, `"stopped_by": "eos"`), []string{"stopped_by"}, ""},
		"another rule of frames":             {"05-eos", replace("frame_rules.json", `"7": 55`, `"7": 54`), []string{"frame_rules"}, "got 55, want 54"},
		"another text":                       {"01-v2-tanh", replace("case.json", `"prepared_text": "Kal`, `"prepared_text": "Kel`), []string{"prepared_text", "tokens"}, "want"},
		"a voice with padding":               {"01-v2-tanh", padded("voice_pad.safetensors"), []string{"voice_forms"}, "pad"},
		"a voice that is missing":            {"01-v2-tanh", remove("voice_longer.safetensors"), []string{"voice_forms"}, "voice_longer.safetensors"},
		"a checkpoint that was cut":          {"01-v2-tanh", cut("model.safetensors"), []string{"case", "voice_latents"}, "weights"},
		"no configuration":                   {"01-v2-tanh", remove("config.yaml"), []string{"case"}, "config.yaml: no such file"},
		"a description that was cut":         {"01-v2-tanh", cut("case.json"), []string{"case"}, "case.json"},
		"another format":                     {"01-v2-tanh", replace("case.json", `"format": 1`, `"format": 2`), []string{"case"}, "format 2"},
		"a file outside the case":            {"01-v2-tanh", replace("case.json", `"run_b.h.npy"`, `"../run_b.h.npy"`), []string{"h"}, "not the name of a file"},
		"another id of a line":               {"06-tokenizer", replace("unigram_bytes.jsonl", `"ids":[379`, `"ids":[378`), []string{"tokens"}, "want [378"},
		"a line that is not JSON":            {"06-tokenizer", replace("unigram_bytes.jsonl", `"ids":[379`, `"ids":379`), []string{"tokens"}, "line 1"},
		"a plan with a group of no frames":   {"04-codec", replace("case.json", "\"plan\": [\n    3", "\"plan\": [\n    0"), []string{"audio"}, "no frames"},
		"nothing but a description":          {"06-tokenizer", replace("case.json", `"tokenizers"`, `"others"`), []string{"case"}, "nothing that can be compared"},
		"samples of another plan's decoding": {"04-codec", shift("audio_plan_3_7.npy"), []string{"audio"}, ""},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			wholeCase(t, dir, tt.name)
			tt.damage(t, dir)
			var failed, notes []string
			err := Check(t.Context(), Config{Dir: dir, Library: library}, func(r Result) {
				if !r.OK {
					failed, notes = append(failed, r.Quantity), append(notes, r.Note)
				}
			})
			slices.Sort(failed)
			if err != nil || !slices.Equal(failed, tt.failed) {
				t.Errorf("%q failed (%q), error %v; want %q", failed, notes, err, tt.failed)
			}
			if all := strings.Join(notes, "\n"); !strings.Contains(all, tt.note) ||
				strings.Count(all, "\n") >= len(tt.failed) {
				t.Errorf("notes %q, want one line each, with %q", notes, tt.note)
			}
		})
	}
}

// padded makes the padding of a stored voice 1, which is 0.
func padded(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		file, closer, err := safetensors.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer closer.Close()
		var all []safetensors.Tensor
		for _, tensor := range file.Names() {
			shape, _ := file.Shape(tensor)
			x := safetensors.Tensor{Name: tensor, Shape: shape}
			if x.Floats, err = file.Floats(tensor, shape...); err != nil {
				x.Ints, err = file.Ints(tensor, shape...)
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(tensor, "/pad") {
				x.Ints[0]++
			}
			all = append(all, x)
		}
		write(t, dir, name, all)
	}
}

func TestABrokenCaseDoesNotStopTheOthers(t *testing.T) {
	library := orttest.Need(t)
	dir := t.TempDir()
	wholeCase(t, filepath.Join(dir, "b"), "06-tokenizer")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "a"), 0o755),
		os.WriteFile(filepath.Join(dir, "a", caseFile), []byte("{"), 0o644),
		os.Mkdir(filepath.Join(dir, "c"), 0o755),
		os.WriteFile(filepath.Join(dir, "README.md"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := Check(t.Context(), Config{Dir: dir, Library: library}, func(r Result) {
		got = append(got, r.Case+" "+r.Quantity+map[bool]string{true: "", false: " failed"}[r.OK])
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a case failed", "b tokens", "b lines", "b vocabulary"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestIntegersThatAreWrongAreFound(t *testing.T) {
	library := orttest.Need(t)
	dir := t.TempDir()
	wholeCase(t, dir, "01-v2-tanh")
	edit(t, dir, "run_b.h.npy", func(data []byte) []byte { // the last step is half as large again
		for at := len(data) - 4*128; at < len(data); at += 4 {
			binary.LittleEndian.PutUint32(data[at:],
				math.Float32bits(1.5*math.Float32frombits(binary.LittleEndian.Uint32(data[at:]))))
		}
		return data
	})
	edit(t, dir, "case.json", func(data []byte) []byte {
		return bytes.Replace(data, []byte(`"frames": 20`), []byte(`"frames": 21`), 1)
	})
	var failed []string
	err := Check(t.Context(), Config{Dir: dir, Library: library, Precision: bundle.Int8}, func(r Result) {
		if !r.OK {
			failed = append(failed, r.Quantity)
		}
	})
	if slices.Sort(failed); err != nil || !slices.Equal(failed, []string{"frames", "h"}) {
		t.Errorf("%q failed, error %v; want frames and h", failed, err)
	}
}

func TestStepsOfIntegersNeedLatentsToStartFrom(t *testing.T) {
	library := orttest.Need(t)
	dir := t.TempDir()
	wholeCase(t, dir, "07-bf16")
	edit(t, dir, "case.json", func(data []byte) []byte {
		return bytes.ReplaceAll(data, []byte(`"latent":`),
			[]byte(`"other":`))
	})
	var without []string
	err := Check(t.Context(), Config{Dir: dir, Library: library, Precision: bundle.Int8}, func(r Result) {
		if r.Skipped {
			without = append(without, r.Quantity)
		}
		if !r.OK {
			t.Errorf("%s: %s", r.Quantity, r.Note)
		}
	})
	if want := []string{"audio", "audio_first_frame_faded", "eos_logit", "h"}; err != nil ||
		!slices.Equal(slices.Sorted(slices.Values(without)), want) {
		t.Errorf("%q were skipped, error %v; want %q", without, err, want)
	}
}

func TestCheckFails(t *testing.T) {
	library := orttest.Need(t)
	silent := func(r Result) { t.Errorf("%s %s was reported", r.Case, r.Quantity) }
	if err := Check(t.Context(), Config{Dir: t.TempDir(), Library: library}, silent); err == nil ||
		!strings.Contains(err.Error(), caseFile) {
		t.Errorf("no case: error %v", err)
	}
	if err := Check(t.Context(), Config{Dir: filepath.Join(t.TempDir(), "x"), Library: library},
		silent); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: error %v", err)
	}
	if err := Check(t.Context(), Config{Dir: t.TempDir(), Library: library, Precision: "int4"}, silent); err == nil ||
		!strings.Contains(err.Error(), "int4") {
		t.Errorf("no such precision: error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	dir := t.TempDir()
	wholeCase(t, dir, "01-v2-tanh")
	if err := Check(ctx, Config{Dir: dir, Library: library}, silent); !errors.Is(err, why) {
		t.Errorf("cancelled: error %v, want the cause", err)
	}
}

func TestOfSeveralErrorsTheFirstIsTold(t *testing.T) {
	for want, err := range map[string]error{
		"one": errors.New("one"), "one (and 2 more like it)": errors.Join(errors.New("one"), errors.New("two"), errors.New("three")),
	} {
		k := &goldenCase{}
		if k.fail("", "case", err); k.results[0].Note != want || k.results[0].OK {
			t.Errorf("%+v, want a failure that says %q", k.results[0], want)
		}
	}
}

func TestTolerances(t *testing.T) {
	k := &goldenCase{}
	k.Tolerance = json.RawMessage(`{"h": 0.5, "latent": 0.5, "audio": 2e-5, "what": "a remark", "odd": "2"}`)
	for quantity, want := range map[string]float64{"h": .5, "latent": 1e-4, "audio": 2e-5, "odd": 1e-4,
		"missing": 1e-4} {
		if got := k.tolerance(quantity); got != want {
			t.Errorf("%s: %g, want %g", quantity, got, want)
		}
	}
	k.Tolerance = json.RawMessage(`"ids must be equal"`)
	if got := k.tolerance("h"); got != 1e-4 {
		t.Errorf("a remark alone: %g, want 1e-4", got)
	}
}

// wholeCase makes in dir what a case is when it is published; what several cases share lies in testdata once.
func wholeCase(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	from := vectortest.Dir(t, name)
	if name == "06-tokenizer" {
		copyFolder(t, dir, filepath.Join("..", "..", "tokenize", "testdata"))
		copyFolder(t, dir, from)
		return
	}
	copyFolder(t, dir, vectortest.Dir(t, "01-v2-tanh"), "tokenizer.model")
	copyFolder(t, dir, from)
	if name == "07-bf16" {
		if err := os.WriteFile(filepath.Join(dir, "model.safetensors"),
			vectortest.Rounded(t, vectortest.Weights(t, "01-v2-tanh")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	all := map[string]safetensors.Tensor{}
	for _, part := range []string{
		filepath.Join(vectortest.Dir(t, "01-v2-tanh"), "model.safetensors"), // the codec of 05 has the same sizes
		filepath.Join(from, "model.safetensors"), filepath.Join(from, "encoder.safetensors"),
		filepath.Join(from, "language.safetensors"),
	} {
		if _, err := os.Stat(part); err != nil || name != "05-eos" && !strings.HasPrefix(part, from) {
			continue
		}
		x := vectortest.Tensors(t, vectortest.File(t, filepath.Dir(part), filepath.Base(part)))
		for _, tensor := range x.Names() {
			shape, _ := x.Shape(tensor)
			values, err := x.Floats(tensor, shape...)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(part, from) || strings.HasPrefix(tensor, "mimi.") {
				all[tensor] = safetensors.Tensor{Name: tensor, Shape: shape, Floats: values}
			}
		}
	}
	write(t, dir, "model.safetensors", slices.Collect(maps.Values(all)))
	for _, part := range []string{"encoder.safetensors", "language.safetensors"} {
		if err := os.Remove(filepath.Join(dir, part)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, dir, name string, all []safetensors.Tensor) {
	t.Helper()
	var b bytes.Buffer
	if err := errors.Join(safetensors.Write(&b, all...),
		os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// copyFolder copies the named files, or all of them.
func copyFolder(t *testing.T, to, from string, names ...string) {
	t.Helper()
	if len(names) == 0 {
		entries, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(to, name), vectortest.File(t, from, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func edit(t *testing.T, dir, name string, change func([]byte) []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), change(vectortest.File(t, dir, name)), 0o644); err != nil {
		t.Fatal(err)
	}
}
