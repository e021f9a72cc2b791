package controllers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/certs"
	"github.com/swar-tts/swar/controllers/resources"
	"github.com/swar-tts/swar/runtime/contract"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// identity is how the operator authenticates to routers: with a certificate of its authority, which is kept in a folder
// and never in the cluster, or by the token of a fleet in a service mesh.
type identity struct {
	store  *AuthorityStore
	client client.Client
	name   grpcauth.Identity
	log    *slog.Logger

	mu    sync.Mutex
	open  *grpcauth.Certificates
	leaf  certs.Leaf
	files string // folder
}

// Start implements controller-runtime's Runnable: it removes the folder in the end.
func (i *identity) Start(ctx context.Context) error {
	<-ctx.Done()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.files == "" {
		return nil
	}
	return os.RemoveAll(i.files)
}

// buffered is how many bytes a connection to a router reads or writes at once.
const buffered = 2 << 10

// window is how many bytes of a router may be on the way.
const window = 256 << 10

// dial returns a connection to a router of a fleet, named NAMESPACE/NAME.
func (i *identity) dial(fleet, address string) (*grpc.ClientConn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	credentials, err := i.credentials(ctx, fleet)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	options, err := credentials.DialOptions(host, grpcauth.Router)
	if err != nil {
		return nil, err
	}
	// A router sends a few hundred bytes each second, and there may be hundreds of routers.
	options = append(options,
		grpc.WithReadBufferSize(buffered), grpc.WithWriteBufferSize(buffered),
		grpc.WithStaticStreamWindowSize(window),
		grpc.WithStaticConnWindowSize(window), // else each word is answered with a ping
	)
	return grpc.NewClient("passthrough:///"+address, options...)
}

func (i *identity) credentials(ctx context.Context, name string) (c grpcauth.Credentials, err error) {
	namespace, short, _ := strings.Cut(name, "/")
	fleet := &v1alpha1.TTSDeployment{}
	if err := i.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: short}, fleet); err != nil {
		return c, err
	}
	token := resources.TokenSecret(fleet)
	if token == "" {
		c.Certificates, err = i.certificates(ctx)
		return c, err
	}
	s := &corev1.Secret{}
	if err := i.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: token}, s); err != nil {
		return c, err
	}
	c.Plaintext = true
	c.Token, err = grpcauth.NewToken(string(s.Data[contract.Token]))
	return c, err
}

// certificates of the operator, renewed in time.
func (i *identity) certificates(ctx context.Context) (*grpcauth.Certificates, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	authority, err := i.store.Get(ctx)
	if err != nil {
		return nil, err
	}
	if i.open != nil && i.leaf.Check(i.store.Now(), authority, i.name.URI()) == nil {
		return i.open, nil
	}
	if i.leaf, err = authority.Issue(i.store.Now(), i.name.URI()); err != nil {
		return nil, err
	}
	if i.files == "" {
		if i.files, err = os.MkdirTemp("", "swar-operator-"); err != nil {
			return nil, err
		}
	}
	files := grpcauth.Files{
		Cert: filepath.Join(i.files, contract.TLSCert), Key: filepath.Join(i.files, contract.TLSKey),
		CA: filepath.Join(i.files, contract.TLSAuthority),
	}
	err = errors.Join(os.WriteFile(files.Cert, i.leaf.Cert, 0o600), os.WriteFile(files.Key, i.leaf.Key, 0o600),
		os.WriteFile(files.CA, i.leaf.CA, 0o600))
	if err != nil {
		return nil, err
	}
	i.open, err = grpcauth.Open(files, i.log)
	return i.open, err
}

// Secrets of the operator's namespace that the portal of a release is started with.
const (
	PortalTokenSecret = "swar-portal-token"
	PortalTLSSecret   = "swar-portal-tls"
)

// portalEvery is how often the portal's Secrets are looked at.
const portalEvery = 10 * time.Minute

// maintainPortal keeps the Secrets of the portal as they must be until ctx ends.
func (s *AuthorityStore) maintainPortal(ctx context.Context, address string, log *slog.Logger) error {
	for wait := time.Second; ; {
		if err := s.ensurePortal(ctx, address); err != nil && ctx.Err() == nil {
			log.Error("the Secrets of the portal cannot be written; trying again", "error", err)
			wait = min(2*wait, time.Minute)
		} else {
			wait = portalEvery
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *AuthorityStore) ensurePortal(ctx context.Context, address string) error {
	if _, err := s.PortalToken(ctx); err != nil {
		return err
	}
	authority, err := s.Get(ctx)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("the portal's address %s: %w", address, err)
	}
	name := grpcauth.Identity{Namespace: s.Namespace, Name: "swar", Role: grpcauth.Portal}.URI()
	live := &corev1.Secret{}
	err = s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: PortalTLSSecret}, live)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if leafOf(live).Check(s.Now(), authority, name, host) == nil {
		return nil
	}
	leaf, err := authority.Issue(s.Now(), name, host)
	if err != nil {
		return err
	}
	return s.apply(ctx, PortalTLSSecret, corev1.SecretTypeTLS, leafData(leaf))
}

// PortalToken returns the token that the portal and all routers share, which it makes at first.
func (s *AuthorityStore) PortalToken(ctx context.Context) ([]byte, error) {
	live := &corev1.Secret{}
	err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: PortalTokenSecret}, live)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if len(live.Data[contract.Token]) > 0 {
		return live.Data[contract.Token], nil
	}
	token := []byte(rand.Text())
	return token, s.apply(ctx, PortalTokenSecret, corev1.SecretTypeOpaque, map[string][]byte{contract.Token: token})
}

// apply writes a Secret of the operator's own namespace.
func (s *AuthorityStore) apply(ctx context.Context, name string, kind corev1.SecretType, data map[string][]byte) error {
	u, err := toUnstructured(&corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Labels: resources.Managed},
		Type:       kind,
		Data:       data,
	})
	if err != nil {
		return err
	}
	return s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager),
		client.ForceOwnership)
}
