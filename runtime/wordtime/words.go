package wordtime

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
)

// word is a word of a chunk, without the marks around it.
type word struct {
	from, to           int     // bytes of the chunk's text
	charStart, charEnd int     // code points of it
	weight             float64 // how long it usually lasts, in any unit
	after              gap     // what is written between it and the next
}

// of is w in c with its times.
func (w *word) of(c speech.Chunk, start, end time.Duration) speech.Word {
	return speech.Word{
		Text: c.Text[w.from:w.to], CharStart: c.CharStart + w.charStart, CharEnd: c.CharStart + w.charEnd,
		Start: start, End: end,
	}
}

// gap is what is written between two words.
type gap uint8

const (
	space gap = iota
	mark      // such as a comma
	stop      // the end of a sentence
)

// missed is the cost of no pause being heard there.
func (g gap) missed() float64 {
	switch g {
	case mark:
		return markMissed
	case stop:
		return stopMissed
	}
	return 0
}

// wordsOf returns what white space divides the text into, each from its first to its last letter or digit. What has
// neither is no word.
func wordsOf(c speech.Chunk) []word {
	var words []word
	chars := 0
	text := c.Text
	for at := 0; at < len(text); {
		length := strings.IndexFunc(text[at:], unicode.IsSpace)
		if length < 0 {
			length = len(text) - at
		}
		part := text[at : at+length]
		from := strings.IndexFunc(part, sounds)
		if from >= 0 {
			last := strings.LastIndexFunc(part, belongs)
			_, size := utf8.DecodeRuneInString(part[last:])
			w := word{from: at + from, to: at + last + size}
			w.charStart = chars + utf8.RuneCountInString(part[:from])
			w.charEnd = w.charStart + utf8.RuneCountInString(text[w.from:w.to])
			words = append(words, w)
			part = part[last+size:]
		}
		if n := len(words); n > 0 {
			words[n-1].after = max(words[n-1].after, gapOf(part))
		}
		_, size := utf8.DecodeRuneInString(text[at+length:])
		chars += utf8.RuneCountInString(text[at : at+length+size])
		at += length + size
	}
	for i := range words {
		w := &words[i]
		w.weight = weigh(text[w.from:w.to])
		if w.after != space || i == len(words)-1 {
			w.weight += lengthened
		}
	}
	return words
}

func sounds(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// belongs reports whether r can be the last of a word: vowel signs come after their letters.
func belongs(r rune) bool { return sounds(r) || unicode.IsMark(r) }

// gapOf is what marks alone mean.
func gapOf(marks string) gap {
	switch {
	case strings.ContainsAny(marks, ".!?…।॥"):
		return stop
	case strings.ContainsAny(marks, ",;:-–—"):
		return mark
	}
	return space
}
