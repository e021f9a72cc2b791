package translit

import (
	"strings"
	"unicode"
)

// resolve reads word i of a Hindi sentence, which is both Hindi and English, or two Hindi words, by its neighbours:
// in Devanagari, or "" for English. Some words have rules of their own, because their grammar says more than the mere
// language of what stands around them.
//
// The rules are called by name, in three functions that say whether they had one: called through a table they would
// have the sentence escape to the heap, which costs two allocations a message.
func (s *sentence) resolve(i int) string {
	if read, ok := s.functionWord(i); ok {
		return read
	}
	if read, ok := s.nounWord(i); ok {
		return read
	}
	if read, ok := s.verbWord(i); ok {
		return read
	}
	return s.byNeighbours(i)
}

// functionWord reads word i where it is a word of grammar in one of the two languages.
func (s *sentence) functionWord(i int) (read string, ok bool) {
	switch s.words[i].both {
	case "main":
		return s.main(i), true
	case "men", "me":
		return s.me(i), true
	case "mai", "mein", "mei":
		return s.pronounOrIn(i), true
	case "ki":
		return s.ki(i), true
	case "kaha":
		return s.kaha(i), true
	case "is":
		return s.is(i), true
	case "are":
		return s.are(i), true
	case "the":
		return s.the(i), true
	case "to":
		return s.to(i), true
	case "do":
		return s.do(i), true
	case "use":
		return s.use(i), true
	case "us":
		return s.us(i), true
	case "he":
		return s.he(i), true
	case "hi":
		return s.hi(i), true
	case "re":
		return s.re(i), true
	}
	return "", false
}

// nounWord reads word i where it is a noun with a rule of its own.
func (s *sentence) nounWord(i int) (read string, ok bool) {
	switch s.words[i].both {
	case "lane":
		return s.lane(i), true
	case "log":
		return s.log(i), true
	case "door":
		return s.door(i), true
	case "dal", "daal":
		return s.dal(i), true
	case "hal":
		return s.hal(i), true
	case "ram", "nach", "rupay", "mla":
		return s.capitals(i), true
	case "khan":
		return s.khan(i), true
	case "min":
		return s.min(i), true
	case "logo":
		return s.logo(i), true
	case "fans":
		return s.fans(i), true
	case "bacha":
		return s.bacha(i), true
	case "bache":
		return s.bache(i), true
	case "gali":
		return s.gali(i), true
	case "lungi":
		return s.lungi(i), true
	case "sikh":
		return s.sikh(i), true
	}
	return "", false
}

// verbWord reads word i where it is a verb or an adjective with a rule of its own.
func (s *sentence) verbWord(i int) (read string, ok bool) {
	switch s.words[i].both {
	case "bad":
		return s.bad(i), true
	case "lie":
		return s.lie(i), true
	case "ban":
		return s.ban(i), true
	case "dar":
		return s.dar(i), true
	case "chal":
		return s.chal(i), true
	case "mile":
		return s.mile(i), true
	case "aata":
		return s.aata(i), true
	case "had":
		return s.had(i), true
	case "pila":
		return s.pila(i), true
	case "kia":
		return s.kia(i), true
	}
	return "", false
}

func (s *sentence) byNeighbours(i int) string {
	w := &s.words[i]
	if w.english != "" && s.around(i)+int(w.lean) < 0 {
		return ""
	}
	return w.hindi
}

// around weighs the language of up to three words on either side of word i in its clause: above 0 is Hindi. English
// nouns weigh little, because Hinglish puts them everywhere; English grammar weighs much.
func (s *sentence) around(i int) int {
	weight := func(j, distance int) int {
		near := 4 >> distance // 4, 2, 1
		switch w := &s.words[j]; w.kind {
		case hindi, devanagari:
			return near
		case function:
			return -near - near/2
		case english:
			return -near / 2
		case unknown:
			if !w.indian { // else it is a name
				return near * int(w.lean) / 4
			}
		}
		return 0
	}
	sum := 0
	for d := range 3 {
		if i-d-1 < 0 || s.words[i-d].breaks {
			break
		}
		sum += weight(i-d-1, d)
	}
	for d := range 3 {
		if i+d+1 >= len(s.words) || s.words[i+d+1].breaks {
			break
		}
		sum += weight(i+d+1, d)
	}
	return sum
}

