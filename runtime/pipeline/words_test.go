package pipeline_test

import (
	"context"
	"errors"
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

// telling is a recorded whose workers know when words are heard.
type telling struct{ recorded }

func (r *telling) NewWorker(context.Context) (synth.Worker, error) {
	return &teller{player{of: &r.recorded}}, nil
}

type teller struct{ player }

func (p *teller) WordTimes() (words []synth.WordTime, ok bool) {
	return []synth.WordTime{
		{From: 0, To: 5, Start: 1000, End: speech.SampleRate / 4},
		{From: 6, To: 10, Start: speech.SampleRate / 4, End: speech.SampleRate},
	}, len(p.left) == 0
}

// TestWordsThatAModelTells reach the sink through the pool, and are called exact.
func TestWordsThatAModelTells(t *testing.T) {
	pcm := slices.Concat(make([]int16, speech.FrameSamples), slices.Repeat([]int16{8000}, 4*speech.FrameSamples))
	engine := &telling{recorded{synthtest.NewEngine(synthtest.Config{}), [][]int16{pcm}}}
	s, _ := run(t, 1, engine)
	u := speech.Utterance{Text: "naam, hai", Voice: "raj", Format: speech.PCM16, Raw: true, WordTimes: true}
	for _, tt := range []struct {
		asked bool
		want  []speech.Word
	}{
		{true, []speech.Word{
			{Text: "naam", CharEnd: 4, Start: 80 * time.Millisecond, End: 250 * time.Millisecond},
			{Text: "hai", CharStart: 6, CharEnd: 9, Start: 250 * time.Millisecond, End: 400 * time.Millisecond},
		}},
		{false, nil},
	} {
		u.WordTimes = tt.asked
		r := &speechtest.Recorder{}
		if _, err := s.Speak(t.Context(), u, speech.Turn{}, r); err != nil {
			t.Fatal(err)
		}
		if got := r.Ends[0]; !slices.Equal(got.Words, tt.want) || got.ExactWords != tt.asked {
			t.Errorf("asked for: %v: %v, exact %v, want %v", tt.asked, got.Words, got.ExactWords, tt.want)
		}
	}
}

// TestSpeed: an utterance has one of the model's speeds, or is refused before it has a worker.
func TestSpeed(t *testing.T) {
	const half, most = .5, 1.5
	text := strings.Repeat("naam ", 9)
	for name, tt := range map[string]struct {
		speeds speech.Speeds
		speed  float64
		frames int
		err    string
	}{
		"none is asked for":      {speech.Speeds{}, 0, 6, ""},
		"the usual":              {speech.Speeds{}, 1, 6, ""},
		"a model without others": {speech.Speeds{}, 1.25, 0, "speed other than 1.0 is not supported by this model"},
		"below the slowest":      {speech.Speeds{Min: half, Max: most}, .49, 0, "speed must be in [0.5, 1.5] for this model"},
		"the slowest":            {speech.Speeds{Min: half, Max: most}, half, 11, ""},
		"above the slowest":      {speech.Speeds{Min: half, Max: most}, .51, 11, ""},
		"below the fastest":      {speech.Speeds{Min: half, Max: most}, 1.49, 4, ""},
		"the fastest":            {speech.Speeds{Min: half, Max: most}, most, 4, ""},
		"above the fastest":      {speech.Speeds{Min: half, Max: most}, 1.51, 0, "speed must be in [0.5, 1.5] for this model"},
		"backwards":              {speech.Speeds{Min: half, Max: most}, -1, 0, "speed must be in [0.5, 1.5] for this model"},
	} {
		s, _ := run(t, 1, synthtest.NewEngine(synthtest.Config{Speeds: tt.speeds}))
		u := speech.Utterance{Text: text, Voice: "raj", Format: speech.PCM16, Raw: true, Speed: tt.speed}
		st, err := s.Speak(t.Context(), u, speech.Turn{}, &speechtest.Recorder{})
		said := ""
		if err != nil {
			said = err.Error()
		}
		if st.Frames != tt.frames || said != tt.err || errors.Is(err, speech.ErrBadSpeed) != (tt.err != "") {
			t.Errorf("%s: %d frames, %v; want %d, %q", name, st.Frames, err, tt.frames, tt.err)
		}
	}
}
