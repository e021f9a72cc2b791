package answer

import (
	"net/http"
	"strconv"
	"strings"
)

// PrefersHTML says whether a request names text/html with more weight than JSON.
//
// Wildcards are JSON: programs send them, and the contract of / is JSON.
func PrefersHTML(r *http.Request) bool {
	accept := r.Header.Values("Accept")
	html := weight(accept, "text/html")
	return html > 0 && html > weight(accept, "application/json")
}

// weight is the q of an element of a list header by its exact name, and 0 where the list does not name it.
func weight(lists []string, name string) float64 {
	for item := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		kind, params, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(kind), name) {
			continue
		}
		return Quality(params)
	}
	return 0
}

// Quality is the q among the parameters of an element of a list header, and 1 where there is none.
func Quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		k, v, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(k, "q") {
			continue
		}
		q, err := strconv.ParseFloat(v, 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0 // what cannot be read is not wanted
		}
		return q
	}
	return 1
}
