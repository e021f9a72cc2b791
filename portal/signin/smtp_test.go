package signin_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

// sink is a mail server that keeps what it is given.
type sink struct {
	listener net.Listener
	tls      *tls.Config // nil: it cannot encrypt
	implicit bool        // it encrypts from the first byte
	rude     bool        // it hangs up when it has a mail
	refuse   string      // answer to every recipient, if any
	trust    *tls.Config // for clients

	mu   sync.Mutex
	got  []delivery
	said []string // by clients
}

type delivery struct {
	from, to, login string
	encrypted       bool
	data            string
}

func newSink(t *testing.T, change func(*sink)) *sink {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	s := &sink{
		tls:   &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		trust: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"},
	}
	if change != nil {
		change(s)
	}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				if s.implicit {
					conn = tls.Server(conn, s.tls)
				}
				s.serve(conn)
			})
		}
	})
	t.Cleanup(func() { s.listener.Close(); serving.Wait() })
	return s
}

// serve speaks as much SMTP (RFC 5321) as a client of ours needs.
func (s *sink) serve(conn net.Conn) {
	conn.SetDeadline(time.Now().Add(time.Minute))
	text := textproto.NewConn(conn)
	text.PrintfLine("220 sink ESMTP")
	now := delivery{encrypted: s.implicit}
	for {
		line, err := text.ReadLine()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.said = append(s.said, line)
		s.mu.Unlock()
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			text.PrintfLine("250-sink")
			if s.tls != nil && !now.encrypted {
				text.PrintfLine("250-STARTTLS")
			} else if now.encrypted {
				text.PrintfLine("250-AUTH PLAIN LOGIN")
			}
			text.PrintfLine("250 8BITMIME")
		case "STARTTLS":
			text.PrintfLine("220 go on")
			secure := tls.Server(conn, s.tls)
			text, now.encrypted = textproto.NewConn(secure), true
		case "AUTH":
			_, login, _ := strings.Cut(rest, " ")
			plain, _ := base64.StdEncoding.DecodeString(login)
			now.login = strings.ReplaceAll(string(plain), "\x00", "|")
			text.PrintfLine("235 welcome")
		case "MAIL":
			now.from = rest
			text.PrintfLine("250 ok")
		case "RCPT":
			now.to = rest
			if s.refuse != "" {
				text.PrintfLine("%s", s.refuse)
				continue
			}
			text.PrintfLine("250 ok")
		case "DATA":
			text.PrintfLine("354 go on")
			data, err := io.ReadAll(text.DotReader())
			if err != nil {
				return
			}
			now.data = string(data)
			s.mu.Lock()
			s.got = append(s.got, now)
			s.mu.Unlock()
			text.PrintfLine("250 ok")
			if s.rude {
				return
			}
		case "QUIT":
			text.PrintfLine("221 bye")
			return
		default:
			text.PrintfLine("250 ok")
		}
	}
}

func (s *sink) config(change func(*signin.SMTPConfig)) signin.SMTPConfig {
	cfg := signin.SMTPConfig{
		Host: "127.0.0.1", Port: s.listener.Addr().(*net.TCPAddr).Port, From: "Swar आवाज़ <no-reply@tts.example.org>",
		TLS: s.trust,
	}
	if change != nil {
		change(&cfg)
	}
	return cfg
}

func (s *sink) one(t *testing.T) delivery {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got) != 1 {
		t.Fatalf("%d mails arrived, want 1; clients said %q", len(s.got), s.said)
	}
	return s.got[0]
}

var testMail = signin.Mail{
	To: "asha@example.org", Subject: "Swar: साइन इन · Sign in",
	Text: "लिंक\n.\n" + serverURL + "/auth/link#" + strings.Repeat("a", 86) + "\n", HTML: "<p>लिंक</p>",
}

