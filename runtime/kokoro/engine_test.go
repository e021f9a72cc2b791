package kokoro_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/kokoro"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// TestRealWeights holds the engine to its promises on the published weights, which it loads once.
func TestRealWeights(t *testing.T) {
	dir, _ := kokorotest.Bundle(t, nil, "hf_beta", "hm_omega")
	e := open(t, dir, kokoro.Config{})
	t.Run("conformance", func(t *testing.T) { synthtest.Run(t, func(*testing.T) synth.Engine { return e.Again() }) })
	t.Run("silence around speech", func(t *testing.T) { testSilenceAroundSpeech(t, e) })
	t.Run("short texts", func(t *testing.T) { testShortTexts(t, e) })
	t.Run("word times against the sound", func(t *testing.T) { testWordTimesAgainstTheSound(t, e) })
	t.Run("output that is no number", func(t *testing.T) { testOutputThatIsNoNumber(t, e) })
}

// TestWorkersAtOnce: two workers speak what each speaks alone, of which the race detector sees nothing bad.
func TestWorkersAtOnce(t *testing.T) {
	dir, _ := kokorotest.RacingBundle(t, nil, "hf_beta")
	e := open(t, dir, kokoro.Config{CacheBytes: -1})
	texts := []string{"हाँ।", "No!"}
	workers, alone := make([]synth.Worker, len(texts)), make([][]int16, len(texts))
	for i, text := range texts {
		var err error
		if workers[i], err = e.NewWorker(t.Context()); err != nil {
			t.Fatal(err)
		}
		alone[i] = say(t, workers[i], synth.Options{Voice: "hf_beta", Text: text, Temperature: .3})
	}
	var speaking sync.WaitGroup
	for i, text := range texts {
		speaking.Go(func() {
			if !slices.Equal(say(t, workers[i], synth.Options{Voice: "hf_beta", Text: text, Temperature: .3}),
				alone[i]) {
				t.Errorf("%s: beside others it sounds otherwise", text)
			}
		})
	}
	speaking.Wait()
}

// testSilenceAroundSpeech: a chunk begins with 20 ms of silence and ends with 50 and what fills its last frame.
func testSilenceAroundSpeech(t *testing.T, e *kokoro.Engine) {
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []synth.Options{
		{Voice: "hf_beta", Text: "नमस्ते, आपका सामान पहुँच गया है।", Temperature: .7},
		{Voice: "hm_omega", Text: "Your order has been shipped.", Temperature: .7},
		{Voice: "hm_omega", Text: "Your order is here.", Temperature: .7, Speed: .5},
		{Voice: "hf_beta", Text: "Namaste!", Speed: 1.5},
	} {
		pcm := say(t, w, o)
		front, end := 0, len(pcm)
		for front < end && quiet(pcm[front]) {
			front++
		}
		for end > front && quiet(pcm[end-1]) {
			end--
		}
		if front < 240 || front > 480 || len(pcm)-end > 1200+speech.FrameSamples || end-front < speech.SampleRate/3 {
			t.Errorf("%s: %d samples of silence, %d of sound, %d of silence", o.Voice, front, end-front, len(pcm)-end)
		}
	}
	if pcm := say(t, w, synth.Options{Voice: "hf_beta", Text: " … "}); len(pcm) != 0 {
		t.Errorf("a text without words has %d samples", len(pcm))
	}
}

// testShortTexts: one sound, one word, and what has no mark at its end are speech, too, and no noise.
func testShortTexts(t *testing.T, e *kokoro.Engine) {
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, voice := range []string{"hf_beta", "hm_omega"} {
		for _, text := range []string{
			"a", "एक", "ॐ", "क्", "नमस्ते", "नमस्ते।", "no!", "एक?", "हाँ,", "चार पाँच दो एक", "Please hold the line while I check your account",
		} {
			pcm := say(t, w, synth.Options{Voice: voice, Text: text})
			peak := 0
			for _, v := range pcm {
				peak = max(peak, int(v), -int(v))
			}
			if peak < 1000 || peak > 31000 {
				t.Errorf("%s, %q: %d samples with a peak of %d", voice, text, len(pcm), peak)
			}
		}
	}
}

// testOutputThatIsNoNumber ends the chunk with an error and is counted. The worker speaks on.
func testOutputThatIsNoNumber(t *testing.T, e *kokoro.Engine) {
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := synth.Options{Voice: "hf_beta", Text: "नमस्ते, आप कैसे हैं?"}
	if err := e.Break(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Prefill(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for done := false; err == nil && !done; {
		_, done, _, err = w.Next(t.Context(), make([]int16, 4*speech.FrameSamples), 4)
	}
	if err == nil || e.Counters().Broken != 1 {
		t.Errorf("the error is %v, %d were counted; want an error and one", err, e.Counters().Broken)
	}
	o.Text = "धन्यवाद।"
	if len(say(t, w, o)) == 0 {
		t.Error("the worker is silent afterwards")
	}
}

func quiet(v int16) bool { return -163 < v && v < 163 } // 0.005 of the largest

func say(t *testing.T, w synth.Worker, o synth.Options) (pcm []int16) {
	t.Helper()
	if _, err := w.Prefill(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for {
		dst := make([]int16, 4*speech.FrameSamples)
		frames, done, eos, err := w.Next(t.Context(), dst, 4)
		if err != nil || done && !eos {
			t.Fatalf("done %v, eos %v, error %v", done, eos, err)
		}
		if pcm = append(pcm, dst[:frames*speech.FrameSamples]...); done {
			return pcm
		}
	}
}

func open(t testing.TB, dir string, c kokoro.Config) *kokoro.Engine {
	t.Helper()
	c.Bundle, c.Library = dir, orttest.Need(t)
	e, err := kokoro.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
