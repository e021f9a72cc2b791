package rest

import "github.com/swar-tts/swar/portal/tenant"

type projectShape struct {
	ID        string    `json:"id"`
	OrgID     string    `json:"org_id"`
	Name      string    `json:"name"`
	CreatedAt timestamp `json:"created_at"`
}

func shapeProject(p tenant.Project) projectShape {
	return projectShape{p.ID, p.OrgID, p.Name, timestamp(p.CreatedAt)}
}

func (s *Server) createProject(c *call) error {
	var org, name string
	once, err := c.body(required("org_id", &org), required("name", &name))
	if err != nil {
		return err
	}
	if err := orgID(org); err != nil {
		return err
	}
	made, err := s.cfg.Tenancy.CreateProject(c.ctx(), c.user, org, name, once)
	if err != nil {
		return err
	}
	return c.json(shapeProject(made))
}

func (s *Server) renameProject(c *call) error {
	id, err := c.objectInPath()
	if err != nil {
		return err
	}
	var name string
	if _, err := c.body(required("name", &name)); err != nil {
		return err
	}
	renamed, err := s.cfg.Tenancy.RenameProject(c.ctx(), c.user, id, name)
	if err != nil {
		return err
	}
	return c.json(shapeProject(renamed))
}
