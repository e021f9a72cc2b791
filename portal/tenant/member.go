package tenant

import (
	"context"
	"errors"
	"time"

	"github.com/swar-tts/swar/portal/emailaddr"
)

// User is an actor with a verified identity.
type User struct {
	ID    string // the same for every sign-in of one subject at one issuer, and different for all others
	Email string // verified, lower case

	operator bool
}

// Operator returns the actor of commands on the server's machine. It may do in every organisation what an owner may,
// and move voice requests. No request from outside can create one.
func Operator() User { return User{ID: "operator", Email: "operator", operator: true} }

// Role is what a member may do.
type Role string

// The roles, from most to least.
const (
	RoleOwner  Role = "owner"  // everything
	RoleMember Role = "member" // read; make projects, keys and voice requests
	RoleViewer Role = "viewer" // read
)

// MemberState says whether an invitation was accepted.
type MemberState string

// The states of a member.
const (
	Invited MemberState = "invited" // may do nothing until the first sign-in
	Joined  MemberState = "joined"
)

// Member is the place of one e-mail address in one organisation.
type Member struct {
	OrgID     string
	Email     string // lower case; with OrgID the key of the record
	Role      Role
	State     MemberState
	InvitedAt time.Time
	InvitedBy string // e-mail
	JoinedAt  time.Time
	UserID    string    // the identity that joined; empty while invited, or until the next sign-in after Unbind
	MailedAt  time.Time // when the invitation was last handed out to be mailed
}

// MailPause is the time in which an invited address is not mailed again.
const MailPause = 10 * time.Minute

// Invitation is a mail to send. It carries no secret: the link goes to the sign-in page.
type Invitation struct {
	Email     string
	OrgID     string
	OrgName   string
	Role      Role
	InvitedBy string // e-mail, or "operator"

	at, before time.Time // when it was handed out, and when the one before was
}

// Members returns the members of an organisation, joined and invited, in order of e-mail.
func (s *Service) Members(ctx context.Context, actor User, orgID string) ([]Member, error) {
	return view(ctx, s, func(r Reader) ([]Member, error) {
		if err := mayRead(r, actor, orgID); err != nil {
			return nil, err
		}
		return r.Members(orgID)
	})
}

// Invite makes email an invited member; owners only. An empty role means RoleMember.
//
// Inviting an address again gives it the role, unless that is empty, and a mail when the last one is MailPause old. A
// joined member stays unchanged. The caller sends the returned mail, and calls NotMailed if it cannot; nil means none.
func (s *Service) Invite(ctx context.Context, actor User, orgID, email string, role Role,
	once Idempotency) (Member, *Invitation, error) {
	email, err := emailaddr.Clean(email)
	if err != nil {
		return Member{}, nil, ErrBadEmail
	}
	if role != "" && !knownRole(role) {
		return Member{}, nil, ErrBadRole
	}
	if err := once.check(); err != nil {
		return Member{}, nil, err
	}
	now := s.now()
	var mail *Invitation
	m, err := update(ctx, s, func(tx Tx) (Member, error) {
		mail = nil
		if err := mayOwn(tx, actor, orgID); err != nil {
			return Member{}, err
		}
		if first, done, err := replay[Member](tx, now, actor, once); done || err != nil {
			return first, err
		}
		org, err := tx.Org(orgID)
		if err != nil {
			return Member{}, err
		}
		m, err := tx.Member(orgID, email)
		known := err == nil
		switch {
		case errors.Is(err, ErrNotFound):
			members, err := tx.Members(orgID)
			if err != nil {
				return Member{}, err
			}
			if len(members) >= MaxMembers {
				return Member{}, ErrTooManyMembers
			}
			m = Member{OrgID: orgID, Email: email, Role: RoleMember, State: Invited, InvitedAt: now,
				InvitedBy: actor.Email}
		case err != nil:
			return Member{}, err
		case m.State == Joined:
			return remember(tx, now, actor, once, m)
		}
		if role != "" && role != m.Role {
			m.Role = role
			if known {
				log(tx, now, actor, MemberRoleChanged, orgID, email, "role", string(role))
			}
		}
		if now.Sub(m.MailedAt) >= MailPause {
			mail = &Invitation{
				Email: email, OrgID: orgID, OrgName: org.Name, Role: m.Role, InvitedBy: actor.Email, at: now,
				before: m.MailedAt,
			}
			m.MailedAt = now
			log(tx, now, actor, MemberInvited, orgID, email, "role", string(m.Role))
		}
		tx.PutMember(m)
		return remember(tx, now, actor, once, m)
	})
	if err != nil {
		return Member{}, nil, err
	}
	return m, mail, nil
}

// NotMailed takes back that an invitation was handed out to be mailed.
func (s *Service) NotMailed(ctx context.Context, i Invitation) error {
	return s.store.Update(ctx, func(tx Tx) error {
		m, err := tx.Member(i.OrgID, i.Email)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if m.MailedAt.Equal(i.at) {
			m.MailedAt = i.before
			tx.PutMember(m)
		}
		return nil
	})
}

