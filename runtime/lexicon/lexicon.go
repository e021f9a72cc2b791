// Package lexicon has the pronunciations of a project, such as names of brands and places.
//
// A list of entries is checked with [Clean] and made ready with [Compile]. What is compiled finds its words in a text,
// whole and in either case, the longest first.
package lexicon

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The limits of a list. Lengths are in code points.
const (
	MaxEntries = 1000
	MaxWord    = 64
	MaxSpoken  = 128
)

// None is what a request names to be spoken without a lexicon.
const None = "none"

// IDOf returns what requests name the lexicon of a project by; empty without a project. A project has one lexicon.
func IDOf(projectID string) string {
	if projectID == "" {
		return ""
	}
	return "lex_" + strings.TrimPrefix(projectID, "prj_")
}

// The languages that numbers and signs in what is spoken may be read in. Without one they are read as the sentence is.
const (
	Hindi   = "hi"
	English = "en"
)

// Entry is a word and what is spoken for it.
type Entry struct {
	Word   string `json:"word"`
	Spoken string `json:"spoken"`
	Lang   string `json:"lang,omitzero"` // Hindi, English or empty
}

// EntryError is why a list is refused.
type EntryError struct {
	Index  int // of the entry, from 0
	Word   string
	Reason string
}

func (e *EntryError) Error() string {
	if e.Word == "" {
		return fmt.Sprintf("entry %d: %s", e.Index+1, e.Reason)
	}
	return fmt.Sprintf("entry %d (%s): %s", e.Index+1, shortened(e.Word), e.Reason)
}

