package translit

import (
	_ "embed" // the tables
	"strconv"
	"strings"
	"sync"
)

// The tables are lines of fields divided by tabs, sorted by the first, which is Roman and lower case. To teach a word, put its line
// where it sorts; the tests tell when it stands in two tables or is not in NFC.
var (
	//go:embed tables/hindi.tsv
	hindiTable string // roman, Hindi
	//go:embed tables/names.tsv
	namesTable string // roman, Devanagari: people, places, brands and words at home in both languages
	//go:embed tables/english.tsv
	englishTable string // English, Indian respelling or nothing
	//go:embed tables/either.tsv
	eitherTable string // roman, Hindi, respelling of the English word or nothing, lean: above 0 towards Hindi
	//go:embed tables/chat.tsv
	chatTable string // short form of English, what it says in full; each has a respelling in english.tsv
	//go:embed tables/stems.tsv
	stemsTable string // roman, Hindi stem of a verb
	//go:embed tables/homographs.tsv
	homographsTable string // roman, Devanagari of the name, title, capital or doer: names that are written like words
	//go:embed tables/parts.tsv
	partsTable string // roman, start, lead, end or place, Devanagari: what names are made of
)

// functionWords are the English words that show that their neighbours are English as well.
const functionWords = `the your our my his their its you we they it he's i'm it's you're we're they're this that these those
of for with from by at into about and but if because while when where which who whom whose what why how
will would shall should can could may might must has have had was were been being am be does did not don't doesn't didn't
can't cannot won't isn't aren't haven't hasn't there here an any some all as than then please`

// An entry is what the tables know of a word.
type entry struct {
	kind           kind
	lean           int8
	hindi, english string
	both           string // the word itself, where its neighbours decide how it is read
	person         *person
}

type lexicon struct {
	entries map[string]entry
	stems   map[string]string     // of verbs
	sounds  map[string]string     // Hindi words by how they sound; "" where two differ
	chat    map[string]string     // English in full by its short form
	guests  map[string]bool       // Devanagari that is a name and no Hindi word beside
	phrases map[string][][]string // names of several words, by the first: जी पे
	people  map[string]*person

	starts, ends             map[string]part
	longestStart, longestEnd int                     // in letters
	startsWith, endsWith     [longestWord + 1]uint32 // by length: the last letters of starts, the first of ends; see letterBit
}

// tables returns the lexicon, loading it on the first call.
var tables = sync.OnceValue(load)

func load() *lexicon {
	l := &lexicon{
		entries: make(map[string]entry, 14_000),
		stems:   make(map[string]string, 600),
		sounds:  make(map[string]string, 5_000),
		chat:    make(map[string]string, 150),
		guests:  make(map[string]bool, 4_500),
		people:  make(map[string]*person, 100),
		phrases: make(map[string][][]string, 80),
	}
	var room [40]byte
	for roman, rest := range rows(hindiTable) {
		l.entries[roman] = entry{kind: hindi, hindi: rest}
		sound := soundOf(room[:0], roman)
		if len(sound) < minSound {
			continue
		}
		if other, ok := l.sounds[string(sound)]; !ok {
			l.sounds[string(sound)] = rest
		} else if other != rest {
			l.sounds[string(sound)] = ""
		}
	}
	for roman, rest := range rows(namesTable) {
		l.entries[roman] = entry{kind: name, hindi: rest, english: rest}
		l.guests[rest] = true
		if words := strings.Fields(rest); len(words) > 1 {
			l.phrases[words[0]] = append(l.phrases[words[0]], words)
		}
	}
	for roman, rest := range rows(homographsTable) {
		hindi, by, _ := strings.Cut(rest, "\t")
		l.people[roman] = &person{hindi, tells[by]}
		l.guests[hindi] = true
	}
	for _, rest := range rows(hindiTable) {
		delete(l.guests, rest)
	}
	for roman, rest := range rows(englishTable) {
		l.entries[roman] = entry{kind: english, english: rest}
	}
	for roman := range strings.FieldsSeq(functionWords) {
		l.entries[roman] = entry{kind: function, english: l.entries[roman].english}
	}
	for roman, rest := range rows(eitherTable) {
		inHindi, rest, _ := strings.Cut(rest, "\t")
		inEnglish, lean, _ := strings.Cut(rest, "\t")
		n, err := strconv.ParseInt(lean, 10, 8)
		if err != nil {
			panic("translit: either.tsv: " + roman + ": " + err.Error())
		}
		e := entry{kind: either, hindi: inHindi, english: inEnglish, lean: int8(n), both: roman}
		if inEnglish == "" {
			e.kind = hindi // two Hindi words, not two languages
		}
		l.entries[roman] = e
	}
	for roman, rest := range rows(chatTable) {
		l.chat[roman] = rest
	}
	for roman, rest := range rows(stemsTable) {
		l.stems[roman] = rest
	}
	for roman, p := range l.people {
		if e, ok := l.entries[roman]; ok {
			e.person = p
			l.entries[roman] = e
		}
	}
	l.addParts(partsTable)
	return l
}

// rows yields the first field of each line of table, and the rest of the line.
func rows(table string) func(yield func(roman, rest string) bool) {
	return func(yield func(roman, rest string) bool) {
		for line := range strings.Lines(table) {
			roman, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !yield(roman, rest) {
				return
			}
		}
	}
}
