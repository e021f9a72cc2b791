package hub

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The cache of the hub's own tools, for each repository:
//
//	models--OWNER--NAME/refs/REVISION                a commit, as text
//	                    snapshots/COMMIT/PATH        a link to blobs/HASH, or the file where links are impossible
//	                    trees/COMMIT.json            sizes and hashes of all files; newer tools only
func (c *Client) cached(r Reference, parts ...string) string {
	folder := "models--" + strings.ReplaceAll(r.Repository, "/", "--")
	return filepath.Join(append([]string{c.Cache, folder}, parts...)...)
}

func (c *Client) offline(what string) error {
	return &Error{Kind: KindOffline,
		Text: fmt.Sprintf("%s is not in the cache (%s), and HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE forbids to ask the hub", what, c.Cache)}
}

func (c *Client) cachedRevision(r Reference) (Revision, error) {
	if isCommit(r.Revision) {
		if _, err := os.Stat(c.cached(r, "snapshots", r.Revision)); err != nil {
			return Revision{}, c.offline(r.Repository + "@" + r.Revision)
		}
		return Revision{Commit: r.Revision}, nil
	}
	text, err := os.ReadFile(c.cached(r, "refs", filepath.FromSlash(orMain(r.Revision))))
	commit := strings.TrimSpace(string(text))
	if err != nil || !isCommit(commit) {
		return Revision{}, c.offline(r.Repository + "@" + orMain(r.Revision))
	}
	return Revision{Commit: commit}, nil
}

// cachedTree lists the files of a commit. Without a list, the snapshot is one, though perhaps not of all files.
func (c *Client) cachedTree(r Reference) ([]Entry, error) {
	var list struct {
		Files map[string]struct {
			Size   int64
			Blob   string `json:"blob_id"`
			SHA256 string `json:"lfs_sha256"`
			LFS    int64  `json:"lfs_size"`
		}
	}
	var all []Entry
	if text, err := os.ReadFile(c.cached(r, "trees", r.Revision+".json")); err == nil &&
		json.Unmarshal(text, &list) == nil {
		for name, f := range list.Files {
			e := Entry{Path: name, Size: f.Size, Git: f.Blob}
			if f.SHA256 != "" {
				e.SHA256, e.Git = f.SHA256, ""
				e.Size = max(f.LFS, f.Size)
			}
			if isPath(name) {
				all = append(all, e)
			}
		}
		return all, nil
	}
	snapshot := c.cached(r, "snapshots", r.Revision)
	err := filepath.WalkDir(snapshot, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		relative, err := filepath.Rel(snapshot, name)
		if err != nil {
			return err
		}
		r.Path = filepath.ToSlash(relative)
		if e, err := c.cachedEntry(r); err == nil {
			all = append(all, e)
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return nil, c.offline(r.Repository + "@" + r.Revision)
	}
	return all, nil
}

// cachedEntry describes a file of the cache by the name of its blob, which is its hash.
func (c *Client) cachedEntry(r Reference) (Entry, error) {
	revision, err := c.cachedRevision(r)
	if err != nil {
		return Entry{}, err
	}
	name := c.cached(r, "snapshots", revision.Commit, filepath.FromSlash(r.Path))
	blob, err := filepath.EvalSymlinks(name)
	info, statErr := os.Stat(name)
	if err != nil || statErr != nil || !info.Mode().IsRegular() {
		return Entry{}, c.offline(r.String())
	}
	e := Entry{Path: r.Path, Size: info.Size(), Commit: revision.Commit}
	switch hash := filepath.Base(blob); {
	case len(hash) == 64 && strings.Trim(hash, "0123456789abcdef") == "":
		e.SHA256 = hash
	case isCommit(hash):
		e.Git = hash
	default:
		return Entry{}, c.offline("the hash of " + r.String())
	}
	return e, nil
}

// Cached returns where the hub's own tools keep a file, or "". Whoever uses it checks its hash.
func (c *Client) Cached(r Reference, e Entry) string {
	if c.Cache == "" {
		return ""
	}
	hash := e.SHA256
	if hash == "" {
		hash = e.Git
	}
	for _, name := range []string{c.cached(r, "blobs", hash),
		c.cached(r, "snapshots", r.Revision, filepath.FromSlash(e.Path))} {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() == e.Size {
			return name
		}
	}
	return ""
}
