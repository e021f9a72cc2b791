package hub

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Reference names a repository of the hub, at a revision, or a file in it.
type Reference struct {
	Repository string // owner/name
	Revision   string // a commit, branch or tag; empty means main
	Path       string // with slashes; empty for the repository
}

// Scheme is how references begin.
const Scheme = "hf://"

// ParseReference parses both forms of a reference to a file. They are hf://owner/name/path@revision, as models of
// this family have, and hf://[models/]owner/name[@revision][/path], as the hub's tools have. Parts may be quoted as
// in addresses.
func ParseReference(text string) (Reference, error) {
	rest, ok := strings.CutPrefix(text, Scheme)
	if !ok {
		return Reference{}, fmt.Errorf("%.80q: want %sOWNER/NAME, perhaps with a file and @REVISION", text, Scheme)
	}
	r, err := parse(strings.TrimPrefix(rest, "models/"))
	if err != nil {
		return Reference{}, fmt.Errorf("%.80q: %w", text, err)
	}
	return r, nil
}

func parse(text string) (r Reference, err error) {
	if kind, _, _ := strings.Cut(text, "/"); kind == "datasets" || kind == "spaces" || kind == "buckets" {
		return r, fmt.Errorf("%s hold no models", kind)
	}
	owner, rest, _ := strings.Cut(text, "/")
	name, path, _ := strings.Cut(rest, "/")
	name, revision, hasRevision := strings.Cut(name, "@")
	if !hasRevision {
		if i := strings.LastIndexByte(path, '@'); i >= 0 {
			path, revision, hasRevision = path[:i], path[i+1:], true
		}
	}
	for _, part := range []*string{&owner, &name, &path, &revision} {
		if *part, err = url.PathUnescape(*part); err != nil {
			return r, err
		}
	}
	switch {
	case !isName(owner) || !isName(name):
		return r, errors.New("want OWNER/NAME of letters, digits, '-', '_' and '.'")
	case hasRevision && !isRevision(revision):
		return r, fmt.Errorf("%.80q is not a revision", revision)
	case path != "" && !isPath(path):
		return r, fmt.Errorf("%.80q is not a file of a repository", path)
	}
	return Reference{owner + "/" + name, revision, path}, nil
}

// String returns the reference as ParseReference reads it.
func (r Reference) String() string {
	text := Scheme + r.Repository
	if r.Path != "" {
		text += "/" + (&url.URL{Path: r.Path}).EscapedPath()
		text = strings.ReplaceAll(text, "@", "%40")
	}
	if r.Revision != "" {
		text += "@" + url.PathEscape(r.Revision)
	}
	return text
}

// isName reports whether s may be an owner or the name of a repository.
func isName(s string) bool {
	const most = 96
	isOther := func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, isOther) && strings.Trim(s, ".") != ""
}

// isRevision reports whether s may name a commit, branch or tag.
func isRevision(s string) bool {
	const most = 255
	return s != "" && len(s) <= most &&
		!strings.ContainsFunc(s,
			func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`\?#:~^*[`, r) }) &&
		!strings.Contains(s, "..")
}

// isPath reports whether a path stays in a folder, on every system.
func isPath(path string) bool {
	const most = 1024
	if len(path) > most || strings.ContainsAny(path, "\\:\x00") {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}
