package dialect

import "strings"

// Places is where a client may put a key. Protocols are the offered WebSocket subprotocols.
type Places struct {
	Header    func(name string) string
	Query     func(name string) string
	Protocols []string
}

// Key finds the key of a client, wherever its vendor's clients put one. The first place that is not empty decides.
// protocol is the subprotocol that the server must select, because a key came with it, also where another one decides:
// clients that send their key in both a header and a subprotocol want to see the latter selected. It is empty for none.
func Key(p Places) (key, protocol string) {
	offered, protocol := protocolKey(p.Protocols)
	return p.key(offered), protocol
}

// key is the first key that there is; offered came with a subprotocol.
func (p Places) key(offered string) string {
	scheme, token, _ := strings.Cut(p.Header("Authorization"), " ")
	token = strings.TrimSpace(token)
	switch {
	case p.Header("X-Api-Key") != "":
		return p.Header("X-Api-Key")
	case token != "" && (strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Token")):
		return token
	}
	for _, value := range []string{
		p.Header("Xi-Api-Key"), p.Query("xi_api_key"), p.Query("xi-api-key"), p.Header("Api-Subscription-Key"),
		offered, p.Query("api_key"),
	} {
		if value != "" {
			return value
		}
	}
	return p.Header("X-Vapi-Secret")
}

// protocolKey finds a key among subprotocols: api-subscription-key.KEY, which clients expect to be selected, or KEY
// after token or bearer, where only the word is selected.
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
