package translit

import (
	"strings"
	"unicode/utf8"
)

// A vowel in its two forms: after a consonant, and by itself.
type vowel struct{ sign, alone string }

var (
	vShort = vowel{"", "अ"} // the vowel that a consonant has by itself
	vA     = vowel{"ा", "आ"}
	vI     = vowel{"ि", "इ"}
	vII    = vowel{"ी", "ई"}
	vU     = vowel{"ु", "उ"}
	vUU    = vowel{"ू", "ऊ"}
	vE     = vowel{"े", "ए"}
	vAI    = vowel{"ै", "ऐ"}
	vO     = vowel{"ो", "ओ"}
	vAU    = vowel{"ौ", "औ"}
	vR     = vowel{"ृ", "ऋ"} // as in Krishna
	vOpen  = vowel{"ॉ", "ऑ"} // as in order
)

const (
	virama   = "्"
	anusvara = "ं"
)

// A speller puts sounds together as Devanagari syllables.
type speller struct {
	out  *strings.Builder
	bare bool // a consonant was written and no vowel since
}

// consonant writes c. When another consonant stands before it without a vowel, tied says whether the two are one
// cluster.
func (s *speller) consonant(c string, tied bool) {
	if s.bare && tied {
		s.out.WriteString(virama)
	}
	s.out.WriteString(c)
	s.bare = true
}

func (s *speller) vowel(v vowel) {
	if s.bare {
		s.out.WriteString(v.sign)
	} else {
		s.out.WriteString(v.alone)
	}
	s.bare = false
}

// nasal writes the sign of a nasal, which colours the vowel before it.
func (s *speller) nasal(sign string) {
	s.out.WriteString(sign)
	s.bare = false
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
