package grpcauth_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
)

// TestASecretThatEverybodyReads is named in the log, but where Kubernetes has mounted it.
func TestASecretThatEverybodyReads(t *testing.T) {
	files := grpcauthtest.New(t).Issue(grpcauth.Worker)
	for name, tt := range map[string]struct {
		mode    os.FileMode
		mounted bool // as Kubernetes does: a link into a folder
		warns   bool
	}{
		"of its owner":        {0o600, false, false},
		"of its group":        {0o640, false, false},
		"of everybody":        {0o644, false, true},
		"of everybody else":   {0o604, false, true},
		"executable":          {0o601, false, false},
		"a Secret in a pod":   {0o644, true, false},
		"a Secret of a group": {0o640, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			put := func(file, text string) string {
				at := filepath.Join(folder, file)
				if tt.mounted {
					if err := os.MkdirAll(filepath.Join(folder, "..data"), 0o755); err != nil {
						t.Fatal(err)
					}
					at = filepath.Join(folder, "..data", file)
				}
				if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(at, tt.mode); err != nil { // whatever the umask is
					t.Fatal(err)
				}
				if tt.mounted {
					if err := os.Symlink(filepath.Join("..data", file), filepath.Join(folder, file)); err != nil {
						t.Fatal(err)
					}
				}
				return filepath.Join(folder, file)
			}
			var log safeLog
			to := slog.New(slog.NewTextHandler(&log, nil))
			token := put("token", grpcauthtest.Token)
			if _, err := grpcauth.OpenToken(token, to); err != nil {
				t.Fatal(err)
			}
			key, err := os.ReadFile(files.Key)
			if err != nil {
				t.Fatal(err)
			}
			mine := files
			mine.Key = put("tls.key", string(key))
			if _, err := grpcauth.Open(mine, to); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{token, mine.Key} {
				if got := strings.Contains(log.String(), "chmod 600 the file\" file="+file); got != tt.warns {
					t.Errorf("the log warns of %s: %v, want %v; it says %s", file, got, tt.warns, log.String())
				}
			}
		})
	}
}

func TestTokensInCommon(t *testing.T) {
	open := func(text string) *grpcauth.Token {
		token, err := grpcauth.NewToken(text)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	one, other := "the-first-of-the-tokens", "the-other-of-the-tokens"
	for name, tt := range map[string]struct {
		a, b string
		want bool
	}{
		"the same":           {one, one, true},
		"another":            {one, other, false},
		"one of two":         {one + "\n" + other, other, true},
		"the other way":      {other, one + "\n" + other, true},
		"with an empty line": {one + "\n\n", "\n" + one, true},
	} {
		if got := open(tt.a).Shares(open(tt.b)); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
