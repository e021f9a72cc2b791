//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/client"
)

// frontProxy is a program of Debian before a server, with its defaults but for what docs/proxy.md says.
type frontProxy struct {
	program   string
	plain     string // URL that speaks HTTP/1.1
	encrypted string // URL that offers HTTP/2 and HTTP/1.1
	authority string // file of the certificate
}

// certificate writes one for 127.0.0.1, signed by itself, and its key, into one file for HAProxy and two for nginx.
func certificate(t *testing.T, folder string) (cert, key, both string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	write := func(name string, content ...[]byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, bytes.Join(content, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", certPEM), write("key.pem", keyPEM), write("both.pem", certPEM, keyPEM)
}

const nginxSettings = `daemon off;
master_process off; # one process, which ends when it is killed
pid %[1]s/nginx.pid;
error_log stderr warn;
%[2]s
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	gzip on;
	gzip_types *;
	gzip_proxied any;
	map $http_upgrade $connection_upgrade {
		default upgrade;
		""      "";
	}
	server {
		listen %[3]s;
		listen %[4]s ssl http2;
		ssl_certificate %[1]s/cert.pem;
		ssl_certificate_key %[1]s/key.pem;
		location / {
			proxy_pass %[5]s;
			proxy_http_version 1.1;
			proxy_set_header Host $host;
			proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
			proxy_set_header Upgrade $http_upgrade;
			proxy_set_header Connection $connection_upgrade;
			proxy_read_timeout 150s;
			proxy_send_timeout 150s;
		}
	}
}
`

const haproxySettings = `defaults
	mode http
	option forwardfor
	compression algo gzip
	compression type application/json audio/wav audio/L16 audio/ogg
	timeout connect 5s
	timeout client 150s
	timeout server 150s
	timeout tunnel 1h
frontend swar
	bind %[2]s
	bind %[3]s ssl crt %[1]s/both.pem alpn h2,http/1.1
	default_backend swar
backend swar
	server swar %[4]s
`

// startFrontProxy starts program before the server at base, and ends it with the test, which is skipped where Debian's
// package is missing.
func startFrontProxy(t *testing.T, program, base string) *frontProxy {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if path = "/usr/sbin/" + program; exec.Command(path, "-v").Run() != nil {
			t.Skipf("SKIPPED, so that nothing was tested behind %[1]s: apt-get install %[1]s", program)
		}
	}
	folder := t.TempDir()
	x := &frontProxy{program: program}
	x.authority, _, _ = certificate(t, folder)
	plain, encrypted := freeAddress(t), freeAddress(t)
	x.plain, x.encrypted = "http://"+plain, "https://"+encrypted
	file := filepath.Join(folder, program+".conf")
	var settings string
	var args []string
	if program == "nginx" {
		user := ""
		if os.Geteuid() == 0 {
			user = "user root;" // another one could not write to the test's folder
		}
		settings = fmt.Sprintf(nginxSettings, folder, user, plain, encrypted, base)
		args = []string{"-p", folder, "-c", file, "-e", "stderr"}
	} else {
		settings = fmt.Sprintf(haproxySettings, folder, plain, encrypted, strings.TrimPrefix(base, "http://"))
		args = []string{"-f", file}
	}
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{name: program, path: path, args: args, probes: x.plain}
	p.begin(t)
	p.waitReady(t)
	return x
}

// http returns a client that trusts the proxy's certificate.
func (x *frontProxy) http(t *testing.T) *http.Client {
	t.Helper()
	b, err := os.ReadFile(x.authority)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(b)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (x *frontProxy) client(t *testing.T, base string) *client.Client {
	t.Helper()
	c, err := client.New(base, client.Options{HTTPClient: x.http(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// swar runs a command of the command line against base.
func (x *frontProxy) swar(t *testing.T, base, command string, args ...string) {
	t.Helper()
	path, err := filepath.Abs(cmp.Or(*binary, program(t, "swar")))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{command, "--server", base}, args...)...)
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+x.authority)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("swar %s through %s: %v\n%s", command, x.program, err, out)
	}
}

// behindProxies runs a test with each proxy and each way to it.
func behindProxies(t *testing.T, s *server, test func(t *testing.T, x *frontProxy, base string)) {
	t.Helper()
	for _, program := range []string{"nginx", "haproxy"} {
		t.Run(program, func(t *testing.T) {
			x := startFrontProxy(t, program, s.base)
			for way, base := range map[string]string{"HTTP/1.1": x.plain, "TLS": x.encrypted} {
				t.Run(way, func(t *testing.T) { test(t, x, base) })
			}
		})
	}
}

// TestBehindAProxy: whatever speaks to the server directly speaks to it behind a proxy, and gets the same bytes.
func TestBehindAProxy(t *testing.T) {
	s := start(t)
	seed := int64(7)
	direct, err := client.New(s.base, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	requests := map[string]client.Request{
		"WAV": {Text: sentence, Seed: &seed}, "samples": {Text: sentence, Seed: &seed, Format: client.PCM16},
		"buffered": {Text: sentence, Seed: &seed, Buffered: true}, // Opus has a number of its own in each stream
	}
	want := make(map[string][]byte)
	for name, r := range requests {
		want[name] = spokenWhole(t, direct, r)
	}
	behindProxies(t, s, func(t *testing.T, x *frontProxy, base string) {
		c := x.client(t, base)
		for name, r := range requests {
			if got := spokenWhole(t, c, r); !bytes.Equal(got, want[name]) {
				t.Errorf("%s: %d bytes, want the %d that come without a proxy", name, len(got), len(want[name]))
			}
		}
		for _, err := range c.SpeakWords(t.Context(), requests["WAV"]) {
			if err != nil {
				t.Errorf("with times of words: %v", err)
			}
		}
		if got := spokenOnASocket(t, c, requests["samples"]); !bytes.Equal(got, want["samples"]) {
			t.Errorf("WebSocket: %d bytes, want the %d that come without a proxy", len(got), len(want["samples"]))
		}
		x.swar(t, base, "check")
		x.swar(t, base, "say", "-o", filepath.Join(t.TempDir(), "x.wav"), sentence)
		x.answersJSON(t, base)
	})
}

func spokenWhole(t *testing.T, c *client.Client, r client.Request) []byte {
	t.Helper()
	audio, err := c.Speak(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer audio.Close()
	b, err := io.ReadAll(audio)
	if err != nil {
		t.Error(err)
	}
	return b
}

func spokenOnASocket(t *testing.T, c *client.Client, r client.Request) (audio []byte) {
	t.Helper()
	conn, err := c.Stream(t.Context())
	if err != nil {
		t.Error(err)
		return nil
	}
	defer conn.Close()
	if _, err := conn.Send(r); err != nil {
		t.Fatal(err)
	}
	for e, err := range conn.Events() {
		if err != nil {
			t.Error(err)
			return audio
		}
		switch e := e.(type) {
		case *client.AudioEvent:
			audio = append(audio, e.Data...)
		case *client.EndEvent:
			return audio
		}
	}
	return audio
}

// answersJSON asks as browsers do, which take what is compressed, and over HTTP/2 where it is offered.
func (x *frontProxy) answersJSON(t *testing.T, base string) {
	t.Helper()
	resp, err := x.http(t).Post(base+"/v1/normalize", "application/json", strings.NewReader(`{"text":"₹499"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var said map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("normalize: %s, %v", resp.Status, err)
	}
	if resp.TLS != nil && resp.ProtoMajor != 2 {
		t.Errorf("over TLS it speaks %s, want HTTP/2", resp.Proto)
	}
}

// TestACutBehindAProxyIsAnError: a server that dies in the middle of an answer leaves no proxy a whole one to pass on.
func TestACutBehindAProxyIsAnError(t *testing.T) {
	for _, program := range []string{"nginx", "haproxy"} {
		for _, way := range []string{"HTTP/1.1", "TLS"} {
			t.Run(program+" "+way, func(t *testing.T) {
				s := start(t)
				x := startFrontProxy(t, program, s.base)
				base := map[string]string{"HTTP/1.1": x.plain, "TLS": x.encrypted}[way]
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				audio, err := x.client(t, base).Speak(ctx, client.Request{Text: longText, Format: client.PCM16})
				if err != nil {
					t.Fatal(err)
				}
				defer audio.Close()
				if _, err := io.ReadFull(audio, make([]byte, client.FrameBytes)); err != nil {
					t.Fatal(err)
				}
				s.router.kill(t)
				n, err := io.Copy(io.Discard, audio)
				if _, ok := errors.AsType[*client.CutError](err); !ok {
					t.Errorf("after %d bytes more: %v, want an error of a cut", n, err)
				}
			})
		}
	}
}
