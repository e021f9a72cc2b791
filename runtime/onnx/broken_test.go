package onnx

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// rewrite changes the manifest of the bundle in dir and stores it.
func rewrite(t *testing.T, dir string, change func(*bundle.Manifest)) {
	t.Helper()
	m, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	change(&m)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, bundle.ManifestFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// patch replaces bytes of a file of the bundle in dir and returns what the manifest should say about it.
func patch(t *testing.T, dir string, f bundle.File, from, to string) bundle.File {
	t.Helper()
	data := vectortest.File(t, dir, f.File)
	if !strings.Contains(string(data), from) {
		t.Fatalf("%s does not hold %q", f.File, from)
	}
	data = []byte(strings.ReplaceAll(string(data), from, to))
	if err := os.WriteFile(filepath.Join(dir, f.File), data, 0o600); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(data)
	f.Bytes, f.SHA256 = int64(len(data)), hex.EncodeToString(hash[:])
	return f
}

func TestNewRefusesGraphsThatDoNotFitTheirManifest(t *testing.T) {
	library := orttest.Need(t)
	tests := []struct {
		name   string
		change func(dir string, m *bundle.Manifest)
		want   []string
	}{
		{"an input of another size", func(_ string, m *bundle.Manifest) {
			m.LM.Inputs[0].Dims[2] = "65"
		}, []string{"lm.onnx", "rows f32 [-1 -1 65]", "rows f32 [-1 -1 64]"}},
		{"an input of another type", func(_ string, m *bundle.Manifest) {
			i := slices.IndexFunc(m.LM.Inputs, func(v bundle.Value) bool { return v.Name == "lengths" })
			m.LM.Inputs[i].Type = "i64"
		}, []string{"lengths i64", "lengths i32"}},
		{"an output that is missing", func(_ string, m *bundle.Manifest) {
			m.Codec.Outputs = append(m.Codec.Outputs, bundle.Value{Name: "more", Type: "f32", Dims: []string{"1"}})
		}, []string{"codec.onnx", "more", "nothing of that name"}},
		{"an input that nobody knows", func(_ string, m *bundle.Manifest) {
			m.FlowHead.Inputs = m.FlowHead.Inputs[1:]
		}, []string{"flow.onnx", "does not know"}},
		{"an operator that the library does not know", func(dir string, m *bundle.Manifest) {
			m.LM.File = patch(t, dir, m.LM.File, "GroupQueryAttention", "GroupQueryAttentiom")
		}, []string{"lm.onnx", "GroupQueryAttentiom"}},
		{"a graph that is cut off", func(dir string, m *bundle.Manifest) {
			data := string(vectortest.File(t, dir, m.Codec.File.File))
			m.Codec.File = patch(t, dir, m.Codec.File, data, data[:len(data)/2])
		}, []string{"codec.onnx"}},
		{"a graph that needs a newer library", func(_ string, m *bundle.Manifest) { m.MinRuntime = "1.999.0" }, []string{"too old", "1.999.0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, _ := random(t, convert.Tiny())
			rewrite(t, dir, func(m *bundle.Manifest) { tt.change(dir, m) })
			_, err := New(Config{Bundle: dir, Library: library})
			if err == nil {
				t.Fatal("it was loaded")
			}
			if t.Log(err); strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
				t.Error("want one sentence")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want %q in it", want)
				}
			}
		})
	}
}

// poisoned is a sequence whose nth state is not a number.
type poisoned struct {
	sequence
	after int
	with  float32
}

func (p *poisoned) State() (h []float32, eos float32) {
	h, eos = p.sequence.State()
	if p.after--; p.after < 0 {
		h = append([]float32{p.with}, h[1:]...)
	}
	return h, eos
}

// hissing is a decoder whose samples are not numbers.
type hissing struct{ decoder }

func (h hissing) Decode(latents []float32, frames int) ([]float32, error) {
	samples, err := h.decoder.Decode(latents, frames)
	samples[len(samples)-1] = float32(math.NaN())
	return samples, err
}

