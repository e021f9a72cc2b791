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
	PlaygroundLife    = access.PlaygroundLife
	MaxPlaygroundKeys = 10  // of one user in one project that are alive
	MaxOrigin         = 300 // bytes: a host name has at most 253

	// How many keys of a removed member are revoked in one transaction: ten in each of forty projects. More would
	// expire anyway.
	maxRevokedAtOnce = 400
)

// CreatePlaygroundKey makes a key for a browser, which only pages of origin may use, unless that is empty. The oldest
// of actor's keys in the project is revoked when there are MaxPlaygroundKeys alive.
func (s *Service) CreatePlaygroundKey(ctx context.Context, actor User, projectID, origin string,
	once Idempotency) (CreatedKey, error) {
	if origin != "" && !isOrigin(origin) {
		return CreatedKey{}, ErrBadOrigin
	}
	return s.addKey(ctx, actor, projectID, Playground, once, func(tx Tx, now time.Time, key *Key) error {
		// All live equally long, so expired ones come last: when the tenth newest is active, ten are.
		newest, err := tx.Keys(KeyQuery{
			OrgID: key.OrgID, ProjectID: key.ProjectID, Kind: Playground, CreatedBy: actor.Email, Active: true,
			Limit: MaxPlaygroundKeys,
		})
		if err != nil {
			return err
		}
		if len(newest) == MaxPlaygroundKeys {
			if oldest := newest[MaxPlaygroundKeys-1]; !oldest.Expired(now) {
				revoke(tx, now, actor, oldest)
			}
		}
		key.Name, key.Origin, key.ExpiresAt = "Playground", origin, now.Add(PlaygroundLife)
		return nil
	})
}

// EndPlayground revokes the playground keys that the member with this address has made anywhere, and returns them;
// for operators. It is for who signs out.
func (s *Service) EndPlayground(ctx context.Context, actor User, email string) (ended []Key, err error) {
	if !actor.operator {
		return nil, ErrOperatorsOnly
	}
	places, err := view(ctx, s, func(r Reader) ([]Member, error) { return r.Memberships(email) })
	if err != nil {
		return nil, err
	}
	now := s.now()
	for _, m := range places {
		keys, err := update(ctx, s, func(tx Tx) ([]Key, error) {
			keys, err := tx.Keys(KeyQuery{
				OrgID: m.OrgID, Kind: Playground, CreatedBy: email, Active: true, Limit: maxRevokedAtOnce,
			})
			if err == nil {
				revokeAll(tx, now, User{Email: email}, keys)
			}
			return keys, err
		})
		if err != nil {
			return ended, err
		}
		ended = append(ended, keys...)
	}
	return ended, nil
}

// revokeAll revokes those playground keys that are still alive.
func revokeAll(tx Tx, now time.Time, actor User, keys []Key) {
	for _, k := range keys {
		if !k.Expired(now) {
			revoke(tx, now, actor, k)
		}
	}
}

// isOrigin reports whether s is an origin as browsers write it. All pages without an origin send "null": a key for that
// would be valid in each of them.
func isOrigin(s string) bool {
	if len(s) > MaxOrigin || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && u.Scheme+"://"+strings.ToLower(u.Host) == s
}
