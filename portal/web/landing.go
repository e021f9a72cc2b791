package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/swar-tts/swar/runtime/answer"
)

// landing is the page at the address of the server, in two languages, with the current voices.
type landing struct {
	site    *Site
	program Program

	mu   sync.Mutex
	made map[string]file // by language, address and voices; those of earlier voices are dropped
}

// maxVoices is how many voices the page has samples of.
const maxVoices = 6

// ServeHTTP answers in the language that the address asks for, else in that which the browser prefers.
func (l *landing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept-Language")
	lang := r.URL.Query().Get("lang")
	if lang != "en" && lang != "hi" {
		lang = preferred(r)
	}
	w.Header().Set("Content-Language", lang)
	w.Header().Set("Cache-Control", "no-cache")
	l.site.send(w, r, l.page(lang, cmp.Or(l.program.API, answer.VisitedURL(r, l.program.Public))), http.StatusOK)
}

// preferred returns Hindi if the header prefers it to English, else English.
func preferred(r *http.Request) string {
	best := map[string]float64{}
	for item := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Language"), ","), ",") {
		tag, params, _ := strings.Cut(item, ";")
		primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		best[primary] = max(best[primary], answer.Quality(params))
	}
	if best["hi"] > best["en"] {
		return "hi"
	}
	return "en"
}

// page is the page with the voices of now, and with the address by which its reader calls the API.
func (l *landing) page(lang, api string) file {
	var voices []string
	if l.program.Voices != nil {
		voices = l.program.Voices()
	}
	voices = voices[:min(len(voices), maxVoices)]
	key := lang + "\x00" + api + "\x00" + strings.Join(voices, "\x00")
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, ok := l.made[key]; ok {
		return f
	}
	if len(l.made) > 2 {
		l.made = nil
	}
	f := l.site.files["landing."+lang+".html"]
	f.plain = l.fill(f.plain, voices, api)
	sum := sha256.Sum256(f.plain)
	f.etag, f.zipped = hex.EncodeToString(sum[:12]), zip(f.plain)
	if l.made == nil {
		l.made = map[string]file{}
	}
	l.made[key] = f
	return f
}

// fill puts voices, and the address of the API, into the page.
func (l *landing) fill(page []byte, voices []string, api string) []byte {
	before, rest, _ := bytes.Cut(page, []byte("<!-- voices "))
	form, after, _ := bytes.Cut(rest, []byte(" -->"))
	parts := strings.Split(string(form), "|")
	var b strings.Builder
	if len(voices) > 0 && len(parts) == 3 {
		b.WriteString(parts[0])
		for _, v := range voices {
			src := html.EscapeString(l.program.API + "/samples/" + url.PathEscape(v))
			b.WriteString(strings.NewReplacer("NAME", html.EscapeString(v), "/samples/FILE", src).Replace(parts[1]))
		}
		b.WriteString(parts[2])
	}
	if api != "" {
		after = bytes.ReplaceAll(after, []byte("http://127.0.0.1:8080"), []byte(html.EscapeString(api)))
	}
	return bytes.Join([][]byte{before, []byte(b.String()), after}, nil)
}

func zip(plain []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(plain) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}
