package speech

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDisclosure is how many code points a disclosure may have after trimming.
const MaxDisclosure = 400

// Disclosure is a setting: what is spoken before every text, so that listeners know that the voice is synthetic. The
// zero value sets nothing; one that is set to an empty text means that nothing is spoken.
type Disclosure struct {
	Set  bool
	Text string // as [CleanDisclosure] returns it
}

// Or returns d, or fallback if d sets nothing.
func (d Disclosure) Or(fallback Disclosure) Disclosure {
	if d.Set {
		return d
	}
	return fallback
}

var (
	errDisclosureNotUTF8  = errors.New("not valid UTF-8")
	errDisclosureControls = errors.New("must not contain control characters")
	errDisclosureSilent   = errors.New("must have a letter or a digit, or be empty")
	errDisclosureLength   = fmt.Errorf("must be at most %d characters", MaxDisclosure)
)

// CleanDisclosure trims the text of a disclosure and refuses what cannot be one. Its errors go behind the name of the
// field or flag. An empty text is fine.
func CleanDisclosure(text string) (string, error) {
	text = strings.TrimSpace(text)
	sounds := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	switch {
	case !utf8.ValidString(text):
		return "", errDisclosureNotUTF8
	case utf8.RuneCountInString(text) > MaxDisclosure:
		return "", errDisclosureLength
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", errDisclosureControls
	case text != "" && !strings.ContainsFunc(text, sounds):
		return "", errDisclosureSilent
	}
	return text, nil
}
