package serve

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// outcome is how one request, or one utterance of a socket, went. What was not reached is zero.
type outcome struct {
	endpoint  metrics.Endpoint
	requestID string
	keyID     string
	voice     string
	format    speech.Format
	chars     int // code points: of the normalised text where one was spoken
	stats     speech.Stats
	err       error // nil: it was answered in full
}

// record counts and logs o. Call it exactly once for each request and each utterance, with the error that the client
// got, or that cut its answer off.
func (s *Server) record(ctx context.Context, o *outcome) {
	level, status := slog.LevelInfo, slog.Int("status", http.StatusOK)
	switch {
	case o.err == nil:
		s.cfg.Metrics.Request(o.endpoint, http.StatusOK)
	case endedByClient(o.err):
		s.cfg.Metrics.Cancelled(o.endpoint)
		if !errors.Is(o.err, errCancelled) { // to cancel is a client's right, to vanish is not
			s.cfg.Metrics.Error(metrics.ClientGone)
		}
		status = slog.String("status", metrics.StatusCancelled)
	default:
		f := failureOf(o.err)
		s.cfg.Metrics.Request(o.endpoint, f.status)
		if f.kind != "" {
			s.cfg.Metrics.Error(f.kind)
		}
		status = slog.Int("status", f.status)
		if level = slog.LevelDebug; f.ours() {
			level = slog.LevelError
		}
	}
	if o.stats.Started {
		s.cfg.Metrics.RecordUtterance(o.stats)
	}
	if s.cfg.Log.Enabled(ctx, level) {
		s.cfg.Log.LogAttrs(ctx, level, "request", o.attrs(status)...)
	}
}

// attrs leaves out what was not reached. Neither keys nor texts are ever logged.
func (o *outcome) attrs(status slog.Attr) []slog.Attr {
	attrs := make([]slog.Attr, 0, 16)
	attrs = append(attrs, slog.String("endpoint", string(o.endpoint)), slog.String("request_id", o.requestID), status)
	if o.keyID != "" {
		attrs = append(attrs, slog.String("key_id", o.keyID))
	}
	if o.voice != "" {
		attrs = append(attrs, slog.String("voice", o.voice), slog.String("format", string(o.format)))
	}
	if o.chars > 0 {
		attrs = append(attrs, slog.Int("chars", o.chars))
	}
	if st := o.stats; st.Started {
		attrs = append(attrs,
			slog.Int("frames", st.Frames),
			slog.Float64("ttfa_ms", millis(st.TTFA)),
			slog.Float64("queue_ms", millis(st.Queue)),
			slog.Float64("wall_ms", millis(st.Wall)),
			slog.Float64("rtf", thousandths(st.RTF())))
	}
	if o.err != nil {
		attrs = append(attrs, slog.String("error", o.err.Error()))
	}
	if p, ok := errors.AsType[*answer.PanicError](o.err); ok {
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	return attrs
}

// keyedHandler answers a request with a key, and fills in the outcome as far as it gets.
type keyedHandler func(http.ResponseWriter, *http.Request, access.Grant, *outcome) error

// keyed makes h require a key as the native API does, and records the outcome under e.
func (s *Server) keyed(e metrics.Endpoint, h keyedHandler) handler {
	return s.keyedBy(e, func(r *http.Request) access.Credentials { return s.credentials(r, false) }, h)
}

// keyedBy is keyed for keys that credentials finds.
func (s *Server) keyedBy(e metrics.Endpoint, credentials func(*http.Request) access.Credentials,
	h keyedHandler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		o := outcome{endpoint: e}
		o.err = answer.Try(func() error {
			grant, err := s.grant(r.Context(), credentials(r))
			if err != nil {
				return err
			}
			o.keyID = grant.KeyID
			return h(w, r, grant, &o)
		})
		o.requestID = w.Header().Get("X-Request-Id")
		s.record(r.Context(), &o)
		return o.err
	}
}

// open makes h public, and records only panics.
func (s *Server) open(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := answer.Try(func() error { return h(w, r) })
		if p, ok := errors.AsType[*answer.PanicError](err); ok {
			s.cfg.Log.LogAttrs(r.Context(), slog.LevelError, "request",
				slog.String("path", r.URL.Path), slog.String("error", p.Error()), slog.String("stack", string(p.Stack)))
		}
		return err
	}
}
