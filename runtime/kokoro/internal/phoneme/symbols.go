package phoneme

import (
	_ "embed" // the vocabulary
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// vocabularyTable lists the model's symbols.
//
//go:embed vocabulary.tsv
var vocabularyTable string

// vocabulary maps a symbol to its id.
var vocabulary = parseVocabulary(vocabularyTable)

func parseVocabulary(table string) map[rune]int64 {
	ids := make(map[rune]int64)
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			continue // a comment
		}
		id, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			panic(err)
		}
		symbol, err := strconv.ParseInt(strings.TrimPrefix(fields[1], "U+"), 16, 32)
		if err != nil {
			panic(err)
		}
		ids[rune(symbol)] = id
	}
	return ids
}

// space is the id between two words.
var space = vocabulary[' ']

// respelled says how sounds of the program are written in Kokoro's symbols, to be applied in this order. All other
// symbols stay, among them "r." for the flaps of ड़ and ढ़: that is what the model was trained on, though its full
// stop looks out of place.
var respelled = [...]struct{ from, to string }{
	// Diphthongs and affricates are one symbol. The affricates come from English words; च and ज are c and ɟ.
	{"a^ɪ", "I"}, {"a^ʊ", "W"}, {"d^z", "ʣ"}, {"d^ʒ", "ʤ"}, {"e^ɪ", "A"}, {"o^ʊ", "O"},
	{"ə^ʊ", "Q"}, {"s^s", "S"}, {"t^s", "ʦ"}, {"t^ʃ", "ʧ"}, {"ɔ^ɪ", "Y"},
	{"^", ""}, {"-", ""}, // the other ties
	// What the vocabulary lacks: the l of ळ, consonants that are syllables, the l of battle.
	{"ɭ", "l"}, {"r\u0329", "ɾɪ"}, {"n\u0329", "ən"}, {"\u0329", ""}, {"ɬ", "l"},
	// Behind these, the model speaks ʋ as an r, or as nothing: quick, Twitter.
	{"kʋ", "kw"}, {"ʈʋ", "ʈw"},
}

// symbols writes a word of the program's answer in Kokoro's symbols.
func symbols(word string) string {
	for _, r := range respelled {
		word = strings.ReplaceAll(word, r.from, r.to)
	}
	return withStops(withNasals(word))
}

// nasals are the nasal consonants that are spoken where the stops behind them are.
var nasals = map[rune]rune{
	'k': 'ŋ', 'ɡ': 'ŋ', 'c': 'ɲ', 'ɟ': 'ɲ', 'ʈ': 'ɳ', 'ɖ': 'ɳ', 't': 'n', 'd': 'n', 'p': 'm', 'b': 'm',
}

// withNasals puts a nasal consonant between a nasal vowel and a stop: bʊkĩɡ → bʊkĩŋɡ. The program writes the vowel
// alone for the dot of बुकिंग and बैंक, where one hears both.
func withNasals(word string) string {
	if !strings.ContainsRune(word, tilde) {
		return word
	}
	var out strings.Builder
	nasal := false // what came last is a nasal vowel
	for _, r := range word {
		if n, ok := nasals[r]; ok && nasal {
			out.WriteRune(n)
		}
		nasal = r == tilde || nasal && r == 'ː'
		out.WriteRune(r)
	}
	return out.String()
}

const tilde = '\u0303'

// withStops writes a retroflex d where the model would speak the flap of ड़, in which a listener hears an r or nothing.
// One that ends a syllable begins as a dental one and is long: ɡˈaːɾɖ → ɡˈaːɾdɖː. One between a vowel or a stop and a
// vowel is dental: ʌpɖˈeːʈ → ʌpdˈeːʈ. The model speaks a stop at the beginning, behind a nasal (brand), r and l before
// a vowel (order), and doubled (लड्डू).
func withStops(word string) string {
	if !strings.ContainsRune(word, 'ɖ') {
		return word
	}
	var out strings.Builder
	before := ' '
	for i, r := range word {
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(word[i+utf8.RuneLen(r):], stressMarks))
		switch {
		case r != 'ɖ' || strings.ContainsRune(keepStops, before):
			out.WriteRune(r)
		case next == utf8.RuneError || strings.ContainsRune(closeSyllables, next):
			out.WriteString("dɖː")
		case strings.ContainsRune(vowels, next) && strings.ContainsRune(vowels+"ːkɡcɟʈtpb", before):
			out.WriteRune('d')
		default:
			out.WriteRune(r)
		}
		if !strings.ContainsRune(stressMarks, r) {
			before = r
		}
	}
	return out.String()
}

const (
	// behind which a d is heard; the space stands for the beginning of the word
	keepStops      = " ɳnmɲŋɖ"
	closeSyllables = "kɡcɟʈtdpbmnɳɲŋlʋsʃʂfzʧʤ" // before which it ends a syllable
	vowels         = "aeiouɪʊɛɔəʌɒɑɜæIWAOQY"
	stressMarks    = "ˈˌ"
)

// withoutFlags removes the notes in brackets that tell of a change of language: (^e^n), (hi).
func withoutFlags(line string) string {
	before, rest, found := strings.Cut(line, "(")
	for found {
		_, behind, closed := strings.Cut(rest, ")")
		if !closed {
			return before + rest
		}
		line, rest, found = strings.Cut(behind, "(")
		before += line
	}
	return before
}

// appendIDs appends the ids of symbols. One that the vocabulary lacks has none.
func appendIDs(ids []int64, symbols string) []int64 {
	for _, s := range symbols {
		if id, ok := vocabulary[s]; ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// pause is the id of the pauses around a text.
const pause = 0

var (
	fullStop = vocabulary['.']
	markIDs  = idsOf(";:,.!?…—")
)

// Fed returns the model's input for the ids of a text, which are not empty. It adds pauses around them, and a full
// stop where there is no mark at the end. The statistics of voices are of sentences: without a mark, the end is
// noise.
func Fed(ids []int64) []int64 {
	fed := append(make([]int64, 0, len(ids)+3), pause)
	fed = append(fed, ids...)
	if len(ids) < MaxIDs && !slices.Contains(markIDs, ids[len(ids)-1]) {
		fed = append(fed, fullStop)
	}
	return append(fed, pause)
}
