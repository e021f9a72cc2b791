// Package session speaks text that is still being written. It is fed piece by piece, and speaks complete sentences.
// Every socket that is fed, native or a dialect, is one of these over a [speech.Speaker].
//
// cutter.go finds sentences and feed.go decides the next step; both are state machines without a clock. Session adds
// the goroutines.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
)

// Sep says how a message is joined to the one before it.
type Sep int

// The ways of clients.
const (
	Exact Sep = iota // it is joined as it is, such as the tokens of a language model
	// white space around it was lost: one that begins with a letter behind a full stop is a new sentence
	Piece
)

// DefaultLead is how much audio may wait for the client before a further sentence is started.
const DefaultLead = 30 * time.Second

// Config configures a session.
type Config struct {
	// Utterance is the template of each sentence, with another Text. Its Disclosure is spoken once a turn. With SSML
	// the text may have elements, in which it is not cut; each piece becomes a document of its own.
	Utterance speech.Utterance

	// Speak is that of a [speech.Speaker].
	Speak func(context.Context, speech.Utterance, speech.Turn, speech.Sink) (speech.Stats, error)

	// Disclose, if set, returns the disclosure at the start of each turn, instead of Utterance.Disclosure.
	Disclose func(context.Context) (string, error)

	Group string      // of the turns that may take over a worker from one another; see [speech.Turn]
	More  func() bool // reports whether another turn of the group waits; nil: none

	SourceWords bool // the words that were written are wanted; see [Sink]

	FlushEnds bool          // a flush ends the turn, and the next text begins another one
	Delay     time.Duration // after which text is spoken that has no end; 0: it waits
	MaxChars  int           // code points of the session, with the disclosure; 0: as many as come
	MaxChunks int           // chunks of a turn; 0: as many as come

	Lead     time.Duration // audio that may wait before a further sentence is started; 0 means DefaultLead
	RealTime bool          // audio waits until it can have sounded, not only until the client has taken it
	Speed    float64       // speed of the playback; 0 means 1
}

// Sink takes what a turn produces, from the goroutine of [Session.Speak]. It sees one utterance: numbers of chunks,
// code points and times count on from sentence to sentence. Start is that of the first sentence: it knows no others.
type Sink interface {
	speech.Sink
	Flushed(Flushed) error // everything before the flush has been spoken

	// Source comes before each ChunkEnd, with [Config.SourceWords]: the written words that have been spoken completely,
	// with their places in the sentence as it was written. The disclosure has none.
	Source(words []speech.Word) error
}

// Flushed says where in the turn a flush was.
type Flushed struct {
	Tag    any // of the flush
	Frames int // of audio before it
	Chars  int // code points of normalised text before it
}

// Errors of a session.
var (
	ErrCancelled = fmt.Errorf("the session was cancelled: %w", context.Canceled)
	ErrFinished  = errors.New("the session is finished: nothing can be appended any more")
)

// Session is one voice that is fed. One goroutine calls Speak, once for each turn, while others feed it.
type Session struct {
	cfg  Config
	wake chan struct{} // has room for one: something has changed

	mu        sync.Mutex
	feed      feed
	chars     int                     // code points, without the white space around them
	blank     int                     // code points of white space at the end
	stop      context.CancelCauseFunc // of the turn that is spoken
	cancelled bool                    // Cancel was called, and Speak has not returned for that
	waits     bool                    // Speak waits for something to change
	lead      lead
}

// New returns a session that nothing was fed to.
func New(cfg Config) *Session {
	s := &Session{cfg: cfg, wake: make(chan struct{}, 1)}
	s.lead = lead{limit: cmp.Or(cfg.Lead, DefaultLead), realTime: cfg.RealTime, speed: cmp.Or(cfg.Speed, 1)}
	s.feed.delay = cfg.Delay
	s.feed.cut.markup = cfg.Utterance.SSML
	s.feed.cut.raw, s.feed.cut.opt = cfg.Utterance.Raw, normalize.Options{EnDigits: cfg.Utterance.EnDigits}
	return s
}