// none stands for the missing neighbour at the edge of a clause.
var none = &word{kind: letter}

func (s *sentence) before(i int) *word {
	if i == 0 || s.words[i].breaks {
		return none
	}
	return &s.words[i-1]
}

func (s *sentence) after(i int) *word {
	if i+1 >= len(s.words) || s.words[i+1].breaks {
		return none
	}
	return &s.words[i+1]
}

// isEnglish reports whether w can only be English.
func (w *word) isEnglish() bool {
	return w.kind == english || w.kind == function || w.kind == unknown && w.lean < 0
}

// isHindi reports whether w can only be Hindi.
func (w *word) isHindi() bool { return w.kind == hindi || w.kind == devanagari }

// says reports whether w is one of the English words, which single spaces part.
func (s *sentence) says(w *word, words string) bool {
	if w == none {
		return false
	}
	var room [longestWord]byte
	key := fold(room[:0], s.text[w.start:w.end])
	for words != "" {
		one, rest, _ := strings.Cut(words, " ")
		if one == string(key) {
			return true
		}
		words = rest
	}
	return false
}

// reads reports whether w is read as one of the Devanagari words, which single spaces part.
func (w *word) reads(words string) bool {
	if w.hindi == "" || w.kind == name {
		return false
	}
	for words != "" {
		one, rest, _ := strings.Cut(words, " ")
		if ending, ok := strings.CutPrefix(one, w.hindi); ok && ending == w.suffix {
			return true
		}
		words = rest
	}
	return false
}

// isFirstPerson reports whether w is a verb that goes with मैं.
func (w *word) isFirstPerson() bool {
	last := w.suffix
	if last == "" {
		last = w.hindi
	}
	for _, end := range []string{"ूँ", "ूं", "ऊँ", "ऊं", "ूँगा", "ूँगी", "ूंगा", "ूंगी", "ऊँगा", "ऊँगी", "ऊंगा",
		"ऊंगी"} {
		if strings.HasSuffix(last, end) {
			return w.isHindi() && w.hindi != "क्यूँ"
		}
	}
	return false
}

// openers are words that a subject may follow at once: conjunctions, adverbs of time, interjections.
const openers = "काश शायद वैसे यार भाई बस और लेकिन मगर पर कि क्योंकि क्यूँकि तो अगर जब तब कल आज अभी फिर अब क्या हाँ नहीं जी इसलिए कब क्यों क्यूँ जहाँ तक या भी ना"

// pronounOrIn reads the spellings that मैं and में share.
func (s *sentence) pronounOrIn(i int) string {
	before := s.before(i)
	if before == none || s.opensClause(i) {
		return "मैं"
	}
	if before.reads(openers) && (s.firstPerson() || s.after(i).reads("तो भी ही")) {
		return "मैं"
	}
	return "में"
}

// me reads me: a Hindi word, unless an English verb governs it (call me, help me).
func (s *sentence) me(i int) string {
	if s.says(s.after(i), "too") ||
		s.says(s.before(i),
			"give tell send call let help show remind allow excuse trust for to with from by of about on after before") && !s.after(i).isHindi() {
		return ""
	}
	return s.pronounOrIn(i)
}