func TestSMTP(t *testing.T) {
	for _, tt := range []struct {
		name      string
		sink      func(*sink)
		cfg       func(*signin.SMTPConfig)
		encrypted bool
		login     string
		fails     string // what the error says
		final     bool   // trying again is no use
	}{
		{name: "STARTTLS by default", encrypted: true},
		{name: "with a password", cfg: func(c *signin.SMTPConfig) { c.Username, c.Password = "swar", "s3cret" }, encrypted: true, login: "|swar|s3cret"},
		{name: "TLS from the first byte", sink: func(s *sink) { s.implicit = true }, cfg: func(c *signin.SMTPConfig) { c.Encryption = signin.TLS }, encrypted: true},
		{name: "the same with a password", sink: func(s *sink) { s.implicit = true }, cfg: func(c *signin.SMTPConfig) {
			c.Encryption, c.Username, c.Password = signin.TLS, "swar", "s3cret"
		}, encrypted: true, login: "|swar|s3cret"},
		{name: "a server that hangs up when it has the mail", sink: func(s *sink) { s.rude = true }, encrypted: true},
		{name: "none, on this machine", cfg: func(c *signin.SMTPConfig) { c.Encryption = signin.NoTLS }},
		{name: "a server that cannot encrypt", sink: func(s *sink) { s.tls = nil }, fails: "STARTTLS"},
		{name: "one that cannot encrypt and wants a password", sink: func(s *sink) { s.tls = nil }, cfg: func(c *signin.SMTPConfig) { c.Username, c.Password = "swar", "s3cret" }, fails: "STARTTLS"},
		{name: "a certificate of nobody", cfg: func(c *signin.SMTPConfig) { c.TLS = nil }, fails: "certificate"},
		{name: "a recipient that is refused", sink: func(s *sink) { s.refuse = "550 no such user" }, fails: "550", final: true},
		{name: "one that is refused for now", sink: func(s *sink) { s.refuse = "450 come again" }, fails: "450"},
		{name: "no server", cfg: func(c *signin.SMTPConfig) { c.Port = 1 }, fails: "refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSink(t, tt.sink)
			mailer, err := signin.NewSMTP(s.config(tt.cfg))
			if err != nil {
				t.Fatal(err)
			}
			err = mailer.Send(t.Context(), testMail)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) ||
					errors.Is(err, signin.ErrMailRefused) != tt.final {
					t.Errorf("got error %v, want one about %s that is final: %v", err, tt.fails, tt.final)
				}
				if err != nil && (strings.Contains(err.Error(), "s3cret") ||
					strings.Contains(err.Error(), "/auth/link#")) {
					t.Errorf("the error holds a secret: %v", err)
				}
				if strings.Contains(strings.Join(s.said, "\n"), "AUTH") || len(s.got) > 0 {
					t.Errorf("said in the clear: %q, %d mails", s.said, len(s.got))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := s.one(t); got.encrypted != tt.encrypted || got.login != tt.login ||
				!strings.HasPrefix(got.from, "FROM:<no-reply@tts.example.org>") || got.to != "TO:<asha@example.org>" {
				t.Errorf("delivery %+v", got)
			}
		})
	}
}

