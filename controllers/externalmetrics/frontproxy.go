package externalmetrics

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Where the API server says by which certificate it hands on requests.
const (
	FrontProxyNamespace = "kube-system"
	FrontProxyConfigMap = "extension-apiserver-authentication"

	authorityEntry = "requestheader-client-ca-file"
	namesEntry     = "requestheader-allowed-names"
)

const (
	frontProxyEvery = time.Minute     // it is read again
	unknownEvery    = 5 * time.Second // also the shortest time between reads for an unknown authority's certificate
	readLimit       = 3 * time.Second
)

// FrontProxy knows the API server by the certificate with which it hands on requests. It is safe for concurrent use.
type FrontProxy struct {
	read func(context.Context) (*corev1.ConfigMap, error)
	now  func() time.Time
	log  *slog.Logger

	mu        sync.Mutex
	readAt    time.Time      // when read was called last
	authority *x509.CertPool // nil until it has been read
	names     []string       // common names that may call; empty for all
}

// NewFrontProxy returns a front proxy that reads FrontProxyConfigMap by read.
func NewFrontProxy(
	read func(context.Context) (*corev1.ConfigMap, error), now func() time.Time, log *slog.Logger,
) *FrontProxy {
	return &FrontProxy{read: read, now: now, log: log}
}

// Check refuses callers that do not show the certificate of the API server.
func (f *FrontProxy) Check(ctx context.Context, state *tls.ConnectionState) error {
	if state == nil || len(state.PeerCertificates) == 0 {
		return errors.New("no client certificate is shown: call by way of the API server, such as with kubectl get --raw")
	}
	f.refresh(ctx, frontProxyEvery)
	err := f.verify(state.PeerCertificates)
	if err != nil && f.refresh(ctx, unknownEvery) {
		err = f.verify(state.PeerCertificates)
	}
	return err
}

// Ready returns why no client can be verified, or nil.
func (f *FrontProxy) Ready(ctx context.Context) error {
	f.refresh(ctx, frontProxyEvery)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.authority == nil {
		return fmt.Errorf("the ConfigMap %s/%s has not been read: see the log", FrontProxyNamespace,
			FrontProxyConfigMap)
	}
	return nil
}

// refresh reads the ConfigMap again after a time, and reports whether it has. One caller reads at a time; the others
// use the last content, which stays valid while the API server is unreachable.
func (f *FrontProxy) refresh(ctx context.Context, older time.Duration) bool {
	f.mu.Lock()
	now := f.now()
	if f.authority == nil {
		older = min(older, unknownEvery)
	}
	if !f.readAt.IsZero() && now.Sub(f.readAt) < older {
		f.mu.Unlock()
		return false
	}
	f.readAt = now
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readLimit) // it is for others, too
	defer cancel()
	authority, names, err := f.load(ctx)
	if err != nil {
		f.log.Error("it is not known by which certificate the API server calls", "error", err)
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.authority, f.names = authority, names
	return true
}

func (f *FrontProxy) load(ctx context.Context) (*x509.CertPool, []string, error) {
	m, err := f.read(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the ConfigMap %s/%s: %w", FrontProxyNamespace, FrontProxyConfigMap, err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM([]byte(m.Data[authorityEntry])) {
		return nil, nil,
			fmt.Errorf("the ConfigMap %s/%s has no certificate in %s: the aggregation layer is off, start the "+
				"API server with --requestheader-client-ca-file", FrontProxyNamespace, FrontProxyConfigMap, authorityEntry)
	}
	var names []string
	if text := m.Data[namesEntry]; text != "" {
		if err := json.Unmarshal([]byte(text), &names); err != nil {
			return nil, nil, fmt.Errorf("the entry %s of the ConfigMap %s/%s is not a list of names: %w",
				namesEntry, FrontProxyNamespace, FrontProxyConfigMap, err)
		}
	}
	return authority, names, nil
}

// verify refuses a chain that is not of the API server. The first certificate is the caller's.
func (f *FrontProxy) verify(chain []*x509.Certificate) error {
	f.mu.Lock()
	authority, names := f.authority, f.names
	f.mu.Unlock()
	if authority == nil {
		return errors.New("it is not known yet by which certificate the API server calls")
	}
	options := x509.VerifyOptions{
		Roots: authority, Intermediates: x509.NewCertPool(), CurrentTime: f.now(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	if _, err := chain[0].Verify(options); err != nil {
		return fmt.Errorf("the client certificate is not that of the API server: %w", err)
	}
	if name := chain[0].Subject.CommonName; len(names) > 0 && !slices.Contains(names, name) {
		return fmt.Errorf("the client certificate is for %.60q, and the API server's is for one of %q", name, names)
	}
	return nil
}
