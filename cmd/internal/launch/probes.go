package launch

import (
	"encoding/json"
	"net/http"
)

// Probes serves /healthz, /readyz and /metrics. /healthz is 200 while the process answers; /readyz says why no
// traffic should be sent here.
func Probes(metrics http.Handler, ready func() error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { probe(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { probe(w, ready()) })
	mux.Handle("GET /metrics", metrics)
	return mux
}

func probe(w http.ResponseWriter, err error) {
	answer := map[string]string{"status": "ok"}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		answer = map[string]string{"status": "unavailable", "reason": err.Error()}
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(answer) // a probe that has gone needs no answer
}
