package rest

import (
	"errors"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/strictjson"
)

type keyShape struct {
	ID         string         `json:"id"`
	OrgID      string         `json:"org_id"`
	ProjectID  string         `json:"project_id"`
	Kind       tenant.KeyKind `json:"kind"`
	Name       string         `json:"name"`
	Prefix     string         `json:"prefix"`
	Voices     []string       `json:"voices"` // none means every voice
	Origin     string         `json:"origin,omitzero"`
	CreatedAt  timestamp      `json:"created_at"`
	CreatedBy  string         `json:"created_by"`
	RevokedAt  timestamp      `json:"revoked_at,omitzero"`
	LastUsedAt timestamp      `json:"last_used_at,omitzero"`
	ExpiresAt  timestamp      `json:"expires_at,omitzero"`
	Disclosure *string        `json:"disclosure,omitzero"` // nil: the organisation's
}

func shapeKey(k tenant.Key) keyShape {
	return keyShape{
		k.ID, k.OrgID, k.ProjectID, k.Kind, k.Name, k.Prefix, k.Voices, k.Origin, timestamp(k.CreatedAt), k.CreatedBy,
		timestamp(k.RevokedAt), timestamp(k.LastUsedAt), timestamp(k.ExpiresAt),
		shapeDisclosure(k.Disclosure),
	}
}

func (s *Server) keys(c *call) error {
	org, err := c.orgID()
	if err != nil {
		return err
	}
	project, err := c.projectID()
	if err != nil {
		return err
	}
	keys, err := s.cfg.Tenancy.Keys(c.ctx(), c.user, org, project, tenant.KeyKind(c.text("kind")))
	if err != nil {
		return err
	}
	return c.json(struct {
		Keys []keyShape `json:"keys"`
	}{list(keys, shapeKey)})
}

// createdKeyShape holds the only copy of a key. It is not there when the answer is a repeated one.
type createdKeyShape struct {
	Key      string   `json:"key,omitzero"`
	Replayed bool     `json:"replayed,omitzero"`
	Row      keyShape `json:"row"`
}

func (s *Server) createKey(c *call) error {
	var project, name string
	var voices *[]string
	once, err := c.body(required("project_id", &project), required("name", &name),
		given("voices", &voices, readStrings))
	if err != nil {
		return err
	}
	if err := objectID(project); err != nil {
		return err
	}
	if voices == nil {
		voices = new([]string)
	}
	made, err := s.cfg.Tenancy.CreateKey(c.ctx(), c.user, project, name, *voices, once)
	if err != nil {
		return err
	}
	s.awaitCreated(c, made)
	return c.json(createdKeyShape{made.Secret, made.Secret == "", shapeKey(made.Key)})
}

func (s *Server) updateKey(c *call) error {
	id, err := c.objectInPath()
	if err != nil {
		return err
	}
	var change tenant.KeyChange
	var disclosure disclosureFields
	_, err = c.body(append(disclosure.fields(),
		given("name", &change.Name, strictjson.String), given("voices", &change.Voices, readStrings))...)
	if err != nil {
		return err
	}
	if change.Disclosure, err = disclosure.change(); err != nil {
		return err
	}
	k, err := s.cfg.Tenancy.UpdateKey(c.ctx(), c.user, id, change)
	if err != nil {
		return err
	}
	s.cfg.AwaitKey(c.ctx(), k)
	return c.json(shapeKey(k))
}

func (s *Server) revokeKey(c *call) error {
	id, err := c.objectInPath()
	if err != nil {
		return err
	}
	k, err := s.cfg.Tenancy.RevokeKey(c.ctx(), c.user, id)
	if err == nil || errors.Is(err, tenant.ErrNotStored) { // which is refused all the same
		s.cfg.AwaitKey(c.ctx(), k)
	}
	if err != nil {
		return err
	}
	return c.json(shapeKey(k))
}

// playgroundKeyShape is createdKeyShape for a key that expires.
type playgroundKeyShape struct {
	Key       string   `json:"key,omitzero"`
	Replayed  bool     `json:"replayed,omitzero"`
	ExpiresIn int64    `json:"expires_in_s"`
	Row       keyShape `json:"row"`
}

func (s *Server) createPlaygroundKey(c *call) error {
	var project string
	once, err := c.body(required("project_id", &project))
	if err != nil {
		return err
	}
	if err := objectID(project); err != nil {
		return err
	}
	made, err := s.cfg.Tenancy.CreatePlaygroundKey(c.ctx(), c.user, project, c.r.Header.Get("Origin"), once)
	if err != nil {
		return err
	}
	s.awaitCreated(c, made)
	left := tenant.PlaygroundLife
	if made.Secret == "" {
		left = max(0, time.Until(made.Key.ExpiresAt))
	}
	return c.json(playgroundKeyShape{made.Secret, made.Secret == "", int64(left / time.Second), shapeKey(made.Key)})
}

// awaitCreated waits for a key to be known, unless the answer is a repeated one: that key may have ended.
func (s *Server) awaitCreated(c *call, made tenant.CreatedKey) {
	if made.Secret != "" {
		s.cfg.AwaitKey(c.ctx(), made.Key)
	}
}
