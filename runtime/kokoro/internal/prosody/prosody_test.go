package prosody_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/npy"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/kokoro/internal/prosody"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
)

const vectors = "../../testdata/"

// sentence is one of the golden vectors.
type sentence struct {
	ID    string  `json:"id"`
	Voice string  `json:"voice"`
	IDs   []int64 `json:"tokens"`
	Row   int     `json:"style_row"`
}

func sentences(t *testing.T) (all []sentence) {
	t.Helper()
	text, err := os.ReadFile(vectors + "index.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 4 {
		t.Fatalf("there are %d sentences, want 4", len(all))
	}
	return all
}

func golden(t *testing.T, name string) npy.Array {
	t.Helper()
	a, err := npy.Read(vectors + name + ".npy")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// worst is the largest difference of two lists, which must be of the same length.
func worst(t *testing.T, name string, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d values, want %d", name, len(got), len(want))
	}
	most := 0.
	for i := range got {
		most = max(most, math.Abs(float64(got[i])-float64(want[i])))
	}
	return most
}

func TestRealWeights(t *testing.T) {
	orttest.Need(t)
	dir, m := kokorotest.Bundle(t, nil, "hf_alpha", "hf_beta", "hm_omega", "hm_psi")
	if got, err := bundle.Open(dir); err != nil || len(got.Voices) != 4 {
		t.Fatalf("the bundle: %v, %v", got, err)
	}
	if err := bundle.Verify(dir, m); err != nil {
		t.Fatal(err)
	}
	p, err := prosody.Open(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range sentences(t) {
		t.Run(s.ID, func(t *testing.T) { compare(t, p, dir, m, s) })
	}
	t.Run("concurrently", func(t *testing.T) { together(t, p) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, p) })
	t.Run("refused", func(t *testing.T) { refused(t, p) })
	t.Run("the longest", func(t *testing.T) {
		ids := make([]int64, bundle.MaxTokens)
		for i := range ids[1 : len(ids)-1] {
			ids[i+1] = 43
		}
		if got, err := p.Run(t.Context(), ids, make([]float32, bundle.StyleSize), 1); err != nil ||
			len(got.Durations) != len(ids) {
			t.Errorf("%d durations, %v", len(got.Durations), err)
		}
	})
}

func compare(t *testing.T, p *prosody.Model, dir string, m bundle.Manifest, s sentence) {
	v, ok := m.Voice(s.Voice)
	if !ok {
		t.Fatalf("no voice %s", s.Voice)
	}
	prompt, err := bundle.ReadVoice(filepath.Join(dir, v.File.File))
	if err != nil {
		t.Fatal(err)
	}
	style := prompt.Style(len(s.IDs))
	if want := golden(t, s.ID+"_style").Floats; !slices.Equal(style, want) {
		t.Fatal("the style is another row")
	}
	got, err := p.Run(t.Context(), s.IDs, style, 1)
	if err != nil {
		t.Fatal(err)
	}
	var frames []int
	for _, d := range golden(t, s.ID+"_f32_dur").Ints {
		frames = append(frames, int(d))
	}
	if !slices.Equal(got.Durations, frames) {
		t.Fatalf("durations %v, want %v", got.Durations, frames)
	}
	for i, d := range golden(t, s.ID+"_int8_dur").Ints {
		if off := got.Durations[i] - int(d); off < -3 || off > 3 {
			t.Errorf("id %d lasts %d frames, and %d where the export adds integers", i, got.Durations[i], d)
		}
	}
	f0 := worst(t, "F0", got.F0, golden(t, s.ID+"_f32_F0").Floats)
	n := worst(t, "N", got.N, golden(t, s.ID+"_f32_N").Floats)
	t.Logf("F0 is off by %.2g Hz, N by %.2g", f0, n)
	if f0 > .05 || n > .01 {
		t.Errorf("F0 is off by %.2g Hz and N by %.2g, want at most 0.05 and 0.01", f0, n)
	}
	if s.ID == "v1" {
		want := golden(t, "v1_f32_text")
		byID := make([]float32, len(want.Floats))
		for i := range byID {
			byID[i] = want.Floats[i%512*len(s.IDs)+i/512]
		}
		if off := worst(t, "Text", got.Text, byID); off > 1e-4 {
			t.Errorf("the text is off by %.2g, want at most 1e-4", off)
		}
	}
	for _, speed := range []float64{.5, .75, 1.25, 2} {
		faster, err := p.Run(t.Context(), s.IDs, style, speed)
		if err != nil {
			t.Fatal(err)
		}
		want := float64(frames[0]) + float64(sum(frames[1:]))/speed // without the silence in front
		if math.Abs(float64(sum(faster.Durations))-want) > 1 {
			t.Errorf("at speed %g there are %d frames, want %g", speed, sum(faster.Durations), want)
		}
		if len(faster.F0) != 2*sum(faster.Durations) {
			t.Errorf("at speed %g there are %d values of pitch for %d frames", speed, len(faster.F0),
				sum(faster.Durations))
		}
	}
}

