package dialect

import "strings"

// Places is where a client may put a key. Protocols are the offered WebSocket subprotocols.
type Places struct {
	Header    func(name string) string
	Query     func(name string) string
	Protocols []string
}

// Key finds the key of a client, wherever its vendor's clients put one. The first place that is not empty decides.
// protocol is the subprotocol that the server must select, because the key came with it; empty for none.
func Key(p Places) (key, protocol string) {
	scheme, token, _ := strings.Cut(p.Header("Authorization"), " ")
	token = strings.TrimSpace(token)
	switch {
	case p.Header("X-Api-Key") != "":
		return p.Header("X-Api-Key"), ""
	case token != "" && (strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Token")):
		return token, ""
	}
	for _, value := range []string{p.Header("Xi-Api-Key"), p.Query("xi_api_key"), p.Query("xi-api-key"), p.Header("Api-Subscription-Key")} {
		if value != "" {
			return value, ""
		}
	}
	if key, protocol = protocolKey(p.Protocols); key != "" {
		return key, protocol
	}
	if key = p.Query("api_key"); key != "" {
		return key, ""
	}
	return p.Header("X-Vapi-Secret"), ""
}

// protocolKey finds a key among subprotocols: api-subscription-key.KEY, which clients want to see selected, or KEY
// behind token or bearer, of which only the word is selected.
func protocolKey(offered []string) (key, selected string) {
	for i, p := range offered {
		if key, ok := strings.CutPrefix(p, "api-subscription-key."); ok && key != "" {
			return key, p
		}
		if isScheme := strings.EqualFold(p, "token") || strings.EqualFold(p, "bearer"); isScheme && i+1 < len(offered) {
			return offered[i+1], p
		}
	}
	return "", ""
}
