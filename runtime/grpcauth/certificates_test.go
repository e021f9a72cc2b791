package grpcauth_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
)

var quiet = slog.New(slog.DiscardHandler)

// connect makes a connection and returns what each side says of it.
func connect(t *testing.T, server, client *tls.Config) (ofServer, ofClient error) {
	t.Helper()
	near, far := net.Pipe()
	limit := time.Now().Add(10 * time.Second)
	near.SetDeadline(limit)
	far.SetDeadline(limit)
	ended := make(chan error, 1)
	go func() {
		conn := tls.Server(far, server)
		_, err := conn.Write([]byte("x")) // after the handshake
		far.Close()
		ended <- err
	}()
	conn := tls.Client(near, client)
	if ofClient = conn.Handshake(); ofClient == nil {
		_, ofClient = conn.Read(make([]byte, 1)) // only now the server has verified
	}
	near.Close()
	return <-ended, ofClient
}

func TestWhoIsAccepted(t *testing.T) {
	ca, other := grpcauthtest.New(t), grpcauthtest.New(t)
	name := grpcauthtest.Name
	now := time.Now()
	for sentence, tt := range map[string]struct {
		leaf    grpcauthtest.Leaf // of the client
		ca      *grpcauthtest.Authority
		server  string // the name in the server's certificate
		accepts []grpcauth.Role
		says    string // what the server says of the client; empty: it is accepted
	}{
		"a router at a worker": {server: name("worker")},
		"one of several roles": {
			server: name("worker"), accepts: []grpcauth.Role{"operator", "router"},
		},
		"a router of another fleet at a worker": {
			leaf: uris("spiffe://swar/shop/other/router"), server: name("worker"), says: "another fleet",
		},
		"a router of another namespace": {
			leaf: uris("spiffe://swar/other/hindi/router"), server: name("worker"), says: "another fleet",
		},
		"a router of another fleet at a portal": {
			leaf: uris("spiffe://swar/other/fleet/router"), server: name("portal"),
		},
		"an operator of elsewhere at a router": {
			leaf: uris("spiffe://swar/system/swar/operator"), server: name("router"),
			accepts: []grpcauth.Role{"operator"},
		},
		"a worker, which is the wrong role": {
			leaf: uris(name("worker")), server: name("worker"),
			says: "is of the role worker, and only router may do this",
		},
		"another authority": {ca: other, server: name("worker"), says: "another authority"},
		"no name":           {leaf: grpcauthtest.Leaf{}, server: name("worker"), says: "names no role"},
		"a name of another system": {
			leaf: uris("spiffe://cluster.local/ns/shop/sa/router"), server: name("worker"), says: "names no role",
		},
		"a name of another system too": {
			leaf: uris("spiffe://cluster.local/ns/x", name("router")), server: name("worker"),
		},
		"two names": {
			leaf: uris(name("router"), name("worker")), server: name("worker"), says: "has 2 names",
		},
		"a role that there is not": {
			leaf: uris("spiffe://swar/shop/hindi/admin"), server: name("worker"), says: "has the role admin",
		},
		"a name without a fleet": {
			leaf: uris("spiffe://swar/shop//router"), server: name("worker"), says: "want spiffe://",
		},
		"a name that is too short": {
			leaf: uris("spiffe://swar/shop/router"), server: name("worker"), says: "want spiffe://",
		},
		"a name with a question": {
			leaf: uris(name("router") + "?x"), server: name("worker"), says: "want spiffe://",
		},
		"a name with a host like ours": {
			leaf: uris("spiffe://swar:1/shop/hindi/router"), server: name("worker"), says: "names no role",
		},
		"a certificate for servers only": {
			leaf: grpcauthtest.Leaf{URIs: []string{name("router")},
				Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
			server: name("worker"), says: "cannot be trusted",
		},
		"one that expires in a while": {leaf: until(now.Add(time.Minute)), server: name("worker")},
		"one that is good since a moment": {
			leaf:   grpcauthtest.Leaf{URIs: []string{name("router")}, NotBefore: now.Add(-time.Second)},
			server: name("worker"),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var log bytes.Buffer
			files := ca.Write(t.TempDir(), uris(tt.server))
			server, err := grpcauth.Open(files, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			signer := ca
			if tt.ca != nil {
				signer = tt.ca
			}
			leaf := tt.leaf
			if leaf.URIs == nil && tt.says != "names no role" {
				leaf = uris(name("router"))
			}
			accepts := tt.accepts
			if accepts == nil {
				accepts = []grpcauth.Role{grpcauth.Router}
			}
			ofServer, ofClient := connect(t, server.ServerTLS(accepts...), anybody(t, signer.Write(t.TempDir(), leaf)))
			if accepted := ofServer == nil && ofClient == nil; accepted != (tt.says == "") {
				t.Errorf("server: %v, client: %v, want it accepted: %v", ofServer, ofClient, tt.says == "")
			}
			if ofServer != nil && (!strings.Contains(ofServer.Error(), tt.says) ||
				!strings.Contains(log.String(), tt.says)) {
				t.Errorf("server: %v, log: %s, want both to say %q", ofServer, &log, tt.says)
			}
		})
	}
}

func uris(all ...string) grpcauthtest.Leaf { return grpcauthtest.Leaf{URIs: all} }

func until(end time.Time) grpcauthtest.Leaf {
	return grpcauthtest.Leaf{URIs: []string{grpcauthtest.Name(grpcauth.Router)}, NotAfter: end}
}

// anybody is a client that shows a certificate which this package might refuse to open, and trusts all servers.
func anybody(t *testing.T, files grpcauth.Files) *tls.Config {
	t.Helper()
	cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	show := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	return &tls.Config{InsecureSkipVerify: true, GetClientCertificate: show}
}

func TestWhatAClientExpects(t *testing.T) {
	ca, other := grpcauthtest.New(t), grpcauthtest.New(t)
	router := ca.Open(grpcauth.Router)
	for sentence, tt := range map[string]struct {
		ca     *grpcauthtest.Authority
		server string
		says   string
	}{
		"a worker":                  {ca, grpcauthtest.Name(grpcauth.Worker), ""},
		"a worker of another fleet": {ca, "spiffe://swar/shop/other/worker", "another fleet"},
		"a router":                  {ca, grpcauthtest.Name(grpcauth.Router), "is of the role router, and only worker"},
		"another authority":         {other, grpcauthtest.Name(grpcauth.Worker), "another authority"},
	} {
		cert, err := tls.X509KeyPair(read(t, tt.ca.Write(t.TempDir(), uris(tt.server))))
		if err != nil {
			t.Fatal(err)
		}
		_, ofClient := connect(t, &tls.Config{Certificates: []tls.Certificate{cert}}, router.ClientTLS(grpcauth.Worker))
		if (ofClient == nil) != (tt.says == "") || ofClient != nil && !strings.Contains(ofClient.Error(), tt.says) {
			t.Errorf("%s: %v, want it to say %q", sentence, ofClient, tt.says)
		}
	}
}

func TestWhatAServerWants(t *testing.T) {
	server := grpcauthtest.New(t).Open(grpcauth.Worker).ServerTLS(grpcauth.Router)
	for sentence, client := range map[string]*tls.Config{
		"a certificate": {InsecureSkipVerify: true},
		"TLS 1.3":       {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12},
	} {
		ofServer, ofClient := connect(t, server, client)
		if ofServer == nil || !grpcauth.IsCertificateRefused(ofClient) {
			t.Errorf("without %s: server %v, client %v, want it refused", sentence, ofServer, ofClient)
		}
	}
}

func read(t *testing.T, f grpcauth.Files) (cert, key []byte) {
	t.Helper()
	return contents(t, f.Cert), contents(t, f.Key)
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	ca := grpcauthtest.New(t)
	router := uris(grpcauthtest.Name(grpcauth.Router))
	for sentence, tt := range map[string]struct {
		leaf   grpcauthtest.Leaf
		change func(f *grpcauth.Files)
		says   string
	}{
		"as they should be": {router, func(*grpcauth.Files) {}, ""},
		"no certificate":    {router, func(f *grpcauth.Files) { f.Cert += ".no" }, "tls.crt.no: no such file"},
		"no key":            {router, func(f *grpcauth.Files) { f.Key += ".no" }, "tls.key.no: no such file"},
		"no authority":      {router, func(f *grpcauth.Files) { f.CA += ".no" }, "ca.crt.no: no such file"},
		"a folder":          {router, func(f *grpcauth.Files) { f.CA = "/" }, "is a directory"},
		"another's key": {
			router, func(f *grpcauth.Files) { f.Key = ca.Issue(grpcauth.Router).Key }, "not a certificate and its key",
		},
		"a key as certificate":  {router, func(f *grpcauth.Files) { f.Cert = f.Key }, "not a certificate and its key"},
		"a key as an authority": {router, func(f *grpcauth.Files) { f.CA = f.Key }, "holds no certificate"},
		"no role":               {grpcauthtest.Leaf{}, func(*grpcauth.Files) {}, "names no role"},
		"expired":               {until(time.Now().Add(-time.Second)), func(*grpcauth.Files) {}, "has expired on"},
		"not yet valid": {
			grpcauthtest.Leaf{URIs: router.URIs, NotBefore: time.Now().Add(time.Minute)}, func(*grpcauth.Files) {},
			"is good from",
		},
	} {
		files := ca.Write(t.TempDir(), tt.leaf)
		tt.change(&files)
		_, err := grpcauth.Open(files, quiet)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want it to say %q", sentence, err, tt.says)
		}
	}
}

