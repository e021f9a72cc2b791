package grpcauth_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/runtime/grpcauth"
)

const testToken = "a-token-that-nobody-else-has"

func TestTokens(t *testing.T) {
	for name, tt := range map[string]struct {
		token string
		ok    bool
	}{
		"none":                        {"", false},
		"empty lines":                 {"\n\r\n", false},
		"one character too short":     {"123456789012345", false},
		"just enough":                 {"1234567890123456", true},
		"one character more":          {"12345678901234567", true},
		"with a space":                {"1234567890 123456", false},
		"with a space at the end":     {"1234567890123456 ", false},
		"with the end of the line":    {"1234567890123456\n", true},
		"with that of Windows":        {"1234567890123456\r\n", true},
		"with a letter of Hindi":      {"1234567890123456स", false},
		"two":                         {"1234567890123456\n6543210987654321\n", true},
		"the second one is too short": {"1234567890123456\n654321\n", false},
		"eight":                       {strings.Repeat("1234567890123456\n", 8), true},
		"nine":                        {strings.Repeat("1234567890123456\n", 9), false},
	} {
		if _, err := grpcauth.NewToken(tt.token); (err == nil) != tt.ok {
			t.Errorf("%s: NewToken = %v, want it ok: %v", name, err, tt.ok)
		}
	}
}

func calledWith(t *testing.T, header ...string) context.Context {
	return metadata.NewIncomingContext(t.Context(), metadata.MD{"authorization": header})
}

func TestAuthorize(t *testing.T) {
	token, err := grpcauth.NewToken(testToken + "\nanother-token-of-ours\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		header []string
		ok     bool
	}{
		"the token":                {[]string{"Bearer " + testToken}, true},
		"another one of the file":  {[]string{"Bearer another-token-of-ours"}, true},
		"the token among others":   {[]string{"Bearer other", "Bearer " + testToken}, true},
		"no header":                {nil, false},
		"an empty header":          {[]string{""}, false},
		"another token":            {[]string{"Bearer another-token-of-some-length"}, false},
		"the token alone":          {[]string{testToken}, false},
		"the token and more":       {[]string{"Bearer " + testToken + "x"}, false},
		"the beginning of a token": {[]string{"Bearer " + testToken[:20]}, false},
	} {
		err := token.Authorize(calledWith(t, tt.header...))
		if (err == nil) != tt.ok || err != nil && status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: Authorize = %v, want it ok: %v", name, err, tt.ok)
		}
	}
	if err := token.Authorize(t.Context()); err == nil {
		t.Error("a call without metadata is allowed")
	}
}

// TestTokensAreReadAgain: a token is replaced without refusing anybody.
func TestTokensAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		file := filepath.Join(t.TempDir(), "token")
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if _, err := grpcauth.OpenToken(file, quiet); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("a file that is not there: %v", err)
		}
		const first, second = "the-first-token-of-all", "the-second-token-of-all"
		write(first + "\n")
		token, err := grpcauth.OpenToken(file, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			text          string
			first, second bool // whether they are accepted
		}{
			{first, true, false},
			{first + "\n" + second, true, true},
			{second + "\n" + first, true, true},
			{"", true, true},
			{"", true, true},
			{second, false, true},
		} {
			write(step.text)
			for _, tt := range []struct {
				token string
				want  bool
			}{{first, step.first}, {second, step.second}} {
				if got := token.Authorize(calledWith(t, "Bearer "+tt.token)) == nil; got != tt.want {
					t.Errorf("%q: %s is accepted: %v, want %v", step.text, tt.token, got, tt.want)
				}
			}
		}
		if n := strings.Count(log.String(), "cannot be used"); n != 1 || strings.Contains(log.String(), first) {
			t.Errorf("the log names an empty file %d times, want once, and no token:\n%s", n, &log)
		}
	})
}
