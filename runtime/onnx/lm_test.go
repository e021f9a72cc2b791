package onnx

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/internal/orttest"
)

// The limits are those of the cases; what was measured lies at least a factor of five below them.
const (
	closeEnough      = 5e-5
	closeEnoughLogit = 5e-4
)

func TestLanguageModelEqualsTheReference(t *testing.T) {
	orttest.Need(t)
	for _, name := range []string{"01-v2-tanh", "02-v1-erf", "03-noise-and-steps", "05-eos", "07-bf16"} {
		v := load(t, name)
		for _, r := range v.Runs {
			if r.LatentsFrom != "" && r.LatentsFrom != r.Name {
				continue // the numbers are another run's
			}
			t.Run(name+" "+r.Name, func(t *testing.T) { testRun(t, v, r) })
		}
	}
}

func testRun(t *testing.T, v *vector, r run) {
	tokens, noise := v.tokens(t, r), v.array(t, r.Files["noise"])
	l := v.open(t, r.Steps)
	p := v.prompt(t, "voice.safetensors")
	s, err := l.newStream(p.Positions + len(tokens) + r.MaxFrames)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Begin("v"); err != nil {
		t.Fatal(err)
	}
	if err := s.Prefill(t.Context(), tokens); err != nil {
		t.Fatal(err)
	}
	if name, ok := r.Files["kv_text"]; ok {
		if d := apart(t, s.positions(p.Positions+len(tokens)), v.array(t, name).Floats); !(d <= closeEnough) {
			t.Errorf("keys and values after the text are %.1e apart", d)
		}
	}
	n := noise.Shape[1]
	if err := s.Draw(noise.Floats[:n]); err != nil {
		t.Fatal(err)
	}
	var h, eos, latents []float32
	for step := range r.Expect.Steps {
		if step > 0 {
			if err := s.Step(t.Context(), noise.Floats[step*n:(step+1)*n]); err != nil {
				t.Fatal(err)
			}
		}
		h, eos, latents = append(h, s.h...), append(eos, s.eos...), append(latents, s.latent...)
	}
	dh, de := apart(t, h, v.array(t, r.Files["h"]).Floats), apart(t, eos, v.array(t, r.Files["eos_logit"]).Floats)
	dl := apart(t, latents, v.array(t, r.Files["latent"]).Floats)
	t.Logf("largest differences over %d steps: h %.1e, logit %.1e, latent %.1e", r.Expect.Steps, dh, de, dl)
	if !(dh <= closeEnough) || !(de <= closeEnoughLogit) || !(dl <= closeEnough) {
		t.Errorf("h %.1e, logit %.1e, latent %.1e apart", dh, de, dl)
	}
}

// positions returns the first n positions as the reference stores them: [layers, 2, positions, heads, head_dim].
func (s *stream) positions(n int) []float32 {
	var all []float32
	d := s.lm.dims
	for i := range s.bank.kv {
		byHead := s.read(i, 0, n)
		for p := range n {
			for h := range d.Heads {
				at := (h*n + p) * d.HeadDim
				all = append(all, byHead[at:at+d.HeadDim]...)
			}
		}
	}
	return all
}

func TestEveryFormOfAVoiceReadsTheSame(t *testing.T) {
	for name, forms := range map[string][]string{
		"01-v2-tanh": {"voice_longer.safetensors", "voice_pad.safetensors"},
		"02-v1-erf":  {"voice_current_end.safetensors"},
	} {
		v := load(t, name)
		want := v.prompt(t, "voice.safetensors")
		for _, form := range forms {
			got := v.prompt(t, form)
			same := got.Positions == want.Positions && slices.EqualFunc(got.K, want.K, slices.Equal) && slices.EqualFunc(got.V, want.V, slices.Equal)
			if !same {
				t.Errorf("%s %s: %d positions that are not the %d of voice.safetensors", name, form, got.Positions, want.Positions)
			}
		}
	}
}

func TestFlowHeadAloneEqualsTheMergedOne(t *testing.T) {
	orttest.Need(t)
	v := load(t, "01-v2-tanh")
	l := v.open(t, 1)
	s, err := l.newStream(100)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), []int32{5, 6, 7})); err != nil {
		t.Fatal(err)
	}
	noise := v.array(t, v.Runs[0].Files["noise"]).Floats[:l.dims.Latent]
	if err := errors.Join(s.Draw(noise), s.Step(t.Context(), noise)); err != nil {
		t.Fatal(err)
	}
	merged := slices.Clone(s.latent)
	if err := s.Draw(noise); err != nil {
		t.Fatal(err)
	}
	if d := apart(t, s.latent, merged); !(d <= 1e-6) {
		t.Errorf("%.1e apart", d)
	}
}

