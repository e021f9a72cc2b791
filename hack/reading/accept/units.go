package accept

import (
	"fmt"
	"strings"
)

// A unit is what its name is in English and in Hindi sentences, the plainest first.
type unitNames struct{ english, hindi []string }

var units = map[string]unitNames{
	"rupee":   {[]string{"rupees", "rupee"}, []string{"रुपये", "रुपए", "रुपया", "रुपयों", "rupaye", "rupay", "rupees", "rupee", "rupya"}},
	"percent": {[]string{"percent", "per cent"}, []string{"प्रतिशत", "परसेंट", "फ़ीसदी", "फ़ीसद", "percent", "per cent", "pratishat"}},

	"second": {[]string{"seconds", "second"}, []string{"सेकंड", "सेकेंड", "सेकण्ड", "second", "seconds"}},
	"minute": {[]string{"minutes", "minute"}, []string{"मिनट", "मिनिट", "minute", "minutes", "minat"}},
	"hour":   {[]string{"hours", "hour"}, []string{"घंटे", "घंटा", "घंटों", "ghante", "ghanta", "hours", "hour", "आवर्स"}},
	"day":    {[]string{"days", "day"}, []string{"दिन", "दिनों", "din", "days", "day"}},
	"week":   {[]string{"weeks", "week"}, []string{"हफ़्ते", "हफ़्ता", "सप्ताह", "hafte", "hafta", "weeks", "week"}},
	"month":  {[]string{"months", "month"}, []string{"महीने", "महीना", "माह", "मास", "mahine", "mahina", "months", "month"}},
	"year":   {[]string{"years", "year"}, []string{"साल", "वर्ष", "saal", "varsh", "years", "year"}},

	"kg":      {[]string{"kilograms", "kilogram", "kilos", "kilo", "kgs", "kg", "k g"}, []string{"किलो", "किलोग्राम", "केजी", "के जी", "kilo", "kilogram", "kg", "k g"}},
	"g":       {[]string{"grams", "gram"}, []string{"ग्राम", "gram", "grams"}},
	"mg":      {[]string{"milligrams", "milligram", "m g", "mg"}, []string{"मिलीग्राम", "एमजी", "एम जी", "milligram", "milligrams", "m g", "mg"}},
	"quintal": {[]string{"quintals", "quintal"}, []string{"क्विंटल", "कुंतल", "quintal"}},
	"tonne":   {[]string{"tonnes", "tonne", "tons", "ton"}, []string{"टन", "ton", "tonne"}},
	"pound":   {[]string{"pounds", "pound"}, []string{"पाउंड", "pound", "pounds"}},

	"km":   {[]string{"kilometres", "kilometers", "kilometre", "kilometer", "k m", "km"}, []string{"किलोमीटर", "किमी", "के एम", "kilometer", "kilometre", "kilometres", "kilometers", "k m", "km"}},
	"m":    {[]string{"metres", "meters", "metre", "meter"}, []string{"मीटर", "meter", "metre", "meters", "metres"}},
	"cm":   {[]string{"centimetres", "centimeters", "centimetre", "centimeter", "c m", "cm"}, []string{"सेंटीमीटर", "सेमी", "centimeter", "centimetre", "c m"}},
	"mm":   {[]string{"millimetres", "millimeters", "millimetre", "millimeter", "m m"}, []string{"मिलीमीटर", "एमएम", "एम एम", "millimeter", "millimetre", "m m"}},
	"ft":   {[]string{"feet", "foot"}, []string{"फ़ुट", "फ़ीट", "feet", "foot"}},
	"inch": {[]string{"inches", "inch"}, []string{"इंच", "inch", "inches"}},
	"acre": {[]string{"acres", "acre"}, []string{"एकड़", "acre", "acres"}},
	"sqft": {[]string{"square feet", "square foot"}, []string{"वर्ग फ़ुट", "वर्ग फ़ीट", "स्क्वेयर फ़ीट", "square feet", "square foot"}},

	"litre": {[]string{"litres", "liters", "litre", "liter"}, []string{"लीटर", "लिटर", "litre", "liter", "litres", "liters"}},
	"ml":    {[]string{"millilitres", "milliliters", "millilitre", "milliliter", "m l"}, []string{"मिलीलीटर", "मिली", "एमएल", "एम एल", "milliliter", "millilitre", "millilitres", "m l", "ml"}},

	"mb": {[]string{"megabytes", "megabyte", "m b", "mb"}, []string{"एमबी", "एम बी", "मेगाबाइट", "m b", "mb", "megabyte"}},
	"gb": {[]string{"gigabytes", "gigabyte", "g b", "gb"}, []string{"जीबी", "जी बी", "गीगाबाइट", "g b", "gb", "gigabyte", "gigabytes"}},
	"tb": {[]string{"terabytes", "terabyte", "t b", "tb"}, []string{"टीबी", "टी बी", "टेराबाइट", "t b", "tb", "terabyte"}},
	"kbps": {
		[]string{"kilobits per second", "k b p s", "kbps"},
		[]string{"किलोबिट प्रति सेकंड", "के बी पी एस", "केबीपीएस", "k b p s", "kbps", "kilobits per second"},
	},
	"mp":  {[]string{"megapixels", "megapixel", "m p", "mp"}, []string{"मेगापिक्सल", "मेगापिक्सेल", "एमपी", "एम पी", "megapixel", "m p", "mp"}},
	"mah": {[]string{"milliampere hours", "milliamp hours", "milliampere hour", "milliamp hour", "m a h", "mah"}, []string{"एम ए एच", "मिलीएम्पियर आवर", "m a h", "mah"}},

	"watt":     {[]string{"watts", "watt"}, []string{"वाट", "वॉट", "watt", "watts"}},
	"kilowatt": {[]string{"kilowatts", "kilowatt"}, []string{"किलोवाट", "किलोवॉट", "kilowatt"}},
	"volt":     {[]string{"volts", "volt"}, []string{"वोल्ट", "volt", "volts"}},
	"hertz":    {[]string{"hertz"}, []string{"हर्ट्ज़", "hertz"}},
	"unit":     {[]string{"units", "unit"}, []string{"यूनिट", "unit", "units", "इकाई"}},
	"piece":    {[]string{"pieces", "piece"}, []string{"पीस", "नग", "pieces", "piece"}},

	"kmh":        {[]string{"kilometres per hour", "kilometers per hour", "kilometre per hour", "kilometer per hour"}, []string{"किलोमीटर प्रति घंटा", "किलोमीटर प्रति घंटे", "किलोमीटर पर आवर", "kilometer per hour", "kilometre per hour", "kilometres per hour", "kilometers per hour"}},
	"celsius":    {[]string{"degrees celsius", "degree celsius"}, []string{"डिग्री सेल्सियस", "डिग्री", "degree celsius", "degrees celsius"}},
	"fahrenheit": {[]string{"degrees fahrenheit", "degree fahrenheit"}, []string{"डिग्री फ़ारेनहाइट", "डिग्री फ़ारेनहाईट", "degree fahrenheit", "degrees fahrenheit"}},
	"mgdl":       {[]string{"milligrams per decilitre", "milligrams per deciliter", "milligram per decilitre", "milligram per deciliter", "m g per d l"}, []string{"मिलीग्राम प्रति डेसीलीटर"}},
}

