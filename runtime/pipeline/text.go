package pipeline

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/swar-tts/swar/runtime/chunk"
	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// Normalize implements [speech.Speaker].
func (s *Speaker) Normalize(ctx context.Context, u speech.Utterance) (speech.Normalized, error) {
	done, err := s.beginPreparing(ctx)
	if err != nil {
		return speech.Normalized{}, err
	}
	defer done()
	u.Raw = false
	text := strings.TrimSpace(u.Text)
	n := speech.Normalized{InputChars: utf8.RuneCountInString(text)}
	all, err := s.passages(u, text, true)
	if err != nil {
		return n, err
	}
	err = s.divide(&n, all, u.Disclosure)
	before := 0
	if n.Disclosure != "" {
		before = utf8.RuneCountInString(n.Disclosure) + len(" ")
	}
	for i := range all {
		for _, span := range all[i].spans {
			span.OutStart += before
			span.OutEnd += before
			n.Spans = append(n.Spans, span)
		}
		if all[i].text != "" {
			before += utf8.RuneCountInString(all[i].text) + len(" ")
		}
	}
	return n, err
}

// Check returns the refusal with which Speak would answer u, or nil. It needs no worker.
func (s *Speaker) Check(ctx context.Context, u speech.Utterance) error {
	_, err := s.prepare(ctx, u)
	return err
}

// prepare turns the utterance into what is spoken, without spans, or refuses it.
func (s *Speaker) prepare(ctx context.Context, u speech.Utterance) (n speech.Normalized, err error) {
	done, err := s.beginPreparing(ctx)
	if err != nil {
		return n, err
	}
	defer done()
	if _, ok := s.Model().Voice(u.Voice); !ok {
		return n, speech.UnknownVoice(u.Voice)
	}
	if !u.Format.Valid() {
		return n, speech.ErrBadFormat
	}
	if speeds := s.Model().Speeds; !speeds.Has(u.Speed) {
		return n, speech.BadSpeed(speeds)
	}
	all, err := s.passages(u, strings.TrimSpace(u.Text), false)
	if err != nil {
		return n, err
	}
	err = s.divide(&n, all, u.Disclosure)
	switch {
	case len(n.Chunks) == 0:
		return n, speech.ErrNothingToSay
	case err == nil && len(n.Chunks) > speech.MaxChunks:
		err = speech.TooManyChunks(len(n.Chunks))
	}
	return n, err
}

// divide makes the text and the chunks of n, and puts what is written as a disclosure before them. That has chunks of
// its own, so that both it and the text are found among cached prefills. How the text is to be read does not concern it:
// no request can change how it sounds. Where nothing of the passages can be pronounced there are no chunks at all.
func (s *Speaker) divide(n *speech.Normalized, all []passage, disclosure string) error {
	o := normalize.Options{}
	text, unspoken := s.leaveOutNormalized(normalize.Text(strings.TrimSpace(disclosure), o), o)
	chunks := s.split(text, speech.MaxChunks)
	s.join(n, all, speech.MaxChunks-len(chunks))
	switch {
	case disclosure == "" || len(n.Chunks) == 0:
		return nil
	case len(chunks) == 0:
		return speech.ErrBadDisclosure
	}
	before := utf8.RuneCountInString(text) + len(" ")
	for _, c := range n.Chunks {
		c.Index, c.CharStart, c.CharEnd = len(chunks), c.CharStart+before, c.CharEnd+before
		chunks = append(chunks, c)
	}
	n.Disclosure, n.Text, n.Chunks, n.Unspoken = text, text+" "+n.Text, chunks, withUnspoken(unspoken, n.Unspoken)
	return nil
}

// withUnspoken returns the characters of both, each once.
func withUnspoken(unspoken, more string) string {
	for rest, state := more, -1; rest != ""; {
		var character string
		character, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if !strings.Contains(unspoken, character) {
			unspoken += character
		}
	}
	return unspoken
}

// leaveOutNormalized is leaveOut for normalised text. What is left is normalised again, which takes away brackets and
// marks that stand alone now.
func (s *Speaker) leaveOutNormalized(text string, o normalize.Options) (spoken, unspoken string) {
	if spoken, unspoken = s.leaveOut(text); unspoken != "" {
		spoken = normalize.Text(spoken, normalize.Options{EnDigits: o.EnDigits, Language: o.Language})
	}
	return spoken, unspoken
}

// leaveOut returns text without what the engine cannot speak, and that: each character once. A gap that is left in a word
// becomes a space.
func (s *Speaker) leaveOut(text string) (spoken, unspoken string) {
	if s.engine.Speaks(text) {
		return text, ""
	}
	var kept, missing strings.Builder
	seen := make(map[string]bool)
	miss := func(character string) {
		if !seen[character] {
			seen[character] = true
			missing.WriteString(character)
		}
	}
	for rest, state := text, -1; rest != ""; {
		var character string // as a reader sees it: with its marks
		character, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		_, size := utf8.DecodeRuneInString(character)
		switch {
		case strings.TrimSpace(character) == "", s.engine.Speaks(character):
			kept.WriteString(character)
		case !s.engine.Speaks(character[:size]):
			kept.WriteByte(' ')
			miss(character)
		default: // the marks alone are at fault
			kept.WriteString(character[:size])
			for _, mark := range character[size:] {
				if s.engine.Speaks(string(mark)) {
					kept.WriteRune(mark)
				} else {
					miss(string(mark))
				}
			}
		}
	}
	return strings.Join(strings.Fields(kept.String()), " "), missing.String()
}

// split cuts text into chunks, of which each is heard; most is how many there should be. There are none when nothing
// can be pronounced.
func (s *Speaker) split(text string, most int) []speech.Chunk {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil
	}
	chunks := s.cut(text, most)
	chunks = slices.DeleteFunc(chunks, func(c speech.Chunk) bool { return c.Tokens == 0 }) // such as a lone ऽ
	for i := range chunks {
		chunks[i].Index = i
	}
	return chunks
}

// cut cuts text where pauses are to be, into chunks as the engine likes them. A text that has too many of those is cut as for any model.
func (s *Speaker) cut(text string, most int) []speech.Chunk {
	if e, ok := s.engine.(synth.MarkReader); ok && !e.ReadsMarks() {
		if chunks := chunk.Sentences(text, speech.MaxChunkTokens, s.engine.Tokens); len(chunks) <= most {
			return chunks
		}
	}
	if e, ok := s.engine.(synth.ChunkSizer); ok {
		first, others := e.ChunkTokens()
		if chunks := chunk.Growing(text, first, others, s.engine.Tokens); len(chunks) <= most {
			return chunks
		}
		return chunk.Growing(text, first, speech.MaxChunkTokens, s.engine.Tokens)
	}
	return chunk.Split(text, speech.MaxChunkTokens, s.engine.Tokens)
}
