package chunk

import (
	"strings"
)

// conjunction reports whether a reader may pause before word.
func conjunction(word string) bool { return conjunctions[strings.ToLower(word)] }

// spelled reports whether word is a number word, a single letter or the name of one: what codes are read as.
func spelled(word string) bool {
	if len(word) == 1 {
		return word[0]|0x20 >= 'a' && word[0]|0x20 <= 'z' || word[0] >= '0' && word[0] <= '9'
	}
	return spellings[strings.ToLower(word)]
}

var conjunctions = set(`
	और लेकिन मगर या तथा एवं क्योंकि इसलिए ताकि जबकि कि
	aur lekin magar ya kyunki isliye taaki jabki
	and but or because so while which
`)

// spellings holds the number words as the normaliser writes them, common variants, and the names of the letters.
var spellings = set(`
	शून्य एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस
	बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस
	चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरेपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ
	साठ इकसठ बासठ तिरेसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उनासी
	अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानबे बानबे तिरानबे चौरानबे पंचानबे छियानबे सत्तानबे अट्ठानबे निन्यानबे
	सौ हज़ार लाख करोड़ अरब खरब दशमलव ज़ीरो पांच छः पन्द्रह डबल ट्रिपल
	zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
	twenty thirty forty fifty sixty seventy eighty ninety hundred thousand lakh crore million point double triple
	shunya ek do teen char chaar panch paanch chhe chhah saat aath nau das sau hazaar hazar karod
	ए बी सी डी ई एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड
`)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
