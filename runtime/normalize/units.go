package normalize

import (
	"iter"
	"strings"
)

// currency is a kind of money.
type currency struct {
	western bool // counted in thousands and millions in English
	decimal bool // parts of it are said as decimals
}

// Places in currencies; currencySigns and currencyWords refer to them.
const (
	rupees = iota + 1
	dollars
	euros
	pounds
	yens
	dirhams
	singaporeDollars
	riyals
	canadianDollars
	australianDollars
	bahts
	francs
	wons
	liras
	takas
	nairas
	pesos
	dongs
	rubles
	shekels
	hryvnias
	tenges
	cedis
	kips
	tugriks
	manats
	laris
	guaranis
	colones
	afghanis
	riels
	drams
	bitcoins
)

var currencies = [...]currency{
	rupees:            {},
	dollars:           {western: true},
	euros:             {western: true},
	pounds:            {western: true},
	yens:              {western: true},
	dirhams:           {western: true},
	singaporeDollars:  {western: true},
	riyals:            {western: true},
	canadianDollars:   {western: true},
	australianDollars: {western: true},
	bahts:             {western: true},
	francs:            {western: true},
	wons:              {western: true},
	liras:             {western: true},
	takas:             {}, // lakhs in Bangladesh, too
	nairas:            {western: true},
	pesos:             {western: true},
	dongs:             {western: true},
	rubles:            {western: true},
	shekels:           {western: true},
	hryvnias:          {western: true},
	tenges:            {western: true},
	cedis:             {western: true},
	kips:              {western: true},
	tugriks:           {western: true},
	manats:            {western: true},
	laris:             {western: true},
	guaranis:          {western: true},
	colones:           {western: true},
	afghanis:          {western: true},
	riels:             {western: true},
	drams:             {western: true},
	bitcoins:          {western: true, decimal: true},
}

// currencyCodes are the written short forms of currencies, in lower case.
var currencyCodes = map[string]int{
	"rs": rupees, "inr": rupees, "रु": rupees, "रू": rupees, "re": rupees,
	"usd": dollars, "eur": euros, "gbp": pounds, "jpy": yens, "aed": dirhams, "sgd": singaporeDollars, "sar": riyals,
	"cad": canadianDollars, "aud": australianDollars, "thb": bahts, "chf": francs, "krw": wons, "bdt": takas, "ngn": nairas,
}

// currencyWords are said as they are written; they only tell that the number is an amount.
var currencyWords = map[string]int{
	"rupees": rupees, "rupee": rupees, "rupaye": rupees, "rupay": rupees, "rupaiya": rupees, "rupya": rupees, "रुपये": rupees, "रुपए": rupees, "रूपये": rupees,
	"रूपए": rupees, "रुपया": rupees, "रुपयों": rupees, "dollar": dollars, "dollars": dollars, "डॉलर": dollars, "euro": euros, "euros": euros, "यूरो": euros,
	"pounds": pounds, "पाउंड": pounds, "yen": yens, "dirham": dirhams, "dirhams": dirhams,
}

// signCurrency is the currency of a sign, 0 for none.
func signCurrency(ch byte) int { return int(currencySigns[ch]) }

var currencySigns = [256]uint8{
	rupee: rupees, '$': dollars, euro: euros, pound: pounds, yen: yens, won: wons, lira: liras, taka: takas, naira: nairas, baht: bahts,
	pesoSign:    pesos,
	dongSign:    dongs,
	rubleSign:   rubles,
	shekelSign:  shekels,
	hryvniaSign: hryvnias,
	tengeSign:   tenges,
	cediSign:    cedis,
	kipSign:     kips,
	tugrikSign:  tugriks,
	manatSign:   manats,
	lariSign:    laris,
	guaraniSign: guaranis,
	colonSign:   colones,
	afghaniSign: afghanis,
	rielSign:    riels,
	dramSign:    drams,
	bitcoinSign: bitcoins,
}

// unit is a measure. What stands in the text is its symbol; words such as "metres" are kept as they are.
type unit struct {
	symbol    string // the first of its symbols, by which languages name it
	tightOnly bool   // a single letter or a word of its own: only directly behind the number
	rare      bool   // only apart, and behind digits of Devanagari or a word of temperatures
	quarter   bool   // said with डेढ़ and ढाई
}

