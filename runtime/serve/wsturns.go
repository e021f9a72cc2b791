package serve

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// turns are the unfinished utterances of a connection, in the order of their messages. The client hears the first one.
// A goroutine speaks them one after another, the next as soon as the one before is encoded and there is room for it.
type turns struct {
	*connection
	group string // of the utterances at the speaker
	most  int    // utterances that may wait behind the current one

	// Guarded by the mutex of the connection.
	all      []*utterance
	begun    int  // how many, from the front, were passed to the speaking goroutine
	speaking bool // the goroutine runs
}

// accept queues the utterance that req asks for.
func (c *session) accept(ctx context.Context, req request, read time.Time) error {
	u, err := c.utteranceOf(ctx, req, read)
	if err != nil {
		return err
	}
	return c.enqueue(ctx, u)
}

// utteranceOf returns what req asks for, or refuses it.
func (c *session) utteranceOf(ctx context.Context, req request, read time.Time) (*utterance, error) {
	grant, err := c.server.grant(ctx, c.creds)
	if err != nil {
		return nil, err
	}
	req.Utterance.Disclosure, req.Utterance.Service = c.server.disclosureFor(grant), c.server.cfg.Service
	if err := req.validate(c.server.cfg.Speaker.Model(), grant); err != nil {
		return nil, err
	}
	u := &utterance{Utterance: req.Utterance, queue: &c.turns, read: read}
	u.output = u
	if !req.HasSeed {
		u.Seed = newSeed()
	}
	if u.Format == speech.WAV {
		u.Format = speech.PCM16 // a stream of utterances is not a file
	}
	u.word = u.Format
	return u, nil
}

// enqueue lets u be spoken when its turn has come.
func (c *turns) enqueue(ctx context.Context, u *utterance) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case slices.ContainsFunc(c.all, func(o *utterance) bool { return o.RequestID == u.RequestID }):
		return errIDInUse
	case c.ending != nil:
		return c.ending
	case len(c.all) > c.most, c.speaking && c.text+u.textSize() > maxWaitingText:
		return speech.ErrBusy
	}
	if c.begun == len(c.all) {
		c.waitForFedLocked()
	}
	c.all = append(c.all, u)
	c.left++
	c.text += u.textSize()
	if len(c.all) == 1 {
		c.limitLocked(u)
	}
	if c.speaking {
		return nil
	}
	if next := c.beginLocked(); next != nil {
		c.speaking = true
		c.voices.Go(func() { _ = c.guard(func() error { return c.speak(ctx, next) }) })
	}
	return nil
}

// beginLocked returns the utterance that is spoken next, or nil.
func (c *turns) beginLocked() *utterance {
	if c.begun == len(c.all) || c.isShut {
		return nil
	}
	u := c.all[c.begun]
	c.begun++
	c.text -= u.textSize()
	return u
}

// limitLocked begins the 120 s of u, which has become the first. Of one that is fed each sentence has its own.
func (c *turns) limitLocked(u *utterance) {
	if u.fed != nil {
		return
	}
	u.limit = time.AfterFunc(speech.UtteranceTimeout, func() { c.expire(u) })
}

// expire ends u because its 120 s are over: through the fault of the client, if audio waits for it.
func (c *turns) expire(u *utterance) {
	why := speech.ErrTimeout
	if c.out.hasAudioOf(u) {
		why = speech.ErrUnreadAudio
	}
	c.end(why, u)
}

// more reports to the speaker whether to keep the worker.
func (c *turns) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun < len(c.all) && c.out.spool.hasRoom(groupBlock)
}

// speak speaks u and what is queued behind it, and then ends.
func (c *turns) speak(ctx context.Context, u *utterance) error {
	for u != nil {
		c.speakNext(ctx, u)
		if err := c.out.spool.awaitRoom(ctx.Done(), groupBlock); err != nil {
			return err // the session is over
		}
		c.mu.Lock()
		u = c.beginLocked()
		c.speaking = u != nil
		c.mu.Unlock()
	}
	return nil
}

