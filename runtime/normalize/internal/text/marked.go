package text

// Part is what a token is a part of, beside plain text.
type Part uint8

// The parts of a text.
const (
	InText    Part = iota
	InCode         // a piece of a program
	InListing      // a line of one
	InMaths        // a formula
	InCall         // one without marks around it
	InTable        // the border of two cells
)

// IsProgram reports whether p is text of a program.
func (p Part) IsProgram() bool { return p == InCode || p == InListing }

// IsMaths reports whether p is a formula.
func (p Part) IsMaths() bool { return p == InMaths || p == InCall }

// BeginsWith is the kind whose rules read t: all of a formula is read by those for [SignWord].
func (t *Token) BeginsWith() Kind {
	if t.Part.IsMaths() {
		return SignWord
	}
	return t.Kind
}

// Lookahead is how many tokens a mark may be long; it keeps hostile text linear.
const Lookahead = 64