// main reads main: the pronoun, the postposition after a noun, or the English adjective before one.
func (s *sentence) main(i int) string {
	before, after := s.before(i), s.after(i)
	switch {
	case after.isEnglish() &&
		(before.kind == function ||
			before.reads("का की के मेरा मेरी मेरे आपका आपकी आपके हमारा हमारी हमारे अपना अपनी अपने उनका उनकी उनके इसका इसकी एक")):
		return ""
	case before.reads("मेरा मेरी मेरे आपका आपकी आपके हमारा हमारी हमारे अपना अपनी अपने"):
		return ""
	case (before == none || before.isHindi()) && !s.firstPerson() && s.isPrincipal(i):
		return ""
	case before == none || s.firstPerson() && !s.hasPronounBefore(i), s.opensClause(i):
		return "मैं"
	case before.isEnglish() || before.kind == name || before.kind == letter:
		return "में"
	case before.isHindi() && !before.reads(openers):
		return "में"
	}
	return "मैं"
}

// isPrincipal reports whether main, which is word i, goes with the noun behind it and their phrase ends there: main
// branch kahan hai.
func (s *sentence) isPrincipal(i int) bool {
	const nouns = "branch road highway gate entrance switch office building menu market street door reason problem " +
		"point page"
	return s.says(s.after(i), nouns) && s.endsPhrase(i+2)
}

// endsPhrase reports whether word i, if there is one, can follow a noun phrase: a postposition or a verb that asks
// where it is.
func (s *sentence) endsPhrase(i int) bool {
	return i >= len(s.words) || s.words[i].breaks ||
		s.words[i].reads("का की के को से में पर पे तक है हैं था थी कहाँ किधर वाला वाली वाले")
}

// hasPronounBefore reports whether the subject of a sentence in the first person stands right before word i's
// clause-mates already.
func (s *sentence) hasPronounBefore(i int) bool {
	for j := max(0, i-4); j < i; j++ {
		if w := &s.words[j]; w.reads("मैं") && j < i-1 && (w.kind != either || s.before(j) == none) {
			return true
		}
	}
	return false
}

// firstPerson reports whether a verb of the sentence goes with मैं.
func (s *sentence) firstPerson() bool {
	if !s.personKnown {
		s.personKnown = true
		for i := range s.words {
			if s.words[i].isFirstPerson() {
				s.person = true
				break
			}
		}
	}
	return s.person
}

// ki reads ki: "that" after a verb or before a new subject, else the genitive.
func (s *sentence) ki(i int) string {
	before, after := s.before(i), s.after(i)
	switch {
	case before == none && i > 0, before.reads("जो") && !after.reads("थी है हैं गई गयी जा जाती हुई"):
		return "कि"
	case s.takesThat(before):
		return "कि"
	case after.reads("आप मैं हम तुम वह वो वे ये यह कोई कुछ अगर जब मुझे आपको हमें उसे मेरा आपका आपके कब कौन कैसे कहाँ"):
		return "कि"
	}
	return "की"
}

// takesThat reports whether w can have a clause with कि after it: a verb, or a word like इतना, पता and उम्मीद.
func (s *sentence) takesThat(w *word) bool {
	switch {
	case w.reads("है हैं था थी थे हूँ हो कहा बोला बोली बोले बोलो बोल बताया बताना बताओ बताइए बताएँ पता लगता लगा देखा सोचा सुना चाहता चाहते चाहती इतना इतनी इतने ऐसा ऐसी ऐसे क्योंकि बल्कि मालूम समझ यकीन उम्मीद याद ध्यान कहना कहते कहता कारण मतलब सुनिश्चित दे दो दिया दें दीजिए करें कीजिए किया चुका चुके चुकी जाए रहा रहे रही पूछा पूछे पूछो हुआ हुई हुए चला"), s.says(w, "kaha"):
		return true
	case w.isHindi():
		return isPresentTense(w.suffix)
	}
	return false
}

// isPresentTense reports whether the ending is one of a verb in the present tense.
func isPresentTense(suffix string) bool {
	switch suffix {
	case "ें", "ता", "ते", "ती":
		return true
	}
	return false
}

