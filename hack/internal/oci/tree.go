// Package oci writes images as archives of the OCI image layout, without a daemon: the same files give the same
// bytes.
package oci

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// An Entry is a file, a folder or a symbolic link in an image. Without more it belongs to root.
type Entry struct {
	Mode    fs.FileMode // type, permissions, and fs.ModeSticky
	Owner   int         // user; the group is root's
	Content []byte      // of a file
	Link    string      // where a symbolic link points
}

// A Tree is files by their path in the image, without a slash in front. Folders above a file need no entry of their
// own; they are root's and everybody may read them.
type Tree map[string]Entry

// Put adds an entry. It refuses a path that is not clean and, unless it is a folder, one that the tree has already.
func (t Tree) Put(name string, e Entry) error {
	if name != path.Clean(name) || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "..") || name == "." {
		return fmt.Errorf("%q is not a path inside an image", name)
	}
	if old, ok := t[name]; ok && !(old.Mode.IsDir() && e.Mode.IsDir()) {
		return fmt.Errorf("two files are to become /%s", name)
	}
	t[name] = e
	return nil
}

// Merge adds all entries of other.
func (t Tree) Merge(other Tree) error {
	for _, name := range other.Names() {
		if err := t.Put(name, other[name]); err != nil {
			return err
		}
	}
	return nil
}

// Names returns the paths in the order in which they are written.
func (t Tree) Names() []string { return slices.Sorted(maps.Keys(t)) }

// WithParents returns the tree with an entry for every folder above another one. It refuses a file below a file.
func (t Tree) WithParents() (Tree, error) {
	whole := maps.Clone(t)
	for _, name := range t.Names() {
		for above := path.Dir(name); above != "."; above = path.Dir(above) {
			old, ok := whole[above]
			if ok && !old.Mode.IsDir() {
				return nil, fmt.Errorf("/%s is below /%s, which is not a folder", name, above)
			}
			if !ok {
				whole[above] = Entry{Mode: fs.ModeDir | 0o755}
			}
		}
	}
	return whole, nil
}

// writeTar writes the tree as a layer: sorted, everything of the same time, no name of a user.
func (t Tree) writeTar(w io.Writer, at time.Time) error {
	whole, err := t.WithParents()
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	for _, name := range whole.Names() {
		e := whole[name]
		h, err := header(name, e, at)
		if err != nil {
			return err
		}
		if err := out.WriteHeader(h); err != nil {
			return fmt.Errorf("writing /%s: %w", name, err)
		}
		if _, err := io.Copy(out, bytes.NewReader(e.Content)); err != nil {
			return fmt.Errorf("writing /%s: %w", name, err)
		}
	}
	return out.Close()
}

func header(name string, e Entry, at time.Time) (*tar.Header, error) {
	h := &tar.Header{
		Name: name, Mode: int64(e.Mode.Perm()), Uid: e.Owner,
		ModTime: at.Truncate(time.Second).UTC(), Size: int64(len(e.Content)),
	}
	if e.Mode&fs.ModeSticky != 0 {
		h.Mode |= 0o1000
	}
	switch e.Mode.Type() {
	case 0:
		h.Typeflag = tar.TypeReg
	case fs.ModeDir:
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case fs.ModeSymlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.Link
	default:
		return nil, fmt.Errorf("/%s is neither a file nor a folder nor a link", name)
	}
	if h.Typeflag != tar.TypeReg && len(e.Content) > 0 {
		return nil, fmt.Errorf("/%s has content and is not a file", name)
	}
	return h, nil
}
