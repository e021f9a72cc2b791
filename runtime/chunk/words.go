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

// measured reports whether word is a unit, a currency, a month or a part of a clock time: what belongs to the number
// beside it.
func measured(word string) bool { return units[strings.ToLower(word)] }

var conjunctions = set(`
	और लेकिन मगर या तथा एवं किंतु परंतु बल्कि वरना अन्यथा क्योंकि इसलिए ताकि जबकि कि जो जिसमें जिससे जिसका जिसकी जिसके अगर यदि
	aur lekin magar ya varna warna kyunki kyonki isliye taaki jabki jo jisme jismein jisse jiska jiski jiske agar
	and but or because so while which if unless although whereas
`)

// spellings holds the number words as the normaliser writes them, common variants, and the names of the letters.
var spellings = set(`
	शून्य एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस
	बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस
	चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरेपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ
	साठ इकसठ बासठ तिरेसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उनासी
	अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानबे बानबे तिरानबे चौरानबे पंचानबे छियानबे सत्तानबे अट्ठानबे निन्यानबे
	सवा साढ़े पौने डेढ़ ढाई सौ हज़ार लाख करोड़ अरब खरब दशमलव बटा ज़ीरो पांच छः पन्द्रह डबल ट्रिपल
	zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
	twenty thirty forty fifty sixty seventy eighty ninety hundred thousand lakh crore million point double triple
	shunya ek do teen char chaar panch paanch chhe chhah saat aath nau das sau hazaar hazar karod
	ए बी सी डी ई एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड
`)

// units holds what the normaliser writes behind numbers and between them, and how people write it.
var units = set(`
	रुपया रुपये रुपए रुपयों पैसा पैसे डॉलर सेंट यूरो पाउंड पेंस येन सेन दिरहम फ़िल्स रियाल हलाला बाट सतांग फ़्रैंक
	rupee rupees rupaye rupay rupaiya paisa paise dollar dollars cent cents euro euros pound pounds penny pence yen dirham dirhams fils riyal riyals
	sen halala halalas satang baht franc francs centime centimes
	प्रतिशत फ़ीसदी percent fisadi pratishat
	किलो किलोग्राम ग्राम मिलीग्राम माइक्रोग्राम क्विंटल टन किलोमीटर मीटर सेंटीमीटर मिलीमीटर फ़ुट फ़ीट इंच लीटर मिलीलीटर वर्ग डिग्री किलोबाइट
	वॉट किलोवॉट मेगावॉट वोल्ट हर्ट्ज़ किलोहर्ट्ज़ मेगाहर्ट्ज़ गीगाहर्ट्ज़ मेगापिक्सल हॉर्सपावर किलोकैलोरी कैलोरी डेसिबल दर्जन एकड़ बीघा
	kilo kilos kilogram kilograms gram grams milligram milligrams microgram micrograms kilometre kilometres metre metres centimetre centimetres
	millimetre millimetres foot feet inch inches litre litres millilitre millilitres square degree degrees kilobyte kilobytes megabyte megabytes
	gigabyte gigabytes terabyte terabytes kilobit kilobits megabit megabits gigabit gigabits watt watts kilowatt kilowatts megawatt megawatts volt
	volts milliampere hertz kilohertz megahertz gigahertz megapixel megapixels horsepower kilocalorie kilocalories calorie calories decibel decibels
	dozen
	बजे बजकर मिनट सेकंड मिलीसेकंड घंटा घंटे दिन हफ़्ता हफ़्ते महीना महीने साल वर्ष
	baje bajkar minute minutes second seconds millisecond milliseconds ghanta ghante hour hours din day days hafte week weeks mahine month months saal
	year years clock
	जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर
	january february march april may june july august september october november december
`)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
