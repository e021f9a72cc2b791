package web

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/swar-tts/swar/runtime/answer"
)

// A Program says of the program that serves the pages what they cannot find out without a request that fails.
type Program struct {
	// API is the origin of the synthesis API, empty for that of the pages.
	API string
	// Voices returns the voices with samples on the landing page. Nil: none.
	Voices func() []string
	// Portal is whether /portal/v1 and /auth/v1 are there. Without them there is the playground alone.
	Portal bool
	// Keys is whether speaking needs a key.
	Keys bool
	// Connect returns origins that pages call besides these: those of issuers that users sign in with. Nil: none.
	Connect func() []string
	// Public is the address under which people reach the server, empty where it is not known. Cookies and the links
	// in mails know that one name.
	Public string
}

// pages of an organisation. Others are not found, which the portal's page says in its own words.
var pages = []string{"playground", "overview", "keys", "requests", "usage", "members", "billing", "voices", "lexicon",
	"audit", "settings"}

// Wrap answers for the pages that this program was built with, and lets other answer everything else. A program
// without pages is other alone.
func Wrap(other http.Handler, p Program) (http.Handler, error) {
	built := Built()
	if built == nil {
		return other, nil
	}
	p.API = strings.TrimSuffix(p.API, "/")
	site, err := New(Options{
		Files: built, Connect: p.Connect, API: p.API, TLS: strings.HasPrefix(p.Public, "https://"),
		Replace: map[string]string{`data-portal="on"`: `data-portal="` + onOff(p.Portal) + `"`,
			`data-keys="on"`: `data-keys="` + onOff(p.Keys) + `"`},
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	app, signin, lost := site.Page("app.html", http.StatusOK), site.Page("signin.html", http.StatusOK),
		site.Page("app.html", http.StatusNotFound)
	mux.Handle("GET /app/{$}", app)
	mux.HandleFunc("GET /app/{org}/{page...}", func(w http.ResponseWriter, r *http.Request) {
		page := r.PathValue("page")
		for _, known := range pages {
			if page == known {
				app(w, r)
				return
			}
		}
		lost(w, r)
	})
	mux.Handle("GET /app/{org}", lost)
	if p.Portal {
		mux.Handle("GET /setup", signin)
		mux.HandleFunc("GET /signin", func(w http.ResponseWriter, r *http.Request) {
			if returns(r.URL.Query()) { // with what only the portal's page can take
				app(w, r)
				return
			}
			signin(w, r)
		})
	}
	start := &landing{site: site, program: p}
	mux.Handle("GET /welcome", start) // where / is another program's
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if answer.PrefersHTML(r) {
			start.ServeHTTP(w, r)
			return
		}
		other.ServeHTTP(w, r)
	})
	mux.Handle("GET /favicon.ico", site.Page("favicon.svg", http.StatusOK)) // browsers go by its type
	mux.HandleFunc("GET /assets/", site.Asset)
	for _, name := range []string{"favicon.svg", "manifest.webmanifest", "robots.txt"} {
		mux.Handle("GET /"+name, site.Page(name, http.StatusOK))
	}
	mux.Handle("GET /docs/{page...}", site.Manual(other))
	mux.Handle("GET /docs", http.RedirectHandler("/docs/", http.StatusMovedPermanently))
	mux.Handle("/", answer.OrPage(other, notFoundPage))
	return oneName(p.Public, exact(mux, other)), nil
}

// exact lets other answer paths that are not clean, such as //v1/tts or /a/../b. [http.ServeMux] would redirect them,
// which no preflight may follow, and other says in its own form that there is nothing.
func exact(mux *http.ServeMux, other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		written := r.URL.EscapedPath()
		clean := path.Clean("/" + written)
		if strings.HasSuffix(written, "/") && clean != "/" {
			clean += "/"
		}
		if written != clean {
			other.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// oneName redirects a page of localhost to 127.0.0.1, or the other way, if the public address is the other of the two.
// Calls of programs are never redirected, and there are no other redirects.
func oneName(public string, h http.Handler) http.Handler {
	u, err := url.Parse(public)
	other := map[string]string{"localhost": "127.0.0.1", "127.0.0.1": "localhost"}
	if err != nil || other[u.Hostname()] == "" {
		return h
	}
	from := other[u.Hostname()]
	if u.Port() != "" {
		from += ":" + u.Port()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == from && isPage(r) {
			http.Redirect(w, r, u.Scheme+"://"+u.Host+r.URL.RequestURI(), http.StatusTemporaryRedirect)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// isPage reports whether a request is for a page that a person sees.
func isPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !answer.PrefersHTML(r) {
		return false
	}
	for _, page := range []string{"/", "/welcome", "/signin", "/setup"} {
		if r.URL.Path == page {
			return true
		}
	}
	return strings.HasPrefix(r.URL.Path, "/app/") || strings.HasPrefix(r.URL.Path, "/docs/")
}

// returns reports whether another provider has redirected the user back: with a code of OpenID Connect, its refusal, or
// a link of Firebase.
func returns(q url.Values) bool { return q.Has("state") || q.Has("oobCode") }

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
