// Package hubtest is a fake Hugging Face hub for tests. It has the status codes, headers and redirects of the real
// one, and faults on demand. Large files come from a second server on another port, which must never see a token.
package hubtest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // what Git names its objects by
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Repository is what a hub keeps under owner/name.
type Repository struct {
	Commit   string // 40 digits
	Licence  string
	Gated    bool // wants a token whose owner has accepted the terms
	Private  bool // wants a token
	Disabled bool
	Files    map[string][]byte
	Large    []string // of Files, those that lie at the second server
}

// Hub is a fake hub. Its fields may be changed between requests, by the goroutine that sends them; where another
// process sends them, with [Hub.Change].
type Hub struct {
	*httptest.Server
	Files *httptest.Server // large ones

	Repositories map[string]*Repository
	Readers      []string // tokens whose owners have accepted all terms
	Strangers    []string // tokens of others
	Page         int      // files on a page of a tree; 0 means all

	Mirror     bool          // knows no trees and says only ETag, as simple mirrors do
	Portal     bool          // every answer is a web page, as behind a page to sign in at
	NoRange    bool          // the second server sends all in any case
	CutAfter   int64         // bytes of an answer with a large file, after which the connection breaks; 0 means never
	Flip       bool          // one megabyte of large files is wrong
	Stall      chan struct{} // if not nil, large files stop half-way until it is closed
	Expire     int           // so many signed addresses have expired when they are used
	Redirect   string        // where large files are said to lie instead
	Busy       []http.Header // each is an answer 429 to the next request, with these headers
	BadGateway int           // so many requests are answered 502
	Warning    string        // X-HF-Warning
	Tricks     []string      // paths that trees list besides

	Asked atomic.Int64 // requests to both
	Sent  atomic.Int64 // bytes of files

	t      testing.TB
	mu     sync.Mutex
	signed int // addresses that were made
}

// New starts a hub that ends with the test.
func New(t testing.TB) *Hub {
	h := &Hub{t: t, Repositories: make(map[string]*Repository)}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serveHub))
	h.Files = httptest.NewServer(http.HandlerFunc(h.serveFiles))
	t.Cleanup(func() { h.Server.Close(); h.Files.Close() })
	return h
}