// TestCertificatesAreReadAgain: a second after the files have changed the new ones are used, and what is broken
// meanwhile changes nothing.
func TestCertificatesAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := grpcauthtest.New(t)
		var log bytes.Buffer
		folder := t.TempDir()
		files := ca.Write(folder, until(time.Now().Add(time.Minute)))
		router, err := grpcauth.Open(files, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		worker, err := grpcauth.Open(ca.Issue(grpcauth.Worker), quiet)
		if err != nil {
			t.Fatal(err)
		}
		connects := func() bool {
			ofServer, ofClient := connect(t, worker.ServerTLS(grpcauth.Router), router.ClientTLS(grpcauth.Worker))
			return ofServer == nil && ofClient == nil
		}
		good := contents(t, files.Cert)
		time.Sleep(30 * time.Second)
		if err := os.WriteFile(files.Cert, good[:len(good)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for range 3 {
			if !connects() {
				t.Error("a file that is half written matters")
			}
			time.Sleep(time.Second)
		}
		if n := strings.Count(log.String(), "cannot be used"); n != 1 {
			t.Errorf("it is logged %d times, want once:\n%s", n, &log)
		}
		ca.Write(folder, until(time.Now().Add(time.Hour)))
		time.Sleep(time.Minute) // the first one has expired
		if !connects() {
			t.Errorf("the new certificate is not used:\n%s", &log)
		}
		ca.Write(folder, until(time.Now().Add(-time.Second)))
		time.Sleep(time.Second)
		if !connects() || !strings.Contains(log.String(), "has expired on") {
			t.Errorf("a certificate that has expired replaces one that has not:\n%s", &log)
		}
		time.Sleep(2 * time.Hour)
		if connects() {
			t.Error("a certificate is used after its end")
		}
	})
}

// TestFilesAreSeldomLookedAt: a change within a second of the last look is not seen yet.
func TestFilesAreSeldomLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := grpcauthtest.New(t)
		folder := t.TempDir()
		c, err := grpcauth.Open(ca.Write(folder, uris("spiffe://swar/a/b/router")), quiet)
		if err != nil {
			t.Fatal(err)
		}
		ca.Write(folder, uris("spiffe://swar/a/c/router"))
		for wait, want := range []string{"b", "b", "c"} {
			if got := c.Identity().Name; got != want {
				t.Errorf("%d: the name is %s, want %s", wait, got, want)
			}
			time.Sleep(time.Second - time.Duration(1-wait)*time.Millisecond)
		}
	})
}

func contents(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