// numbers are the number words that end an English "your code is" in a Hindi sentence.
const numbers = "शून्य एक दो तीन चार पाँच पांच छह सात आठ नौ ज़ीरो"

func (s *sentence) is(i int) string {
	before, after := s.before(i), s.after(i)
	switch {
	case after == none && before != none, s.says(after, "not the a an your our my no now already"):
		return ""
	case after.reads(numbers) && before != none && !before.isHindi():
		return ""
	case before == none || before.isHindi() || after.isHindi():
		return s.words[i].hindi
	}
	return s.byNeighbours(i)
}

// the reads the: थे closes a clause or stands among Hindi words, the article stands before what it names.
func (s *sentence) the(i int) string {
	before, after := s.before(i), s.after(i)
	switch {
	case before == none:
		return ""
	case after == none || before.isHindi() && !after.isEnglish():
		return s.words[i].hindi
	case after.isHindi() && before.kind != function:
		return s.words[i].hindi
	}
	return ""
}

// to reads to: English after a verb that asks for it, or before English grammar.
func (s *sentence) to(i int) string {
	before, after := s.before(i), s.after(i)
	switch {
	case before == none && after.isEnglish(), after.kind == function, before.kind == function && !after.isHindi():
		return ""
	case !after.isHindi() && after != none &&
		s.says(before,
			"welcome go going according due subject transfer transferred want need how up back able sent send linked connected similar related ready used happy thanks access reply response refer next close credited added moved shifted charged"):
		return ""
	}
	return s.words[i].hindi
}

// use reads use: the English verb where Hindi makes it one with करना, or something is made use of; else उसे.
func (s *sentence) use(i int) string {
	before, after := s.before(i), s.after(i)
	if before == none && s.says(after, "code coupon promo voucher") {
		return ""
	}
	if strings.HasPrefix(after.hindi, "कर") || after.reads("किया किए की हो हुआ में") ||
		before.reads("का के की इसका उसका इसे") || before.isEnglish() {
		return ""
	}
	return s.words[i].hindi
}

// us reads us: the English pronoun after a verb that asks for it or among English words, else उस.
func (s *sentence) us(i int) string {
	before, after := s.before(i), s.after(i)
	if before.isEnglish() && !after.isHindi() ||
		s.says(before, "contact call join follow reach visit tell about with for to") {
		return ""
	}
	return s.words[i].hindi
}

// hi reads hi: the greeting where a sentence begins, else the word that stresses what it follows.
func (s *sentence) hi(i int) string {
	if i == 0 || s.before(i) == none && s.after(i) == none {
		return ""
	}
	return s.words[i].hindi
}

func (s *sentence) bad(i int) string {
	if s.before(i).reads("के उसके इसके जिसके कुछ दिन मिनट घंटे महीने साल देर") || s.after(i).reads("में मैं") {
		return s.words[i].hindi
	}
	return ""
}

func (s *sentence) lie(i int) string {
	if s.before(i).reads("के इसके उसके किसके जिसके मेरे आपके हमारे तुम्हारे अपने") {
		return s.words[i].hindi
	}
	return ""
}

func (s *sentence) ban(i int) string {
	if after := s.after(i); strings.HasPrefix(after.hindi, "कर") || after.reads("हो हुआ") ||
		s.before(i).reads("पर पे") {
		return ""
	}
	return s.words[i].hindi
}

// dal reads dal: the verb before its helper, else lentils.
func (s *sentence) dal(i int) string {
	if s.after(i).reads("दो दिया दी दिए देना दीजिए दें कर के रहा रहे रही सकते सकता लो दूँ") {
		return "डाल"
	}
	return "दाल"
}

func (s *sentence) are(i int) string {
	if s.before(i) == none && !s.after(i).isEnglish() {
		return s.words[i].hindi
	}
	return ""
}

