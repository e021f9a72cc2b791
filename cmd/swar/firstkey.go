package main

import (
	"context"
	"errors"

	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/portal/tenant"
)

// firstKey makes an organisation, a project and a key where there is no organisation yet, and returns the key; it is
// empty otherwise.
func firstKey(ctx context.Context, p *portal.Local) (string, error) {
	operator, tenancy := tenant.Operator(), p.Tenancy()
	orgs, err := tenancy.Orgs(ctx, operator, "", 1)
	if err != nil || len(orgs) > 0 {
		return "", err
	}
	// Of two servers that begin on one store at once, only one makes them.
	org, err := p.CreateFirstOrg(ctx)
	if err != nil {
		return "", err
	}
	key, err := tenancy.CreateKey(ctx, operator, org.Projects[0].ID, "First key", nil,
		tenant.Idempotency{Key: "first-key"})
	if err != nil {
		return "", err
	}
	p.AwaitKey(ctx, key.Key) // the key must work before it is printed
	return key.Secret, nil
}

// setupLinks returns the setup link of the first owner, under each address. There are none if there is an owner, or
// without sign-in by e-mail.
func setupLinks(ctx context.Context, p *portal.Local) ([]string, error) {
	made, err := p.SetupLink(ctx)
	if _, refused := errors.AsType[*tenant.Refusal](err); refused {
		return nil, nil
	}
	return made.Links, err
}
