package pipeline_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// cutShort is a recorded whose chunks run into the frame limit.
type cutShort struct{ recorded }

func (c *cutShort) NewWorker(context.Context) (synth.Worker, error) {
	return &cutPlayer{player{of: &c.recorded}}, nil
}

type cutPlayer struct{ player }

func (p *cutPlayer) Next(ctx context.Context, dst []int16, n int) (frames int, done, eos bool, err error) {
	frames, done, _, err = p.player.Next(ctx, dst, n)
	return frames, done, false, err
}

// TestWordsAreWhereTheChunkSounds: their times are those of the whole utterance, and what cannot be known is not told.
func TestWordsAreWhereTheChunkSounds(t *testing.T) {
	sound, silence := slices.Repeat([]int16{8000}, 5*speech.FrameSamples), make([]int16, 2*speech.FrameSamples)
	played := recorded{synthtest.NewEngine(synthtest.Config{}), [][]int16{
		slices.Concat(silence, sound, silence),
		slices.Concat(silence, silence),
		slices.Concat(silence, silence, sound),
	}}
	u := speech.Utterance{
		Text: strings.Repeat("naam ", 91), Voice: "raj", Format: speech.PCM16, Raw: true, WordTimes: true,
	}
	type told struct{ words, start, end, charStart, charEnd int } // times in frames
	for name, tt := range map[string]struct {
		engine synth.Engine
		want   []told
	}{
		"one chunk is silent": {&played, []told{{30, 2, 7, 0, 149}, {}, {30, 17, 22, 305, 454}}},
		"all are cut":         {&cutShort{played}, make([]told, 3)},
	} {
		s, _ := run(t, 1, tt.engine)
		r := &speechtest.Recorder{}
		if _, err := s.Speak(t.Context(), u, speech.Turn{}, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []told
		for _, e := range r.Ends {
			var all told
			if n := len(e.Words); n > 0 {
				first, last := e.Words[0], e.Words[n-1]
				frames := func(d time.Duration) int { return int(d / speech.FrameDuration) }
				all = told{n, frames(first.Start), frames(last.End), first.CharStart, last.CharEnd}
			}
			got = append(got, all)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
