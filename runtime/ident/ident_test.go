package ident

import (
	"bytes"
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"
)

var shape = regexp.MustCompile(`^key_[0-9a-hjkmnp-tv-z]{26}$`)

func TestNew(t *testing.T) {
	seen := map[string]bool{}
	letters := map[rune]bool{}
	for range 1000 {
		id := New("key_")
		if !shape.MatchString(id) || seen[id] {
			t.Fatalf("%q is not a new identifier of the form %v", id, shape)
		}
		seen[id] = true
		for _, c := range id[len("key_"):] {
			letters[c] = true
		}
	}
	if len(letters) != 32 {
		t.Errorf("%d different characters were used, want 32", len(letters))
	}
}

func TestOf(t *testing.T) {
	for name, tt := range map[string]struct {
		hash [32]byte
		want string
	}{
		"no bits":               {[32]byte{}, "usr_00000000000000000000000000"},
		"the first five":        {[32]byte{0xf8}, "usr_z0000000000000000000000000"},
		"the last that show":    {[32]byte{16: 0x40}, "usr_00000000000000000000000001"},
		"the first that do not": {[32]byte{16: 0x20}, "usr_00000000000000000000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Of("usr_", tt.hash); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if a, b := Of("", sha256.Sum256([]byte("a"))), Of("", sha256.Sum256([]byte("b"))); a == b ||
		a != Of("", sha256.Sum256([]byte("a"))) {
		t.Errorf("%s and %s: want one for each thing", a, b)
	}
}

func TestValid(t *testing.T) {
	for name, tt := range map[string]struct {
		id   string
		want bool
	}{
		"one of ours":        {New("org_"), true},
		"one letter":         {"a", true},
		"nothing":            {"", false},
		"as long as may be":  {strings.Repeat("z", 64), true},
		"one longer":         {strings.Repeat("z", 65), false},
		"a capital":          {"org_A", false},
		"a slash inside":     {"org/a", false},
		"a space at the end": {"org_a ", false},
		"another script":     {"org_क", false},
		"NUL":                {"org_\x00", false},
	} {
		if got := Valid(tt.id); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestEncodeKeepsTheOrder(t *testing.T) {
	last := []byte{0, 0, 0, 0, 0}
	for i := range 255 {
		next := []byte{byte(i + 1), byte(i), 0, 0, 0}
		if bytes.Compare(last, next) >= 0 || Encode(last) >= Encode(next) {
			t.Fatalf("%x and %x are written as %s and %s", last, next, Encode(last), Encode(next))
		}
		last = next
	}
}
