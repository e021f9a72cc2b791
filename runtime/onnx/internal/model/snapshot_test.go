package model

import (
	"errors"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
)

// splits reads texts whole, and again from every prefix that a text has which goes on in another way and is shorter,
// as long or longer. The bits must be the same: keys, values, state and logit.
func splits(t *testing.T, open func() *Stream, voice string, vocabulary, tokens int, prefixes []int) {
	t.Helper()
	text := make([]int32, tokens)
	for i := range text {
		text[i] = int32((7*i + 3) % vocabulary)
	}
	whole, donor, other := open(), open(), open()
	if err := errors.Join(whole.Begin(voice), whole.Prefill(t.Context(), text)); err != nil {
		t.Fatal(err)
	}
	positions := whole.length
	want := whole.KeysAndValues(positions)
	for _, known := range prefixes {
		for _, more := range []int{0, 1, 2, tokens - known, 2*tokens - known} {
			another := slices.Clone(text[:known])
			for i := range more {
				another = append(another, (text[min(known+i, tokens-1)]+int32(i)+1)%int32(vocabulary))
			}
			if err := errors.Join(donor.Begin(voice), donor.Prefill(t.Context(), another)); err != nil {
				t.Fatal(err)
			}
			saved, _ := donor.Save()
			rest := text[known:]
			err := errors.Join(other.Begin(voice), other.RestorePrefix(saved, known), other.Prefill(t.Context(), rest))
			if err != nil {
				t.Fatal(err)
			}
			same := slices.Equal(other.h, whole.h) && other.eos[0] == whole.eos[0]
			if !same || !slices.Equal(other.KeysAndValues(positions), want) {
				t.Errorf("%d of %d tokens from a text of %d more: not what the whole text gives", known, tokens, more)
			}
			saved.(*Snapshot).Free()
		}
	}
}

func TestATextReadFromAnyPrefixIsTheWholeOne(t *testing.T) {
	orttest.Need(t)
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		t.Run(precision, func(t *testing.T) {
			v := vectortest.Load(t, "01-v2-tanh")
			v.Checkpoint.Precision = precision
			l := openModel(t, v, 1)
			for _, tokens := range []int{2, 3, 17, 50} {
				var all []int
				for known := 1; known < tokens; known++ {
					all = append(all, known)
				}
				splits(t, func() *Stream { return lone(t, l, 200) }, "v", l.dims.Vocab, tokens, all)
			}
		})
	}
}

// TestALargeModelReadsAnyPrefixAlike has the widths of a real model, which other parts of the kernels compute. What
// reads no text is as small as it gets, and two layers do to each other what six do.
func TestALargeModelReadsAnyPrefixAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes models of real sizes")
	}
	orttest.Need(t)
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		t.Run(precision, func(t *testing.T) {
			wide, r := convert.Lite(), convert.Tiny()
			r.Width, r.Heads, r.HiddenScale, r.Vocab, r.PromptFrames = wide.Width, wide.Heads, wide.HiddenScale,
				wide.Vocab, wide.PromptFrames
			r.Precision = precision
			dir := t.TempDir()
			manifest, err := convert.SynthRandom(dir, r)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Open(dir, manifest, 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			})
			open := func() *Stream { return lone(t, m.language, manifest.Limits.Positions) }
			splits(t, open, "raj", manifest.Dims.Vocab, 30, []int{1, 4, 15, 28, 29})
		})
	}
}

func lone(t *testing.T, l *languageModel, capacity int) *Stream {
	t.Helper()
	s, err := l.newLoneStream(capacity)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSnapshotsAreRestoredByWhoeverHasRoom(t *testing.T) {
	orttest.Need(t)
	v := vectortest.Load(t, "01-v2-tanh")
	l := openModel(t, v, 1)
	prompt := v.Prompt(t, "voice.safetensors").Positions
	a := lone(t, l, prompt+4)
	if err := errors.Join(a.Begin("v"), a.Prefill(t.Context(), []int32{5, 6, 7})); err != nil {
		t.Fatal(err)
	}
	saved, bytes := a.Save()
	defer saved.(*Snapshot).Free()
	if least := int64(4 * 4 * 2 * l.dims.Layers * l.dims.Width); bytes < least {
		t.Errorf("%d bytes, want at least %d", bytes, least)
	}
	tight := lone(t, l, prompt+3)
	for _, tt := range []struct {
		name   string
		try    func() error
		passes bool
	}{
		{"all of it", func() error { return a.Restore(saved) }, true},
		{"all tokens", func() error { return a.RestorePrefix(saved, 3) }, true},
		{"the start row as a token", func() error { return a.RestorePrefix(saved, 4) }, false},
		{"what fits exactly", func() error { return tight.RestorePrefix(saved, 3) }, true},
		{"one position more than fits", func() error { return tight.Restore(saved) }, false},
		{"what was never saved", func() error { return a.Restore(1) }, false},
		{"a part of what was never saved", func() error { return a.RestorePrefix("", 1) }, false},
	} {
		if err := errors.Join(a.Begin("v"), tight.Begin("v")); err != nil {
			t.Fatal(err)
		}
		if err := tt.try(); (err == nil) != tt.passes {
			t.Errorf("%s: error %v, want one: %v", tt.name, err, !tt.passes)
		}
	}
}
