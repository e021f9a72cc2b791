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

// divide builds the text and the chunks of n, with a written disclosure first. The disclosure has chunks of its own, so
// that both it and the text are found among cached prefills. Reading options do not apply to it: no request can change
// it. Without anything pronounceable there are no chunks at all.
func (s *Speaker) divide(n *speech.Normalized, all []passage, disclosure string) error {
	said := s.read(strings.TrimSpace(disclosure), normalize.Options{}, false)
	chunks := s.split(said.text, speech.MaxChunks)
	s.join(n, all, speech.MaxChunks-len(chunks))
	switch {
	case disclosure == "" || len(n.Chunks) == 0:
		return nil
	case len(chunks) == 0:
		return speech.ErrBadDisclosure
	}
	before := utf8.RuneCountInString(said.text) + len(" ")
	for _, c := range n.Chunks {
		c.Index, c.CharStart, c.CharEnd = len(chunks), c.CharStart+before, c.CharEnd+before
		chunks = append(chunks, c)
	}
	n.Disclosure, n.Text, n.Chunks = said.text, said.text+" "+n.Text, chunks
	n.Unspoken = withUnspoken(said.unspoken, n.Unspoken)
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

// split cuts text into chunks with speech; most is how many there should be. There are none without anything
// pronounceable.
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

// cut cuts text where pauses are to be, into chunks as the engine likes them. A text that has too many of those is
// cut as for any model.
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