// capitals reads a word that is Hindi (Ram, nach, rupay) unless it has capitals inside: RAM is memory, NACH a
// mandate, RuPay a card, MLA an office.
func (s *sentence) capitals(i int) string {
	w := &s.words[i]
	if strings.ContainsFunc(s.text[w.start+1:w.end], unicode.IsUpper) {
		return ""
	}
	return w.hindi
}

func (s *sentence) lane(i int) string {
	if s.after(i).reads("के का की में वाला वाले वाली है हैं") && s.before(i).kind != function {
		return s.words[i].hindi
	}
	return ""
}

func (s *sentence) log(i int) string {
	if s.says(s.after(i), "in out on off file files") {
		return ""
	}
	return s.words[i].hindi
}

// do reads do: the number or the verb that gives, unless English grammar stands next to it.
func (s *sentence) do(i int) string {
	before, after := s.before(i), s.after(i)
	isAuxiliary := after.kind == function || s.says(after, "you we they i is it") // do not, do you
	isVerb := before.kind == function && !after.isHindi() || s.says(before, "you we they i to") && after.isEnglish()
	if isAuxiliary || isVerb {
		return ""
	}
	return s.words[i].hindi
}

// he reads he: है, or the call that opens a clause, or the English pronoun.
func (s *sentence) he(i int) string {
	switch before, after := s.before(i), s.after(i); {
	case after.isEnglish() && !before.isHindi(), s.says(after, "is"):
		return ""
	case before == none:
		return "हे"
	}
	return s.words[i].hindi
}

func (s *sentence) door(i int) string {
	if s.after(i).reads("बंद खोल खोलो खोला खुला") || s.after(i).isEnglish() {
		return ""
	}
	return s.byNeighbours(i)
}

// kaha reads kaha: said, where someone does or a clause depends on it; else where.
func (s *sentence) kaha(i int) string {
	before, after := s.before(i), s.after(i)
	for j := i; j > max(0, i-3) && !s.words[j].breaks; j-- {
		if w := &s.words[j-1]; w.isHindi() && strings.HasSuffix(w.hindi, "ने") {
			return "कहा"
		}
	}
	if s.says(after, "ki ke jata jaata") || before == none && after.reads("था") {
		return "कहा"
	}
	return s.words[i].hindi
}

// dar reads dar: a rate after interest or growth, else fear.
func (s *sentence) dar(i int) string {
	if s.before(i).reads("ब्याज विकास की") {
		return "दर"
	}
	return s.words[i].hindi
}

// hal reads hal: how someone is, or a solution.
func (s *sentence) hal(i int) string {
	if s.says(s.after(i), "chal") || s.before(i).reads("क्या बुरा मेरा तेरा आपका तुम्हारा") {
		return "हाल"
	}
	return s.words[i].hindi
}

func (s *sentence) chal(i int) string {
	if s.says(s.before(i), "hal haal") {
		return "चाल"
	}
	return s.words[i].hindi
}

// khan reads the surname, or kahan in a hurry.
func (s *sentence) khan(i int) string {
	before, after := s.before(i), s.after(i)
	person := before.kind == name || before.kind == unknown && before.lean >= 0 && after.reads("ने को का की के से")
	named := person || s.words[i].capital && i > 0
	if named || after.reads("ने भाई साहब") || s.says(after, "sir saab") {
		return "ख़ान"
	}
	if before == none && after.reads("का की के को") {
		return "ख़ान"
	}
	return s.words[i].hindi
}

// opensClause reports whether a request stands before word i. Behind it a clause with its own subject begins: tu chal
// main aayi.
func (s *sentence) opensClause(i int) bool {
	return s.before(i).reads("रुक रुको चलो बैठ बैठो देख देखो सुन सुनो जा जाओ में") ||
		s.says(s.before(i), "chal sun mein")
}

