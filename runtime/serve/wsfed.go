package serve

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
	feed "github.com/swar-tts/swar/runtime/session"
	"github.com/swar-tts/swar/runtime/speech"
)

// feedIdle is how long an utterance may be fed nothing while another one waits behind it. docs/websocket.md promises
// it.
const feedIdle = 30 * time.Second

// finishedByIdle says in an end event that we have finished the utterance.
const finishedByIdle = "idle"

var (
	errIDMissing = &speech.Refusal{Code: speech.CodeBadRequest, Text: "request_id: an append needs one"}
	errIDUnknown = &speech.Refusal{Code: speech.CodeBadRequest, Text: "request_id: not in use"}
)

// fedText is the text of an utterance that comes piece by piece.
type fedText struct {
	*feed.Session

	// Guarded by the mutex of turns.
	waiting    int         // bytes that came before the utterance was spoken
	idle       *time.Timer // finishes it; runs while it is spoken
	finishedBy string      // who finished it, if not the client
}

// newFedText returns the text of u, still empty. The limits of cfg apply.
func (c *turns) newFedText(u *utterance, cfg feed.Config) *fedText {
	cfg.Utterance, cfg.Speak, cfg.Group, cfg.More = u.Utterance, c.server.speak, c.group, c.more
	cfg.Disclose = func(ctx context.Context) (string, error) { return c.disclosureNow(ctx, u) }
	return &fedText{Session: feed.New(cfg)}
}

// appendText feeds text to an utterance. The first message with its id opens it.
func (c *session) appendText(ctx context.Context, req request, id string, read time.Time) error {
	text := req.Utterance.Text
	switch {
	case req.badRequestID:
		return errRequestID
	case id == "":
		return errIDMissing
	}
	u := c.find(id)
	switch {
	case u == nil:
		req.Utterance.Text = ""
		u, err := c.utteranceOf(ctx, req, read)
		if err != nil {
			return err
		}
		u.fed = c.newFedText(u, feed.Config{MaxChars: speech.MaxChars, MaxChunks: speech.MaxChunks})
		if err := u.fed.Append(text, feed.Exact); err != nil {
			return err
		}
		u.fed.waiting = len(text)
		return c.enqueue(ctx, u)
	case u.fed == nil:
		return errIDInUse
	}
	err := c.admit(u, len(text))
	if err == nil {
		err = u.fed.Append(text, feed.Exact)
	}
	switch {
	case errors.Is(err, feed.ErrFinished):
		return errIDInUse
	case err != nil:
		c.fail(ctx, u, err)
	}
	return nil
}

// find returns the utterance called id, or nil.
func (c *session) find(id string) *utterance {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.all {
		if u.RequestID == id {
			return u
		}
	}
	return nil
}

// admit counts n bytes of text for u, which is being fed, unless too much is waiting.
func (c *turns) admit(u *utterance, n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Index(c.all, u) < c.begun {
		if u.fed.idle != nil {
			u.fed.idle.Reset(feedIdle)
		}
		return nil
	}
	if c.text+n > maxWaitingText {
		return speech.ErrBusy
	}
	c.text += n
	u.fed.waiting += n
	return nil
}

// fail ends u with an error, wherever it is on its way.
func (c *session) fail(ctx context.Context, u *utterance, why error) {
	waiting, _ := c.take(func(o *utterance) bool { return o == u })
	if len(waiting) == 0 {
		c.end(why, u)
		return
	}
	c.refuse(ctx, &u.Utterance, why)
}

// fedBy returns the utterance called id that is being fed, or the newest one if id is empty.
func (c *session) fedBy(id string) (*utterance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.all) - 1; i >= 0; i-- {
		u := c.all[i]
		if u.fed != nil && (id == "" || u.RequestID == id) && !u.fed.Finished() {
			return u, nil
		}
	}
	return nil, errIDUnknown
}

// flush has everything spoken that an utterance was fed.
func (c *session) flush(id string) error {
	u, err := c.fedBy(id)
	if err == nil {
		u.fed.Flush(nil)
	}
	return err
}

// finish ends the feeding of an utterance.
func (c *session) finish(id string) error {
	u, err := c.fedBy(id)
	if err == nil {
		u.fed.Finish()
	}
	return err
}

// speakFed speaks what u is fed until it is finished.
func (c *turns) speakFed(ctx context.Context, u *utterance) (speech.Stats, error) {
	c.mu.Lock()
	u.fed.idle = time.AfterFunc(feedIdle, func() { c.finishIdle(u) })
	c.mu.Unlock()
	defer u.fed.idle.Stop()
	st, err := u.fed.Speak(ctx, fedSink{u.meter, u.output})
	err = u.output.finish(err)
	if errors.Is(err, speech.ErrTimeout) && c.out.hasAudioOf(u) {
		err = speech.ErrUnreadAudio
	}
	return st, err
}

// finishIdle finishes u, which is spoken and was fed nothing for a while, if another one waits for it, or the socket
// is to be closed.
func (c *turns) finishIdle(u *utterance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun == len(c.all) && c.ending == nil || u.fed.Finished() {
		return
	}
	u.fed.finishedBy = finishedByIdle
	u.fed.Finish()
}

// waitForFedLocked records that another utterance waits for one that may be unfinished.
func (c *turns) waitForFedLocked() {
	for _, u := range c.all[:c.begun] {
		if u.fed != nil && u.fed.idle != nil {
			u.fed.idle.Reset(feedIdle)
		}
	}
}

// fedSink is the output of an utterance that is fed, with its meter in front.
type fedSink struct {
	*meter.Stream
	output output
}

// Source implements [feed.Sink].
func (s fedSink) Source(words []speech.Word) error { return s.output.Source(words) }

// Flushed implements [feed.Sink].
func (s fedSink) Flushed(f feed.Flushed) error { return s.output.Flushed(f) }
