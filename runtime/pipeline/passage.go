package pipeline

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/ssml"
)

// passage is what is spoken in one go, at one speed, or a silence. A text without markup is one.
type passage struct {
	silence  int // frames; there is no text then
	text     string
	unspoken string
	speed    float64       // 0: that of the utterance
	spans    []speech.Span // of text, if they were wanted
}

// passages returns what is spoken for the text of u, or refuses it.
func (s *Speaker) passages(u speech.Utterance, text string, spans bool) ([]passage, error) {
	o := normalize.Options{EnDigits: u.EnDigits, Lexicon: u.Lexicon, Language: u.Language, Case: u.Case}
	switch {
	case u.SSML:
		return s.markup(u, text, o, spans)
	case u.Raw:
		var p passage
		p.text, p.unspoken = normalize.LeaveOut(strings.Join(strings.Fields(text), " "), s.engine.Speaks)
		return []passage{p}, nil
	}
	return []passage{s.read(text, o, spans)}, nil
}

// read normalises text, and leaves out what the engine cannot speak.
func (s *Speaker) read(text string, o normalize.Options, spans bool) passage {
	o.Speaks = s.engine.Speaks
	n := normalize.Read(text, o, spans)
	return passage{text: n.Text, unspoken: n.Unspoken, spans: n.Spans}
}

// markup reads a document of SSML.
func (s *Speaker) markup(u speech.Utterance, document string, o normalize.Options, spans bool) ([]passage, error) {
	parts, err := ssml.Parse(document)
	if err != nil {
		return nil, err
	}
	message := normalize.MessageOf(ssml.Words(parts))
	o = o.In(&message)
	all := make([]passage, 0, len(parts))
	for _, part := range parts {
		if part.Silence > 0 {
			all = append(all, passage{silence: part.Silence})
			continue
		}
		o.Marks = part.Marks
		p := s.read(part.Text, o, spans)
		if part.Speed != 1 {
			p.speed = part.Speed * cmp.Or(u.Speed, 1)
		}
		for i := range p.spans {
			span := &p.spans[i]
			if span.Start < span.End {
				span.Start, span.End = part.Source[span.Start].Start, part.Source[span.End-1].End
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// join puts the texts and the chunks of all into n; most is how many chunks there should be. There are none when
// nothing can be pronounced.
func (s *Speaker) join(n *speech.Normalized, all []passage, most int) {
	var text strings.Builder
	var chunks []speech.Chunk
	chars, isHeard := 0, false
	for i := range all {
		p := &all[i]
		if p.silence > 0 {
			chunks = append(chunks, speech.Chunk{Silence: p.silence, CharStart: chars, CharEnd: chars})
			continue
		}
		n.Unspoken = withUnspoken(n.Unspoken, p.unspoken)
		if p.text == "" {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
			chars++
		}
		for _, c := range s.split(p.text, max(most-len(chunks), 1)) {
			isHeard = true
			c.CharStart, c.CharEnd, c.Speed = c.CharStart+chars, c.CharEnd+chars, p.speed
			chunks = append(chunks, c)
		}
		text.WriteString(p.text)
		chars += utf8.RuneCountInString(p.text)
	}
	n.Text, n.Chunks = text.String(), nil
	if !isHeard {
		return
	}
	for i := range chunks {
		chunks[i].Index = i
	}
	n.Chunks = chunks
}
