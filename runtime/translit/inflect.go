package translit

import (
	"bytes"
	"strings"
)

// inflected takes key apart: a verb in one of its forms, a noun in the plural, an English word with an ending, two
// English words in one.
func (l *lexicon) inflected(w *word, key []byte) bool {
	if !w.proper && l.verb(w, key) {
		return true
	}
	ofOneWord := l.englishForm(w, key) || l.genitive(w, key) || l.noun(w, key)
	return ofOneWord || l.compound(w, key)
}

// verb finds a stem with an ending, the longest stem first.
func (l *lexicon) verb(w *word, key []byte) bool {
	for i := len(key); i > 0; i-- {
		stem, ok := l.stems[string(key[:i])]
		if !ok {
			continue
		}
		end, ok := verbEndings[string(key[i:])]
		if !ok {
			continue
		}
		suffix := end.afterConsonant
		if endsInVowel(stem) {
			suffix = end.afterVowel
		}
		if suffix == "" && i < len(key) {
			continue
		}
		w.kind, w.hindi, w.suffix = hindi, stem, suffix
		return true
	}
	return false
}

// An ending is written by what it follows; "" where it cannot follow.
type ending struct{ afterConsonant, afterVowel string }

// verbEndings maps Roman endings, with their chat spellings, to what they are in Devanagari. Helping verbs that are
// written in one word with their stem (kardo, hogaya) are parted from it.
var verbEndings = func() map[string]ending {
	all := map[string]ending{"": {}}
	add := func(afterConsonant, afterVowel string, romans string) {
		for roman := range strings.FieldsSeq(romans) {
			all[roman] = ending{afterConsonant, afterVowel}
		}
	}
	both := func(s, romans string) { add(s, s, romans) }

	both("ना", "na naa")
	both("ने", "ne")
	both("नी", "ni nee")
	both("ता", "ta taa")
	both("ते", "te")
	both("ती", "ti tee")
	both("तीं", "tin teen")
	add("ा", "", "a aa")
	add("े", "ए", "e")
	add("ी", "ई", "i ee ii")
	add("ीं", "ईं", "in een")
	add("", "या", "ya yaa")
	add("", "ए", "ye")
	add("", "ई", "yi yee")
	add("", "ईं", "yin yeen")
	add("ो", "ओ", "o")
	add("ूँ", "ऊँ", "u un oon oo uun")
	add("ूँगा", "ऊँगा", "unga ungaa oonga oongaa uunga uga")
	add("ूँगी", "ऊँगी", "ungi oongi uungi ungee ugi")
	add("ेगा", "एगा", "ega egaa aega eyga")
	add("ेगी", "एगी", "egi egee aegi")
	add("ेंगे", "एँगे", "enge engey einge aenge ege")
	add("ेंगी", "एँगी", "engi engee eingi aengi")
	add("", "एगा", "yega yegaa")
	add("", "एगी", "yegi yegee")
	add("", "एँगे", "yenge yengey yeinge yege")
	add("", "एँगी", "yengi yengee yeingi")
	add("ोगे", "ओगे", "oge ogey")
	add("ोगी", "ओगी", "ogi ogee")
	add("ें", "एँ", "en ein")
	add("", "एँ", "yen yein")
	add("िए", "इए", "iye ie iyee iyen")
	add("िएगा", "इएगा", "iyega iyegaa iega iyga")
	add("ियो", "इयो", "iyo")
	both("कर", "kar kr")
	both("के", "ke")
	both("नेवाला", "newala newaala nevala newla")
	both("नेवाले", "newale newaale nevale newle")
	both("नेवाली", "newali newaali nevali newli")

	both(" दो", "do")
	both(" दे", "de")
	both(" देना", "dena")
	both(" देने", "dene")
	both(" देनी", "deni")
	both(" देता", "deta")
	both(" देते", "dete")
	both(" देती", "deti")
	both(" दिया", "diya dia dya")
	both(" दिए", "diye")
	both(" दी", "di dii")
	both(" दूँ", "du dun doon")
	both(" दूँगा", "dunga doonga duga")
	both(" दूँगी", "dungi doongi")
	both(" देगा", "dega")
	both(" देगी", "degi")
	both(" देंगे", "denge")
	both(" दीजिए", "dijiye dijie dijiyega deejiye")
	both(" लो", "lo")
	both(" ले", "le")
	both(" लेना", "lena")
	both(" लेते", "lete")
	both(" लिया", "liya lia lya")
	both(" लिए", "liye")
	both(" ली", "li")
	both(" लूँगा", "lunga loonga luga")
	both(" लूँगी", "lungi")
	both(" लेगा", "lega")
	both(" लेंगे", "lenge")
	both(" लीजिए", "lijiye lijie leejiye")
	both(" रहा", "raha rha rahaa")
	both(" रहे", "rahe rhe")
	both(" रही", "rahi rhi rahee")
	both(" चुका", "chuka")
	both(" चुके", "chuke")
	both(" चुकी", "chuki")
	both(" सकता", "sakta skta")
	both(" सकते", "sakte skte")
	both(" सकती", "sakti skti")
	both(" गया", "gaya gya")
	both(" गए", "gaye gye gae")
	both(" गई", "gayi gyi gai")
	both(" जाए", "jaye jae")
	both(" जाएगा", "jayega jaega jyega")
	both(" जाएगी", "jayegi jaegi jyegi")
	both(" जाएँगे", "jayenge jaenge")
	both(" जाता", "jata jaata jta")
	both(" जाती", "jati jaati jti")
	both(" जाते", "jate jaate jte")
	both(" जाना", "jana jaana")
	return all
}()

