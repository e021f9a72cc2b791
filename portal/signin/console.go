package signin

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
)

// Console is a [Mailer] for development that prints mails. They have what is needed to sign in as anyone.
type Console struct {
	mu sync.Mutex
	w  io.Writer
}

// NewConsole refuses to print mails unless listen, the host:port of this server, is on this machine only.
func NewConsole(w io.Writer, listen string) (*Console, error) {
	if host, _, err := net.SplitHostPort(listen); err != nil || !isLoopback(host) {
		return nil, fmt.Errorf("sign-in links are printed only by a server that listens on 127.0.0.1 or localhost, and this one listens on %q; name an SMTP server", listen)
	}
	return &Console{w: w}, nil
}

// Send implements [Mailer].
func (c *Console) Send(_ context.Context, m Mail) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := fmt.Fprintf(c.w, "\nMail to %s (printed, not sent)\n%s\n\n%s\n", m.To, m.Subject, m.Text)
	return err
}
