package wire

import (
	"cmp"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/ssml"
)

// NewUtterance is the message for u, without what concerns the attempt.
func NewUtterance(u speech.Utterance) *Utterance {
	m := &Utterance{
		RequestId: u.RequestID, Text: u.Text, Voice: u.Voice, Format: string(u.Format), Raw: u.Raw,
		EnDigits:    u.EnDigits,
		Temperature: u.Temperature, Seed: u.Seed, Disclosure: u.Disclosure, Service: u.Service,
		WordTimes: u.WordTimes, Speed: u.Speed, Protocol: Protocol, Lexicon: newLexicon(u),
		Language: u.Language, LetterCase: u.Case,
	}
	if u.SSML {
		m.Text, m.Ssml = "", u.Text
	}
	return m
}

// newLexicon returns the part of u's lexicon that a pod needs: the words in the text.
func newLexicon(u speech.Utterance) (entries []*LexiconEntry) {
	if u.Lexicon == nil || u.Raw {
		return nil
	}
	text := u.Text
	if u.SSML {
		parts, err := ssml.Parse(text)
		if err != nil {
			return nil // the pod refuses it
		}
		text = ssml.Words(parts)
	}
	for _, e := range u.Lexicon.In(text).Entries() {
		entries = append(entries, &LexiconEntry{Word: e.Word, Spoken: e.Spoken, Lang: e.Lang})
	}
	return entries
}

func lexiconOf(entries []*LexiconEntry) *lexicon.Lexicon {
	all := make([]lexicon.Entry, len(entries))
	for i, e := range entries {
		all[i] = lexicon.Entry{Word: e.Word, Spoken: e.Spoken, Lang: e.Lang}
	}
	return lexicon.Compile("", 0, all)
}

// Value is what NewUtterance was given.
func (u *Utterance) Value() speech.Utterance {
	return speech.Utterance{
		RequestID: u.RequestId, Text: cmp.Or(u.Ssml, u.Text), SSML: u.Ssml != "", Lexicon: lexiconOf(u.Lexicon),
		Voice: u.Voice, Format: speech.Format(u.Format), Raw: u.Raw,
		EnDigits: u.EnDigits, Temperature: u.Temperature, Seed: u.Seed, Disclosure: u.Disclosure,
		Service: u.Service, WordTimes: u.WordTimes, Speed: u.Speed, Language: u.Language,
		Case: u.LetterCase,
	}
}

// NewStart is the message for s.
func NewStart(s speech.Start) *Start {
	return &Start{
		Model: s.Model, Voice: s.Voice, Format: string(s.Format), Seed: s.Seed, Chunks: int64(s.Chunks),
		Normalized: s.Normalized, Disclosure: s.Disclosure, Unspoken: s.Unspoken,
		Normalize: int64(s.Normalize), Queue: int64(s.Queue), WordTimes: s.WordTimes,
	}
}

// Value is what NewStart was given.
func (s *Start) Value() speech.Start {
	return speech.Start{
		Model: s.Model, Voice: s.Voice, Format: speech.Format(s.Format), Seed: s.Seed, Chunks: int(s.Chunks),
		Normalized: s.Normalized, Disclosure: s.Disclosure, Unspoken: s.Unspoken,
		Normalize: time.Duration(s.Normalize), Queue: time.Duration(s.Queue), WordTimes: s.WordTimes,
	}
}

// NewChunk is the message for c.
func NewChunk(c speech.Chunk) *Chunk {
	return &Chunk{
		Index: int64(c.Index), Text: c.Text, Tokens: int64(c.Tokens), CharStart: int64(c.CharStart),
		CharEnd: int64(c.CharEnd),
		Silence: int64(c.Silence), Speed: c.Speed,
	}
}

// Value is what NewChunk was given.
func (c *Chunk) Value() speech.Chunk {
	return speech.Chunk{
		Index: int(c.Index), Text: c.Text, Tokens: int(c.Tokens), CharStart: int(c.CharStart), CharEnd: int(c.CharEnd),
		Silence: int(c.Silence), Speed: c.Speed,
	}
}

// NewAudio is the message for a. It keeps Data.
func NewAudio(a speech.Audio) *Audio {
	return &Audio{
		Chunk: int64(a.Chunk), Frames: int64(a.Frames), Data: a.Data, Prefill: int64(a.Prefill),
		FirstFrame: int64(a.FirstFrame),
	}
}

// Value is what NewAudio was given.
func (a *Audio) Value() speech.Audio {
	return speech.Audio{
		Chunk: int(a.Chunk), Frames: int(a.Frames), Data: a.Data, Prefill: time.Duration(a.Prefill),
		FirstFrame: time.Duration(a.FirstFrame),
	}
}

// NewChunkEnd is the message for e.
func NewChunkEnd(e speech.ChunkEnd) *ChunkEnd {
	m := &ChunkEnd{
		Chunk: int64(e.Chunk), Frames: int64(e.Frames), Prefill: int64(e.Prefill), PrefillCached: e.PrefillCached,
		Eos:        e.EOS,
		ExactWords: e.ExactWords,
	}
	for _, w := range e.Words {
		m.Words = append(m.Words, &Word{
			Text: w.Text, CharStart: int64(w.CharStart), CharEnd: int64(w.CharEnd), Start: int64(w.Start),
			End: int64(w.End),
		})
	}
	return m
}

