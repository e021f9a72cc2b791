package words

// Group is a list of words that one or two rules ask for. What many rules ask for is a [Trait].
type Group uint8

// The groups, which [groupWords] lists.
const (
	HindiOrdinalEnding Group = iota // ends an ordinal in Hindi: वीं
	Towards                         // where money that is credited went: to, में
	Banked                          // a bank writes of money: balance, credited
	Availed                         // what is available: balance, limit
	BeforeBalance                   // stands before the short form of balance: clear, total
	AlsoWord                        // a short form with its dot that is a word, too: tab, art
	EndsPhrase                      // a short form behind what it belongs to: etc, Ltd
	Transferred                     // what money moves to or by: account, UPI
	Feverish                        // C and F behind a number are degrees: temp, बुखार
	Reckoned                        // asks for a product, or names it: 8 x 7 kitna
	Halved                          // counted with डेढ़ and ढाई: घंटे, kilo
	BeforeTime                      // a time of four digits follows: by, from
	AfterDeparture                  // stands behind the time of a departure: को, wali
	AfterTime                       // stands behind a time in English: today, sharp
	AfterDottedTime                 // stands behind 5.30 if that is a time: को, से
	NearToday                       // today and the days beside it: kal, tonight
	AfterMeridiem                   // am before it is no verb: to, daily
	TiesTime                        // ties a time to what follows: पर, है
	Pricing                         // K behind it is thousand: upto, for
	Possessive                      // का, की, के
	Priced                          // ends a sentence about a price: है, मिला
	NumberWord                      // says that a number follows: no, नंबर
	OwnWord                         // short before a number only with its dot or a capital, else a word of its own: no, ex
	Versioned                       // a version follows: app, वर्शन
	BeforeDay                       // a day and a month follow: till, since
	BetweenDays                     // stands between two days: से, and
	AfterDay                        // stands behind a day and a month: को, तक
	BeforeDecade                    // a decade follows: early, mid
	Lawful                          // a number with its letters follows, as of a law: Section, धारा
	Bank                            // four digits beside it are the tail of an account: sbi, hdfc
	Monthly                         // what is paid by the month: pension, tuition
	Dosed                           // U behind a number near it are units: insulin
	Appointed                       // a time follows: appt, meeting
	People                          // of which there is no fraction: 2/3 log
	GivenMoney                      // what is done with an advance: diya, paid
	TagWord                         // English sentences of India end with it, too: na, yaar
	Targets                         // prices of shares follow: TGT, SL
	HeadWord                        // for each of whom something is: head, person
	Examined                        // what one scores in is no game: maths, paper
	SmallRomanHead                  // a Roman numeral in small letters follows: sem, chapter
	SchoolDay                       // a day of which hours are told: half day, chhutti
	AddressSign                     // what the signs of addresses of the web are called: ऐट, dot
	DateNamed                       // a day follows, whatever else it looks like: dt, दिनांक
	LeastOf                         // of which there is a least: balance, order
	Multiplied                      // what is so many times as much, and is no list of things: speed
	OwnedBy                         // stands between a bank and its account: wale
	IntoAccount                     // stands behind the tail of an account: me, se
	BeforeUsedCode                  // stands between the verb of a code and the code: in, your
	BehindDoctor                    // dr before it is a doctor: sahab
	Seniors                         // sr before it is senior: citizen, manager
	OfAccount                       // ac behind it is an account: joint, savings
	Landmarks                       // nr before them is near
	Trains                          // Exp near them is an express
	FewOf                           // min behind it are minutes: ek min 2 sec
	BehindMonth                     // a short month before it has no day: nov mein
	BeforeMonth                     // a short month behind it has no day: since Oct
	BehindKe                        // k before it is ke: liye, saath
	BehindOffice                    // ofc before it is an office: me, time
	BehindNumber                    // card no before it is the number of a card: followed, is
	HowMuch                         // asks for the result of a formula: kitna
	BehindBareTime                  // ties digits without a colon to a time: tak, pe
	MinuteWord                      // minutes: min, मिनट
	Media                           // minutes and seconds of it follow: video, gaana
	CaseEnding                      // the postpositions that a person takes: ne, को
	WeekendBefore                   // Sat and Sun behind it are days: on, every
	WeekendBehind                   // Sat and Sun before it are days: off, ko
	Hourly                          // hours, behind a length of time: 2:30 घंटे
	Yearly                          // years: yr, saal
	LawBook                         // the book of a law: Act, IPC
	PaidBy                          // says how money went: from, via
	CourseUnit                      // how long a medicine is taken: days, हफ़्ते
	Owner                           // whose number it is: mera, my
	Frequency                       // how often: once, बार
	Period                          // in what time: day, माह
	OrWord                          // or, या
	Windowed                        // D behind its number is days: window, notice
	NumberBefore                    // # behind it says nothing more: number, संख्या
	Another                         // stands between two of a kind: या, and
	TrainName                       // part of the name of a train: Rajdhani, एक्सप्रेस
	LoginVerb                       // what one does with a code: login, verify
	BeforeCodeVerb                  // stands between a code and its verb: यहाँ, मत
	BeforeCodeName                  // stands between a code and what it is: your, यह
	NotPlace                        // before six digits that end no address: में, कुल
	Capacious                       // L behind its number is litres: fridge, tanki
	Dated                           // Dt behind it is its date: bill, last
	Either                          // stands behind one of two days: 24/25 को
	NextOne                         // a train or a show, and its time follows: next, अगली
	Arriving                        // what people do at a time: pahunchna, nikalna
	Starred                         // 5* beside it are stars: hotel, rating
	Cooled                          // T behind it is tons: AC, split
	RoundTimes                      // 2x110 beside it is money: toll, fare
	Homeward                        // where people go, and their going: ghar, pahunch
	Stopping                        // pt behind it is a point: boarding, pickup
	BloodWord                       // A- and B+ near it are groups: blood, donor
	Balances                        // clr and tot before them are clear and total: bal
	Blocking                        // what people write to a bank: BLOCK
	Salutation                      // a person's name follows: mister
	Joiner                          // stands inside names and times with a capital, too: of, to
	LetterName                      // a letter of the Latin script in Devanagari: ए, के
	Planned                         // a letter numbers it: plan, hepatitis
	Era                             // a year stands before: ईस्वी, BC
	Command                         // what a shell does behind its prompt: npm, git
	groups                          // how many there are
)

