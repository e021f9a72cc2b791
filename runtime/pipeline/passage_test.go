package pipeline_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func ssmlOf(document string) speech.Utterance {
	return speech.Utterance{Text: document, SSML: true, Voice: "raj", Format: speech.PCM16}
}

// TestBreaksAreSilence: a break is a chunk of its own, of exactly as many frames of zeros, which are counted as all
// are.
func TestBreaksAreSilence(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{})
	for name, tt := range map[string]struct {
		document string
		silent   []int // frames of each chunk that is silent; 0: it speaks
		text     string
	}{
		"between":     {`<speak>नमस्ते<break time="400ms"/>दोस्त</speak>`, []int{0, 5, 0}, "नमस्ते दोस्त"},
		"in front":    {`<speak><break time="80ms"/>नमस्ते</speak>`, []int{1, 0}, "नमस्ते"},
		"behind":      {`<speak>नमस्ते<break time="1s"/></speak>`, []int{0, 13}, "नमस्ते"},
		"two of them": {`<speak>नमस्ते<break/><break/>दोस्त</speak>`, []int{0, 5, 5, 0}, "नमस्ते दोस्त"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &speechtest.Recorder{}
			u := ssmlOf(tt.document)
			u.WordTimes = true
			st, err := s.Speak(t.Context(), u, speech.Turn{}, r)
			if err != nil {
				t.Fatal(err)
			}
			frames := 0
			for i, end := range r.Ends {
				frames += end.Frames
				if tt.silent[i] > 0 && (end.Frames != tt.silent[i] || r.Chunks[i].Silence != tt.silent[i] || !end.EOS ||
					len(end.Words) > 0) {
					t.Errorf("chunk %d is %+v and ends with %+v, want %d silent frames", i, r.Chunks[i], end,
						tt.silent[i])
				}
			}
			for _, b := range r.Blocks {
				if isHeard := slices.ContainsFunc(b.Data,
					func(b byte) bool { return b != 0 }); isHeard == (tt.silent[b.Chunk] > 0) {
					t.Errorf("a block of chunk %d is heard: %v", b.Chunk, isHeard)
				}
			}
			if st.Frames != frames || st.Chunks != len(tt.silent) || len(r.Ends) != len(tt.silent) {
				t.Errorf("%d frames in %d chunks are counted, %d in %d were sent", st.Frames, st.Chunks, frames,
					len(r.Ends))
			}
			if got := r.Started[0]; got.Normalized != tt.text || got.Chunks != len(tt.silent) {
				t.Errorf("it began with %+v, want %d chunks of %q", got, len(tt.silent), tt.text)
			}
			n, err := s.Normalize(t.Context(), u)
			if err != nil || n.Text != tt.text || !slices.Equal(n.Chunks, r.Chunks) {
				t.Errorf("Normalize = %+v, %v, want the chunks %+v", n, err, r.Chunks)
			}
		})
	}
}

func TestMarkupIsRead(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{})
	entries, _ := lexicon.Clean([]lexicon.Entry{{Word: "Zepto", Spoken: "ज़ेप्टो"}})
	u := ssmlOf(`<speak>आपका <say-as interpret-as="digits">4821</say-as> <break/> <sub alias="पेन">Zepto</sub> Zepto &amp; नमस्ते</speak>`)
	u.Lexicon, u.Disclosure = lexicon.Compile("lex_1", 1, entries), "नमस्ते।"
	n, err := s.Normalize(t.Context(), u)
	if want := "नमस्ते। आपका चार आठ दो एक पेन ज़ेप्टो और नमस्ते"; err != nil || n.Text != want {
		t.Fatalf("read %q, %v, want %q", n.Text, err, want)
	}
	in, out := []rune(u.Text), []rune(n.Text)
	var got []string
	for _, span := range n.Spans {
		read, spoken := string(in[span.Start:span.End]), string(out[span.OutStart:span.OutEnd])
		got = append(got, string(span.Kind)+" "+read+" "+spoken)
	}
	want := []string{"code 4821 चार आठ दो एक", "alias Zepto पेन", "lexicon Zepto ज़ेप्टो", "sign &amp; और"}
	if !slices.Equal(got, want) {
		t.Errorf("the spans are %q, want %q", got, want)
	}
}

func TestMarkupIsRefused(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{})
	for name, tt := range map[string]struct {
		document string
		code     speech.Code
	}{
		"an element":     {`<speak><voice>a</voice></speak>`, speech.CodeUnsupportedSSML},
		"a pitch":        {`<speak><prosody pitch="high">नमस्ते</prosody></speak>`, speech.CodeUnsupportedSSML},
		"silence alone":  {`<speak><break/></speak>`, speech.CodeNothingToSay},
		"no text at all": {`<speak/>`, speech.CodeNothingToSay},
		"many chunks":    {`<speak>` + strings.Repeat("नमस्ते<break/>", 32) + "नमस्ते</speak>", speech.CodeTooManyChunks},
	} {
		t.Run(name, func(t *testing.T) {
			r := &speechtest.Recorder{}
			_, err := s.Speak(t.Context(), ssmlOf(tt.document), speech.Turn{}, r)
			if refusal, ok := errors.AsType[*speech.Refusal](err); !ok || refusal.Code != tt.code ||
				len(r.Started) > 0 {
				t.Errorf("the error is %v, want %s", err, tt.code)
			}
		})
	}
	if _, err := s.Speak(t.Context(), ssmlOf(`<speak>`+strings.Repeat("नमस्ते<break/>", 32)+"</speak>"), speech.Turn{},
		&speechtest.Recorder{}); err != nil {
		t.Errorf("64 chunks: %v", err)
	}
}
