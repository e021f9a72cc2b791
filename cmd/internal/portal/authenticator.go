package portal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
)

// authenticator identifies users, by every method that the settings allow.
type authenticator struct {
	issuer   *signin.Issuer // nil: no sign-in by e-mail
	outbox   *signin.Outbox // nil: no mails are sent
	invite   *signin.Invitations
	clientIP func(*http.Request) netip.Addr
	trust    *signin.Trust // nil: no other issuer is trusted
	verifier signin.Verifiers
	page     string // address of the sign-in page
	mail     string // delivery of mails: smtp, printed or none
	methods  *signin.Methods
}

// authenticator makes one, and starts nothing.
func (s *SignInFlags) authenticator(
	ctx context.Context, store Records, p *Portal, site Site, log *slog.Logger,
) (*authenticator, error) {
	a := &authenticator{page: s.address(site.Address) + site.signInPath(), clientIP: site.ClientIP}
	mailer, err := s.mailer(ctx, site.Address, site.Mails)
	if err != nil {
		return nil, err
	}
	if mailer != nil {
		a.outbox = signin.NewOutbox("", mailer, log)
		a.invite = signin.NewInvitations(store, a.outbox, s.mails)
	}
	a.mail = s.mailDelivery(mailer)
	if *s.byEmail == "on" {
		if mailer == nil {
			log.Warn("no mails are sent, as no mail server is named with --smtp: people sign in with links that `signin-link ADDRESS` makes on this machine")
		}
		a.issuer, err = signin.New(signin.Config{
			URL: s.address(site.Address), TotalLimit: s.mails, Allowed: s.allowed(store), ClaimOrg: p.own,
			SignedOut: p.signedOut, ClientIP: site.ClientIP, Log: log, Home: site.home(),
		}, store, a.outbox)
		if err != nil {
			return nil, fmt.Errorf("%w; name it with --public-url", err)
		}
		a.verifier = append(a.verifier, builtIn{a.issuer})
	}
	issuers, err := s.trusted()
	if err != nil {
		return nil, err
	}
	if len(issuers) > 0 {
		if a.trust, err = signin.NewTrust(issuers, nil, log); err != nil {
			return nil, err
		}
		a.verifier = append(a.verifier, a.trust)
	}
	if s.emulator != "" {
		e, err := signin.NewEmulator(signin.EmulatorConfig{AcceptUnsigned: s.unsigned, Address: s.emulator,
			Project: s.firebase, Listen: site.Address})
		if err != nil {
			return nil, err
		}
		log.Warn("development: unsigned tokens are accepted, so anyone on this machine can sign in as anyone",
			"emulator", s.emulator)
		a.verifier = append(a.verifier, e)
	}
	a.methods = &signin.Methods{
		Email: a.issuer != nil && mailer != nil, Links: a.issuer != nil, Mail: a.mail, Trust: a.trust,
		PublicURL: s.address(site.Address), Version: site.Version,
	}
	if s.webAPIKey != "" {
		a.methods.Firebase = &signin.FirebaseMethod{Project: s.firebase, WebAPIKey: s.webAPIKey, Emulator: s.emulator}
	}
	return a, nil
}

// builtIn is the issuer of this portal under a name that never changes: people stay who they are when the server
// moves to another address.
type builtIn struct{ *signin.Issuer }

// Verify implements [signin.Verifier].
func (b builtIn) Verify(ctx context.Context, token string) (signin.Identity, error) {
	id, err := b.Issuer.Verify(ctx, token)
	id.Issuer = "built-in" // not a URL, so it cannot equal another issuer's name
	return id, err
}

// works are what must run for it.
func (a *authenticator) works() (all []func(context.Context) error) {
	if a.outbox != nil {
		all = append(all, a.outbox.Run)
	}
	if a.trust != nil {
		all = append(all, a.trust.Run)
	}
	return all
}

// Invite implements the mailer of the portal's API.
func (a *authenticator) Invite(r *http.Request, i tenant.Invitation) error {
	if a.outbox == nil {
		return errors.New("no mail server is named with --smtp; make them a link with `signin-link`, and they sign in at " + a.page)
	}
	mail := signin.Invitation{Email: i.Email, OrgName: i.OrgName, InvitedBy: i.InvitedBy, Page: a.page}
	if i.InvitedBy != tenant.Operator().Email {
		mail.From = a.clientIP(r)
	}
	return a.invite.Mail(r.Context(), mail)
}