// groupSet has a bit for each group.
type groupSet [(groups + 63) / 64]uint64

func (s *groupSet) add(g Group) { s[g/64] |= 1 << (g % 64) }

func (s *groupSet) Has(g Group) bool { return s[g/64]&(1<<(g%64)) != 0 }

// groupWords are the words of the groups, in lower case.
var groupWords = [groups]string{
	HindiOrdinalEnding: `वाँ वां वीं वें वा था थी थे ठा ठी ठे`,
	Towards:            `to in into on by se me mein via from hua में हुए`,
	Banked:             `bal balance avl avail available clr ac account credited debited credit debit deposited खाता शेष बैलेंस`,
	Availed:            `bal balance limit lmt amt amount cash credit`,
	BeforeBalance:      `tag wallet new updated led cr avlbl avl avbl avail aval available clr clear tot total cur curr current min minimum ledger closing opening net your account ac maintain low sufficient remaining updated`,
	AlsoWord:           `hon tab tabs art cap caps disc er sh gen col fig ave max min vol mon`,
	EndsPhrase:         `etc clg ltd inc corp univ bros jr rd`,
	Transferred:        `wallet account acct ac खाते upi neft imps`,
	Feverish:           `temp temperature fever bukhar बुखार तापमान taapmaan`,
	Reckoned:           `kitna kitne kitni hota hote hua barabar equals कितना कितने होता होते हुआ बराबर`,
	Halved:             `घंटे घंटा घंटों ghante ghanta ghanto ghanton किलो kilo लीटर बजे baje साल saal किलोमीटर महीने mahine`,
	BeforeTime:         `by from till until before after starts`,
	AfterDeparture:     `ko को tak तक wali वाली ki की ka का baje बजे`,
	AfterTime:          `on in today tomorrow sharp daily tonight`,
	AfterDottedTime:    `ko को tak तक tk ka ki ke से se`,
	NearToday:          `kal aaj parso कल आज परसों today tomorrow tonight`,
	AfterMeridiem:      `to till until on in and or for at from by with every each daily is only the`,
	TiesTime:           `पर par pe पे से se तक tak का ka की ki के ke को ko है hai हैं hain हो ho या ya और aur`,
	Pricing:            `upto at for under sirf only`,
	Possessive:         `ka ki ke का की के`,
	Priced:             `hai hain tha thi hoga hogi aaya aayi mila mili liya padega है हैं था थी होगा होगी आया आई मिला मिली लिया पड़ेगा`,
	NumberWord:         `no number नं नंबर`,
	OwnWord:            `no nos ex tel`,
	Versioned:          `version app build release firmware update v वर्शन संस्करण`,
	BeforeDay:          `from till until by before upto from since after for`,
	BetweenDays:        `से se to till aur और and ya या`,
	AfterDay:           `को ko तक tak से se`,
	BeforeDecade:       `the early late mid`,
	Lawful:             `section sec form rule article धारा dhara फ़ॉर्म फॉर्म नियम अनुच्छेद schedule`,
	Bank:               `sbi hdfc icici axis kotak pnb bob boi idbi canara union indusind idfc yes rbl federal paytm`,
	Monthly:            `pension pt rent maintenance maint tuition tution sip emi salary stipend hostel mess pg gym fee fees chit`,
	Dosed:              `insulin lantus novorapid mixtard botox इंसुलिन`,
	Appointed:          `start starts begin begins appt appointment meeting mtg slot aarti show class timing time`,
	People:             `log logon लोग लोगों bande bacche bachche students ladke बच्चे baar बार times`,
	GivenMoney:         `dia diya di diye liya li dena de do paid given payment amt amount received`,
	TagWord:            `na yaar bhai ji didi`,
	Targets:            `tgt target targets sl cmp टारगेट`,
	HeadWord:           `head person pax student`,
	Examined:           `maths math exam exams marks physics chemistry biology science sst`,
	SmallRomanHead:     `sem semester class std chapter part unit phase level`,
	SchoolDay:          `day chhutti छुट्टी`,
	AddressSign:        `ऐट at डॉट dot स्लैश slash underscore`,
	DateNamed:          `dt date dated दिनांक तारीख तारीख़ dob doj`,
	LeastOf:            `balance order bal age amount amt qty wage attendance`,
	Multiplied:         `speed zoom faster growth profit return returns pay points reward rewards more`,
	OwnedBy:            `wale wala wali`,
	IntoAccount:        `me mein main में se से wale wala वाले`,
	BeforeUsedCode:     `in with only your the`,
	Seniors:            `citizen citizens manager engineer developer executive officer inspector secondary sec doctor resident advocate teacher player`,
	OfAccount:          `joint savings saving salary loan demat escrow`,
	Landmarks:          `sbi atm bank school college hospital metro station temple mandir masjid church market mall park gate office chowk circle bus depot thana petrol`,
	Trains:             `train trains ट्रेन गाड़ी gaadi pnr rail`,
	FewOf:              `ek do teen char paanch dus das एक दो तीन पाँच दस one two three five ten few half kuch`,
	BehindMonth:        `me mein में tak tk तक wala wali wale bill salary month`,
	BeforeMonth:        `in since till until last next this from by bill month salary of`,
	BehindKe:           `liye lie liy saath sath baad bad paas pas andar upar neeche niche bahar baare bare pehle phle hisab hisaab badle bagair bina`,
	BehindDoctor:       `sahab saab sahib साहब appt appointment`,
	BehindOffice:       `me mein में time`,
	BehindNumber:       `followed is and ending registered linked`,
	HowMuch:            `kitna kitne कितना कितने`,
	BehindBareTime:     `tk tak तक pe ko को पर`,
	MinuteWord:         `min mins minutes मिनट`,
	Media:              `video clip reel song gaana audio track वीडियो क्लिप गाना`,
	CaseEnding:         `ne ko ke ka ki se ने को के का की से`,
	WeekendBefore:      `on by every each this next coming last till until from or and to am pm is se ya aur har इस अगले हर`,
	WeekendBehind:      `off closed holiday morning evening night afternoon ko को tak तक only also`,
	Hourly:             `घंटे घंटा घंटों ghante ghanta ghanto ghanton hours hour`,
	Yearly:             `yr yrs year years saal`,
	LawBook:            `act ipc bns bnss crpc cpc rules code adhiniyam`,
	PaidBy:             `from to by via on in se`,
	CourseUnit:         `days day d weeks week wks wk months month mths din hafte दिन`,
	Owner:              `mera uska unka apna naya aapka iska tera my`,
	Frequency:          `once twice thrice times time baar बार`,
	Period:             `day wk week month mo yr year hr दिन हफ़्ता माह साल`,
	OrWord:             `or या ya`,
	Windowed:           `window validity valid replacement exchange return stay notice`,
	NumberBefore:       `number no नंबर नम्बर संख्या`,
	Another:            `ya या or aur और and`,
	TrainName:          `rajdhani shatabdi duronto express exp mail superfast sf vande tejas garib intercity passenger एक्सप्रेस राजधानी शताब्दी वंदे`,
	LoginVerb:          `login verify log sign signin unlock confirm लॉगिन activate authenticate`,
	BeforeCodeVerb:     `ko को yahan यहाँ na न मत mat kisi wahan abhi hi ही app box`,
	BeforeCodeName:     `your आपका aapka apka ye yeh yah यह ये तुम्हारा mera मेरा for को ko एक wala`,
	NotPlace:           `में से को का की के है तक कुल`,
	Capacious:          `fridge refrigerator geyser tank tanki bucket balti cooler boot capacity drum cooker oven microwave backpack bag सिलेंडर टंकी बाल्टी फ्रिज`,
	Dated:              `bill last due invoice inv start end policy renewal joining`,
	Either:             `ko को tak तक tk tarikh तारीख़ तारीख`,
	NextOne:            `next agli agla pehli pehla last first अगली अगला पहली आखिरी`,
	Arriving:           `aa aana aao aaye aaiye aaja aajao aayega aayegi ayega jaana jao jaye nikal nikalna nikalenge milna milte milo pahunch pahuncho pahunchna pahunchenge पहुँच पहुँचना आना आएँ आ जाना निकलना मिलना`,
	Starred:            `rate rating rated hotel fridge ac resort review reviews geyser`,
	Cooled:             `ac acs split inverter एसी`,
	RoundTimes:         `toll fare ticket tickets emi emis kiraya`,
	Homeward:           `ghar घर office ऑफ़िस station स्टेशन airport pahunch pahuch pahunchna pahunchenge pahunchunga pahunchungi niklenge niklunga niklungi nikal nikalna पहुँच निकल`,
	BloodWord:          `blood group donor donors donate donation khoon khun rakt plasma platelets transfusion ब्लड ग्रुप खून ख़ून रक्त डोनर प्लाज़्मा रक्तदान`,
	Balances:           `bal balance avl avbl avlbl avail available`,
	Blocking:           `block blk hotlist`,
	Salutation:         `mister missus miz doctor professor shrimati captain advocate colonel major`,
	Joiner:             `no of and for to in on at by with from or till until ka ki ke ko se me mein par aur ya`,
	LetterName:         `ए बी सी डी ई एफ एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू डब्लू एक्स वाई ज़ेड जेड`,
	Planned:            `plan hepatitis`,
	Era:                `ईस्वी ईसवी ईसवीं ad bc ce bce`,
	Command:            `npm npx yarn pip git docker kubectl cargo sudo apt brew node python curl wget ssh chmod mkdir`,
	Stopping:           `boarding pickup drop dropping starting meeting assembly collection delivery view charging checking toll`,
}
