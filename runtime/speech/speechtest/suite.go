package speechtest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
)

const text = "Namaste! Aapka order kal tak deliver ho jayega. Total ₹499 hai, aur OTP 482913 kisi ko mat batana."

// Run checks that the speakers that open returns keep the promises of [speech.Speaker]. open returns a speaker with at
// least one ready worker and a model that speaks Hindi and English but no Chinese, and registers its end with
// t.Cleanup; it is called once for each sub-test.
func Run(t *testing.T, open func(t *testing.T) speech.Speaker) {
	t.Helper()
	tests := []struct {
		name string
		test func(*testing.T, speech.Speaker)
	}{
		{"events and stats agree", testEvents},
		{"what is spoken is what Normalize shows", testPreview},
		{"one frame leaves first, then up to four", testPlan},
		{"who is ready says so", testReady},
		{"the same utterance gives the same audio", testSame},
		{"every format is written", testFormats},
		{"what cannot be spoken is refused before anything reaches the sink", testRefusals},
		{"what of a text cannot be spoken is left out and named", testUnspoken},
		{"a cancel stops within one frame and frees the worker", testCancel},
		{"an ended context speaks nothing", testEnded},
		{"the sink's error ends the utterance and is returned", testSinkError},
		{"raw text is spoken as it is", testRaw},
		{"a disclosure is spoken before the text, whose chunks stay as they are", testDisclosure},
		{"words have times where they are asked for", testWordTimes},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

func utterance(f speech.Format) speech.Utterance {
	return speech.Utterance{RequestID: "req_test", Text: text, Voice: speech.DefaultVoice, Format: f, Temperature: .3,
		Seed: 42}
}

func speak(t *testing.T, s speech.Speaker, u speech.Utterance) (*Recorder, speech.Stats) {
	t.Helper()
	r := &Recorder{}
	st, err := s.Speak(t.Context(), u, speech.Turn{}, r)
	if err != nil {
		t.Fatal(err)
	}
	return r, st
}

func testEvents(t *testing.T, s speech.Speaker) {
	u := utterance(speech.PCM16)
	r, st := speak(t, s, u)
	if len(r.Started) != 1 || len(r.Chunks) == 0 || len(r.Ends) != len(r.Chunks) {
		t.Fatalf("%d starts, %d chunks, %d ends; want one start and an end for every chunk", len(r.Started),
			len(r.Chunks), len(r.Ends))
	}
	start := r.Started[0]
	if start.Voice != u.Voice || start.Format != u.Format || start.Seed != u.Seed {
		t.Errorf("Start = %+v, want what was asked", start)
	}
	if start.Chunks != len(r.Chunks) || start.Model != s.Model().ID {
		t.Errorf("Start = %+v, want %d chunks of model %s", start, len(r.Chunks), s.Model().ID)
	}
	frames := 0
	for _, e := range r.Ends {
		frames += e.Frames
		if e.Frames == 0 || !e.EOS {
			t.Errorf("chunk end %+v: want frames and its own end", e)
		}
	}
	if r.Frames() != frames || st.Frames != frames || len(r.Bytes()) != frames*speech.FrameBytes {
		t.Errorf("frames: blocks %d, ends %d, stats %d, bytes %d; want all equal", r.Frames(), frames, st.Frames,
			len(r.Bytes())/speech.FrameBytes)
	}
	if !st.Started || st.Chunks != len(r.Chunks) || st.Chars != utf8.RuneCountInString(start.Normalized) {
		t.Errorf("stats = %+v do not fit the utterance", st)
	}
	if st.TTFA <= 0 || st.Synth <= 0 || st.Wall < st.Synth { // Synth may be less than TTFA, which counts waiting
		t.Errorf("stats = %+v do not fit one another", st)
	}
	if st.RTF() <= 0 {
		t.Errorf("RTF = %v, want more than 0", st.RTF())
	}
}

func testPreview(t *testing.T, s speech.Speaker) {
	r, _ := speak(t, s, utterance(speech.PCM16))
	n, err := s.Normalize(t.Context(), speech.Utterance{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if n.Text != r.Started[0].Normalized {
		t.Errorf("spoken %q, shown %q", r.Started[0].Normalized, n.Text)
	}
	if !slices.Equal(n.Chunks, r.Chunks) {
		t.Errorf("spoken %+v, shown %+v", r.Chunks, n.Chunks)
	}
	if n.InputChars != utf8.RuneCountInString(text) {
		t.Errorf("InputChars = %d", n.InputChars)
	}
	runes := []rune(n.Text)
	for _, c := range n.Chunks {
		if got := string(runes[c.CharStart:c.CharEnd]); got != c.Text || c.Tokens > speech.MaxChunkTokens {
			t.Errorf("chunk %+v: its offsets hold %q", c, got)
		}
	}
}

func testPlan(t *testing.T, s speech.Speaker) {
	r, _ := speak(t, s, utterance(speech.PCM16))
	for i, b := range r.Blocks {
		if len(b.Data) != b.Frames*speech.FrameBytes {
			t.Errorf("block %d: %d bytes for %d frames", i, len(b.Data), b.Frames)
		}
		switch {
		case i == 0 && (b.Frames != 1 || b.FirstFrame <= 0):
			t.Errorf("the first block holds %d frames after %v, want one frame and its time", b.Frames, b.FirstFrame)
		case i > 0 && (b.Frames > 4 || b.FirstFrame != 0):
			t.Errorf("block %d holds %d frames, time %v; want at most four and no time", i, b.Frames, b.FirstFrame)
		}
	}
}

func testSame(t *testing.T, s speech.Speaker) {
	a, _ := speak(t, s, utterance(speech.PCM16))
	b, st := speak(t, s, utterance(speech.PCM16))
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("%d bytes, then %d other ones", len(a.Bytes()), len(b.Bytes()))
	}
	if !st.PrefillCached || !b.Ends[0].PrefillCached {
		t.Error("the second time the prefill did not come from the cache")
	}
	u := utterance(speech.PCM16)
	u.Seed++
	if c, _ := speak(t, s, u); bytes.Equal(a.Bytes(), c.Bytes()) {
		t.Error("another seed gives the same audio")
	}
}

func testFormats(t *testing.T, s speech.Speaker) {
	for format, head := range map[speech.Format]string{speech.WAV: "RIFF\xff\xff\xff\xffWAVE", speech.Opus: "OggS"} {
		r, st := speak(t, s, utterance(format))
		if got := r.Bytes(); !strings.HasPrefix(string(got), head) {
			t.Errorf("%s begins with %q, want %q", format, got[:min(len(got), 12)], head)
		}
		if r.Frames() != st.Frames {
			t.Errorf("%s: blocks hold %d frames, stats %d", format, r.Frames(), st.Frames)
		}
		if format == speech.Opus {
			last := r.Blocks[len(r.Blocks)-1].Data
			page := bytes.LastIndex(last, []byte("OggS"))
			if page < 0 || last[page+5]&4 == 0 {
				t.Error("the last page of the opus stream does not say that it is the end")
			}
		}
	}
}

func testRefusals(t *testing.T, s speech.Speaker) {
	tests := map[string]struct {
		change func(*speech.Utterance)
		want   error
	}{
		"an unknown voice":      {func(u *speech.Utterance) { u.Voice = "rani" }, speech.UnknownVoice("rani")},
		"an unknown format":     {func(u *speech.Utterance) { u.Format = "mp3" }, speech.ErrBadFormat},
		"only punctuation":      {func(u *speech.Utterance) { u.Text = "… !!" }, speech.ErrNothingToSay},
		"only punctuation, raw": {func(u *speech.Utterance) { u.Text, u.Raw = "… !!", true }, speech.ErrNothingToSay},
		"only an emoji":         {func(u *speech.Utterance) { u.Text = "🎉" }, speech.ErrNothingToSay},
		"another script":        {func(u *speech.Utterance) { u.Text = "你好。" }, speech.ErrNothingToSay},
		"nothing but a disclosure": {
			func(u *speech.Utterance) { u.Text, u.Disclosure = "!", "Namaste." }, speech.ErrNothingToSay,
		},
		"a disclosure in another script": {func(u *speech.Utterance) { u.Disclosure = "你好。" }, speech.ErrBadDisclosure},
		"another script, raw":            {func(u *speech.Utterance) { u.Text, u.Raw = "你好。", true }, speech.ErrNothingToSay},
		"too many chunks": {
			func(u *speech.Utterance) {
				u.Text, u.Raw = strings.Repeat("नौ, ", 1000)+strings.Repeat("9", 3000), true
			}, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			u := utterance(speech.PCM16)
			tt.change(&u)
			r := &Recorder{}
			st, err := s.Speak(t.Context(), u, speech.Turn{}, r)
			if tt.want == nil {
				// the number of chunks depends on the engine's tokens: it is checked where they are known
				if err != nil && !errors.Is(err, speech.TooManyChunks(0)) {
					t.Errorf("Speak = %v", err)
				}
				return
			}
			if !errors.Is(err, tt.want) || st.Started || st.Frames != 0 || len(r.Started) != 0 {
				t.Errorf("Speak = %+v, %v after %d starts; want %v and nothing else", st, err, len(r.Started), tt.want)
			}
		})
	}
}

func testUnspoken(t *testing.T, s speech.Speaker) {
	u := utterance(speech.PCM16)
	want, _ := speak(t, s, u)
	if got := want.Started[0].Unspoken; got != "" {
		t.Errorf("%q was not spoken, want everything", got)
	}
	u.Text = "你好, " + text + " 你们好"
	got, _ := speak(t, s, u)
	st, same := got.Started[0], bytes.Equal(got.Bytes(), want.Bytes())
	if st.Unspoken != "你好们" || st.Normalized != want.Started[0].Normalized || !same {
		t.Errorf("spoke %q without %q, want the rest as it sounds alone, without 你好们", st.Normalized, st.Unspoken)
	}
	n, err := s.Normalize(t.Context(), speech.Utterance{Text: u.Text})
	if err != nil || n.Unspoken != "你好们" || n.Text != got.Started[0].Normalized || !slices.Equal(n.Chunks, got.Chunks) {
		t.Errorf("Normalize = %+v, %v; want what was spoken and what was not", n, err)
	}
	n, err = s.Normalize(t.Context(), speech.Utterance{Text: "你好。"})
	if err != nil || n.Text != "" || n.Unspoken != "你好" || len(n.Chunks) != 0 {
		t.Errorf("Normalize = %+v, %v; want nothing but 你好 unspoken", n, err)
	}
}

func testCancel(t *testing.T, s speech.Speaker) {
	ctx, cancel := context.WithCancelCause(t.Context())
	sent := 0
	r := &Recorder{OnAudio: func(a speech.Audio) error {
		if sent += a.Frames; sent >= 5 {
			cancel(speech.ErrClientGone)
		}
		return nil
	}}
	u := utterance(speech.PCM16)
	u.Text = strings.Repeat(u.Text+" ", 8)
	st, err := s.Speak(ctx, u, speech.Turn{}, r)
	if !errors.Is(err, speech.ErrClientGone) {
		t.Errorf("Speak = %v, want the cause of the cancel", err)
	}
	if r.Frames() != sent || st.Frames < sent || st.Frames > sent+1 {
		t.Errorf("%d frames decoded, %d sent after the cancel at %d; want at most one more", st.Frames, r.Frames(),
			sent)
	}
	if c := s.Capacity(); c.Busy != 0 {
		t.Errorf("%d workers are still busy", c.Busy)
	}
	speak(t, s, utterance(speech.PCM16))
}

func testEnded(t *testing.T, s speech.Speaker) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &Recorder{}
	st, err := s.Speak(ctx, utterance(speech.PCM16), speech.Turn{}, r)
	if !errors.Is(err, context.Canceled) || st.Frames != 0 || len(r.Started) != 0 {
		t.Errorf("Speak = %+v, %v; want context.Canceled and nothing spoken", st, err)
	}
}

func testSinkError(t *testing.T, s speech.Speaker) {
	broken := errors.New("broken pipe")
	r := &Recorder{OnAudio: func(speech.Audio) error { return broken }}
	st, err := s.Speak(t.Context(), utterance(speech.Opus), speech.Turn{}, r)
	if !errors.Is(err, broken) || st.Frames != 1 || len(r.Blocks) != 1 {
		t.Errorf("Speak = %+v, %v after %d blocks; want the sink's error after one", st, err, len(r.Blocks))
	}
	if c := s.Capacity(); c.Busy != 0 {
		t.Errorf("%d workers are still busy", c.Busy)
	}
}

func testRaw(t *testing.T, s speech.Speaker) {
	u := utterance(speech.PCM16)
	u.Text, u.Raw = "  yah  waise hi\n bolna ", true
	r, _ := speak(t, s, u)
	if got, want := r.Started[0].Normalized, "yah waise hi bolna"; got != want {
		t.Errorf("spoken %q, want %q", got, want)
	}
}

func testDisclosure(t *testing.T, s speech.Speaker) {
	const disclosure = "Yeh AI ki awaaz hai, OTP 12 nahi."
	own, err := s.Normalize(t.Context(), speech.Utterance{Text: disclosure})
	if err != nil {
		t.Fatal(err)
	}
	for name, u := range map[string]speech.Utterance{
		"normalised":          {Text: text},
		"with English digits": {Text: text, EnDigits: true},
		"raw":                 {Text: "yah waise hi bolna", Raw: true},
	} {
		u.Voice, u.Format = speech.DefaultVoice, speech.PCM16
		bare, _ := speak(t, s, u)
		u.Disclosure = disclosure
		r, st := speak(t, s, u)
		start, before := r.Started[0], utf8.RuneCountInString(own.Text)+1
		if start.Disclosure != own.Text || start.Normalized != own.Text+" "+bare.Started[0].Normalized {
			t.Errorf("%s: spoke %q after %q, want %q before the text", name, start.Normalized, start.Disclosure,
				own.Text)
		}
		want := slices.Clone(own.Chunks)
		for _, c := range bare.Chunks {
			c.Index, c.CharStart, c.CharEnd = len(want), c.CharStart+before, c.CharEnd+before
			want = append(want, c)
		}
		if !slices.Equal(r.Chunks, want) || start.Chunks != len(want) {
			t.Errorf("%s: %d chunks %+v, want %+v", name, start.Chunks, r.Chunks, want)
		}
		if st.Chars != utf8.RuneCountInString(start.Normalized) || st.Frames != r.Frames() ||
			st.Frames <= bare.Frames() {
			t.Errorf("%s: stats %+v do not count the disclosure", name, st)
		}
		if u.Raw {
			continue
		}
		n, err := s.Normalize(t.Context(), u)
		shown := n.Text == start.Normalized && n.Disclosure == start.Disclosure && slices.Equal(n.Chunks, r.Chunks)
		if err != nil || !shown || n.InputChars != utf8.RuneCountInString(text) {
			t.Errorf("%s: Normalize = %+v, %v; want what was spoken", name, n, err)
		}
		for _, span := range n.Spans {
			if written := []rune(text); span.End > len(written) {
				t.Errorf("%s: %+v is not a piece of the text", name, span)
			}
		}
	}
}

func testWordTimes(t *testing.T, s speech.Speaker) {
	u := utterance(speech.Opus)
	plain, _ := speak(t, s, u)
	for _, e := range plain.Ends {
		if plain.Started[0].WordTimes || e.Words != nil {
			t.Errorf("nobody has asked for words, and chunk %d has %+v", e.Chunk, e.Words)
		}
	}
	u.WordTimes, u.Disclosure = true, "Yeh AI ki awaaz hai."
	r, _ := speak(t, s, u)
	if !r.Started[0].WordTimes {
		t.Error("the start does not say that there are words")
	}
	normalized, frames, at := []rune(r.Started[0].Normalized), 0, time.Duration(0)
	for i, e := range r.Ends {
		var words []string
		for _, w := range e.Words {
			words = append(words, w.Text)
			if here := string(normalized[w.CharStart:w.CharEnd]); here != w.Text {
				t.Errorf("%q stands where %q should", here, w.Text)
			}
			if w.Start < max(at, time.Duration(frames)*speech.FrameDuration) || w.End < w.Start {
				t.Errorf("%+v begins before the chunk, or what is before it has ended at %v", w, at)
			}
			at = w.End
		}
		frames += e.Frames
		if at > time.Duration(frames)*speech.FrameDuration {
			t.Errorf("chunk %d has ended when a word ends at %v", i, at)
		}
		got, want := strings.Join(words, " "), r.Chunks[i].Text
		if letters(got) != letters(want) {
			t.Errorf("the words of chunk %d are %q, want those of %q", i, got, want)
		}
	}
}

// letters are what is left of text without the marks in it.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) {
			return -1
		}
		return r
	}, text)
}

func testReady(t *testing.T, s speech.Speaker) {
	if err := s.Ready(); err != nil && !errors.Is(err, speech.ErrWarming) {
		t.Errorf("Ready = %v, want nil, or ErrWarming while there are workers to warm", err)
	}
	if len(s.Model().Voices) == 0 {
		t.Error("a speaker that has a worker knows no model")
	}
}
