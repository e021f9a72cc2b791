package model

import (
	"errors"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
)

// TestTheEmbeddingOfAVoiceIsAddedToAudioOnly compares with a host that makes nothing of latents: there the whole row is
// given as the embedding.
func TestTheEmbeddingOfAVoiceIsAddedToAudioOnly(t *testing.T) {
	orttest.Need(t)
	v := vectortest.Load(t, "01-v2-tanh")
	l := openModel(t, v, 1)
	width, tokens := l.dims.Width, []int32{5, 6, 7}
	embedding := make([]float32, width)
	for i := range embedding {
		embedding[i] = float32(i%7-3) / 4
	}
	plain := *l.voices.prompts["v"].Prompt
	named := plain
	named.VoiceEmbedding = embedding
	read := func(host bundle.Host, p bundle.Prompt) *Stream {
		t.Helper()
		other := *l
		other.host, other.voices = host, onlyVoice(t, &p)
		s, err := other.newLoneStream(p.Positions + 10)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if err := errors.Join(s.Begin("v"), s.Prefill(t.Context(), tokens)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	sum := func(a, b []float32) []float32 {
		y := slices.Clone(a)
		for i, v := range b {
			y[i] += v
		}
		return y
	}
	nothing := l.host
	nothing.Input, nothing.Start = make([]float32, len(l.host.Input)), make([]float32, width)
	whole := plain
	whole.VoiceEmbedding = sum(l.host.Start, embedding)

	without, with, given := read(l.host, plain), read(l.host, named), read(nothing, whole)
	text := plain.Positions + len(tokens)
	if !slices.Equal(with.KeysAndValues(text), without.KeysAndValues(text)) {
		t.Fatal("the embedding changed how text is read")
	}
	if slices.Equal(with.h, without.h) {
		t.Error("the embedding changed nothing in the start row")
	}
	if !slices.Equal(with.h, given.h) {
		t.Error("the start row is not its own plus the embedding")
	}
	noise := make([]float32, l.dims.Latent)
	if err := errors.Join(with.Draw(noise), given.Draw(noise)); err != nil {
		t.Fatal(err)
	}
	row := make([]float32, width)
	l.host.Row(row, with.latent)
	given.voiceEmbedding = sum(row, embedding)
	if err := errors.Join(with.Step(t.Context(), noise), given.Step(t.Context(), noise)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(with.h, given.h) || !slices.Equal(with.latent, given.latent) {
		t.Error("the row of a latent is not its own plus the embedding")
	}
}
