package tenant

import (
	"errors"
	"slices"
)

// Rights. An organisation that the actor names is refused with 403, which does not reveal whether it exists; all else
// without access is "not found".

func mayRead(r Reader, actor User, orgID string) error {
	_, err := roleIn(r, actor, orgID)
	return err
}

func mayWrite(r Reader, actor User, orgID string) error {
	role, err := roleIn(r, actor, orgID)
	if err == nil && role == RoleViewer {
		return ErrViewer
	}
	return err
}

func mayOwn(r Reader, actor User, orgID string) error {
	role, err := roleIn(r, actor, orgID)
	if err == nil && role != RoleOwner {
		return ErrOwnersOnly
	}
	return err
}

// mayReadIn is mayRead, for one project of the organisation when projectID is not empty.
func mayReadIn(r Reader, actor User, orgID, projectID string) error {
	if err := mayRead(r, actor, orgID); err != nil || projectID == "" {
		return err
	}
	p, err := r.Project(projectID)
	if err == nil && p.OrgID != orgID {
		return ErrNotFound
	}
	return err
}

// writableProject returns a project that actor may change things in.
func writableProject(r Reader, actor User, id string) (Project, error) {
	p, err := r.Project(id)
	if err != nil {
		return Project{}, err
	}
	return p, ofObject(mayWrite(r, actor, p.OrgID))
}

// writableKey returns a key that actor may change.
func writableKey(r Reader, actor User, id string) (Key, error) {
	k, err := r.Key(id)
	if err != nil {
		return Key{}, err
	}
	return k, ofObject(mayWrite(r, actor, k.OrgID))
}

// ofObject turns the refusal of an organisation into that of a thing inside it.
func ofObject(err error) error {
	if errors.Is(err, ErrNotMember) || errors.Is(err, ErrOtherIdentity) {
		return ErrNotFound
	}
	return err
}

// roleIn returns the role of actor. An invitation does not give a role yet.
func roleIn(r Reader, actor User, orgID string) (Role, error) {
	if actor.operator {
		_, err := r.Org(orgID)
		return RoleOwner, err
	}
	if actor.ID == "" || actor.Email == "" {
		return "", errNoActor
	}
	m, err := r.Member(orgID, actor.Email)
	switch {
	case errors.Is(err, ErrNotFound):
		return "", ErrNotMember
	case err != nil:
		return "", err
	case m.UserID == "": // only invited
		return "", ErrNotMember
	case m.UserID != actor.ID:
		return "", ErrOtherIdentity
	}
	return m.Role, nil
}

// errNoActor is a programming error: the actor was not verified.
var errNoActor = errors.New("tenant: the actor has no id or no e-mail")

func knownRole(role Role) bool {
	return slices.Contains([]Role{RoleOwner, RoleMember, RoleViewer}, role)
}