// noun finds a Hindi noun in an oblique or plural form, or with ji or wala written to it.
func (l *lexicon) noun(w *word, key []byte) bool {
	var room [48]byte
	for _, p := range nounEndings {
		if w.proper && p.suffix[0] != ' ' { // Simon is no plural
			continue
		}
		base, ok := bytes.CutSuffix(key, []byte(p.roman))
		if !ok || len(base) < p.least {
			continue
		}
		e, ok := l.entries[string(append(append(room[:0], base...), p.add...))]
		if !ok {
			continue
		}
		inflects := e.kind == hindi || e.kind == name && p.suffix[0] == ' ' // a name has no plural
		switch {
		case e.kind == english && e.english != "" && p.fitsEnglish():
			w.kind, w.hindi, w.suffix = hindi, e.english, p.suffix
		case inflects && strings.HasSuffix(e.hindi, p.cut) && p.fits(e.hindi):
			w.kind, w.hindi, w.suffix = hindi, strings.TrimSuffix(e.hindi, p.cut), p.suffix
		default:
			continue
		}
		return true
	}
	return false
}

// A nounEnding is taken off, add put on, and if that is a word, cut is taken off its Devanagari and suffix put on.
type nounEnding struct {
	roman, add  string
	cut, suffix string
	least       int // letters that must be left
}

var nounEndings = []nounEnding{
	{"iyon", "i", "ी", "ियों", 2},
	{"iyo", "i", "ी", "ियों", 2},
	{"iyan", "i", "ी", "ियाँ", 2},
	{"iyaan", "i", "ी", "ियाँ", 2},
	{"on", "a", "ा", "ों", 3},
	{"on", "", "", "ों", 3},
	{"ein", "", "", "ें", 3},
	{"en", "", "", "ें", 3},
	{"aon", "a", "", "ओं", 2},
	{"yein", "", "", "एँ", 4},
	{"yen", "", "", "एँ", 4},
	{"aein", "a", "", "एँ", 3},
	{"aen", "a", "", "एँ", 3},
	{"o", "a", "ा", "ों", 3},
	{"o", "", "", "ों", 3},
	{"ji", "", "", " जी", 3},
	{"wala", "", "", " वाला", 2},
	{"wale", "", "", " वाले", 2},
	{"wali", "", "", " वाली", 2},
	{"walo", "", "", " वालों", 2},
	{"walon", "", "", " वालों", 2},
	{"vala", "", "", " वाला", 2},
	{"vale", "", "", " वाले", 2},
	{"vali", "", "", " वाली", 2},
}

// fits reports whether the suffix can follow the word: vowel signs need a consonant.
func (p nounEnding) fits(s string) bool {
	if p.suffix == "एँ" {
		return lastRune(s) == 'ा'
	}
	return p.cut != "" || p.suffix[0] == ' ' || p.suffix == "ओं" || !endsInVowel(s)
}

// fitsEnglish reports whether Hinglish puts the suffix behind English words too: orderon, callein.
func (p nounEnding) fitsEnglish() bool { return p.least > 2 && p.cut == "" }

// englishForm finds a known English word with -s, -ed, -ing and the like.
func (l *lexicon) englishForm(w *word, key []byte) bool {
	var room [48]byte
	for _, p := range englishForms {
		base, ok := bytes.CutSuffix(key, []byte(p.roman))
		if !ok || len(base) < 2 {
			continue
		}
		e, ok := l.entries[string(append(append(room[:0], base...), p.add...))]
		if n := len(base); !ok && p.doubles && n > 2 && base[n-1] == base[n-2] { // shipped, planning
			e, ok = l.entries[string(base[:n-1])]
		}
		if !ok || !e.takes(p.ending) {
			continue
		}
		w.kind = english
		if e.english != "" {
			w.english, w.ending = e.english, p.ending
		}
		return true
	}
	return false
}

