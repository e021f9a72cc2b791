// Package certs makes the certificates of the processes of a fleet. There is a CA and the leaf certificates that it
// signs. It is pure: time and randomness are passed in, and PEM goes in and out. Where PEM is kept is not its matter.
package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"time"
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 30 * 24 * time.Hour

	renewLeaf = 10 * 24 * time.Hour // before its end: the operator may be down for this long

	// An authority is announced long before it signs, so that every process trusts it by then, in any order of
	// renewal; and it signs before a leaf could outlive the authority before it.
	announce  = 4 * leafLife
	succeeded = 2 * leafLife

	// backdate is how far a clock may be behind that of the operator.
	backdate = time.Hour
)

// Authority signs leaves. Others trust it by Trust.
type Authority struct {
	Cert  []byte // PEM, one certificate
	Key   []byte // PEM
	Trust []byte // PEM: Cert, and the authorities before and after it

	NextCert, NextKey []byte // of the one that signs after it; nil until it is announced
}

// Leaf is the certificate of one process, or of several that do the same.
type Leaf struct {
	Cert []byte // PEM, one certificate
	Key  []byte // PEM
	CA   []byte // PEM: verifies the certificates of others
}

// NewAuthority creates an authority that is valid for ten years.
func NewAuthority(now time.Time) (Authority, error) {
	cert, key, err := newAuthority(now)
	return Authority{Cert: cert, Key: key, Trust: cert}, err
}

// Renew returns the successor of a. For most of its life that is a itself, then a together with the next CA, which all
// peers then trust, and at last the next CA. changed reports whether it is another one, which must be stored.
func (a Authority) Renew(now time.Time) (next Authority, changed bool, err error) {
	c, _, err := a.parse()
	if err != nil {
		return a, false, err
	}
	if left := c.NotAfter.Sub(now); left >= announce {
		return a, false, nil
	} else if len(a.NextCert) == 0 {
		a.NextCert, a.NextKey, err = newAuthority(now)
		a.Trust = slices.Concat(a.Cert, a.NextCert)
		return a, true, err
	} else if left >= succeeded {
		return a, false, nil
	}
	return Authority{Cert: a.NextCert, Key: a.NextKey, Trust: slices.Concat(a.NextCert, a.Cert)}, true, nil
}

func newAuthority(now time.Time) (cert, keyPEM []byte, err error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Swar operator"},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(authorityLife),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true, // it signs leaves and no other authority
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	cert, err = sign(template, template, key, key)
	return cert, keyPEM, err
}

// Issue creates a leaf certificate named spiffe://swar/NAMESPACE/NAME/ROLE. It adds host names for servers that clients
// verify by host name. It is valid for 30 days.
func (a Authority) Issue(now time.Time, name *url.URL, hosts ...string) (Leaf, error) {
	authority, signer, err := a.parse()
	if err != nil {
		return Leaf{}, err
	}
	key, keyPEM, err := newKey()
	if err != nil {
		return Leaf{}, err
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: name.Path},
		NotBefore:   now.Add(-backdate),
		NotAfter:    now.Add(leafLife),
		URIs:        []*url.URL{name},
		DNSNames:    hosts,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := sign(template, authority, key, signer)
	if err != nil {
		return Leaf{}, err
	}
	return Leaf{Cert: cert, Key: keyPEM, CA: a.Trust}, nil
}

// Check returns why a leaf must be issued again, or nil. The reasons are another name, another CA, another set of
// trusted CAs, or a close expiry.
func (l Leaf) Check(now time.Time, a Authority, name *url.URL, hosts ...string) error {
	leaf, key, err := parsePair(l.Cert, l.Key)
	if err != nil {
		return err
	}
	authority, _, err := a.parse()
	if err != nil {
		return err
	}
	switch {
	case !bytes.Equal(l.CA, a.Trust):
		return errors.New("it trusts other authorities")
	case leaf.CheckSignatureFrom(authority) != nil:
		return errors.New("another authority has signed it")
	case !key.PublicKey.Equal(leaf.PublicKey):
		return errors.New("its key belongs to another certificate")
	case len(leaf.URIs) != 1 || leaf.URIs[0].String() != name.String():
		return errors.New("it is for another name")
	case fmt.Sprint(leaf.DNSNames) != fmt.Sprint(hosts):
		return errors.New("it is for other hosts")
	case now.After(leaf.NotAfter.Add(-renewLeaf)):
		return fmt.Errorf("it is good until %s only", leaf.NotAfter.Format(time.DateOnly))
	}
	return nil
}

// Reasons why a leaf cannot be used.
var (
	ErrMalformed = errors.New("it is not a certificate with its key")
	ErrExpired   = errors.New("it has expired")
	ErrInvalid   = errors.New("it is refused")
)

// CheckGiven returns why a leaf that was not issued here cannot be used, or nil. Peers must trust it, by the CAs in
// PEM, under its name. The error is one of the above, with what is wrong. Unlike with [Leaf.Check] the key may be of
// any kind, and there may be intermediate CAs and names of other systems.
func (l Leaf) CheckGiven(now time.Time, trust []byte, name *url.URL) error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(trust) {
		return fmt.Errorf("%w: ca.crt of the other side holds no certificate", ErrMalformed)
	}
	pair, err := tls.X509KeyPair(l.Cert, l.Key)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	leaf := pair.Leaf
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("%w on %s", ErrExpired, leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("%w: it is good from %s on only", ErrInvalid, leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	isOfOthers := func(u *url.URL) bool { return u.Scheme != name.Scheme || u.Host != name.Host }
	ours := slices.DeleteFunc(slices.Clone(leaf.URIs), isOfOthers)
	if len(ours) != 1 || ours[0].String() != name.String() {
		return fmt.Errorf("%w: of the URIs it is for, %v, just one must be of Swar, %s", ErrInvalid, leaf.URIs, name)
	}
	between := x509.NewCertPool()
	for _, c := range parseAll(l.Cert)[1:] {
		between.AddCert(c)
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now})
	if err != nil {
		return fmt.Errorf("%w by ca.crt of the other side: %w", ErrInvalid, err)
	}
	return nil
}

// Expiry returns until when the first certificate of some PEM is good.
func Expiry(certPEM []byte) (time.Time, error) {
	all := parseAll(certPEM)
	if len(all) == 0 {
		return time.Time{}, errors.New("there is no certificate")
	}
	return all[0].NotAfter, nil
}

// RenewAt returns when a leaf that is good until the given time is to be made anew.
func RenewAt(expiry time.Time) time.Time { return expiry.Add(-renewLeaf) }

func (a Authority) parse() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	cert, key, err := parsePair(a.Cert, a.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("the authority: %w", err)
	}
	return cert, key, nil
}

func parsePair(certPEM, keyPEM []byte) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certs := parseAll(certPEM)
	if len(certs) == 0 {
		return nil, nil, errors.New("there is no certificate")
	}
	block, _ := pem.Decode(keyPEM)
	if block == nil {
		return nil, nil, errors.New("there is no key")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("the key cannot be read: %w", err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, errors.New("the key is of another kind than ECDSA")
	}
	return certs[0], key, nil
}

// parseAll returns the certificates of some PEM that can be read.
func parseAll(text []byte) (all []*x509.Certificate) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			all = append(all, c)
		}
	}
	return all
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial.Add(serial, big.NewInt(1))
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	return encode(der), nil
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
