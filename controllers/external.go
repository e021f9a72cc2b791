package controllers

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/certs"
	"github.com/swar-tts/swar/controllers/keda"
	"github.com/swar-tts/swar/controllers/plan"
	"github.com/swar-tts/swar/controllers/resources"
	"github.com/swar-tts/swar/runtime/contract"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// answerScalers lets KEDA ask what fleets have to do, until ctx ends. Only the operator that acts knows that, and only
// it listens: who calls another one is refused at once, and calls again.
func answerScalers(ctx context.Context, address string, c *serverCertificate, s *Sizer) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for KEDA: %w", err)
	}
	return keda.New(s).Serve(ctx, l, &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: c.get})
}

// certificateEvery is how often a certificate is held against the authority.
const certificateEvery = time.Minute

// serverCertificate is what the operator shows to those who know it by its host names. It is kept in memory, and made
// anew in time.
type serverCertificate struct {
	store *AuthorityStore
	name  grpcauth.Identity
	hosts []string

	mu     sync.Mutex
	leaf   certs.Leaf
	pair   *tls.Certificate // of leaf; nil: there is none yet
	looked time.Time
}

// get returns the certificate. While the authority is out of reach, the last one goes on.
func (c *serverCertificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.store.Now()
	if c.pair != nil && now.Sub(c.looked) < certificateEvery {
		return c.pair, nil
	}
	ctx, cancel := context.WithTimeout(hello.Context(), 5*time.Second)
	defer cancel()
	c.looked = now
	if err := c.renewLocked(ctx, now); err != nil && c.pair == nil {
		return nil, err
	}
	return c.pair, nil
}

func (c *serverCertificate) renewLocked(ctx context.Context, now time.Time) error {
	authority, err := c.store.Get(ctx)
	if err != nil {
		return err
	}
	if c.pair != nil && c.leaf.Check(now, authority, c.name.URI(), c.hosts...) == nil {
		return nil
	}
	leaf, err := authority.Issue(now, c.name.URI(), c.hosts...)
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

// observeScalerCA hands a fleet that KEDA may scale the authority by which KEDA knows the operator: a
// TriggerAuthentication reads Secrets of its own namespace only.
func (r *Reconciler) observeScalerCA(
	ctx context.Context, fleet *v1alpha1.TTSDeployment, s *secrets,
) ([]plan.Problem, error) {
	if fleet.Spec.Scaling.Mode != v1alpha1.ScalingExternal {
		return nil, nil
	}
	authority, err := r.Authority.Get(ctx)
	if err != nil {
		return nil, err
	}
	name := resources.ScalerCASecret(fleet)
	live, err := r.secret(ctx, fleet, name)
	if err != nil {
		return nil, err
	}
	if string(live.Data[contract.TLSAuthority]) != string(authority.Trust) {
		data := map[string][]byte{contract.TLSAuthority: authority.Trust}
		s.wanted = append(s.wanted, resources.Secret(fleet, name, corev1.SecretTypeOpaque, data))
	}
	return nil, nil
}
