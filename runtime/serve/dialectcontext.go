package serve

import (
	"context"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
	feed "github.com/swar-tts/swar/runtime/session"
	"github.com/swar-tts/swar/runtime/speech"
)

// maxTurns is how many turns of a context may wait behind the current one. Their texts are limited like all others.
const maxTurns = 256

// vendorContext is a context of a dialect: turns that are spoken one after another.
type vendorContext struct {
	turns
	session *vendorSession
	name    string

	// Guarded by the mutex of the connection.
	order dialect.Order // of the next turn, as feed
	feed  dialect.Feed
	open  *vendorTurn // takes text; nil: the next text begins another one
	over  bool        // nothing is fed any more
	idle  *time.Timer // nil: it may idle
}

// append feeds text to the open turn.
func (x *vendorContext) append(ctx context.Context, a dialect.Append) {
	if a.Text == "" {
		return
	}
	t := x.turn(ctx)
	if t == nil {
		return
	}
	t.blank.Store(false)
	sep := feed.Exact
	if a.Piece {
		sep = feed.Piece
	}
	err := x.admit(t.utterance, len(a.Text))
	if err == nil {
		err = t.fed.Append(a.Text, sep)
	}
	if err != nil {
		x.fail(ctx, t, err)
	}
}

// flush has the open turn spoken, and ends it where a flush does so.
func (x *vendorContext) flush(ctx context.Context, tag any) {
	t := x.turn(ctx)
	if t == nil {
		return
	}
	t.fed.Flush(tag)
	if t.flushEnds {
		x.shut(t, false)
		t.fed.Finish()
	}
}

// finish ends the context when the open turn has been spoken.
func (x *vendorContext) finish(ctx context.Context) {
	if t := x.turn(ctx); t != nil {
		x.shut(t, true)
		t.fed.Finish()
	}
}

// shut lets t take no text any more, and the context neither if it is over.
func (x *vendorContext) shut(t *vendorTurn, isOver bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open == t {
		x.open = nil
		x.over = x.over || isOver
	}
}

// fail ends a turn with an error, wherever it is on its way.
func (x *vendorContext) fail(ctx context.Context, t *vendorTurn, why error) {
	x.shut(t, !t.flushEnds)
	waiting, _ := x.take(func(o *utterance) bool { return o == t.utterance })
	if len(waiting) == 0 {
		x.end(why, t.utterance)
		return
	}
	t.refuse(ctx.Done(), why)
	t.record(speech.Stats{}, why)
}

// turn returns the turn that receives text. It begins one if there is none, or sends the client an error and returns
// nil.
func (x *vendorContext) turn(ctx context.Context) *vendorTurn {
	x.mu.Lock()
	t, order, fed := x.open, x.order, x.feed
	x.mu.Unlock()
	if t != nil {
		return t
	}
	t, err := x.newTurn(ctx, order, fed)
	if err == nil {
		x.mu.Lock()
		x.open = t
		x.mu.Unlock()
		if err = x.enqueue(ctx, t.utterance); err == nil {
			return t
		}
	}
	x.mu.Lock()
	x.open = nil
	x.over = x.over || !fed.FlushEnds
	if len(x.all) == 0 {
		x.session.emptiedLocked(&x.turns)
	}
	x.mu.Unlock()
	x.session.refuse(ctx, x.name, err)
	return nil
}

func (x *vendorContext) newTurn(ctx context.Context, order dialect.Order, f dialect.Feed) (*vendorTurn, error) {
	grant, err := x.server.grant(ctx, x.creds)
	if err != nil {
		return nil, err
	}
	u := &utterance{Utterance: order.Utterance, queue: &x.turns, word: speech.Format(order.Word)}
	if !grant.Allows(u.Voice) {
		return nil, speech.VoiceNotAllowed(u.Voice)
	}
	if u.Lexicon, err = lexiconFor(grant, order.Lexicon); err != nil {
		return nil, err
	}
	u.RequestID, u.Disclosure, u.Service = newRequestID(), x.server.disclosureFor(grant), x.server.cfg.Service
	u.Text, u.Format = "", speech.PCM16
	if !order.HasSeed {
		u.Seed = newSeed()
	}
	u.ahead = f.Pace
	u.blank.Store(true)
	u.fed = x.newFedText(u, feed.Config{
		SourceWords: f.SourceWords, Delay: f.Delay, Lead: f.Lead, RealTime: f.SilentInterrupts,
		Speed: order.Audio.Speed,
	})
	t := &vendorTurn{utterance: u, context: x, flushEnds: f.FlushEnds, audio: order.Audio}
	u.output = t
	return t, nil
}

// finishIdle finishes the context after its idle time, unless a part of it is still to be played.
func (x *vendorContext) finishIdle(ctx context.Context) {
	x.mu.Lock()
	isOver, isBusy := x.over || ctx.Err() != nil, len(x.all) > 0
	if len(x.all) == 1 && x.open != nil {
		isBusy = !x.open.fed.NeedsText() || x.out.hasAudioOf(x.open.utterance)
	}
	if isBusy && !isOver && x.idle != nil {
		x.idle.Reset(x.feed.Idle)
	}
	x.mu.Unlock()
	if !isBusy && !isOver {
		x.finish(ctx)
	}
}

func (x *vendorContext) stopIdling() {
	if x.idle != nil {
		x.idle.Stop()
	}
}
