package normalize

import (
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/say"
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
)

// LeaveOut removes the characters that speaks refuses from written, which is not normalised, and returns each of them
// once: "aap 你好 hain" → "aap hain", "你好". A gap inside a word becomes a space.
func LeaveOut(written string, speaks func(text string) bool) (spoken, unspoken string) {
	var missing characters
	spoken = say.LeaveOut(written, speaks, missing.add)
	return spoken, missing.String()
}

// scan is [text.Scan], without the words that no rule reads and that the engine does not speak. White space stands for
// them.
func (r *reader) scan(source string) (clean string, toks []text.Token, uncomposed bool) {
	clean, toks, uncomposed = text.Scan(source)
	if r.opt.Speaks != nil && slices.ContainsFunc(toks, isForeign) {
		toks = text.Without(toks, func(t *text.Token) bool { return isForeign(*t) && r.isUnspoken(t, clean[t.A:t.B]) })
	}
	return clean, toks, uncomposed
}

func isForeign(t text.Token) bool { return t.Kind == text.Foreign }

// isUnspoken reports whether no rule reads word, which is token t, and the engine speaks nothing of it. Then its
// characters are noted.
func (r *reader) isUnspoken(t *text.Token, word string) bool {
	var missing characters
	if text.IsGreek(word) || say.LeaveOut(word, r.opt.Speaks, missing.add) != "" {
		return false
	}
	for _, c := range missing.all {
		r.writer.Missing = append(r.writer.Missing, say.Missing{At: t.Src, Character: c})
	}
	return true
}

// unspoken names the characters that were left out.
func (r *reader) unspoken() string {
	all := r.writer.Missing
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b say.Missing) int { return int(a.At - b.At) })
	var missing characters
	for _, m := range all {
		missing.add(m.Character)
	}
	return missing.String()
}

// characters are characters, each once.
type characters struct {
	all  []string
	seen map[string]bool
}

func (c *characters) add(character string) {
	if c.seen == nil {
		c.seen = make(map[string]bool)
	}
	if !c.seen[character] {
		c.seen[character] = true
		c.all = append(c.all, character)
	}
}

func (c *characters) String() string { return strings.Join(c.all, "") }
