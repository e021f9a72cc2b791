// Package hub is a client of the Hugging Face hub, and of what speaks like it: mirrors, proxies and caches. It says
// what a repository holds, at which commit and under which licence, and how its files are brought, by package
// download.
//
// The token goes to the hub's own host and nowhere else; redirects lead neither to plain HTTP nor from a public hub
// into a private network. Nothing is reported about who uses it.
package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swar-tts/swar/models/download"
)

const (
	mostRedirects = 10
	mostJSON      = 16 << 20
	mostPages     = 100 // of a tree
	mostRetries   = 3   // of a question whose answer is small
	longestRetry  = time.Minute
)

// Client asks a hub. [FromEnvironment] returns one. It is safe for concurrent use once it is set up.
type Client struct {
	Endpoint string // without a slash at the end
	Token    string // empty for what is public
	Offline  bool   // only the cache is asked
	Cache    string // folder of the hub's own tools, which is read and never written
	Agent    string // name and version of the program
	HTTP     *http.Client

	// Warn, if not nil, hears what the hub wants its users to know, a topic perhaps several times.
	Warn func(topic, message string)

	tokenFrom string
	retry     time.Duration // for tests; 0 means a second
}

// Revision is what the hub says of a repository at a revision.
type Revision struct {
	Commit    string
	Gate      string // auto or manual where terms have to be accepted; else empty
	Licence   string // as the publisher calls it
	Languages []string
}

// Entry is a file of a repository.
type Entry struct {
	Path   string
	Size   int64
	SHA256 string // of large files
	Git    string // id of the Git blob, for those without a SHA256
	Commit string // where the hub says it; only of Stat
}

func (c *Client) page(repository string) string { return c.Endpoint + "/" + repository }

func orMain(revision string) string {
	if revision == "" {
		return "main"
	}
	return revision
}

// Revision resolves a branch, tag or commit; the path of r is not looked at.
func (c *Client) Revision(ctx context.Context, r Reference) (Revision, error) {
	if c.Offline {
		return c.cachedRevision(r)
	}
	var body struct {
		SHA      string
		Gated    any
		Disabled bool
		CardData struct {
			Licence  any `json:"license"`
			Language any
		} `json:"cardData"`
	}
	address := fmt.Sprintf("%s/api/models/%s/revision/%s", c.Endpoint, r.Repository, url.PathEscape(orMain(r.Revision)))
	if _, err := c.getJSON(ctx, r, address, &body); err != nil {
		return Revision{}, err
	}
	if !isCommit(body.SHA) {
		return Revision{}, c.noHub("it names no commit")
	}
	gate, _ := body.Gated.(string)
	licence, _ := body.CardData.Licence.(string)
	return Revision{body.SHA, oneLine(gate), oneLine(licence), texts(body.CardData.Language)}, nil
}

// texts returns the strings of a JSON value that is one or several.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{oneLine(v)}
	case []any:
		var all []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				all = append(all, oneLine(s))
			}
		}
		return all
	}
	return nil
}

