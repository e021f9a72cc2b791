package onnx

import (
	"slices"
	"sync"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/synth"
)

func TestCommonTokens(t *testing.T) {
	known := []int32{1, 2, 3, 4, 5, 6}
	for _, tt := range []struct {
		name string
		text []int32
		want int
	}{
		{"one fewer than pays", []int32{1, 2, 3, 9, 9}, 0},
		{"as many as pay", []int32{1, 2, 3, 4, 9}, 4},
		{"one more", []int32{1, 2, 3, 4, 5, 9}, 5},
		{"the last token is read in any case", []int32{1, 2, 3, 4, 5}, 4},
		{"and then too few are left", []int32{1, 2, 3, 4}, 0},
		{"the same text", known, 5},
		{"a longer text", []int32{1, 2, 3, 4, 5, 6, 7, 8}, 6},
		{"another text", []int32{9, 2, 3, 4, 5, 6}, 0},
		{"no text", nil, 0},
	} {
		if got := (prefill{tokens: known}).common(tt.text); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// greetings are texts that begin alike.
func greetings() []string {
	return []string{"Namaste Asha, kal aana.", "Namaste Asha, kal mat aana.", "Namaste Ravi, kal aana.", "Dhanyavad."}
}

// without returns an engine of the same model as e that caches nothing.
func without(t *testing.T, precision string) *Engine {
	t.Helper()
	return engineWith(t, talkative(precision), func(c *Config) { c.CacheBytes = -1 })
}

func TestATextThatBeginsLikeAnotherSoundsAsAlways(t *testing.T) {
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		w, plain := newTestWorker(t, engineOf(t, precision, 1)), newTestWorker(t, without(t, precision))
		e := w.(*worker).engine
		for i, text := range greetings() {
			for _, voice := range []string{"raj", "anjura"} {
				o := synth.Options{Voice: voice, Text: text, Seed: int64(i), Temperature: .3}
				want, _, _ := speak(t, plain, o)
				if got, _, cached := speak(t, w, o); !slices.Equal(got, want) || cached {
					t.Errorf("%s, %s, %q: cached %v, other samples than without a cache", precision, voice,
						text, cached)
				}
			}
		}
		// In either voice: the second shares 18 letters with the first, the third 8 with both.
		c := e.Counters()
		if c.CacheHits != 0 || c.CacheMisses != 8 || c.Prefixes != 4 || c.PrefixTokens != 2*(18+8) {
			t.Errorf("%s: %+v, want 8 misses, 4 of them with 52 tokens that were known", precision, c)
		}
	}
}

// TestSnapshotsMayLeaveWhileTheyAreRestored has a cache that holds hardly more than one text, which several workers
// on several threads want at once.
func TestSnapshotsMayLeaveWhileTheyAreRestored(t *testing.T) {
	orttest.Need(t)
	plain := newTestWorker(t, without(t, bundle.Int8))
	var want [][]int16
	options := func(i int) synth.Options {
		return synth.Options{Voice: "raj", Text: greetings()[i], Seed: int64(i), Temperature: .3}
	}
	for i := range greetings() {
		pcm, _, _ := speak(t, plain, options(i))
		want = append(want, pcm)
	}
	one := newTestWorker(t, engineOf(t, bundle.Int8, 1))
	speak(t, one, options(0))
	budget := one.(*worker).engine.Counters().CacheBytes * 3 / 2
	e := engineWith(t, talkative(bundle.Int8), func(c *Config) { c.CacheBytes, c.Threads = budget, 3 })
	var wg sync.WaitGroup
	for i := range 4 {
		w := newTestWorker(t, e)
		wg.Go(func() {
			for round := range 12 {
				which := (i + round) % len(want)
				if got, err := trySpeak(t.Context(), w, options(which)); err != nil || !slices.Equal(got, want[which]) {
					t.Errorf("text %d is not what it is alone (error %v)", which, err)
				}
			}
		})
	}
	wg.Wait()
	if c := e.Counters(); c.CacheHits+c.Prefixes == 0 || c.CacheMisses == 0 || c.CacheBytes > budget {
		t.Errorf("%+v with a budget of %d: want hits and misses within it", c, budget)
	}
}
