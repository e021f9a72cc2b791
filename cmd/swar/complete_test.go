package main_test

import (
	"slices"
	"strings"
	"testing"
)

// completed is what a shell offers for the last of args.
func (s *shell) completed(args ...string) []string {
	s.t.Helper()
	lines := strings.Split(strings.TrimSpace(s.ok(append([]string{"__complete"}, args...)...).out), "\n")
	var values []string
	for _, line := range lines[:len(lines)-1] { // the last one tells the shell how to go on
		value, _, _ := strings.Cut(line, "\t")
		values = append(values, value)
	}
	return values
}

func TestCompletion(t *testing.T) {
	s := newShell(t)
	v := s.serve("--api-key", "k", "--api-key", "narrow=raj")
	address := strings.TrimPrefix(v.base, "http://")
	tests := map[string]struct {
		args []string
		want []string
	}{
		"voices of a server":             {[]string{"say", "--server", address, "--key", "k", "--voice", ""}, []string{"anjura", "raj"}},
		"voices that the key may use":    {[]string{"stream", "--server", address, "--key", "narrow", "--voice", ""}, []string{"raj"}},
		"no voices without a key":        {[]string{"say", "--server", address, "--voice", ""}, nil},
		"no voices of nobody":            {[]string{"say", "--server", "127.0.0.1:1", "--voice", ""}, nil},
		"voices of this process":         {[]string{"say", "--local", "--voice", ""}, []string{"anjura", "raj"}},
		"voices of an engine that typed": {[]string{"say", "--engine", "espeak", "--voice", ""}, []string{"anjura", "raj"}},
		"formats":                        {[]string{"say", "--format", ""}, []string{"wav", "opus", "pcm16"}},
		"choices":                        {[]string{"serve", "--engine", ""}, []string{"auto", "espeak", "onnx", "kokoro"}},
		"kinds of keys":                  {[]string{"keys", "list", "--kind", ""}, []string{"live", "playground"}},
		"roles":                          {[]string{"orgs", "invite", "--role", ""}, []string{"owner", "member", "viewer"}},
		"keys of no server":              {[]string{"keys", "revoke", ""}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &shell{t: t, env: s.env, dir: s.dir, bin: s.bin}
			if got := s.completed(tt.args...); !slices.Equal(got, tt.want) {
				t.Errorf("offered %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("with settings of the environment", func(t *testing.T) {
		s := &shell{t: t, env: append(s.env, "SWAR_SERVER="+address, "SWAR_KEY=narrow"), dir: s.dir, bin: s.bin}
		if got, want := s.completed("say", "--voice", ""), []string{"raj"}; !slices.Equal(got, want) {
			t.Errorf("offered %q, want %q", got, want)
		}
	})
}

func TestCompletionOfThePortal(t *testing.T) {
	s := newShell(t)
	s.start("serve", "--listen", "127.0.0.1:0", "--data", s.path("data")).await(func(line string) bool {
		return strings.Contains(line, `"ready"`) || strings.Contains(line, "msg=ready")
	})
	s.ok("keys", "create", "kept", "--data", s.path("data"))
	s.ok("keys", "create", "gone", "--data", s.path("data"))
	keys := func() []string { return s.completed("keys", "revoke", "--data", s.path("data"), "") }
	before := keys()
	if len(before) != 3 { // the first start made one too
		t.Fatalf("offered %q, want three keys", before)
	}
	s.ok("keys", "revoke", "--data", s.path("data"), before[0])
	if got, want := keys(), before[1:]; !slices.Equal(got, want) {
		t.Errorf("after one was revoked %q are offered, want %q", got, want)
	}
	if got := s.completed("keys", "revoke", "--data", s.path("data"), before[1], ""); got != nil {
		t.Errorf("a second key is offered: %q", got)
	}
	if got := s.completed("usage", "--data", s.path("data"), "--org", ""); len(got) != 1 ||
		!strings.HasPrefix(got[0], "org_") {
		t.Errorf("organisations %q are offered, want one", got)
	}
}
