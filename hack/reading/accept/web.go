package accept

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// signs are what the signs of addresses are called.
var signs = map[rune][]string{
	'.': {"dot", "डॉट", "point"},
	'@': {"at", "at the rate", "ऐट", "एट", "ऐट द रेट", "एट द रेट"},
	'-': {"dash", "hyphen", "डैश", "हाइफ़न"},
	'_': {"underscore", "अंडरस्कोर", "under score"},
	'/': {"slash", "स्लैश", "forward slash", "फ़ॉरवर्ड स्लैश", ""},
}

// readWeb reads an address of the web, of mail or of UPI: names as words or letter by letter, signs by name. The scheme
// and www may be silent, and so may the @ of a handle.
func readWeb(value string, l Language) (node, error) {
	if value == "" {
		return nil, errors.New("no address")
	}
	var s sequence
	for _, scheme := range []string{"https", "http"} {
		if rest, ok := strings.CutPrefix(value, scheme+"://"); ok {
			name := sequence{spelled(scheme), phrases("", "colon", "कोलन"),
				phrases("", "slash slash", "double slash", "स्लैश स्लैश", "forward slash forward slash",
					"फ़ॉरवर्ड स्लैश फ़ॉरवर्ड स्लैश")}
			s = append(s, choice{nothing, name})
			value = rest
			break
		}
	}
	if rest, ok := strings.CutPrefix(value, "www."); ok {
		name := choice{spelled("www"), phrases("triple w", "ट्रिपल डब्ल्यू")}
		s = append(s, choice{nothing, sequence{name, phrases(signs['.']...)}})
		value = rest
	}
	if rest, ok := strings.CutPrefix(value, "@"); ok {
		s = append(s, choice{phrases(signs['@']...), nothing})
		value = rest
	}
	for len(value) > 0 {
		n, part := webPart(value, l)
		if part == nil {
			return nil, fmt.Errorf("%q is no part of an address", value)
		}
		s = append(s, part)
		value = value[n:]
	}
	return s, nil
}

// webPart reads what the address begins with, and says how long that is.
func webPart(value string, l Language) (int, node) {
	if n := runLength(value, func(r rune) bool { return r >= '0' && r <= '9' }); n > 0 {
		digits := choice{code(value[:n], englishDigit), code(value[:n], hindiDigit)}
		if v, err := strconv.ParseInt(value[:n], 10, 64); err == nil && value[0] != '0' && n <= 4 {
			digits = append(digits, number(figure{whole: v}, l), labelNumber(value[:n], l))
		}
		return n, digits
	}
	if n := runLength(value, unicode.IsLetter); n > 0 {
		return n, choice{plain(strings.ToLower(value[:n])), spelled(strings.ToLower(value[:n]))}
	}
	if names, ok := signs[rune(value[0])]; ok {
		return 1, phrases(names...)
	}
	return 0, nil
}
