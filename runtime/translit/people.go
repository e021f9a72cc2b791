package translit

// Some names are written like words: Khan and a careless kahan, Puri and poori, Karan and kaaran. Their neighbours
// decide, or a capital that is not due to a sentence or a heading.

// A person is a name that is written like a word.
type person struct {
	hindi string
	cue   nameCue
}

// nameCue is what distinguishes a name from the word.
type nameCue uint8

const (
	byTitle   nameCue = iota // a title beside it
	byCapital                // a capital inside a sentence, or a first name before it
	byDeed                   // ne behind it, which no other reading can have
)

var nameCues = map[string]nameCue{"title": byTitle, "capital": byCapital, "doer": byDeed}

// titles stand before a name, honorifics behind it. Those of the second row do so too, but also before and behind
// other words, so that the name must have a capital.
const (
	titles      = "mr mrs ms mister missus shri shree sri smt shrimati shreemati kumari km"
	professions = "miss dr doctor prof professor pandit master justice captain major colonel inspector minister sardar sir"
	honorifics  = "ji jee sahab sahib saheb saab sahiba kumar kumari devi begum madam memsahab"
	relations   = "sir bhai bhaiya didi uncle aunty auntie chacha maam mam ma'am singh prasad lal"
)

// findPeople makes names of the words that are some where they stand.
func (s *sentence) findPeople() {
	for i := range s.words {
		w := &s.words[i]
		if w.person != nil && s.isPerson(i) {
			w.kind, w.hindi, w.english = name, w.person.hindi, w.person.hindi
			w.suffix, w.ending, w.both, w.lean = "", "", "", 0
		}
	}
}

// isPerson reports whether word i, which can be a name, is one.
func (s *sentence) isPerson(i int) bool {
	w := &s.words[i]
	before, after := s.before(i), s.after(i)
	hasTitle := s.says(before, titles) || s.says(after, honorifics)
	if hasTitle || w.capital && (s.says(before, professions) || s.says(after, relations)) {
		return true
	}
	if before.reads("नाम") && after.reads("है था") {
		return true
	}
	switch w.person.cue {
	case byDeed:
		return s.isProper(i) || s.isSurname(i) || after.reads("ने")
	case byCapital:
		return s.isProper(i) || s.isSurname(i)
	}
	return false
}

// isProper reports whether word i has the capital of a name. A word in Latin letters between Devanagari is not the
// Hindi one.
func (s *sentence) isProper(i int) bool {
	w := &s.words[i]
	if w.proper {
		return true
	}
	if !w.capital || w.kind != hindi {
		return false
	}
	return s.before(i).kind == devanagari || s.after(i).kind == devanagari
}

// isSurname reports whether word i stands between a name and what follows a noun: Om Puri ki film.
func (s *sentence) isSurname(i int) bool {
	return s.before(i).kind == name && s.after(i).reads("ने को का की के से")
}
