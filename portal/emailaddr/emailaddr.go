// Package emailaddr validates e-mail addresses, and normalises them for comparison: "Asha@Example.org" →
// "asha@example.org".
package emailaddr

import (
	"errors"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// MaxLength is how many bytes an address has at most, as in RFC 5321.
const MaxLength = 254

// ErrInvalid refuses an invalid address. The text is part of the API.
var ErrInvalid = errors.New("email: not a valid address")

// Clean returns the canonical form of an address, or ErrInvalid. That is without surrounding white space, in lower
// case, in NFC (RFC 6532), with the domain in Unicode (UTS 46): "José@Xn--mnchen-3ya.example" →
// "josé@münchen.example".
//
// It is not a full check, which only a delivered mail is, but refuses addresses that cannot sign in. Some letters that
// are not ASCII have a lower case that is: the Kelvin sign becomes a k. Such an address would become another person's.
func Clean(s string) (string, error) {
	s = strings.TrimSpace(s)
	if len(s) > MaxLength || !utf8.ValidString(s) || strings.ContainsFunc(s, isForbidden) {
		return "", ErrInvalid
	}
	s = norm.NFC.String(strings.ToLower(s))
	if at := strings.LastIndexByte(s, '@'); at >= 0 && !strings.HasPrefix(s[at:], "@[") {
		domain, err := domains.ToUnicode(s[at+1:])
		if err != nil {
			return "", ErrInvalid
		}
		s = s[:at+1] + domain
	}
	// A bare address is returned unchanged. One in quotes, brackets or comments is another spelling of it.
	address, err := mail.ParseAddress(s)
	isBare := err == nil && address.Address == s && !strings.ContainsAny(s, `"<>()`)
	if !isBare || len(s) > MaxLength {
		return "", ErrInvalid
	}
	return s, nil
}

// domains maps names as resolvers do. It leaves it to them which ASCII characters a name has.
var domains = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// isForbidden reports whether a character is allowed in no address: white space and invisible characters, also those
// that change the direction of a line, and letters that become ASCII.
func isForbidden(r rune) bool {
	isInvisible := unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	return isInvisible || r >= utf8.RuneSelf &&
		(unicode.ToLower(r) < utf8.RuneSelf || norm.NFC.String(string(r))[0] < utf8.RuneSelf)
}
