package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// turns are the utterances of a session that have not ended, in the order in which they were sent. The client hears
// the first one. A goroutine speaks them one after another, the next as soon as the one before is encoded and there is
// room for it.
type turns struct {
	mu         sync.Mutex
	all        []*utterance
	begun      int   // so many of them, from the front, were given to the goroutine that speaks
	withWorker int   // so many of these have or had a worker
	text       int   // bytes of text of the others
	speaking   bool  // the goroutine runs
	ending     error // why no utterance is taken any more; the socket closes when all have ended. Nil: it goes on
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
	u := &utterance{Utterance: req.Utterance, session: c, read: read}
	if !req.HasSeed {
		u.Seed = newSeed()
	}
	if u.Format == speech.WAV {
		u.Format = speech.PCM16 // a stream of utterances is no file
	}
	return u, nil
}

// enqueue lets u be spoken when its turn has come.
func (c *session) enqueue(ctx context.Context, u *utterance) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case slices.ContainsFunc(c.all, func(o *utterance) bool { return o.RequestID == u.RequestID }):
		return errIDInUse
	case c.ending != nil:
		return c.ending
	case len(c.all) > maxWaiting, c.speaking && c.text+u.textSize() > maxWaitingText:
		return speech.ErrBusy
	}
	if c.begun == len(c.all) {
		c.waitForFedLocked()
	}
	c.all = append(c.all, u)
	c.text += u.textSize()
	if len(c.all) == 1 {
		c.limitLocked(u)
	}
	if !c.speaking {
		c.speaking = true
		next := c.beginLocked()
		c.voice.Go(func() { _ = c.guard(func() error { return c.speak(ctx, next) }) })
	}
	return nil
}

// beginLocked returns the utterance that is spoken next, or nil.
func (c *session) beginLocked() *utterance {
	if c.begun == len(c.all) {
		return nil
	}
	u := c.all[c.begun]
	c.begun++
	c.text -= u.textSize()
	return u
}

// limitLocked begins the 120 s of u, which has become the first. Of one that is fed each sentence has its own.
func (c *session) limitLocked(u *utterance) {
	if u.fed != nil {
		return
	}
	u.limit = time.AfterFunc(speech.UtteranceTimeout, func() { c.expire(u) })
}

// expire ends u because its 120 s are over: through the fault of the client, if audio waits for it.
func (c *session) expire(u *utterance) {
	why := speech.ErrTimeout
	if c.out.owes(u) {
		why = speech.ErrUnheard
	}
	c.end(u, why)
}

// more tells the speaker whether to keep the worker.
func (c *session) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun < len(c.all) && c.out.spool.hasRoom(groupBlock)
}

// speak speaks u and what is queued behind it, and then ends.
func (c *session) speak(ctx context.Context, u *utterance) error {
	for u != nil {
		c.say(ctx, u)
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

// say has u spoken. That the client has it all, the goroutine that writes will find out.
func (c *session) say(session context.Context, u *utterance) {
	ctx, stop := context.WithCancelCause(session)
	defer stop(nil)
	turn := speech.Turn{Asked: time.Now(), Session: c.id, More: c.more}
	u.meter = c.server.cfg.Meter.Begin(c.grant, string(metrics.WS), u.Utterance, u)
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
		_ = u.settle(err)
	}
	if u.hasWorker || u.flushed {
		c.out.putLast(u, func() any { return c.last(u) })
	} else if event := c.last(u); event != nil { // nothing of it was sent, so nothing has to be waited for
		c.out.answer(session.Done(), event)
	}
}

// speakWhole speaks u, all of whose text is there.
func (c *session) speakWhole(ctx context.Context, u *utterance, turn speech.Turn) (st speech.Stats, err error) {
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
func (c *session) disclosureNow(ctx context.Context, u *utterance) (string, error) {
	grant, err := c.server.grant(ctx, c.creds)
	if err != nil {
		return "", err
	}
	if !grant.Allows(u.Voice) {
		return "", speech.VoiceNotAllowed(u.Voice)
	}
	now := u.Utterance
	now.Disclosure = c.server.disclosureFor(grant)
	return now.Disclosure, checkLength(&now)
}

// mayBeginSpeaking makes stop what stops u, or returns why it was stopped before.
func (c *session) mayBeginSpeaking(u *utterance, stop context.CancelCauseFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.stop = stop
	return u.why
}

// assigned notes that u has a worker.
func (c *session) assigned(u *utterance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.hasWorker = true
	if c.withWorker++; c.withWorker == 1 {
		c.server.listening.Add(1)
	}
}

// hasSpoken notes that the speaker has ended, and returns why it was stopped, if it was.
func (c *session) hasSpoken(u *utterance) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.spoken, u.stop = true, nil
	return u.why
}

// last is called when everything of u has been sent. It returns the last event, or nil if nobody is to be told.
func (c *session) last(u *utterance) any {
	_ = u.settle(nil) // all of it, if nothing else has ended it before
	c.leave(u)
	return u.lastEvent()
}

// leave takes u out: its id may be used again, and the next one is the first.
func (c *session) leave(u *utterance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.all, u)
	if i < 0 {
		return
	}
	c.all = slices.Delete(c.all, i, i+1)
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
	c.closeIfEndingLocked()
}

