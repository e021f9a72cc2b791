//go:build e2ecluster

package e2ecluster

import (
	"bytes"
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
	"net/textproto"
	"regexp"
	"strings"
	"testing"
	"time"
)

// nodeAddress is that of node 1, whose network the tests run in, as pods reach it.
const nodeAddress = "198.18.0.1"

// mailServer takes mails over TLS, shows a certificate of its own authority, and passes the mails on.
type mailServer struct {
	listener  net.Listener
	authority []byte // PEM
	mails     chan string
}

func newMailServer(t *testing.T) *mailServer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(nodeAddress)},
		IsCA:        true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{
		authority: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), mails: make(chan string, 10),
	}
	s.listener, err = tls.Listen("tcp", nodeAddress+":0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.listener.Close() })
	go func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

// serve speaks as much SMTP (RFC 5321) as the portal needs.
func (s *mailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	c := textproto.NewConn(conn)
	answer := "220 ready"
	for c.PrintfLine("%s", answer) == nil && !strings.HasPrefix(answer, "221") {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
		answer = "250 ok"
		switch verb {
		case "DATA":
			if c.PrintfLine("354 go on") != nil {
				return
			}
			mail, err := io.ReadAll(c.DotReader())
			if err != nil {
				return
			}
			s.mails <- string(mail)
		case "QUIT":
			answer = "221 bye"
		}
	}
}

// person calls the portal's API.
type person struct {
	address string
	token   string
}

func (p *person) call(t *testing.T, method, path string, body, into any) {
	t.Helper()
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.address+path, &content)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %s: %s (%v)", method, path, answer.Status, text, err)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
}

var codeInMail = regexp.MustCompile(`\b[0-9A-Z]{4}-[0-9A-Z]{4}\b`)

// signIn gives the release a mail server, and then does what a newcomer does.
func signIn(t *testing.T, l *life) {
	server := newMailServer(t)
	mustRun(t, string(server.authority), "kubectl", "--namespace", namespace, "create", "secret", "generic",
		"mail-authority",
		"--from-file=ca.crt=/dev/stdin")
	helm(t, "upgrade", release, "../../charts/swar", "--reuse-values", "--wait", "--timeout", "3m",
		"--set", "portal.smtp.server="+server.listener.Addr().String(), "--set", "portal.smtp.encryption=tls",
		"--set", "portal.smtp.from=Swar <no-reply@example.org>", "--set", "portal.authoritySecret.name=mail-authority",
		"--set", "portal.publicURL=https://tts.example.org")
	p := &person{address: address(t, "swar-portal")}
	within(t, 10*time.Second, "the portal's Service leads to its new pod", func() error {
		conn, err := net.DialTimeout("tcp", p.address, time.Second) // a SYN to the pod of before is never answered
		if err == nil {
			err = conn.Close()
		}
		return err
	})
	const email = "asha@example.org"
	p.call(t, http.MethodPost, "/auth/v1/email-link", map[string]string{"email": email}, nil)
	var code string
	select {
	case mail := <-server.mails:
		if code = codeInMail.FindString(mail); code == "" ||
			!strings.Contains(mail, "https://tts.example.org/auth/link") {
			t.Fatalf("the mail has the code %q, and no link perhaps:\n%s", code, mail)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("no mail came")
	}
	var session struct {
		Token string `json:"id_token"`
	}
	p.call(t, http.MethodPost, "/auth/v1/verify", map[string]string{"email": email, "code": code}, &session)
	p.token = session.Token
	var org struct {
		ID       string
		Projects []struct{ ID string }
	}
	p.call(t, http.MethodPost, "/portal/v1/orgs", map[string]string{"name": "Asha's"}, &org)
	var key struct {
		Key string
		Row struct{ ID string }
	}
	p.call(t, http.MethodPost, "/portal/v1/keys",
		map[string]string{"project_id": org.Projects[0].ID, "name": "first"}, &key)

	own := &life{address: l.address, key: key.Key}
	within(t, 10*time.Second, "the new key speaks", func() error { return own.speak(t) })
	within(t, 30*time.Second, "the request is listed", func() error {
		var list struct {
			Requests []struct{ Frames int }
		}
		p.call(t, http.MethodGet, "/portal/v1/requests?org_id="+org.ID, nil, &list)
		if len(list.Requests) != 1 || list.Requests[0].Frames != own.frames {
			return fmt.Errorf("it says %+v, %d frames were heard", list, own.frames)
		}
		return nil
	})
	p.call(t, http.MethodDelete, "/portal/v1/keys/"+key.Row.ID, nil, nil)
	within(t, 5*time.Second, "the key is refused", func() error {
		if err := own.speak(t); err == nil {
			return errors.New("it speaks")
		} else if !strings.Contains(err.Error(), "401") {
			return err
		}
		return nil
	})
}