// units by symbol. Where case tells them apart, both are listed; otherwise the lower case one serves.
var units = unitTable(measures)

const measures = `
किग्रा | किलो | kilogram | kilograms | quarter
किमी | किलोमीटर | kilometre | kilometres | quarter
सेमी | सेंटीमीटर | centimetre | centimetres
मिमी | मिलीमीटर | millimetre | millimetres
kg,kgs | किलो | kilogram | kilograms | quarter
cg | सेंटीग्राम | centigram | centigrams
dg | डेसीग्राम | decigram | decigrams
g,gm,gms | ग्राम | gram | grams
mg,मिग्रा | मिलीग्राम | milligram | milligrams
μg/m3,mcg/m3,ug/m3 | माइक्रोग्राम प्रति घन मीटर | microgram per cubic metre | micrograms per cubic metre
mg/m3 | मिलीग्राम प्रति घन मीटर | milligram per cubic metre | milligrams per cubic metre
kg/m3 | किलो प्रति घन मीटर | kilogram per cubic metre | kilograms per cubic metre
kg/m2 | किलो प्रति वर्ग मीटर | kilogram per square metre | kilograms per square metre
mcg,μg | माइक्रोग्राम | microgram | micrograms
km,kms | किलोमीटर | kilometre | kilometres | quarter
m,mtr,mtrs | मीटर | metre | metres
cm,cms | सेंटीमीटर | centimetre | centimetres
μm | माइक्रोमीटर | micrometre | micrometres
mm | मिलीमीटर | millimetre | millimetres
ft | फ़ुट | foot | feet
in | इंच | inch | inches | tight
km/h,kmph,kmh,kph | किलोमीटर प्रति घंटा | kilometre per hour | kilometres per hour
m/s2 | मीटर प्रति सेकंड वर्ग | metre per second squared | metres per second squared
m/s | मीटर प्रति सेकंड | metre per second | metres per second
l,ltr,ltrs,lt | लीटर | litre | litres | quarter
μl | माइक्रोलीटर | microlitre | microlitres
ml | मिलीलीटर | millilitre | millilitres
kb | के बी | kilobyte | kilobytes
mb | एम बी | megabyte | megabytes
gb | जी बी | gigabyte | gigabytes
tb | टी बी | terabyte | terabytes
kbps | के बी पी एस | kilobit per second | kilobits per second
mbps | एम बी पी एस | megabit per second | megabits per second
gbps | जी बी पी एस | gigabit per second | gigabits per second
w | वॉट | watt | watts | tight
kw | किलोवॉट | kilowatt | kilowatts
mw | मेगावॉट | megawatt | megawatts
kwh | किलोवॉट घंटे | kilowatt hour | kilowatt hours
v | वोल्ट | volt | volts | tight
mah | एम ए एच | milliampere hour | milliampere hours
hz | हर्ट्ज़ | hertz | hertz
khz | किलोहर्ट्ज़ | kilohertz | kilohertz
mhz | मेगाहर्ट्ज़ | megahertz | megahertz
ghz | गीगाहर्ट्ज़ | gigahertz | gigahertz
mp | मेगापिक्सल | megapixel | megapixels
hp | हॉर्सपावर | horsepower | horsepower
cc | सी सी | C C | C C
mg/dl,मिग्रा/डेली,मिग्रा/डीएल,मिग्रा/डेसीली | मिलीग्राम प्रति डेसीलीटर | milligram per decilitre | milligrams per decilitre
g/dl | ग्राम प्रति डेसीलीटर | gram per decilitre | grams per decilitre
kcal | किलोकैलोरी | kilocalorie | kilocalories
cal | कैलोरी | calorie | calories
db | डेसिबल | decibel | decibels
hr,hrs,h | घंटे | hour | hours | quarter | घंटा
min,mins,mnt,mnts | मिनट | minute | minutes
d | दिन | day | days | tight
mo,mos,mths,mth,mnth,mnths | महीने | month | months
pcs,pc | पीस | piece | pieces
tbsp | टेबलस्पून | tablespoon | tablespoons
tsp,tsf | टीस्पून | teaspoon | teaspoons
doz,dz | दर्जन | dozen | dozen
kmpl,km/l | किलोमीटर प्रति लीटर | kilometre per litre | kilometres per litre
mph,mi/h,mi/hr | मील प्रति घंटा | mile per hour | miles per hour
ली. | लीटर | litre | litres
मी. | मीटर | metre | metres
कि. | किलो | kilogram | kilograms
ग्रा. | ग्राम | gram | grams
मि. | मिनट | minute | minutes
घं. | घंटे | hour | hours
व. | वर्ष | year | years
पै. | पैसे | paisa | paise
p/sec,p/s | पैसे प्रति सेकंड | paisa per second | paise per second
p/min | पैसे प्रति मिनट | paisa per minute | paise per minute
rpm | आर पी एम | R P M | R P M
lb,lbs | पाउंड | pound | pounds
oz | औंस | ounce | ounces
t | टन | tonne | tonnes | tight
st | स्टोन | stone | stone | rare
q | क्विंटल | quintal | quintals | tight
gal | गैलन | gallon | gallons | tight
qt | क्वार्ट | quart | quarts | tight
pt | पिंट | pint | pints | tight
qtl,क्विं | क्विंटल | quintal | quintals
mt | मीट्रिक टन | metric tonne | metric tonnes | tight
ac | एकड़ | acre | acres | tight
k | केल्विन | kelvin | kelvin | rare
ha | हेक्टेयर | hectare | hectares | tight
yd,yds | गज | yard | yards
mi | मील | mile | miles | tight
bpm | बी पी एम | beat per minute | beats per minute
fps | एफ़ पी एस | frame per second | frames per second
bps | बेसिस पॉइंट | basis point | basis points
psi | पी एस आई | P S I | P S I
gsm | जी एस एम | G S M | G S M
nm | नैनोमीटर | nanometre | nanometres
pg/ml | पिकोग्राम प्रति मिलीलीटर | picogram per millilitre | picograms per millilitre
ng/ml | नैनोग्राम प्रति मिलीलीटर | nanogram per millilitre | nanograms per millilitre
ng/dl | नैनोग्राम प्रति डेसीलीटर | nanogram per decilitre | nanograms per decilitre
mcg/dl | माइक्रोग्राम प्रति डेसीलीटर | microgram per decilitre | micrograms per decilitre
mg/l | मिलीग्राम प्रति लीटर | milligram per litre | milligrams per litre
g/l | ग्राम प्रति लीटर | gram per litre | grams per litre
mmol/l | मिलीमोल प्रति लीटर | millimole per litre | millimoles per litre
miu/l | मिली अंतरराष्ट्रीय यूनिट प्रति लीटर | milli international unit per litre | milli international units per litre
miu/ml | मिली अंतरराष्ट्रीय यूनिट प्रति मिलीलीटर | milli international unit per millilitre | milli international units per millilitre
uiu/ml,μiu/ml | माइक्रो अंतरराष्ट्रीय यूनिट प्रति मिलीलीटर | micro international unit per millilitre | micro international units per millilitre
iu/l | अंतरराष्ट्रीय यूनिट प्रति लीटर | international unit per litre | international units per litre
iu | आई यू | I U | I U
u | यूनिट | unit | units | tight
u/l | यूनिट प्रति लीटर | unit per litre | units per litre
mmhg | एम एम एच जी | M M H G | M M H G
किलोवाट | किलोवाट | kilowatt | kilowatts
yr,yrs | साल | year | years
wk,wks | हफ़्ते | week | weeks
s | सेकंड | second | seconds | tight
sec,secs | सेकंड | second | seconds
μs | माइक्रोसेकंड | microsecond | microseconds
ms | मिलीसेकंड | millisecond | milliseconds
sqft,sft | वर्ग फ़ुट | square foot | square feet
sqyd | वर्ग गज | square yard | square yards
sqm | वर्ग मीटर | square metre | square metres
sqmm | वर्ग मिलीमीटर | square millimetre | square millimetres
sqcm | वर्ग सेंटीमीटर | square centimetre | square centimetres
sqin | वर्ग इंच | square inch | square inches
cum | घन मीटर | cubic metre | cubic metres
cuft | घन फ़ुट | cubic foot | cubic feet
cuyd | घन गज | cubic yard | cubic yards
~cumm | घन मिलीमीटर | cubic millimetre | cubic millimetres
cucm | घन सेंटीमीटर | cubic centimetre | cubic centimetres
cuin | घन इंच | cubic inch | cubic inches
cukm | घन किलोमीटर | cubic kilometre | cubic kilometres
sqkm | वर्ग किलोमीटर | square kilometre | square kilometres
c | डिग्री सेल्सियस | degree Celsius | degrees Celsius | degree
f | डिग्री फ़ारेनहाइट | degree Fahrenheit | degrees Fahrenheit | degree
~cent | सेंट | cent | cents
~permille | प्रति हज़ार | per thousand | per thousand
~night | रात | night | nights
~ball | गेंदें | ball | balls
~four | चौके | four | fours
~six | छक्के | six | sixes
~degree | डिग्री | degree | degrees
~carat | कैरेट | carat | carat
~annual | सालाना | per annum | per annum
`

