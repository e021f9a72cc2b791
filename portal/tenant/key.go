package tenant

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// MaxActiveKeys is how many live keys of an organisation may be active. Playground keys do not count.
const MaxActiveKeys = 50

// KeyKind is the use of a key.
type KeyKind string

// The kinds of keys.
const (
	Live       KeyKind = "live"       // for servers; valid until revoked
	Playground KeyKind = "playground" // for one browser; valid for two hours
)

func (k KeyKind) prefix() string {
	if k == Playground {
		return access.PlaygroundPrefix
	}
	return access.LivePrefix
}

// Key is an API key without its secret, which is not stored.
type Key struct {
	ID         string // of Hash: [access.Hash.KeyID]
	OrgID      string
	ProjectID  string
	Kind       KeyKind
	Name       string
	Prefix     string // how people recognise it, such as swar_live_7Fq2kD
	Hash       access.Hash
	Voices     []string // what it may speak with; empty means every voice
	Origin     string   // the only web origin that may use it; empty means any
	CreatedAt  time.Time
	CreatedBy  string    // e-mail
	RevokedAt  time.Time // zero while not revoked
	LastUsedAt time.Time // zero until used; late by up to a minute
	ExpiresAt  time.Time // zero for keys that do not expire

	Disclosure    speech.Disclosure // what is spoken before every text
	OrgDisclosure speech.Disclosure // where Disclosure sets nothing: that of the organisation
}

// Revoked reports whether the key was revoked. A key that is not may still have expired.
func (k Key) Revoked() bool { return !k.RevokedAt.IsZero() }

// Expired reports whether the key's time is over at now. That of a key which ends longer after now than such keys live
// is over, too: it was made while the clock stood in the future.
func (k Key) Expired(now time.Time) bool {
	if k.ExpiresAt.IsZero() {
		return false
	}
	return !now.Before(k.ExpiresAt) || k.Kind == Playground && k.ExpiresAt.Sub(now) > PlaygroundLife+clockLeeway
}

// clockLeeway is by how much clocks of two portals may differ.
const clockLeeway = time.Minute

// KeyChange is a change of a key; nil fields stay as they are.
type KeyChange struct {
	Name   *string
	Voices *[]string // empty means every voice

	// Disclosure is for owners. One that sets nothing leaves it to the organisation.
	Disclosure *speech.Disclosure
}

// CreatedKey is a new key together with the key itself, which is nowhere else.
type CreatedKey struct {
	Key    Key
	Secret string // empty when the answer is a repeated one: it was given out the first time
}

// MaxListedKeys is how many keys Keys looks back. Live keys that are active are listed in any case.
const MaxListedKeys = 500

// Keys returns the newest MaxListedKeys keys of one kind of an organisation, newest first, revoked ones included. With
// a projectID it returns those of the project only. Older keys follow if they are live and active. An empty kind means
// Live.
func (s *Service) Keys(ctx context.Context, actor User, orgID, projectID string, kind KeyKind) ([]Key, error) {
	switch kind {
	case "":
		kind = Live
	case Live, Playground:
	default:
		return nil, ErrBadKind
	}
	return view(ctx, s, func(r Reader) ([]Key, error) {
		if err := mayReadIn(r, actor, orgID, projectID); err != nil {
			return nil, err
		}
		q := KeyQuery{OrgID: orgID, ProjectID: projectID, Kind: kind, Limit: MaxListedKeys}
		keys, err := r.Keys(q)
		if err != nil || len(keys) < MaxListedKeys || kind != Live {
			return keys, err
		}
		q.Active, q.Limit = true, MaxActiveKeys
		active, err := r.Keys(q)
		for _, k := range active {
			if !slices.ContainsFunc(keys, func(listed Key) bool { return listed.ID == k.ID }) {
				keys = append(keys, k)
			}
		}
		return keys, err
	})
}

// CreateKey makes a live key. No voices means every voice.
func (s *Service) CreateKey(ctx context.Context, actor User, projectID, name string, voices []string,
	once Idempotency) (CreatedKey, error) {
	name, err := cleanName("name", name)
	if err != nil {
		return CreatedKey{}, err
	}
	if voices, err = s.cleanVoices(voices); err != nil {
		return CreatedKey{}, err
	}
	return s.addKey(ctx, actor, projectID, Live, once, func(tx Tx, _ time.Time, key *Key) error {
		org, err := tx.Org(key.OrgID)
		if err != nil {
			return err
		}
		if org.ActiveKeys >= MaxActiveKeys {
			return ErrTooManyKeys
		}
		org.ActiveKeys++
		tx.PutOrg(org)
		key.Name, key.Voices = name, voices
		return nil
	})
}

