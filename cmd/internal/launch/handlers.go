package launch

import (
	"net/http"
	"net/http/pprof"
)

// Hide hides a path of h, which then answers as to any other that it does not know.
func Hide(path string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = path+"/", ""
		}
		h.ServeHTTP(w, r)
	})
}

// Profiles serves what profiles a process.
func Profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline",
		func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "it may hold keys", http.StatusForbidden) })
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
