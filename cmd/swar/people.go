package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
)

// people says who may sign in, and how they are reached.
type people struct {
	publicURL   string
	byEmail     *string
	smtp        string
	encryption  *string
	smtpUser    string
	smtpPass    string
	mailFrom    string
	issuers     string
	firebase    string
	emulator    string
	unsigned    bool
	invitedOnly bool
	domains     []string
	origins     []string
}

func (p *people) flags(f *pflag.FlagSet) {
	f.StringVar(&p.publicURL, "public-url", "", "`URL` under which people reach this server (default http:// and the address of --listen)")
	p.byEmail = launch.Choice(f, "email-sign-in", "sign people in with links by e-mail", "on", "off")
	f.StringVar(&p.smtp, "smtp", "", "mail `server`, HOST or HOST:PORT; without one, a server on a loopback address prints its mails")
	p.encryption = launch.Choice(f, "smtp-encryption", "how the way to the mail server is encrypted", signin.StartTLS, signin.TLS, signin.NoTLS)
	f.StringVar(&p.smtpUser, "smtp-user", "", "`name` to sign in to the mail server with")
	f.StringVar(&p.smtpPass, "smtp-password", "", "`password` for that; SWAR_SMTP_PASSWORD keeps it out of the process list")
	f.StringVar(&p.mailFrom, "mail-from", "", "`sender` of mails, such as 'Swar <no-reply@example.org>'")
	f.StringVar(&p.issuers, "issuers", "", "JSON `file` with a list of other issuers whose ID tokens are good")
	f.StringVar(&p.firebase, "firebase", "", "`project` of Firebase Authentication whose ID tokens are good")
	f.StringVar(&p.emulator, "firebase-emulator", "", "for development: `address` of a Firebase Auth emulator, whose tokens have no signature")
	f.BoolVar(&p.unsigned, "accept-unsigned-tokens", false, "confirm that tokens of --firebase-emulator are good, which anybody can make")
	f.BoolVar(&p.invitedOnly, "invited-only", false, "let only those sign in who were invited, or whose --domain is known")
	f.StringArrayVar(&p.domains, "domain", nil, "`domain` whose e-mail addresses need no invitation; can be repeated")
	f.StringArrayVar(&p.origins, "portal-origin", nil, "`origin` of another web page that may use the portal, such as https://portal.example.org; can be repeated")
}

func (p *people) check(cmd *cobra.Command) error {
	switch {
	case p.smtp != "" && p.mailFrom == "":
		return usage(cmd, "--smtp needs a sender; name it with --mail-from 'Swar <no-reply@example.org>'")
	case p.smtp == "" && (p.mailFrom != "" || p.smtpUser != "" || p.smtpPass != ""):
		return usage(cmd, "--mail-from, --smtp-user and --smtp-password need a mail server; name it with --smtp HOST")
	case p.emulator != "" && (!p.unsigned || p.firebase == ""):
		return usage(cmd, "--firebase-emulator needs --firebase demo-…, and --accept-unsigned-tokens, because anybody can make its tokens")
	case p.unsigned && p.emulator == "":
		return usage(cmd, "--accept-unsigned-tokens is for --firebase-emulator")
	case len(p.domains) > 0 && !p.invitedOnly:
		return usage(cmd, "--domain means something with --invited-only only")
	}
	return nil
}

// address is where people reach the server.
func (p *people) address(listen string) string {
	if p.publicURL != "" {
		return strings.TrimSuffix(p.publicURL, "/")
	}
	return baseURL(listen)
}

// mailer returns what sends mails: nil where there is no way to. listen is where the server listens, show is where it may print mails.
func (p *people) mailer(ctx context.Context, listen string, show *screen) (signin.Mailer, error) {
	if p.smtp != "" {
		c := signin.SMTPConfig{Host: p.smtp, Encryption: *p.encryption, Username: p.smtpUser, Password: p.smtpPass, From: p.mailFrom}
		if host, port, err := net.SplitHostPort(p.smtp); err == nil {
			if c.Port, err = strconv.Atoi(port); err != nil {
				return nil, fmt.Errorf("--smtp %s: the port is no number", p.smtp)
			}
			c.Host = host
		}
		return signin.NewSMTP(c)
	}
	if !isLoopback(ctx, listen) {
		return nil, nil // nobody prints what strangers could use
	}
	return signin.NewConsole(show, listen)
}

