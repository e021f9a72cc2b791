// Package tenant has the domain rules of tenancy. They are the rights in an organisation, the life of keys, and the
// steps of voice requests. It knows no HTTP and no database: [Service] is the rules, [Store] is the port behind which
// everything is kept.
//
// The actor is an argument of every rule. A rule's refusal is a [*Refusal] whose text is part of the API; any other
// error is a fault. Every change is written together with its [Audit] entry, in one transaction, or not at all.
//
// Times are UTC and whole microseconds, the precision that every store keeps. The zero time means absent.
package tenant

import (
	"context"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/ident"
	"github.com/swar-tts/swar/runtime/speech"
)

// DefaultProject is the name of the project that comes with a new organisation, so that a key can be made at once.
const DefaultProject = "Default"

// Limits, so that every list is bounded. They are counted inside the transaction that adds, and are far above normal
// use; MaxCreatedOrgs does not apply to operators.
const (
	MaxCreatedOrgs   = 20   // organisations that one user has created and is still in
	MaxJoinedOrgs    = 100  // organisations that one user is in; further invitations wait until the user leaves one
	MaxProjects      = 200  // in an organisation
	MaxMembers       = 1000 // in an organisation, joined and invited
	MaxVoiceRequests = 200  // of an organisation, in any state
)

// Org is an organisation: what is billed, and where people share keys.
type Org struct {
	ID        string // "org_" and 26 random characters
	Name      string
	CreatedAt time.Time
	CreatedBy string // e-mail, or "operator"

	// Two counts for limits. The rules keep them inside their transactions, so that concurrent callers conflict on this
	// one record, in every store.
	ActiveKeys int // live keys that are not revoked
	Owners     int // owners who have joined

	Disclosure speech.Disclosure // what is spoken before every text, where a key says nothing else
}

// OrgChange is a change of an organisation; nil fields stay as they are.
type OrgChange struct {
	Name       *string
	Disclosure *speech.Disclosure // one that sets nothing means the server's setting
}

// Membership is an organisation as one of its members sees it.
type Membership struct {
	Org      Org
	Role     Role
	Projects []Project // oldest first
}

// Me signs actor in. It joins the organisations that invited the e-mail, and returns all organisations of actor in
// order of identifier.
//
// It refuses with ErrNotInvited a user whom the configuration does not allow, and with ErrOtherIdentity a user who
// could see nothing because the e-mail has joined with another identity.
func (s *Service) Me(ctx context.Context, actor User) ([]Membership, error) {
	if err := s.Join(ctx, actor); err != nil {
		return nil, err
	}
	return view(ctx, s, func(r Reader) ([]Membership, error) {
		var mine []Membership
		members, err := r.Memberships(actor.Email)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			if m.UserID != actor.ID {
				continue
			}
			in, err := membership(r, m.OrgID, m.Role)
			if err != nil {
				return nil, err
			}
			mine = append(mine, in)
		}
		return mine, nil
	})
}

// Org returns one organisation with its projects.
func (s *Service) Org(ctx context.Context, actor User, orgID string) (Membership, error) {
	return view(ctx, s, func(r Reader) (Membership, error) {
		role, err := roleIn(r, actor, orgID)
		if err != nil {
			return Membership{}, err
		}
		return membership(r, orgID, role)
	})
}

// Orgs returns up to limit organisations in order of identifier, those greater than after; for operators.
func (s *Service) Orgs(ctx context.Context, actor User, after string, limit int) ([]Org, error) {
	if !actor.operator {
		return nil, ErrOperatorsOnly
	}
	return view(ctx, s, func(r Reader) ([]Org, error) { return r.Orgs(after, limit) })
}

// CreateOrg creates an organisation with actor as its owner and one project. An operator does not become an owner,
// and can invite one.
func (s *Service) CreateOrg(ctx context.Context, actor User, name string, once Idempotency) (Membership, error) {
	name, err := cleanName("name", name)
	if err != nil {
		return Membership{}, err
	}
	if err := once.check(); err != nil {
		return Membership{}, err
	}
	if err := s.store.View(ctx, func(r Reader) error { return s.maySignIn(r, actor) }); err != nil {
		return Membership{}, err
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (Membership, error) {
		if first, done, err := replay[Membership](tx, now, actor, once); done || err != nil {
			return first, err
		}
		if err := mayCreateOrg(tx, actor); err != nil {
			return Membership{}, err
		}
		org := Org{ID: ident.New("org_"), Name: name, CreatedAt: now, CreatedBy: actor.Email}
		project := Project{ID: ident.New("prj_"), OrgID: org.ID, Name: DefaultProject, CreatedAt: now,
			CreatedBy: actor.Email}
		if !actor.operator {
			org.Owners = 1
			tx.PutMember(Member{
				OrgID: org.ID, Email: actor.Email, Role: RoleOwner, State: Joined,
				InvitedAt: now, InvitedBy: actor.Email, JoinedAt: now, UserID: actor.ID,
			})
		}
		tx.PutOrg(org)
		tx.PutProject(project)
		log(tx, now, actor, OrgCreated, org.ID, org.ID, "name", name)
		log(tx, now, actor, ProjectCreated, org.ID, project.ID, "name", project.Name)
		return remember(tx, now, actor, once, Membership{org, RoleOwner, []Project{project}})
	})
}

