package espeak_test

import (
	_ "embed" // the messages
	"flag"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/translit"
)

// Each line is a message as people write it, and what the program is fed in the end.
//
//go:embed testdata/aloud.tsv
var aloudTable string

const aloudFile = "testdata/aloud.tsv"

// A message goes the whole way here, from what was written to what is fed, because most misreadings are made between
// two steps that are each right by themselves. Read every changed line of the golden file aloud before you commit it.
func TestTwentyMessagesReadAloud(t *testing.T) {
	updating := flag.Lookup("update").Value.String() == "true"
	var lines strings.Builder
	messages := 0
	for line := range strings.Lines(aloudTable) {
		written, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok && !updating {
			t.Fatalf("%q has no second field", line)
		}
		messages++
		got := espeak.Prepared(normalize.Text(written, normalize.Options{}))
		lines.WriteString(written + "\t" + got + "\n")
		if got != want && !updating {
			t.Errorf("%s\n got %s\nwant %s", written, got, want)
		}
		for _, w := range strings.FieldsFunc(got, func(r rune) bool { return !isRoman(r) }) {
			if isRomanHindi(w) {
				t.Errorf("%s: %q is Roman Hindi and would be read by English rules in %s", written, w, got)
			}
		}
		for _, w := range strings.FieldsFunc(written, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
			if spelled := inLetters(w); spelled != "" && strings.Contains(" "+got+" ", " "+spelled+" ") {
				t.Errorf("%s: %q is spelled out in %s", written, w, got)
			}
		}
		if bad := strings.IndexFunc(got, isNamed); bad >= 0 {
			t.Errorf("%s: the program would say the name of a sign: %s", written, got[bad:])
		}
		if !strings.Contains(written, "/") && strings.Contains(got, "स्लैश") || strings.Contains(got, "डैश") ||
			strings.Contains(got, "अंडरस्कोर") {
			t.Errorf("%s: the name of a sign is said in %s", written, got)
		}
	}
	if messages < 20 {
		t.Errorf("%d messages, want at least 20", messages)
	}
	if updating {
		if err := os.WriteFile(aloudFile, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func isRoman(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' || r == '\'' }

// bothLanguages are the English words of the messages that are Hindi when they stand alone.
const bothLanguages = " is in on to me not or "

// isRomanHindi reports whether a word that is left in Roman letters would be Hindi by itself.
func isRomanHindi(w string) bool {
	if len(w) < 2 || strings.Contains(bothLanguages, " "+strings.ToLower(w)+" ") {
		return false
	}
	return translit.Devanagari(w, translit.Options{KeepEnglish: true}) != w
}

// inLetters is a lower-case word as it would be spelled out, "" for a word of other letters or of capitals.
func inLetters(w string) string {
	if len(w) < 2 || strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || 'z' < r }) {
		return ""
	}
	return translit.Devanagari(strings.Join(strings.Split(strings.ToUpper(w), ""), " "), translit.Options{})
}

// isNamed reports whether r has a name that the program says.
func isNamed(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune(" -,;:–—….।!?॥'", r)
}
