package serve

import (
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/ssml"
)

// disclosureFor returns the disclosure for a key: the key's, else the server's.
func (s *Server) disclosureFor(g access.Grant) string {
	own := g.Disclosure
	if s.cfg.DisclosureRequired && own.Text == "" {
		own = speech.Disclosure{} // keys cannot switch it off
	}
	return own.Or(speech.Disclosure{Set: true, Text: s.cfg.Disclosure}).Text
}

// checkLength refuses a text that is too long with its disclosure, which counts like the rest of what is spoken.
// Of a document that is its text.
func checkLength(u *speech.Utterance) error {
	chars := utf8.RuneCountInString(u.Text)
	if u.SSML {
		parts, err := ssml.Parse(u.Text)
		if err != nil {
			return err
		}
		chars = ssml.Chars(parts)
	}
	disclosure := utf8.RuneCountInString(u.Disclosure)
	if disclosure+chars > speech.MaxChars {
		return speech.TextTooLong(disclosure)
	}
	return nil
}
