package web

import (
	"net/http"
	"strings"
)

// Beside answers for the pages that this program was built with, and lets other answer everything else. api is the origin of the synthesis
// API, empty where other answers for that, too. A program without pages is other alone.
func Beside(other http.Handler, api string) (http.Handler, error) {
	built := Built()
	if built == nil {
		return other, nil
	}
	site, err := New(Options{Files: built, API: strings.TrimSuffix(api, "/")})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for _, path := range []string{"/app/{$}", "/setup"} {
		mux.Handle("GET "+path, site.Page("app.html", http.StatusOK))
	}
	mux.HandleFunc("GET /assets/", site.Asset)
	mux.Handle("/", other)
	return mux, nil
}