// trusted returns the issuers of the settings.
func (p *people) trusted() ([]signin.External, error) {
	var all []signin.External
	if p.issuers != "" {
		b, err := os.ReadFile(p.issuers)
		if err != nil {
			return nil, fmt.Errorf("reading the issuers: %w", err)
		}
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.DisallowUnknownFields()
		if err := d.Decode(&all); err != nil {
			return nil, fmt.Errorf(`%s: %w; want a list like [{"issuer": "https://login.example.org", "audiences": ["swar"]}]`, p.issuers, err)
		}
	}
	if p.firebase != "" && p.emulator == "" {
		all = append(all, signin.Firebase(p.firebase))
	}
	return all, nil
}

// doors are the ways in to the portal.
type doors struct {
	issuer   *signin.Issuer // nil: nobody signs in by e-mail
	outbox   *signin.Outbox // nil: no mails are sent
	trust    *signin.Trust  // nil: no other issuer is trusted
	verifier signin.Verifiers
	page     string // where everybody signs in
}

// openDoors starts nothing. listen is the address of the server, show is where mails are printed.
func (p *people) openDoors(ctx context.Context, store records, listen string, clientIP func(*http.Request) netip.Addr, show *screen, log *slog.Logger) (*doors, error) {
	d := &doors{page: p.address(listen) + "/"}
	mailer, err := p.mailer(ctx, listen, show)
	if err != nil {
		return nil, err
	}
	if mailer != nil {
		d.outbox = signin.NewOutbox("", mailer, log)
	}
	switch {
	case *p.byEmail == "off":
	case mailer == nil:
		log.Warn("nobody can sign in by e-mail: no mail server is named with --smtp, and mails are printed only by a server that listens on 127.0.0.1")
	default:
		d.issuer, err = signin.New(signin.Config{
			URL: p.address(listen), Allowed: p.allowed(store), ClientIP: clientIP, Log: log,
		}, store, d.outbox)
		if err != nil {
			return nil, fmt.Errorf("%w; name it with --public-url", err)
		}
		d.verifier = append(d.verifier, builtIn{d.issuer})
	}
	issuers, err := p.trusted()
	if err != nil {
		return nil, err
	}
	if len(issuers) > 0 {
		if d.trust, err = signin.NewTrust(issuers, nil, log); err != nil {
			return nil, err
		}
		d.verifier = append(d.verifier, d.trust)
	}
	if p.emulator != "" {
		e, err := signin.NewEmulator(signin.EmulatorConfig{AcceptUnsigned: p.unsigned, Address: p.emulator, Project: p.firebase, Listen: listen})
		if err != nil {
			return nil, err
		}
		log.Warn("development: tokens without a signature are good, so that everybody on this machine can sign in as anybody", "emulator", p.emulator)
		d.verifier = append(d.verifier, e)
	}
	return d, nil
}

// builtIn is the issuer of this portal under a name that never changes: people stay who they are when the server moves to another address.
type builtIn struct{ *signin.Issuer }

// Verify implements [signin.Verifier].
func (b builtIn) Verify(ctx context.Context, token string) (signin.Identity, error) {
	id, err := b.Issuer.Verify(ctx, token)
	id.Issuer = "built-in" // which is no URL, and so no other issuer's name
	return id, err
}

// allowed keeps mails from going to those who may not come in: nil lets all.
func (p *people) allowed(store tenant.Store) func(context.Context, string) (bool, error) {
	if !p.invitedOnly {
		return nil
	}
	return func(ctx context.Context, email string) (invited bool, err error) {
		_, domain, _ := strings.Cut(email, "@")
		if slices.ContainsFunc(p.domains, func(d string) bool { return strings.EqualFold(d, domain) }) {
			return true, nil
		}
		err = store.View(ctx, func(r tenant.Reader) error {
			places, err := r.Memberships(email)
			invited = len(places) > 0
			return err
		})
		return invited, err
	}
}

// works are what must run for the doors to work.
func (d *doors) works() (all []func(context.Context) error) {
	if d.outbox != nil {
		all = append(all, d.outbox.Run)
	}
	if d.trust != nil {
		all = append(all, d.trust.Run)
	}
	return all
}

// Invite implements the mailer of the portal's API.
func (d *doors) Invite(_ context.Context, i tenant.Invitation) error {
	if d.outbox == nil {
		return errors.New("no mail server is named with --smtp; tell them yourself to sign in at " + d.page)
	}
	return d.outbox.Invite(i.Email, i.OrgName, i.InvitedBy, d.page)
}
