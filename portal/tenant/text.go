package tenant

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/portal/emailaddr"
)

// Limits of text, in code points after trimming.
const (
	MaxName     = 80 // of organisations, projects, keys and wanted voices
	MaxLanguage = 35 // the longest tag that RFC 5646 requires to be supported
	MaxUseCase  = 2000
	MaxNotes    = 4000
	MaxEmail    = emailaddr.MaxLength // bytes
)

// cleanName trims a name and checks it.
func cleanName(field, s string) (string, error) { return cleanText(field, s, 1, MaxName, "") }

// cleanText trims s and checks its length, from least to most characters, and its controls, of which only those in
// allowed may be.
func cleanText(field, s string, least, most int, allowed string) (string, error) {
	s = strings.TrimSpace(s)
	if !utf8.ValidString(s) {
		return "", BadField(field, "not valid UTF-8")
	}
	switch n := utf8.RuneCountInString(s); {
	case n > most && least == 0:
		return "", BadField(field, fmt.Sprintf("must be at most %d characters", most))
	case n < least || n > most, least > 0 && !isSeen(s):
		return "", BadField(field, fmt.Sprintf("must be %d to %d characters", least, most))
	}
	for _, r := range s {
		if isControl(r) && !strings.ContainsRune(allowed, r) {
			return "", BadField(field, "must not contain control characters")
		}
	}
	return s, nil
}

// isControl also counts what turns the direction of a line or ends it: with these a name could rewrite the page or
// the mail that shows it. Joiners are letters in Indian scripts and stay.
func isControl(r rune) bool {
	turnsLine := '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
	endsLine := r == '\u2028' || r == '\u2029'
	return turnsLine || endsLine || unicode.IsControl(r)
}

// isSeen reports whether s has a visible character: names of joiners alone would look alike.
func isSeen(s string) bool {
	return strings.ContainsFunc(s,
		func(r rune) bool { return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me) })
}
