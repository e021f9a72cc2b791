package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/metrics"
)

const (
	probeLimit = 2 * time.Second // for the store to answer
	probeEvery = time.Second     // the store is checked at most this often, however many probes arrive
)

var errStopping = errors.New("stopping")

// probes answer whether the server lives, and whether requests should come to it.
type probes struct {
	check func(context.Context) error // asks the store

	mu        sync.Mutex // held while the store is checked, so that concurrent probes share the result
	checkedAt time.Time
	result    error
	stopping  bool
}

// stop says from now on that no request should come.
func (p *probes) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopping = true
}

// ready returns why no request should come: nil if they should.
func (p *probes) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping {
		return errStopping
	}
	if p.checkedAt.IsZero() || time.Since(p.checkedAt) >= probeEvery {
		ctx, cancel := context.WithTimeout(context.Background(), probeLimit) // others wait for it too
		defer cancel()
		p.result = p.check(ctx)
		p.checkedAt = time.Now()
	}
	return p.result
}

// handler answers probes, and scrapers with m.
func (p *probes) handler(m *metrics.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer.JSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch err := p.ready(); {
		case err == nil:
			answer.JSON(w, http.StatusOK, map[string]string{"status": "ready"})
		case errors.Is(err, errStopping):
			refuse(w, "draining", "the portal is stopping")
		default:
			refuse(w, "unavailable", "the store does not answer")
		}
	})
	mux.Handle("GET /metrics", m.Handler())
	return mux
}

func refuse(w http.ResponseWriter, code, text string) {
	answer.Refuse(w, answer.Failure{Status: http.StatusServiceUnavailable, Code: code, Text: text, Retry: time.Second})
}