// speakNext has u spoken. That the client has it all, the goroutine that writes will find out.
func (c *turns) speakNext(connection context.Context, u *utterance) {
	ctx, stop := context.WithCancelCause(connection)
	defer stop(nil)
	turn := speech.Turn{QueuedSince: time.Now(), Session: c.group, More: c.more}
	billed := u.Utterance
	billed.Format = u.word
	u.meter = c.server.cfg.Meter.Begin(c.grant, string(c.endpoint), billed, u.output)
	u.done = ctx.Done()
	err := c.mayBeginSpeaking(u, stop)
	if err == nil {
		err = context.Cause(ctx)
	}
	switch {
	case err != nil:
	case u.fed != nil:
		u.stats, err = c.speakFed(ctx, u)
	default:
		u.stats, err = c.speakWhole(ctx, u, turn)
	}
	if why := c.hasSpoken(u); why != nil {
		err = why
	}
	switch {
	case errors.Is(err, errStopped): // the socket is closing
		err = errLeft
	case errors.Is(err, speech.ErrClientSlow):
		c.tooSlow()
	}
	if err != nil {
		_ = u.recordEnd(err)
	}
	u.output.conclude(connection.Done())
}

// speakWhole speaks u, all of whose text is there.
func (c *turns) speakWhole(ctx context.Context, u *utterance, turn speech.Turn) (st speech.Stats, err error) {
	spoken := u.Utterance
	if spoken.Disclosure, err = c.disclosureNow(ctx, u); err != nil {
		return st, err
	}
	st, err = c.server.speak(ctx, spoken, turn, u.meter)
	if err == nil && !u.sounds {
		err = errNoAudio
	}
	return st, err
}

// disclosureNow returns what is spoken before u, or why u may not be spoken any more: its key may have changed while u
// waited.
func (c *turns) disclosureNow(ctx context.Context, u *utterance) (string, error) {
	grant, err := c.server.grant(ctx, c.creds)
	if err != nil {
		return "", err
	}
	if !grant.Allows(u.Voice) {
		return "", speech.VoiceNotAllowed(u.Voice)
	}
	now := u.Utterance
	now.Disclosure = c.server.disclosureFor(grant)
	now.SSML = now.SSML && u.fed == nil // an appended utterance has no text here, and is not a document yet
	return now.Disclosure, checkLength(&now)
}

// mayBeginSpeaking makes stop what stops u, or returns why it was stopped before.
func (c *turns) mayBeginSpeaking(u *utterance, stop context.CancelCauseFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.stop = stop
	return u.why
}

// assigned notes that u has a worker.
func (c *turns) assigned(u *utterance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.hasWorker = true
	if c.withWorker++; c.withWorker == 1 {
		c.server.listening.Add(1)
	}
}

// hasSpoken notes that the speaker has ended, and returns why it was stopped, if it was.
func (c *turns) hasSpoken(u *utterance) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.spoken, u.stop = true, nil
	return u.why
}

// leave takes u out: its id may be used again, and the next one is the first.
func (c *turns) leave(u *utterance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.all, u)
	if i < 0 {
		return
	}
	c.all = slices.Delete(c.all, i, i+1)
	c.left--
	if i < c.begun {
		c.begun--
	} else {
		c.text -= u.textSize()
	}
	if u.limit != nil {
		u.limit.Stop()
	}
	if u.hasWorker {
		c.notListeningLocked()
	}
	if i == 0 && len(c.all) > 0 {
		c.limitLocked(c.all[0])
	}
	if len(c.all) == 0 {
		c.protocol.emptiedLocked(c)
	}
	c.closeIfEndingLocked()
}

func (c *connection) notListeningLocked() {
	if c.withWorker--; c.withWorker == 0 {
		c.server.listening.Add(-1)
	}
}

// end stops utterances, for the reason why, in any state: unsent audio is dropped. All are stopped before the end of
// the first one is sent, so that none of them begins meanwhile.
func (c *connection) end(why error, all ...*utterance) {
	stops := make([]func(), len(all))
	senders := make([]sender, len(all))
	c.mu.Lock()
	for i, u := range all {
		if u.why == nil {
			u.why = why
		}
		why, stop := u.why, u.stop
		senders[i], stops[i] = u, func() {}
		switch {
		case u.spoken:
			stops[i] = func() { _ = u.recordEnd(why) }
		case stop != nil:
			stops[i] = func() { stop(why) }
		}
	}
	c.mu.Unlock()
	c.out.drop(senders...)
	for _, stop := range stops {
		stop()
	}
}

