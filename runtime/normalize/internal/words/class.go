package words

// Class is something that the rules need to know of a word. Rows of the tables name the classes of their words.
//
// A new one is a constant and a line of [classNames].
type Class uint8

// The classes. Their names in the tables are the same with a small letter.
const (
	// The language of the sentence.
	HindiWord     Class = iota // a Roman Hindi word that no English sentence has
	HindiFunction              // one that holds sentences together: hai, ka, aap
	HindiVerb                  // a form of a verb: karein, milega
	HindiMaybe                 // a Roman Hindi word that is also English, or part of a name
	EnglishWord                // an English word that Hinglish does not borrow
	DigitName                  // शून्य to नौ: stands in English sentences too, once their codes have been read

	// Code or quantity.
	CodeWord       // what stands near it is read digit by digit: OTP, PIN, code
	IdentifierWord // the same from three digits up: order, account, number
	Dialled        // what stands before it is read digit by digit: 112 डायल करें
	AfterPar       // the same with पर between them: 108 पर कॉल
	AmountOf       // an amount follows, although an account or an order is named: balance, total
	Paid           // an amount stands before: कटे, credited
	More           // with से before it, a quantity stands there: ज़्यादा
	Pressed        // * and # are keys: press, दबाएँ
	NumbersThings  // the no behind it is its number: roll no 12
	LastWord       // with a count behind it, the tail of a number follows: last 4 digits 8150
	CodeVerb       // a code is what one does this with: enter, use, दर्ज
	Renewed        // new or old, as codes are that follow others
	Sport          // numbers are scores
	Games          // 3-2 near it is the end of a game
	Lettered       // its parts have letters: rows A-F
	Taken          // 52:40 beside it is a length of time
	Parcels        // 1/3 behind it is one of three
	Messages       // five digits beside it are where messages go
	Door           // numbers with hyphens behind it are a door
	Departs        // four digits behind it are a time
	Travel         // four digits may be a time
	Lasting        // m behind a number is minutes
	Terms          // m behind a number is months
	Timed          // 1.00-1.30 is a time
	Warm           // a <3 behind it is a heart: love, thanks
	Apart          // ends the reach of an identifierWord: में, se
	Holds          // an identifierWord that a number follows even across में: ending in 9087
	Counted        // a noun that is counted: din, minutes, लोग
	Screen         // 4K before it is a sharpness
	Gold           // 22K near it is a carat
	Coach          // B12 behind it is a code
	City           // a postal code follows

	// Readings that depend on a neighbour.
	YearBefore  // a year follows: in, सन्
	YearAfter   // a year stands before: में, का
	Past        // what years long ago are known for: 1857 की क्रांति
	DayPart     // says which half of the day: सुबह, raat
	Oclock      // बजे, baje
	Meridiem    // am, pm
	EnglishHead // a number after it is read in English: Gate 2
	RomanTail   // a Roman numeral stands before: II sem
	RomanHead   // a Roman numeral follows: Class XII
	Signed      // a minus may follow: temperature, is
	Expiry      // a month and a year follow
	DateWord    // a day and a month follow: on, date
	AddressWord // stands in addresses beside the parts that have numbers
	Place       // part of an address, where 1/2 is no half
	Month       // with its number: month=1 is January
	Weekday     // with its number: weekday=1 is Monday
	ScaleWord   // lakh, crore; with its place among the scales

	Expansion // what a short form or a number becomes: doctor, hundred; no table names it

	// Capitals.
	Spoken     // said as a word although written in capitals: NASA
	Plain      // a common word, which stays a word in capitals: SALE
	Initialism // said by letters although a word is written the same: US, IT

	// Short forms.
	NeedsDot     // Prof.
	DotOrTitle   // dr., Dr
	DotOrNone    // approx, approx.
	BeforeNumber // No. 5, no 5
	BeforeID     // ac no 5512: only before another word of an account or a number

	// Classes that follow from others; no table names them.
	Shortened // any kind of short form
	AnyHindi  // any word of Roman Hindi

	// Words that one or two rules ask for.
	HindiOrdinalEnding // ends an ordinal in Hindi: वीं
	Towards            // where money that is credited went: to, में
	Banked             // a bank writes of money: balance, credited
	Availed            // what is available: balance, limit
	BeforeBalance      // stands before the short form of balance: clear, total
	AlsoWord           // a short form with its dot that is a word, too: tab, art
	EndsPhrase         // a short form behind what it belongs to: etc, Ltd
	Transferred        // what money moves to or by: account, UPI
	Feverish           // C and F behind a number are degrees: temp, बुखार
	Reckoned           // asks for a product, or names it: 8 x 7 kitna
	Halved             // counted with डेढ़ and ढाई: घंटे, kilo
	BeforeTime         // a time of four digits follows: by, from
	AfterDeparture     // stands behind the time of a departure: को, wali
	AfterTime          // stands behind a time in English: today, sharp
	AfterDottedTime    // stands behind 5.30 if that is a time: को, से
	NearToday          // today and the days beside it: kal, tonight
	AfterMeridiem      // am before it is no verb: to, daily
	TiesTime           // ties a time to what follows: पर, है
	Pricing            // K behind it is thousand: upto, for
	Possessive         // का, की, के
	Priced             // ends a sentence about a price: है, मिला
	NumberWord         // says that a number follows: no, नंबर
	OwnWord            // short before a number only with its dot or a capital, else a word of its own: no, ex
	Versioned          // a version follows: app, वर्शन
	BeforeDay          // a day and a month follow: till, since
	BetweenDays        // stands between two days: से, and
	AfterDay           // stands behind a day and a month: को, तक
	BeforeDecade       // a decade follows: early, mid
	Lawful             // a number with its letters follows, as of a law: Section, धारा
	Bank               // four digits beside it are the tail of an account: sbi, hdfc
	Monthly            // what is paid by the month: pension, tuition
	Dosed              // U behind a number near it are units: insulin
	Appointed          // a time follows: appt, meeting
	People             // have no fractions: 2/3 log
	GivenMoney         // what is done with an advance: diya, paid
	TagWord            // English sentences of India end with it, too: na, yaar
	Targets            // prices of shares follow: TGT, SL
	HeadWord           // for each of whom something is: head, person
	Examined           // what one scores in is no game: maths, paper
	SmallRomanHead     // a Roman numeral in small letters follows: sem, chapter
	SchoolDay          // stands beside hours of a day: half day, chhutti
	AddressSign        // what the signs of addresses of the web are called: ऐट, dot
	DateNamed          // a day follows, whatever else it looks like: dt, दिनांक
	LeastOf            // has a least amount: balance, order
	Multiplied         // what is so many times as much, and is no list of things: speed
	OwnedBy            // stands between a bank and its account: wale
	IntoAccount        // stands behind the tail of an account: me, se
	BeforeUsedCode     // stands between the verb of a code and the code: in, your
	BehindDoctor       // dr before it is a doctor: sahab
	Seniors            // sr before it is senior: citizen, manager
	OfAccount          // ac behind it is an account: joint, savings
	Landmarks          // nr before them is near
	Trains             // Exp near them is an express
	FewOf              // min behind it are minutes: ek min 2 sec
	BehindMonth        // a short month before it has no day: nov mein
	BeforeMonth        // a short month behind it has no day: since Oct
	BehindKe           // k before it is ke: liye, saath
	BehindOffice       // ofc before it is an office: me, time
	BehindNumber       // card no before it is the number of a card: followed, is
	HowMuch            // asks for the result of a formula: kitna
	BehindBareTime     // ties digits without a colon to a time: tak, pe
	MinuteWord         // minutes: min, मिनट
	Media              // minutes and seconds of it follow: video, gaana
	CaseEnding         // the postpositions that a person takes: ne, को
	WeekendBefore      // Sat and Sun behind it are days: on, every
	WeekendBehind      // Sat and Sun before it are days: off, ko
	Hourly             // hours, behind a length of time: 2:30 घंटे
	Yearly             // years: yr, saal
	LawBook            // the book of a law: Act, IPC
	PaidBy             // says how money went: from, via
	CourseUnit         // how long a medicine is taken: days, हफ़्ते
	Owner              // whose number it is: mera, my
	Frequency          // how often: once, बार
	Period             // in what time: day, माह
	OrWord             // or, या
	Windowed           // D behind its number is days: window, notice
	NumberBefore       // # behind it says nothing more: number, संख्या
	Another            // stands between two of a kind: या, and
	TrainName          // part of the name of a train: Rajdhani, एक्सप्रेस
	LoginVerb          // what one does with a code: login, verify
	BeforeCodeVerb     // stands between a code and its verb: यहाँ, मत
	BeforeCodeName     // stands between a code and what it is: your, यह
	NotPlace           // before six digits that end no address: में, कुल
	Capacious          // L behind its number is litres: fridge, tanki
	Dated              // Dt behind it is its date: bill, last
	Either             // stands behind one of two days: 24/25 को
	NextOne            // a train or a show, and its time follows: next, अगली
	Arriving           // what people do at a time: pahunchna, nikalna
	Starred            // 5* beside it are stars: hotel, rating
	Cooled             // T behind it is tons: AC, split
	RoundTimes         // 2x110 beside it is money: toll, fare
	Homeward           // where people go, and their going: ghar, pahunch
	Settled            // a month that is paid for stands before: is, received
	Packed             // 28D beside it are days: plan, pack
	Deposited          // dep behind them is a deposit: cheque, cash
	Moved              // by and for behind it lead to an amount: debited
	BehindBalance      // Bal before it is a balance: in, is
	Stopping           // pt behind it is a point: boarding, pickup
	BloodWord          // A- and B+ near it are groups: blood, donor
	Balances           // clr and tot before them are clear and total: bal
	Blocking           // what people write to a bank: BLOCK
	Salutation         // a person's name follows: mister
	Joiner             // stands inside names and times with a capital, too: of, to
	LetterName         // a letter of the Latin script in Devanagari: ए, के
	Planned            // a letter numbers it: plan, hepatitis
	Era                // a year stands before: ईस्वी, BC
	Channel            // how money moves, which opens the narration of a payment: UPI, NEFT
	Taxing             // an added tax: GST
	Delivering         // a place follows: delivered, dispatched
	Vehicular          // a vehicle, whose number may follow: gaadi, cab
	Bounding           // an amount follows, whatever stands before: above, than
	Branded            // makes what a letter and a number name: galaxy, redmi
	BeforeNone         // no behind it is the opposite of yes: has, are
	Command            // what a shell does behind its prompt: npm, git

	// Words as they are written (written.tsv).
	State       // a code that Indian vehicle numbers begin with: MH
	Airline     // the code of a flight, also before a space: 6E 2045
	Station     // a railway station or an airport, on both sides of a hyphen: NDLS-MMCT
	CoachCode   // letters before the number of a coach: B4, HA1
	Numbered    // letters whose number is a quantity: FY26, NH-44
	Degree      // stands behind the initial of a degree: B. Tech
	TopLevel    // the end of a web address or a file name: com, pdf
	SourceFile  // the end of the name of a file that programmers write about: rs, yaml
	ObjectName  // has members in programs: self.name, math.floor
	Ion         // what has a charge: ion, आयन
	DotFile     // the name of a file that begins with a point: bashrc, gitignore
	DottedMonth // with its number: a month only with its dot, for जन and नव are words, too

	classCount // how many there are
)

