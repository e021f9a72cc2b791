package serve

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dialect"
)

// credentials are what a request shows of who it is. A key is looked for in the header x-api-key, then in
// Authorization, and with query (WebSocket handshakes, for browsers cannot set headers there) also in the parameter
// api_key and in a subprotocol key.KEY. The first that is not empty decides.
func (s *Server) credentials(r *http.Request, query bool) access.Credentials {
	key := headerKey(r.Header)
	if key == "" && query {
		key = handshakeKey(r)
	}
	return access.Credentials{Key: key, Origin: r.Header.Get("Origin"), IP: ClientIP(r, s.cfg.TrustProxies)}
}

// anyCredentials are what a request to a dialect shows of who it is, wherever clients of vendors put a key. A handshake
// must select the subprotocol that came with it.
func (s *Server) anyCredentials(r *http.Request) (creds access.Credentials, subprotocol string) {
	var query url.Values
	key, subprotocol := dialect.Key(dialect.Places{
		Header: r.Header.Get,
		Query: func(name string) string {
			if query == nil {
				query = r.URL.Query()
			}
			return query.Get(name)
		},
		Protocols: websocket.Subprotocols(r),
	})
	return access.Credentials{Key: key, Origin: r.Header.Get("Origin"), IP: ClientIP(r, s.cfg.TrustProxies)},
		subprotocol
}

// grant returns what credentials allow now, or one of the errors of access. Without a keyring everything is allowed.
func (s *Server) grant(ctx context.Context, creds access.Credentials) (access.Grant, error) {
	switch {
	case s.cfg.Keys == nil:
		return s.everybody(), nil
	case creds.Key == "":
		return access.Grant{}, access.ErrMissingKey
	}
	g, err := s.cfg.Keys.Grant(ctx, creds)
	if g.ProjectID == "" {
		g.Lexicon = s.cfg.Lexicon
	}
	return g, err
}

// everybody is the grant of clients on a server without keys.
func (s *Server) everybody() access.Grant { return access.Grant{Lexicon: s.cfg.Lexicon} }

func headerKey(h http.Header) string {
	if key := h.Get("X-Api-Key"); key != "" {
		return key
	}
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func handshakeKey(r *http.Request) string {
	if key := r.URL.Query().Get("api_key"); key != "" {
		return key
	}
	for _, line := range r.Header.Values("Sec-Websocket-Protocol") {
		for protocol := range strings.SplitSeq(line, ",") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(protocol), "key."); ok && key != "" {
				return key
			}
		}
	}
	return ""
}
