package signin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	stdmail "net/mail"
	"slices"
	"strings"

	"github.com/wneessen/go-mail"
)

// Encryption of the way to the mail server.
const (
	StartTLS = "starttls" // begins in the clear and must become encrypted; port 587
	TLS      = "tls"      // encrypted from the first byte; port 465
	NoTLS    = "none"     // for a mail server on this machine, without a password; port 25
)

// SMTPConfig names the mail server.
type SMTPConfig struct {
	Host       string
	Port       int    // 0 means that of Encryption
	Encryption string // empty means StartTLS
	Username   string // empty means none
	Password   string
	From       string // such as "Swar <no-reply@example.org>"
	TLS        *tls.Config
}

// SMTP is a [Mailer] that hands mails to a mail server, with a connection for each.
type SMTP struct {
	host    string
	options []mail.Option
	dial    mail.DialContextFunc
	from    *stdmail.Address
	domain  string
}

// NewSMTP checks the configuration. It does not connect.
func NewSMTP(cfg SMTPConfig) (*SMTP, error) {
	from, err := stdmail.ParseAddress(cfg.From)
	if err != nil {
		return nil, fmt.Errorf("sender %q: write it as Name <name@example.org>: %w", cfg.From, err)
	}
	secure := &tls.Config{ServerName: cfg.Host, MinVersion: tls.VersionTLS12}
	if cfg.TLS != nil {
		secure = cfg.TLS.Clone()
	}
	s := &SMTP{host: cfg.Host, from: from, dial: new(net.Dialer).DialContext,
		options: []mail.Option{mail.WithTimeout(sendTime), mail.WithTLSConfig(secure)}}
	_, s.domain, _ = strings.Cut(from.Address, "@")
	port := 587
	switch cfg.Encryption {
	case StartTLS, "":
		s.options = append(s.options, mail.WithTLSPolicy(mail.TLSMandatory))
	case TLS:
		port, s.dial = 465, (&tls.Dialer{Config: secure}).DialContext
		s.options = append(s.options, mail.WithSSL())
	case NoTLS:
		if !isLoopback(cfg.Host) || cfg.Username != "" {
			return nil, errors.New("mails that sign people in are sent without encryption only to a mail server on this machine, and without a password; use starttls or tls")
		}
		port, s.options = 25, append(s.options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		return nil, fmt.Errorf("encryption %q is not one of starttls, tls and none", cfg.Encryption)
	}
	if cfg.Port != 0 {
		port = cfg.Port
	}
	s.options = append(s.options, mail.WithPort(port))
	if cfg.Username != "" { // plain ones too: the way is encrypted
		s.options = append(s.options, mail.WithUsername(cfg.Username), mail.WithPassword(cfg.Password),
			mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthPlain, mail.SMTPAuthLogin))
	}
	if _, err := mail.NewClient(s.host, s.options...); err != nil {
		return nil, fmt.Errorf("mail server %q: %w", cfg.Host, err)
	}
	return s, nil
}

// Send implements [Mailer].
func (s *SMTP) Send(ctx context.Context, m Mail) error {
	message := mail.NewMsg(mail.WithNoDefaultUserAgent())
	message.FromMailAddress(s.from)
	if err := message.To(m.To); err != nil {
		return errors.New("the address is not one that can be mailed")
	}
	message.Subject(m.Subject)
	message.SetDate()
	id := newSecret()
	// the library's default contains the name of this machine
	message.SetMessageIDWithValue(encode(id[:16]) + "@" + s.domain)
	message.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic replies
	message.SetBodyString(mail.TypeTextPlain, m.Text)
	message.AddAlternativeString(mail.TypeTextHTML, m.HTML)

	// The library forgets a connection on which it could not sign in or encrypt, and does not look at ctx once it is
	// connected.
	ctx, done := context.WithCancel(ctx)
	defer done()
	dial := func(within context.Context, network, address string) (net.Conn, error) {
		conn, err := s.dial(within, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}
	client, err := mail.NewClient(s.host, append(slices.Clip(s.options), mail.WithDialContextFunc(dial))...)
	if err != nil {
		return err
	}
	err = client.DialAndSendWithContext(ctx, message)
	if err == nil || message.IsDelivered() { // a failed goodbye is no reason to send twice
		return nil
	}
	if e, ok := errors.AsType[*mail.SendError](err); ok && e.ErrorCode() >= 500 {
		return fmt.Errorf("%w: %w", ErrMailRefused, err)
	}
	return err
}
