package words

import (
	"io/fs"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/table"
)

// Load reads all tables below the folder tables of fsys. An error names the file and the line.
func Load(fsys fs.FS) (*Vocabulary, error) {
	l := &loader{
		v: &Vocabulary{measures: newMeasures(), dotted: map[string]string{}, stroked: map[string]string{},
			figured: map[string]string{}, named: map[string]string{}, written: map[string]*Entry{},
			entries: make(map[string]*Entry, 5000)},
		names: make(map[string]Class, classCount),
	}
	for c, name := range classNames {
		l.names[name] = Class(c)
	}
	for _, t := range []struct { // in this order: what chats spell short weighs as the whole word does
		name    string
		columns []string
		add     func(*table.Row) error
	}{
		{"words", []string{"word", "classes"}, l.word},
		{"written", []string{"word", "classes"}, l.written},
		{"short", []string{"word", "said", "kind", "before", "after", "when"}, l.short},
		{"joined", []string{"word", "said", "joint"}, l.joined},
		{"said", []string{"kind", "of", "hi", "en"}, l.said},
		{"units", []string{"symbols", "hi", "en", "en-one", "kind", "hi-one"}, l.unit},
		{"rates", []string{"word", "hi", "en"}, l.rate},
		{"money", []string{
			"currency", "signs", "codes", "words", "kind", "hi-one", "hi", "hi-cent", "hi-cents", "en-one", "en", "en-cent", "en-cents",
		}, l.money},
	} {
		if err := table.Read(fsys, "tables/"+t.name+".tsv", t.columns, t.add); err != nil {
			return nil, err
		}
	}
	l.v.english.composeEnglish()
	l.v.expandRest()
	for _, e := range l.v.entries {
		e.Listed = e.isListed()
	}
	return l.v, nil
}

type loader struct {
	v     *Vocabulary
	names map[string]Class
	room  []Entry // for new entries, so that they are not allocated one by one
}

// class is the class of a name that a table may give to a word.
func (l *loader) class(r *table.Row, name string) (Class, error) {
	c, ok := l.names[name]
	if !ok {
		return 0, r.Errorf("unknown class %q", name)
	}
	if c == Expansion || c == Shortened || c == AnyHindi {
		return 0, r.Errorf("the class %q follows from others", name)
	}
	return c, nil
}

// word adds a row of words.tsv.
func (l *loader) word(r *table.Row) error { return l.classify(r, l.entry(r.Cell(0))) }

// written adds a row of written.tsv.
func (l *loader) written(r *table.Row) error {
	w := r.Cell(0)
	if l.v.written[w] == nil {
		l.v.written[w] = new(Entry)
	}
	return l.classify(r, l.v.written[w])
}

// classify gives e the classes of its row.
func (l *loader) classify(r *table.Row, e *Entry) error {
	if e.classes != (Set{}) {
		return r.Errorf("a second row of %q", r.Cell(0))
	}
	for name := range strings.SplitSeq(r.Cell(1), " ") {
		name, number, numbered := strings.Cut(name, "=")
		c, err := l.class(r, name)
		if err != nil {
			return err
		}
		if numbered != (c == Month || c == DottedMonth || c == Weekday || c == ScaleWord) {
			return r.Errorf("months, weekdays and scales have a number, and nothing else has: %q", r.Cell(1))
		}
		if numbered {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || e.N != 0 {
				return r.Errorf("want one number from 1 on: %q", r.Cell(1))
			}
			e.N = n
		}
		e.classes.add(c)
		if c == HindiWord || c == HindiFunction || c == HindiVerb || c == HindiMaybe {
			e.classes.add(AnyHindi)
		}
	}
	return nil
}

// short adds a row of short.tsv.
func (l *loader) short(r *table.Row) error {
	e, said := l.entry(r.Cell(0)), r.Cell(1)
	if r.Cell(2) != "beside" && r.Cell(3)+r.Cell(4)+r.Cell(5) != "" {
		return r.Errorf("only the kind beside asks for neighbours")
	}
	kind, letters := strings.CutSuffix(r.Cell(2), " letters")
	if kind != "hindiChat" { // what is Hindi speaks for Hindi, written in full or short
		l.v.expand(said)
	}
	switch kind {
	case "beside":
		return l.beside(r, e, said)
	case "hindiChat", "englishChat":
		if e.Chat != nil {
			return r.Errorf("a second chat spelling %q", r.Cell(0))
		}
		e.Chat = &Chat{said, letters}
		first, _, _ := strings.Cut(said, " ")
		whole := l.v.entries[first]
		if whole == nil {
			return nil
		}
		for _, c := range []Class{HindiWord, HindiFunction, HindiVerb, HindiMaybe, AnyHindi, EnglishWord} {
			if whole.Is(c) {
				e.classes.add(c)
			}
		}
		return nil
	}
	c, err := l.class(r, kind)
	if err != nil || letters || c < NeedsDot || c > BeforeID {
		return r.Errorf("unknown kind of short form: %q", r.Cell(2))
	}
	if e.Is(Shortened) {
		return r.Errorf("a second row of %q without neighbours", r.Cell(0))
	}
	e.Full = said
	e.classes.add(c)
	e.classes.add(Shortened)
	return nil
}

// beside adds a form to the word that is short for it.
func (l *loader) beside(r *table.Row, e *Entry, said string) (err error) {
	f := Form{Full: said}
	if f.Before, err = l.neighbours(r, r.Cell(3)); err != nil {
		return err
	}
	if f.After, err = l.neighbours(r, r.Cell(4)); err != nil {
		return err
	}
	f.When = strings.Fields(r.Cell(5))
	if said == "" || f.Before.Any() && f.After.Any() && len(f.When) == 0 {
		return r.Errorf("a form beside neighbours says something, and asks for one of before, after and when")
	}
	e.Beside = append(e.Beside, f)
	return nil
}

// neighbours reads the names of classes and the written words of a cell.
func (l *loader) neighbours(r *table.Row, cell string) (n Neighbours, err error) {
	for name := range strings.FieldsSeq(cell) {
		if written, ok := strings.CutPrefix(name, "="); ok {
			n.Words = append(n.Words, written)
			continue
		}
		c, ok := l.names[name]
		if !ok {
			return n, r.Errorf("unknown class %q; a word as it is written begins with =", name)
		}
		n.Classes = append(n.Classes, c)
	}
	return n, nil
}

// joined adds a row of joined.tsv.
func (l *loader) joined(r *table.Row) error {
	forms := map[string]map[string]string{"dotted": l.v.dotted, "stroked": l.v.stroked, "figured": l.v.figured,
		"named": l.v.named}[r.Cell(2)]
	if forms == nil {
		return r.Errorf("unknown joint %q", r.Cell(2))
	}
	if forms[r.Cell(0)] != "" || r.Cell(1) == "" {
		return r.Errorf("a second row of %q, or one that says nothing", r.Cell(0))
	}
	forms[r.Cell(0)] = r.Cell(1)
	if r.Cell(2) == "dotted" || r.Cell(2) == "stroked" {
		l.v.expand(r.Cell(1))
	}
	return nil
}