// classNames are what the tables call the classes.
var classNames = [classCount]string{
	HindiWord:          "hindiWord",
	HindiFunction:      "hindiFunction",
	HindiVerb:          "hindiVerb",
	HindiMaybe:         "hindiMaybe",
	EnglishWord:        "englishWord",
	DigitName:          "digitName",
	CodeWord:           "codeWord",
	IdentifierWord:     "identifierWord",
	Dialled:            "dialled",
	AfterPar:           "afterPar",
	AmountOf:           "amountOf",
	Paid:               "paid",
	More:               "more",
	Pressed:            "pressed",
	NumbersThings:      "numbersThings",
	LastWord:           "lastWord",
	CodeVerb:           "codeVerb",
	Renewed:            "renewed",
	Sport:              "sport",
	Games:              "games",
	Lettered:           "lettered",
	Taken:              "taken",
	Parcels:            "parcels",
	Messages:           "messages",
	Door:               "door",
	Departs:            "departs",
	Travel:             "travel",
	Lasting:            "lasting",
	Terms:              "terms",
	Timed:              "timed",
	Warm:               "warm",
	Apart:              "apart",
	Holds:              "holds",
	Counted:            "counted",
	Screen:             "screen",
	Gold:               "gold",
	Coach:              "coach",
	City:               "city",
	YearBefore:         "yearBefore",
	YearAfter:          "yearAfter",
	Past:               "past",
	DayPart:            "dayPart",
	Oclock:             "oclock",
	Meridiem:           "meridiem",
	EnglishHead:        "englishHead",
	RomanTail:          "romanTail",
	RomanHead:          "romanHead",
	Signed:             "signed",
	Expiry:             "expiry",
	DateWord:           "dateWord",
	AddressWord:        "addressWord",
	Place:              "place",
	Month:              "month",
	Weekday:            "weekday",
	ScaleWord:          "scaleWord",
	Expansion:          "expansion",
	Spoken:             "spoken",
	Plain:              "plain",
	Initialism:         "initialism",
	NeedsDot:           "needsDot",
	DotOrTitle:         "dotOrTitle",
	DotOrNone:          "dotOrNone",
	BeforeNumber:       "beforeNumber",
	BeforeID:           "beforeID",
	HindiOrdinalEnding: "hindiOrdinalEnding",
	Towards:            "towards",
	Banked:             "banked",
	Availed:            "availed",
	BeforeBalance:      "beforeBalance",
	AlsoWord:           "alsoWord",
	EndsPhrase:         "endsPhrase",
	Transferred:        "transferred",
	Feverish:           "feverish",
	Reckoned:           "reckoned",
	Halved:             "halved",
	BeforeTime:         "beforeTime",
	AfterDeparture:     "afterDeparture",
	AfterTime:          "afterTime",
	AfterDottedTime:    "afterDottedTime",
	NearToday:          "nearToday",
	AfterMeridiem:      "afterMeridiem",
	TiesTime:           "tiesTime",
	Pricing:            "pricing",
	Possessive:         "possessive",
	Priced:             "priced",
	NumberWord:         "numberWord",
	OwnWord:            "ownWord",
	Versioned:          "versioned",
	BeforeDay:          "beforeDay",
	BetweenDays:        "betweenDays",
	AfterDay:           "afterDay",
	BeforeDecade:       "beforeDecade",
	Lawful:             "lawful",
	Bank:               "bank",
	Monthly:            "monthly",
	Dosed:              "dosed",
	Appointed:          "appointed",
	People:             "people",
	GivenMoney:         "givenMoney",
	TagWord:            "tagWord",
	Targets:            "targets",
	HeadWord:           "headWord",
	Examined:           "examined",
	SmallRomanHead:     "smallRomanHead",
	SchoolDay:          "schoolDay",
	AddressSign:        "addressSign",
	DateNamed:          "dateNamed",
	LeastOf:            "leastOf",
	Multiplied:         "multiplied",
	OwnedBy:            "ownedBy",
	IntoAccount:        "intoAccount",
	BeforeUsedCode:     "beforeUsedCode",
	BehindDoctor:       "behindDoctor",
	Seniors:            "seniors",
	OfAccount:          "ofAccount",
	Landmarks:          "landmarks",
	Trains:             "trains",
	FewOf:              "fewOf",
	BehindMonth:        "behindMonth",
	BeforeMonth:        "beforeMonth",
	BehindKe:           "behindKe",
	BehindOffice:       "behindOffice",
	BehindNumber:       "behindNumber",
	HowMuch:            "howMuch",
	BehindBareTime:     "behindBareTime",
	MinuteWord:         "minuteWord",
	Media:              "media",
	CaseEnding:         "caseEnding",
	WeekendBefore:      "weekendBefore",
	WeekendBehind:      "weekendBehind",
	Hourly:             "hourly",
	Yearly:             "yearly",
	LawBook:            "lawBook",
	PaidBy:             "paidBy",
	CourseUnit:         "courseUnit",
	Owner:              "owner",
	Frequency:          "frequency",
	Period:             "period",
	OrWord:             "orWord",
	Windowed:           "windowed",
	NumberBefore:       "numberBefore",
	Another:            "another",
	TrainName:          "trainName",
	LoginVerb:          "loginVerb",
	BeforeCodeVerb:     "beforeCodeVerb",
	BeforeCodeName:     "beforeCodeName",
	NotPlace:           "notPlace",
	Capacious:          "capacious",
	Dated:              "dated",
	Either:             "either",
	NextOne:            "nextOne",
	Arriving:           "arriving",
	Starred:            "starred",
	Cooled:             "cooled",
	RoundTimes:         "roundTimes",
	Homeward:           "homeward",
	Packed:             "packed",
	Settled:            "settled",
	Deposited:          "deposited",
	Moved:              "moved",
	BehindBalance:      "behindBalance",
	Stopping:           "stopping",
	BloodWord:          "bloodWord",
	Balances:           "balances",
	Blocking:           "blocking",
	Salutation:         "salutation",
	Joiner:             "joiner",
	LetterName:         "letterName",
	Planned:            "planned",
	Era:                "era",
	Channel:            "channel",
	Taxing:             "taxing",
	Delivering:         "delivering",
	Vehicular:          "vehicular",
	Bounding:           "bounding",
	Branded:            "branded",
	BeforeNone:         "beforeNone",
	Command:            "command",
	Shortened:          "shortened",
	AnyHindi:           "anyHindi",
	State:              "state",
	Airline:            "airline",
	Station:            "station",
	CoachCode:          "coachCode",
	Numbered:           "numbered",
	Degree:             "degree",
	TopLevel:           "topLevel",
	SourceFile:         "sourceFile",
	ObjectName:         "objectName",
	Ion:                "ion",
	DotFile:            "dotFile",
	DottedMonth:        "dottedMonth",
}

// String is the name of c in the tables.
func (c Class) String() string { return classNames[c] }

// Set is a set of classes.
type Set [(classCount + 63) / 64]uint64

// Has reports whether c is in s.
func (s *Set) Has(c Class) bool { return s[c/64]&(1<<(c%64)) != 0 }

func (s *Set) add(c Class) { s[c/64] |= 1 << (c % 64) }

// union adds what is in o.
func (s *Set) union(o *Set) {
	for i, bits := range o {
		s[i] |= bits
	}
}
