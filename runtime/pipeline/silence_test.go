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

// recorded is an engine that plays a recording for each chunk, whatever its text.
type recorded struct {
	*synthtest.Engine
	chunks [][]int16
}

func (r *recorded) NewWorker(context.Context) (synth.Worker, error) { return &player{of: r}, nil }

type player struct {
	of   *recorded
	left []int16
}

func (p *player) Prefill(_ context.Context, o synth.Options) (bool, error) {
	p.left = p.of.chunks[o.Chunk]
	return false, nil
}

func (p *player) Next(_ context.Context, dst []int16, n int) (frames int, done, eos bool, err error) {
	frames = copy(dst[:n*speech.FrameSamples], p.left) / speech.FrameSamples
	p.left = p.left[frames*speech.FrameSamples:]
	return frames, len(p.left) == 0, len(p.left) == 0, nil
}

func (p *player) Close() error { return nil }

// TestSilenceEndsWithTheFirstAudibleSample: what is below 1 % of full scale is silence.
func TestSilenceEndsWithTheFirstAudibleSample(t *testing.T) {
	const frame = speech.FrameSamples
	quiet := func(frames int, level int16) []int16 { return slices.Repeat([]int16{level}, frames*frame) }
	with := func(pcm []int16, at int, level int16) []int16 {
		pcm[at] = level
		return pcm
	}
	after := func(samples int) time.Duration { return time.Duration(samples) * time.Second / speech.SampleRate }
	for name, tt := range map[string]struct {
		chunks [][]int16
		want   time.Duration
	}{
		"audible at once":                    {[][]int16{with(quiet(1, 0), 0, 328)}, 0},
		"below zero too":                     {[][]int16{with(quiet(1, 0), 0, -328)}, 0},
		"the loudest":                        {[][]int16{with(quiet(1, 0), 0, 32767)}, 0},
		"the deepest":                        {[][]int16{with(quiet(1, 0), 0, -32768)}, 0},
		"one sample of silence":              {[][]int16{with(quiet(1, 0), 1, 328)}, after(1)},
		"just below the level":               {[][]int16{with(quiet(1, 327), 5, 328)}, after(5)},
		"just below the level, below zero":   {[][]int16{with(quiet(1, -327), 5, -328)}, after(5)},
		"never audible":                      {[][]int16{quiet(1, 327)}, speech.FrameDuration},
		"never audible, below zero":          {[][]int16{quiet(7, -327)}, 7 * speech.FrameDuration},
		"the last sample of the first frame": {[][]int16{with(quiet(2, 0), frame-1, 328)}, after(frame - 1)},
		"the first sample of the second":     {[][]int16{with(quiet(2, 0), frame, 328)}, speech.FrameDuration},
		"in the middle of a group":           {[][]int16{with(quiet(9, 0), 3*frame+24, 328)}, after(3*frame + 24)},
		"in a later group":                   {[][]int16{with(quiet(9, 0), 6*frame+48, -328)}, after(6*frame + 48)},
		"silence behind it does not count":   {[][]int16{with(quiet(9, 0), 240, 328)}, 10 * time.Millisecond},
		"nor in the next chunk":              {[][]int16{with(quiet(2, 0), 240, 328), quiet(2, 0)}, 10 * time.Millisecond},
		"a chunk of silence before it":       {[][]int16{quiet(2, 0), with(quiet(2, 0), 24, 328)}, after(2*frame + 24)},
	} {
		s, _ := run(t, 1, &recorded{synthtest.NewEngine(synthtest.Config{}), tt.chunks})
		text := "naam"
		for range len(tt.chunks) - 1 {
			text += " " + strings.Repeat("naam ", 45) // another chunk
		}
		u := speech.Utterance{Text: text, Voice: "raj", Format: speech.PCM16, Raw: true}
		st, err := s.Speak(t.Context(), u, speech.Turn{}, &speechtest.Recorder{})
		if err != nil || st.Chunks != len(tt.chunks) || st.LeadingSilence != tt.want {
			t.Errorf("%s: %v of silence in %d chunks, %v; want %v in %d",
				name, st.LeadingSilence, st.Chunks, err, tt.want, len(tt.chunks))
		}
	}
}
