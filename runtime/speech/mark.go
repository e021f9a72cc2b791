package speech

// Mark says how a piece of a text is to be read. Marks of one text do not overlap.
type Mark struct {
	Start, End int     // code points of the text; End is exclusive
	Spoken     string  // is read in its place; empty: what is written
	As         Reading // what it is; empty: as its writing and its neighbours say
	Lang       string  // the language of its numbers and signs, "hi" or "en"; empty: that of the sentence
}

// Reading is what a piece of text is said to be.
type Reading string

// The readings.
const (
	ReadDigits     Reading = "digits"     // one by one, letters as words
	ReadCharacters Reading = "characters" // letters by their names, digits one by one
	ReadCardinal   Reading = "cardinal"
	ReadOrdinal    Reading = "ordinal"
	ReadPhone      Reading = "telephone"
	ReadDate       Reading = "date" // in the order in which India writes it, or year first
	ReadMonthFirst Reading = "date:mdy"
	ReadTime       Reading = "time"
	ReadCurrency   Reading = "currency"
)