// logo reads the sign of a firm, or people.
func (s *sentence) logo(i int) string {
	before, after := s.before(i), s.after(i)
	if before.reads("इन उन सब सभी कुछ कई हम तुम आप के बहुत जिन किन दो तीन चार") {
		return s.words[i].hindi
	}
	if before.reads("का एक ये यह नया मेरा अपना") || !after.reads("ने को का की के से में पर तक") {
		return "लोगो"
	}
	return s.words[i].hindi
}

// fans reads who admires someone, or is stuck: the verb has another behind it.
func (s *sentence) fans(i int) string {
	if s.after(i).reads("गया गई गयी गए गये जा जाता जाती जाते जाना जाए जाएगा जाएगी जाओगे जाऊँगा के कर रहा रही चुका") {
		return s.words[i].hindi
	}
	return ""
}

// had reads a limit, or the English verb.
func (s *sentence) had(i int) string {
	before, after := s.before(i), s.after(i)
	if before.reads("इस उस एक की कोई हर किस तो भी") || after.reads("तक होती है हो से में पार") {
		return s.words[i].hindi
	}
	return ""
}

// pila reads the verb that has someone drink before its helper, else yellow.
func (s *sentence) pila(i int) string {
	if s.after(i).reads("दो दे दी दें दिया दिए देना देते देती दीजिए दूँ रहा रही रहे कर के सकते") {
		return "पिला"
	}
	return s.words[i].hindi
}

// bacha reads what is left, or a child.
func (s *sentence) bacha(i int) string {
	before, after := s.before(i), s.after(i)
	left := before.reads("कुछ कितना नहीं ना न कम ज़्यादा पैसा समय वक़्त खाना पानी") ||
		after.reads("हुआ लो ले लिया के कर पाया")
	if left || s.says(before, "na time balance") {
		return "बचा"
	}
	return s.words[i].hindi
}

// bache reads what is left, of days, money and things, or children.
func (s *sentence) bache(i int) string {
	before, after := s.before(i), s.after(i)
	things := before.reads("दिन पैसे रुपये मिनट घंटे महीने साल कितने नहीं") || before.isEnglish()
	if after.reads("हुए हुई") || things && (after.reads("हैं है थे") || after == none) {
		return "बचे"
	}
	return s.words[i].hindi
}

// gali reads abuse, which is given, or a lane.
func (s *sentence) gali(i int) string {
	after := s.after(i)
	if after.reads("दी दे दो दिया देता देते देती देना देने देकर मत बक बकी खाई") || s.says(after, "mat galoch") {
		return "गाली"
	}
	return s.words[i].hindi
}

// kia reads what somebody did, where a doer with ne stands before it, or what.
func (s *sentence) kia(i int) string {
	for j := i; j > max(0, i-5) && !s.words[j].breaks; j-- {
		if w := &s.words[j-1]; w.isHindi() && strings.HasSuffix(w.hindi, "ने") && !w.reads("अपने") {
			return "किया"
		}
	}
	if s.after(i).reads("गया जाता जाए जाएगा") {
		return "किया"
	}
	return s.words[i].hindi
}

// mile reads the measure after a number, else the verb.
func (s *sentence) mile(i int) string {
	if s.before(i).reads(numbers) {
		return ""
	}
	return s.words[i].hindi
}

// min reads the minimum of an amount, else a minute.
func (s *sentence) min(i int) string {
	if s.says(s.after(i), "due balance bal amount amt order payment salary age") {
		return ""
	}
	return s.words[i].hindi
}

// aata reads flour where it is weighed or kneaded, else the verb.
func (s *sentence) aata(i int) string {
	if s.before(i).reads("किलो किग्रा ग्राम") || s.says(s.before(i), "kg kilo packet") ||
		s.after(i).reads("गूँध गूंध") || s.says(s.after(i), "chakki") {
		return "आटा"
	}
	return s.words[i].hindi
}

// re reads the prefix of re-check, or the call that closes a clause.
func (s *sentence) re(i int) string {
	if strings.HasPrefix(s.text[s.words[i].end:], "-") {
		return ""
	}
	return s.words[i].hindi
}