func TestStreamRefuses(t *testing.T) {
	orttest.Need(t)
	v := load(t, "01-v2-tanh")
	l, p := v.open(t, 1), v.prompt(t, "voice.safetensors")
	s, err := l.newStream(p.Positions + 3)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), []int32{1, 2})); err != nil {
		t.Fatalf("text and start row that fill the stream exactly: %v", err)
	}
	if err := s.Step(t.Context(), make([]float32, l.dims.Latent)); err == nil {
		t.Error("a step was made in a full stream")
	}
	if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), []int32{1, 2, 3})); err == nil {
		t.Error("one token more than fits was read")
	}
	for _, id := range []int32{-1, int32(l.dims.Vocab)} {
		if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), []int32{id})); err == nil {
			t.Errorf("token %d was read", id)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(s.Begin("v"), s.Prefill(ctx, []int32{1})); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled prefill returned %v", err)
	}
	tight, err := l.newStream(p.Positions - 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tight.Close()
	if err := tight.Begin("v"); err == nil {
		t.Error("a voice was put into a stream that is one position too short")
	}
}

// TestStreamsInOneRunAreBitEqualToStreamsAlone is what batching the steps of several streams rests on. The keys and values of a batch
// are neighbours in memory, and each stream has its own length.
func TestStreamsInOneRunAreBitEqualToStreamsAlone(t *testing.T) {
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		t.Run(precision, func(t *testing.T) { testBatch(t, precision) })
	}
}

func testBatch(t *testing.T, precision string) {
	orttest.Need(t)
	v := load(t, "01-v2-tanh")
	v.checkpoint.Precision = precision
	l := v.open(t, 1)
	const capacity, steps = 64, 12
	texts := [][]int32{{5, 6, 7}, {9, 8, 7, 6, 5, 4, 3, 2}, {11}}
	d := l.dims
	batch := len(texts)
	kv := make([][]float32, 2*d.Layers)
	for i := range kv {
		kv[i] = make([]float32, batch*capacity*d.Width)
	}
	rows, noises := make([]float32, batch*d.Width), make([]float32, batch*d.Latent)
	lengths, total := make([]int32, batch), make([]int32, 1)
	latents, hs, eos := make([]float32, batch*d.Latent), make([]float32, batch*d.Width), make([]float32, batch)
	floats := func(values []float32, shape ...int) *ort.Tensor {
		x, err := ort.Floats(values, shape...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		return x
	}
	ints := func(values []int32) *ort.Tensor {
		x, err := ort.Int32s(values, len(values))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		return x
	}
	in := []*ort.Tensor{floats(rows, batch, 1, d.Width), floats(noises, batch, d.Latent), ints(lengths), ints(total)}
	var out []*ort.Tensor
	for i := range kv {
		x := floats(kv[i], batch, d.Heads, capacity, d.HeadDim)
		in, out = append(in, x), append(out, x)
	}
	out = append(out, floats(latents, batch, d.Latent), floats(hs, batch, d.Width), floats(eos, batch, 1))

	streams := make([]*stream, batch)
	for b, tokens := range texts {
		s, err := l.newStream(capacity)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), tokens), s.Draw(make([]float32, d.Latent))); err != nil {
			t.Fatal(err)
		}
		streams[b] = s
		for i := range kv {
			copy(kv[i][b*capacity*d.Width:], s.kv(i))
		}
		copy(latents[b*d.Latent:], s.latent)
	}
	for step := range steps {
		total[0] = 0
		for b, s := range streams {
			l.host.Row(rows[b*d.Width:(b+1)*d.Width], latents[b*d.Latent:(b+1)*d.Latent])
			noise(noises[b*d.Latent:(b+1)*d.Latent], int64(b), 0, step, 1, 0)
			lengths[b] = int32(s.length)
			total[0] = max(total[0], lengths[b]+1)
		}
		if err := l.lm.Run(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		for b, s := range streams {
			if err := s.Step(t.Context(), noises[b*d.Latent:(b+1)*d.Latent]); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(latents[b*d.Latent:(b+1)*d.Latent], s.latent) || eos[b] != s.eos[0] {
				t.Fatalf("step %d: stream %d is another in the batch", step, b)
			}
		}
	}
}

func TestACancelledPrefillLeavesTheSessionUsable(t *testing.T) {
	orttest.Need(t)
	v := load(t, "01-v2-tanh")
	l := v.open(t, 1)
	s, err := l.newStream(400)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tokens := make([]int32, 300)
	if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), tokens)); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(s.h)
	for range 20 { // the cancel comes before, during or after the run: all three must be told apart
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if err := errors.Join(s.Begin("v"), s.Prefill(ctx, tokens)); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("a cancelled prefill returned %v", err)
		}
		cancel()
	}
	if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), tokens)); err != nil || !slices.Equal(s.h, want) {
		t.Errorf("a prefill after cancelled ones: %v, equal %v", err, slices.Equal(s.h, want))
	}
}