// SetRole changes the role of a member, joined or invited; owners only.
func (s *Service) SetRole(ctx context.Context, actor User, orgID, email string, role Role) (Member, error) {
	email, err := emailaddr.Clean(email)
	if err != nil {
		return Member{}, ErrBadEmail
	}
	if !knownRole(role) {
		return Member{}, ErrBadRole
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (Member, error) {
		org, m, keys, err := memberToChange(tx, actor, orgID, email)
		if err != nil || m.Role == role {
			return m, err
		}
		if role == RoleOwner && m.State == Joined {
			org.Owners++
			tx.PutOrg(org)
		}
		if m.isOwner() {
			if org.Owners <= 1 {
				return Member{}, ErrLastOwnerDemoted
			}
			org.Owners--
			tx.PutOrg(org)
		}
		m.Role = role
		tx.PutMember(m)
		log(tx, now, actor, MemberRoleChanged, orgID, email, "role", string(role))
		if role == RoleViewer {
			revokeAll(tx, now, actor, keys)
		}
		return m, nil
	})
}

// RemoveMember takes an e-mail out of an organisation, and revokes the playground keys that its member has made;
// owners only. Live keys belong to the organisation and stay.
func (s *Service) RemoveMember(ctx context.Context, actor User, orgID, email string) (Member, error) {
	email, err := emailaddr.Clean(email)
	if err != nil {
		return Member{}, ErrNotFound // no such row can be
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (Member, error) {
		org, m, keys, err := memberToChange(tx, actor, orgID, email)
		if err != nil {
			return Member{}, err
		}
		if m.isOwner() {
			if org.Owners <= 1 {
				return Member{}, ErrLastOwner
			}
			org.Owners--
			tx.PutOrg(org)
		}
		tx.DeleteMember(orgID, email)
		log(tx, now, actor, MemberRemoved, orgID, email, "role", string(m.Role))
		revokeAll(tx, now, actor, keys)
		return m, nil
	})
}

// Join accepts the invitations to actor's e-mail and binds them to actor's identity. From then on the e-mail alone
// gives no access, so that a later owner of the address, or the same address at another issuer, cannot get in.
// Verifiers of tokens call it when they see an identity for the first time; [Service.Me] calls it too.
//
// The refusals are those of Me. Invitations that are bound to another identity stay unchanged.
func (s *Service) Join(ctx context.Context, actor User) error {
	if actor.operator {
		return nil
	}
	members, err := view(ctx, s, func(r Reader) ([]Member, error) {
		if err := s.maySignIn(r, actor); err != nil {
			return nil, err
		}
		return r.Memberships(actor.Email)
	})
	if err != nil {
		return err
	}
	joined, others := 0, 0
	for _, m := range members {
		if m.UserID == actor.ID {
			joined++
		}
	}
	for _, m := range members {
		switch m.UserID {
		case actor.ID:
		case "":
			if joined++; joined > MaxJoinedOrgs {
				continue // so that strangers cannot fill up a user's list of organisations
			}
			if err := s.join(ctx, actor, m.OrgID); err != nil {
				return err
			}
		default:
			others++
		}
	}
	if others > 0 && others == len(members) {
		return ErrOtherIdentity
	}
	return nil
}

// Unbind lets the next identity that signs in with a member's e-mail take the member's place; for operators. It helps
// an only owner whose identity provider was changed.
func (s *Service) Unbind(ctx context.Context, actor User, orgID, email string) (Member, error) {
	if !actor.operator {
		return Member{}, ErrOperatorsOnly
	}
	email, err := emailaddr.Clean(email)
	if err != nil {
		return Member{}, ErrNotFound
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (Member, error) {
		m, err := tx.Member(orgID, email)
		if err != nil || m.UserID == "" {
			return m, err
		}
		m.UserID = ""
		tx.PutMember(m)
		log(tx, now, actor, MemberUnbound, orgID, email)
		return m, nil
	})
}

func (m Member) isOwner() bool { return m.Role == RoleOwner && m.State == Joined }

// join binds one membership. It does nothing when the invitation was withdrawn or followed in the meantime.
func (s *Service) join(ctx context.Context, actor User, orgID string) error {
	now := s.now()
	return s.store.Update(ctx, func(tx Tx) error {
		m, err := tx.Member(orgID, actor.Email)
		if errors.Is(err, ErrNotFound) || err == nil && m.UserID != "" {
			return nil
		} else if err != nil {
			return err
		}
		org, err := tx.Org(orgID)
		if err != nil {
			return err
		}
		if m.State == Invited {
			m.State, m.JoinedAt = Joined, now
			if m.Role == RoleOwner {
				org.Owners++
				tx.PutOrg(org)
			}
		}
		m.UserID = actor.ID
		tx.PutMember(m)
		log(tx, now, actor, MemberJoined, orgID, actor.Email, "role", string(m.Role))
		return nil
	})
}

// memberToChange reads what changing a member touches, among it the member's playground keys.
func memberToChange(r Reader, actor User, orgID, email string) (Org, Member, []Key, error) {
	if err := mayOwn(r, actor, orgID); err != nil {
		return Org{}, Member{}, nil, err
	}
	org, err := r.Org(orgID)
	if err != nil {
		return Org{}, Member{}, nil, err
	}
	m, err := r.Member(orgID, email)
	if err != nil {
		return Org{}, Member{}, nil, err
	}
	keys, err := r.Keys(KeyQuery{OrgID: orgID, Kind: Playground, CreatedBy: email, Active: true,
		Limit: maxRevokedAtOnce})
	return org, m, keys, err
}
