package words

import (
	"strings"

	"github.com/swar-tts/swar/runtime/internal/table"
)

// Unit is a measure. What stands in the text is its symbol; words such as "metres" are kept as they are.
type Unit struct {
	Symbol    string // the first of its symbols, by which languages name it
	TightOnly bool   // a single letter or a word of its own: only directly behind the number
	Rare      bool   // only apart, and behind digits of Devanagari or a word of temperatures
	Quarter   bool   // said with डेढ़ and ढाई

	hindi, english Names
}

// Names are what a unit is called: one of it, and several.
type Names struct{ One, Many string }

// Currency is a kind of money.
type Currency struct {
	Signs   string // in the text
	Western bool   // counted in thousands and millions in English
	Decimal bool   // parts of it are said as decimals
}

// MoneyWords are what a currency and its hundredth are called.
type MoneyWords struct{ One, Many, Cent, Cents string }

// Rupees is the place of the rupees in [Currencies].
const Rupees = 1

// What the tables of units, rates and money say.
var (
	// by each symbol. If their case differs, both are listed; otherwise the lower case one serves
	Units         map[string]*Unit
	Rates         map[string]string // words behind a stroke that Hindi says in Hindi: ₹299/day
	LongRates     map[string]string // what English says for the short ones of them
	Currencies    []Currency        // place 0 stands for none
	CurrencyCodes map[string]int    // places of currencies by their written short forms, in lower case
	CurrencyWords map[string]int    // the same by words, which are said as they are written
)

// measures are the tables of units, rates and money.
type measures struct {
	units                        map[string]*Unit
	rates, longRates             map[string]string
	currencies                   []Currency
	hindiMoney, englishMoney     []MoneyWords
	currencyCodes, currencyWords map[string]int
}

func newMeasures() measures {
	return measures{
		units: make(map[string]*Unit, 256), rates: map[string]string{}, longRates: map[string]string{},
		currencies: make([]Currency, 1), hindiMoney: make([]MoneyWords, 1), englishMoney: make([]MoneyWords, 1),
		currencyCodes: map[string]int{}, currencyWords: map[string]int{},
	}
}

// use makes m what the rules see.
func (m *measures) use() {
	Units, Rates, LongRates = m.units, m.rates, m.longRates
	Currencies, CurrencyCodes, CurrencyWords = m.currencies, m.currencyCodes, m.currencyWords
	hindiWords.Rates, hindiWords.Money = m.rates, m.hindiMoney
	englishWords.Rates, englishWords.Money = m.longRates, m.englishMoney
}

// unit adds a row of units.tsv.
func (l *loader) unit(r *table.Row) error {
	u := &Unit{
		hindi:   Names{One: r.Cell(5), Many: r.Cell(1)},
		english: Names{One: r.Cell(3), Many: r.Cell(2)},
	}
	before := ""
	switch kind := r.Cell(4); kind {
	case "":
	case "tight":
		u.TightOnly = true
	case "rare":
		u.Rare = true
	case "quarter":
		u.Quarter = true
	case "degree":
		before = "°"
	default:
		return r.Errorf("unknown kind of unit: %q", kind)
	}
	if u.hindi.One == "" {
		u.hindi.One = u.hindi.Many
	}
	if u.hindi.Many == "" || u.english.Many == "" || u.english.One == "" {
		return r.Errorf("a unit has a name in Hindi, and two in English: many, one")
	}
	for symbol := range strings.SplitSeq(r.Cell(0), " ") {
		symbol = before + symbol
		if l.v.units[symbol] != nil {
			return r.Errorf("a second row of %q", symbol)
		}
		if u.Symbol == "" {
			u.Symbol = symbol
		}
		l.v.units[symbol] = u
	}
	l.v.expand(u.english.One + " " + u.english.Many)
	return nil
}

// rate adds a row of rates.tsv.
func (l *loader) rate(r *table.Row) error {
	if l.v.rates[r.Cell(0)] != "" || r.Cell(1) == "" {
		return r.Errorf("a second row of %q, or one without Hindi", r.Cell(0))
	}
	l.v.rates[r.Cell(0)] = r.Cell(1)
	if r.Cell(2) != "" {
		l.v.longRates[r.Cell(0)] = r.Cell(2)
	}
	return nil
}

// money adds a row of money.tsv.
func (l *loader) money(r *table.Row) error {
	n := len(l.v.currencies)
	if (n == Rupees) != (r.Cell(0) == "rupees") {
		return r.Errorf("the rupees come first")
	}
	c := Currency{Signs: r.Cell(1)}
	for kind := range strings.FieldsSeq(r.Cell(4)) {
		switch kind {
		case "western":
			c.Western = true
		case "decimal":
			c.Decimal = true
		default:
			return r.Errorf("unknown kind of money: %q", kind)
		}
	}
	for cell, places := range map[int]map[string]int{2: l.v.currencyCodes, 3: l.v.currencyWords} {
		for word := range strings.FieldsSeq(r.Cell(cell)) {
			if places[word] > 0 {
				return r.Errorf("a second row of %q", word)
			}
			places[word] = n
		}
	}
	for code := range strings.FieldsSeq(r.Cell(2)) {
		l.entry(code).Currency = n
	}
	for cell := 5; cell < 13; cell++ {
		if r.Cell(cell) == "" {
			return r.Errorf("a currency has eight names, the last %q", r.Cell(cell-1))
		}
	}
	l.v.currencies = append(l.v.currencies, c)
	l.v.hindiMoney = append(l.v.hindiMoney, MoneyWords{r.Cell(5), r.Cell(6), r.Cell(7), r.Cell(8)})
	l.v.englishMoney = append(l.v.englishMoney, MoneyWords{r.Cell(9), r.Cell(10), r.Cell(11), r.Cell(12)})
	for cell := 9; cell < 13; cell++ {
		l.v.expand(r.Cell(cell))
	}
	return nil
}
