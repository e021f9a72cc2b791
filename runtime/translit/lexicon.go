package translit

import (
	"embed"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/swar-tts/swar/runtime/internal/table"
)

// The tables have a line for each word, Roman and lower case, in the order of the words. To add one, put its line
// where it sorts; tests fail if it stands in two tables or is not in NFC.
//
//go:embed tables/*.tsv
var files embed.FS

// An entry is what the tables know of a word.
type entry struct {
	kind           kind
	lean           int8
	hindi, english string
	both           string // the word itself, where its neighbours decide how it is read
	person         *person
}

type lexicon struct {
	entries     map[string]entry
	stems       map[string]string     // of verbs
	sounds      map[string]string     // Hindi words by how they sound; "" where two differ
	chat        map[string]string     // English in full by its short form
	onlyNames   map[string]bool       // Devanagari that is a name and no Hindi word beside
	phrases     map[string][][]string // names of several words, by the first: जी पे
	personNames map[string]*person

	starts, ends             map[string]part
	longestStart, longestEnd int // in letters
	// by length: the last letters of starts, the first of ends; see letterBit
	startsWith, endsWith [longestWord + 1]uint32
}

// tables returns the lexicon, loading it on the first call: only engines that read Devanagari need it.
var tables = sync.OnceValue(func() *lexicon {
	l, err := load(files)
	if err != nil {
		panic("translit: " + err.Error())
	}
	return l
})

// load reads the tables of fsys. An error names the file and the line.
func load(fsys fs.FS) (*lexicon, error) {
	l := &lexicon{
		entries:     make(map[string]entry, 20_000),
		stems:       make(map[string]string, 600),
		sounds:      make(map[string]string, 7_000),
		chat:        make(map[string]string, 200),
		onlyNames:   make(map[string]bool, 4_500),
		personNames: make(map[string]*person, 100),
		phrases:     make(map[string][][]string, 80),
		starts:      make(map[string]part, 700),
		ends:        make(map[string]part, 600),
	}
	for _, t := range sheets {
		if err := table.Read(fsys, "tables/"+t.name+".tsv", t.columns,
			func(r *table.Row) error { return t.add(l, r) }); err != nil {
			return nil, err
		}
	}
	for _, e := range l.entries {
		if e.kind == hindi && e.both == "" {
			delete(l.onlyNames, e.hindi)
		}
	}
	for roman, p := range l.personNames {
		if e, ok := l.entries[roman]; ok {
			e.person = p
			l.entries[roman] = e
		}
	}
	return l, nil
}

// A sheet is a table, and what becomes of its rows.
type sheet struct {
	name    string
	columns []string
	add     func(*lexicon, *table.Row) error
}

var sheets = []sheet{
	{"hindi", []string{"word", "hi"}, (*lexicon).addHindi},
	{"names", []string{"word", "hi"}, (*lexicon).addName},
	{"english", []string{"word", "hi", "kind"}, (*lexicon).addEnglish},
	{"either", []string{"word", "hi", "en", "lean"}, (*lexicon).addEither},
	{"chat", []string{"word", "said"}, func(l *lexicon, r *table.Row) error { return addTo(l.chat, r) }},
	{"stems", []string{"word", "hi"}, func(l *lexicon, r *table.Row) error { return addTo(l.stems, r) }},
	{"homographs", []string{"word", "hi", "cue"}, (*lexicon).addHomograph},
	{"parts", []string{"word", "where", "hi"}, (*lexicon).addPart},
}

// add adds the entry of a word that no table has yet.
func (l *lexicon) add(r *table.Row, e entry) error {
	if _, ok := l.entries[r.Cell(0)]; ok {
		return r.Errorf("a second row of %q", r.Cell(0))
	}
	l.entries[r.Cell(0)] = e
	return nil
}

func addTo(words map[string]string, r *table.Row) error {
	if words[r.Cell(0)] != "" || r.Cell(1) == "" {
		return r.Errorf("a second row of %q, or one that says nothing", r.Cell(0))
	}
	words[r.Cell(0)] = r.Cell(1)
	return nil
}

func (l *lexicon) addHindi(r *table.Row) error {
	roman, written := r.Cell(0), r.Cell(1)
	var room [40]byte
	if sound := soundOf(room[:0], roman); len(sound) >= minSound {
		if other, ok := l.sounds[string(sound)]; !ok {
			l.sounds[string(sound)] = written
		} else if other != written {
			l.sounds[string(sound)] = ""
		}
	}
	return l.add(r, entry{kind: hindi, hindi: written})
}

func (l *lexicon) addName(r *table.Row) error {
	written := r.Cell(1)
	l.onlyNames[written] = true
	if words := strings.Fields(written); len(words) > 1 {
		l.phrases[words[0]] = append(l.phrases[words[0]], words)
	}
	return l.add(r, entry{kind: name, hindi: written, english: written})
}

func (l *lexicon) addEnglish(r *table.Row) error {
	switch r.Cell(2) {
	case "":
		return l.add(r, entry{kind: english, english: r.Cell(1)})
	case "function":
		return l.add(r, entry{kind: function, english: r.Cell(1)})
	}
	return r.Errorf("unknown kind %q", r.Cell(2))
}

func (l *lexicon) addEither(r *table.Row) error {
	n, err := strconv.ParseInt(r.Cell(3), 10, 8)
	if err != nil {
		return r.Errorf("the lean is no small number: %q", r.Cell(3))
	}
	e := entry{kind: either, hindi: r.Cell(1), english: r.Cell(2), lean: int8(n), both: r.Cell(0)}
	if e.english == "" {
		e.kind = hindi // two Hindi words, not two languages
	}
	return l.add(r, e)
}

func (l *lexicon) addHomograph(r *table.Row) error {
	cue, ok := nameCues[r.Cell(2)]
	if !ok {
		return r.Errorf("unknown cue %q", r.Cell(2))
	}
	l.personNames[r.Cell(0)] = &person{r.Cell(1), cue}
	l.onlyNames[r.Cell(1)] = true
	return nil
}
