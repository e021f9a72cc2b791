package speech

// Span says how a piece of the written text was rewritten.
type Span struct {
	Start  int      `json:"start"` // code point offset in the trimmed input
	End    int      `json:"end"`   // exclusive
	Kind   SpanKind `json:"kind"`
	Spoken string   `json:"spoken"` // empty when it is silent

	// Where Spoken stands in what is spoken, in code points; the same place twice when it is silent.
	OutStart int `json:"out_start"`
	OutEnd   int `json:"out_end"` // exclusive
}

// SpanKind says what a rewritten piece is.
type SpanKind string

// The kinds of spans. Clients see them; docs/normaliser.md has an example of each.
const (
	SpanAbbreviation SpanKind = "abbreviation"
	SpanAcronym      SpanKind = "acronym"
	SpanAlias        SpanKind = "alias" // markup says what is spoken
	SpanAmount       SpanKind = "amount"
	SpanCode         SpanKind = "code" // an OTP too
	SpanDate         SpanKind = "date"
	SpanDecimal      SpanKind = "decimal"
	SpanDuration     SpanKind = "duration"
	SpanEmail        SpanKind = "email"
	SpanEmoji        SpanKind = "emoji"
	SpanFraction     SpanKind = "fraction"
	SpanHandle       SpanKind = "handle"
	SpanHashtag      SpanKind = "hashtag"
	SpanLexicon      SpanKind = "lexicon"
	SpanList         SpanKind = "list"
	SpanMarkup       SpanKind = "markup"
	SpanMasked       SpanKind = "masked"
	SpanNumber       SpanKind = "number"
	SpanOrdinal      SpanKind = "ordinal"
	SpanPercent      SpanKind = "percent"
	SpanPhone        SpanKind = "phone"
	SpanPincode      SpanKind = "pincode"
	SpanRange        SpanKind = "range"
	SpanRatio        SpanKind = "ratio"
	SpanSign         SpanKind = "sign"
	SpanTime         SpanKind = "time"
	SpanUnit         SpanKind = "unit"
	SpanURL          SpanKind = "url"
	SpanVersion      SpanKind = "version"
	SpanYear         SpanKind = "year"
)
