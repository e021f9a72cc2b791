package signin

import (
	"encoding/hex"
	"errors"
	"net/http"
	"time"
)

// Rules of refresh tokens.
const (
	refreshLife = 30 * 24 * time.Hour // of one that is not used
	// after which a person signs in by mail again, however often tokens were refreshed
	chainLife = 180 * 24 * time.Hour
	// in which the token before the newest one is answered once more: two tabs, a lost answer
	refreshTwin = 10 * time.Second
)

// Why a refresh token is refused. A client always gets the first.
var (
	errBadRefresh = &refusal{
		http.StatusBadRequest, "bad_refresh_token",
		"the refresh token is wrong, was used or has expired; sign in again",
	}
	errReused = errors.New("a refresh token was used a second time; the sign-in it belongs to has ended")
)

// refreshChain is one sign-in and its refresh tokens, of which only the newest is valid.
//
// An older one that is presented again was stolen, or the newest one was: the whole chain is revoked.
type refreshChain struct {
	Email    string    `json:"email"`
	Vouched  bool      `json:"vouched,omitempty"` // by an operator
	SignedIn time.Time `json:"signed_in"`
	Expires  time.Time `json:"expires"`
	Newest   hash      `json:"newest"`
	Before   hash      `json:"before"` // the one before
	Salt     hash      `json:"salt"`   // which made the newest one of that
	Rotated  time.Time `json:"rotated"`
}

type chainID [16]byte

func (id chainID) record() string { return "family:" + hex.EncodeToString(id[:]) }

// refreshPrefix makes tokens that leak into a log or a repository easy to find.
const refreshPrefix = "swar_refresh_"

func refreshToken(id chainID, s secret) string { return refreshPrefix + encode(id[:], s[:]) }

func readRefreshToken(token string) (id chainID, s secret, ok bool) {
	if len(token) < len(refreshPrefix) || token[:len(refreshPrefix)] != refreshPrefix {
		return id, s, false
	}
	ok = decode(token[len(refreshPrefix):], id[:], s[:])
	return id, s, ok
}

// rotate replaces the newest token and returns the one that is good from now on.
//
// It is made of the one that was presented and of a stored salt, so that who presents the same one again at once is
// given the same answer, and yet no store holds a token.
func (f *refreshChain) rotate(now time.Time, presented secret, salt hash) (secret, error) {
	h := presented.hash()
	switch {
	case !now.Before(f.Expires):
		return secret{}, errBadRefresh
	case h == f.Newest:
		next := presented.derive(salt[:])
		f.Before, f.Newest, f.Salt, f.Rotated = h, next.hash(), salt, now
		f.Expires = f.until(now)
		return next, nil
	case h == f.Before && now.Before(f.Rotated.Add(refreshTwin)):
		return presented.derive(f.Salt[:]), nil
	}
	return secret{}, errReused
}

// until is when a token that is made now expires.
func (f *refreshChain) until(now time.Time) time.Time {
	last := f.SignedIn.Add(chainLife)
	if t := now.Add(refreshLife); t.Before(last) {
		return t
	}
	return last
}
