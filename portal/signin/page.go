package signin

import (
	"embed"
	"fmt"
	"net/http"
	"path"
)

// The page of a link. Reading it spends nothing: mail scanners open every link, and some run the scripts of its page.
// The token is in the fragment, which browsers do not send, and a person has to press the button.
//
//go:embed page
var pageFiles embed.FS

// pagePolicy lets the page load its own two files and talk to its own server, and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
}

func serveFile(name string) endpoint {
	content, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(fmt.Sprintf("signin: %v", err)) // it is embedded
	}
	return func(_ *Issuer, w http.ResponseWriter, _ *http.Request) error {
		h := w.Header()
		h.Set("Content-Type", contentTypes[path.Ext(name)])
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Write(content)
		return nil
	}
}
