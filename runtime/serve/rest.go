package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/speech"
)

// maxBody is the largest request in bytes. The longest legal text takes 48,000 when each of its characters is escaped.
const maxBody = 1 << 20

// tts answers POST /v1/tts.
func (s *Server) tts(w http.ResponseWriter, r *http.Request, grant access.Grant, o *outcome) error {
	return s.answerSpeech(w, r, grant, o, fromREST)
}

// answerSpeech answers with what is spoken: with bare audio, or with lines for a request that is fromWords.
func (s *Server) answerSpeech(
	w http.ResponseWriter, r *http.Request, grant access.Grant, o *outcome, from source,
) error {
	limit := time.Now().Add(speech.UtteranceTimeout) // end to end, so the body's time counts
	ctx, ended := withClientGone(r.Context())
	defer ended()
	ctx, cancel := context.WithDeadlineCause(ctx, limit, speech.ErrTimeout)
	defer cancel()
	req, err := s.readRequest(w, r, grant, from)
	if err != nil {
		return err
	}
	u := req.Utterance
	o.voice, o.format = u.Voice, u.Format
	d := s.newDelivery(w, r, limit, contentType(u.Format))
	sink := speech.Sink(&d.sink)
	if from == fromWords {
		u.WordTimes = true
		sink = d.inLines(u)
	}
	d.meter = s.cfg.Meter.Begin(grant, string(o.endpoint), u, sink)
	buffered := !req.Stream
	if u.Format == speech.WAV && (buffered || req.Metadata) {
		u.Format = speech.PCM16 // the header is not that of every WAV, and written here
		d.wavHeader = d.headerOf(u, req.Metadata)
	}
	o.stats, err = d.run(ctx, u, speech.Turn{QueuedSince: req.read}, buffered)
	o.chars = o.stats.Chars
	if err != nil {
		s.setConcurrency(w.Header())
	}
	return err
}

// newDelivery returns the answer to r with audio, which must have ended at limit.
func (s *Server) newDelivery(w http.ResponseWriter, r *http.Request, limit time.Time, contentType string) *delivery {
	d := &delivery{
		server: s, speaker: s.cfg.Speaker,
		reply: reply{
			w: w, control: http.NewResponseController(w),
			contentType: contentType, limit: limit, trailers: r.ProtoAtLeast(1, 1),
		},
		queue:     newAudioQueue(s.budget),
		speakDone: make(chan struct{}),
	}
	d.sink.delivery = d
	return d
}

// withClientGone returns a copy of ctx, the context of a request, whose cause is [speech.ErrClientGone] when the client
// disconnects. net/http's context only reports a cancel. Call ended when the request is answered.
func withClientGone(ctx context.Context) (_ context.Context, ended func()) {
	alive, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { leave(fmt.Errorf("%w: %w", speech.ErrClientGone, context.Cause(ctx))) })
	return alive, func() {
		stop()
		leave(nil)
	}
}

// readRequest reads and validates a request of POST /v1/tts, or /v1/tts/words.
func (s *Server) readRequest(w http.ResponseWriter, r *http.Request, grant access.Grant, from source) (request, error) {
	body, err := readBody(w, r)
	if err != nil {
		return request{}, err
	}
	read := time.Now()
	req, err := decode(body, from)
	req.read = read
	u := &req.Utterance
	if u.RequestID == "" {
		u.RequestID = w.Header().Get("X-Request-Id")
	}
	w.Header().Set("X-Request-Id", u.RequestID)
	if err != nil {
		return request{}, err
	}
	u.Disclosure, u.Service = s.disclosureFor(grant), s.cfg.Service
	if err := req.validate(s.cfg.Speaker.Model(), grant); err != nil {
		return request{}, err
	}
	if !req.HasSeed {
		u.Seed = newSeed()
	}
	return req, nil
}

func contentType(f speech.Format) string {
	switch f {
	case speech.WAV:
		return "audio/wav"
	case speech.Opus:
		return "audio/ogg"
	default:
		return "audio/L16;rate=24000;channels=1"
	}
}

// readBody reads the whole body. Nothing else may come first: net/http notices that a client has left only after that.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := answer.ReadBody(w, r, maxBody)
	if errors.Is(err, answer.ErrBodyCut) {
		return nil, fmt.Errorf("%w: %w", speech.ErrClientGone, err)
	}
	return body, err
}
