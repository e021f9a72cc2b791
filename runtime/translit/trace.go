package translit

import (
	"cmp"
	"slices"
	"strings"
)

// Trace says which part of a text each part of its rewritten form comes from. The zero value is of a text that was
// not changed.
type Trace []place

// place is the beginning of a word, or of what is between two words, in bytes.
type place struct{ text, out int }

// Traced is [Devanagari] with its trace.
func Traced(text string, o Options) (string, Trace) {
	var t Trace
	out := rewrite(text, o, &t)
	return out, t
}

// Source returns the byte of the text that the byte at out of the rewritten one comes from. Within a word it is any
// byte of that word.
func (t Trace) Source(out int) int {
	i, found := slices.BinarySearchFunc(t, out, func(p place, out int) int { return cmp.Compare(p.out, out) })
	for found && i+1 < len(t) && t[i+1].out == out {
		i++ // nothing was written for what is before
	}
	if !found {
		i--
	}
	if i < 0 {
		return out
	}
	source := t[i].text + out - t[i].out
	if i+1 < len(t) {
		source = min(source, t[i+1].text-1)
	}
	return max(source, t[i].text)
}

// note adds the byte of the sentence that is written next to the trace.
func (s *sentence) note(at int, out *strings.Builder) {
	if s.trace != nil {
		*s.trace = append(*s.trace, place{s.offset + at, out.Len()})
	}
}
