package session

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
)

// turn is what is spoken between two ends. It is the sink of its sentences.
type turn struct {
	session      *Session
	sink         Sink
	stats        speech.Stats
	began        time.Time // when the first sentence asked for a worker
	firstAudioAt time.Time // when its first audio came
	opened       bool      // the disclosure has been spoken, or there is none

	// Where the present sentence begins.
	chunk, chars int
	frames       int

	source     source // if its words are wanted as they were written
	disclosure int    // code points in front of it, with the space behind
	chunkEnd   int    // where its present chunk ends

	chunks int           // that were announced
	words  time.Duration // end of the last spoken word
}

// Speak waits for text and speaks it until the turn ends. A turn ends with Finish or, if the session is set so,
// Flush; otherwise with an error. That is [ErrCancelled] after Cancel, else what [speech.Speaker] says, or the cause
// of ctx. When nothing that was fed could be pronounced, or nothing was fed, no worker was asked for and there is no
// error.
//
// It returns what was spoken, also with an error; then what was fed and is not spoken is dropped.
func (s *Session) Speak(ctx context.Context, sink Sink) (speech.Stats, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t := &turn{session: s, sink: sink}
	err := s.begin(stop)
	if err == nil {
		err = t.run(ctx)
	}
	s.end(err)
	if !t.began.IsZero() {
		t.stats.Wall = time.Since(t.began)
	}
	return t.stats, err
}

func (s *Session) begin(stop context.CancelCauseFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelled {
		return ErrCancelled
	}
	s.stop = stop
	return nil
}

// end notes that a turn has ended with err. After a cancel the next one has been fed, maybe.
func (s *Session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = nil
	if err == nil && !s.cancelled {
		return
	}
	if !s.cancelled {
		s.feed.reset()
	}
	s.cancelled = s.cancelled && !errors.Is(err, ErrCancelled)
	s.lead.drop()
}

func (t *turn) run(ctx context.Context) error {
	for {
		next, err := t.session.next(ctx, t.stats.Started)
		if err != nil {
			return err
		}
		switch next.what {
		case stepSpeak:
			err = t.speakSentence(ctx, next.text, &next.message)
		case stepFlushed:
			err = t.sink.Flushed(Flushed{Tag: next.tag, Frames: t.stats.Frames, Chars: t.stats.Chars})
			if err == nil && t.session.cfg.FlushEnds {
				return nil
			}
		case stepEnd:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// speakSentence speaks one sentence of a message. One that nothing can be pronounced of is passed over.
func (t *turn) speakSentence(ctx context.Context, text string, message *normalize.Message) error {
	cfg := &t.session.cfg
	u := cfg.Utterance
	u.Text, u.Language, u.Case = text, message.Language(), message.Case()
	switch {
	case t.opened:
		u.Disclosure = ""
	case cfg.Disclose != nil:
		var err error
		if u.Disclosure, err = cfg.Disclose(ctx); err != nil {
			return err
		}
	}
	now := time.Now()
	if t.began.IsZero() {
		t.began = now
	}
	ctx, cancel := context.WithTimeoutCause(ctx, speech.UtteranceTimeout, speech.ErrTimeout)
	defer cancel()
	t.chunk, t.frames, t.chars = t.chunks, t.stats.Frames, t.stats.Chars
	if cfg.SourceWords {
		t.source = source{words: align(u)}
	}
	st, err := cfg.Speak(ctx, u,
		speech.Turn{QueuedSince: now, StartedAt: t.firstAudioAt, Session: cfg.Group, More: t.session.more}, t)
	if !st.Started && errors.Is(err, speech.ErrNothingToSay) {
		return nil
	}
	t.add(st)
	return err
}

// add counts what a sentence did.
func (t *turn) add(st speech.Stats) {
	if !st.Started {
		return
	}
	all := &t.stats
	if t.frames == 0 {
		all.TTFA, all.LeadingSilence, all.PrefillCached = st.TTFA, st.LeadingSilence, st.PrefillCached
	}
	if !all.Started { // though nothing of it reached the sink
		all.Queue = st.Queue
	}
	t.opened, all.Started = true, true
	all.Chars = max(all.Chars, t.charsBefore()+st.Chars)
	all.Chunks += st.Chunks
	all.Frames = t.frames + st.Frames
	all.Normalize += st.Normalize
	all.Synth += st.Synth
}

// charsBefore is where the present sentence begins in the normalised text: sentences are parted by one space.
func (t *turn) charsBefore() int {
	if t.chars == 0 {
		return 0
	}
	return t.chars + 1
}

// Start implements [speech.Sink].
func (t *turn) Start(s speech.Start) error {
	isFirst := !t.stats.Started
	t.chunks += s.Chunks
	t.opened, t.stats.Started = true, true
	if most := t.session.cfg.MaxChunks; most > 0 && t.chunks > most {
		return speech.TooManyChunks(t.chunks)
	}
	t.stats.Chars = t.charsBefore() + utf8.RuneCountInString(s.Normalized)
	if t.disclosure = utf8.RuneCountInString(s.Disclosure); t.disclosure > 0 {
		t.disclosure++
	}
	if !isFirst {
		return nil
	}
	t.stats.Queue = s.Queue
	return t.sink.Start(s)
}

// ChunkStart implements [speech.Sink].
func (t *turn) ChunkStart(c speech.Chunk) error {
	c.Index += t.chunk
	t.chunkEnd = c.CharEnd - t.disclosure
	c.CharStart += t.charsBefore()
	c.CharEnd += t.charsBefore()
	return t.sink.ChunkStart(c)
}

// Audio implements [speech.Sink].
func (t *turn) Audio(a speech.Audio) error {
	a.Chunk += t.chunk
	t.stats.Frames += a.Frames
	if t.firstAudioAt.IsZero() && a.Frames > 0 {
		t.firstAudioAt = time.Now()
	} else if !t.firstAudioAt.IsZero() {
		a.Prefill, a.FirstFrame = 0, 0
	}
	t.session.countSpoken(a.Frames)
	return t.sink.Audio(a)
}

func (s *Session) countSpoken(frames int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lead.addSpoken(frames)
}

// ChunkEnd implements [speech.Sink].
func (t *turn) ChunkEnd(e speech.ChunkEnd) error {
	e.Chunk += t.chunk
	if len(e.Words) > 0 {
		e.Words = t.shift(e.Words)
	}
	if t.session.cfg.SourceWords {
		t.source.add(e.Words, t.charsBefore()+t.disclosure)
		if err := t.sink.Source(t.source.upTo(t.chunkEnd)); err != nil {
			return err
		}
	}
	return t.sink.ChunkEnd(e)
}

// shift returns words of the present sentence as words of the turn: none begins before the one in front of it has
// ended, and none ends behind the audio.
func (t *turn) shift(words []speech.Word) []speech.Word {
	before := time.Duration(t.frames) * speech.FrameDuration
	end := time.Duration(t.stats.Frames) * speech.FrameDuration
	all := make([]speech.Word, len(words))
	for i, w := range words {
		w.CharStart += t.charsBefore()
		w.CharEnd += t.charsBefore()
		w.Start = min(max(w.Start+before, t.words), end)
		w.End = min(max(w.End+before, w.Start), end)
		t.words = w.End
		all[i] = w
	}
	return all
}
