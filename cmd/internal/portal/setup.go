package portal

import (
	"context"
	"errors"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
)

// SetupLink is the answer to a command that wants one.
type SetupLink struct {
	Link string `json:"link"`
}

// errNoSetup is a server whose first owner comes in another way.
var errNoSetup = &tenant.Refusal{
	Kind: tenant.Invalid, Code: "no_issuer",
	Text: "this server signs nobody in by e-mail, so that it has no link for setting up; invite an owner with `orgs invite … --role owner`",
}

// CreateFirstOrg makes the organisation that a server begins with. Of two servers that begin on one store at once, only one does.
func (p *Portal) CreateFirstOrg(ctx context.Context) (tenant.Membership, error) {
	return p.tenancy.CreateOrg(ctx, tenant.Operator(), "My organisation", tenant.Once{Key: "first-organisation"})
}

// SetupLink returns a new link with which somebody becomes the owner of the first organisation. It fails with tenant.ErrOwned where there
// is one.
func (p *Portal) SetupLink(ctx context.Context) (string, error) {
	if p.issuer == nil {
		return "", errNoSetup
	}
	org, err := p.tenancy.FirstOrg(ctx, tenant.Operator())
	if errors.Is(err, tenant.ErrNotFound) {
		var made tenant.Membership
		made, err = p.CreateFirstOrg(ctx)
		org = made.Org
	}
	if err != nil {
		return "", err
	}
	if org.Owners > 0 {
		return "", tenant.ErrOwned
	}
	return p.issuer.NewSetupLink(ctx, org.ID)
}

// own is what the issuer does for who has such a link.
func (p *Portal) own(ctx context.Context, org, email string) error {
	_, err := p.tenancy.InviteFirstOwner(ctx, tenant.Operator(), org, email)
	if errors.Is(err, tenant.ErrOwned) || errors.Is(err, tenant.ErrNotFound) {
		return signin.ErrOwned
	}
	return err
}
