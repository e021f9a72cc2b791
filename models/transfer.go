package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swar-tts/swar/models/archive"
	"github.com/swar-tts/swar/models/catalog"
	"github.com/swar-tts/swar/runtime/manifest"
)

// What an exported model is in its archive.
const (
	exportedLock   = "lock.json"
	exportedBundle = "bundle"
)

// Export writes a model as a tar archive: its lock file and its bundle. The same model gives the same bytes.
func (s Store) Export(ctx context.Context, m Model, w io.Writer, progress func(done, total int64, what string)) error {
	return archive.Pack(ctx, w, map[string]string{exportedLock: m.Folder + lockSuffix, exportedBundle: m.Folder},
		progress)
}

// ImportRequest is a model that comes as an archive or a folder, not from a hub.
type ImportRequest struct {
	Reference string // what was asked for
	Name      string // empty means that of the archive, or of the bundle
	// bytes that an archive and its content may take together
	Limit    int64
	Progress func(done, total int64, what string)              // required
	Verify   func(ctx context.Context, bundleDir string) error // tries the bundle before it is kept; required
}

// ImportArchive imports a model from an archive into the store. Export wrote the archive, or it has a bundle in any
// format that [archive.Extract] reads.
func (s Store) ImportArchive(ctx context.Context, file *os.File, i ImportRequest) (Model, error) {
	return s.Import(ctx, i, func(folder string) error {
		_, err := archive.Extract(ctx, file, folder, i.Limit, i.Progress)
		return err
	})
}

// ImportFolder brings a copy of a bundle into the store.
func (s Store) ImportFolder(ctx context.Context, folder string, i ImportRequest) (Model, error) {
	if _, err := os.Stat(filepath.Join(folder, manifest.File)); err != nil {
		return Model{}, fmt.Errorf("%s is not a bundle: %w", folder, err)
	}
	return s.Import(ctx, i, func(to string) error {
		i.Progress(0, 0, "copying")
		return os.CopyFS(to, os.DirFS(folder))
	})
}

// ImportFetched moves a folder into the store that an archive was unpacked to. It must lie in the store's own folder.
func (s Store) ImportFetched(ctx context.Context, folder string, i ImportRequest) (Model, error) {
	return s.Import(ctx, i, func(to string) error {
		if err := os.Remove(to); err != nil {
			return err
		}
		return os.Rename(folder, to)
	})
}

// Import has fill put a bundle, or what Export packs, into an empty folder, and keeps it. A model that is here
// already is returned as it is.
func (s Store) Import(ctx context.Context, i ImportRequest, fill func(folder string) error) (m Model, err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return m, err
	}
	temporary, err := os.MkdirTemp(s.Dir, ".importing-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	if err := fill(temporary); err != nil {
		return m, err
	}
	made, lock, err := find(temporary, i)
	if err != nil {
		return m, err
	}
	if have, err := s.Find(lock.Name, lock.Revision); err == nil && have.Bundle == lock.Bundle {
		return have, nil
	}
	if err := i.Verify(ctx, made); err != nil {
		return m, err
	}
	if err := os.MkdirAll(filepath.Dir(s.Folder(lock.Name, lock.Revision)), 0o755); err != nil {
		return m, err
	}
	return s.Keep(made, lock)
}

// find returns the bundle in a folder, and what its lock file is to say.
func find(folder string, i ImportRequest) (made string, l Lock, err error) {
	made = filepath.Join(folder, exportedBundle)
	const largest = 1 << 20
	text, err := readSmall(filepath.Join(folder, exportedLock), largest)
	switch {
	case err == nil:
		l, err = exported(text, made)
	case errors.Is(err, fs.ErrNotExist):
		if made, err = inner(folder); err == nil {
			l, err = describe(made, i)
		}
	}
	if err != nil {
		return "", Lock{}, err
	}
	if i.Name != "" {
		l.Name = i.Name
	}
	if !catalog.IsName(l.Name) {
		return "", Lock{},
			fmt.Errorf("%q cannot be the name of a model here: choose one of lower-case letters, digits, dots and hyphens with --name", l.Name)
	}
	return made, l, nil
}

// exported reads the lock file of an exported model, and holds its bundle against it.
func exported(text []byte, made string) (l Lock, err error) {
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("%s: not a lock file: %w", exportedLock, err)
	}
	if l.Format != LockFormat {
		return l, fmt.Errorf("%s: format %d: this version reads format %d", exportedLock, l.Format, LockFormat)
	}
	if len(l.Revision) < shortDigits || !isHash((l.Revision + strings.Repeat("0", 64))[:64]) {
		return l, fmt.Errorf("%s: %q is not a revision", exportedLock, l.Revision)
	}
	sum, err := manifest.Digest(made)
	if err == nil && sum != l.Bundle {
		err = fmt.Errorf("the manifest of the bundle has the SHA-256 %s, and the lock file says %s: one of both was changed", sum, l.Bundle)
	}
	return l, err
}

// inner is the folder with the manifest: the given one, or the only one in it.
func inner(folder string) (string, error) {
	if _, err := os.Stat(filepath.Join(folder, manifest.File)); err == nil {
		return folder, nil
	}
	found, err := filepath.Glob(filepath.Join(escapeGlob(folder), "*", manifest.File))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("there is no bundle in it: no folder with a %s", manifest.File)
	}
	return filepath.Dir(found[0]), nil
}

// describe says of a bundle that came without a lock file what is known.
func describe(made string, i ImportRequest) (Lock, error) {
	m, err := manifest.Open(made)
	if err != nil {
		return Lock{}, err
	}
	sum, err := manifest.Digest(made)
	if err != nil {
		return Lock{}, err
	}
	l := Lock{
		Format: LockFormat, Name: strings.ToLower(m.ID), Reference: i.Reference, Revision: sum, Licence: m.Licence,
		Files: []Source{}, Voices: []Voice{}, Bundle: sum, Pulled: time.Now().UTC().Truncate(time.Second),
		Made: BuildOptions{
			Precision: m.Precision, Language: strings.Join(m.Languages, "+"), Script: m.Script,
			Punctuation: m.Punctuation,
		},
	}
	for _, v := range m.Voices {
		l.Voices = append(l.Voices, Voice{Name: v.Name, From: i.Reference})
	}
	return l, nil
}