// takes reports whether e is an English word that can have the ending. A name has no other than s.
func (e entry) takes(ending string) bool {
	switch e.kind {
	case english:
		return true
	case hindi, function:
		return false
	case name:
		return e.english != "" && ending == "s"
	}
	return e.english != ""
}

// genitive finds a Hindi word with the English 's, as in "kal's meeting".
func (l *lexicon) genitive(w *word, key []byte) bool {
	base, ok := bytes.CutSuffix(key, []byte("'s"))
	if !ok {
		return false
	}
	e := l.entries[string(base)]
	if e.kind != hindi {
		return false
	}
	w.kind, w.hindi, w.suffix = hindi, e.hindi, choose(endsInVowel(e.hindi), "ज़", "्स")
	return true
}

var englishForms = []struct {
	roman, add string
	doubles    bool
	ending     string
}{
	{"'s", "", false, "s"},
	{"s", "", false, "s"},
	{"es", "", false, "s"},
	{"ies", "y", false, "s"},
	{"ed", "", true, "ed"},
	{"ed", "e", false, "ed"},
	{"ied", "y", false, "ed"},
	{"ing", "", true, "ing"},
	{"ing", "e", false, "ing"},
	{"er", "", true, "er"},
	{"er", "e", false, "er"},
	{"ers", "", true, "ers"},
	{"ers", "e", false, "ers"},
	{"ly", "", false, "ly"},
	{"ment", "", false, "ment"},
	{"ness", "", false, "ness"},
}

// prefixes stand before English words without being words themselves.
var prefixes = map[string]string{
	"un": "अन", "re": "री", "pre": "प्री", "dis": "डिस", "mis": "मिस", "anti": "ऐंटी", "inter": "इंटर", "multi": "मल्टी", "micro": "माइक्रो", "semi": "सेमी",
}

// compound finds two English words, or a prefix and a word, written in one.
func (l *lexicon) compound(w *word, key []byte) bool {
	for i := 2; i <= len(key)-3 && len(key) > 5; i++ {
		second := l.entries[string(key[i:])]
		if second.kind != english || second.english == "" {
			continue
		}
		first := prefixes[string(key[:i])]
		if e := l.entries[string(key[:i])]; i > 2 && e.kind == english {
			first = e.english
		}
		if first != "" {
			w.kind, w.english, w.ending = english, first, second.english
			return true
		}
	}
	return false
}

// writeInflected writes an English word with its ending as Devanagari spells it.
func writeInflected(out *strings.Builder, base, ending string) {
	out.WriteString(base)
	open := !endsInVowel(base) // ends in a consonant
	last := lastRune(base)
	switch ending {
	case "s":
		switch {
		case !open:
			out.WriteString("ज़")
		case strings.ContainsRune("सशजच", last) || strings.HasSuffix(base, "ज़"):
			out.WriteString("ेस") // as in boxes and pages
		default:
			out.WriteString("्स")
		}
	case "ed":
		switch {
		case !open:
			out.WriteString("ड")
		case last == 'ट' || last == 'ड':
			out.WriteString("ेड")
		default:
			out.WriteString("्ड")
		}
	case "ing":
		out.WriteString(choose(open, "िंग", "इंग"))
	case "er":
		out.WriteString(choose(open, "र", "अर"))
	case "ers":
		out.WriteString(choose(open, "र्स", "अर्स"))
	case "ly":
		out.WriteString("ली")
	case "ment":
		out.WriteString("मेंट")
	case "ness":
		out.WriteString("नेस")
	default: // the second word of a compound
		out.WriteString(ending)
	}
}

// writeJoined writes a Hindi stem with its ending.
func writeJoined(out *strings.Builder, stem, suffix string) {
	// A long i or u is shortened before another vowel: पी, पिएगा; छू, छुएगा.
	if suffix != "" && strings.ContainsRune("अआइईउऊएऐओऔ", firstRune(suffix)) {
		if s, ok := strings.CutSuffix(stem, "ी"); ok {
			stem = s
			out.WriteString(stem)
			out.WriteString("ि")
			out.WriteString(suffix)
			return
		}
		if s, ok := strings.CutSuffix(stem, "ू"); ok {
			out.WriteString(s)
			out.WriteString("ु")
			out.WriteString(suffix)
			return
		}
	}
	out.WriteString(stem)
	out.WriteString(suffix)
}

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// endsInVowel reports whether the last sound of a Devanagari word is a written vowel.
func endsInVowel(s string) bool {
	r := lastRune(s)
	switch r {
	case 'ं', 'ँ', 'ः', 'ॅ':
		return true
	}
	return 'अ' <= r && r <= 'औ' || 'ा' <= r && r <= 'ौ'
}
