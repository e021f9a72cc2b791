package model

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// PrepareText brings a chunk into the form that the model was trained on, and counts its words. Text without a word gives "".
func PrepareText(text string, rules *bundle.Text) (prepared string, words int) {
	for _, r := range rules.Replace {
		text = strings.ReplaceAll(text, r.From, r.To)
	}
	if rules.RemoveSemicolons {
		text = strings.ReplaceAll(text, ";", ",")
	}
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return "", 0
	}
	text = strings.Join(fields, " ")
	if rules.Capitalise {
		first, n := utf8.DecodeRuneInString(text)
		if upper := unicode.ToUpper(first); upper != first {
			text = string(upper) + text[n:]
		}
	}
	if rules.TerminalPunctuation {
		text = terminate(text)
	}
	if rules.PadShort && len(fields) < 5 {
		text = strings.Repeat(" ", 8) + text
	}
	return text, len(fields)
}

// terminate ends text with a full stop where it has no end mark. Quotes and brackets that close stay behind it.
func terminate(text string) string {
	const (
		ends    = ".!?…।॥"
		weak    = ",;:-–—"
		closers = "\"'’”»)]} "
	)
	body := strings.TrimRight(text, closers)
	if body == "" {
		return text
	}
	last, n := utf8.DecodeLastRuneInString(body)
	switch closing := text[len(body):]; {
	case strings.ContainsRune(ends, last):
		return text
	case strings.ContainsRune(weak, last):
		return body[:len(body)-n] + "." + closing
	default:
		return text + "."
	}
}