// monies are currencies and what a hundredth of them is called.
var monies = map[string]struct{ unit, part unitNames }{
	"USD": {unitNames{[]string{"dollars", "dollar"}, []string{"डॉलर", "dollar", "dollars"}}, unitNames{[]string{"cents", "cent"}, []string{"सेंट", "cents", "cent"}}},
	"EUR": {unitNames{[]string{"euros", "euro"}, []string{"यूरो", "euro", "euros"}}, unitNames{[]string{"cents", "cent"}, []string{"सेंट", "cents", "cent"}}},
}

func (u unitNames) in(l Language) node {
	return byLanguage(l, phrases(u.english...), phrases(u.hindi...))
}

func readUnit(value string, l Language) (node, error) {
	u, ok := units[value]
	if !ok {
		return nil, fmt.Errorf("%q is not a unit", value)
	}
	return u.in(l), nil
}

// readQuantity reads a number and its unit.
func readQuantity(value string, l Language) (node, error) {
	value, name, _ := strings.Cut(value, " ")
	f, err := parseFigure(value)
	if err != nil {
		return nil, err
	}
	unit, err := readUnit(name, l)
	if err != nil {
		return nil, err
	}
	return sequence{number(f, l), unit}, nil
}

func readRupees(value string, l Language) (node, error) {
	paise := unitNames{[]string{"paise", "paisa"}, []string{"पैसे", "पैसा", "paise", "paisa"}}
	return money(value, l, units["rupee"], paise)
}

func readMoney(value string, l Language) (node, error) {
	currency, value, _ := strings.Cut(value, " ")
	m, ok := monies[currency]
	if !ok {
		return nil, fmt.Errorf("%q is not a currency", currency)
	}
	return money(value, l, m.unit, m.part)
}

// money reads an amount with the unit after it, or before it as a cheque has it; hundredths by their name or after the
// point.
func money(value string, l Language, unit, part unitNames) (node, error) {
	f, err := parseFigure(value)
	if err != nil {
		return nil, err
	}
	whole := f
	hundredths := figure{}
	if f.scale == "" && len(f.fraction) == 2 {
		whole.fraction = ""
		hundredths.whole = int64(f.fraction[0]-'0')*10 + int64(f.fraction[1]-'0')
	}
	units, parts := unit.in(l), part.in(l)
	plain := choice{sequence{number(whole, l), units}}
	if l != Hindi {
		plain = append(plain, sequence{phrases(unit.english...), englishNumber(whole)})
	}
	if l != English { // रुपये दस हज़ार, as on a cheque
		plain = append(plain, sequence{phrases(unit.hindi...), number(whole, Hindi)})
	}
	if hundredths.whole == 0 {
		return plain, nil
	}
	c := choice{sequence{plain, choice{nothing, connector("and", l)}, number(hundredths, l), parts},
		sequence{number(f, l), units}}
	if f.whole == 0 {
		c = append(choice{sequence{number(hundredths, l), parts}}, c...)
	}
	return c, nil
}
