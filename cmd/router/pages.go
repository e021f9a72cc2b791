package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/swar-tts/swar/runtime/answer"
)

// withPages sends people who open / in a browser to where the portal's pages are. Programs get what they always get there.
func withPages(address string, api http.Handler) (http.Handler, error) {
	if address == "" {
		return api, nil
	}
	u, err := url.Parse(address)
	isURL := err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
	isPath := err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(address, "/") && address != "/" && !strings.Contains(address, "\\")
	if !isURL && !isPath {
		return nil, fmt.Errorf("--pages %q: want a URL such as https://portal.example.org/app/, or a path such as /app/", address)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" || r.Method != http.MethodGet && r.Method != http.MethodHead {
			api.ServeHTTP(w, r)
			return
		}
		w.Header().Add("Vary", "Accept")
		if !answer.PrefersHTML(r) {
			api.ServeHTTP(w, r)
			return
		}
		http.Redirect(w, r, address, http.StatusTemporaryRedirect)
	}), nil
}
