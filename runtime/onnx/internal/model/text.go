package model

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/translit"
)

// Preparer brings chunks into the form that a model was trained on. It does not change and is safe for concurrent use.
type Preparer struct {
	rules  bundle.Text // Replace with the longest first
	script bundle.Script
}

// NewPreparer returns the preparer of a bundle's rules, for a model that was trained on texts in script.
func NewPreparer(rules *bundle.Text, script bundle.Script) *Preparer {
	p := &Preparer{rules: *rules, script: script}
	p.rules.Replace = slices.Clone(rules.Replace)
	slices.SortStableFunc(p.rules.Replace, func(a, b bundle.Replace) int { return len(b.From) - len(a.From) })
	p.inScript("a") // reads the tables, for which no listener should wait
	return p
}

// Prepare returns text as it is tokenised, and counts its words. Text without a word gives "".
func (p *Preparer) Prepare(text string) (prepared string, words int) {
	fields := strings.Fields(p.Rewrite(text))
	if len(fields) == 0 {
		return "", 0
	}
	text = strings.Join(fields, " ")
	if p.rules.Capitalise {
		first, n := utf8.DecodeRuneInString(text)
		if upper := unicode.ToUpper(first); upper != first {
			text = string(upper) + text[n:]
		}
	}
	if p.rules.TerminalPunctuation {
		text = terminate(text)
	}
	if p.rules.PadShort && len(fields) < 5 {
		text = strings.Repeat(" ", 8) + text
	}
	return text, len(fields)
}

// Rewrite returns text in the script of the model, and with what the rules name replaced, each character once. It
// leaves the rest as it is.
func (p *Preparer) Rewrite(text string) string {
	text = p.inScript(text)
	if replaced := replaceOnce(text, p.rules.Replace); replaced != text {
		text = dropWeakMarks(replaced)
	}
	if p.rules.RemoveSemicolons {
		text = strings.ReplaceAll(text, ";", ",")
	}
	return text
}

// inScript writes text as the model knows Hindi and English. It comes before the rules, because marks say where
// sentences end.
func (p *Preparer) inScript(text string) string {
	switch p.script {
	case bundle.Devanagari:
		return translit.Devanagari(norm.NFC.String(text), translit.Options{})
	case bundle.DevanagariLatin:
		return translit.Devanagari(norm.NFC.String(text), translit.Options{KeepAllEnglish: true})
	}
	return text
}

// replaceOnce applies rules, whose longest stand first, in one pass. What a rule has written is not replaced again.
func replaceOnce(text string, rules []bundle.Replace) string {
	var room [32]int // for as many rules as tokenizers make necessary, so that only more of them allocate
	next := room[:0] // where each rule applies next
	for _, r := range rules {
		next = append(next, strings.Index(text, r.From))
	}
	var out strings.Builder
	at := 0
	for {
		first := -1
		for i := range next {
			if next[i] >= 0 && next[i] < at { // inside what another rule has replaced
				if next[i] = strings.Index(text[at:], rules[i].From); next[i] >= 0 {
					next[i] += at
				}
			}
			if next[i] >= 0 && (first < 0 || next[i] < next[first]) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		out.WriteString(text[at:next[first]])
		out.WriteString(rules[first].To)
		at = next[first] + len(rules[first].From)
	}
	if at == 0 {
		return text
	}
	out.WriteString(text[at:])
	return out.String()
}

const endMarks = ".!?…।॥"

// dropWeakMarks drops , ; and : behind an end mark, with or without spaces between them. They stand there when a
// quote that closed the sentence was replaced by nothing.
func dropWeakMarks(text string) string {
	const weak = ",;:"
	var out strings.Builder
	copied, from := 0, 0 // so much is written; no weak mark before from stays behind an end mark
	ended := false       // before from stands an end mark, but for spaces and marks that were dropped
	for {
		i := strings.IndexAny(text[from:], weak)
		if i < 0 {
			break
		}
		between := strings.TrimRightFunc(text[from:from+i], unicode.IsSpace)
		if between != "" || from == 0 {
			last, _ := utf8.DecodeLastRuneInString(between)
			ended = strings.ContainsRune(endMarks, last)
		}
		if ended {
			out.WriteString(text[copied : from+i])
			copied = from + i + 1
		}
		from += i + 1
	}
	if copied == 0 {
		return text
	}
	out.WriteString(text[copied:])
	return out.String()
}

// terminate ends text with a full stop where it has no end mark, in the place of all weak marks at its end. Quotes
// and brackets that close stay behind it.
func terminate(text string) string {
	const (
		weak    = ",;:-–—"
		closers = "\"'’”»)]} "
	)
	body := strings.TrimRight(text, closers)
	if body == "" {
		return text
	}
	last, _ := utf8.DecodeLastRuneInString(body)
	switch {
	case strings.ContainsRune(endMarks, last):
		return text
	case strings.ContainsRune(weak, last):
		return strings.TrimRight(body, weak+" ") + "." + strings.Trim(text[len(body):], " ")
	default:
		return text + "."
	}
}
