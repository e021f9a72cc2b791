package tenant

import (
	"context"
	"errors"
	"time"

	"github.com/swar-tts/swar/portal/emailaddr"
)

// ErrOwned refuses to make somebody the first owner where there is one. Only operators meet it.
var ErrOwned = &Refusal{Forbidden, "has_owner", "the organisation has an owner, who can invite others"}

// FirstOrg returns the organisation that came first of those that operators have made, which people who set a server up become owners of;
// for operators. It fails with ErrNotFound where there is no organisation at all, and with ErrOwned where all were made by others, or so
// many that the server is no new one.
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

// InviteFirstOwner invites email as the owner of an organisation that has none, or none but them, without a mail; for operators.
// Otherwise it refuses with ErrOwned.
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
		m, err := tx.Member(orgID, email)
		switch {
		case err == nil && m.isOwner():
			return m, nil
		case err != nil && !errors.Is(err, ErrNotFound):
			return Member{}, err
		case org.Owners > 0:
			return Member{}, ErrOwned
		}
		if errors.Is(err, ErrNotFound) {
			m = Member{OrgID: orgID, Email: email, State: Invited, InvitedAt: now, InvitedBy: actor.Email}
		}
		if m.State == Joined { // they become the owner at once
			org.Owners++
			tx.PutOrg(org)
		}
		m.Role, m.MailedAt = RoleOwner, time.Time{}
		tx.PutMember(m)
		log(tx, now, actor, MemberInvited, orgID, email, "role", string(m.Role))
		return m, nil
	})
}
