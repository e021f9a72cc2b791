package externalmetrics_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/swar-tts/swar/controllers/externalmetrics"
)

// authority signs certificates of clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{}
	a.cert, a.key = a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "front-proxy-ca"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// sign makes a certificate that is good for a day from noon; without an authority it signs itself.
func (a authority) sign(t *testing.T, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(noon.Unix()), noon, noon.Add(24*time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func (a authority) client(t *testing.T, name string, usage ...x509.ExtKeyUsage) *tls.ConnectionState {
	t.Helper()
	cert, _ := a.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: name}, ExtKeyUsage: usage})
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
}

func (a authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
}

// announced is what the API server says.
type announced struct {
	authority, names string
	err              error
	reads            int
}

func (a *announced) read(context.Context) (*corev1.ConfigMap, error) {
	a.reads++
	data := map[string]string{"requestheader-client-ca-file": a.authority, "requestheader-allowed-names": a.names}
	return &corev1.ConfigMap{Data: data}, a.err
}

func TestWhoIsTheAPIServer(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	names := `["front-proxy-client", "aggregator"]`
	client := ours.client(t, "aggregator", x509.ExtKeyUsageClientAuth)
	for name, tt := range map[string]struct {
		said  announced
		state *tls.ConnectionState
		after time.Duration
		want  string // empty: it is
	}{
		"one of the names":              {said: announced{authority: ours.pem(), names: names}, state: client},
		"any name, where none is said":  {said: announced{authority: ours.pem()}, state: client},
		"any name, of an empty list":    {said: announced{authority: ours.pem(), names: "[]"}, state: client},
		"until the certificate's end":   {said: announced{authority: ours.pem(), names: names}, state: client, after: 24 * time.Hour},
		"after the certificate's end":   {said: announced{authority: ours.pem(), names: names}, state: client, after: 24*time.Hour + time.Second, want: "expired"},
		"another name":                  {said: announced{authority: ours.pem(), names: `["front-proxy-client"]`}, state: client, want: `is for "aggregator"`},
		"another authority":             {said: announced{authority: other.pem(), names: names}, state: client, want: "not that of the API server"},
		"a server's certificate":        {said: announced{authority: ours.pem()}, state: ours.client(t, "aggregator", x509.ExtKeyUsageServerAuth), want: "not that of the API server"},
		"no certificate":                {said: announced{authority: ours.pem()}, state: &tls.ConnectionState{}, want: "kubectl get --raw"},
		"no TLS":                        {said: announced{authority: ours.pem()}, want: "kubectl get --raw"},
		"no aggregation layer":          {state: client, want: "not known yet"},
		"names that are none":           {said: announced{authority: ours.pem(), names: "a"}, state: client, want: "not known yet"},
		"an API server that says no":    {said: announced{authority: ours.pem(), err: errors.New("forbidden")}, state: client, want: "not known yet"},
		"an authority that is not read": {said: announced{authority: "---"}, state: client, want: "not known yet"},
	} {
		p := externalmetrics.NewFrontProxy(tt.said.read, func() time.Time { return noon.Add(tt.after) }, quiet)
		err := p.Check(t.Context(), tt.state)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want something with %q", name, err, tt.want)
		}
	}
}

// TestWhenItIsReadAgain: each minute, and at once, but not more often than every five seconds, for who is not known.
func TestWhenItIsReadAgain(t *testing.T) {
	ours, next := newAuthority(t), newAuthority(t)
	said := &announced{authority: ours.pem()}
	now := noon
	p := externalmetrics.NewFrontProxy(said.read, func() time.Time { return now }, quiet)
	known := ours.client(t, "a", x509.ExtKeyUsageClientAuth)
	unknown := next.client(t, "a", x509.ExtKeyUsageClientAuth)
	for _, step := range []struct {
		after     time.Duration
		state     *tls.ConnectionState
		reads     int
		isRefused bool
	}{
		{0, known, 1, false},
		{time.Minute - 1, known, 1, false},
		{time.Minute, known, 2, false},
		{time.Minute + 5*time.Second - 1, unknown, 2, true},
		{time.Minute + 5*time.Second, unknown, 3, true},
		{time.Minute + 5*time.Second + 1, unknown, 3, true},
	} {
		now = noon.Add(step.after)
		if err := p.Check(t.Context(), step.state); (err != nil) != step.isRefused || said.reads != step.reads {
			t.Errorf("after %v: %v and %d reads; want %d", step.after, err, said.reads, step.reads)
		}
	}
	said.authority = next.pem() // the API server has been given another authority
	now = now.Add(5 * time.Second)
	if err := p.Check(t.Context(), unknown); err != nil {
		t.Error(err)
	}
	said.err = errors.New("away")
	now = now.Add(time.Hour)
	if err := p.Check(t.Context(), unknown); err != nil {
		t.Errorf("while the API server cannot be asked: %v", err)
	}
}

func TestReadyWhenTheAPIServerIsKnown(t *testing.T) {
	said := &announced{authority: newAuthority(t).pem(), err: errors.New("away")}
	now := noon
	p := externalmetrics.NewFrontProxy(said.read, func() time.Time { return now }, quiet)
	if err := p.Ready(t.Context()); err == nil {
		t.Error("it is ready without knowing anybody")
	}
	said.err = nil
	now = now.Add(5 * time.Second)
	if err := p.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	said.err = errors.New("away")
	now = now.Add(time.Hour)
	if err := p.Ready(t.Context()); err != nil {
		t.Errorf("while the API server is away: %v", err)
	}
}