// A mail server that says nothing is left when the context ends.
func TestSMTPHeedsItsContext(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "220 sink ESMTP\r\n")
		bufio.NewReader(conn).ReadString('\n')
		cancel() // it has said EHLO and waits
		io.Copy(io.Discard, conn)
	}()
	mailer, err := signin.NewSMTP((&sink{listener: listener}).config(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := mailer.Send(ctx, testMail); err == nil {
		t.Error("a mail was sent to nobody")
	}
}

func TestMailOnTheWire(t *testing.T) {
	s := newSink(t, nil)
	mailer, err := signin.NewSMTP(s.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := mailer.Send(t.Context(), testMail); err != nil {
		t.Fatal(err)
	}
	message, err := mail.ReadMessage(strings.NewReader(s.one(t).data))
	if err != nil {
		t.Fatal(err)
	}
	decode := new(mime.WordDecoder).DecodeHeader
	for name, want := range map[string]string{
		"To": "<asha@example.org>", "Subject": testMail.Subject, "Auto-Submitted": "auto-generated", "Mime-Version": "1.0",
		"From": `"Swar आवाज़" <no-reply@tts.example.org>`,
	} {
		got, err := decode(message.Header.Get(name))
		if name == "From" { // quotes may go around the encoded word or not
			got = `"` + strings.Replace(strings.ReplaceAll(got, `"`, ""), " <", `" <`, 1)
		}
		if err != nil || got != want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, want)
		}
	}
	if id := message.Header.Get("Message-Id"); !regexp.MustCompile(`^<[\w-]{22}@tts\.example\.org>$`).MatchString(id) {
		t.Errorf("Message-ID %q", id)
	}
	if date, err := message.Header.Date(); err != nil || time.Since(date).Abs() > time.Hour {
		t.Errorf("date %v (%v)", date, err)
	}
	if agent := message.Header.Get("User-Agent") + message.Header.Get("X-Mailer"); agent != "" {
		t.Errorf("agent %q", agent)
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("type %q (%v)", kind, err)
	}
	parts := multipart.NewReader(message.Body, params["boundary"])
	for _, want := range []struct{ kind, text string }{{"text/plain", testMail.Text}, {"text/html", testMail.HTML}} {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(bufio.NewReader(part)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(string(text), "\r\n",
			"\n"); !strings.HasPrefix(part.Header.Get("Content-Type"), want.kind) ||
			strings.TrimRight(got, "\n") != strings.TrimRight(want.text, "\n") {
			t.Errorf("part %s: got %q, want %s: %q", part.Header.Get("Content-Type"), got, want.kind, want.text)
		}
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("more parts: %v", err)
	}
}

func TestSMTPIsAskedForNothingUnsafe(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  signin.SMTPConfig
		ok   bool
	}{
		{"a host and a sender", signin.SMTPConfig{Host: "mail.example.org", From: "no-reply@example.org"}, true},
		{"no sender", signin.SMTPConfig{Host: "mail.example.org"}, false},
		{"a sender that is none", signin.SMTPConfig{Host: "mail.example.org", From: "Swar"}, false},
		{"no host", signin.SMTPConfig{From: "no-reply@example.org"}, false},
		{"an unknown encryption", signin.SMTPConfig{Host: "mail.example.org", From: "a@example.org", Encryption: "maybe"}, false},
		{"no encryption to elsewhere", signin.SMTPConfig{Host: "mail.example.org", From: "a@example.org", Encryption: signin.NoTLS}, false},
		{"no encryption and a password", signin.SMTPConfig{Host: "127.0.0.1", From: "a@example.org", Encryption: signin.NoTLS, Username: "a"}, false},
		{"a port that is none", signin.SMTPConfig{Host: "mail.example.org", From: "a@example.org", Port: 70000}, false},
	} {
		if _, err := signin.NewSMTP(tt.cfg); (err == nil) != tt.ok {
			t.Errorf("%s: got error %v", tt.name, err)
		}
	}
}

// From the request to the mail that arrives, the whole way.
func TestLinkArrives(t *testing.T) {
	s := newSink(t, nil)
	mailer, err := signin.NewSMTP(s.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan error, 1)
	log := &logBuffer{}
	outbox := signin.NewOutbox("", mailerFunc(func(m signin.Mail) error {
		err := mailer.Send(t.Context(),
			m)
		arrived <- err
		return err
	}), newLog(log))
	issuer, err := signin.New(signin.Config{URL: serverURL, Log: newLog(log)}, newStore(), outbox)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); outbox.Run(t.Context()) }()
	t.Cleanup(func() { <-done })

	b := &browser{t, issuer, "192.0.2.1:1", nil}
	b.cookies = (&world{t: t}).browser().cookies
	want(t, "asking", b.ask("asha@example.org"), 202, "")
	if err := <-arrived; err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(s.one(t).data)))
	if err != nil {
		t.Fatal(err)
	}
	token := tokenInMail.FindSubmatch(body)
	if token == nil {
		t.Fatalf("no link in %s", body)
	}
	want(t, "verifying", b.verifyToken(string(token[1])), 200, "")
	if strings.Contains(log.String(), string(token[1])) {
		t.Error(fmt.Sprint("the log holds the token: ", log))
	}
}
