package serve

import (
	"net/http"
	"net/url"
	"strings"
)

// maxUnspoken is the limit of the header x-unspoken, in bytes. The start event of a socket has all characters.
const maxUnspoken = 256

// setUnspoken names in a header the characters that the model could not speak, percent-encoded, as many as have room.
func setUnspoken(h http.Header, characters string) {
	var value strings.Builder
	for _, r := range characters {
		encoded := url.QueryEscape(string(r))
		if value.Len()+len(encoded) > maxUnspoken {
			break
		}
		value.WriteString(encoded)
	}
	if value.Len() > 0 {
		h.Set("X-Unspoken", value.String())
	}
}
