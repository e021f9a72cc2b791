package serve

import (
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/speech"
)

// lexiconFor returns the lexicon that a request with g's key names: its project's own, which is also used without a
// name, or none.
func lexiconFor(g access.Grant, name string) (*lexicon.Lexicon, error) {
	own := lexicon.IDOf(g.ProjectID)
	if g.ProjectID == "" {
		own = g.Lexicon.ID() // the server's
	}
	switch {
	case name == lexicon.None:
		return nil, nil //nolint:nilnil // a nil lexicon is one without entries
	case name == "", name == own:
		return g.Lexicon, nil
	default:
		return nil, speech.UnknownLexicon(own)
	}
}
