package portal

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/swar-tts/swar/portal/emailaddr"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
)

// Links is the answer to a command that wants a link.
type Links struct {
	Link  string    `json:"link"`
	Links []string  `json:"links"` // the same under each address by which the server is reached, Link first
	Ends  time.Time `json:"expires_at,omitzero"`
	Mail  string    `json:"mail"` // delivery of mails: smtp, printed or none
}

// links are a link of the issuer under all addresses.
func (p *Portal) links(link string, ends time.Time) Links {
	l := Links{Link: link, Ends: ends, Mail: p.mail}
	for _, address := range p.addresses {
		l.Links = append(l.Links, address+strings.TrimPrefix(link, p.addresses[0]))
	}
	return l
}

// SignInLink returns a single-use link that signs in as email. An operator hands it over.
func (p *Portal) SignInLink(ctx context.Context, email string) (Links, error) {
	if p.issuer == nil {
		return Links{}, errNoIssuer
	}
	link, ends, err := p.issuer.NewSignInLink(ctx, email)
	switch {
	case errors.Is(err, signin.ErrNotAllowed):
		return Links{},
			&tenant.Refusal{Kind: tenant.Forbidden, Code: "not_invited",
				Text: signin.ErrNotAllowed.Error() + " with `orgs invite`"}
	case errors.Is(err, emailaddr.ErrInvalid):
		return Links{}, tenant.ErrBadEmail
	case err != nil:
		return Links{}, err
	}
	return p.links(link, ends), nil
}

// errNoSetup refuses a setup link on a server whose first owner is created in another way.
var errNoSetup = &tenant.Refusal{
	Kind: tenant.Invalid, Code: "no_issuer",
	Text: "no setup link: e-mail sign-in is off; invite an owner with `orgs invite … --role owner`, who signs in with another issuer",
}

// CreateFirstOrg makes the organisation that a server begins with. Of two servers that begin on one store at once,
// only one does.
func (p *Portal) CreateFirstOrg(ctx context.Context) (tenant.Membership, error) {
	return p.tenancy.CreateOrg(ctx, tenant.Operator(), "My organisation", tenant.Idempotency{Key: "first-organisation"})
}

// SetupLink returns a new link that makes its user the owner of the first organisation. It fails with tenant.ErrOwned
// if there is an owner.
func (p *Portal) SetupLink(ctx context.Context) (Links, error) {
	if p.issuer == nil {
		return Links{}, errNoSetup
	}
	org, err := p.tenancy.FirstOrg(ctx, tenant.Operator())
	if errors.Is(err, tenant.ErrNotFound) {
		var made tenant.Membership
		made, err = p.CreateFirstOrg(ctx)
		org = made.Org
	}
	if err != nil {
		return Links{}, err
	}
	if org.Owners > 0 {
		return Links{}, tenant.ErrOwned
	}
	link, ends, err := p.issuer.NewSetupLink(ctx, org.ID)
	return p.links(link, ends), err
}

// own makes the user of a setup link an owner.
func (p *Portal) own(ctx context.Context, org, email string) error {
	_, err := p.tenancy.InviteFirstOwner(ctx, tenant.Operator(), org, email)
	if errors.Is(err, tenant.ErrOwned) || errors.Is(err, tenant.ErrNotFound) {
		return signin.ErrOwned
	}
	if errors.Is(err, tenant.ErrTaken) {
		return signin.ErrTaken
	}
	return err
}

// signedOut revokes the playground keys of a user.
func (p *Portal) signedOut(ctx context.Context, email string) error {
	keys, err := p.tenancy.EndPlayground(ctx, tenant.Operator(), email)
	for _, k := range keys {
		p.AwaitKey(ctx, k)
	}
	return err
}
