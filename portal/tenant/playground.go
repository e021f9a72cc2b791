package tenant

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/access"
)

// Limits of playground keys.
const (
	PlaygroundLife    = 7200 * time.Second
	MaxPlaygroundKeys = 10  // of one user in one project that are alive
	MaxOrigin         = 300 // bytes: a host name has at most 253

	// So many keys of a member who goes are revoked in one transaction: ten in each of forty projects. More would run out by themselves.
	maxRevokedAtOnce = 400
)

// CreatePlaygroundKey makes a key for a browser, which only pages of origin may use, unless that is empty. The oldest of actor's keys in
// the project is revoked when there are MaxPlaygroundKeys alive.
func (s *Service) CreatePlaygroundKey(ctx context.Context, actor User, projectID, origin string, once Once) (CreatedKey, error) {
	if origin != "" && !isOrigin(origin) {
		return CreatedKey{}, ErrBadOrigin
	}
	if err := once.check(); err != nil {
		return CreatedKey{}, err
	}
	now := s.now()
	secret, hash := access.New(access.PlaygroundPrefix)
	made, err := update(ctx, s, func(tx Tx) (CreatedKey, error) {
		project, err := writableProject(tx, actor, projectID)
		if err != nil {
			return CreatedKey{}, err
		}
		if first, done, err := replay[CreatedKey](tx, now, actor, once); done || err != nil {
			return first, err
		}
		// All live equally long, so those that have expired come last: when the tenth newest is alive, ten are.
		newest, err := tx.Keys(KeyQuery{
			OrgID: project.OrgID, ProjectID: project.ID, Kind: Playground, CreatedBy: actor.Email, Active: true, Limit: MaxPlaygroundKeys,
		})
		if err != nil {
			return CreatedKey{}, err
		}
		if len(newest) == MaxPlaygroundKeys {
			if oldest := newest[MaxPlaygroundKeys-1]; !oldest.Expired(now) {
				revoke(tx, now, actor, oldest)
			}
		}
		key := newKey(now, actor, project, Playground, secret, hash)
		key.Name, key.Origin, key.ExpiresAt = "Playground", origin, now.Add(PlaygroundLife)
		tx.PutKey(key)
		log(tx, now, actor, KeyCreated, key.OrgID, key.ID, key.detail()...)
		return remember(tx, now, actor, once, CreatedKey{Key: key})
	})
	return made.with(secret, hash), err
}

// revokeAll revokes those playground keys that are still alive.
func revokeAll(tx Tx, now time.Time, actor User, keys []Key) {
	for _, k := range keys {
		if !k.Expired(now) {
			revoke(tx, now, actor, k)
		}
	}
}

// isOrigin reports whether s is an origin as browsers write it. All pages without one of their own say "null": a key for that would be
// good in each of them.
func isOrigin(s string) bool {
	if len(s) > MaxOrigin || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && u.Scheme+"://"+strings.ToLower(u.Host) == s
}
