package signin

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/swar-tts/swar/portal/emailaddr"
)

// Rules of setting up: a link that is shown once where the server was started makes an address the first owner,
// without a mail.
const (
	setupPath                  = "/setup" // of a page
	setupLife                  = 24 * time.Hour
	setupWindow, setupTryLimit = time.Minute, 5
	setupRecord                = "setup"
)

// What Config.Own fails with.
var (
	ErrOwned = errors.New("the organisation has an owner") // by now
	ErrTaken = errors.New("the address is taken")
)

// ErrNotAllowed refuses a link for an address that may not sign in.
var ErrNotAllowed = errors.New("this address may not sign in here; invite it first")

// errTaken keeps the user of the link from becoming a known user: the link does not prove that the address is theirs.
var errTaken = &refusal{
	http.StatusBadRequest, "address_taken",
	"this address belongs to a known user; sign in with it, or set up with another one",
}

// setup is the record of the newest link.
type setup struct {
	Token   hash      `json:"token"`
	Org     string    `json:"org"`
	Expires time.Time `json:"expires"`
	Email   string    `json:"email,omitempty"` // its user
	Used    time.Time `json:"used,omitzero"`
	Repeats int       `json:"repeats,omitempty"`
}

// spend uses up the link. Its user may repeat that for a while, as with every link.
func (s *setup) spend(now time.Time, token hash, email string) error {
	switch {
	case s.Token != token || s.Token == hash{} || !now.Before(s.Expires):
		return errBadLink
	case s.Used.IsZero():
		s.Email, s.Used = email, now
		return nil
	case s.Email != email || !now.Before(s.Used.Add(repeatTime)) || s.Repeats >= maxRepeats:
		return errBadLink
	}
	s.Repeats++
	return nil
}

// NewSetupLink returns a link with which its user becomes the first owner of an organisation, and sets it up. It is
// single-use, and valid for a day, until ends. Every older one ends. It needs a Config.Own.
func (i *Issuer) NewSetupLink(ctx context.Context, org string) (link string, ends time.Time, err error) {
	token := newSecret()
	ends = time.Now().Add(setupLife)
	err = update(ctx, i.store, setupRecord, func(s *setup) (time.Time, error) {
		*s = setup{Token: token.hash(), Org: org, Expires: ends}
		return s.Expires, nil
	})
	if err != nil {
		return "", ends, err
	}
	return i.cfg.URL + setupPath + "#" + encode(token[:]), ends, nil
}

// serveSetup makes an address the first owner, and signs it in.
func (i *Issuer) serveSetup(w http.ResponseWriter, r *http.Request) error {
	fields, err := readFields(w, r, "token", "email", "session")
	if err != nil {
		return err
	}
	inCookie, err := wantsCookie(fields)
	if err != nil {
		return err
	}
	email, err := emailaddr.Clean(fields["email"])
	if err != nil {
		return err
	}
	s, err := i.setUp(r.Context(), fields["token"], email, i.requester(r).ip)
	if err != nil {
		return err
	}
	i.cfg.Log.Info("set up, and signed in", "user", subject(s.email))
	return i.answerSession(w, r, s, inCookie)
}

// setUp spends the link first, so that of two at once only one becomes the owner. When the rest fails, the link is as
// good as before.
func (i *Issuer) setUp(ctx context.Context, token, email string, ip netip.Addr) (session, error) {
	now := time.Now()
	err := take(ctx, i.store, "setup:"+subscriber(ip), now, setupWindow, setupTryLimit, tooManyTries)
	if err != nil {
		return session{}, err
	}
	var presented secret
	if i.cfg.ClaimOrg == nil || !decode(token, presented[:]) {
		return session{}, errBadLink
	}
	var before, spent setup
	err = update(ctx, i.store, setupRecord, func(s *setup) (time.Time, error) {
		before = *s
		err := s.spend(now, presented.hash(), email)
		spent = *s
		return s.Expires, err
	})
	if err != nil {
		return session{}, err
	}
	if before.Used.IsZero() { // else they are the owner since then
		switch err := i.makeOwner(ctx, spent.Org, email); {
		case errors.Is(err, ErrOwned):
			return session{}, errBadLink
		case err != nil:
			return session{}, errors.Join(err, i.unspendSetup(ctx, before, spent))
		}
	}
	if err := i.allowed(ctx, email, errBadLink); err != nil {
		return session{}, err
	}
	return i.begin(ctx, email, true, now)
}

// makeOwner refuses a user who has signed in here before; the portal refuses its members.
func (i *Issuer) makeOwner(ctx context.Context, org, email string) error {
	box, err := read[mailbox](ctx, i.store, mailboxID(emailHash(email)))
	if err != nil {
		return err
	}
	if !box.SignedIn.IsZero() {
		return errTaken
	}
	err = i.cfg.ClaimOrg(ctx, org, email)
	if errors.Is(err, ErrTaken) {
		return errTaken
	}
	return err
}

// unspendSetup takes back what setUp has done, unless something else has happened since.
func (i *Issuer) unspendSetup(ctx context.Context, before, spent setup) error {
	return update(ctx, i.store, setupRecord, func(s *setup) (time.Time, error) {
		if s.Token == spent.Token && s.Used.Equal(spent.Used) && s.Repeats == spent.Repeats {
			*s = before
		}
		return s.Expires, nil
	})
}
