package layout_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
	"github.com/swar-tts/swar/runtime/speech"
)

var kinds = map[string]layout.Kind{
	layouttest.KevinAHMv2: layout.Described, layouttest.KevinAHMFlat: layout.Flat, layouttest.Sherpa: layout.Sherpa,
}

// write writes a random model in a public layout.
func write(t *testing.T, name string, r convert.Random) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "model")
	must(t, layouttest.Write(dir, name, r))
	return dir
}

func open(t *testing.T, dir string) *layout.Model {
	t.Helper()
	orttest.Need(t)
	kind, err := layout.Find(dir)
	must(t, err)
	m, err := layout.Open(dir, kind)
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

func newSequence(t *testing.T, m *layout.Model) *layout.Sequence {
	t.Helper()
	s, err := m.NewSequence()
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func newDecoder(t *testing.T, m *layout.Model) *layout.Decoder {
	t.Helper()
	d, err := m.NewDecoder()
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

// draws returns so many rows of noise.
func draws(n, width int, seed uint64) [][]float32 {
	rows, draw := make([][]float32, n), rand.New(rand.NewPCG(seed, 0))
	for i := range rows {
		rows[i] = make([]float32, width)
		for j := range rows[i] {
			rows[i][j] = float32(draw.NormFloat64() * .55)
		}
	}
	return rows
}

// steps draws a latent for every row of noise, behind a text that was read. said holds the states and logits they were
// drawn from.
func steps(t *testing.T, s *layout.Sequence, noise [][]float32) (latents, said []float32) {
	t.Helper()
	for i, z := range noise {
		if i == 0 {
			must(t, s.Draw(z))
		} else {
			must(t, s.Step(t.Context(), z))
		}
		h, eos := s.State()
		latents, said = append(latents, s.Latent()...), append(append(said, h...), eos)
	}
	return latents, said
}

// decode decodes in groups: the first of one size, the others of another.
func decode(t *testing.T, d *layout.Decoder, latents []float32, width, first, next int) (audio []float32) {
	t.Helper()
	d.Begin()
	for group := first; len(latents) > 0; group = next {
		group = min(group, len(latents)/width)
		samples, err := d.Decode(latents[:group*width], group)
		must(t, err)
		audio, latents = append(audio, samples...), latents[group*width:]
	}
	return audio
}

func TestEveryLayoutSpeaksAsABundleDoes(t *testing.T) {
	orttest.Need(t)
	const (
		frames = 80 // more than the ring of the codec holds, which is 62
		limit  = 1e-4
	)
	r := convert.Tiny()
	want := writeNative(t, r)
	width := want.manifest.Dims.Latent
	for _, name := range layouttest.Layouts() {
		m := open(t, write(t, name, r))
		s, d := newSequence(t, m), newDecoder(t, m)
		for i, voice := range []string{"raj", "anjura"} { // the second behind what the first has left
			tokens, noise := []int32{300, 301, 302, 303, 304, 305, 481}, draws(frames, width, uint64(i))
			want.begin(voice)
			want.prefill(tokens, noise[0])
			latents, said := slices.Clone(want.latent), slices.Concat(want.h, want.eos)
			for _, z := range noise[1:] {
				want.step(z)
				latents, said = append(latents, want.latent...), slices.Concat(said, want.h, want.eos)
			}
			audio := want.decode(latents)

			must(t, errors.Join(s.Begin(voice), s.Prefill(t.Context(), tokens)))
			gotLatents, gotSaid := steps(t, s, noise)
			gotAudio := decode(t, d, gotLatents, width, 1, 4)
			dl, ds, da := apart(gotLatents, latents), apart(gotSaid, said), apart(gotAudio, audio)
			t.Logf("%s, %s: over %d frames latents %.1e, states and logits %.1e, samples %.1e apart", name, voice,
				frames, dl, ds, da)
			if !(dl <= limit && ds <= limit && da <= limit) {
				t.Errorf("%s, %s: latents %.1e, states and logits %.1e, samples %.1e apart, want at most %.0e", name,
					voice, dl, ds, da, limit)
			}
		}
	}
}

func TestDecodePlansAgree(t *testing.T) {
	for _, name := range layouttest.Layouts() {
		m := open(t, write(t, name, convert.Tiny()))
		d, width := newDecoder(t, m), m.Manifest.Dims.Latent
		latents := slices.Concat(draws(80, width, 7)...)
		one := decode(t, d, latents, width, 1, 4)
		if got := apart(one, decode(t, d, latents, width, 3, 7)); !(got <= 1e-6) {
			t.Errorf("%s: groups of 1 and 4, and of 3 and 7 frames are %.1e apart", name, got)
		}
		if again := decode(t, d, latents, width, 1, 4); !slices.Equal(one, again) {
			t.Errorf("%s: the same groups again are %.1e apart", name, apart(one, again))
		}
		if len(one) != 80*speech.FrameSamples {
			t.Errorf("%s: %d samples", name, len(one))
		}
	}
}

func TestWhatIsSavedIsRestoredBitForBit(t *testing.T) {
	for _, name := range layouttest.Layouts() {
		for _, precision := range []string{bundle.FP32, bundle.Int8} {
			r := convert.Tiny()
			r.Precision = precision
			m := open(t, write(t, name, r))
			a, b := newSequence(t, m), newSequence(t, m)
			noise := draws(10, m.Manifest.Dims.Latent, 3)
			must(t, errors.Join(a.Begin("raj"), a.Prefill(t.Context(), []int32{300, 310, 320})))
			saved, bytes := a.Save()
			if most := int64(4 * (4*2*2*m.Manifest.Dims.Width + m.Manifest.Dims.Width + 1)); bytes != most {
				t.Errorf("%s %s: %d bytes are saved, want those of four positions, %d", name, precision, bytes, most)
			}
			want, _ := steps(t, a, noise)

			// On another sequence, which has been further; then on the first one, where the noise has moved on.
			must(t, errors.Join(b.Begin("anjura"), b.Prefill(t.Context(), make([]int32, 40))))
			steps(t, b, noise)
			for i, s := range []*layout.Sequence{b, a} {
				must(t, errors.Join(s.Begin("raj"), s.Restore(saved)))
				if got, _ := steps(t, s, noise); !slices.Equal(got, want) {
					t.Errorf("%s %s: restored on sequence %d it is %.1e apart", name, precision, i, apart(got, want))
				}
			}
			for what, err := range map[string]error{
				"in the middle of a text":   b.Restore(saved),
				"behind another voice":      errors.Join(b.Begin("anjura"), b.Restore(saved)),
				"from what was never saved": errors.Join(b.Begin("raj"), b.Restore(1)),
			} {
				if err == nil {
					t.Errorf("%s: it was restored %s", name, what)
				}
			}
		}
	}
}

// fading is a context that ends after it was asked for its end a number of times.
type fading struct {
	context.Context
	end  context.CancelFunc
	left int
}

func (f *fading) Done() <-chan struct{} {
	if f.left--; f.left < 0 {
		f.end()
	}
	return f.Context.Done()
}

func TestCancelledPrefillLeavesAUsableSequence(t *testing.T) {
	m := open(t, write(t, layouttest.KevinAHMv2, convert.Tiny()))
	s, tokens, noise := newSequence(t, m), []int32{300, 301, 302}, draws(5, m.Manifest.Dims.Latent, 1)
	must(t, errors.Join(s.Begin("raj"), s.Prefill(t.Context(), tokens)))
	want, _ := steps(t, s, noise)
	cancelled := 0
	for left := 0; ; left++ {
		ctx, end := context.WithCancel(t.Context())
		must(t, s.Begin("raj"))
		err := s.Prefill(&fading{ctx, end, left}, tokens)
		end()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || left > 100 {
			t.Fatalf("after %d questions: %v", left, err)
		}
		cancelled++
		must(t, errors.Join(s.Begin("raj"), s.Prefill(t.Context(), tokens)))
		if got, _ := steps(t, s, noise); !slices.Equal(got, want) {
			t.Errorf("after a cancel at question %d the latents are %.1e apart", left, apart(got, want))
		}
	}
	if cancelled < 3 { // once in each of the three runs, at least
		t.Errorf("cancelled %d times, want each run of the prefill cancelled", cancelled)
	}
}

func TestSequenceIsNeverOverfilled(t *testing.T) {
	r := convert.Tiny()
	m := open(t, write(t, layouttest.KevinAHMv2, r))
	s, noise := newSequence(t, m), make([]float32, m.Manifest.Dims.Latent)
	room := m.Manifest.Limits.Positions - r.PromptFrames - 1 // of which the start row takes one
	if m.Manifest.Limits.Positions != 1000 {
		t.Fatalf("%d positions, want 1000", m.Manifest.Limits.Positions)
	}
	must(t, errors.Join(s.Begin("raj"), s.Prefill(t.Context(), make([]int32, room-1)), s.Draw(noise),
		s.Step(t.Context(), noise)))
	if err := s.Step(t.Context(), noise); err == nil {
		t.Error("a step was made in a full sequence, one below the limit before")
	}
	must(t, errors.Join(s.Begin("raj"), s.Prefill(t.Context(), make([]int32, room)), s.Draw(noise)))
	if err := s.Step(t.Context(), noise); err == nil {
		t.Error("a step was made in a full sequence")
	}
	must(t, s.Begin("raj"))
	if err := s.Prefill(t.Context(), make([]int32, room+1)); err == nil {
		t.Error("one token more than fits was read")
	}
	must(t, s.Begin("raj"))
	if err := s.Prefill(t.Context(), nil); err == nil {
		t.Error("a text without tokens was read")
	}
	for _, id := range []int32{-1, int32(m.Manifest.Dims.Vocab)} {
		must(t, s.Begin("raj"))
		if err := s.Prefill(t.Context(), []int32{id}); err == nil {
			t.Errorf("token %d was read", id)
		}
	}
	if err := s.Begin("nobody"); err == nil {
		t.Error("began with a voice that does not exist")
	}
}
