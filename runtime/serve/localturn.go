package serve

import (
	"context"
	"fmt"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/metrics"
	feed "github.com/swar-tts/swar/runtime/session"
	"github.com/swar-tts/swar/runtime/speech"
)

// LocalOrder is an utterance of a program in this process for clients of its own.
type LocalOrder struct {
	Endpoint dialect.Name // in metrics, logs and bills
	Key      string       // of the caller; empty: no key is needed, and usage is not billed
	Voice    string       // one of the model
	Text     string       // all of it, unless Fed
	SSML     bool         // Text is a document of SSML
	Fed      bool         // the text comes with [LocalTurn.Append]
}

// LocalTurn is a [LocalOrder] on its way. One goroutine may feed it while another one calls Speak.
type LocalTurn struct {
	server *Server
	grant  access.Grant
	u      speech.Utterance
	fed    *feed.Session // nil: all of the text is in u
	out    outcome
}

// NewLocalTurn returns a turn, whose Speak must be called. A refusal has been counted and logged.
func (s *Server) NewLocalTurn(ctx context.Context, o LocalOrder) (*LocalTurn, error) {
	t := &LocalTurn{server: s, out: outcome{
		endpoint: metrics.Endpoint(o.Endpoint), requestID: newRequestID(), voice: o.Voice, format: speech.PCM16,
	}}
	if err := t.open(ctx, o); err != nil {
		t.out.err = err
		s.record(ctx, &t.out)
		return nil, err
	}
	return t, nil
}

// LocalModel returns the model with the voices that a key may use. Without a key those are all.
func (s *Server) LocalModel(ctx context.Context, key string) (m speech.Model, err error) {
	grant, err := s.localGrant(ctx, key)
	if err != nil {
		return m, err
	}
	m = s.cfg.Speaker.Model()
	all := m.Voices
	m.Voices = nil
	for _, v := range all {
		if grant.Allows(v.Name) {
			m.Voices = append(m.Voices, v)
		}
	}
	return m, nil
}

func (s *Server) localGrant(ctx context.Context, key string) (access.Grant, error) {
	if key == "" {
		return s.everybody(), nil
	}
	return s.grant(ctx, access.Credentials{Key: key})
}

// open checks the order.
func (t *LocalTurn) open(ctx context.Context, o LocalOrder) (err error) {
	s := t.server
	if t.grant, err = s.localGrant(ctx, o.Key); err != nil {
		return err
	}
	t.out.keyID = t.grant.KeyID
	r := request{Utterance: speech.Utterance{
		RequestID: t.out.requestID, Service: s.cfg.Service, Disclosure: s.disclosureFor(t.grant), Text: o.Text,
		Voice:  o.Voice,
		Format: speech.PCM16, SSML: o.SSML, Temperature: speech.DefaultTemperature, Seed: newSeed(),
	}, sampleRate: speech.SampleRate}
	if o.Fed {
		r.Type = typeAppend
	}
	if err := r.validate(s.cfg.Speaker.Model(), t.grant); err != nil {
		return err
	}
	if t.u = r.Utterance; o.Fed {
		t.fed = feed.New(feed.Config{Utterance: t.u, Speak: s.speak, Group: t.u.RequestID})
	}
	return nil
}

// Append feeds text to a turn that is Fed.
func (t *LocalTurn) Append(text string) error { return t.fed.Append(text, feed.Exact) }

// Finish ends the text of a turn that is Fed.
func (t *LocalTurn) Finish() { t.fed.Finish() }

// Speak speaks the turn; take gets samples that are valid until it returns. Speak returns when all was taken, or why
// that has ended early: an error of take counts as a client that has gone.
func (t *LocalTurn) Speak(ctx context.Context, take func(samples []byte) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	k := &localSink{LocalTurn: t, queue: newAudioQueue(t.server.budget), done: ctx.Done()}
	k.meter = t.server.cfg.Meter.Begin(t.grant, string(t.out.endpoint), t.u, k)
	spoken := make(chan error, 1)
	go func() {
		defer k.queue.end()
		spoken <- t.speak(ctx, k)
	}()
	err := k.deliver(ctx, take)
	stop(err)
	if spokenErr := <-spoken; err == nil {
		err = spokenErr
	}
	k.queue.drop()
	if k.listening {
		t.server.listening.Add(-1)
	}
	k.meter.End(t.out.stats, err)
	t.out.err, t.out.chars = err, t.out.stats.Chars
	t.server.record(context.WithoutCancel(ctx), &t.out)
	return err
}

// speak is the goroutine that speaks.
func (t *LocalTurn) speak(ctx context.Context, k *localSink) (err error) {
	if t.fed != nil {
		t.out.stats, err = t.fed.Speak(ctx, fedLocally{k.meter})
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, speech.UtteranceTimeout, speech.ErrTimeout)
	defer cancel()
	t.out.stats, err = t.server.speak(ctx, t.u, speech.Turn{}, k.meter)
	if err == nil && t.out.stats.Frames == 0 {
		err = errNoAudio
	}
	return err
}

// localSink is the sink of a turn, and delivers its audio.
type localSink struct {
	*LocalTurn

	queue     audioQueue
	done      <-chan struct{} // closed when delivery has ended
	meter     *meter.Stream   // in front of it
	listening bool            // counted as one who listens
}

// Start implements [speech.Sink].
func (k *localSink) Start(speech.Start) error {
	k.listening = true
	k.server.listening.Add(1)
	return nil
}

// ChunkStart implements [speech.Sink].
func (k *localSink) ChunkStart(speech.Chunk) error { return nil }

// ChunkEnd implements [speech.Sink].
func (k *localSink) ChunkEnd(e speech.ChunkEnd) error {
	k.server.cfg.Metrics.Prefill(e.PrefillCached)
	return nil
}

// Audio implements [speech.Sink].
func (k *localSink) Audio(a speech.Audio) error {
	p := audioPiece{block: blockOf(a.Data), frames: a.Frames}
	if err := k.queue.spool.reserve(k.done, p.size()); err != nil {
		p.free()
		return err
	}
	k.queue.put(p)
	return nil
}

// deliver gives take what is spoken, until there is no more.
func (k *localSink) deliver(ctx context.Context, take func([]byte) error) error {
	for k.queue.next(ctx.Done()) {
		p := k.queue.take()
		err := take(p.bytes)
		frames := p.frames
		k.queue.release(p)
		if err != nil {
			return fmt.Errorf("%w: %w", speech.ErrClientGone, err)
		}
		k.meter.Taken(frames)
		if k.fed != nil {
			k.fed.Taken(frames)
		}
	}
	return context.Cause(ctx)
}

// fedLocally is the sink of a turn that is fed, and never flushed or asked for words.
type fedLocally struct{ *meter.Stream }

// Flushed implements [feed.Sink].
func (fedLocally) Flushed(feed.Flushed) error { return nil }

// Source implements [feed.Sink].
func (fedLocally) Source([]speech.Word) error { return nil }

// FaultOf returns an error of a [LocalTurn] as a client sees it. ok is false if there is no client left.
func FaultOf(err error) (f dialect.Fault, ok bool) { return faultOf(err, ""), !endedByClient(err) }
