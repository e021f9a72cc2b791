package access

import (
	"hash/crc32"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

func TestNewKeys(t *testing.T) {
	pattern := regexp.MustCompile(`^` + Pattern + `$`)
	for _, prefix := range []string{LivePrefix, PlaygroundPrefix} {
		seen := map[string]bool{}
		for range 1000 {
			key, hash := New(prefix)
			if !pattern.MatchString(key) {
				t.Fatalf("New(%q) = %q, which Pattern does not find", prefix, key)
			}
			if got, ok := Parse(key); !ok || got != prefix {
				t.Fatalf("Parse(%q) = %q, %v, want %q, true", key, got, ok, prefix)
			}
			if hash != HashOf(key) {
				t.Fatalf("New returned %v for %q, want its hash %v", hash, key, HashOf(key))
			}
			if seen[key] || seen[KeyHint(key)] {
				t.Fatalf("New made %q, or its shown part, twice", key)
			}
			seen[key], seen[KeyHint(key)] = true, true
		}
	}
}

// The figures were worked out by another program, with the CRC-32 and SHA-256 of Python's library.
func TestKnownKeys(t *testing.T) {
	tests := map[string]struct{ key, prefix, shown, id, hash string }{
		"a live key": {
			"swar_live_0123456789ABCDEFGHIJKLMNOPQRSTUV2Tmpu4", LivePrefix, "swar_live_012345", "key_t83h9wzgc524dkk4rt4wmat4z9", "d20714f3f0614446ce64c689ca2b44fa58d49f3f89c9826e91cfafe8ae94c648",
		},
		"a playground key": {
			"swar_play_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz1Xw49V", PlaygroundPrefix, "swar_play_zzzzzz", "key_fdahsbey07ex7gfg5bmrztvtgn", "7b551cadde01ddd3c1f02ae98feb7a85645053a66714c5f2bd1a75681bb0aa45",
		},
		"a checksum with a leading zero": {
			"swar_live_0000000000000000000000000000015400TQro", LivePrefix, "swar_live_000000", "key_w9ahwj0n269z3q83e5wpvg2qxs", "e2551e48151193f1dd0371796dc057ee62f37d846c3ea96fc219b99a13816326",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := Parse(tt.key); !ok || got != tt.prefix {
				t.Errorf("Parse = %q, %v, want %q, true", got, ok, tt.prefix)
			}
			if got := KeyHint(tt.key); got != tt.shown {
				t.Errorf("Shown = %q, want %q", got, tt.shown)
			}
			if got := HashOf(tt.key).KeyID(); got != tt.id {
				t.Errorf("KeyID = %q, want %q", got, tt.id)
			}
			if got := HashOf(tt.key).String(); got != tt.hash {
				t.Errorf("hash = %s, want %s", got, tt.hash)
			}
		})
	}
}

func TestParseRefusesJunk(t *testing.T) {
	key, _ := New(LivePrefix)
	rest := strings.TrimPrefix(key, LivePrefix)
	tests := map[string]string{
		"nothing":                          "",
		"only the prefix":                  LivePrefix,
		"one character less":               key[:len(key)-1],
		"one character more":               key + "0",
		"an unknown prefix":                "swar_test_" + rest,
		"the prefix of the other kind":     PlaygroundPrefix + rest,
		"a prefix in capitals":             "SWAR_LIVE_" + rest,
		"a space in front":                 " " + key[:len(key)-1],
		"a character outside of the 62":    LivePrefix + "-" + rest[1:],
		"a letter that is not ASCII":       LivePrefix + "é" + rest[2:],
		"the characters beside 0, 9, A, Z": withChecksum(LivePrefix + "/:@[`{" + rest[6:32]),
		"the case of all letters swapped":  LivePrefix + swapCase(rest),
	}
	for name, junk := range tests {
		t.Run(name, func(t *testing.T) {
			if prefix, ok := Parse(junk); ok || prefix != "" {
				t.Errorf("Parse(%q) = %q, %v, want it refused", junk, prefix, ok)
			}
		})
	}
}

func TestParseSeesEveryTypingError(t *testing.T) {
	key, _ := New(LivePrefix)
	for i := range key {
		for _, c := range []byte(base62 + "_") {
			if typo := key[:i] + string(c) + key[i+1:]; typo != key {
				if _, ok := Parse(typo); ok {
					t.Errorf("Parse(%q) is ok, with a wrong character at %d of %q", typo, i, key)
				}
			}
		}
		if i > 0 && key[i] != key[i-1] {
			typo := key[:i-1] + string(key[i]) + string(key[i-1]) + key[i+1:]
			if _, ok := Parse(typo); ok {
				t.Errorf("Parse(%q) is ok, with two characters of %q swapped", typo, key)
			}
		}
	}
}

// A character that came more often would make keys easier to guess. With 62,000 draws a fair count of 1000 is off by
// 200 once in 10^9.
func TestRandomCharactersAreEven(t *testing.T) {
	counts := map[byte]int{}
	for _, c := range appendRandom(nil, 62_000) {
		counts[c]++
	}
	for _, c := range []byte(base62) {
		if n := counts[c]; n < 800 || n > 1200 {
			t.Errorf("%q came %d times in 62000, want about 1000", c, n)
		}
	}
	if len(counts) != 62 {
		t.Errorf("%d different characters, want 62", len(counts))
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	key, _ := New(LivePrefix)
	if n := testing.AllocsPerRun(100, func() { Parse(key) }); n != 0 {
		t.Errorf("Parse allocates %v times, want 0", n)
	}
}

func FuzzParse(f *testing.F) {
	key, _ := New(LivePrefix)
	for _, seed := range []string{"", LivePrefix, key, key[:20],
		withChecksum(PlaygroundPrefix + strings.Repeat("é", 16))} {
		f.Add(seed)
	}
	pattern := regexp.MustCompile(`^` + Pattern + `$`)
	f.Fuzz(func(t *testing.T, key string) {
		prefix, ok := Parse(key)
		if want := pattern.MatchString(key) && withChecksum(key[:keyLen-checkChars]) == key; ok != want {
			t.Errorf("Parse(%q) is %v, want %v", key, ok, want)
		}
		if ok && !strings.HasPrefix(key, prefix) {
			t.Errorf("Parse(%q) = %q, which it does not begin with", key, prefix)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	key, _ := New(LivePrefix)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Parse(key); !ok {
			b.Fatal("refused")
		}
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(LivePrefix)
	}
}

func withChecksum(body string) string {
	return string(appendChecksum([]byte(body), crc32.ChecksumIEEE([]byte(body))))
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func TestHashAsText(t *testing.T) {
	_, hash := New(LivePrefix)
	text, err := hash.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var back Hash
	if err := back.UnmarshalText(text); err != nil || back != hash {
		t.Errorf("%s came back as %v, %v", text, back, err)
	}
	for name, bad := range map[string]string{
		"one digit less":  string(text[1:]),
		"one digit more":  string(text) + "0",
		"not hexadecimal": "x" + string(text[1:]),
		"empty":           "",
	} {
		t.Run(name, func(t *testing.T) {
			if err := back.UnmarshalText([]byte(bad)); err == nil {
				t.Errorf("UnmarshalText(%q) = nil, want an error", bad)
			}
		})
	}
}
