package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

const (
	copyEvery   = time.Second     // at most
	clockLeeway = 5 * time.Second // by which a clock may have been put back

	// copyVersion begins a copy, before the hash of what follows in hexadecimal.
	copyVersion = "swar-keys 1"
)

// KeySnapshot saves a [KeyCache] to a file, for a process that starts while the portal is unreachable.
//
// The file has hashes of keys and their rights, never a key. It is valid for the grace of the cache, counted from the
// last contact of any process with the portal.
//
// A key that was revoked or restricted never returns from a snapshot: the file is removed before the change is
// acknowledged, and written again within a second.
type KeySnapshot struct {
	file  string
	cache *KeyCache
	log   *slog.Logger

	mu          sync.Mutex
	changes     uint64    // of the cache that the file holds
	lastContact time.Time // what the file says of the portal; zero: there is no file, or it is not known to be good
	failed      bool      // to write or to remove, which was logged
}

// savedKeys is the content of the file.
type savedKeys struct {
	LastContact int64      `json:"heard"` // when the portal was, in microseconds since 1970
	Keys        []savedKey `json:"keys"`

	Lexicons []ProjectLexicon `json:"lexicons,omitempty"`
}

type savedKey struct {
	Hash       Hash     `json:"hash"`
	OrgID      string   `json:"org_id,omitempty"`
	ProjectID  string   `json:"project_id,omitempty"`
	KeyPrefix  string   `json:"prefix,omitempty"`
	Playground bool     `json:"playground,omitempty"`
	Voices     []string `json:"voices,omitempty"`
	Origin     string   `json:"origin,omitempty"`
	ExpiresAt  int64    `json:"expires_at,omitempty"` // in microseconds since 1970
	Disclosure *string  `json:"disclosure,omitempty"` // nil sets nothing
}

// NewKeySnapshot fills cache from the file, if that is good, and returns what keeps it so while it runs. It is called
// before anything else uses the cache. What cannot be used is removed, with a warning.
func NewKeySnapshot(cache *KeyCache, file string, log *slog.Logger) *KeySnapshot {
	k := &KeySnapshot{file: file, cache: cache, log: log}
	kept, err := readCopy(file)
	if err == nil {
		k.changes, err = cache.fill(kept)
	}
	switch {
	case err == nil:
		k.lastContact = time.UnixMicro(kept.LastContact)
		log.Info("keys were loaded from the snapshot; they stay valid for a while without the portal",
			"keys", len(kept.Keys), "portal_heard", k.lastContact.UTC())
	case !errors.Is(err, fs.ErrNotExist):
		log.Warn("the key snapshot is unusable; waiting for the portal", "file", file, "error", err)
		k.remove()
	}
	cache.copy = k
	return k
}

// Run keeps the copy up to date until ctx ends, and once more then.
func (k *KeySnapshot) Run(ctx context.Context) error {
	tick := time.NewTicker(copyEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.save(k.cache.grace / 10)
		case <-ctx.Done():
			k.save(0)
			return nil
		}
	}
}

// save writes the file if the keys have changed, if it makes the portal seem to have been away for longer than it was
// by more than behind, or if the clock was put back.
func (k *KeySnapshot) save(behind time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, changes, ok := k.cache.snapshot(func(heard time.Time, changes uint64) bool {
		ahead := heard.Sub(k.lastContact)
		return k.lastContact.IsZero() || changes != k.changes || ahead > behind || ahead < -clockLeeway
	})
	if !ok {
		return
	}
	if err := writeCopy(k.file, kept); err != nil {
		k.lastContact = time.Time{} // try again
		k.fail("the key snapshot cannot be written; after a restart without the portal no key would be known", err)
		return
	}
	k.lastContact, k.changes, k.failed = time.UnixMicro(kept.LastContact), changes, false
}

// remove removes the file, also when it is being written.
func (k *KeySnapshot) remove() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lastContact = time.Time{}
	err := os.Remove(k.file)
	if err == nil {
		err = syncFolder(k.file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.fail("the snapshot of the keys cannot be removed; after a restart it would allow revoked keys", err)
	}
}

