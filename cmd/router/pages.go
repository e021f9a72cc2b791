package main

import (
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"

	"github.com/swar-tts/swar/runtime/answer"
)

//go:embed favicon.svg
var favicon []byte // that of the portal's pages

const notFoundPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Page not found</title>
<h1>Page not found</h1>
<p>There is no page at this address.%s</p>
<p lang="hi">इस पते पर कोई पेज नहीं है।%s</p>
</html>
`

// withPages answers people who open the API in a browser: / leads to where the portal's pages are, if address names
// them, and what does not exist is a page. Programs get what they always get.
func withPages(address string, api http.Handler) (http.Handler, error) {
	start, hindi := "", ""
	if address != "" {
		if !isPagesAddress(address) {
			return nil, fmt.Errorf("--pages %q: want a URL such as https://portal.example.org/app/, or a path such as /app/", address)
		}
		link := html.EscapeString(address)
		start = fmt.Sprintf(` Go to the <a href="%s">start page</a>.`, link)
		hindi = fmt.Sprintf(` <a href="%s">मुखपृष्ठ</a> पर जाएँ।`, link)
	}
	api = answer.OrPage(api, fmt.Sprintf(notFoundPage, start, hindi))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case reads && (r.URL.Path == "/favicon.ico" || r.URL.Path == "/favicon.svg"):
			w.Header().Set("Content-Type", "image/svg+xml") // browsers go by the type
			w.Header().Set("Cache-Control", "max-age=86400")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			_, _ = w.Write(favicon)
		case reads && address != "" && r.URL.Path == "/":
			w.Header().Add("Vary", "Accept")
			if answer.PrefersHTML(r) {
				http.Redirect(w, r, address, http.StatusTemporaryRedirect)
				return
			}
			api.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	}), nil
}

func isPagesAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	isURL := (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
	isPath := u.Scheme == "" && u.Host == "" && strings.HasPrefix(address, "/") && address != "/" &&
		!strings.Contains(address, "\\")
	return isURL || isPath
}
