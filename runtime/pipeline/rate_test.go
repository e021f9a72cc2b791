package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

const rated = "आपका ऑर्डर कल सुबह पहुँच जाएगा, और पैसे वापस मिल जाएँगे।"

// TestRates: an engine speaks a part at the nearest of its own speeds, and what is missing of the rate is made of its
// samples. The parts beside it stay as they are.
func TestRates(t *testing.T) {
	own := speech.Speeds{Min: .5, Max: 1.5}
	for name, tt := range map[string]struct {
		speeds speech.Speeds
		speed  float64 // of the utterance
		rate   string
		engine float64 // what it is asked for
		rest   float64
	}{
		"half, made of samples":        {speech.Speeds{}, 0, "50%", 1, .5},
		"slow, made of samples":        {speech.Speeds{}, 0, "slow", 1, .8},
		"fast, made of samples":        {speech.Speeds{}, 0, "150%", 1, 1.5},
		"double, made of samples":      {speech.Speeds{}, 0, "200%", 1, 2},
		"the engine's own":             {own, 0, "150%", 1.5, 1},
		"more than the engine's own":   {own, 0, "200%", 1.5, 4 / 3.},
		"of a fast utterance":          {own, 1.5, "200%", 1.5, 2},
		"of a slow utterance":          {own, .5, "50%", .5, .5},
		"back to one in a fast one":    {own, 1.25, "80%", 1, 1},
		"less than the engine's least": {speech.Speeds{Min: .8, Max: 1.2}, 0, "60%", .8, .75},
	} {
		t.Run(name, func(t *testing.T) {
			asked := map[string]float64{}
			s, _, _ := open(t, 1, synthtest.Config{Speeds: tt.speeds, WordTimes: true,
				Before: func(_ context.Context, o synth.Options, frame int) error {
					if frame < 0 {
						asked[fmt.Sprint(o.Chunk)] = o.Speed
					}
					return nil
				}})
			say := func(text string, speed float64, isMarkup bool) *speechtest.Recorder {
				r := &speechtest.Recorder{}
				u := speech.Utterance{Text: text, SSML: isMarkup, Voice: "raj", Format: speech.PCM16, Speed: speed,
					WordTimes: true}
				if _, err := s.Speak(t.Context(), u, speech.Turn{}, r); err != nil {
					t.Fatal(err)
				}
				return r
			}
			alone := say(rated, tt.engine, false)
			beside := say("नमस्ते दोस्त।", tt.speed, false)
			r := say(`<speak>नमस्ते दोस्त। <prosody rate="`+tt.rate+`">`+rated+`</prosody> नमस्ते दोस्त।</speak>`,
				tt.speed, true)
			if len(r.Chunks) != 3 || math.Abs(asked["1"]-tt.engine) > 1e-9 {
				t.Fatalf("chunks %+v, the engine was asked for %v", r.Chunks, asked)
			}
			want := int(math.Ceil(float64(alone.Ends[0].Frames)/tt.rest - 1e-9))
			if got := r.Ends[1].Frames; got != want || !r.Ends[1].EOS {
				t.Errorf("%d frames, want %d: %d at rate 1", got, want, alone.Ends[0].Frames)
			}
			var sound [3][]byte
			for _, b := range r.Blocks {
				sound[b.Chunk] = append(sound[b.Chunk], b.Data...)
			}
			var native []byte
			for _, b := range beside.Blocks {
				native = append(native, b.Data...)
			}
			if len(sound[1]) != want*speech.FrameBytes || !bytes.Equal(sound[0], native) ||
				len(sound[2]) != len(sound[0]) {
				t.Errorf("%d, %d and %d bytes, want %d in the middle and %d beside", len(sound[0]), len(sound[1]),
					len(sound[2]), want*speech.FrameBytes, len(native))
			}
			begin := time.Duration(r.Ends[0].Frames) * speech.FrameDuration
			near := time.Duration(2 * float64(speech.FrameDuration) / tt.rest) // levels move words by as much
			last := begin
			for i, w := range r.Ends[1].Words {
				native := alone.Ends[0].Words[i]
				from := begin + time.Duration(float64(native.Start)/tt.rest)
				until := begin + time.Duration(float64(native.End)/tt.rest)
				if w.Text != native.Text || (w.Start-from).Abs() > near || (w.End-until).Abs() > near ||
					w.Start < last {
					t.Errorf("%s is heard %v to %v, want %v to %v", w.Text, w.Start, w.End, from, until)
				}
				last = w.End
			}
			if len(r.Ends[1].Words) != len(alone.Ends[0].Words) || !r.Ends[1].ExactWords ||
				last > begin+time.Duration(want)*speech.FrameDuration ||
				r.Ends[2].Words[0].Start < begin+time.Duration(want)*speech.FrameDuration {
				t.Errorf("words %+v and %+v", r.Ends[1].Words, r.Ends[2].Words)
			}
		})
	}
}

// TestAFirstRatedFrameIsEarly: the engine makes as few frames for the first one as it must.
func TestAFirstRatedFrameIsEarly(t *testing.T) {
	made := 0
	s, _, _ := open(t, 1, synthtest.Config{Before: func(_ context.Context, _ synth.Options, frame int) error {
		made = max(made, frame+1)
		return nil
	}})
	for rate, most := range map[string]int{"50%": 1, "80%": 2, "100%": 1, "150%": 2, "200%": 3} {
		made = 0
		r := &speechtest.Recorder{OnAudio: func(speech.Audio) error {
			if made > most {
				t.Errorf("%s: the first audio came after %d frames, want %d", rate, made, most)
			}
			most = math.MaxInt
			return nil
		}}
		if _, err := s.Speak(t.Context(), ssmlOf(`<speak><prosody rate="`+rate+`">`+rated+`</prosody></speak>`),
			speech.Turn{}, r); err != nil || r.Blocks[0].Frames != 1 {
			t.Errorf("%s: %v", rate, err)
		}
	}
}

// TestARatedPartFails: what was heard before it is counted, and the error is the engine's.
func TestARatedPartFails(t *testing.T) {
	gone := errors.New("gone")
	s, _, _ := open(t, 1, synthtest.Config{Before: func(_ context.Context, _ synth.Options, frame int) error {
		if frame == 6 {
			return gone
		}
		return nil
	}})
	r := &speechtest.Recorder{}
	st, err := s.Speak(t.Context(), ssmlOf(`<speak><prosody rate="50%">`+rated+`</prosody></speak>`), speech.Turn{}, r)
	if !errors.Is(err, gone) || st.Frames == 0 || st.Frames < len(r.PCM())/speech.FrameSamples {
		t.Errorf("%+v with %d bytes, %v", st, len(r.PCM()), err)
	}
}
