package signin

import (
	"errors"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

var errBadEmail = errors.New("email: not a valid address")

// cleanEmail returns an address in lower case, as it is compared everywhere.
//
// Some letters that are not ASCII have a lower case that is: the Kelvin sign becomes a k. Such an address would turn into that of somebody
// else, so it is refused.
func cleanEmail(s string) (string, error) {
	s = strings.TrimSpace(s)
	if !utf8.ValidString(s) || len(s) > 254 || strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r >= utf8.RuneSelf && unicode.ToLower(r) < utf8.RuneSelf
	}) {
		return "", errBadEmail
	}
	s = strings.ToLower(s)
	address, err := mail.ParseAddress(s)
	if err != nil || address.Address != s || len(s) > 254 || strings.ContainsAny(s, `"<>()`) {
		return "", errBadEmail
	}
	return s, nil
}
