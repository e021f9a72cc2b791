// Package accept judges readings: whether what a normaliser made of a message is one of the readings that people accept
// for it.
//
// A reading is written in the small grammar of testdata/hinglish-reading/README.md. Spelling is free where Hindi spells
// in several ways; what is heard is not: another digit, another unit or a word more is refused. The tables here know
// nothing of runtime/normalize, so that neither can cover for the other.
package accept

import (
	"fmt"
	"strings"
)

// A Language says in which words quantities may be read.
type Language string

// The languages of messages.
const (
	English  Language = "en"       // quantities in English
	Hindi    Language = "hi"       // quantities in Hindi
	Hinglish Language = "hinglish" // quantities in either
)

// A Reading is everything that is accepted for one message. It is safe for concurrent use.
type Reading struct{ root node }

// Compile reads the grammar. An error names the place.
func Compile(reading string, l Language) (*Reading, error) {
	if l != English && l != Hindi && l != Hinglish {
		return nil, fmt.Errorf("language %q is none of en, hi, hinglish", l)
	}
	p := parser{text: reading, language: l}
	root, err := p.sequence("")
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", reading, err)
	}
	return &Reading{root}, nil
}

// Accepts reports whether spoken is an accepted reading.
func (r *Reading) Accepts(spoken string) bool {
	_, ok := r.judge(spoken)
	return ok
}

// Stop returns the word of spoken at which it leaves every accepted reading, empty where words are missing at its end.
// It means something only for what is not accepted.
func (r *Reading) Stop(spoken string) string {
	tokens := tokenize(spoken)
	far, _ := r.judge(spoken)
	if far >= len(tokens) {
		return ""
	}
	return tokens[far]
}

// judge returns how many words of spoken could be read at most.
func (r *Reading) judge(spoken string) (far int, ok bool) {
	m := match{tokens: tokenize(spoken)}
	at := newPlaces(len(m.tokens))
	at[0] = true
	end := r.root.follow(&m, at)
	return m.far, end[len(m.tokens)]
}

// Example returns one accepted reading, the plainest.
func (r *Reading) Example() string { return strings.Join(strings.Fields(r.root.example()), " ") }
