package signin

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Rotation of keys. A key is published for a week before it signs, so that verifiers that cache the list have it in
// time, and for a week after.
const (
	keyPeriod  = 90 * 24 * time.Hour
	keyOverlap = 7 * 24 * time.Hour
	keyLife    = keyOverlap + keyPeriod + keyOverlap
	keysMaxAge = time.Hour // for which others may keep the list
	keyBits    = 2048
	keysRecord = "keys"
)

// How soon a change of the keys reaches every server on the store. A key that was removed is good nowhere after
// keysLag: what is known is read again after keysReload, reading is given up after keysReadTime, and the two together
// are less.
const (
	keysLag      = 5 * time.Second
	keysReload   = 2 * time.Second
	keysReadTime = 2 * time.Second
	// keysReload for a key that is not known: another server may have made it just now
	unknownReload = 250 * time.Millisecond
	keyMakeTime   = 10 * time.Second // bounds storing a new key
	keysRetry     = time.Second      // between reads of a store that is away
)

// SigningKey is a key of the issuer, as its operator sees it.
type SigningKey struct {
	ID        string
	State     KeyState
	CreatedAt time.Time
	SignsFrom time.Time // zero unless the state is KeyNext
	EndsAt    time.Time // from then on no token that it has signed is good; earlier if another key replaces it
}

// KeyState is the use of a key.
type KeyState string

// The states of a key.
const (
	KeyNext    KeyState = "next"    // published, so that verifiers have it when it begins to sign
	KeySigning KeyState = "signing" // it signs
	KeyOld     KeyState = "old"     // what it has signed is still good
)

// ErrRotating refuses to make another key while one waits for its turn.
var ErrRotating = &refusal{
	http.StatusBadRequest, "rotation_pending",
	"the next key is published already and takes over automatically; rotate with now to replace all keys at once",
}

// keyList is the record of the issuer's keys, oldest first.
type keyList struct {
	Keys []signingKey `json:"keys"`
}

type signingKey struct {
	ID      string    `json:"kid"`
	Private []byte    `json:"pkcs8"`
	Created time.Time `json:"created"`

	signer *rsa.PrivateKey
}

// at returns the keys whose time is not over, and whether a new one is due.
func (l keyList) at(now time.Time) (kept keyList, due bool) {
	for i, k := range l.Keys {
		if now.Before(l.end(i)) {
			kept.Keys = append(kept.Keys, k)
		}
	}
	return kept, len(kept.Keys) == 0 || !now.Before(kept.newest().Created.Add(keyPeriod))
}

// end is when key i goes: a week after its successor has begun to sign, or when it is too old.
func (l keyList) end(i int) time.Time {
	end := l.Keys[i].Created.Add(keyLife)
	if i+1 < len(l.Keys) {
		if replaced := l.Keys[i+1].Created.Add(2 * keyOverlap); replaced.Before(end) {
			return replaced
		}
	}
	return end
}

func (l keyList) newest() signingKey { return l.Keys[len(l.Keys)-1] }

// current is the place of the newest key that has been published for long enough, or of the only one.
func (l keyList) current(now time.Time) int {
	for i, k := range slices.Backward(l.Keys) {
		if !now.Before(k.Created.Add(keyOverlap)) {
			return i
		}
	}
	return 0
}

// summaries is what an operator sees of the keys.
func (l keyList) summaries(now time.Time) []SigningKey {
	current := l.current(now)
	shown := make([]SigningKey, len(l.Keys))
	for i, k := range l.Keys {
		shown[i] = SigningKey{ID: k.ID, State: KeyOld, CreatedAt: k.Created, EndsAt: l.end(i)}
		switch {
		case i == current:
			shown[i].State = KeySigning
		case i > current:
			shown[i].State, shown[i].SignsFrom = KeyNext, k.Created.Add(keyOverlap)
		}
	}
	return shown
}

// public returns the public part.
func (l keyList) public() []jose.JSONWebKey {
	var keys []jose.JSONWebKey
	for _, k := range l.Keys {
		keys = append(keys,
			jose.JSONWebKey{Key: k.signer.Public(), KeyID: k.ID, Algorithm: string(jose.RS256), Use: "sig"})
	}
	return keys
}

// signingKeys are the issuer's keys as this process knows them.
type signingKeys struct {
	store Store

	mu     sync.Mutex
	record []byte    // as it was read last
	stored keyList   // what it holds
	list   keyList   // the keys of it whose time is not over
	loaded time.Time // when they were read
	tried  time.Time
	failed error       // of the last try
	spare  *signingKey // that was made and could not be stored
}

