package signin

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Rotation of keys. A key is published for a week before it signs, so that whoever keeps the list has it in time, and for a week after.
const (
	keyPeriod  = 90 * 24 * time.Hour
	keyOverlap = 7 * 24 * time.Hour
	keyLife    = keyOverlap + keyPeriod + keyOverlap
	keysMaxAge = time.Hour        // for which others may keep the list
	keysReload = 10 * time.Minute // after which the store is asked again
	keyBits    = 2048
	keysRecord = "keys"
)

// keyring is the record of the issuer's keys, oldest first.
type keyring struct {
	Keys []signingKey `json:"keys"`
}

type signingKey struct {
	ID      string    `json:"kid"`
	Private []byte    `json:"pkcs8"`
	Created time.Time `json:"created"`

	signer *rsa.PrivateKey
}

// rotate drops keys whose time is over and reports whether a new one is due.
func (r *keyring) rotate(now time.Time) (due bool) {
	r.Keys = slices.DeleteFunc(r.Keys, func(k signingKey) bool { return !now.Before(k.Created.Add(keyLife)) })
	return len(r.Keys) == 0 || !now.Before(r.Keys[len(r.Keys)-1].Created.Add(keyPeriod))
}

// current is the newest key that has been published for long enough, or the only one.
func (r *keyring) current(now time.Time) signingKey {
	for _, k := range slices.Backward(r.Keys) {
		if !now.Before(k.Created.Add(keyOverlap)) {
			return k
		}
	}
	return r.Keys[0]
}

// signingKeys are the issuer's keys as this process knows them.
type signingKeys struct {
	store Store

	mu     sync.Mutex
	ring   keyring
	loaded time.Time
	tried  time.Time
	failed error // of the last try
}

// get returns the keys, from the store when what is known is older than maxAge, and makes a new one when it is time. A store that is away
// is asked once a second, and until then what is known does.
func (s *signingKeys) get(ctx context.Context, maxAge time.Duration) (keyring, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if len(s.ring.Keys) > 0 && now.Before(s.loaded.Add(maxAge)) {
		return s.ring, nil
	}
	if s.failed == nil || !now.Before(s.tried.Add(time.Second)) {
		// Others wait for what this caller begins, who may leave.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
		defer cancel()
		ring, err := s.load(ctx, now)
		if s.tried, s.failed = time.Now(), err; err == nil {
			s.ring, s.loaded = ring, now
		}
	}
	if s.failed != nil && (len(s.ring.Keys) == 0 || !now.Before(s.loaded.Add(keyOverlap/2))) { // until then no key of ours is out of date
		return keyring{}, s.failed
	}
	return s.ring, nil
}

var (
	errUnchanged = errors.New("nothing to change")
	errKeyDue    = errors.New("a key is to be made")
)

func (s *signingKeys) load(ctx context.Context, now time.Time) (keyring, error) {
	var made *signingKey // outside of the change: it takes long, and changes may be called twice
	for {
		var ring keyring
		err := update(ctx, s.store, keysRecord, func(r *keyring) (time.Time, error) {
			due := r.rotate(now)
			if due && made == nil {
				return time.Time{}, errKeyDue
			}
			if due {
				r.Keys = append(r.Keys, *made)
			}
			if ring = *r; !due {
				return time.Time{}, errUnchanged
			}
			return made.Created.Add(keyLife), nil
		})
		if errors.Is(err, errKeyDue) {
			if made, err = makeKey(now); err != nil {
				return keyring{}, err
			}
			continue
		}
		if err != nil && !errors.Is(err, errUnchanged) {
			return keyring{}, fmt.Errorf("reading the keys of the issuer: %w", err)
		}
		return ring, ring.open()
	}
}

func makeKey(now time.Time) (*signingKey, error) {
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
	return &signingKey{ID: base64.RawURLEncoding.EncodeToString(id), Private: encoded, Created: now}, nil
}

// open reads the private keys.
func (r *keyring) open() error {
	for i := range r.Keys {
		key, err := x509.ParsePKCS8PrivateKey(r.Keys[i].Private)
		private, ok := key.(*rsa.PrivateKey)
		if err != nil || !ok {
			return fmt.Errorf("key %s of the issuer cannot be read: %w", r.Keys[i].ID, errors.Join(err, errors.ErrUnsupported))
		}
		r.Keys[i].signer = private
	}
	return nil
}

// public returns what everybody may know.
func (r *keyring) public() []jose.JSONWebKey {
	var keys []jose.JSONWebKey
	for _, k := range r.Keys {
		keys = append(keys, jose.JSONWebKey{Key: k.signer.Public(), KeyID: k.ID, Algorithm: string(jose.RS256), Use: "sig"})
	}
	return keys
}
