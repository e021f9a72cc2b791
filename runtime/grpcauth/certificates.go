package grpcauth

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// checkInterval is how often files are looked at, at most, which is then no work for however many connections.
const checkInterval = time.Second

// Files are where a process has its certificate, and by whom those of others must be signed. All of them are PEM.
type Files struct {
	Cert string // its own, followed by those of intermediate authorities
	Key  string
	CA   string // one certificate or several, so that an authority can be replaced
}

// Certificates are the current [Files]. They are reloaded after a change, which is noticed when a connection is made.
// What cannot be used, such as a file that is half written, changes nothing. They are safe for concurrent use.
type Certificates struct {
	files Files
	log   *slog.Logger

	mu        sync.Mutex
	good      *loaded
	checkedAt time.Time // last
	failed    string    // why what stands in the files now cannot be used, which was logged; empty when it can
}

// loaded is what has stood in the files together. It is not changed.
type loaded struct {
	raw      [3][]byte // of certificate, key and CA
	cert     tls.Certificate
	identity Identity
	roots    *x509.CertPool
	ca       string // file of the roots
}

// Open reads the files, and refuses them unless they can be used.
func Open(files Files, log *slog.Logger) (*Certificates, error) {
	c := &Certificates{files: files, log: log, checkedAt: time.Now()}
	raw, err := files.read()
	if err != nil {
		return nil, err
	}
	if c.good, err = files.load(raw); err != nil {
		return nil, err
	}
	warnIfExposed(files.Key, log)
	return c, nil
}

// Identity returns who this process is.
func (c *Certificates) Identity() Identity { return c.current().identity }

// ServerTLS is for servers that may be called by processes of some roles. Whom it refuses it logs, because a client is
// told no more than that its certificate is bad.
func (c *Certificates) ServerTLS(accepts ...Role) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			now := c.current()
			return &tls.Config{
				MinVersion:   tls.VersionTLS13,
				Certificates: []tls.Certificate{now.cert},
				ClientAuth:   tls.RequestClientCert, // which is demanded and verified below, with words of our own
				ClientCAs:    now.roots,
				VerifyConnection: func(s tls.ConnectionState) error {
					err := now.verify(s, x509.ExtKeyUsageClientAuth, accepts)
					if err != nil {
						c.log.Warn("a client was refused", "from", hello.Conn.RemoteAddr().String(), "error", err)
					}
					return err
				},
				SessionTicketsDisabled: true, // a session would outlive the certificate
			}, nil
		},
	}
}

// ClientTLS is for clients of servers that have a role. Certificates are verified by that and not by host names.
func (c *Certificates) ClientTLS(expects Role) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // it compares host names; what follows compares everything else, and the role
		VerifyConnection: func(s tls.ConnectionState) error {
			return c.current().verify(s, x509.ExtKeyUsageServerAuth, []Role{expects})
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &c.current().cert, nil
		},
	}
}

// current returns what the files hold, or held when they could be used last.
func (c *Certificates) current() *loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checkedAt) < checkInterval {
		return c.good
	}
	c.checkedAt = time.Now()
	raw, err := c.files.read()
	if err == nil && c.good.same(raw) {
		c.failed = ""
		return c.good
	}
	var fresh *loaded
	if err == nil {
		fresh, err = c.files.load(raw)
	}
	switch {
	case err == nil:
		c.good, c.failed = fresh, ""
		c.log.Info("the certificate was read again", "file", c.files.Cert, "until", fresh.cert.Leaf.NotAfter)
	case err.Error() != c.failed:
		c.failed = err.Error()
		c.log.Error("the new certificate cannot be used; going on with the last one", "error", err)
	}
	return c.good
}

// read reads all files. A change in between is found by what does not fit together, or by the next look.
func (f Files) read() (raw [3][]byte, err error) {
	for i, name := range []string{f.Cert, f.Key, f.CA} {
		if raw[i], err = readSecret(name); err != nil {
			return raw, err
		}
	}
	return raw, nil
}

// warnIfExposed says in the log that every user of the machine can read a secret.
func warnIfExposed(name string, log *slog.Logger) {
	if isExposed(name) {
		log.Warn("every user of this machine can read a secret; chmod 600 the file", "file", name)
	}
}

// isExposed reports whether every user can read a file. Secrets that Kubernetes or Docker mounts into a container are
// always of such a mode, and there is nobody else there.
func isExposed(name string) bool {
	if target, err := os.Readlink(name); err == nil && strings.HasPrefix(target, "..data/") {
		return false // of Kubernetes
	}
	if strings.HasPrefix(filepath.ToSlash(name), "/run/secrets/") || runtime.GOOS == "windows" {
		return false
	}
	is, err := os.Stat(name)
	return err == nil && is.Mode().IsRegular() && is.Mode().Perm()&0o004 != 0
}

// readSecret reads a small file.
func readSecret(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("cannot read %s: %w", name, e.Err)
	}
	return b, err
}

// load makes something of what stands in the files.
func (f Files) load(raw [3][]byte) (*loaded, error) {
	l := &loaded{raw: raw, roots: x509.NewCertPool(), ca: f.CA}
	if !l.roots.AppendCertsFromPEM(raw[2]) {
		return nil, fmt.Errorf("%s holds no certificate in PEM; it must be that of the authority", f.CA)
	}
	var err error
	if l.cert, err = tls.X509KeyPair(raw[0], raw[1]); err != nil {
		return nil, fmt.Errorf("%s and %s are not a certificate and its key in PEM: %w", f.Cert, f.Key, err)
	}
	if err := checkTime(l.cert.Leaf, time.Now()); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Cert, err)
	}
	if l.identity, err = identityOf(l.cert.Leaf); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Cert, err)
	}
	return l, nil
}

func (l *loaded) same(raw [3][]byte) bool {
	for i := range raw {
		if !bytes.Equal(l.raw[i], raw[i]) {
			return false
		}
	}
	return true
}

// verify checks the certificate that the other side of a connection has shown.
func (l *loaded) verify(s tls.ConnectionState, usage x509.ExtKeyUsage, accepts []Role) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("no certificate was shown")
	}
	leaf, now := s.PeerCertificates[0], time.Now()
	if err := checkTime(leaf, now); err != nil {
		return err
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: l.roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage},
	})
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		return fmt.Errorf("the certificate was signed by another authority than that in %s", l.ca)
	}
	if err != nil {
		return fmt.Errorf("the certificate cannot be trusted: %w", err)
	}
	peer, err := identityOf(leaf)
	if err != nil {
		return err
	}
	return l.identity.accept(peer, accepts)
}

// checkTime refuses a certificate that is not good now.
func checkTime(cert *x509.Certificate, now time.Time) error {
	switch {
	case now.After(cert.NotAfter):
		return fmt.Errorf("the certificate has expired on %s; renew it", cert.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(cert.NotBefore):
		return fmt.Errorf("the certificate is good from %s on only; wait, or set the clock of this machine",
			cert.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}