// Append adds text to what is spoken. After an error, a [speech.Refusal] or [speech.ErrBusy], it is for the caller to
// end the turn: what came before is spoken otherwise. After [ErrFinished] nothing has changed.
func (s *Session) Append(text string, sep Sep) error {
	text, err := clean(text)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.feed.finished {
		return ErrFinished
	}
	if err := s.countLocked(text); err != nil {
		return err
	}
	defer s.wakeUp()
	return s.feed.append(time.Now(), text, sep)
}

// clean refuses invalid text, and turns control characters into spaces: "a\tb" → "a b".
func clean(text string) (string, error) {
	switch {
	case !utf8.ValidString(text):
		return "", speech.ErrTextNotUTF8
	case strings.IndexByte(text, 0) >= 0:
		return "", speech.ErrTextNUL
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' && c != '\n' {
			return ' '
		}
		return c
	}, text), nil
}

// countLocked counts text, without the white space around all of it, and refuses what is too much.
func (s *Session) countLocked(text string) error {
	if s.cfg.MaxChars == 0 {
		return nil
	}
	chars, blank := s.chars, s.blank
	for _, c := range text {
		switch {
		case !unicode.IsSpace(c):
			chars, blank = chars+blank+1, 0
		case chars > 0:
			blank++
		}
	}
	disclosure := utf8.RuneCountInString(s.cfg.Utterance.Disclosure)
	if disclosure+chars > s.cfg.MaxChars {
		return speech.TextTooLong(disclosure)
	}
	s.chars, s.blank = chars, blank
	return nil
}

// Flush has everything spoken that was appended. [Sink.Flushed] comes behind its audio, also when there was nothing.
func (s *Session) Flush(tag any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.feed.finished {
		s.feed.flush(tag)
		s.wakeUp()
	}
}

// Finish has everything spoken that was appended, and ends the session.
func (s *Session) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.feed.finished {
		s.feed.finish()
		s.wakeUp()
	}
}

// Cancel drops everything that is not spoken and stops what is within a frame: Speak returns [ErrCancelled]. The
// session may be fed again at once, unless it is finished.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feed.reset()
	s.cancelled = true
	if s.stop != nil {
		s.stop(ErrCancelled)
	}
	s.wakeUp()
}

// Taken records that the client has read this many frames.
func (s *Session) Taken(frames int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lead.took(frames, time.Now())
	s.wakeUp()
}

// Finished reports whether Finish was called.
func (s *Session) Finished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feed.finished
}

// NeedsText reports whether a turn has spoken all that it can of what was fed, and waits for more.
func (s *Session) NeedsText() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits && len(s.feed.queue) == 0
}

// Done reports whether the session is finished and nothing is left of it to be spoken.
func (s *Session) Done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feed.isOver()
}

func (s *Session) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// next waits for the next step of a turn, of which a sentence has been spoken or not. It returns the cause of ctx when
// that ends first.
func (s *Session) next(ctx context.Context, begun bool) (step, error) {
	for {
		if ctx.Err() != nil {
			return step{}, context.Cause(ctx)
		}
		next, until := s.tryNext(time.Now(), begun)
		if next.what != stepWait {
			return next, nil
		}
		if err := s.await(ctx, until); err != nil {
			return step{}, err
		}
	}
}

// tryNext takes the next step out, or returns until when to wait for one.
func (s *Session) tryNext(now time.Time, begun bool) (next step, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.feed.isOver() {
		return step{what: stepEnd}, until
	}
	next = s.feed.next(now)
	if s.waits = next.what == stepWait; s.waits {
		return next, next.until
	}
	if next.what == stepSpeak && begun {
		if isFull, until := s.lead.isFull(now); isFull {
			return step{}, until
		}
	}
	return s.feed.take(), until
}

// await waits until something changes, or for a time.
func (s *Session) await(ctx context.Context, until time.Time) error {
	var expired <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		expired = t.C
	}
	select {
	case <-s.wake:
	case <-expired:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// more reports whether a sentence is ready to be spoken behind the present one, so that the worker is worth keeping.
func (s *Session) more() bool {
	s.mu.Lock()
	now := time.Now()
	_ = s.feed.next(now) // which may find that a text has waited for long enough
	isFull, _ := s.lead.isFull(now)
	speaks, isFinished := s.feed.hasSentence(), s.feed.finished
	s.mu.Unlock()
	if !speaks && isFinished {
		return s.cfg.More != nil && s.cfg.More()
	}
	return speaks && !isFull
}
