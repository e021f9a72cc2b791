package rest

import (
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/strictjson"
)

type voiceRequestShape struct {
	ID        string             `json:"id"`
	OrgID     string             `json:"org_id"`
	VoiceName string             `json:"voice_name"`
	Language  string             `json:"language"`
	UseCase   string             `json:"use_case"`
	Hours     *float64           `json:"hours,omitzero"`
	Notes     string             `json:"notes,omitzero"`
	Status    tenant.VoiceStatus `json:"status"`
	CreatedAt timestamp          `json:"created_at"`
	CreatedBy string             `json:"created_by"`
	UpdatedAt timestamp          `json:"updated_at"`
	Moves     []moveShape        `json:"moves"`
}

type moveShape struct {
	At timestamp          `json:"at"`
	By string             `json:"by"`
	To tenant.VoiceStatus `json:"to"`
}

func shapeVoiceRequest(v tenant.VoiceRequest) voiceRequestShape {
	return voiceRequestShape{
		v.ID, v.OrgID, v.VoiceName, v.Language, v.UseCase, v.Hours, v.Notes, v.Status, timestamp(v.CreatedAt),
		v.CreatedBy,
		timestamp(v.UpdatedAt),
		list(v.Moves, func(m tenant.Move) moveShape { return moveShape{timestamp(m.At), m.By, m.To} }),
	}
}

func (s *Server) voiceRequests(c *call) error {
	org := c.text("org_id")
	if org != "" {
		if err := orgID(org); err != nil {
			return err
		}
	}
	requests, err := s.cfg.Tenancy.VoiceRequests(c.ctx(), c.user, org)
	if err != nil {
		return err
	}
	return c.json(struct {
		VoiceRequests []voiceRequestShape `json:"voice_requests"`
	}{list(requests, shapeVoiceRequest)})
}

func (s *Server) createVoiceRequest(c *call) error {
	var org string
	var wish tenant.VoiceRequestInput
	once, err := c.body(
		required("org_id", &org), required("voice_name", &wish.VoiceName), required("language", &wish.Language),
		required("use_case", &wish.UseCase), given("hours", &wish.Hours, strictjson.Number),
		optional("notes", &wish.Notes),
	)
	if err != nil {
		return err
	}
	if err := orgID(org); err != nil {
		return err
	}
	made, err := s.cfg.Tenancy.CreateVoiceRequest(c.ctx(), c.user, org, wish, once)
	if err != nil {
		return err
	}
	return c.json(shapeVoiceRequest(made))
}

func (s *Server) withdrawVoiceRequest(c *call) error {
	id, err := c.objectInPath()
	if err != nil {
		return err
	}
	v, err := s.cfg.Tenancy.WithdrawVoiceRequest(c.ctx(), c.user, id)
	if err != nil {
		return err
	}
	return c.json(shapeVoiceRequest(v))
}
