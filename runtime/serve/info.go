package serve

import (
	"errors"
	"net/http"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/speech"
)

// endpoints is what GET / lists: the API as it is promised, not whatever else this server can do.
var endpoints = []string{
	"POST /v1/tts", "WS /v1/tts/stream", "GET /v1/voices", "POST /v1/normalize", "GET /healthz", "GET /readyz", "GET /metrics",
}

func (s *Server) root(w http.ResponseWriter, _ *http.Request) error {
	answer.JSON(w, http.StatusOK, struct {
		Service   string   `json:"service"`
		Model     string   `json:"model"`
		Endpoints []string `json:"endpoints"`
	}{s.cfg.Service, s.cfg.Speaker.Model().ID, endpoints})
	return nil
}

// voices lists the voices that the presented key may use.
func (s *Server) voices(w http.ResponseWriter, _ *http.Request, grant access.Grant, _ *outcome) error {
	model := s.cfg.Speaker.Model()
	var allowed []speech.Voice
	for _, v := range model.Voices {
		if grant.Allows(v.Name) {
			allowed = append(allowed, v)
		}
	}
	answer.JSON(w, http.StatusOK, struct {
		Voices []speech.Voice `json:"voices"`
		Model  string         `json:"model"`
	}{allowed, model.ID})
	return nil
}

// healthz reports that the process runs, and its load. It never fails.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	c, d := s.cfg.Speaker.Capacity(), s.deliveryCounts()
	answer.JSON(w, http.StatusOK, struct {
		Status       string  `json:"status"`
		Uptime       float64 `json:"uptime_s"`
		Workers      int     `json:"workers"`
		WorkersReady int     `json:"workers_ready"`
		WorkersBusy  int     `json:"workers_busy"`
		QueueDepth   int     `json:"queue_depth"`
		QueueLimit   int     `json:"queue_limit"`
		Listeners    int64   `json:"listeners"`
		SpoolBytes   int64   `json:"spool_bytes"`
		SpoolLimit   int64   `json:"spool_limit_bytes"`
		Model        string  `json:"model"`
		Version      string  `json:"version"`
	}{
		"ok", seconds(time.Since(s.started)), c.Workers, c.Ready, c.Busy, c.Queued, c.QueueLimit,
		d.Listeners, d.SpoolBytes, d.SpoolLimit, s.cfg.Speaker.Model().ID, s.cfg.Version,
	})
	return nil
}

// readyz reports whether the server accepts new work: the speaker is ready, the server is not stopping, and no other
// check fails.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) error {
	err := s.cfg.Speaker.Ready()
	switch {
	case s.isDraining() || errors.Is(err, speech.ErrDraining):
		answer.Refuse(w, failure{http.StatusServiceUnavailable, speech.ErrDraining.Error(), "busy", "", true}.answer())
		return nil
	case err != nil:
		return err
	}
	if err := s.cfg.Ready(); err != nil {
		return err
	}
	answer.JSON(w, http.StatusOK, struct {
		Status string `json:"status"`
	}{"ready"})
	return nil
}

// scrape shows the metrics.
func (s *Server) scrape(w http.ResponseWriter, r *http.Request) error {
	setWriteDeadline(w, time.Now().Add(writeTime))
	s.cfg.Metrics.Handler().ServeHTTP(w, r)
	return nil
}

func (s *Server) isDraining() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}
