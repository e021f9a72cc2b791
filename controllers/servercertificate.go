package controllers

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"github.com/swar-tts/swar/controllers/certs"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// certificateEvery is how often a certificate is held against the authority.
const certificateEvery = time.Minute

// ServerCertificate is the certificate of a server that clients verify by host name. It is kept in memory, and renewed
// in time. It is safe for concurrent use.
type ServerCertificate struct {
	Authority *AuthorityStore
	Name      grpcauth.Identity
	Hosts     []string

	mu        sync.Mutex
	leaf      certs.Leaf
	pair      *tls.Certificate // of leaf; nil: there is none yet
	checkedAt time.Time
}

// Get returns the certificate, as [tls.Config] expects. While the authority is unreachable, the last one stays.
func (c *ServerCertificate) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.current(hello.Context())
}

// Ready returns why there is no certificate, or nil.
func (c *ServerCertificate) Ready(ctx context.Context) error {
	_, err := c.current(ctx)
	return err
}

func (c *ServerCertificate) current(ctx context.Context) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Authority.Now()
	if c.pair != nil && now.Sub(c.checkedAt) < certificateEvery {
		return c.pair, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c.checkedAt = now
	if err := c.renewLocked(ctx, now); err != nil && c.pair == nil {
		return nil, err
	}
	return c.pair, nil
}

func (c *ServerCertificate) renewLocked(ctx context.Context, now time.Time) error {
	authority, err := c.Authority.Get(ctx)
	if err != nil {
		return err
	}
	if c.pair != nil && c.leaf.Check(now, authority, c.Name.URI(), c.Hosts...) == nil {
		return nil
	}
	leaf, err := authority.Issue(now, c.Name.URI(), c.Hosts...)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(leaf.Cert, leaf.Key)
	if err != nil {
		return err
	}
	c.leaf, c.pair = leaf, &pair
	return nil
}
