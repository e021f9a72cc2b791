package speech

import "strings"

// CleanText trims a text that is to be spoken, and makes control characters in it spaces. It returns a [Refusal] for
// one that is empty or has a NUL. How long it is, it does not check.
func CleanText(text string) (string, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return "", ErrTextNUL
	}
	text = strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' && c != '\n' {
			return ' '
		}
		return c
	}, text))
	if text == "" {
		return "", ErrTextEmpty
	}
	return text, nil
}
