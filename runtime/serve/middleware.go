package serve

import (
	"maps"
	"net/http"
	"time"

	"github.com/swar-tts/swar/runtime/answer"
)

const (
	bodyTime  = answer.BodyTime  // a request body must have arrived after this time
	writeTime = answer.WriteTime // a short answer must have left after this time
)

// commonHeaders are on every answer. The slices are shared: headers are only ever set, never changed in place.
var commonHeaders = http.Header{
	"Access-Control-Allow-Origin": {"*"}, // any page may call: no cookie is involved
	"Access-Control-Expose-Headers": {"x-request-id, x-error-code, retry-after, x-seed, x-model, x-voice, x-queue-ms, " +
		"x-synthetic, x-service, x-ignored, x-model-requested, dg-request-id, dg-model-name, dg-char-count, " +
		"x-unspoken, x-concurrency-active, x-concurrency-limit, x-concurrency-listeners, server-timing, content-length, " +
		"x-audio-s, x-frames, x-wall-ms, x-rtf, x-audio-sha256"},
	"Timing-Allow-Origin":    {"*"},
	"Cache-Control":          {"no-store"},
	"X-Content-Type-Options": {"nosniff"},
}

// preflightHeaders answer a browser that asks whether it may call. The time is the longest that one of them honours.
var preflightHeaders = http.Header{
	"Access-Control-Allow-Methods": {"GET, POST, OPTIONS"},
	"Access-Control-Allow-Headers": {"authorization, x-api-key, content-type, x-request-id, idempotency-key, " +
		"traceparent, tracestate, baggage, " + // of a page that takes part in traces (W3C Trace Context)
		vendorHeaders},
	"Access-Control-Max-Age": {"7200"},
}

// vendorHeaders are what the clients of other vendors send from browsers. They are named one by one: a star does not
// cover them where a browser sends credentials.
const vendorHeaders = "xi-api-key, api-subscription-key, cartesia-version, x-cartesia-client, x-deepgram-session-id, " +
	"openai-organization, openai-project, " +
	"x-stainless-arch, x-stainless-async, x-stainless-lang, x-stainless-os, x-stainless-package-version, " +
	"x-stainless-raw-response, x-stainless-read-timeout, x-stainless-retry-count, x-stainless-runtime, " +
	"x-stainless-runtime-version, x-stainless-timeout, " +
	"x-fern-language, x-fern-platform, x-fern-runtime, x-fern-runtime-version, x-fern-sdk-name, x-fern-sdk-version"

// common gives every answer the headers that all have, and every request an id: the client's, if it may be one.
func (s *Server) common(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		maps.Copy(h, commonHeaders)
		id := r.Header.Get("X-Request-Id")
		if !validRequestID(id) {
			id = newRequestID()
		}
		h.Set("X-Request-Id", id)
		if r.Method == http.MethodOptions {
			maps.Copy(h, preflightHeaders)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer.LimitBody(w, r)
		next.ServeHTTP(w, r)
	})
}

// handler answers a request, or returns an error. An error after the first byte cuts the answer off, which clients
// detect; a handler that hijacked the connection returns nil.
type handler func(w http.ResponseWriter, r *http.Request) error

// handle makes the errors of h answers. It is the one place where a failure is written.
func (s *Server) handle(h handler) http.Handler { return s.handleAs(h, refuse) }

// handleAs is handle whose refusals are written by refuse.
func (s *Server) handleAs(h handler, refuse func(http.ResponseWriter, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := answer.For(w, r)
		err := h(a, r)
		switch {
		case err == nil:
		case a.Began || endedByClient(err):
			panic(http.ErrAbortHandler) // net/http closes the connection without the end of the body
		default:
			refuse(w, err)
		}
	})
}

// refuse answers with err as the native API does.
func refuse(w http.ResponseWriter, err error) { answer.Refuse(w, failureOf(err).answer()) }

// answer is the body and status of an error.
func (f failure) answer() answer.Failure {
	said := answer.Failure{Status: f.status, Code: f.code, Text: f.text}
	if f.retry {
		said.Retry = time.Second
	}
	if f.status == http.StatusUnauthorized {
		said.Challenge = "Bearer"
	}
	return said
}

// setWriteDeadline is best effort: a writer that has none (in tests) is not a server that needs them.
func setWriteDeadline(w http.ResponseWriter, t time.Time) {
	_ = http.NewResponseController(w).SetWriteDeadline(t)
}