// signUnits are the units that are signs: ¢ and ‰.
var signUnits = [256]*unit{cent: units["~cent"], perMille: units["~permille"]}

// unitTable reads the table above: symbols, Hindi, English singular, English plural, how the unit is written or said, Hindi singular.
func unitTable(table string) map[string]*unit {
	m := make(map[string]*unit, 256)
	for f := range unitLines(table) {
		key := ""
		if f[4] == "degree" {
			key = "°"
		}
		u := &unit{tightOnly: f[4] == "tight", rare: f[4] == "rare", quarter: f[4] == "quarter"}
		for s := range strings.SplitSeq(f[0], ",") {
			if u.symbol == "" {
				u.symbol = key + s
			}
			m[key+s] = u
		}
	}
	return m
}

// unitLines are the lines of the table, six fields each.
func unitLines(table string) iter.Seq[[6]string] {
	return func(yield func([6]string) bool) {
		for line := range strings.Lines(table) {
			var f [6]string
			n := 0
			for s := range strings.SplitSeq(line, "|") {
				if n < len(f) {
					f[n] = strings.TrimSpace(s)
				}
				n++
			}
			if n >= 4 && !yield(f) {
				return
			}
		}
	}
}

// unitWords are the names of the units in Hindi, or in English.
func unitWords(inHindi bool) map[string]measure {
	m := make(map[string]measure, 128)
	for f := range unitLines(measures) {
		first, _, _ := strings.Cut(f[0], ",")
		if f[4] == "degree" {
			first = "°" + first
		}
		switch {
		case !inHindi:
			m[first] = measure{f[2], f[3]}
		case f[5] != "":
			m[first] = measure{f[5], f[1]}
		default:
			m[first] = measure{f[1], f[1]}
		}
	}
	return m
}

