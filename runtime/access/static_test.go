package access

import (
	"errors"
	"strings"
	"testing"
)

var voices = []string{"anjura", "raj"}

func TestStaticGrants(t *testing.T) {
	s, err := NewStatic([]string{"open-key", "raj-key=raj", "both=anjura, raj"}, voices)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		key    string
		anjura bool
		raj    bool
		err    error
	}{
		"a key without a list speaks with every voice": {"open-key", true, true, nil},
		"a key with a list speaks with those":          {"raj-key", false, true, nil},
		"spaces around voices do not matter":           {"both", true, true, nil},
		"an unknown key":                               {"open-kez", false, false, ErrInvalidKey},
		"the list is not part of the key":              {"raj-key=raj", false, false, ErrInvalidKey},
		"an empty key":                                 {"", false, false, ErrInvalidKey},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g, err := s.Grant(t.Context(), Credentials{Key: tt.key, Origin: "https://any.example"})
			if !errors.Is(err, tt.err) {
				t.Fatalf("error = %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			if got := g.Allows("anjura"); got != tt.anjura {
				t.Errorf("Allows(anjura) = %v, want %v", got, tt.anjura)
			}
			if got := g.Allows("raj"); got != tt.raj {
				t.Errorf("Allows(raj) = %v, want %v", got, tt.raj)
			}
			if strings.Contains(g.KeyID, tt.key) {
				t.Errorf("KeyID %q holds the key", g.KeyID)
			}
		})
	}
}

func TestStaticRefusesBadEntries(t *testing.T) {
	tests := map[string]struct {
		entries []string
		want    string
	}{
		"empty":                 {[]string{""}, "api key 1: want KEY"},
		"only a list":           {[]string{"ok", "=raj"}, "api key 2: want KEY"},
		"white space":           {[]string{"se cret"}, "api key 1: want KEY"},
		"control character":     {[]string{"secret\n"}, "api key 1: want KEY"},
		"not ASCII":             {[]string{"secrét"}, "api key 1: want KEY"},
		"twice":                 {[]string{"secret", "secret=raj"}, "api key 2: given twice"},
		"unknown voice":         {[]string{"secret=rani"}, `api key 1: unknown voice "rani"; known voices: anjura, raj`},
		"empty list":            {[]string{"secret="}, `unknown voice ""`},
		"a list with a stray ,": {[]string{"secret=raj,"}, `unknown voice ""`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := NewStatic(tt.entries, voices)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error = %v, want it to contain %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q shows the key", err)
			}
		})
	}
}
