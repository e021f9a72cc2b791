package signin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdmail "net/mail"
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
	client func() (*mail.Client, error)
	from   *stdmail.Address
	domain string
}

// NewSMTP checks the configuration. It does not connect.
func NewSMTP(cfg SMTPConfig) (*SMTP, error) {
	from, err := stdmail.ParseAddress(cfg.From)
	if err != nil {
		return nil, fmt.Errorf("sender %q: write it as Name <name@example.org>: %w", cfg.From, err)
	}
	options := []mail.Option{mail.WithTimeout(sendTime)}
	port := 587
	switch cfg.Encryption {
	case StartTLS, "":
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case TLS:
		port, options = 465, append(options, mail.WithSSL())
	case NoTLS:
		if !isLoopback(cfg.Host) || cfg.Username != "" {
			return nil, errors.New("mails that sign people in are sent without encryption only to a mail server on this machine, and without a password; use starttls or tls")
		}
		port, options = 25, append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		return nil, fmt.Errorf("encryption %q is none of starttls, tls and none", cfg.Encryption)
	}
	if cfg.Port != 0 {
		port = cfg.Port
	}
	options = append(options, mail.WithPort(port))
	if cfg.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(cfg.Username), mail.WithPassword(cfg.Password))
	}
	if cfg.TLS != nil {
		options = append(options, mail.WithTLSConfig(cfg.TLS.Clone()))
	}
	s := &SMTP{from: from, client: func() (*mail.Client, error) { return mail.NewClient(cfg.Host, options...) }}
	_, s.domain, _ = strings.Cut(from.Address, "@")
	if _, err := s.client(); err != nil {
		return nil, fmt.Errorf("mail server %s: %w", cfg.Host, err)
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
	message.SetMessageIDWithValue(encode(id[:16]) + "@" + s.domain) // the library's own would tell the name of this machine
	message.SetGenHeader("Auto-Submitted", "auto-generated")        // RFC 3834: nobody's holiday notice shall answer
	message.SetBodyString(mail.TypeTextPlain, m.Text)
	message.AddAlternativeString(mail.TypeTextHTML, m.HTML)
	client, err := s.client()
	if err != nil {
		return err
	}
	return client.DialAndSendWithContext(ctx, message)
}
