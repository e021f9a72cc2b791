package rest

import (
	"github.com/swar-tts/swar/portal/tenant"

	"github.com/swar-tts/swar/portal/cursor"
)

type auditShape struct {
	ID     string            `json:"id"`
	At     timestamp         `json:"at"`
	Actor  string            `json:"actor"`
	Action tenant.Action     `json:"action"`
	Target string            `json:"target"`
	Detail map[string]string `json:"detail"`
}

func shapeAudit(a tenant.Audit) auditShape {
	return auditShape{a.ID, timestamp(a.At), a.Actor, a.Action, a.Target, a.Detail}
}

func (s *Server) audit(c *call) error {
	org, err := c.orgInPath()
	if err != nil {
		return err
	}
	limit, err := c.limit()
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = tenant.DefaultAuditLimit
	}
	before, err := cursor.Parse(c.text("cursor"))
	if err != nil {
		return errBadCursor
	}
	entries, err := s.cfg.Tenancy.AuditLog(c.ctx(), c.user, tenant.AuditQuery{OrgID: org, Before: before, Limit: limit})
	if err != nil {
		return err
	}
	var next string
	if len(entries) == limit { // there may be more
		next = entries[limit-1].Place().String()
	}
	return c.json(struct {
		Entries []auditShape `json:"entries"`
		Next    string       `json:"next_cursor,omitzero"`
	}{list(entries, shapeAudit), next})
}
