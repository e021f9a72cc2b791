package peer

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
)

func TestSettings(t *testing.T) {
	files := grpcauthtest.New(t).Issue(grpcauth.Worker)
	token := filepath.Join(t.TempDir(), "token")
	short := filepath.Join(t.TempDir(), "short")
	for name, text := range map[string]string{token: grpcauthtest.Token, short: "short"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, key, ca := "--tls-cert="+files.Cert, "--tls-key="+files.Key, "--tls-ca="+files.CA
	for name, tt := range map[string]struct {
		args []string
		says string // empty: they are good
	}{
		"a token":                      {[]string{"--token-file=" + token}, ""},
		"a token and plain text":       {[]string{"--token-file=" + token, "--plaintext"}, ""},
		"certificates":                 {[]string{cert, key, ca}, ""},
		"certificates and a token":     {[]string{cert, key, ca, "--token-file=" + token}, ""},
		"nothing":                      {nil, "processes must authenticate to one another"},
		"plain text alone":             {[]string{"--plaintext"}, "processes must authenticate to one another"},
		"no key":                       {[]string{cert, ca}, "belong together"},
		"no authority":                 {[]string{cert, key}, "belong together"},
		"no certificate":               {[]string{key, ca, "--token-file=" + token}, "belong together"},
		"certificates and plain text":  {[]string{cert, key, ca, "--plaintext"}, "contradict each other"},
		"a token that is not there":    {[]string{"--token-file=/no/token"}, "cannot read /no/token: no such file or directory"},
		"a token that is too short":    {[]string{"--token-file=" + short}, "at least 16 characters"},
		"a certificate that is absent": {[]string{"--tls-cert=/no/tls.crt", key, ca}, "cannot read /no/tls.crt"},
		"a key of another certificate": {[]string{cert, "--tls-key=" + grpcauthtest.New(t).Issue(grpcauth.Worker).Key, ca}, "not a certificate and its key"},
	} {
		var p Flags
		cmd := &cobra.Command{Use: "swar-test"}
		p.Define(cmd.Flags())
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		err := p.Check(cmd)
		var creds grpcauth.Credentials
		if err == nil {
			creds, err = p.Open("swar-test", slog.New(slog.DiscardHandler))
		}
		if tt.says == "" {
			if err != nil || creds.Check() != nil {
				t.Errorf("%s: %v, %v, want it good", name, err, creds.Check())
			}
			continue
		}
		if _, ok := errors.AsType[*launch.UsageError](err); !ok || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want wrong usage that says %q", name, err, tt.says)
		}
	}
}

func TestWherePlainTextIsServed(t *testing.T) {
	for name, tt := range map[string]struct {
		p       Flags
		address string
		ok      bool
	}{
		"a token on loopback":                {Flags{token: "f"}, "127.0.0.1:9090", true},
		"a token on all addresses":           {Flags{token: "f"}, ":9090", false},
		"a token on another address":         {Flags{token: "f"}, "10.0.0.1:9090", false},
		"plain text on purpose":              {Flags{token: "f", plaintext: true}, ":9090", true},
		"certificates on all addresses":      {Flags{files: grpcauth.Files{Cert: "f"}}, ":9090", true},
		"certificates on a loopback address": {Flags{files: grpcauth.Files{Cert: "f"}}, "[::1]:9090", true},
	} {
		cmd := &cobra.Command{Use: "swar-test"}
		cmd.SetContext(t.Context())
		if err := tt.p.CheckListen(cmd, "--listen", tt.address); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want it ok: %v", name, err, tt.ok)
		}
	}
}

func TestWherePlainTextIsSent(t *testing.T) {
	for name, tt := range map[string]struct {
		p       Flags
		address string
		ok      bool
	}{
		"a token on loopback":                {Flags{token: "f"}, "127.0.0.1:9090", true},
		"a token to this machine, by name":   {Flags{token: "f"}, "localhost:9090", true},
		"a token to another machine":         {Flags{token: "f"}, "10.0.0.1:9090", false},
		"a token to a name":                  {Flags{token: "f"}, "portal:8082", false},
		"a token to what Kubernetes names":   {Flags{token: "f"}, "swar/workers", false},
		"plain text on purpose":              {Flags{token: "f", plaintext: true}, "portal:8082", true},
		"certificates, to whichever machine": {Flags{files: grpcauth.Files{Cert: "f"}}, "portal:8082", true},
	} {
		cmd := &cobra.Command{Use: "swar-test"}
		cmd.SetContext(t.Context())
		if err := tt.p.CheckDial(cmd, "--portal-addr", tt.address); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want it ok: %v", name, err, tt.ok)
		}
	}
}
