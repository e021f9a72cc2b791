package rest

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
)

// methods are what a path can be asked. GET also answers HEAD.
type methods map[string]handler

// routes maps the paths of the API to handlers. Only those wrapped in open answer without a token.
func (s *Server) routes() *mux.Router {
	// a path that is not clean is not ours; an e-mail may hold a slash
	router := mux.NewRouter().SkipClean(true).UseEncodedPath()
	for path, by := range map[string]methods{
		"/portal/v1/me":                         {http.MethodGet: s.me},
		"/portal/v1/orgs":                       {http.MethodPost: s.createOrg},
		"/portal/v1/orgs/{org}":                 {http.MethodPatch: s.updateOrg},
		"/portal/v1/orgs/{org}/members":         {http.MethodGet: s.members, http.MethodPost: s.invite},
		"/portal/v1/orgs/{org}/members/{email}": {http.MethodPatch: s.setRole, http.MethodDelete: s.removeMember},
		"/portal/v1/orgs/{org}/audit":           {http.MethodGet: s.audit},
		"/portal/v1/projects":                   {http.MethodPost: s.createProject},
		"/portal/v1/projects/{id}":              {http.MethodPatch: s.renameProject},
		"/portal/v1/projects/{id}/lexicon":      {http.MethodGet: s.lexicon, http.MethodPut: s.putLexicon},
		"/portal/v1/projects/{id}/lexicon/file": {http.MethodPost: s.parseLexicon},
		"/portal/v1/keys":                       {http.MethodGet: s.keys, http.MethodPost: s.createKey},
		"/portal/v1/keys/{id}":                  {http.MethodPatch: s.updateKey, http.MethodDelete: s.revokeKey},
		"/portal/v1/playground-key":             {http.MethodPost: s.createPlaygroundKey},
		"/portal/v1/usage":                      {http.MethodGet: s.usage},
		"/portal/v1/requests":                   {http.MethodGet: s.requests},
		"/portal/v1/billing":                    {http.MethodGet: s.billing},
		"/portal/v1/voice-requests":             {http.MethodGet: s.voiceRequests, http.MethodPost: s.createVoiceRequest},
		"/portal/v1/voice-requests/{id}":        {http.MethodDelete: s.withdrawVoiceRequest},
	} {
		router.Handle(path, s.endpoint(path, by, s.signedIn))
	}
	const description = "/portal/v1/openapi.json"
	router.Handle(description, s.endpoint(description, methods{http.MethodGet: openAPI}, s.open))

	router.NotFoundHandler = s.handle("", "", s.open(func(*call) error { return errNotFound }))
	return router
}

// signedIn requires a signed-in user within the request limits. It follows invitations and parses the query before h.
func (s *Server) signedIn(h handler) handler {
	return s.authenticated(s.limited(s.joined(func(c *call) (err error) {
		if c.query, err = parseQuery(c.r.URL.RawQuery); err != nil {
			return err
		}
		return h(c)
	})))
}

// endpoint serves one path. guard wraps each of its handlers.
func (s *Server) endpoint(path string, by methods, guard func(handler) handler) http.Handler {
	handlers := make(map[string]http.Handler)
	for method, h := range by {
		handlers[method] = s.handle(path, method, guard(h))
	}
	if get := handlers[http.MethodGet]; get != nil {
		handlers[http.MethodHead] = get
	}
	allow := strings.Join(append(slices.Sorted(maps.Keys(handlers)), http.MethodOptions), ", ")
	wrongMethod := s.handle(path, "", s.open(func(*call) error { return errMethodNotAllowed }))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := handlers[r.Method]
		if h == nil {
			w.Header().Set("Allow", allow)
			h = wrongMethod
		}
		h.ServeHTTP(w, r)
	})
}
