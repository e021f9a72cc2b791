package tenant

import (
	"context"
	"time"

	"github.com/swar-tts/swar/runtime/ident"
)

// Project groups keys and usage inside an organisation.
type Project struct {
	ID        string // "prj_" and 26 random characters
	OrgID     string
	Name      string
	CreatedAt time.Time
	CreatedBy string // e-mail
}

// CreateProject creates a project. Names need not differ.
func (s *Service) CreateProject(ctx context.Context, actor User, orgID, name string,
	once Idempotency) (Project, error) {
	name, err := cleanName("name", name)
	if err != nil {
		return Project{}, err
	}
	if err := once.check(); err != nil {
		return Project{}, err
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (Project, error) {
		if err := mayWrite(tx, actor, orgID); err != nil {
			return Project{}, err
		}
		if first, done, err := replay[Project](tx, now, actor, once); done || err != nil {
			return first, err
		}
		projects, err := tx.Projects(orgID)
		if err != nil {
			return Project{}, err
		}
		if len(projects) >= MaxProjects {
			return Project{}, ErrTooManyProjects
		}
		made := Project{ID: ident.New("prj_"), OrgID: orgID, Name: name, CreatedAt: now, CreatedBy: actor.Email}
		tx.PutProject(made)
		log(tx, now, actor, ProjectCreated, orgID, made.ID, "name", name)
		return remember(tx, now, actor, once, made)
	})
}

// RenameProject renames a project. Of two at once, the last one stays.
func (s *Service) RenameProject(ctx context.Context, actor User, id, name string) (Project, error) {
	name, err := cleanName("name", name)
	if err != nil {
		return Project{}, err
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (Project, error) {
		p, err := writableProject(tx, actor, id)
		if err != nil || p.Name == name {
			return p, err
		}
		p.Name = name
		tx.PutProject(p)
		log(tx, now, actor, ProjectRenamed, p.OrgID, id, "name", name)
		return p, nil
	})
}