// Change changes fields of the hub.
func (h *Hub) Change(change func(*Hub)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// Publish adds a repository, or replaces it.
func (h *Hub) Publish(id string, r *Repository) {
	h.Change(func(h *Hub) { h.Repositories[id] = r })
}

// SHA256 is what a hub calls a large file by.
func SHA256(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Git is what a hub calls a small file by: the id of the Git blob.
func Git(content []byte) string {
	h := sha1.New() //nolint:gosec // see above
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func (h *Hub) serveHub(w http.ResponseWriter, r *http.Request) {
	h.Asked.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Warning != "" {
		w.Header().Set("X-HF-Warning", h.Warning)
	}
	switch {
	case h.Portal:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, "<!DOCTYPE html><title>Please sign in</title>")
		return
	case len(h.Busy) > 0:
		maps.Copy(w.Header(), h.Busy[0])
		h.Busy = h.Busy[1:]
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case h.BadGateway > 0:
		h.BadGateway--
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	isAPI := strings.HasPrefix(path, "api/models/")
	if inner, ok := strings.CutPrefix(path, "api/resolve-cache/models/"); ok {
		h.serveSmall(w, r, inner)
		return
	}
	parts := strings.SplitN(strings.TrimPrefix(path, "api/models/"), "/", 5)
	if len(parts) < 4 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	id, what := parts[0]+"/"+parts[1], parts[2]
	revision, err := url.PathUnescape(parts[3])
	repo := h.Repositories[id]
	if err != nil || h.refuse(w, r, repo, id) {
		return
	}
	if revision != "main" && revision != repo.Commit {
		refusal(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+revision)
		return
	}
	switch {
	case isAPI && what == "revision":
		h.serveRevision(w, id, repo)
	case isAPI && what == "tree" && !h.Mirror:
		h.serveTree(w, r, repo)
	case !isAPI && what == "resolve" && len(parts) == 5:
		name, err := url.PathUnescape(parts[4])
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		h.serveResolve(w, r, id, repo, name)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// refuse answers who may not read a repository, in the hub's own words.
func (h *Hub) refuse(w http.ResponseWriter, r *http.Request, repo *Repository, id string) bool {
	token, hasToken := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	isReader := slices.Contains(h.Readers, token)
	switch {
	case hasToken && !isReader && !slices.Contains(h.Strangers, token):
		refusal(w, http.StatusUnauthorized, "", "Invalid credentials in Authorization header")
	case (repo == nil || repo.Private) && !hasToken:
		refusal(w, http.StatusUnauthorized, "RepoNotFound", "Repository not found")
	case repo == nil || repo.Private && !isReader:
		refusal(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
	case repo.Disabled:
		refusal(w, http.StatusForbidden, "", "Access to this resource is disabled.")
	case repo.Gated && !hasToken && !strings.Contains(r.URL.Path, "/revision/"):
		refusal(w, http.StatusUnauthorized, "GatedRepo",
			"Access to model "+id+" is restricted. You must have access to it and be authenticated to access it. Please log in.")
	case repo.Gated && !isReader && !strings.Contains(r.URL.Path, "/revision/"):
		refusal(w, http.StatusForbidden, "GatedRepo",
			"Access to model "+id+" is restricted and you are not in the authorized list. Visit https://huggingface.co/"+id+" to ask for access.")
	default:
		return false
	}
	return true
}

func refusal(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
		w.Header().Set("X-Error-Message", message)
	}
	answer(w, status, map[string]string{"error": message})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (h *Hub) serveRevision(w http.ResponseWriter, id string, repo *Repository) {
	var gated any = false
	if repo.Gated {
		gated = "auto"
	}
	var siblings []map[string]string
	for _, name := range slices.Sorted(maps.Keys(repo.Files)) {
		siblings = append(siblings, map[string]string{"rfilename": name})
	}
	answer(w, http.StatusOK, map[string]any{
		"id": id, "sha": repo.Commit, "private": repo.Private, "gated": gated, "disabled": false,
		"cardData": map[string]any{"license": repo.Licence, "language": []string{"hi"}}, "siblings": siblings,
	})
}

func (h *Hub) serveTree(w http.ResponseWriter, r *http.Request, repo *Repository) {
	names := append(slices.Sorted(maps.Keys(repo.Files)), h.Tricks...)
	at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	end := len(names)
	if h.Page > 0 && at+h.Page < end {
		end = at + h.Page
		q := r.URL.Query()
		q.Set("cursor", strconv.Itoa(end))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, h.URL, r.URL.EscapedPath(), q.Encode()))
	}
	page := []map[string]any{}
	for _, name := range names[at:end] {
		content := repo.Files[name]
		f := map[string]any{"type": "file", "path": name, "size": len(content), "oid": Git(content)}
		if slices.Contains(repo.Large, name) {
			f["lfs"] = map[string]any{"oid": SHA256(content), "size": len(content), "pointerSize": 134}
			f["oid"] = Git([]byte("a pointer to " + SHA256(content)))
			f["xetHash"] = SHA256([]byte(name))
		}
		page = append(page, f)
	}
	answer(w, http.StatusOK, page)
}

func (h *Hub) serveResolve(w http.ResponseWriter, r *http.Request, id string, repo *Repository, name string) {
	content, ok := repo.Files[name]
	w.Header().Set("X-Repo-Commit", repo.Commit)
	if !ok {
		refusal(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	switch {
	case h.Mirror:
		w.Header().Del("X-Repo-Commit")
		tag := Git(content)
		if slices.Contains(repo.Large, name) {
			tag = SHA256(content)
		}
		w.Header().Set("ETag", `"`+tag+`"`)
		h.send(w, r, content)
	case slices.Contains(repo.Large, name):
		h.signed++
		w.Header().Set("X-Linked-ETag", `"`+SHA256(content)+`"`)
		w.Header().Set("X-Linked-Size", strconv.Itoa(len(content)))
		w.Header().Set("X-Xet-Hash", SHA256([]byte(name)))
		to := fmt.Sprintf("%s/%s?signature=%d", h.Files.URL, SHA256(content), h.signed)
		if h.Redirect != "" {
			to = h.Redirect
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	default:
		to := fmt.Sprintf("/api/resolve-cache/models/%s/%s/%s", id, repo.Commit,
			strings.ReplaceAll(url.PathEscape(name), "/", "%2F"))
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

// serveSmall answers owner/name/commit/path, where the path is one part.
func (h *Hub) serveSmall(w http.ResponseWriter, r *http.Request, path string) {
	parts := strings.SplitN(path, "/", 4)
	repo := h.Repositories[parts[0]+"/"+parts[1]]
	name, err := url.PathUnescape(parts[3])
	if repo == nil || err != nil || h.refuse(w, r, repo, parts[0]+"/"+parts[1]) {
		return
	}
	content := repo.Files[name]
	w.Header().Set("X-Repo-Commit", repo.Commit)
	w.Header().Set("ETag", `"`+Git(content)+`"`)
	if r.Header.Get("Accept-Encoding") != "identity" {
		w.Header().Set("Content-Encoding", "gzip") // which hides the length
		z := gzip.NewWriter(w)
		_, _ = z.Write(content)
		_ = z.Close()
		return
	}
	h.send(w, r, content)
}

// serveFiles answers the second server's addresses.
func (h *Hub) serveFiles(w http.ResponseWriter, r *http.Request) {
	h.Asked.Add(1)
	if r.Header.Get("Authorization") != "" {
		h.t.Error("the token came to another host")
	}
	h.mu.Lock()
	if h.Expire > 0 {
		h.Expire--
		h.mu.Unlock()
		http.Error(w, "Request has expired", http.StatusForbidden)
		return
	}
	noRange, cut, stall := h.NoRange, h.CutAfter, h.Stall
	var content []byte
	for _, repo := range h.Repositories {
		for _, c := range repo.Files {
			if "/"+SHA256(c) == r.URL.Path {
				content = c
			}
		}
	}
	if h.Flip && len(content) > 0 {
		content = slices.Clone(content)
		for i := range content[len(content)/3 : min(len(content)/3+1<<20, len(content))] {
			content[len(content)/3+i] ^= 0xff
		}
	}
	h.mu.Unlock()
	if noRange {
		r.Header.Del("Range")
	}
	if cut > 0 || stall != nil {
		w = &broken{ResponseWriter: w, left: max(cut, int64(len(content)/2)*btoi(cut == 0)), stall: stall,
			ended: r.Context().Done()}
	}
	h.send(w, r, content)
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (h *Hub) send(w http.ResponseWriter, r *http.Request, content []byte) {
	http.ServeContent(counted{w, &h.Sent}, r, "", time.Time{}, bytes.NewReader(content))
}

type counted struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.sent.Add(int64(n))
	return n, err
}

// broken breaks, or waits, after some bytes.
type broken struct {
	http.ResponseWriter
	left  int64
	stall <-chan struct{}
	ended <-chan struct{}
}

func (b *broken) Write(p []byte) (int, error) {
	if int64(len(p)) <= b.left {
		b.left -= int64(len(p))
		return b.ResponseWriter.Write(p)
	}
	_, _ = b.ResponseWriter.Write(p[:b.left])
	b.ResponseWriter.(http.Flusher).Flush()
	if b.stall == nil {
		panic(http.ErrAbortHandler)
	}
	select {
	case <-b.stall:
	case <-b.ended:
	}
	panic(http.ErrAbortHandler)
}