func TestAnOutputThatIsNotANumberEndsItsUtterance(t *testing.T) {
	e := engineOf(t, bundle.FP32, 1)
	w := newTestWorker(t, e).(*worker)
	o := crowd()[0]
	want, _, _ := speak(t, w, o)
	whole, plain := w.sequence, w.decoder
	for i, tt := range []struct {
		name  string
		spoil func()
		frame string
	}{
		{"a state", func() { w.sequence = &poisoned{whole, 12, float32(math.NaN())} }, "frame 12:"},
		{"a state that has no end", func() { w.sequence = &poisoned{whole, 3, float32(math.Inf(-1))} }, "frame 3:"},
		{"the first state", func() { w.sequence = &poisoned{whole, 0, float32(math.NaN())} }, "frame 0:"},
		{"a sample", func() { w.decoder = hissing{plain} }, "frame 0:"},
	} {
		tt.spoil()
		_, err := trySpeak(t.Context(), w, o)
		if err == nil || !strings.Contains(err.Error(), tt.frame) || !strings.Contains(err.Error(), "not a number") {
			t.Errorf("%s: %v, want an error at %s", tt.name, err, tt.frame)
		}
		if frames, _, _, err := w.Next(t.Context(), make([]int16, speech.FrameSamples), 1); err == nil {
			t.Errorf("%s: %d frames after it", tt.name, frames)
		}
		if got := e.Counters().Broken; got != uint64(i+1) {
			t.Errorf("%s: %d broken outputs are counted, want %d", tt.name, got, i+1)
		}
		w.sequence, w.decoder = whole, plain
		if got, _, _ := speak(t, w, o); !slices.Equal(got, want) {
			t.Errorf("%s: the next utterance is another", tt.name)
		}
	}
}

func TestATextThatBreaksTheModelIsNotCached(t *testing.T) {
	e := engineOf(t, bundle.FP32, 1)
	w := newTestWorker(t, e)
	bad, good := crowd()[0], crowd()[1]
	bad.Text, good.Text = "z", "kal"
	id := e.tokenizer.Encode(nil, "Z")[0] // as it is prepared
	e.model.(native).TokenRow(id)[0] = float32(math.NaN())
	for range 2 {
		if cached, err := w.Prefill(t.Context(), bad); cached || err == nil ||
			!strings.Contains(err.Error(), "not a number") {
			t.Errorf("cached %v, error %v", cached, err)
		}
	}
	if c := e.Counters(); c.Broken != 2 || c.CacheBytes != 0 || c.CacheMisses != 2 || c.CacheHits != 0 {
		t.Errorf("%+v, want two misses that broke", c)
	}
	if pcm, _, _ := speak(t, w, good); len(pcm) == 0 {
		t.Error("a text without that letter does not sound")
	}
	speak(t, w, good)
	if c := e.Counters(); c.CacheHits != 1 || c.CacheMisses != 3 || c.CacheBytes <= 0 ||
		c.CacheBytes > e.Memory().Cache {
		t.Errorf("%+v, want a hit", c)
	}
}

// TestAFullStreamFailsAlone makes one of two streams that are stepped together reach the end of its slot too early.
func TestAFullStreamFailsAlone(t *testing.T) {
	e := engineOf(t, bundle.Int8, 1)
	want := alone(t, e)
	full, other := newTestWorker(t, e).(*worker), newTestWorker(t, e)
	if _, err := full.Prefill(t.Context(), crowd()[0]); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		pcm, err := trySpeak(t.Context(), other, crowd()[1])
		if err == nil && !slices.Equal(pcm, want[1]) {
			t.Error("the other stream is not what it is alone")
		}
		done <- err
	}()
	s := full.sequence.(*model.Stream)
	s.SetLength(e.manifest.Limits.Positions - 1)
	dst := make([]int16, synth.GroupFrames*speech.FrameSamples)
	var err error
	for range 3 { // the first frame is there; one step more fits
		if _, _, _, err = full.Next(t.Context(), dst, 1); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "frame 2:") || !strings.Contains(err.Error(), "do not fit") {
		t.Errorf("%v, want an error at frame 2", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got, err := trySpeak(t.Context(), full, crowd()[0]); err != nil || !slices.Equal(got, want[0]) {
		t.Errorf("the next utterance is another (error %v)", err)
	}
}

func TestMemoryAddsUp(t *testing.T) {
	e := engineOf(t, bundle.FP32, 1)
	m := e.Memory()
	if m.Weights <= 0 || m.Prompts <= 0 || m.Stream <= 0 || m.Cache != defaultCacheBytes {
		t.Errorf("%+v, want all of it", m)
	}
	if got := m.Total(3) - m.Total(1); got != 2*m.Stream {
		t.Errorf("two workers more take %d bytes, want %d", got, 2*m.Stream)
	}
	if got, want := m.Total(0), m.Weights+m.Prompts+m.Cache; got != want {
		t.Errorf("no worker: %d bytes, want %d", got, want)
	}
	d := e.manifest.Dims
	if got, low := m.Stream, int64(4*2*d.Layers*d.Width*e.manifest.Limits.Positions); got < low {
		t.Errorf("a stream takes %d bytes, its keys and values alone %d", got, low)
	}
	if e.Threads() != 1 {
		t.Errorf("%d threads, want 1", e.Threads())
	}
}

func TestAClosedEngineLeavesNothing(t *testing.T) {
	e := engineOf(t, bundle.FP32, 2)
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.NewWorker(ctx); err == nil {
		t.Error("a worker was made for a context that has ended")
	}
}