// fail logs what could not be done, once until something can.
func (k *KeySnapshot) fail(what string, err error) {
	if !k.failed {
		k.failed = true
		k.log.Error(what, "file", k.file, "error", err)
	}
}

// fill begins with what was kept, unless that is too old. It returns the number of changes that this made.
func (c *KeyCache) fill(kept savedKeys) (changes uint64, err error) {
	lexicons := compiled(kept.Lexicons)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	age := now.Sub(time.UnixMicro(kept.LastContact))
	switch {
	case age < -clockLeeway: // its age is unknown
		return 0, fmt.Errorf("it is from the future (%v): the clock was set back", -age)
	case age >= c.grace:
		return 0, fmt.Errorf("last contact with the portal was %v ago; cached keys are valid for %v", age, c.grace)
	}
	entries := make([]Entry, len(kept.Keys))
	for i := range kept.Keys {
		entries[i] = kept.Keys[i].entry()
	}
	c.applyLocked(entries)
	c.setLexiconsLocked(lexicons, true)
	c.lostAt = now.Add(-max(age, 0)) // on the monotonic clock, which clock changes do not move
	c.beginLocked()
	return c.changes, nil
}

// snapshot returns the keys to save, if there are any and wanted accepts the time of the last contact with the portal
// and the number of changes.
func (c *KeyCache) snapshot(wanted func(heard time.Time, changes uint64) bool) (_ savedKeys, changes uint64, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	heard := c.lostAt
	if heard.IsZero() {
		heard = time.Now()
	}
	if !c.began || !wanted(heard, c.changes) {
		return savedKeys{}, 0, false
	}
	kept := savedKeys{LastContact: heard.UnixMicro(), Keys: make([]savedKey, 0, len(c.keys))}
	for hash, h := range c.keys {
		kept.Keys = append(kept.Keys, newSavedKey(h.entry(hash)))
	}
	kept.Lexicons = c.snapshotLexiconsLocked()
	return kept, c.changes, true
}

func newSavedKey(e Entry) savedKey {
	k := savedKey{
		Hash: e.Hash, OrgID: e.OrgID, ProjectID: e.ProjectID, KeyPrefix: e.KeyPrefix, Playground: e.Playground,
		Voices: e.Voices, Origin: e.Origin,
	}
	if !e.ExpiresAt.IsZero() {
		k.ExpiresAt = e.ExpiresAt.UnixMicro()
	}
	if e.Disclosure.Set {
		k.Disclosure = &e.Disclosure.Text
	}
	return k
}

func (k *savedKey) entry() Entry {
	e := Entry{
		Hash: k.Hash, OrgID: k.OrgID, ProjectID: k.ProjectID, KeyPrefix: k.KeyPrefix, Playground: k.Playground,
		Voices: k.Voices, Origin: k.Origin,
	}
	if k.ExpiresAt != 0 {
		e.ExpiresAt = time.UnixMicro(k.ExpiresAt).UTC()
	}
	if k.Disclosure != nil {
		e.Disclosure = speech.Disclosure{Set: true, Text: *k.Disclosure}
	}
	return e
}

// readCopy reads what writeCopy has written.
func readCopy(file string) (kept savedKeys, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return kept, err
	}
	first, body, _ := bytes.Cut(raw, []byte("\n"))
	sum, isOurs := strings.CutPrefix(string(first), copyVersion+" ")
	if !isOurs {
		return kept, errors.New("it is of another version")
	}
	if got := sha256.Sum256(body); hex.EncodeToString(got[:]) != sum {
		return kept, errors.New("it is damaged: the checksum is another")
	}
	if err := json.Unmarshal(body, &kept); err != nil {
		return kept, fmt.Errorf("it is damaged: %w", err)
	}
	return kept, nil
}

// writeCopy puts kept in the place of file, which holds all of it or what it held before, also when the power fails.
func writeCopy(file string, kept savedKeys) (err error) {
	body, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	temporary := file + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	_, err = fmt.Fprintf(f, "%s %s\n%s", copyVersion, hex.EncodeToString(sum[:]), body)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	if err := os.Rename(temporary, file); err != nil {
		return err
	}
	return syncFolder(file)
}

// syncFolder makes what was renamed or removed in the folder of file last.
func syncFolder(file string) error {
	folder, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