// Value is what NewChunkEnd was given.
func (e *ChunkEnd) Value() speech.ChunkEnd {
	end := speech.ChunkEnd{
		Chunk: int(e.Chunk), Frames: int(e.Frames), Prefill: time.Duration(e.Prefill), PrefillCached: e.PrefillCached,
		EOS: e.Eos, ExactWords: e.ExactWords,
	}
	for _, w := range e.Words {
		end.Words = append(end.Words, speech.Word{
			Text: w.Text, CharStart: int(w.CharStart), CharEnd: int(w.CharEnd),
			Start: time.Duration(w.Start), End: time.Duration(w.End),
		})
	}
	return end
}

// NewStats is the message for s.
func NewStats(s speech.Stats) *Stats {
	return &Stats{
		Started: s.Started, Chars: int64(s.Chars), Chunks: int64(s.Chunks), Frames: int64(s.Frames),
		Normalize: int64(s.Normalize), Queue: int64(s.Queue), Ttfa: int64(s.TTFA), Synth: int64(s.Synth),
		Wall:           int64(s.Wall),
		LeadingSilence: int64(s.LeadingSilence), PrefillCached: s.PrefillCached,
	}
}

// Value is what NewStats was given; the zero value without one.
func (s *Stats) Value() speech.Stats {
	if s == nil {
		return speech.Stats{}
	}
	return speech.Stats{
		Started: s.Started, Chars: int(s.Chars), Chunks: int(s.Chunks), Frames: int(s.Frames),
		Normalize: time.Duration(s.Normalize), Queue: time.Duration(s.Queue), TTFA: time.Duration(s.Ttfa),
		Synth: time.Duration(s.Synth), Wall: time.Duration(s.Wall), LeadingSilence: time.Duration(s.LeadingSilence),
		PrefillCached: s.PrefillCached,
	}
}

// NewNormalizeRequest is the message for u; only its text fields count.
func NewNormalizeRequest(u speech.Utterance) *NormalizeRequest {
	u.Raw = false
	m := NewUtterance(u)
	return &NormalizeRequest{Text: m.Text, Ssml: m.Ssml, EnDigits: m.EnDigits, Disclosure: m.Disclosure,
		Lexicon: m.Lexicon}
}

// Value is what NewNormalizeRequest was given.
func (q *NormalizeRequest) Value() speech.Utterance {
	return speech.Utterance{
		Text: cmp.Or(q.Ssml, q.Text), SSML: q.Ssml != "", EnDigits: q.EnDigits, Disclosure: q.Disclosure,
		Lexicon: lexiconOf(q.Lexicon),
	}
}

// NewNormalized is the message for n.
func NewNormalized(n speech.Normalized) *NormalizeReply {
	r := &NormalizeReply{Text: n.Text, Disclosure: n.Disclosure, Unspoken: n.Unspoken, InputChars: int64(n.InputChars)}
	for _, c := range n.Chunks {
		r.Chunks = append(r.Chunks, NewChunk(c))
	}
	for _, s := range n.Spans {
		r.Spans = append(r.Spans, &Span{
			Start: int64(s.Start), End: int64(s.End), Kind: string(s.Kind), Spoken: s.Spoken,
			OutStart: int64(s.OutStart), OutEnd: int64(s.OutEnd),
		})
	}
	return r
}

// Value is what NewNormalized was given.
func (r *NormalizeReply) Value() speech.Normalized {
	n := speech.Normalized{
		Text: r.Text, Disclosure: r.Disclosure, Unspoken: r.Unspoken, InputChars: int(r.InputChars),
	}
	for _, c := range r.Chunks {
		n.Chunks = append(n.Chunks, c.Value())
	}
	for _, s := range r.Spans {
		n.Spans = append(n.Spans, speech.Span{
			Start: int(s.Start), End: int(s.End), Kind: speech.SpanKind(s.Kind), Spoken: s.Spoken,
			OutStart: int(s.OutStart), OutEnd: int(s.OutEnd),
		})
	}
	return n
}

// NewDescription is the message for a pod that speaks with m.
func NewDescription(m speech.Model, workers int, version string) *Description {
	d := &Description{
		Protocol: Protocol, Version: version, Model: m.ID, Workers: int64(workers), MinSpeed: m.Speeds.Min,
		MaxSpeed: m.Speeds.Max,
	}
	for _, v := range m.Voices {
		d.Voices = append(d.Voices, &Voice{
			Name: v.Name, Language: v.Language, SampleRate: int64(v.SampleRate), PromptFrames: int64(v.PromptFrames),
		})
	}
	return d
}

// Value is the model that NewDescription was given.
func (d *Description) Value() speech.Model {
	m := speech.Model{ID: d.Model, Speeds: speech.Speeds{Min: d.MinSpeed, Max: d.MaxSpeed}}
	for _, v := range d.Voices {
		m.Voices = append(m.Voices, speech.Voice{
			Name: v.Name, Language: v.Language, SampleRate: int(v.SampleRate), PromptFrames: int(v.PromptFrames),
		})
	}
	return m
}

// NewState is the message for s.
func NewState(s route.State) *State {
	return &State{
		Epoch: s.Epoch, Sequence: s.Sequence, Workers: int64(s.Workers), Ready: int64(s.Ready), Busy: int64(s.Busy),
		Reserved: int64(s.Reserved), Warm: s.Warm, Draining: s.Draining, Cordoned: s.Cordoned, Seen: s.Seen,
		FirstFrame: int64(s.FirstFrame),
	}
}

// Value is what NewState was given.
func (s *State) Value() route.State {
	return route.State{
		Epoch: s.Epoch, Sequence: s.Sequence, Workers: int(s.Workers), Ready: int(s.Ready), Busy: int(s.Busy),
		Reserved: int(s.Reserved), Warm: s.Warm, Draining: s.Draining, Cordoned: s.Cordoned, Seen: s.Seen,
		FirstFrame: time.Duration(s.FirstFrame),
	}
}