func isCommit(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// noHub is the error of an answer that no hub would give.
func (c *Client) noHub(why string) error {
	return &Error{Kind: KindNoHub, Text: fmt.Sprintf(
		"what answers at %s is not a hub (%s): perhaps a proxy or a page to sign in at is in between; look at HF_ENDPOINT and HTTPS_PROXY", c.Endpoint, why)}
}

// Tree lists the files of a commit. A mirror may not know how: then the error is of KindEntry or KindMissing, and Stat
// still works. Names that would leave a folder, and links, are refused.
func (c *Client) Tree(ctx context.Context, repository, commit string) ([]Entry, error) {
	r := Reference{Repository: repository, Revision: commit}
	if c.Offline {
		return c.cachedTree(r)
	}
	var all []Entry
	next := fmt.Sprintf("%s/api/models/%s/tree/%s?recursive=True&expand=False", c.Endpoint, repository,
		url.PathEscape(commit))
	for range mostPages {
		var page []struct {
			Type, Path, OID string
			Size            int64
			LFS             *struct {
				OID  string
				Size int64
			}
		}
		header, err := c.getJSON(ctx, r, next, &page)
		if err != nil {
			return nil, err
		}
		for _, f := range page {
			if !isPath(f.Path) {
				return nil, fmt.Errorf("%s holds a file called %.80q, which would lie outside of a folder; it is skipped", repository, f.Path)
			}
			if f.Type != "file" {
				continue
			}
			e := Entry{Path: f.Path, Size: f.Size, Git: f.OID}
			if f.LFS != nil {
				e.SHA256, e.Size, e.Git = f.LFS.OID, f.LFS.Size, ""
			}
			all = append(all, e)
		}
		if next = nextPage(header); next == "" {
			return all, nil
		}
		if !c.isOwn(next) {
			return nil, c.noHub("the list of files continues on another host")
		}
	}
	return nil, fmt.Errorf("%s holds more files than a model has", repository)
}

// nextPage returns the address of a Link header whose relation is next; see RFC 8288.
func nextPage(h http.Header) string {
	for link := range strings.SplitSeq(h.Get("Link"), ",") {
		address, parameters, _ := strings.Cut(strings.TrimSpace(link), ";")
		if strings.Contains(parameters, `rel="next"`) {
			return strings.Trim(address, "<>")
		}
	}
	return ""
}

// isOwn reports whether an address is of the hub itself, which may see the token.
func (c *Client) isOwn(address string) bool {
	own, err := url.Parse(c.Endpoint)
	other, otherErr := url.Parse(address)
	return err == nil && otherErr == nil && own.Scheme == other.Scheme && own.Host == other.Host
}

// Stat says how large a file is, and its hash.
func (c *Client) Stat(ctx context.Context, r Reference) (Entry, error) {
	if c.Offline {
		return c.cachedEntry(r)
	}
	answer, err := c.send(ctx, http.MethodHead, c.resolve(r), 0, false)
	if err != nil {
		return Entry{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	h := answer.Header
	isElsewhere := answer.StatusCode/100 == 3
	if !isElsewhere && answer.StatusCode != http.StatusOK {
		return Entry{}, c.refusal(r, answer)
	}
	e := Entry{Path: r.Path, Commit: h.Get("X-Repo-Commit")}
	tag, length := h.Get("X-Linked-Etag"), h.Get("X-Linked-Size")
	if tag == "" && !isElsewhere {
		tag = h.Get("Etag")
	}
	if length == "" && !isElsewhere {
		length = strconv.FormatInt(answer.ContentLength, 10)
	}
	tag = strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
	if e.Size, err = strconv.ParseInt(length, 10, 64); err != nil || e.Size < 0 {
		return Entry{}, c.noHub("it does not say how large a file is")
	}
	switch {
	case len(tag) == 64 && strings.Trim(tag, "0123456789abcdef") == "":
		e.SHA256 = tag
	case isCommit(tag):
		e.Git = tag
	default:
		return Entry{}, c.noHub("it does not say what a file's hash is")
	}
	return e, nil
}

// resolve is the address of a file.
func (c *Client) resolve(r Reference) string {
	return fmt.Sprintf("%s/%s/resolve/%s/%s", c.Endpoint, r.Repository, url.PathEscape(orMain(r.Revision)),
		strings.ReplaceAll(url.PathEscape(r.Path), "%2F", "/"))
}

// File describes a file of the hub to package download, under a name of its own.
func (c *Client) File(r Reference, e Entry, name string) download.File {
	return download.File{
		Name: name, Title: path.Base(r.Path), Size: e.Size, SHA256: e.SHA256, Git: e.Git,
		Get:     func(ctx context.Context, offset int64) (*http.Response, error) { return c.get(ctx, r, offset) },
		Refused: func(answer *http.Response) error { return c.refusal(r, answer) },
	}
}

// FileAt describes a file at an address outside the hub, whose size and hash are known. The address gets no token.
func (c *Client) FileAt(address string, e Entry, name string) download.File {
	return download.File{
		Name: name, Title: path.Base(e.Path), Size: e.Size, SHA256: e.SHA256, Git: e.Git,
		Get: func(ctx context.Context, offset int64) (*http.Response, error) {
			return c.send(ctx, http.MethodGet, address, offset, true)
		},
	}
}

// get asks for a file, at the hub itself each time: the addresses that it leads to expire, even while they are used.
func (c *Client) get(ctx context.Context, r Reference, offset int64) (*http.Response, error) {
	answer, err := c.send(ctx, http.MethodGet, c.resolve(r), offset, true)
	if err != nil || answer.StatusCode != http.StatusForbidden || c.isOwn(answer.Request.URL.String()) {
		return answer, err
	}
	_ = answer.Body.Close()
	return c.send(ctx, http.MethodGet, c.resolve(r), offset, true)
}

// getJSON reads a small answer of the hub, and asks again where it has no time.
func (c *Client) getJSON(ctx context.Context, r Reference, address string, into any) (http.Header, error) {
	wait := c.retry
	if wait == 0 {
		wait = time.Second
	}
	for attempt := 1; ; attempt++ {
		header, after, err := c.tryJSON(ctx, r, address, into)
		if err == nil || after < 0 || attempt > mostRetries || after > longestRetry {
			return header, err
		}
		if after == 0 {
			after = wait << attempt
		}
		select {
		case <-time.After(after):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryJSON asks once. A negative wait means that it is of no use to ask again.
func (c *Client) tryJSON(ctx context.Context, r Reference, address string,
	into any) (http.Header, time.Duration, error) {
	answer, err := c.send(ctx, http.MethodGet, address, 0, true)
	if err != nil {
		if ctx.Err() != nil {
			return nil, -1, context.Cause(ctx)
		}
		return nil, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return nil, download.Wait(answer.Header, time.Now()), c.refusal(r, answer)
	default:
		return nil, -1, c.refusal(r, answer)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostJSON)).Decode(into); err != nil {
		return nil, -1, c.noHub("its answer is not JSON")
	}
	return answer.Header, 0, nil
}

// send sends a request, and follows where it is led: on the hub's own host with the token, elsewhere without, and where
// elsewhere is false not at all.
func (c *Client) send(ctx context.Context, method, address string, offset int64,
	elsewhere bool) (*http.Response, error) {
	for range mostRedirects + 1 {
		r, err := http.NewRequestWithContext(ctx, method, address, nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("User-Agent", c.Agent)
		r.Header.Set("Accept-Encoding", "identity")
		if offset > 0 {
			r.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		}
		if c.Token != "" && c.isOwn(address) {
			r.Header.Set("Authorization", "Bearer "+c.Token)
		}
		answer, err := c.HTTP.Do(r)
		if err != nil {
			return nil, unreached(c.isOwn(address), r.URL.Host, err)
		}
		c.warn(answer.Header)
		to := answer.Header.Get("Location")
		if !slices.Contains([]int{301, 302, 303, 307, 308}, answer.StatusCode) || to == "" {
			return answer, nil
		}
		next, err := r.URL.Parse(to)
		if err != nil {
			_ = answer.Body.Close()
			return nil, c.noHub("it redirects to an invalid address")
		}
		if !c.isOwn(next.String()) && !elsewhere {
			return answer, nil
		}
		_ = answer.Body.Close()
		if err := c.mayFollow(ctx, r.URL, next); err != nil {
			return nil, err
		}
		address = next.String()
	}
	return nil, c.noHub(fmt.Sprintf("it leads on more than %d times", mostRedirects))
}

// unreached says why nobody answers, without the address, which may hold a signature.
func unreached(isHub bool, host string, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if isHub {
		host = "the hub"
	}
	return fmt.Errorf("%s was not reached: %w", host, err)
}

// mayFollow refuses redirects that no hub needs.
func (c *Client) mayFollow(ctx context.Context, from, to *url.URL) error {
	refused := func(why string) error {
		return &Error{Kind: KindNoHub,
			Text: fmt.Sprintf("%s leads to %s://%s, %s: this is not followed", from.Host, to.Scheme, to.Host, why)}
	}
	switch {
	case to.Scheme != "http" && to.Scheme != "https":
		return refused("which is not the web")
	case from.Scheme == "https" && to.Scheme == "http":
		return refused("where anyone in between can read and change it")
	case isInside(ctx, to.Hostname()) && !isInside(ctx, from.Hostname()):
		return refused("inside of this network")
	}
	return nil
}

// isInside reports whether a host is of this machine or of a private network.
func isInside(ctx context.Context, host string) bool {
	isPrivate := func(ip netip.Addr) bool {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return isPrivate(ip)
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host) // which fails where a proxy knows the names
	return err == nil && slices.ContainsFunc(ips, isPrivate)
}

// warn passes on what the hub wants users to know: X-HF-Warning: topic; message.
func (c *Client) warn(h http.Header) {
	if c.Warn == nil {
		return
	}
	for _, text := range h.Values("X-Hf-Warning") {
		topic, message, ok := strings.Cut(text, ";")
		if !ok {
			topic, message = "", text
		}
		c.Warn(oneLine(strings.TrimSpace(topic)), oneLine(strings.TrimSpace(message)))
	}
}
