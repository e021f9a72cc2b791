package espeak

import (
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/swar-tts/swar/runtime/translit"
)

// PreparedWord is a word of prepared text, and the part of the chunk that it was made of.
type PreparedWord struct {
	At       int // byte of the prepared text at which it begins
	From, To int // bytes of the chunk: what stands between two spaces. Several words may come from one part
}

// start is a word as the writer of a script knows it.
type start struct{ out, text int }

// PreparedWords is [Prepared] with the words of what it returns, in their order. There are none where it is not known
// which parts of the chunk they come from.
func PreparedWords(chunk string) (prepared string, words []PreparedWord) {
	composed := plainLatin(norm.NFC.String(chunk))
	hindi, trace := translit.Traced(composed, translit.Options{KeepEnglish: true})
	var starts []start
	prepared = write(hindi, &starts).text
	parts, of := fields(chunk), fields(composed)
	if len(parts) != len(of) {
		return prepared, nil
	}
	part := 0
	for _, s := range starts {
		for source := trace.Source(s.text); part < len(of)-1 && of[part].to <= source; {
			part++
		}
		words = append(words, PreparedWord{s.out, parts[part].from, parts[part].to})
	}
	return prepared, words
}

// field is what stands between two spaces, in bytes.
type field struct{ from, to int }

func fields(text string) (all []field) {
	open := false
	for i, r := range text {
		switch space := unicode.IsSpace(r); {
		case space && open:
			all[len(all)-1].to, open = i, false
		case !space && !open:
			all, open = append(all, field{i, len(text)}), true
		}
	}
	return all
}
