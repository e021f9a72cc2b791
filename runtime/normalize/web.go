package normalize

import (
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// E-mail and UPI addresses, web addresses, handles. Their words stay as they are, the signs between them are said, digits are an
// identifier's.

// maxAddress bounds what is looked at as an address, in bytes: that of an e-mail path (RFC 5321, section 4.5.3.1.3), which is a little longer than the longest
// name of a host (RFC 1035, section 2.3.4). What is longer is none, and a long run without spaces is not looked through for each of its words.
const maxAddress = 256

// within reports whether token j still belongs to an address that begins with token i, by its length.
func (r *reader) within(i, j int) bool { return r.at(j).b-r.at(i).a <= maxAddress }

// webAddress reads support@acme.co.in, ramesh.k@okaxis, https://x.y/z, www.irctc.co.in and acme.com/offer.
func (r *reader) webAddress(i int) int {
	t := r.at(i)
	if t.blob == 0 || r.tight(i) && !r.opens(i-1) {
		return i
	}
	if t.blob&hasAt != 0 {
		if next := r.email(i); next > i {
			return next
		}
	}
	if r.tightSign(i+3, '/') && r.at(i+4).gap && r.isSign(i+2, '/') && r.reads(i, "http", "https") {
		return r.hush(i, i+4, speech.SpanURL) // https:// acme.in
	}
	first := i
	if t.blob&hasSlashes != 0 && r.isScheme(i) {
		first = i + 4
	}
	next, ok := r.domain(first)
	if first == i && !ok {
		if next = r.file(i); next == i {
			return i
		}
	}
	r.begin(i, speech.SpanURL)
	next = r.path(next)
	r.sayAddress(first, next)
	return r.end(r.query(next))
}

// file returns the end of a name of a file, main.rs or src/app.py, and of what is dotted behind a mark of code, `user.name`; i for none.
func (r *reader) file(i int) int {
	if r.at(i).kind != latin {
		return i
	}
	end := i
	for j := i; r.within(i, j) && (j == i || r.tight(j)); j++ {
		t := r.at(j)
		if t.kind != latin && t.kind != digits && !t.isOneOf("./-_") {
			break
		}
		if t.kind != latin || j < i+2 || !r.isSign(j-1, '.') || !r.looseEnd(j+1) {
			continue
		}
		quoted := r.isSign(i-1, '`') && !r.tightSign(j+1, '.')
		if money := r.reads(j, "rs") && r.at(j+1).kind == digits; quoted || sourceFile[r.str(j)] && !money { // bill.rs 500
			end = j + 1
		}
	}
	return end
}

// sourceFile are the ends of names of files that programmers write about, as far as they are no words.
var sourceFile = wordSet(`
	rs js jsx mjs ts tsx py ipynb java kt cpp hpp cs php yaml yml toml ini cfg md rst tex sql css scss html htm xml svg gif webp vue sh exe apk proto ipa tsv env`)

// opens reports whether token i is a sign behind which an address may begin.
func (r *reader) opens(i int) bool {
	return r.at(i).isOneOf("([\"'<:,*`=")
}

// isScheme reports whether a colon, two strokes and the rest of an address follow token i closely: https://.
func (r *reader) isScheme(i int) bool {
	return r.tightSign(i+1, ':') && r.tightSign(i+2, '/') && r.tightSign(i+3, '/') && r.tight(i+4)
}

// email reads an address with @.
func (r *reader) email(i int) int {
	j := i
	for r.inName(j, i) && !r.isSign(j, '@') && r.within(i, j) && strings.IndexByte(r.atWord(j), '\'') < 0 {
		j++
	}
	if j == i || !r.tightSign(j, '@') || !r.tight(j+1) || r.at(j+1).kind != latin {
		return i
	}
	k := j + 1
	for r.inName(k, i) && !r.isSign(k, '_') && !r.isSign(k, '+') && r.within(i, k) {
		k++
	}
	for r.at(k-1).kind == sign {
		k-- // the full stop of the sentence
	}
	r.begin(i, speech.SpanEmail)
	r.sayAddress(i, k)
	return r.end(k)
}

// inName reports whether token j goes on the name that began at i.
func (r *reader) inName(j, i int) bool {
	t := r.at(j)
	if j > i && t.gap {
		return false
	}
	return t.kind == latin || t.kind == digits || t.isOneOf(".-_+")
}

// domain reads labels with dots between them; ok means that they end in a known top-level domain or begin with www.
func (r *reader) domain(i int) (next int, ok bool) {
	j, last, dots := i, -1, 0
	for r.within(i, j) {
		t := r.at(j)
		if j > i && t.gap || t.kind != latin && t.kind != digits {
			break
		}
		last = j
		j++
		for r.labelGoesOn(j) && r.within(i, j) {
			last = j
			j++
		}
		if !r.tightSign(j, '.') || !r.tight(j+1) || r.at(j+1).kind != latin && r.at(j+1).kind != digits {
			break
		}
		dots++
		j++
	}
	if isLong := !r.within(i, j) && r.tight(j); last < 0 || dots == 0 || isLong {
		return i, false
	}
	return last + 1, topLevel[r.str(last)] || r.str(i) == "www"
}

// labelGoesOn reports whether token j goes on the label of a domain: letters, digits, or the hyphen before more.
func (r *reader) labelGoesOn(j int) bool {
	if r.tightSign(j, '-') || r.tightSign(j, '_') { // files have underscores in their names
		return r.tight(j+1) && r.at(j+1).kind.wordLike()
	}
	return r.tight(j) && (r.at(j).kind == latin || r.at(j).kind == digits)
}

// topLevel are the ends of web addresses, and of file names, that are recognised without www or a scheme.
var topLevel = map[string]bool{
	"com": true, "in": true, "org": true, "net": true, "io": true, "ai": true, "app": true, "dev": true, "gov": true, "edu": true, "info": true, "biz": true,
	"xyz": true, "shop": true, "store": true, "online": true, "tech": true, "live": true, "site": true, "uk": true, "us": true, "ly": true, "tv": true, "bank": true,
	"pdf": true, "txt": true, "doc": true, "docx": true, "xls": true, "xlsx": true, "csv": true, "jpg": true, "jpeg": true, "png": true, "zip": true, "html": true, "json": true,
	"COM": true, "IN": true, "ORG": true, "NET": true,
}

// path returns the end of what follows a domain: strokes, words, digits.
func (r *reader) path(j int) int {
	end := j
	if !r.tightSign(j, '/') && !r.tightSign(j, ':') {
		return end
	}
	for r.tight(j) {
		t := r.at(j)
		switch {
		case t.kind.lettered() || t.kind == digits:
			end = j + 1
		case t.isOneOf("/-_.:~+%@"):
		default:
			return end
		}
		j++
	}
	return end
}

// query returns the end of the part that nobody reads out: ?a=b, #top, and a last stroke.
func (r *reader) query(j int) int {
	for r.tightSign(j, '/') {
		j++
	}
	if !(r.tightSign(j, '?') || r.tightSign(j, '#')) || !r.tight(j+1) {
		return j
	}
	end := j
	for r.tight(j) {
		t := r.at(j)
		if t.isOneOf(")]>\"" + string(rune(danda))) {
			break
		}
		j++
		if t.kind != sign || t.ch == '=' || t.ch == '&' {
			end = j
		}
	}
	return end
}

// sayAddress says tokens i to next.
func (r *reader) sayAddress(i, next int) {
	l := r.lang
	for j := i; j < next; j++ {
		t := r.at(j)
		switch t.kind {
		case latin:
			r.sayName(j, j == next-1)
		case digits:
			if s := r.str(j); len(s) == 10 && s[0] >= '6' {
				r.cut([]byte(s), 5)
			} else {
				r.grouped(s)
			}
		case sign:
			switch t.ch {
			case '.':
				r.say(l.words[wordDot])
			case '@':
				r.say(l.words[wordAt])
			case '/':
				r.say(l.words[wordSlash])
			case '-':
				r.say(l.words[wordHyphen])
			case '_':
				r.say(l.words[wordUnderscore])
			case '+':
				r.say(l.words[wordPlus])
			case '%':
				r.say(l.words[wordPercent])
			}
		default:
			r.say(r.str(j))
		}
	}
}

// sayName says a word of an address: www and acronyms by letters, everything else as it is. A short form in front of a full stop
// is said in full, for it would be when it is read again.
func (r *reader) sayName(j int, last bool) {
	t, s := r.at(j), r.str(j)
	r.doubtful = r.doubtful || r.isDecidedBeside(j) && t.cas != upper
	if full, _ := r.besideWord(j); last && full != "" {
		r.say(full)
		return
	}
	switch {
	case r.isSpelledEnd(j):
		r.letters(s, r.lang)
	case s == "Rs" || s == "RS" || s == "rs":
		r.say(r.lang.words[wordRupees]) // as it would be alone
	case s == "www" && r.lang == english:
		r.say("w w w")
	case s == "www", t.cas == upper && len(s) <= 6 && !saidAsWord(t.word), r.crosses(j):
		r.letters(s, r.lang)
	case t.word.en != "" && (t.word.is(dotOrNone) || last && r.isSign(j+1, '.')):
		r.say(t.word.en)
	case t.word.chat != nil:
		r.say(t.word.chat.full)
	case t.cas == upper, isPlural(s), t.word.is(shortened), t.cas == mixed && strings.HasSuffix(s, "'s"):
		// In small letters nobody takes it for an acronym or a title.
		r.room(true)
		for _, c := range []byte(s) {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			r.out = append(r.out, c)
		}
		r.join = spaced
	default:
		r.say(s)
	}
}

// isSpelledEnd reports whether token j is the end of a file name that elsewhere is short for something: main.rs, run.sh.
func (r *reader) isSpelledEnd(j int) bool {
	return r.isSign(j-1, '.') && sourceFile[r.str(j)] && (r.currencyCode(j) > 0 || r.isWord(j, shortened))
}

// handle reads @chai_adda and drops the sign of a hashtag.
func (r *reader) handle(i int) int {
	switch {
	case r.isSign(i, '#') && r.tight(i+1) && r.at(i+1).cas == upper && r.codeLetters(i+1):
		r.begin(i, speech.SpanSign)
		r.say(r.lang.words[wordNumber])
		return r.end(i + 1)
	case r.isSign(i, '#') && r.tight(i+1) && r.at(i+1).kind.lettered():
		return r.hush(i, i+1, speech.SpanHashtag)
	case r.isSign(i, '#') && r.at(i+1).kind == digits:
		return r.numberSign(i)
	case !r.isSign(i, '@') || r.at(i+1).kind != latin || !r.tight(i+1):
		return i
	}
	j := i + 1
	for r.tight(j) && r.inName(j, i) {
		j++
	}
	for r.at(j-1).kind == sign {
		j--
	}
	r.begin(i, speech.SpanHandle)
	r.say(r.lang.words[wordAt])
	r.sayAddress(i+1, j)
	return r.end(j)
}

// numberSign reads #58213; the sign is silent where the word number stands before it.
func (r *reader) numberSign(i int) int {
	if !r.looseEnd(i + 2) {
		return i
	}
	if r.numberBehind(i+2, '/') || r.numberBehind(i+2, '-') {
		r.begin(i, speech.SpanSign) // # 44/2, #12-3-45: a door, which is read by itself
		r.say(r.lang.words[wordNumber])
		return r.end(i + 1)
	}
	r.begin(i, speech.SpanCode)
	if !r.in(i-1, numberBefore) {
		r.say(r.lang.words[wordNumber])
	}
	if s := r.str(i + 1); len(s) == 1 {
		r.sayPlain(i+1, r.lang)
	} else {
		r.grouped(s)
	}
	return r.end(i + 2)
}