func sum(values []int) (total int) {
	for _, v := range values {
		total += v
	}
	return total
}

// together runs sentences at the same time, which must not change what they become.
func together(t *testing.T, p *prosody.Model) {
	var wg sync.WaitGroup
	for _, s := range sentences(t) {
		style := golden(t, s.ID+"_style").Floats
		alone, err := p.Run(t.Context(), s.IDs, style, 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			wg.Go(func() {
				for range 2 {
					got, err := p.Run(t.Context(), s.IDs, style, 1)
					if err != nil || !slices.Equal(got.F0, alone.F0) || !slices.Equal(got.N, alone.N) ||
						!slices.Equal(got.Text, alone.Text) {
						t.Errorf("%s is another beside others: %v", s.ID, err)
					}
				}
			})
		}
	}
	wg.Wait()
}

func cancelled(t *testing.T, p *prosody.Model) {
	gone := errors.New("the client is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := p.Run(ctx, make([]int64, 5), make([]float32, bundle.StyleSize), 1); !errors.Is(err, gone) {
		t.Errorf("error %v, want %v", err, gone)
	}
}

func refused(t *testing.T, p *prosody.Model) {
	style := make([]float32, bundle.StyleSize)
	for name, tt := range map[string]struct {
		ids   []int64
		style []float32
		speed float64
		want  string
	}{
		"no ids":              {nil, style, 1, "0 ids"},
		"one id too many":     {make([]int64, bundle.MaxTokens+1), style, 1, "513 ids"},
		"a negative id":       {[]int64{0, -1, 0}, style, 1, "the id -1"},
		"the first id beyond": {[]int64{0, bundle.Vocabulary, 0}, style, 1, "the id 178"},
		"half a style":        {[]int64{0, 1, 0}, style[:128], 1, "128 values"},
		"too slow":            {[]int64{0, 1, 0}, style, .49, "speed is 0.49"},
		"too fast":            {[]int64{0, 1, 0}, style, 2.01, "speed is 2.01"},
		"no speed":            {[]int64{0, 1, 0}, style, math.NaN(), "speed is NaN"},
	} {
		if _, err := p.Run(t.Context(), tt.ids, tt.style, tt.speed); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
}

func TestDurations(t *testing.T) {
	nan := float32(math.NaN())
	for name, tt := range map[string]struct {
		predicted []float32
		speed     float64
		want      []int
	}{
		"rounded to even":              {[]float32{1.5, 2.5, 3.5, 2.49, 2.51}, 1, []int{2, 2, 4, 2, 3}},
		"at least one":                 {[]float32{0, .4, .5, .6, -3, nan}, 1, []int{1, 1, 1, 1, 1, 1}},
		"half the speed":               {[]float32{22, 1, 2, 3}, .5, []int{22, 2, 4, 6}},
		"roundings do not add up":      {[]float32{5, 1, 1, 1, 1, 1, 1}, .75, []int{5, 1, 2, 1, 1, 2, 1}},
		"an id borrows from the next":  {[]float32{3, 1, 1, 6}, 2, []int{3, 1, 1, 2}},
		"so many that nothing is left": {[]float32{1, 1, 1}, 2, []int{1, 1, 1}},
		"silence alone":                {[]float32{22}, 1.5, []int{22}},
		"no more than can be":          {[]float32{float32(math.Inf(1)), 1}, 1, []int{prosody.MaxFrames, 1}},
	} {
		got, total := prosody.Durations(tt.predicted, tt.speed)
		if !slices.Equal(got, tt.want) || total != sum(tt.want) {
			t.Errorf("%s: %v of %d frames, want %v", name, got, total, tt.want)
		}
	}
}
