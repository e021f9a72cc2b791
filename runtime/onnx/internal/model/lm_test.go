package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/noise"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
)

func TestFlowHeadAloneEqualsTheMergedOne(t *testing.T) {
	orttest.Need(t)
	v := vectortest.Load(t, "01-v2-tanh")
	l := openModel(t, v, 1)
	s, err := l.newLoneStream(100)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), []int32{5, 6, 7})); err != nil {
		t.Fatal(err)
	}
	noise := v.Array(t, v.Runs[0].Files["noise"]).Floats[:l.dims.Latent]
	if err := errors.Join(s.Draw(noise), s.Step(t.Context(), noise)); err != nil {
		t.Fatal(err)
	}
	merged := slices.Clone(s.latent)
	if err := s.Draw(noise); err != nil {
		t.Fatal(err)
	}
	if d := vectortest.Apart(t, s.latent, merged); !(d <= 1e-6) {
		t.Errorf("%.1e apart", d)
	}
}

func TestStreamRefuses(t *testing.T) {
	orttest.Need(t)
	v := vectortest.Load(t, "01-v2-tanh")
	l, p := openModel(t, v, 1), v.Prompt(t, "voice.safetensors")
	s, err := l.newLoneStream(p.Positions + 3)
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
	tight, err := l.newLoneStream(p.Positions - 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tight.Close()
	if err := tight.Begin("v"); err == nil {
		t.Error("a voice was put into a stream that is one position too short")
	}
}

// TestStreamsInOneRunAreBitEqualToStreamsAlone is what batching rests on. Texts differ in length, and slots in between
// run along as dummies, one of them held by a stream that must not notice.
func TestStreamsInOneRunAreBitEqualToStreamsAlone(t *testing.T) {
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		for _, flowSteps := range []int{1, 3} {
			for _, slots := range [][]int{{0, 1}, {1, 2, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 5, 7}} {
				t.Run(fmt.Sprintf("%s, %d flow steps, slots %v", precision, flowSteps, slots), func(t *testing.T) {
					testBatch(t, precision, flowSteps, slots)
				})
			}
		}
	}
}

func testBatch(t *testing.T, precision string, flowSteps int, slots []int) {
	orttest.Need(t)
	v := vectortest.Load(t, "01-v2-tanh")
	v.Checkpoint.Precision = precision
	l := openModel(t, v, flowSteps)
	const capacity, steps = 64, 12
	b, err := l.newKVCache(MaxBatch, capacity)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	begin := func(s *Stream, err error, i int) *Stream {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		tokens := make([]int32, 1+5*i%17)
		for j := range tokens {
			tokens[j] = int32(i + j)
		}
		if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), tokens),
			s.Draw(make([]float32, l.dims.Latent))); err != nil {
			t.Fatal(err)
		}
		return s
	}
	var together, apart []*Stream
	for i := range MaxBatch { // streams take the lowest slot that is free
		s, err := b.newStream()
		together = append(together, begin(s, err, i))
		s, err = l.newLoneStream(capacity)
		apart = append(apart, begin(s, err, i))
	}
	var members []*Stream
	for _, i := range slots {
		members = append(members, together[i])
	}
	same := func(step, i int) {
		t.Helper()
		a, b := together[i], apart[i]
		if !slices.Equal(a.latent, b.latent) || !slices.Equal(a.h, b.h) || a.eos[0] != b.eos[0] ||
			a.length != b.length {
			t.Fatalf("step %d: stream %d is another in the batch", step, i)
		}
	}
	z := make([]float32, l.dims.Latent)
	for step := range steps {
		for _, i := range slots {
			noise.Fill(z, int64(i), 0, step, 1, 0)
			copy(together[i].noise, z)
			if err := apart[i].Step(t.Context(), z); err != nil {
				t.Fatal(err)
			}
		}
		first, n := b.LockRange(members, MaxBatch)
		if first != slots[0] || n != slots[len(slots)-1]-slots[0]+1 {
			t.Fatalf("%d slots from %d on are locked for %v", n, first, slots)
		}
		if err := b.stepRange(first, n, members); err != nil {
			t.Fatal(err)
		}
		b.UnlockRange(first, n)
		for _, i := range slots {
			same(step, i)
		}
	}
	for i := range together { // those that were dummies go on as if nothing had been
		if err := errors.Join(together[i].Step(t.Context(), z), apart[i].Step(t.Context(), z)); err != nil {
			t.Fatal(err)
		}
		same(steps, i)
	}
}

func TestACancelledPrefillLeavesTheSessionUsable(t *testing.T) {
	orttest.Need(t)
	v := vectortest.Load(t, "01-v2-tanh")
	l := openModel(t, v, 1)
	s, err := l.newLoneStream(400)
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

// openModel builds the language model of the case with the given number of flow steps and its voice, called v.
func openModel(t testing.TB, v *vectortest.Case, steps int) *languageModel {
	t.Helper()
	c := *v.Checkpoint
	c.Steps = steps
	model, err := c.LM()
	if err != nil {
		t.Fatal(err)
	}
	flow, err := c.FlowHead()
	if err != nil {
		t.Fatal(err)
	}
	host, err := c.Host()
	if err != nil {
		t.Fatal(err)
	}
	m := bundle.Manifest{Dims: c.Dims(), Flow: bundle.Flow{Steps: steps}, LM: model.Graph, FlowHead: flow.Graph}
	l, err := openLanguageModel(&m, ort.Open, host, onlyVoice(t, v.Prompt(t, "voice.safetensors")),
		model.Model, flow.Model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// onlyVoice is a model's voice v.
func onlyVoice(t testing.TB, p *bundle.Prompt) *voices {
	t.Helper()
	all := &voices{prompts: map[string]keptPrompt{"v": {Prompt: p}}}
	t.Cleanup(func() {
		if err := all.close(); err != nil {
			t.Error(err)
		}
	})
	return all
}
