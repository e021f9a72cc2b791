package rest

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/ident"
)

const (
	bodyTime  = answer.BodyTime  // a request body must have arrived after this time
	writeTime = answer.WriteTime // and an answer must have left after this time more
	workTime  = 30 * time.Second // an answer must be found after this time; exports have a longer one
)

// commonHeaders are on every answer. The slices are shared: headers are only ever set, never changed in place.
var commonHeaders = http.Header{
	"Cache-Control":           {"no-store"},
	"Content-Security-Policy": {"default-src 'self'; frame-ancestors 'none'"},
	"Referrer-Policy":         {"no-referrer"},
	"Vary":                    {"Origin"},
	"X-Content-Type-Options":  {"nosniff"},
}

// exposedHeaders are the headers that a page of another origin may read.
const exposedHeaders = "x-request-id, x-error-code, retry-after, content-disposition, etag"

// preflightHeaders answer a page that may call and asks how. The time is the longest that one of the browsers honours.
var preflightHeaders = http.Header{
	"Access-Control-Allow-Methods": {"GET, POST, PUT, PATCH, DELETE, OPTIONS"},
	"Access-Control-Allow-Headers": {"authorization, content-type, idempotency-key, if-match, x-request-id, traceparent, tracestate, baggage"},
	"Access-Control-Max-Age":       {"7200"},
}

// common gives every answer the headers that all have, and every request an id: the client's, if it may be one.
func (s *Server) common(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		maps.Copy(h, commonHeaders)
		if s.cfg.TLS || r.TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		origin := r.Header.Get("Origin")
		known := slices.Contains(s.cfg.Origins, origin)
		if known {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", exposedHeaders)
		}
		id := r.Header.Get("X-Request-Id")
		if !visible(id, 128) {
			id = ident.New("req_")
		}
		h.Set("X-Request-Id", id)
		if r.Method == http.MethodOptions {
			if known {
				maps.Copy(h, preflightHeaders)
			}
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer.LimitBody(w, r)
		next.ServeHTTP(w, r)
	})
}

// call is one request on its way through a handler.
type call struct {
	w         *answer.Writer
	r         *http.Request // its context ends after workTime
	unbounded *http.Request // the same without that end
	query     url.Values
	user      tenant.User // the signed-in user
}

func (c *call) ctx() context.Context { return c.r.Context() }

// handler answers a call, or returns an error. An error after the first byte cuts the answer off, which clients detect.
type handler func(*call) error

// handle makes a handler of net/http, writes the errors of h and logs the request under the pattern of its path:
// paths hold e-mail addresses.
func (s *Server) handle(path, method string, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(r.Context(), workTime)
		defer cancel()
		c := &call{w: answer.For(w, r), r: r.WithContext(ctx), unbounded: r}
		err := answer.Try(func() error { return h(c) })
		f := answer.Failure{Status: http.StatusOK}
		if err != nil {
			f = failureOf(err)
		}
		s.log(c, path, method, f, err, time.Since(start))
		switch {
		case err == nil:
		case c.w.Began,
			errors.Is(err, context.Canceled) && r.Context().Err() != nil: // a body that is late ends the context, too
			panic(http.ErrAbortHandler) // net/http closes the connection without the end of the body
		default:
			w.Header().Del("Content-Disposition") // of a table that did not begin
			answer.Refuse(w, f)
		}
	})
}

// log writes one line about a request: neither tokens nor bodies nor e-mail addresses.
func (s *Server) log(c *call, path, method string, f answer.Failure, err error, took time.Duration) {
	ctx, level := c.unbounded.Context(), slog.LevelInfo
	switch {
	case err == nil:
	case f.Status >= http.StatusInternalServerError && ctx.Err() == nil: // else the client has gone, and that is why
		level = slog.LevelError
	default:
		level = slog.LevelDebug
	}
	if !s.cfg.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", method), slog.String("path", path), slog.Int("status", f.Status),
		slog.String("request_id", c.w.Header().Get("X-Request-Id")), slog.String("user_id", c.user.ID),
		slog.Duration("took", took),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	if p, ok := errors.AsType[*answer.PanicError](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	s.cfg.Log.LogAttrs(ctx, level, "portal request", attrs...)
}

// open makes h public.
func (s *Server) open(h handler) handler { return h }

// path returns a variable of the path.
func (c *call) path(name string) (string, error) {
	v, err := url.PathUnescape(mux.Vars(c.r)[name])
	if err != nil {
		return "", errNotFound
	}
	return v, nil
}

// json answers with v.
func (c *call) json(v any) error {
	answer.JSON(c.w, http.StatusOK, v)
	return nil
}

// visible reports whether s is 1 to most visible ASCII characters.
func visible(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