// UpdateOrg renames an organisation, or changes its disclosure; owners only. Of two at once, the last one stays. It
// returns the keys that got the change, also with an error: then others may not have it, until the same change is
// repeated.
func (s *Service) UpdateOrg(ctx context.Context, actor User, orgID string, change OrgChange) ([]Key, error) {
	change, err := change.clean()
	if err != nil {
		return nil, err
	}
	now := s.now()
	changedKeys, err := update(ctx, s, func(tx Tx) (changedKeys []Key, err error) {
		if err := mayOwn(tx, actor, orgID); err != nil {
			return nil, err
		}
		org, err := tx.Org(orgID)
		if err != nil {
			return nil, err
		}
		renamed, disclosed := change.apply(&org)
		if disclosed {
			if changedKeys, err = undisclosed(tx, org, now); err != nil {
				return nil, err
			}
		}
		if renamed || disclosed {
			tx.PutOrg(org)
		}
		for _, k := range changedKeys {
			tx.PutKey(k)
		}
		if renamed {
			log(tx, now, actor, OrgRenamed, orgID, orgID, "name", org.Name)
		}
		if disclosed {
			log(tx, now, actor, OrgDisclosureChanged, orgID, orgID, disclosureDetail(org.Disclosure)...)
		}
		return changedKeys, nil
	})
	if err != nil || change.Disclosure == nil {
		return changedKeys, err
	}
	rest, err := s.pushDisclosure(ctx, orgID)
	return append(changedKeys, rest...), err
}

// clean returns c as it may be kept.
func (c OrgChange) clean() (OrgChange, error) {
	if c.Name != nil {
		name, err := cleanName("name", *c.Name)
		if err != nil {
			return c, err
		}
		c.Name = &name
	}
	if c.Disclosure != nil {
		disclosure, err := cleanDisclosure(*c.Disclosure)
		if err != nil {
			return c, err
		}
		c.Disclosure = &disclosure
	}
	return c, nil
}

// apply changes org, and reports what of it is another than before.
func (c OrgChange) apply(org *Org) (renamed, disclosed bool) {
	if c.Name != nil {
		org.Name, renamed = *c.Name, org.Name != *c.Name
	}
	if c.Disclosure != nil {
		org.Disclosure, disclosed = *c.Disclosure, org.Disclosure != *c.Disclosure
	}
	return renamed, disclosed
}

func membership(r Reader, orgID string, role Role) (Membership, error) {
	org, err := r.Org(orgID)
	if err != nil {
		return Membership{}, err
	}
	projects, err := r.Projects(orgID)
	return Membership{org, role, projects}, err
}

// mayCreateOrg counts what actor has created. Only who creates an organisation is its member by their own invitation.
func mayCreateOrg(r Reader, actor User) error {
	if actor.operator {
		return nil
	}
	members, err := r.Memberships(actor.Email)
	if err != nil {
		return err
	}
	created := 0
	for _, m := range members {
		if m.InvitedBy == actor.Email {
			created++
		}
	}
	if created >= MaxCreatedOrgs {
		return ErrTooManyOrgs
	}
	return nil
}

// maySignIn refuses users who may not sign in at all.
func (s *Service) maySignIn(r Reader, actor User) error {
	if actor.operator {
		return nil
	}
	if actor.ID == "" || actor.Email == "" {
		return errNoActor
	}
	if !s.cfg.InvitedOnly {
		return nil
	}
	_, domain, _ := strings.Cut(actor.Email, "@")
	for _, d := range s.cfg.Domains {
		if strings.EqualFold(d, domain) {
			return nil
		}
	}
	members, err := r.Memberships(actor.Email)
	if err == nil && len(members) == 0 {
		return ErrNotInvited
	}
	return err
}
