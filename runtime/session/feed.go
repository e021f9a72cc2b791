package session

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/ssml"
)

// How long a text may wait for more, and how much of it.
const (
	stopWait = 250 * time.Millisecond // after which a mark at the end of the text ends a sentence

	maxBuffer = 16 << 10  // bytes without an end
	maxQueue  = 256 << 10 // bytes that are not spoken yet
)

// feed is what was fed and is not spoken yet: sentences in their order, flushes between them, and a text without an
// end. It is a state machine: messages and the time go in, steps come out.
type feed struct {
	cut      cutter
	delay    time.Duration // for which a text waits for its end; 0: for ever
	queue    []item
	size     int // bytes of the sentences in queue
	last     time.Time
	since    time.Time // when the text without an end began
	finished bool

	message normalize.Message // what was taken out since the last flush
}

// item is a sentence, or what is to be done behind those before it.
type item struct {
	sentence
	what stepKind
	tag  any
}

type stepKind int

const (
	stepWait    stepKind = iota // until a time, or for a message
	stepSpeak                   // text
	stepFlushed                 // a flush has been reached
	stepEnd                     // nothing more will come
)

// step is the next action.
type step struct {
	what  stepKind
	text  string    // to speak
	tag   any       // of the flush
	until time.Time // zero: for a message

	message normalize.Message // that text is a piece of, as far as it is known
}

// append adds text that arrived now.
func (f *feed) append(now time.Time, text string, sep Sep) error {
	if f.size+len(f.cut.text)+len(text) > maxQueue {
		return speech.ErrBusy
	}
	if text == "" {
		return nil
	}
	if strings.TrimSpace(f.cut.text) == "" {
		f.since = now
	}
	before := len(f.cut.text)
	f.last = now
	if f.push(f.cut.add(text, sep)); len(f.cut.text) < before+len(text) {
		f.since = now // what is left of it came just now
	}
	switch {
	case utf8.RuneCountInString(strings.TrimSpace(f.cut.text)) > speech.MaxChars:
		return speech.ErrTextTooLong
	case len(f.cut.text) > maxBuffer:
		return speech.ErrBusy
	}
	return nil
}

func (f *feed) push(all []sentence) {
	for _, s := range all {
		f.queue = append(f.queue, item{sentence: s, what: stepSpeak})
		f.size += len(s.text)
	}
}

func (f *feed) flush(tag any) {
	f.push(f.cut.flush())
	f.queue = append(f.queue, item{what: stepFlushed, tag: tag})
}

func (f *feed) finish() {
	f.push(f.cut.rest())
	f.queue = append(f.queue, item{what: stepEnd})
	f.finished = true
}

// next returns the next step, which take performs. A text that has waited long enough becomes a sentence.
func (f *feed) next(now time.Time) step {
	if len(f.queue) == 0 {
		until := f.expires()
		if until.IsZero() || now.Before(until) {
			return step{until: until}
		}
		if f.cut.stops() && !now.Before(f.last.Add(stopWait)) {
			f.push(f.cut.flush())
		} else {
			f.push(f.cut.upToSpace())
		}
		f.since = now
	}
	return step{what: f.queue[0].what, tag: f.queue[0].tag}
}

// expires returns when the text without an end is spoken although none has come; zero: never.
func (f *feed) expires() (at time.Time) {
	if strings.TrimSpace(f.cut.text) == "" {
		return at
	}
	if f.cut.stops() {
		at = f.last.Add(stopWait)
	}
	if by := f.since.Add(f.delay); f.delay > 0 && (at.IsZero() || by.Before(at)) {
		at = by
	}
	return at
}

// take performs the step of next. Short sentences are joined with the following ones.
func (f *feed) take() step {
	first := f.queue[0]
	f.queue = f.queue[1:]
	s := step{what: first.what, tag: first.tag}
	if first.what != stepSpeak {
		f.message = normalize.Message{}
		return s
	}
	text, line := first.text, first.line
	for len(f.queue) > 0 && f.queue[0].what == stepSpeak && !hasWords(f.cut.plain(text), minWords) {
		joined := text + f.queue[0].text
		if utf8.RuneCountInString(joined) > speech.MaxChars {
			break
		}
		text, line = joined, f.queue[0].line
		f.queue = f.queue[1:]
	}
	f.size -= len(text)
	if len(f.queue) == 0 {
		f.queue = nil
	}
	s.text = strings.TrimFunc(text, unicode.IsSpace)
	if !f.cut.raw {
		f.message.Add(f.cut.plain(s.text))
		s.message = f.message
	}
	switch {
	case f.cut.markup:
		s.text = ssml.Document(s.text)
	case line && !f.cut.raw:
		s.text += normalize.LineEnd(s.text, f.cut.opt.In(&s.message))
	}
	return s
}

// hasSentence reports whether a sentence is ready to be spoken.
func (f *feed) hasSentence() bool {
	return slices.ContainsFunc(f.queue, func(i item) bool { return i.what == stepSpeak })
}

// reset drops everything that is not spoken.
func (f *feed) reset() {
	*f = feed{cut: cutter{raw: f.cut.raw, markup: f.cut.markup, opt: f.cut.opt}, delay: f.delay, finished: f.finished}
}

// isOver reports whether nothing is left and nothing will come.
func (f *feed) isOver() bool { return f.finished && len(f.queue) == 0 }