func (c *session) notListeningLocked() {
	if c.withWorker--; c.withWorker == 0 {
		c.server.listening.Add(-1)
	}
}

// end stops u, for the reason why, wherever it is on its way: what the client has not got of it, it will not get.
func (c *session) end(u *utterance, why error) {
	c.mu.Lock()
	if u.why == nil {
		u.why = why
	}
	why, stop, spoken := u.why, u.stop, u.spoken
	c.mu.Unlock()
	c.out.drop(u)
	switch {
	case spoken:
		_ = u.settle(why)
	case stop != nil:
		stop(why)
	}
}

// cancel ends the utterance called id, or every one if id is empty. One that is unknown has ended already: its end and
// the cancel crossed on the way, which is nobody's mistake and needs no answer.
func (c *session) cancel(ctx context.Context, id string) {
	named := func(u *utterance) bool { return id == "" || u.RequestID == id }
	waiting, begun := c.take(named)
	for _, u := range begun {
		if named(u) {
			c.end(u, errCancelled)
		}
	}
	for _, u := range waiting {
		c.out.answer(ctx.Done(), u.cancelledEvent(0))
		c.record(&u.Utterance, speech.Stats{}, errCancelled)
	}
}

// take takes out those that match and have not begun, and returns them, and all that have begun.
func (c *session) take(match func(*utterance) bool) (waiting, begun []*utterance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := slices.Clone(c.all[:c.begun])
	for _, u := range c.all[c.begun:] {
		if !match(u) {
			kept = append(kept, u)
			continue
		}
		waiting = append(waiting, u)
		c.text -= u.textSize()
		if u.limit != nil {
			u.limit.Stop()
		}
	}
	begun, c.all = c.all[:c.begun], kept
	return waiting, begun
}

// dismiss takes no utterance any more and refuses those that have not begun. It does not block: a client without room
// for an event learns enough from the close. It returns those that have begun.
func (c *session) dismiss(why error) (begun []*utterance) {
	waiting, begun := c.seal(why)
	for _, u := range waiting {
		c.out.answer(noWait, errorEventOf(u.RequestID, why))
		c.record(&u.Utterance, speech.Stats{}, why)
	}
	return begun
}

// seal takes no utterance any more, for the reason why, and takes out those that have not begun. Draining is the only
// reason that another one may follow.
func (c *session) seal(why error) (waiting, begun []*utterance) {
	c.mu.Lock()
	if c.ending == nil || errors.Is(c.ending, speech.ErrDraining) {
		c.ending = why
	}
	c.waitForFedLocked()
	c.mu.Unlock()
	return c.take(func(*utterance) bool { return true })
}

// abandon ends everything, for the reason why, when the connection is over.
func (c *session) abandon(why error) {
	waiting, begun := c.seal(why)
	for _, u := range waiting {
		c.record(&u.Utterance, speech.Stats{}, why)
	}
	for _, u := range begun {
		c.end(u, why)
	}
}

// forget lets go of what is left when every goroutine of the session has ended.
func (c *session) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.all {
		if u.limit != nil {
			u.limit.Stop()
		}
		if u.hasWorker {
			c.notListeningLocked()
		}
	}
	c.all, c.begun = nil, 0
}

// closeIfEndingLocked closes when no utterance is left and none is taken any more.
func (c *session) closeIfEndingLocked() {
	switch {
	case c.ending == nil || len(c.all) > 0:
	case errors.Is(c.ending, access.ErrInvalidKey):
		c.out.close(websocket.FormatCloseMessage(websocket.ClosePolicyViolation, access.ErrInvalidKey.Error()), false)
	default:
		c.out.close(websocket.FormatCloseMessage(websocket.CloseGoingAway, goingAway), false)
	}
}