// get returns the keys as they were stored reload ago at most. While the store is away, it returns what was stored
// bear ago at most. It makes a new key when it is time.
func (s *signingKeys) get(ctx context.Context, reload, bear time.Duration) (keyList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if len(s.list.Keys) > 0 && now.Before(s.loaded.Add(reload)) {
		return s.list, nil
	}
	if s.failed == nil || !now.Before(s.tried.Add(keysRetry)) {
		// Others wait for what this caller begins, who may leave.
		s.failed = s.loadLocked(context.WithoutCancel(ctx), now)
		s.tried = time.Now()
	}
	if s.failed != nil && (len(s.list.Keys) == 0 || !time.Now().Before(s.loaded.Add(bear))) {
		return keyList{}, s.failed
	}
	return s.list, nil
}

// find implements keyFinder. Every token of this issuer names its key.
func (s *signingKeys) find(ctx context.Context, id, _ string) ([]jose.JSONWebKey, error) {
	for _, reload := range []time.Duration{keysReload, unknownReload} {
		list, err := s.get(ctx, reload, keysLag)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		for _, k := range list.public() {
			if k.KeyID == id {
				return []jose.JSONWebKey{k}, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: signed with an unknown or retired key", ErrInvalidToken)
}

// rotate makes a new key. With atOnce it is the only one from then on, and no token that was signed before is good
// any more.
func (s *signingKeys) rotate(ctx context.Context, atOnce bool) (keyList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	err := s.addLocked(ctx, now, func(l *keyList, fresh signingKey) error {
		switch isWaiting := len(l.Keys) > 0 && l.current(now) < len(l.Keys)-1; {
		case atOnce:
			l.Keys = []signingKey{fresh}
		case isWaiting:
			return ErrRotating
		default:
			l.Keys = append(l.Keys, fresh)
		}
		return nil
	})
	return s.list, err
}

// loadLocked reads the keys, and makes one if it is time.
func (s *signingKeys) loadLocked(ctx context.Context, now time.Time) error {
	for {
		due, err := s.readLocked(ctx, now)
		if err != nil || !due {
			return err
		}
		err = s.addLocked(ctx, now, func(l *keyList, fresh signingKey) error {
			if _, due := l.at(now); !due {
				return errNotDue
			}
			l.Keys = append(l.Keys, fresh)
			return nil
		})
		if !errors.Is(err, errNotDue) { // else another server was faster, whose key is read now
			return err
		}
	}
}

// readLocked reads the keys, and reports whether a new one is due.
func (s *signingKeys) readLocked(ctx context.Context, now time.Time) (due bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, keysReadTime)
	defer cancel()
	record, err := s.store.ReadSignin(ctx, keysRecord)
	if err != nil {
		return false, fmt.Errorf("reading the keys of the issuer: %w", err)
	}
	if record == nil || !bytes.Equal(record, s.record) {
		stored, err := openKeys(record)
		if err != nil {
			return false, err
		}
		s.record, s.stored = record, stored
	}
	s.list, due = s.stored.at(now)
	s.loaded = now
	return due, nil
}

var errNotDue = errors.New("no key is due")

// addLocked stores what rule makes of the keys and a new one. The key is made before, because that takes long and
// rule may be called twice.
func (s *signingKeys) addLocked(
	ctx context.Context, now time.Time, rule func(l *keyList, fresh signingKey) error,
) error {
	if s.spare == nil {
		var err error
		if s.spare, err = makeKey(); err != nil {
			return err
		}
	}
	fresh := *s.spare
	fresh.Created = now
	ctx, cancel := context.WithTimeout(ctx, keyMakeTime)
	defer cancel()
	var made keyList
	err := update(ctx, s.store, keysRecord, func(l *keyList) (time.Time, error) {
		made, _ = l.at(now)
		if err := rule(&made, fresh); err != nil {
			return time.Time{}, err
		}
		*l = made
		return fresh.Created.Add(keyLife), nil
	})
	if err != nil {
		return fmt.Errorf("storing a key of the issuer: %w", err)
	}
	if err := made.open(); err != nil {
		return err
	}
	s.record, s.stored, s.list, s.loaded, s.failed, s.spare = nil, made, made, now, nil, nil
	return nil
}

func makeKey() (*signingKey, error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	id, err := (&jose.JSONWebKey{Key: private.Public()}).Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	return &signingKey{ID: base64.RawURLEncoding.EncodeToString(id), Private: encoded}, nil
}

// openKeys reads a record; nil holds no keys.
func openKeys(record []byte) (l keyList, err error) {
	if record == nil {
		return l, nil
	}
	if err := json.Unmarshal(record, &l); err != nil {
		return l, fmt.Errorf("the keys of the issuer cannot be read: %w", err)
	}
	return l, l.open()
}

// open reads the private keys.
func (l keyList) open() error {
	for i := range l.Keys {
		key, err := x509.ParsePKCS8PrivateKey(l.Keys[i].Private)
		private, ok := key.(*rsa.PrivateKey)
		if err != nil || !ok {
			return fmt.Errorf("key %s of the issuer cannot be read: %w", l.Keys[i].ID,
				errors.Join(err, errors.ErrUnsupported))
		}
		l.Keys[i].signer = private
	}
	return nil
}
