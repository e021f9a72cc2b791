// Package web serves the prebuilt pages of the portal. Their content security policy allows no other origin.
//
// It knows files and headers only; what the pages show they fetch from the HTTP APIs themselves.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/answer"
)

// Options configure the pages. Files is required.
type Options struct {
	// Files are the built pages: index.html, app.html and assets/…, with NAME.gz beside what is served compressed, or
	// in its place.
	Files fs.FS
	// Connect returns origins besides the page's own that pages may call, such as those of issuers, which may change.
	// Nil: none.
	Connect func() []string
	// API is the origin of the synthesis API, empty for that of the pages. Pages may call it, too, and find it in the
	// place of data-api="".
	API string
	// TLS is whether people reach the pages by https, such as through a proxy.
	TLS bool
	// Replace are texts of pages with what takes their place.
	Replace map[string]string
}

// A file is one built file as it is sent.
type file struct {
	plain, zipped []byte // one of them may be nil
	etag, kind    string
}

// A Site answers for the pages. It is safe for concurrent use.
type Site struct {
	files   map[string]file
	api     string // its origin, where that is another one
	connect func() []string
	tls     bool
}

// isLocal is whether browsers trust a host without TLS.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// policy skips invalid origins instead of failing all pages: they come from issuers.
func (s *Site) policy() string {
	var origins []string
	if s.connect != nil {
		for _, o := range s.connect() {
			if isOrigin(o) {
				origins = append(origins, o)
			}
		}
	}
	return policyFor(s.api, origins)
}

// New reads all files, so that a request reads none.
func New(o Options) (*Site, error) {
	if o.API != "" && !isOrigin(o.API) {
		return nil, fmt.Errorf("%q is not an origin: give it as https://HOST or https://HOST:PORT", o.API)
	}
	s := &Site{files: map[string]file{}, api: o.API, connect: o.Connect, tls: o.TLS}
	pairs := []string{`data-api=""`, `data-api="` + o.API + `"`} // an origin has nothing that would have to be escaped
	for text, by := range o.Replace {
		pairs = append(pairs, text, by)
	}
	filled := strings.NewReplacer(pairs...)
	err := fs.WalkDir(o.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name = strings.TrimSuffix(name, ".gz")
		if _, ok := s.files[name]; ok {
			return nil
		}
		f, err := read(o.Files, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".html" {
			f = f.with(filled)
		}
		s.files[name] = f
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the built pages: %w", err)
	}
	return s, nil
}

func read(files fs.FS, name string) (file, error) {
	plain, err := fs.ReadFile(files, name)
	zipped, notZipped := fs.ReadFile(files, name+".gz")
	if err != nil {
		if notZipped != nil {
			return file{}, err
		}
		if _, err := unzip(zipped); err != nil {
			return file{}, fmt.Errorf("%s.gz: %w", name, err)
		}
	}
	kind := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // the tables of the system differ
	case ".js":
		kind = "text/javascript; charset=utf-8"
	case ".webmanifest":
		kind = "application/manifest+json"
	case ".svg":
		kind = "image/svg+xml"
	case ".md":
		kind = "text/markdown; charset=utf-8"
	case ".json":
		kind = "application/json"
	case ".txt":
		kind = "text/plain; charset=utf-8"
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	sum := sha256.Sum256(append(slices.Clip(plain), zipped...))
	return file{plain: plain, zipped: zipped, etag: hex.EncodeToString(sum[:12]), kind: kind}, nil
}

// with is f with something else in the place of some texts.
func (f file) with(filled *strings.Replacer) file {
	plain := f.plain
	if plain == nil {
		plain, _ = unzip(f.zipped) // read has tried it
	}
	changed := []byte(filled.Replace(string(plain)))
	if bytes.Equal(changed, plain) {
		return f
	}
	if f.plain != nil {
		f.plain = changed
	}
	if f.zipped != nil {
		f.zipped = zip(changed)
	}
	sum := sha256.Sum256(changed)
	f.etag = hex.EncodeToString(sum[:12])
	return f
}

// isOrigin is whether a text is an origin and nothing else: it ends up in a header as it is.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && s == u.Scheme+"://"+u.Host &&
		!strings.ContainsAny(s, " ;,'\"*")
}

// policyFor is the policy of pages that call api, which speaks and has samples, and connect.
func policyFor(api string, connect []string) string {
	sources, media := []string{"'self'"}, "'self' blob:"
	if api != "" {
		connect = append([]string{api}, connect...)
		media += " " + api
	}
	for _, c := range connect {
		scheme, host, _ := strings.Cut(c, "://")
		sources = append(sources, c, "ws"+strings.TrimPrefix(scheme, "http")+"://"+host)
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " +
		strings.Join(sources, " ") + "; media-src " + media +
		"; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

// Asset serves /assets/…, whose names hold a hash and whose bytes therefore never change.
func (s *Site) Asset(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	f, ok := s.files[name]
	if !ok || !strings.HasPrefix(name, "assets/") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	s.send(w, r, f, http.StatusOK)
}

// Page serves the built page called name with a status: that of a page that is not there is 404.
func (s *Site) Page(name string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, ok := s.files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		s.send(w, r, f, status)
	}
}

func (s *Site) send(w http.ResponseWriter, r *http.Request, f file, status int) {
	h := w.Header()
	h.Set("Content-Security-Policy", s.policy())
	if f.kind == "image/svg+xml" { // it contains its styles, and runs no scripts
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if s.tls {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if s.tls || isLocal(r.Host) { // elsewhere browsers ignore it, and log a warning
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	h.Set("Permissions-Policy", "microphone=(), camera=(), geolocation=()")
	h.Set("Content-Type", f.kind)
	body, tag := f.plain, f.etag
	if f.zipped != nil {
		h.Add("Vary", "Accept-Encoding")
		if answer.AcceptsGzip(r.Header.Values("Accept-Encoding")) {
			h.Set("Content-Encoding", "gzip")
			body, tag = f.zipped, tag+"-gz"
		}
	}
	if body == nil {
		body, _ = unzip(f.zipped) // New has tried it
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(body) // the client may have left
		}
		return
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// unzip is for the few who take nothing compressed: what is there in that form alone needs no memory twice.
func unzip(zipped []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
