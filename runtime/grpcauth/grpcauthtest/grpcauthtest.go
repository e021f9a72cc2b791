// Package grpcauthtest makes authorities and certificates for tests of processes that know one another.
package grpcauthtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/grpcauth"
)

// Token is one that can be used where tests need any.
const Token = "a-token-that-nobody-else-has"

// Shared returns credentials of a token alone.
func Shared(token string) grpcauth.Credentials {
	t, err := grpcauth.NewToken(token)
	if err != nil {
		panic(err) // of the test
	}
	return grpcauth.Credentials{Token: t}
}

// Authority signs certificates. It is good for a day around the time when it was made, as they are unless they say
// something else.
type Authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New returns another authority on every call.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t}
	a.cert, a.key = a.sign(&x509.Certificate{
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	})
	return a
}

// Leaf is a certificate to be made.
type Leaf struct {
	URIs      []string           // names; see [grpcauth.Identity]
	NotBefore time.Time          // zero: an hour ago
	NotAfter  time.Time          // zero: in an hour
	Usages    []x509.ExtKeyUsage // nil: of a server and a client
}

// Name is the only URI of a certificate for a role in a fleet that tests share.
func Name(role grpcauth.Role) string {
	return grpcauth.Identity{Namespace: "shop", Name: "hindi", Role: role}.String()
}

// Issue makes a certificate for a role in the fleet of the tests. It returns the files in a new folder.
func (a *Authority) Issue(role grpcauth.Role) grpcauth.Files {
	a.t.Helper()
	return a.Write(a.t.TempDir(), Leaf{URIs: []string{Name(role)}})
}

// Open is Issue, and opens the files.
func (a *Authority) Open(role grpcauth.Role) *grpcauth.Certificates {
	a.t.Helper()
	c, err := grpcauth.Open(a.Issue(role), slog.New(slog.DiscardHandler))
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// Write issues a certificate and writes tls.crt, tls.key and ca.crt to folder. Files of these names are replaced.
func (a *Authority) Write(folder string, l Leaf) grpcauth.Files {
	a.t.Helper()
	template := &x509.Certificate{
		KeyUsage: x509.KeyUsageDigitalSignature, NotBefore: l.NotBefore, NotAfter: l.NotAfter, ExtKeyUsage: l.Usages,
	}
	if l.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
	}
	if l.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	if l.Usages == nil {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	for _, text := range l.URIs {
		u, err := url.Parse(text)
		if err != nil {
			a.t.Fatal(err)
		}
		template.URIs = append(template.URIs, u)
	}
	cert, key := a.sign(template)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	files := grpcauth.Files{
		Cert: filepath.Join(folder, "tls.crt"), Key: filepath.Join(folder, "tls.key"),
		CA: filepath.Join(folder, "ca.crt"),
	}
	for name, block := range map[string]*pem.Block{
		files.Cert: {Type: "CERTIFICATE", Bytes: cert.Raw},
		files.Key:  {Type: "PRIVATE KEY", Bytes: der},
		files.CA:   {Type: "CERTIFICATE", Bytes: a.cert.Raw},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return files
}

// sign makes a certificate of template with a new key. The first one signs itself.
func (a *Authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		a.t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}
