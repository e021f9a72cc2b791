package wire

import (
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestOfALexiconTheWordsOfTheTextTravel(t *testing.T) {
	zepto, att := lexicon.Entry{Word: "Zepto", Spoken: "ज़ेप्टो", Lang: "hi"},
		lexicon.Entry{Word: "AT&T", Spoken: "ए टी टी"}
	l := lexicon.Compile("lex_1", 4, []lexicon.Entry{{Word: "Swar", Spoken: "स्वर"}, zepto, att})
	for name, c := range map[string]struct {
		u    speech.Utterance
		want []lexicon.Entry
	}{
		"no lexicon":   {speech.Utterance{Text: "zepto"}, nil},
		"no word":      {speech.Utterance{Text: "zeptos", Lexicon: l}, nil},
		"a word":       {speech.Utterance{Text: "zepto, Zepto", Lexicon: l}, []lexicon.Entry{zepto}},
		"raw":          {speech.Utterance{Text: "zepto", Lexicon: l, Raw: true}, nil},
		"markup":       {speech.Utterance{Text: "<speak>at&amp;t <lang xml:lang='en'>Zep</lang>to</speak>", SSML: true, Lexicon: l}, []lexicon.Entry{att, zepto}},
		"wrong markup": {speech.Utterance{Text: "<speak>zepto", SSML: true, Lexicon: l}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := travel(t, NewUtterance(c.u)).Value()
			if !slices.Equal(got.Lexicon.Entries(), c.want) || got.Text != c.u.Text || got.SSML != c.u.SSML {
				t.Errorf("%+v arrived with %v, want %v", got, got.Lexicon.Entries(), c.want)
			}
			got = travel(t, NewNormalizeRequest(c.u)).Value()
			if c.u.Raw {
				return
			}
			if !slices.Equal(got.Lexicon.Entries(), c.want) || got.Text != c.u.Text || got.SSML != c.u.SSML {
				t.Errorf("to be normalised, %+v arrived with %v, want %v", got, got.Lexicon.Entries(), c.want)
			}
		})
	}
}

// TestAnOlderPodSpeaksNoMarkup: it would read the tags aloud.
func TestAnOlderPodSpeaksNoMarkup(t *testing.T) {
	if m := NewUtterance(speech.Utterance{Text: "<speak>a</speak>", SSML: true}); m.Text != "" {
		t.Errorf("its text is %q", m.Text)
	}
}
