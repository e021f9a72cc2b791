package main

import (
	"context"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/swar-tts/swar/portal/rest"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/runtime/metrics"
)

// beside puts the portal beside the API.
func (s *site) beside(ctx context.Context, address string, m *metrics.Registry) (http.Handler, error) {
	portal := rest.Off()
	paths := map[string]bool{} // of signing in
	if s.portal != nil {
		signIn := &s.options.signIn
		auth, err := signIn.authenticator(ctx, s.portal.records, address, s.api.ClientIP, s.secrets(), s.log)
		if err != nil {
			return nil, err
		}
		portal, err = s.portal.open(ctx, auth, rest.Config{
			Model: s.local.Model(), Origins: signIn.origins,
			TLS: strings.HasPrefix(signIn.publicURL, "https://"),
		})
		if err != nil {
			return nil, err
		}
		portal = timed(portal, s.portal.register(m))
		for _, path := range signin.Paths() {
			paths[path] = auth.issuer != nil
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.Path; paths[path] || path == "/portal" || strings.HasPrefix(path, "/portal/") {
			portal.ServeHTTP(w, r)
			return
		}
		s.api.ServeHTTP(w, r)
	}), nil
}

// timed counts the answers of h.
func timed(h http.Handler, m *metrics.Portal) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, kept := time.Now(), &keptStatus{ResponseWriter: w, status: http.StatusOK}
		defer func() { m.Answered(r.Method, kept.status, time.Since(begun)) }()
		h.ServeHTTP(kept, r)
	})
}

// keptStatus remembers the status of an answer.
type keptStatus struct {
	http.ResponseWriter
	status int
}

func (k *keptStatus) WriteHeader(status int) {
	k.status = status
	k.ResponseWriter.WriteHeader(status)
}

// Unwrap lets [http.ResponseController] reach deadlines.
func (k *keptStatus) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// without hides a path of h, which then answers as to any other that it does not know.
func without(path string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = path+"/", ""
		}
		h.ServeHTTP(w, r)
	})
}

func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "it may hold keys", http.StatusForbidden) })
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
