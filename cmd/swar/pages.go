package main

import (
	"net/http"

	"github.com/swar-tts/swar/portal/web"
)

// playgroundPath is where people type and listen.
const playgroundPath = "/app/"

// withPages answers for the pages that people look at, and lets other answer everything else. A program that was built without them has none.
func withPages(other http.Handler) (http.Handler, error) {
	built := web.Built()
	if built == nil {
		return other, nil
	}
	site, err := web.New(web.Options{Files: built})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for _, path := range []string{playgroundPath + "{$}", "/setup"} {
		mux.Handle("GET "+path, site.Page("app.html", http.StatusOK))
	}
	mux.HandleFunc("GET /assets/", site.Asset)
	mux.Handle("/", other)
	return mux, nil
}
