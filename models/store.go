package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swar-tts/swar/models/catalog"
	"github.com/swar-tts/swar/runtime/manifest"
)

// Store is a folder of models. Bundles lie in NAME/REVISION, each with NAME/REVISION.lock.json beside it; what they
// were made of lies in files/ by hash, shared by all. Several processes may use one.
type Store struct{ Dir string }

// OpenStore returns the store of the environment: SWAR_MODELS, else swar/models where the user keeps data. Nothing is
// made.
func OpenStore() (Store, error) {
	if dir := os.Getenv("SWAR_MODELS"); dir != "" {
		return Store{dir}, nil
	}
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // a relative one is to be ignored, says the XDG base directory specification
		home, err := os.UserHomeDir()
		if err != nil {
			return Store{}, errors.New("there is no place for models: set SWAR_MODELS to a folder")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return Store{filepath.Join(data, "swar", "models")}, nil
}

// Lock says what a bundle of the store was made of. With the files that it names, the same bundle can be made again.
type Lock struct {
	Format     int          `json:"format"`
	Name       string       `json:"name"`
	Reference  string       `json:"reference"`            // what was asked for
	Repository string       `json:"repository,omitempty"` // of the hub
	Revision   string       `json:"revision"`             // a commit, or the SHA-256 of what came without one
	Licence    string       `json:"licence,omitempty"`
	Files      []Source     `json:"files"`
	Voices     []Voice      `json:"voices"`
	Made       BuildOptions `json:"made"`
	Bundle     string       `json:"bundle_sha256"` // of its manifest.json
	Pulled     time.Time    `json:"pulled"`
}

// LockFormat is the version of lock files. Others are refused.
const LockFormat = 1

// Roles of the files that a bundle is made of.
const (
	RoleConfig    = "config"
	RoleWeights   = "weights"
	RoleCodec     = "codec" // where it is not among the weights
	RoleTokenizer = "tokenizer"
	RoleVoice     = "voice"
)

// Source is a file that a bundle was made of.
type Source struct {
	Role   string `json:"role"`
	From   string `json:"from"` // with the commit, where there is one
	SHA256 string `json:"sha256"`
	Git    string `json:"git,omitempty"` // id of the Git blob, for small files of the hub
	Bytes  int64  `json:"bytes"`
}

// Voice is a voice that the bundle was given, beside those that the weights hold.
type Voice struct {
	Name        string `json:"name"`
	From        string `json:"from"`
	SHA256      string `json:"sha256"`
	Licence     string `json:"licence,omitempty"`
	Attribution string `json:"attribution,omitempty"`
}

// BuildOptions is how the bundle was made.
type BuildOptions struct {
	Precision    string   `json:"precision"`
	EOSThreshold *float64 `json:"eos_threshold,omitempty"`
	Steps        int      `json:"steps,omitempty"`
	GELU         string   `json:"gelu,omitempty"`
	Language     string   `json:"language"`
	Script       string   `json:"script,omitempty"`
	Punctuation  string   `json:"punctuation,omitempty"`
	VoiceSeconds int      `json:"voice_seconds,omitempty"` // room for voices that are added later
}

// Model is a model in the store.
type Model struct {
	Lock
	Folder string // of the bundle
	Bytes  int64  // of the bundle
}

// Short is the revision as people type it.
func (m *Model) Short() string { return ShortRevision(m.Revision) }

// IsAddress reports whether a reference says where a model lies, such as hf://OWNER/NAME, and not what it is called.
func IsAddress(reference string) bool {
	return strings.Contains(reference, "://") || strings.HasPrefix(reference, "file:")
}

const shortDigits = 12

// ShortRevision is the beginning of a revision, as people type it and folders are called.
func ShortRevision(revision string) string { return revision[:min(shortDigits, len(revision))] }

// NotPulledError says that a model is not in the store.
type NotPulledError struct {
	Name, Revision string
	Revisions      []string // revisions of that name that are there, shortened
	Similar        []string // names that were perhaps meant, where none is called Name
	Known          bool     // the catalogue has it
}

func (e *NotPulledError) Error() string {
	wanted := e.Name
	if e.Revision != "" {
		wanted += "@" + e.Revision
	}
	text := "the model " + wanted + " is not here"
	switch {
	case len(e.Revisions) > 0:
		return fmt.Sprintf("%s; of %s there is %s: `swar model pull %s` downloads it", text, e.Name,
			strings.Join(e.Revisions, ", "), wanted)
	case len(e.Similar) > 0:
		return fmt.Sprintf("%s, and there is none of that name; perhaps %s is meant", text,
			strings.Join(e.Similar, " or "))
	case !e.Known:
		return text + ", and there is none of that name: `swar model list` shows which there are"
	}
	return fmt.Sprintf("%s: `swar model pull %s` downloads it", text, wanted)
}

// Find returns the model with a name or alias and a prefix of its revision. Without a revision it is that of the
// catalogue, or else the one that was pulled last.
func (s Store) Find(name, revision string) (Model, error) {
	entry, known := catalog.Find(name)
	if known {
		name = entry.Name
	}
	all, err := s.List()
	if err != nil {
		return Model{}, err
	}
	missing := &NotPulledError{Name: name, Revision: revision, Known: known}
	var found []Model
	for _, m := range all {
		if m.Name != name {
			continue
		}
		missing.Revisions = append(missing.Revisions, m.Short())
		if strings.HasPrefix(m.Revision, revision) {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		if !known && len(missing.Revisions) == 0 {
			missing.Similar = catalog.Like(name)
		}
		return Model{}, missing
	}
	if i := slices.IndexFunc(found,
		func(m Model) bool { return revision == "" && m.Revision == entry.Revision }); i >= 0 {
		return found[i], nil
	}
	return slices.MaxFunc(found, func(a, b Model) int { return a.Pulled.Compare(b.Pulled) }), nil
}

const lockSuffix = ".lock.json"

// List returns the models of the store by name, the one that was pulled last first. A bundle without a lock file is not
// whole yet.
func (s Store) List() ([]Model, error) {
	locks, err := filepath.Glob(filepath.Join(escapeGlob(s.Dir), "*", "*"+lockSuffix))
	if err != nil {
		return nil, err
	}
	var all []Model
	for _, path := range locks {
		m, err := readModel(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being removed
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; remove it, and pull the model again", path, err)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Model) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), b.Pulled.Compare(a.Pulled))
	})
	return all, nil
}

// escapeGlob returns a pattern that matches path alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readSmall reads a file that is no larger than most bytes.
func readSmall(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > most {
		err = fmt.Errorf("%s is larger than %d MiB: it is not what its name says", path, most>>20)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func readModel(path string) (Model, error) {
	const largest = 1 << 20
	text, err := readSmall(path, largest)
	if err != nil {
		return Model{}, err
	}
	m := Model{Folder: strings.TrimSuffix(path, lockSuffix)}
	if err := json.Unmarshal(text, &m.Lock); err != nil {
		return Model{}, fmt.Errorf("not a lock file: %w", err)
	}
	switch {
	case m.Format != LockFormat:
		return Model{}, fmt.Errorf("format %d: this version reads format %d", m.Format, LockFormat)
	case m.Name != filepath.Base(filepath.Dir(path)) || ShortRevision(m.Revision) != filepath.Base(m.Folder):
		return Model{}, fmt.Errorf("it is of %s@%s, and lies in another place", m.Name, ShortRevision(m.Revision))
	}
	m.Bytes, err = folderBytes(m.Folder)
	return m, err
}

func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// Folder is where the bundle of a model lies, or would.
func (s Store) Folder(name, revision string) string {
	return filepath.Join(s.Dir, name, ShortRevision(revision))
}

// Files is the folder of downloads. Each is in a subfolder named by its hash, the SHA-256 or the id of its Git blob,
// because the name of a file says how it is read.
func (s Store) Files() string { return filepath.Join(s.Dir, "files") }

// FileOf returns the path of the source file with a role. It is empty where the store does not have the file, as for
// an imported bundle.
func (s Store) FileOf(m Model, role string) string {
	for _, f := range m.Files {
		if f.Role != role {
			continue
		}
		for _, key := range []string{f.SHA256, f.Git} {
			found, err := filepath.Glob(filepath.Join(escapeGlob(s.Files()), cmp.Or(key, "-"), "*"))
			if err == nil && len(found) == 1 {
				return found[0]
			}
		}
	}
	return ""
}

// Changed updates the lock file of a model after a voice was added or removed.
func (s Store) Changed(m Model) error {
	b, err := manifest.Open(m.Folder)
	if err != nil {
		return err
	}
	if m.Bundle, err = manifest.Digest(m.Folder); err != nil {
		return err
	}
	voices := []Voice{}
	for _, v := range b.Voices {
		noted := Voice{Name: v.Name, SHA256: v.Recording}
		if i := slices.IndexFunc(m.Voices, func(old Voice) bool {
			return old.Name == v.Name && (noted.SHA256 == "" || old.SHA256 == noted.SHA256)
		}); i >= 0 {
			noted = m.Voices[i]
		}
		voices = append(voices, noted)
	}
	m.Voices = voices
	return s.writeLock(m.Lock)
}

// Remove removes a model, and the downloads that no other model was made of. It returns how many bytes that frees.
//
// The lock file goes first: a process that is killed half-way leaves a folder without one, which the next pull
// replaces.
func (s Store) Remove(m Model) (freed int64, err error) {
	if err := os.Remove(m.Folder + lockSuffix); err != nil {
		return 0, err
	}
	if err := os.RemoveAll(m.Folder); err != nil {
		return 0, err
	}
	_ = os.Remove(filepath.Dir(m.Folder)) // unless another revision is in it
	unused, err := s.prune()
	return m.Bytes + unused, err
}

// prune removes whole downloads that no lock file names.
func (s Store) prune() (freed int64, err error) {
	all, err := s.List()
	if err != nil {
		return 0, err
	}
	used := make(map[string]bool)
	for _, m := range all {
		for _, f := range m.Files {
			used[f.SHA256], used[f.Git] = true, true
		}
	}
	entries, err := os.ReadDir(s.Files())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if used[e.Name()] || !isHash(e.Name()) {
			continue // also a download that goes on
		}
		folder := filepath.Join(s.Files(), e.Name())
		size, err := folderBytes(folder)
		if err := errors.Join(err, os.RemoveAll(folder)); err != nil {
			return freed, err
		}
		freed += size
	}
	return freed, nil
}

func isHash(name string) bool {
	return (len(name) == 64 || len(name) == 40) && strings.Trim(name, "0123456789abcdef") == ""
}

// Keep puts a bundle into the store that made lies in, and its lock file beside it. What was there under that name and
// revision is replaced; who serves it has read it.
func (s Store) Keep(made string, l Lock) (Model, error) {
	folder := s.Folder(l.Name, l.Revision)
	if err := os.Remove(folder + lockSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Model{}, err
	}
	if err := errors.Join(os.RemoveAll(folder), os.Rename(made, folder)); err != nil {
		return Model{}, err
	}
	if err := s.writeLock(l); err != nil {
		return Model{}, err
	}
	return readModel(folder + lockSuffix)
}

// writeLock replaces the lock file of a model at once.
func (s Store) writeLock(l Lock) error {
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	path := s.Folder(l.Name, l.Revision) + lockSuffix
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
