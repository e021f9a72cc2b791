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

func TestSettingsForOneApart(t *testing.T) {
	files, other := grpcauthtest.New(t).Issue(grpcauth.Router), grpcauthtest.New(t).Issue(grpcauth.Portal)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(grpcauthtest.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	fleet := []string{"--tls-cert=" + files.Cert, "--tls-key=" + files.Key, "--tls-ca=" + files.CA}
	for name, tt := range map[string]struct {
		args           []string
		dialled        bool
		token, another bool   // than everybody else has
		says           string // empty: they are good
	}{
		"nothing":                         {fleet, true, false, false, ""},
		"a token":                         {append(fleet, "--portal-token-file="+token), true, true, false, ""},
		"an authority":                    {append(fleet, "--portal-ca="+other.CA), true, false, true, ""},
		"both":                            {append(fleet, "--portal-ca="+other.CA, "--portal-token-file="+token), true, true, true, ""},
		"a token for nobody":              {append(fleet, "--portal-token-file="+token), false, false, false, "name it with --portal-addr"},
		"an authority for nobody":         {append(fleet, "--portal-ca="+other.CA), false, false, false, "name it with --portal-addr"},
		"an authority, in plain text":     {[]string{"--token-file=" + token, "--portal-ca=" + other.CA}, true, false, false, "there are none"},
		"a token that is not there":       {append(fleet, "--portal-token-file=/no/token"), true, false, false, "cannot read /no/token"},
		"an authority that is not a file": {append(fleet, "--portal-ca=/no/ca.crt"), true, false, false, "cannot read /no/ca.crt"},
		"an authority that is a token":    {append(fleet, "--portal-ca="+token), true, false, false, "no certificate in PEM"},
		"a token that is a certificate":   {append(fleet, "--portal-token-file="+other.CA), true, false, false, "without spaces"},
	} {
		var p Flags
		var a Override
		cmd := &cobra.Command{Use: "swar-test"}
		p.Define(cmd.Flags())
		a.Define(cmd.Flags(), "portal")
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		err := a.Check(cmd, &p, tt.dialled)
		var common, got grpcauth.Credentials
		if err == nil {
			if common, err = p.Open("swar-test", log); err != nil {
				t.Fatal(err)
			}
			got, err = a.Open("swar-test", &p, common, log)
		}
		if tt.says != "" {
			if _, ok := errors.AsType[*launch.UsageError](err); !ok || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v, want wrong usage that says %q", name, err, tt.says)
			}
			continue
		}
		if err != nil || (got.Token != common.Token) != tt.token ||
			(got.Certificates != common.Certificates) != tt.another {
			t.Errorf("%s: %v; a token of its own: %v, an authority of its own: %v",
				name, err, got.Token != common.Token, got.Certificates != common.Certificates)
		}
	}
}
