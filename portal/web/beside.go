package web

import (
	"net/http"
	"net/url"
	"strings"
)

// A Program says of the program that serves the pages what they cannot find out without a request that fails.
type Program struct {
	// API is the origin of the synthesis API, empty for that of the pages.
	API string
	// Portal is whether /portal/v1 and /auth/v1 are there. Without them there is the playground alone.
	Portal bool
	// Keys is whether speaking needs a key.
	Keys bool
	// Connect returns origins that pages call beside these: those of issuers that people sign in with. Nil: none.
	Connect func() []string
}

// pages of an organisation. Others are not found, which the portal's page says in its own words.
var pages = []string{"playground", "overview", "keys", "requests", "usage", "members", "billing", "voices", "audit", "settings"}

// Beside answers for the pages that this program was built with, and lets other answer everything else. A program without pages is other alone.
func Beside(other http.Handler, p Program) (http.Handler, error) {
	built := Built()
	if built == nil {
		return other, nil
	}
	site, err := New(Options{
		Files: built, Connect: p.Connect, API: strings.TrimSuffix(p.API, "/"),
		Replace: map[string]string{`data-portal="on"`: `data-portal="` + onOff(p.Portal) + `"`, `data-keys="on"`: `data-keys="` + onOff(p.Keys) + `"`},
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	app, signin, lost := site.Page("app.html", http.StatusOK), site.Page("signin.html", http.StatusOK), site.Page("app.html", http.StatusNotFound)
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
	mux.HandleFunc("GET /assets/", site.Asset)
	mux.Handle("/", other)
	return mux, nil
}

// returns is whether another provider has sent somebody back: with a code of OpenID Connect, its refusal, or a link of Firebase.
func returns(q url.Values) bool { return q.Has("state") || q.Has("oobCode") }

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
