package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
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

const defaultMails = 1000

// SignInFlags say who may sign in, and how they are reached by mail.
type SignInFlags struct {
	publicURL   string
	byEmail     *string
	mails       int // an hour
	smtp        string
	encryption  *string
	smtpUser    string
	smtpPass    string
	mailFrom    string
	issuers     string
	firebase    string
	webAPIKey   string
	emulator    string
	unsigned    bool
	invitedOnly bool
	domains     []string
	origins     []string
}

// Define defines all of them.
func (s *SignInFlags) Define(f *pflag.FlagSet) {
	f.StringVar(&s.publicURL, "public-url", "",
		"`URL` under which people reach this server (default http:// and the address of --listen)")
	s.byEmail = launch.Choice(f, "email-sign-in", "sign people in with links by e-mail", "on", "off")
	f.IntVar(&s.mails, "sign-in-mails", defaultMails,
		"send at most `n` sign-in mails an hour in total; each network has a share of them")
	f.StringVar(&s.smtp, "smtp", "",
		"mail `server`, HOST or HOST:PORT; without one, a server on a loopback address prints its mails")
	s.encryption = launch.Choice(f, "smtp-encryption", "how the way to the mail server is encrypted", signin.StartTLS,
		signin.TLS, signin.NoTLS)
	f.StringVar(&s.smtpUser, "smtp-user", "", "`name` to sign in to the mail server with")
	f.StringVar(&s.smtpPass, "smtp-password", "",
		"`password` for that; SWAR_SMTP_PASSWORD keeps it out of the process list")
	f.StringVar(&s.mailFrom, "mail-from", "", "`sender` of mails, such as 'Swar <no-reply@example.org>'")
	f.StringVar(&s.issuers, "issuers", "", "JSON `file` with a list of other issuers whose ID tokens are accepted")
	f.StringVar(&s.firebase, "firebase", "", "`project` of Firebase Authentication whose ID tokens are accepted")
	f.StringVar(&s.webAPIKey, "firebase-web-api-key", "",
		"web API `key` of that project, with which pages sign people in; it is not a secret")
	f.StringVar(&s.emulator, "firebase-emulator", "",
		"for development: `address` of a Firebase Auth emulator, whose tokens have no signature")
	f.BoolVar(&s.unsigned, "accept-unsigned-tokens", false,
		"accept unsigned tokens of --firebase-emulator, which anyone can create")
	f.BoolVar(&s.invitedOnly, "invited-only", false,
		"allow sign-in only for invited addresses and those of --domain")
	f.StringArrayVar(&s.domains, "domain", nil, "`domain` whose e-mail addresses need no invitation; can be repeated")
	f.StringArrayVar(&s.origins, "portal-origin", nil,
		"`origin` of another web page that may use the portal, such as https://portal.example.org; can be repeated")
}

// Check refuses settings that contradict one another, or cannot be meant.
func (s *SignInFlags) Check(cmd *cobra.Command) error {
	switch {
	case s.smtp != "" && s.mailFrom == "":
		return launch.BadUsage(cmd, "--smtp needs a sender; name it with --mail-from 'Swar <no-reply@example.org>'")
	case s.smtp == "" && (s.mailFrom != "" || s.smtpUser != "" || s.smtpPass != ""):
		return launch.BadUsage(cmd,
			"--mail-from, --smtp-user and --smtp-password need a mail server; name it with --smtp HOST")
	case s.smtp != "" && !isMailServer(s.smtp):
		return launch.BadUsage(cmd, "--smtp %q: want HOST or HOST:PORT", s.smtp)
	case s.mails < 1 || s.mails > signin.MaxTotalLimit:
		return launch.BadUsage(cmd, "--sign-in-mails %d: want 1 to %d", s.mails, signin.MaxTotalLimit)
	case s.emulator != "" && (!s.unsigned || s.firebase == ""):
		return launch.BadUsage(cmd,
			"--firebase-emulator needs --firebase demo-…, and --accept-unsigned-tokens, because anyone can create its tokens")
	case s.unsigned && s.emulator == "":
		return launch.BadUsage(cmd, "--accept-unsigned-tokens is for --firebase-emulator")
	case s.webAPIKey != "" && s.firebase == "":
		return launch.BadUsage(cmd, "--firebase-web-api-key needs the project; name it with --firebase")
	case len(s.domains) > 0 && !s.invitedOnly:
		return launch.BadUsage(cmd, "--domain requires --invited-only")
	}
	return nil
}

// isMailServer reports whether address can be that of a mail server, with or without a port.
func isMailServer(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		return err == nil && n > 0
	}
	_, err = netip.ParseAddr(address)
	return err == nil || !strings.Contains(address, ":")
}

// address is where people reach the server.
func (s *SignInFlags) address(listen string) string {
	if s.publicURL != "" {
		return strings.TrimSuffix(s.publicURL, "/")
	}
	return launch.URLOf(listen)
}

// addresses are all under which people may reach the server, that of address first.
func (s *SignInFlags) addresses(listen string) []string {
	if s.publicURL != "" {
		return []string{s.address(listen)}
	}
	return launch.URLsOf(listen)
}

// mailer returns what sends mails: nil where there is no way to. listen is where the server listens, show is where it
// may print mails.
func (s *SignInFlags) mailer(ctx context.Context, listen string, show io.Writer) (signin.Mailer, error) {
	if s.smtp != "" {
		c := signin.SMTPConfig{Host: s.smtp, Encryption: *s.encryption, Username: s.smtpUser, Password: s.smtpPass,
			From: s.mailFrom}
		if host, port, err := net.SplitHostPort(s.smtp); err == nil {
			c.Host = host
			c.Port, _ = strconv.Atoi(port) // was checked
		}
		return signin.NewSMTP(c)
	}
	if !launch.IsLoopback(ctx, listen) {
		return nil, nil // a printed link would be visible to others
	}
	return signin.NewConsole(show, listen)
}

// mailDelivery returns how m delivers mails.
func (s *SignInFlags) mailDelivery(m signin.Mailer) string {
	switch {
	case m == nil:
		return "none"
	case s.smtp != "":
		return "smtp"
	}
	return "printed"
}

// trusted returns the issuers of the settings.
func (s *SignInFlags) trusted() ([]signin.External, error) {
	var all []signin.External
	if s.issuers != "" {
		b, err := os.ReadFile(s.issuers)
		if err != nil {
			return nil, fmt.Errorf("reading the issuers: %w", err)
		}
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.DisallowUnknownFields()
		if err := d.Decode(&all); err != nil {
			return nil, fmt.Errorf(`%s: %w; want a list such as [{"issuer": "https://login.example.org", "audiences": ["swar"]}]`, s.issuers, err)
		}
	}
	if s.firebase != "" && s.emulator == "" {
		all = append(all, signin.Firebase(s.firebase))
	}
	return all, nil
}

// allowed returns a check that mails go only to members; nil allows all addresses.
func (s *SignInFlags) allowed(store tenant.Store) func(context.Context, string) (bool, error) {
	if !s.invitedOnly {
		return nil
	}
	return func(ctx context.Context, email string) (invited bool, err error) {
		_, domain, _ := strings.Cut(email, "@")
		if slices.ContainsFunc(s.domains, func(d string) bool { return strings.EqualFold(d, domain) }) {
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
