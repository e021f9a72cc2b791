package serve

import (
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// disclosureFor returns what is spoken before a text of whom g was granted to: what the key says, else what the server
// does.
func (s *Server) disclosureFor(g access.Grant) string {
	own := g.Disclosure
	if s.cfg.DisclosureRequired && own.Text == "" {
		own = speech.Disclosure{} // nobody may switch it off
	}
	return own.Or(speech.Disclosure{Set: true, Text: s.cfg.Disclosure}).Text
}

// checkLength refuses a text that is too long with its disclosure, which counts like the rest of what is spoken.
func checkLength(u *speech.Utterance) error {
	disclosure := utf8.RuneCountInString(u.Disclosure)
	if disclosure+utf8.RuneCountInString(u.Text) > speech.MaxChars {
		return speech.TextTooLong(disclosure)
	}
	return nil
}
