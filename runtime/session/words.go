package session

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/ssml"
)

// written is a word of a sentence as it was written, and what is spoken of it. The place is that of the normalised
// sentence, in code points; several words may share one, such as ₹ 500.
type written struct {
	text       string
	start, end int // in the sentence, in code points
	from, to   int
}

// align finds the spoken form of each word of a sentence. Silent words are left out. The words of a document are those
// of its text.
func align(u speech.Utterance) []written {
	o := normalize.Options{EnDigits: u.EnDigits, Lexicon: u.Lexicon, Language: u.Language, Case: u.Case}
	switch {
	case u.Raw:
		return alignSpans(u.Text, u.Text, nil)
	case u.SSML:
		return alignMarkup(u.Text, o)
	}
	spoken, spans := normalize.Spans(u.Text, o)
	return alignSpans(u.Text, spoken, spans)
}

// alignMarkup is align for a document of SSML; an invalid one has no words.
func alignMarkup(document string, o normalize.Options) (all []written) {
	parts, err := ssml.Parse(document)
	if err != nil {
		return nil
	}
	message := normalize.MessageOf(ssml.Words(parts))
	o = o.In(&message)
	before := 0 // code points that are spoken in front of the part
	for i := range parts {
		p := &parts[i]
		o.Marks = p.Marks
		spoken, spans := normalize.Spans(p.Text, o)
		for _, w := range alignSpans(p.Text, spoken, spans) {
			w.from, w.to = w.from+before, w.to+before
			w.start, w.end = p.Source[w.start].Start, p.Source[w.end-1].End
			all = append(all, w)
		}
		if spoken != "" {
			before += utf8.RuneCountInString(spoken) + len(" ")
		}
	}
	return all
}

// alignSpans finds the words of text in its spoken form; spans are its rewritten pieces.
func alignSpans(text, spoken string, spans []speech.Span) []written {
	source, out := words(text, true), words(spoken, false)
	var all []written
	for _, w := range source {
		from, to := place(w, spans)
		if from == to { // it is spoken as it is written, or silent
			for len(out) > 0 && (inSpan(out[0], spans) || out[0].text != letters(w.text)) &&
				comesLater(out, letters(w.text)) {
				out = out[1:]
			}
			if len(out) == 0 || out[0].text != letters(w.text) {
				continue
			}
			from, to = out[0].start, out[0].end
			out = out[1:]
		}
		w.from, w.to = from, to
		all = append(all, w)
	}
	return all
}

// words returns the words of text that are spoken: as they are, or their letters and digits alone.
func words(text string, whole bool) (all []written) {
	at, chars := 0, 0 // bytes and code points that have been seen
	for field := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
		from := at + strings.Index(text[at:], field)
		start := chars + utf8.RuneCountInString(text[at:from])
		at, chars = from+len(field), start+utf8.RuneCountInString(field)
		if letters(field) == "" && !strings.ContainsFunc(field, unicode.IsSymbol) {
			continue
		}
		w := written{text: field, start: start, end: chars}
		if !whole {
			w.text = letters(field)
		}
		all = append(all, w)
	}
	return all
}

func letters(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, word)
}

// place is what the spans that w is in became; nothing where it is in none.
func place(w written, spans []speech.Span) (from, to int) {
	for _, s := range spans {
		if s.Start >= w.end || s.End <= w.start || s.OutStart == s.OutEnd {
			continue
		}
		if from == to {
			from = s.OutStart
		}
		to = s.OutEnd
	}
	return from, to
}

func inSpan(w written, spans []speech.Span) bool {
	for _, s := range spans {
		if s.OutStart < w.end && w.start < s.OutEnd {
			return true
		}
	}
	return false
}

// comesLater reports whether text comes later in all.
func comesLater(all []written, text string) bool {
	for _, w := range all {
		if w.text == text {
			return true
		}
	}
	return false
}

// source is the words of the present sentence as they were written, with the times of what was spoken of them.
type source struct {
	words  []written
	spoken []speech.Word // of chunks whose words were not sent yet; places are those of the normalised sentence
}

// add adds words of the turn, in whose text the sentence begins at base.
func (s *source) add(spoken []speech.Word, base int) {
	for _, w := range spoken {
		w.CharStart -= base
		w.CharEnd -= base
		s.spoken = append(s.spoken, w)
	}
}

// upTo returns the words whose speech ends before a place. A word takes the first start and the last end of its spoken
// words; words that were spoken together share their time by length.
func (s *source) upTo(place int) (all []speech.Word) {
	for len(s.words) > 0 && s.words[0].to <= place {
		n, letters := 1, s.words[0].end-s.words[0].start
		for n < len(s.words) && s.words[n].from == s.words[0].from && s.words[n].to == s.words[0].to {
			letters += s.words[n].end - s.words[n].start
			n++
		}
		start, end, ok := s.timesOf(s.words[0])
		for _, w := range s.words[:n] {
			length := w.end - w.start
			until := start + (end-start)*time.Duration(length)/time.Duration(max(letters, 1))
			letters -= length
			if ok {
				all = append(all,
					speech.Word{Text: w.text, CharStart: w.start, CharEnd: w.end, Start: start, End: until})
			}
			start = until
		}
		s.words = s.words[n:]
	}
	return all
}

// timesOf returns the time of the speech of w.
func (s *source) timesOf(w written) (start, end time.Duration, ok bool) {
	for _, spoken := range s.spoken {
		if spoken.CharEnd <= w.from || spoken.CharStart >= w.to {
			continue
		}
		if !ok {
			start, ok = spoken.Start, true
		}
		end = spoken.End
	}
	return start, end, ok
}

// Source returns the times of words as they were written, for a text that is spoken as a whole.
type Source struct{ source }

// NewSource returns the source of what is spoken of u.
func NewSource(u speech.Utterance) *Source {
	return &Source{source{words: align(u)}}
}

// WrittenWords adds the spoken words of a chunk and returns the written words that end in it. The chunk ends at end,
// and what was written begins at base, both in code points of the normalised text.
func (s *Source) WrittenWords(spoken []speech.Word, base, end int) []speech.Word {
	s.add(spoken, base)
	return s.upTo(end - base)
}