// addKey makes a key of a project, which fill completes, or refuses. fill runs within the transaction and reads
// before it writes.
func (s *Service) addKey(
	ctx context.Context, actor User, projectID string, kind KeyKind, once Idempotency,
	fill func(tx Tx, now time.Time, key *Key) error,
) (CreatedKey, error) {
	if err := once.check(); err != nil {
		return CreatedKey{}, err
	}
	now := s.now()
	secret, hash := access.New(kind.prefix())
	made, err := update(ctx, s, func(tx Tx) (CreatedKey, error) {
		project, err := writableProject(tx, actor, projectID)
		if err != nil {
			return CreatedKey{}, err
		}
		if first, done, err := replay[CreatedKey](tx, now, actor, once); done || err != nil {
			return first, err
		}
		org, err := tx.Org(project.OrgID)
		if err != nil {
			return CreatedKey{}, err
		}
		key := Key{
			ID: hash.KeyID(), OrgID: project.OrgID, ProjectID: project.ID, Kind: kind, Prefix: access.KeyHint(secret),
			Hash:      hash,
			CreatedAt: now, CreatedBy: actor.Email, OrgDisclosure: org.Disclosure,
		}
		if err := fill(tx, now, &key); err != nil {
			return CreatedKey{}, err
		}
		tx.PutKey(key)
		log(tx, now, actor, KeyCreated, key.OrgID, key.ID, key.detail()...)
		return remember(tx, now, actor, once, CreatedKey{Key: key})
	})
	return made.with(secret, hash), err
}

// UpdateKey renames a live key, changes what it may speak with, or what is spoken before every text.
func (s *Service) UpdateKey(ctx context.Context, actor User, id string, change KeyChange) (Key, error) {
	var name string
	var voices []string
	var disclosure speech.Disclosure
	var err error
	if change.Name != nil {
		if name, err = cleanName("name", *change.Name); err != nil {
			return Key{}, err
		}
	}
	if change.Voices != nil {
		if voices, err = s.cleanVoices(*change.Voices); err != nil {
			return Key{}, err
		}
	}
	if change.Disclosure != nil {
		if disclosure, err = cleanDisclosure(*change.Disclosure); err != nil {
			return Key{}, err
		}
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (Key, error) {
		key, err := writableKey(tx, actor, id)
		if err == nil && change.Disclosure != nil {
			err = mayOwn(tx, actor, key.OrgID)
		}
		switch {
		case err != nil:
			return Key{}, err
		case key.Kind == Playground:
			return Key{}, ErrPlaygroundKey
		case key.Revoked():
			return Key{}, ErrKeyRevoked
		}
		changed := false
		if change.Name != nil && name != key.Name {
			key.Name, changed = name, true
		}
		if change.Voices != nil && !slices.Equal(voices, key.Voices) {
			key.Voices, changed = voices, true
		}
		if change.Disclosure != nil && disclosure != key.Disclosure {
			key.Disclosure, changed = disclosure, true
		}
		if changed {
			tx.PutKey(key)
			log(tx, now, actor, KeyUpdated, key.OrgID, id, key.detail()...)
		}
		return key, nil
	})
}

// with adds the secret when it is this key's. It stays outside of transactions, which remember what they return.
func (c CreatedKey) with(secret string, hash access.Hash) CreatedKey {
	if c.Key.Hash == hash {
		c.Secret = secret
	}
	return c
}

// revoke writes the end of a key. The caller keeps the count of the organisation.
func revoke(tx Tx, now time.Time, actor User, key Key) Key {
	key.RevokedAt = now
	tx.PutKey(key)
	log(tx, now, actor, KeyRevoked, key.OrgID, key.ID, key.detail()...)
	return key
}

// detail is the audit log's detail about a key.
func (k Key) detail() []string {
	d := []string{"name", k.Name, "prefix", k.Prefix, "kind", string(k.Kind), "project_id", k.ProjectID}
	if len(k.Voices) > 0 {
		d = append(d, "voices", strings.Join(k.Voices, ","))
	}
	if k.Origin != "" {
		d = append(d, "origin", k.Origin)
	}
	return append(d, disclosureDetail(k.Disclosure)...)
}

// disclosureDetail is the audit log's detail about a disclosure; empty for one that sets nothing.
func disclosureDetail(d speech.Disclosure) []string {
	if !d.Set {
		return nil
	}
	return []string{"disclosure", d.Text}
}

// cleanVoices leaves out repetitions and refuses what the model cannot speak with.
func (s *Service) cleanVoices(voices []string) ([]string, error) {
	known := s.cfg.Voices()
	var clean []string
	for _, v := range voices {
		if !slices.Contains(known, v) {
			return nil, UnknownVoice(v)
		}
		if !slices.Contains(clean, v) {
			clean = append(clean, v)
		}
	}
	return clean, nil
}
