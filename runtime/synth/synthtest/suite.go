package synthtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

const (
	line  = "नमस्ते, आपका order कल तक पहुँच जाएगा।"
	other = "धन्यवाद, फिर मिलेंगे।"
)

// Run checks that the engines that open returns keep the promises of [synth.Engine] and [synth.Worker]. open
// registers the engine's Close with t.Cleanup; it is called once for each sub-test.
func Run(t *testing.T, open func(t *testing.T) synth.Engine) {
	t.Helper()
	tests := []struct {
		name string
		test func(*testing.T, synth.Engine)
	}{
		{"the model has an id and named voices at 24 kHz", testModel},
		{"every voice speaks whole audible frames", testVoices},
		{"tokens grow with the text", testTokens},
		{"it tells for each part of a text whether it speaks it", testSpeaks},
		{"the same options give the same samples on every worker", testDeterminism},
		{"the decode plan changes no frame count and no sample by more than rounding", testPlans},
		{"a seed matters with temperature and does not without", testSeed},
		{"voices differ", testVoicesDiffer},
		{"a prefill is cached by voice and text", testPrefillCache},
		{"a warm-up is not cached and leaves the worker as it was", testWarmUp},
		{"a new prefill drops the chunk that was being spoken", testPrefillDrops},
		{"words are told at the end of the chunk, in their order and within it", testWordTimes},
		{"a speed of the model's changes the length and nothing else, and others are refused", testSpeeds},
		{"after the end there are no more frames", testAfterEnd},
		{"Next without Prefill fails", testNextFirst},
		{"an unknown voice fails and leaves the worker usable", testUnknownVoice},
		{"a cancelled prefill leaves the worker usable", testCancelPrefill},
		{"a cancelled Next leaves the worker usable and the next audio unchanged", testCancelNext},
		{"workers speak at the same time without changing one another", testConcurrent},
		{"a worker can be closed in the middle of a chunk, and twice", testClose},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

func testModel(t *testing.T, e synth.Engine) {
	m := e.Model()
	if m.ID == "" || len(m.Voices) == 0 {
		t.Fatalf("model = %+v, want an id and voices", m)
	}
	seen := map[string]bool{}
	for _, v := range m.Voices {
		if v.Name == "" || seen[v.Name] {
			t.Errorf("voice name %q is empty or stands twice", v.Name)
		}
		seen[v.Name] = true
		if v.SampleRate != speech.SampleRate || v.PromptFrames <= 0 || v.Language == "" {
			t.Errorf("voice %+v: want sample rate %d, prompt frames and a language", v, speech.SampleRate)
		}
	}
	if !slices.Equal(e.Model().Voices, m.Voices) {
		t.Error("the voices changed between two calls")
	}
}

func testVoices(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	for _, v := range e.Model().Voices {
		o := options(e)
		o.Voice = v.Name
		pcm, eos := speak(t, w, o, synth.FirstFrames, synth.GroupFrames)
		if len(pcm) == 0 || !eos {
			t.Fatalf("%s: %d samples, eos %v; want audio that ends by itself", v.Name, len(pcm), eos)
		}
		if peak := peakOf(pcm); peak < 500 || peak >= 32767 {
			t.Errorf("%s: peak %d, want audible and not clipped", v.Name, peak)
		}
	}
}

func testTokens(t *testing.T, e synth.Engine) {
	if got := e.Tokens(line); got <= 0 {
		t.Errorf("Tokens(%q) = %d, want more than none", line, got)
	}
	if one, two := e.Tokens(line), e.Tokens(line+" "+line); two <= one {
		t.Errorf("%d tokens once, %d twice; want more", one, two)
	}
	if a, b := e.Tokens(line), e.Tokens(line); a != b {
		t.Errorf("the same text has %d and then %d tokens", a, b)
	}
}

func testSpeaks(t *testing.T, e synth.Engine) {
	for _, text := range []string{"", line, other, line + " " + other} {
		if !e.Speaks(text) {
			t.Errorf("it does not speak %q", text)
		}
	}
	for _, foreign := range []string{"你好", "مرحبا", "สวัสดี", "Привет", "Γειά", "안녕", "שלום"} {
		alone := e.Speaks(foreign)
		for _, text := range []string{foreign + " " + line, line + " " + foreign, line + foreign + other} {
			if got := e.Speaks(text); got != alone {
				t.Errorf("Speaks(%q) = %v, but of %q alone %v", text, got, foreign, alone)
			}
		}
		if alone && e.Tokens(foreign) == 0 {
			t.Errorf("it speaks %q, which has no tokens", foreign)
		}
	}
}

func testDeterminism(t *testing.T, e synth.Engine) {
	o := options(e)
	a, b := newWorker(t, e), newWorker(t, e)
	want, _ := speak(t, a, o, 1, 4)
	wantSame(t, "on the same worker, from the cache", a, o, want)
	wantSame(t, "on another worker", b, o, want)
	o2 := o
	o2.Text = other
	speak(t, b, o2, 1, 4)
	wantSame(t, "after another chunk", b, o, want)
}

func testPlans(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	want, _ := speak(t, w, options(e), 1, 4)
	for _, plan := range [][2]int{{1, 1}, {4, 4}, {3, 7}} {
		got, _ := speak(t, w, options(e), plan[0], plan[1])
		if len(got) != len(want) {
			t.Errorf("plan %v: %d samples, want %d", plan, len(got), len(want))
			continue
		}
		for i := range got {
			if d := int(got[i]) - int(want[i]); d < -1 || d > 1 {
				t.Errorf("plan %v: sample %d is %d, want %d", plan, i, got[i], want[i])
				break
			}
		}
	}
}

func testSeed(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	o := options(e)
	o.Temperature = 1
	a, _ := speak(t, w, o, 1, 4)
	o.Seed++
	if b, _ := speak(t, w, o, 1, 4); slices.Equal(a, b) {
		t.Error("two seeds at temperature 1 sound the same")
	}
	o.Temperature = 0
	a, _ = speak(t, w, o, 1, 4)
	o.Seed++
	if b, _ := speak(t, w, o, 1, 4); !slices.Equal(a, b) {
		t.Error("two seeds at temperature 0 differ")
	}
}

func testVoicesDiffer(t *testing.T, e synth.Engine) {
	voices := e.Model().Voices
	if len(voices) < 2 {
		t.Skip("the model has one voice")
	}
	w := newWorker(t, e)
	o := options(e)
	a, _ := speak(t, w, o, 1, 4)
	o.Voice = voices[1].Name
	if b, _ := speak(t, w, o, 1, 4); slices.Equal(a, b) {
		t.Errorf("%s and %s sound the same", voices[0].Name, voices[1].Name)
	}
}

func testPrefillCache(t *testing.T, e synth.Engine) {
	a, b := newWorker(t, e), newWorker(t, e)
	voices := e.Model().Voices
	prefill := func(w synth.Worker, voice, text string, want bool, when string) {
		t.Helper()
		o := options(e)
		o.Voice, o.Text = voice, text
		got, err := w.Prefill(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: cached = %v, want %v", when, got, want)
		}
	}
	prefill(a, voices[0].Name, line, false, "the first time")
	prefill(a, voices[0].Name, line, true, "the second time")
	prefill(b, voices[0].Name, line, true, "on another worker")
	prefill(a, voices[0].Name, other, false, "another text")
	if len(voices) > 1 {
		prefill(a, voices[1].Name, line, false, "another voice")
	}
}

func testWarmUp(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	o := options(e)
	o.WarmUp = true
	for range 2 {
		if cached, err := w.Prefill(t.Context(), o); cached || err != nil {
			t.Fatalf("a warm-up: cached %v, error %v; want false, nil", cached, err)
		}
		if frames, _, _, err := w.Next(t.Context(), make([]int16, speech.FrameSamples), 1); frames != 1 || err != nil {
			t.Fatalf("a warm-up: %d frames, error %v; want one", frames, err)
		}
	}
	if cached, err := w.Prefill(t.Context(), options(e)); cached || err != nil {
		t.Errorf("the same text after it: cached %v, error %v; want false, nil", cached, err)
	}
	want, _ := speak(t, newWorker(t, e), options(e), 1, 4)
	wantSame(t, "after the warm-up", w, options(e), want)
}

func testPrefillDrops(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	want, _ := speak(t, w, options(e), 1, 4)
	o := options(e)
	o.Text = other
	if _, err := w.Prefill(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := w.Next(t.Context(), make([]int16, speech.FrameSamples), 1); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "after a chunk that was dropped", w, options(e), want)
}

func testAfterEnd(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	_, eos := speak(t, w, options(e), 1, 4)
	frames, done, eos2, err := w.Next(t.Context(), make([]int16, speech.FrameSamples), 1)
	if frames != 0 || !done || eos2 != eos || err != nil {
		t.Errorf("Next after the end = %d, %v, %v, %v; want 0, true, %v, nil", frames, done, eos2, err, eos)
	}
}

func testNextFirst(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	if frames, _, _, err := w.Next(t.Context(), make([]int16, speech.FrameSamples), 1); frames != 0 || err == nil {
		t.Errorf("Next = %d frames, error %v; want an error", frames, err)
	}
}

func testUnknownVoice(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	o := options(e)
	o.Voice = "nobody"
	if _, err := w.Prefill(t.Context(), o); err == nil {
		t.Error("Prefill with an unknown voice succeeded")
	}
	if pcm, _ := speak(t, w, options(e), 1, 4); len(pcm) == 0 {
		t.Error("the worker is silent afterwards")
	}
}

func testCancelPrefill(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	want, _ := speak(t, w, options(e), 1, 4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Prefill(ctx, options(e)); !errors.Is(err, context.Canceled) {
		t.Errorf("Prefill = %v, want context.Canceled", err)
	}
	wantSame(t, "after the cancelled prefill", w, options(e), want)
}

func testCancelNext(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	want, _ := speak(t, w, options(e), 1, 4)
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, err := w.Prefill(ctx, options(e)); err != nil {
		t.Fatal(err)
	}
	dst := make([]int16, 4*speech.FrameSamples)
	if frames, _, _, err := w.Next(ctx, dst, 1); frames != 1 || err != nil {
		t.Fatalf("Next = %d, %v", frames, err)
	}
	cancel(speech.ErrTimeout)
	frames, done, _, err := w.Next(ctx, dst, 4)
	if !errors.Is(err, speech.ErrTimeout) && !errors.Is(err, context.Canceled) || done || frames > 1 {
		t.Errorf("Next after the cancel = %d frames, done %v, %v; want at most one frame and the cause", frames, done,
			err)
	}
	wantSame(t, "after the cancelled chunk", w, options(e), want)
}

func testConcurrent(t *testing.T, e synth.Engine) {
	want := map[string][]int16{}
	alone := newWorker(t, e)
	for _, text := range []string{line, other} {
		o := options(e)
		o.Text = text
		want[text], _ = speak(t, alone, o, 1, 4)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		w, o := newWorker(t, e), options(e)
		if i%2 == 1 {
			o.Text = other
		}
		wg.Go(func() {
			for range 3 {
				got, _, err := trySpeak(t.Context(), w, o, 1, 4)
				if err != nil || !slices.Equal(got, want[o.Text]) {
					t.Errorf("worker %d: %d samples (error %v), want the %d it speaks alone", i, len(got), err,
						len(want[o.Text]))
				}
			}
		})
	}
	wg.Wait()
}

func testClose(t *testing.T, e synth.Engine) {
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Prefill(t.Context(), options(e)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := w.Next(t.Context(), make([]int16, speech.FrameSamples), 1); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func testWordTimes(t *testing.T, e synth.Engine) {
	w := newWorker(t, e)
	want, pcm := wordsOf(t, w, options(e), 1, 4)
	if want == nil {
		t.Skip("the model does not tell")
	}
	checkWords(t, want, line, len(pcm))
	if got, _ := wordsOf(t, newWorker(t, e), options(e), 3, 7); !slices.Equal(got, want) {
		t.Errorf("on another worker, by another plan: %v, want %v", got, want)
	}
	o := options(e)
	o.Text = other
	got, pcm := wordsOf(t, w, o, 1, 4)
	checkWords(t, got, other, len(pcm))
	if again, _ := wordsOf(t, w, options(e), 1, 4); !slices.Equal(again, want) {
		t.Errorf("after another chunk, from the cache: %v, want %v", again, want)
	}
}

func checkWords(t *testing.T, words []synth.WordTime, text string, samples int) {
	t.Helper()
	from, at, fields := 0, 0, 0
	for _, w := range words {
		if w.From < from || w.To <= w.From || w.To > len(text) || w.Start < at || w.End < w.Start || w.End > samples {
			t.Errorf("%+v behind byte %d and sample %d, of %d bytes and %d samples", w, from, at, len(text), samples)
			return
		}
		from, at = w.To, w.End
		fields += len(strings.Fields(text[w.From:w.To]))
	}
	if want := len(strings.Fields(text)); fields != want || at == 0 {
		t.Errorf("words of %d of the %d parts of %q, until sample %d", fields, want, text, at)
	}
}

func testSpeeds(t *testing.T, e synth.Engine) {
	speeds := e.Model().Speeds
	if speeds == (speech.Speeds{}) {
		t.Skip("the model has one speed")
	}
	w := newWorker(t, e)
	words, pcm := wordsOf(t, w, options(e), 1, 4)
	for _, speed := range []float64{speeds.Min, .75, 1, 1.25, speeds.Max} {
		if !speeds.Has(speed) {
			continue
		}
		o := options(e)
		o.Speed = speed
		for _, want := range []bool{speed == 1, true} {
			if cached, err := w.Prefill(t.Context(), o); cached != want || err != nil {
				t.Fatalf("speed %g: cached %v, error %v, want %v", speed, cached, err, want)
			}
		}
		fast, got := wordsOf(t, w, o, 1, 4)
		want := float64(len(pcm)) / speed
		if off := math.Abs(float64(len(got)) - want); off > .05*want+speech.FrameSamples {
			t.Errorf("speed %g: %d samples, want %.0f", speed, len(got), want)
		}
		if len(fast) != len(words) {
			t.Errorf("speed %g: %d words, want %d", speed, len(fast), len(words))
		}
		for i := range fast {
			want := float64(words[i].Start+words[i].End) / 2 / speed
			if off := math.Abs(float64(fast[i].Start+fast[i].End)/2 - want); off > .05*want+speech.FrameSamples {
				t.Errorf("speed %g: %v, want its middle at sample %.0f", speed, fast[i], want)
			}
		}
	}
	for _, speed := range []float64{speeds.Min - .01, speeds.Max + .01, -1} {
		o := options(e)
		o.Speed = speed
		if _, err := w.Prefill(t.Context(), o); !errors.Is(err, speech.ErrBadSpeed) {
			t.Errorf("Prefill at speed %g = %v, want a refusal", speed, err)
		}
	}
	wantSame(t, "after other speeds", w, options(e), pcm)
}

// wordsOf speaks a chunk and returns its words, nil where they are not told.
func wordsOf(t *testing.T, w synth.Worker, o synth.Options, first, group int) ([]synth.WordTime, []int16) {
	t.Helper()
	if _, err := w.Prefill(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if words, ok := synth.WordTimes(w); ok {
		t.Errorf("the chunk has only begun, and %v are told", words)
	}
	pcm, _ := speak(t, w, o, first, group)
	words, _ := synth.WordTimes(w)
	return words, pcm
}

func options(e synth.Engine) synth.Options {
	return synth.Options{Voice: e.Model().Voices[0].Name, Text: line, Seed: 7, Temperature: .3}
}

func newWorker(t *testing.T, e synth.Engine) synth.Worker {
	t.Helper()
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("closing a worker: %v", err)
		}
	})
	return w
}

func speak(t *testing.T, w synth.Worker, o synth.Options, first, group int) (pcm []int16, eos bool) {
	t.Helper()
	pcm, eos, err := trySpeak(t.Context(), w, o, first, group)
	if err != nil {
		t.Fatal(err)
	}
	return pcm, eos
}

func trySpeak(ctx context.Context, w synth.Worker, o synth.Options, first,
	group int) (pcm []int16, eos bool, err error) {
	if _, err := w.Prefill(ctx, o); err != nil {
		return nil, false, err
	}
	n := first
	dst := make([]int16, max(first, group)*speech.FrameSamples)
	for {
		frames, done, eos, err := w.Next(ctx, dst, n)
		if err != nil {
			return nil, false, err
		}
		if frames < n && !done {
			return nil, false, errors.New("a short group before the end")
		}
		pcm = append(pcm, dst[:frames*speech.FrameSamples]...)
		if done {
			return pcm, eos, nil
		}
		n = group
	}
}

func wantSame(t *testing.T, when string, w synth.Worker, o synth.Options, want []int16) {
	t.Helper()
	if got, _ := speak(t, w, o, 1, 4); !slices.Equal(got, want) {
		t.Errorf("%s: %d samples that are not the %d of before", when, len(got), len(want))
	}
}

func peakOf(pcm []int16) int {
	peak := 0
	for _, s := range pcm {
		peak = max(peak, int(s), -int(s))
	}
	return peak
}
