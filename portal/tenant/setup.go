package tenant

import (
	"context"
	"time"

	"github.com/swar-tts/swar/portal/emailaddr"
)

// ErrOwned refuses a first owner if there is an owner. Only operators get it.
var ErrOwned = &Refusal{Forbidden, "has_owner", "the organisation has an owner, who can invite others"}

// ErrTaken refuses a first owner who is a member of an organisation, or invited to another one: only a sign-in proves
// that the address is theirs.
var ErrTaken = &Refusal{Forbidden, "address_taken", "the address belongs to a known user already"}

// FirstOrg returns the oldest organisation that an operator has created. The users of setup links become its owners.
// Only operators may call it. It fails with ErrNotFound without an organisation, and with ErrOwned if users have
// created all, or so many exist that the server is not new.
func (s *Service) FirstOrg(ctx context.Context, actor User) (Org, error) {
	const page = 500
	orgs, err := s.Orgs(ctx, actor, "", page)
	if err != nil {
		return Org{}, err
	}
	var first Org
	for _, o := range orgs {
		isEarlier := first.ID == "" || o.CreatedAt.Before(first.CreatedAt)
		if o.CreatedBy == Operator().Email && isEarlier {
			first = o
		}
	}
	switch {
	case len(orgs) == 0:
		return Org{}, ErrNotFound
	case first.ID == "" || len(orgs) == page:
		return Org{}, ErrOwned
	}
	return first, nil
}

// InviteFirstOwner invites email as the owner of an organisation that has none, without a mail; for operators.
// Otherwise it refuses with ErrOwned, and with ErrTaken where email is a member somewhere.
func (s *Service) InviteFirstOwner(ctx context.Context, actor User, orgID, email string) (Member, error) {
	if !actor.operator {
		return Member{}, ErrOperatorsOnly
	}
	email, err := emailaddr.Clean(email)
	if err != nil {
		return Member{}, ErrBadEmail
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (Member, error) {
		org, err := tx.Org(orgID)
		if err != nil {
			return Member{}, err
		}
		if org.Owners > 0 {
			return Member{}, ErrOwned
		}
		places, err := tx.Memberships(email)
		if err != nil {
			return Member{}, err
		}
		m := Member{OrgID: orgID, Email: email, State: Invited, InvitedAt: now, InvitedBy: actor.Email}
		for _, place := range places {
			if place.OrgID != orgID || place.State == Joined {
				return Member{}, ErrTaken
			}
			m = place
		}
		m.Role, m.MailedAt = RoleOwner, time.Time{}
		tx.PutMember(m)
		log(tx, now, actor, MemberInvited, orgID, email, "role", string(m.Role))
		return m, nil
	})
}