// shortened is a word as an error quotes it.
func shortened(word string) string {
	if utf8.RuneCountInString(word) > MaxWord {
		word = string([]rune(word)[:MaxWord]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, word)
}

// Clean returns the entries in NFC, without white space around them. The first invalid entry is returned as an
// [EntryError].
func Clean(entries []Entry) ([]Entry, error) {
	if len(entries) > MaxEntries {
		return nil, &EntryError{MaxEntries, "", fmt.Sprintf("a lexicon has at most %d entries", MaxEntries)}
	}
	clean := make([]Entry, len(entries))
	first := make(map[string]int, len(entries))
	for i, e := range entries {
		e, reason := e.clean()
		if reason != "" {
			return nil, &EntryError{i, e.Word, reason}
		}
		key := folded(e.Word)
		if at, known := first[key]; known {
			return nil, &EntryError{i, e.Word, fmt.Sprintf("the word is that of entry %d; keep one of them", at+1)}
		}
		first[key], clean[i] = i, e
	}
	return clean, nil
}

// clean returns e as it is kept, and why it cannot be, if so.
func (e Entry) clean() (_ Entry, reason string) {
	for _, f := range []struct {
		name string
		text *string
		most int
	}{{"word", &e.Word, MaxWord}, {"spoken", &e.Spoken, MaxSpoken}} {
		if !utf8.ValidString(*f.text) {
			*f.text = ""
			return e, f.name + " is not valid UTF-8"
		}
		text := strings.Join(strings.Fields(norm.NFC.String(*f.text)), " ")
		*f.text = text
		switch n := utf8.RuneCountInString(text); {
		case n == 0:
			return e, f.name + " is empty"
		case n > f.most:
			return e, fmt.Sprintf("%s has %d characters; at most %d are possible", f.name, n, f.most)
		case strings.ContainsFunc(text, unicode.IsControl):
			return e, f.name + " must not contain control characters"
		case !strings.ContainsFunc(text, isLetterOrNumber):
			return e, f.name + " needs a letter or a digit"
		}
	}
	if first, _ := utf8.DecodeRuneInString(e.Word); unicode.IsMark(first) {
		return e, "word begins with a mark that has no letter"
	}
	if e.Lang != "" && e.Lang != Hindi && e.Lang != English {
		return e, `lang must be "hi", "en" or absent`
	}
	return e, ""
}

func isLetterOrNumber(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// joins reports whether r goes on a word: next to it, a word is not whole.
func joins(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// Lexicon is a list that is ready for use. It never changes, so that any number of readers may share it. A nil Lexicon
// has no entries.
type Lexicon struct {
	id      string
	version int64
	entries []Entry
	steps   map[step]int32 // from one letter of a word to the next; node 0 is before the first
	ends    map[int32]int  // the entries by the node of their last letter
}

// step is the way from a node by a letter.
type step struct {
	node int32
	by   rune
}

// Compile makes entries, which [Clean] has returned, ready for use. It returns nil for no entries.
func Compile(id string, version int64, entries []Entry) *Lexicon {
	if len(entries) == 0 {
		return nil
	}
	l := &Lexicon{id: id, version: version, entries: entries, steps: map[step]int32{},
		ends: make(map[int32]int, len(entries))}
	for i, e := range entries {
		node := int32(0)
		for _, r := range folded(e.Word) {
			next, known := l.steps[step{node, r}]
			if !known {
				next = int32(len(l.steps)) + 1
				l.steps[step{node, r}] = next
			}
			node = next
		}
		l.ends[node] = i
	}
	return l
}

// ID returns what requests name the lexicon by.
func (l *Lexicon) ID() string {
	if l == nil {
		return ""
	}
	return l.id
}

// Version counts the changes of the list.
func (l *Lexicon) Version() int64 {
	if l == nil {
		return 0
	}
	return l.version
}

// Entries returns the list, which must not be changed.
func (l *Lexicon) Entries() []Entry {
	if l == nil {
		return nil
	}
	return l.entries
}

// Match is a word in a text.
type Match struct {
	Start, End int // code points of the text; End is exclusive
	Entry      Entry
}

// Find returns the words of the lexicon in text, which is in NFC, in order and without overlap. Where several begin,
// the longest one counts. The time it takes grows with the length of the text alone.
func (l *Lexicon) Find(text string) (found []Match) {
	if l == nil {
		return nil
	}
	before := ' ' // the letter in front
	for at, chars := 0, 0; at < len(text); {
		if !joins(before) {
			if entry, bytes, n := l.longest(text[at:]); n > 0 {
				found = append(found, Match{chars, chars + n, l.entries[entry]})
				before, _ = utf8.DecodeLastRuneInString(text[at : at+bytes])
				at, chars = at+bytes, chars+n
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if !isInvisible(r) {
			before = r
		}
		at, chars = at+size, chars+1
	}
	return found
}

// longest returns the longest entry that text begins with, and its length in bytes and code points; 0 for none.
func (l *Lexicon) longest(text string) (entry, bytes, chars int) {
	node, spaced := int32(0), false
	for at, n := 0, 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if at == 0 && isInvisible(r) {
			return 0, 0, 0
		}
		at, n = at+size, n+1
		r, skip := fold(r, spaced)
		if skip {
			if n > 4*MaxWord { // a run of spaces
				break
			}
			continue
		}
		spaced = r == ' '
		next, known := l.steps[step{node, r}]
		if !known {
			break
		}
		node = next
		if i, ends := l.ends[node]; ends && !joins(firstVisible(text[at:])) {
			entry, bytes, chars = i, at, n
		}
	}
	return entry, bytes, chars
}

// firstVisible is the first letter of text that is not left out; a space at its end.
func firstVisible(text string) rune {
	for i, r := range text {
		if !isInvisible(r) {
			return r
		}
		if i > 4*MaxWord {
			break
		}
	}
	return ' '
}

// fold returns the letter that r is looked up as. It is left out when skip is true: it cannot be seen, or is one more
// space.
func fold(r rune, behindSpace bool) (_ rune, skip bool) {
	switch {
	case 'a' <= r && r <= 'z':
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A', false
	case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
		return '\n', false // a sentence ends here: no word goes on behind it
	case r == '’' || r == '‘' || r == 'ʼ':
		return '\'', false
	case unicode.IsSpace(r):
		return ' ', behindSpace
	case isInvisible(r):
		return r, true
	default:
		return unicode.ToLower(r), false
	}
	return r, false
}

// isInvisible reports whether r is a joiner, a direction mark or the like, which the normaliser leaves out too.
func isInvisible(r rune) bool {
	return r > unicode.MaxLatin1 && (unicode.Is(unicode.Cf, r) || 0xfe00 <= r && r <= 0xfe0f)
}

// Key returns the form by which a lexicon compares words. It ignores case, white space and the form of Unicode.
func Key(word string) string { return folded(strings.Join(strings.Fields(norm.NFC.String(word)), " ")) }

// folded is a word as it is looked up.
func folded(word string) string {
	var b strings.Builder
	spaced := false
	for _, r := range word {
		r, skip := fold(r, spaced)
		if !skip {
			b.WriteRune(r)
			spaced = r == ' '
		}
	}
	return b.String()
}

// In returns the lexicon of those entries that text has: to read that text they do as well as all. It is nil without
// any.
func (l *Lexicon) In(text string) *Lexicon {
	if l == nil {
		return nil
	}
	if !norm.NFC.IsNormalString(text) {
		text = norm.NFC.String(text)
	}
	var entries []Entry
	known := map[string]bool{}
	for _, m := range l.Find(text) {
		if !known[m.Entry.Word] {
			known[m.Entry.Word] = true
			entries = append(entries, m.Entry)
		}
	}
	return Compile(l.id, l.version, entries)
}
