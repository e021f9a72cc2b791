package rest

import (
	"errors"
	"log/slog"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/answer"
)

type memberShape struct {
	Email     string             `json:"email"`
	Role      tenant.Role        `json:"role"`
	State     tenant.MemberState `json:"state"`
	InvitedAt timestamp          `json:"invited_at"`
	InvitedBy string             `json:"invited_by"`
	JoinedAt  timestamp          `json:"joined_at,omitzero"`
}

func shapeMember(m tenant.Member) memberShape {
	return memberShape{m.Email, m.Role, m.State, timestamp(m.InvitedAt), m.InvitedBy, timestamp(m.JoinedAt)}
}

// listedMember is a row of the list of members. Only there it says when the invitation was handed over to be mailed,
// which is never where it could not be: inviting again within ten minutes sends no other mail.
type listedMember struct {
	memberShape
	MailedAt timestamp `json:"mailed_at,omitzero"`
}

func (s *Server) members(c *call) error {
	org, err := c.orgInPath()
	if err != nil {
		return err
	}
	members, err := s.cfg.Tenancy.Members(c.ctx(), c.user, org)
	if err != nil {
		return err
	}
	return c.json(struct {
		Members []listedMember `json:"members"`
	}{list(members, func(m tenant.Member) listedMember { return listedMember{shapeMember(m), timestamp(m.MailedAt)} })})
}

func (s *Server) invite(c *call) error {
	org, err := c.orgInPath()
	if err != nil {
		return err
	}
	var email, role string
	once, err := c.body(required("email", &email), optional("role", &role))
	if err != nil {
		return err
	}
	m, mail, err := s.cfg.Tenancy.Invite(c.ctx(), c.user, org, email, tenant.Role(role), once)
	if err != nil {
		return err
	}
	if mail != nil {
		if err := s.mail(c, *mail); err != nil {
			return err
		}
	}
	return c.json(shapeMember(m))
}

// mail mails an invitation, which stands also without a mail: it is followed at the next sign-in. It fails where a
// mail can be sent later.
func (s *Server) mail(c *call, mail tenant.Invitation) error {
	err := errNoMailer
	if s.cfg.Mailer != nil {
		err = s.cfg.Mailer.Invite(c.r, mail)
	}
	if err == nil {
		return nil
	}
	s.cfg.Log.LogAttrs(c.ctx(), slog.LevelError, "an invitation was not mailed",
		slog.String("org_id", mail.OrgID), slog.String("error", err.Error()))
	if err := s.cfg.Tenancy.NotMailed(c.ctx(), mail); err != nil {
		return err
	}
	if f, ok := signin.Postponed(err); ok {
		f.Text = "the invitation stands, but was not mailed: " + f.Text
		return &postponed{f}
	}
	return nil
}

var errNoMailer = errors.New("nothing sends mails")

// postponed refuses what can be asked for later.
type postponed struct{ answer.Failure }

func (p *postponed) Error() string { return p.Text }

func (s *Server) setRole(c *call) error {
	org, email, err := c.memberInPath()
	if err != nil {
		return err
	}
	var role string
	if _, err := c.body(required("role", &role)); err != nil {
		return err
	}
	m, err := s.cfg.Tenancy.SetRole(c.ctx(), c.user, org, email, tenant.Role(role))
	if err != nil {
		return err
	}
	return c.json(shapeMember(m))
}

func (s *Server) removeMember(c *call) error {
	org, email, err := c.memberInPath()
	if err != nil {
		return err
	}
	m, err := s.cfg.Tenancy.RemoveMember(c.ctx(), c.user, org, email)
	if err != nil {
		return err
	}
	return c.json(shapeMember(m))
}

func (c *call) memberInPath() (org, email string, err error) {
	if org, err = c.orgInPath(); err != nil {
		return "", "", err
	}
	email, err = c.path("email")
	return org, email, err
}
