package serve

import (
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/swar-tts/swar/runtime/metrics"
)

// routes maps the paths of the API to handlers. A handler that is neither keyed nor a stream, which checks keys itself,
// is public.
func (s *Server) routes() *mux.Router {
	// a path that is not clean is not ours: 404 instead of a redirect
	p := paths{router: mux.NewRouter().SkipClean(true)}
	native := func(path string, h http.Handler, methods ...string) { p.add(path, refuse, h, methods...) }

	native("/v1/tts", s.handle(s.keyed(metrics.REST, s.tts)), http.MethodPost)
	native("/v1/tts/words", s.handle(s.keyed(metrics.REST, s.ttsWords)), http.MethodPost)
	native("/v1/tts/stream", s.handle(s.stream), http.MethodGet, http.MethodHead)
	native("/v1/normalize", s.handle(s.keyed(metrics.Normalize, s.normalize)), http.MethodPost)
	voices := s.handle(s.keyed(metrics.Voices, s.voices))
	native(voicesPath, s.picked(http.MethodGet, voicesPath, voices), http.MethodGet, http.MethodHead)

	native("/", s.handle(s.open(s.root)), http.MethodGet, http.MethodHead)
	native("/healthz", s.handle(s.open(s.healthz)), http.MethodGet, http.MethodHead)
	native("/readyz", s.handle(s.open(s.readyz)), http.MethodGet, http.MethodHead)
	native("/metrics", s.handle(s.open(s.scrape)), http.MethodGet, http.MethodHead)

	for path, h := range map[string]handler{
		"/openapi.json": described("application/json", openAPI), "/asyncapi.json": described("application/json", asyncAPI),
		"/llms.txt": described("text/plain; charset=utf-8", llms),
	} {
		native(path, s.handle(s.open(h)), http.MethodGet, http.MethodHead)
	}
	native("/samples", s.handle(s.open(s.samples)), http.MethodGet, http.MethodHead)
	native(samplePath, s.handle(s.open(s.sample)), http.MethodGet, http.MethodHead)
	s.addDialects(&p)

	notFound := s.handle(func(http.ResponseWriter, *http.Request) error { return errNotFound })
	p.router.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := p.vendorPath(r.URL.Path)
		if !ok {
			notFound.ServeHTTP(w, r)
			return
		}
		meant := r.Clone(r.Context())
		meant.URL.Path, meant.URL.RawPath = path, ""
		p.router.ServeHTTP(w, meant)
	})
	p.router.MethodNotAllowedHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refused := refuse
		if of := p.find(r.URL.Path); of != nil {
			w.Header().Set("Allow", strings.Join(append(of.methods, http.MethodOptions), ", "))
			refused = of.refuse
		}
		s.handleAs(func(http.ResponseWriter, *http.Request) error { return errMethodNotAllowed },
			refused).ServeHTTP(w, r)
	})
	return p.router
}

// paths are the served paths.
type paths struct {
	router *mux.Router
	all    []*servedPath
}

// servedPath is a path with all its methods.
type servedPath struct {
	template string
	methods  []string
	isVendor bool                             // clients of other APIs ask for it
	refuse   func(http.ResponseWriter, error) // answers other methods
}

// add lets h answer methods of a path.
func (p *paths) add(template string, refuse func(http.ResponseWriter, error), h http.Handler, methods ...string) {
	p.router.Handle(template, h).Methods(methods...)
	for _, of := range p.all {
		if of.template == template {
			of.methods = append(of.methods, methods...)
			return
		}
	}
	p.all = append(p.all, &servedPath{template: template, methods: methods, refuse: refuse})
}

// vendorPath returns the path of another API that a request means with one that is not served: base URLs end in a
// slash, have /v1 as well as the path, or lack it. "/v1//v1/speak/" → "/v1/speak". No other path is forgiven anything:
// a proxy in front may guard /metrics.
func (p *paths) vendorPath(asked string) (path string, ok bool) {
	clean := asked
	for strings.Contains(clean, "//") {
		clean = strings.ReplaceAll(clean, "//", "/")
	}
	clean = strings.TrimSuffix(clean, "/")
	if rest, isTwice := strings.CutPrefix(clean, "/v1/v1/"); isTwice {
		clean = "/v1/" + rest
	}
	for _, path := range []string{clean, "/v1" + clean} {
		if of := p.find(path); path != asked && of != nil && of.isVendor {
			return path, true
		}
	}
	return "", false
}

// find returns the path that a request means, nil if there is none.
func (p *paths) find(path string) *servedPath {
	for _, of := range p.all {
		if matches(of.template, path) {
			return of
		}
	}
	return nil
}

// matches reports whether a path is one of a template, whose parts in braces match anything but a slash.
func matches(template, path string) bool {
	for {
		want, moreWanted, isNested := strings.Cut(template, "/")
		got, moreGot, isNestedToo := strings.Cut(path, "/")
		before, rest, isVariable := strings.Cut(want, "{")
		_, after, _ := strings.Cut(rest, "}")
		isMatch := want == got
		if isVariable {
			isMatch = len(got) > len(before)+len(after) && strings.HasPrefix(got, before) &&
				strings.HasSuffix(got, after)
		}
		if !isMatch || isNested != isNestedToo {
			return false
		}
		if !isNested {
			return true
		}
		template, path = moreWanted, moreGot
	}
}