// rates are the words behind a stroke that Hindi says in Hindi: ₹299/day.
var rates = map[string]string{
	"day": "दिन", "month": "महीना", "mo": "महीना", "year": "साल", "yr": "साल", "hour": "घंटा", "hr": "घंटा", "week": "हफ़्ता", "wk": "हफ़्ता", "cumm": "क्यूबिक मिलीमीटर", "bbl": "बैरल", "night": "रात", "person": "व्यक्ति",
	"माह": "माह", "महीना": "महीना", "दिन": "दिन", "साल": "साल", "वर्ष": "वर्ष", "घंटा": "घंटा", "व्यक्ति": "व्यक्ति", "किलो": "किलो", "लीटर": "लीटर", "यूनिट": "यूनिट", "रात": "रात", "पीस": "पीस", "प्लेट": "प्लेट",
	"मिनट": "मिनट", "बीघा": "बीघा", "बोरी": "बोरी", "एकड़": "एकड़", "din": "दिन", "bori": "बोरी", "bigha": "बीघा", "acre": "एकड़", "mahina": "महीना", "saal": "साल", "page": "पेज", "copy": "कॉपी", "head": "व्यक्ति", "annum": "साल", "quarter": "तिमाही", "class": "क्लास", "session": "सेशन", "seat": "सीट", "visit": "विज़िट", "ticket": "टिकट", "room": "कमरा", "share": "शेयर", "bag": "बैग", "quintal": "क्विंटल", "q": "क्विंटल",
	"piece": "पीस", "pc": "पीस", "unit": "यूनिट", "plate": "प्लेट", "min": "मिनट", "minute": "मिनट", "dozen": "दर्जन", "litre": "लीटर",
}

// longRates spell the short ones out in English.
var longRates = map[string]string{"q": "quintal", "pc": "piece", "mo": "month", "yr": "year", "hr": "hour", "min": "minute", "wk": "week", "cumm": "cubic millimetre", "bbl": "barrel"}