// cancel ends the utterance called id, or every one if id is empty. An unknown one has ended already: its end and the
// cancel crossed on the way, which is not an error and needs no answer.
func (c *session) cancel(ctx context.Context, id string) {
	named := func(u *utterance) bool { return id == "" || u.RequestID == id }
	waiting, begun := c.take(named)
	c.end(errCancelled, slices.DeleteFunc(slices.Clone(begun), func(u *utterance) bool { return !named(u) })...)
	for _, u := range waiting {
		c.out.answer(ctx.Done(), u.cancelledEvent(0))
		u.record(speech.Stats{}, errCancelled)
	}
}

// take removes matching utterances that have not begun, and returns them, and all that have begun.
func (c *turns) take(match func(*utterance) bool) (waiting, begun []*utterance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.takeLocked(match)
}

func (c *turns) takeLocked(match func(*utterance) bool) (waiting, begun []*utterance) {
	kept := slices.Clone(c.all[:c.begun])
	for _, u := range c.all[c.begun:] {
		if !match(u) {
			kept = append(kept, u)
			continue
		}
		waiting = append(waiting, u)
		c.left--
		c.text -= u.textSize()
		if u.limit != nil {
			u.limit.Stop()
		}
	}
	begun, c.all = c.all[:c.begun], kept
	return waiting, begun
}

// dismiss accepts no more utterances and refuses those that have not begun. It does not block: a client without room
// for an event sees the close. It returns those that have begun.
func (c *connection) dismiss(why error) (begun []*utterance) {
	waiting, begun := c.seal(why)
	for _, u := range waiting {
		u.output.refuse(noWait, why)
		u.record(speech.Stats{}, why)
	}
	return begun
}

// seal accepts no more utterances, for the reason why, and removes those that have not begun. Draining and a requested
// close are the only reasons that another reason may replace.
func (c *connection) seal(why error) (waiting, begun []*utterance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, isAsked := errors.AsType[*closeRequested](c.ending)
	isDraining := errors.Is(why, speech.ErrDraining)
	if c.ending == nil || isAsked && !isDraining || errors.Is(c.ending, speech.ErrDraining) {
		c.ending = why
	}
	for _, q := range c.protocol.queuesLocked() {
		q.waitForFedLocked()
		w, b := q.takeLocked(func(*utterance) bool { return true })
		waiting, begun = append(waiting, w...), append(begun, b...)
	}
	return waiting, begun
}

// abandon ends everything, for the reason why, when the connection is over.
func (c *connection) abandon(why error) {
	waiting, begun := c.seal(why)
	for _, u := range waiting {
		u.record(speech.Stats{}, why)
	}
	c.end(why, begun...)
}

// forget lets go of what is left when every goroutine of the connection has ended.
func (c *connection) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.protocol.queuesLocked() {
		for _, u := range q.all {
			if u.limit != nil {
				u.limit.Stop()
			}
			if u.hasWorker {
				c.notListeningLocked()
			}
		}
		q.all, q.begun = nil, 0
	}
	c.left = 0
	c.protocol.forgetLocked()
}

// closeIfEndingLocked closes when no utterance is left and none is taken any more.
func (c *connection) closeIfEndingLocked() {
	if c.ending == nil || c.left > 0 {
		return
	}
	frame := websocket.FormatCloseMessage(websocket.CloseGoingAway, goingAway)
	if asked, ok := errors.AsType[*closeRequested](c.ending); ok {
		frame = asked.frame
	} else if errors.Is(c.ending, access.ErrInvalidKey) {
		frame = websocket.FormatCloseMessage(websocket.ClosePolicyViolation, access.ErrInvalidKey.Error())
	}
	c.out.close(frame, false)
}

// closeRequested ends a connection as its protocol wants, when everything has been spoken and sent.
type closeRequested struct{ frame []byte }

func (*closeRequested) Error() string { return "the client has asked for the end" }
