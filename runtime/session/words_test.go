package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestWordsAreFoundWhereTheyAreSpoken(t *testing.T) {
	for text, want := range map[string]string{
		"Aapka OTP 482913 hai.":         "Aapka|Aapka OTP|ओ टी पी 482913|चार आठ दो नौ एक तीन hai.|hai",
		"Kul ₹499 hain, aur - bas!":     "Kul|Kul ₹499|चार सौ निन्यानबे रुपये hain,|hain aur|aur bas!|bas",
		"Namaste\nji, namaste ji 😀":     "Namaste|Namaste ji,|ji namaste|namaste ji|ji",
		"नमस्ते। \"Kaise\" ho?":         "नमस्ते।|नमस्ते \"Kaise\"|Kaise ho?|ho",
		"Rs 500 aur Rs 500 hai hai hai": "",
	} {
		spoken := []rune(normalize.Text(text, normalize.Options{}))
		var got []string
		last := 0
		for _, w := range align(speech.Utterance{Text: text}) {
			said := strings.TrimFunc(string(spoken[w.from:w.to]), unicode.IsPunct)
			got = append(got, w.text+"|"+said)
			if w.from < last {
				t.Errorf("%q: %q goes back", text, w.text)
			}
			last = w.from
		}
		if s := strings.Join(got, " "); want != "" && s != want {
			t.Errorf("%q\n got %s\nwant %s", text, s, want)
		}
		if want == "" && len(got) != 8 {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestSourceWordsHaveTheTimesOfWhatTheyBecame: the speaker says one word a frame.
func TestSourceWordsHaveTheTimesOfWhatTheyBecame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speak := func(_ context.Context, u speech.Utterance, _ speech.Turn, sink speech.Sink) (st speech.Stats,
			err error) {
			text := strings.TrimSpace(u.Disclosure + " " + normalize.Text(u.Text, normalize.Options{}))
			_ = sink.Start(speech.Start{Chunks: 1, Normalized: text, Disclosure: u.Disclosure})
			_ = sink.ChunkStart(speech.Chunk{Text: text, CharEnd: len([]rune(text))})
			var all []speech.Word
			for _, w := range words(text, false) {
				_ = sink.Audio(speech.Audio{Frames: 1})
				at := time.Duration(st.Frames) * speech.FrameDuration
				all = append(all, speech.Word{Text: w.text, CharStart: w.start, CharEnd: w.end, Start: at,
					End: at + speech.FrameDuration})
				st.Frames++
			}
			st.Started = true
			return st, sink.ChunkEnd(speech.ChunkEnd{Frames: st.Frames, EOS: true, Words: all})
		}
		s := New(Config{Speak: speak, SourceWords: true, Utterance: speech.Utterance{Disclosure: "Main hoon."}})
		must(t, s.Append("Aapka OTP 407 hai bhai. Kul Rs 500 hain. ", Exact))
		s.Finish()
		sink := &heard{}
		if _, err := s.Speak(t.Context(), sink); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range sink.source {
			got = append(got, fmt.Sprintf("%s %d-%d", w.Text, w.Start/speech.FrameDuration, w.End/speech.FrameDuration))
		}
		want := "Aapka 2-3, OTP 3-6, 407 6-9, hai 9-10, bhai. 10-11, Kul 11-12, Rs 12-13, 500 13-15, hain. 15-16"
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got  %s\nwant %s", s, want)
		}
		if len(sink.words) != 16 || sink.words[0].Text != "Main" {
			t.Errorf("the words that are spoken are %v, want all 16", sink.words)
		}
	})
}
