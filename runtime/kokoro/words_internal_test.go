package kokoro

import (
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/kokoro/internal/phoneme"
	"github.com/swar-tts/swar/runtime/kokoro/internal/prosody"
	"github.com/swar-tts/swar/runtime/synth"
)

// TestWordsOf: several words of prepared text may be one of the chunk, and some are silent.
func TestWordsOf(t *testing.T) {
	from := []espeak.PreparedWord{{At: 0, From: 0, To: 4}, {At: 5, From: 6, To: 10}, {At: 8, From: 6, To: 10},
		{At: 12, From: 11, To: 13}}
	for name, tt := range map[string]struct {
		spoken []phoneme.Word
		want   []word
	}{
		"nothing": {nil, nil},
		"two of one part": {
			[]phoneme.Word{{From: 0, First: 0, Last: 2}, {From: 5, First: 3, Last: 4}, {From: 8, First: 5, Last: 7},
				{From: 12, First: 9, Last: 10}},
			[]word{{0, 4, 1, 3}, {6, 10, 4, 8}, {11, 13, 10, 11}},
		},
		"one is silent": {
			[]phoneme.Word{{From: 0, First: 0, Last: 2}, {From: 5, First: 2, Last: 2}, {From: 12, First: 3, Last: 4}},
			[]word{{0, 4, 1, 3}, {11, 13, 4, 5}},
		},
	} {
		if got := wordsOf(from, tt.spoken); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if got := wordsOf(nil, []phoneme.Word{{First: 0, Last: 1}}); got != nil {
		t.Errorf("of unknown parts: %v", got)
	}
}

// TestTimes: words are where their ids are, a little sooner, and within what sounds.
func TestTimes(t *testing.T) {
	const frame = 600
	p := &prefill{
		from:    18 * frame,
		prosody: prosody.Prosody{Durations: []int{23, 10, 3, 4, 8, 4, 20}},
		words:   []word{{0, 1, 1, 2}, {2, 3, 3, 4}, {4, 5, 5, 6}},
	}
	for name, tt := range map[string]struct {
		cut, sound int
		want       [][2]int // starts and ends
	}{
		"all is heard": {0, 90 * frame, [][2]int{{5*frame - ahead, 18*frame - ahead}, {18*frame - ahead, 22 * frame}, {30*frame - ahead, 34 * frame}}},
		"silence was cut in front": {
			3 * frame, 90 * frame, [][2]int{{0, 15*frame - ahead}, {15*frame - ahead, 19 * frame},
				{27*frame - ahead, 31 * frame}},
		},
		"it ends in the last word": {
			0, 30 * frame, [][2]int{{5*frame - ahead, 18*frame - ahead}, {18*frame - ahead, 22 * frame},
				{30*frame - ahead, 30 * frame}},
		},
		"it ends before": {
			0, 20 * frame, [][2]int{{5*frame - ahead, 18*frame - ahead}, {18*frame - ahead, 20 * frame},
				{20 * frame, 20 * frame}},
		},
	} {
		var want []synth.WordTime
		for i, w := range p.words {
			want = append(want, synth.WordTime{From: w.from, To: w.to, Start: tt.want[i][0], End: tt.want[i][1]})
		}
		if got := p.times(tt.cut, tt.sound); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestBeginning(t *testing.T) {
	energy := func(rises int) []float32 { // of 40 half frames, of which those from rises on are speech
		n := make([]float32, 40)
		for i := range n {
			if n[i] = -9; i >= rises {
				n[i] = 8
			}
		}
		return n
	}
	for name, tt := range map[string]struct{ rises, want int }{
		"within the pad":       {14, 14*300 - beforeRise},
		"at the very start":    {0, 0},
		"less than the margin": {2, 0},
		"as much as that":      {3, 0},
		"one more":             {4, 300},
		"as the pad ends":      {20, 20*300 - beforeRise},
		"behind the pad":       {21, 20*300 - beforeRise},
		"never":                {40, 20*300 - beforePad},
	} {
		if got := beginning(prosody.Prosody{Durations: []int{10, 10}, N: energy(tt.rises)}); got != tt.want {
			t.Errorf("energy that rises %s: from sample %d, want %d", name, got, tt.want)
		}
	}
}
