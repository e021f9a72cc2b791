package rest

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

type orgShape struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Role      tenant.Role    `json:"role"` // of the caller
	CreatedAt timestamp      `json:"created_at"`
	Projects  []projectShape `json:"projects"`

	Disclosure *string `json:"disclosure,omitzero"` // nil: the server's setting
}

func shapeOrg(m tenant.Membership) orgShape {
	return orgShape{
		m.Org.ID, m.Org.Name, m.Role, timestamp(m.Org.CreatedAt), list(m.Projects, shapeProject),
		shapeDisclosure(m.Org.Disclosure),
	}
}

type meShape struct {
	User    userShape      `json:"user"`
	Orgs    []orgShape     `json:"orgs"`
	Pricing pricingShape   `json:"pricing"`
	Voices  []speech.Voice `json:"voices"`
	Model   string         `json:"model"`
}

type userShape struct {
	ID    string `json:"id"`
	Email string `json:"email"`
}

type pricingShape struct {
	Currency       string         `json:"currency"`
	PaisePerMinute int64          `json:"paise_per_minute"`
	INRPerMinute   jsontext.Value `json:"inr_per_minute"`
}

func (s *Server) me(c *call) error {
	orgs, err := s.cfg.Tenancy.Me(c.ctx(), c.user)
	if err != nil {
		return err
	}
	paise, model := s.cfg.Reports.Rate(), s.cfg.Model()
	return c.json(meShape{
		User:    userShape{c.user.ID, c.user.Email},
		Orgs:    list(orgs, shapeOrg),
		Pricing: pricingShape{"INR", paise, exact(usage.Rupees(paise))},
		Voices:  model.Voices,
		Model:   model.ID,
	})
}

func (s *Server) createOrg(c *call) error {
	var name string
	once, err := c.body(required("name", &name))
	if err != nil {
		return err
	}
	made, err := s.cfg.Tenancy.CreateOrg(c.ctx(), c.user, name, once)
	if err != nil {
		return err
	}
	return c.json(shapeOrg(made))
}

func (s *Server) updateOrg(c *call) error {
	id, err := c.orgInPath()
	if err != nil {
		return err
	}
	var change tenant.OrgChange
	var disclosure disclosureFields
	if _, err := c.body(append(disclosure.fields(), given("name", &change.Name, strictjson.String))...); err != nil {
		return err
	}
	if change.Disclosure, err = disclosure.change(); err != nil {
		return err
	}
	if change.Name == nil && change.Disclosure == nil {
		return isRequired("name")
	}
	changedKeys, err := s.cfg.Tenancy.UpdateOrg(c.ctx(), c.user, id, change)
	s.awaitAll(c, changedKeys)
	if err != nil {
		return err
	}
	updated, err := s.cfg.Tenancy.Org(c.ctx(), c.user, id)
	if err != nil {
		return err
	}
	return c.json(shapeOrg(updated))
}

// orgInPath returns the organisation in the path.
func (c *call) orgInPath() (string, error) {
	id, err := c.path("org")
	if err != nil {
		return "", err
	}
	return id, orgID(id)
}

// objectInPath returns the object in the path, which is part of an organisation.
func (c *call) objectInPath() (string, error) {
	id, err := c.path("id")
	if err != nil {
		return "", err
	}
	return id, objectID(id)
}
