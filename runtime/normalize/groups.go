package normalize

// group is a list of words that one or two rules ask for. What many rules ask for is a [trait].
type group uint8

// The groups, which [groupWords] lists.
const (
	hindiOrdinalEnding group = iota // ends an ordinal in Hindi: वीं
	towards                         // where money that is credited went: to, में
	banked                          // a bank writes of money: balance, credited
	availed                         // what is available: balance, limit
	beforeBalance                   // stands before the short form of balance: clear, total
	alsoWord                        // a short form with its dot that is a word, too: tab, art
	endsPhrase                      // a short form behind what it belongs to: etc, Ltd
	transferred                     // what money moves to or by: account, UPI
	feverish                        // C and F behind a number are degrees: temp, बुखार
	reckoned                        // asks for a product, or names it: 8 x 7 kitna
	halved                          // counted with डेढ़ and ढाई: घंटे, kilo
	beforeTime                      // a time of four digits follows: by, from
	afterDeparture                  // stands behind the time of a departure: को, wali
	afterTime                       // stands behind a time in English: today, sharp
	afterDottedTime                 // stands behind 5.30 if that is a time: को, से
	nearToday                       // today and the days beside it: kal, tonight
	afterMeridiem                   // am before it is no verb: to, daily
	tiesTime                        // ties a time to what follows: पर, है
	pricing                         // K behind it is thousand: upto, for
	possessive                      // का, की, के
	priced                          // ends a sentence about a price: है, मिला
	numberWord                      // says that a number follows: no, नंबर
	ownWord                         // short before a number only with its dot or a capital, else a word of its own: no, ex
	versioned                       // a version follows: app, वर्शन
	beforeDay                       // a day and a month follow: till, since
	betweenDays                     // stands between two days: से, and
	afterDay                        // stands behind a day and a month: को, तक
	beforeDecade                    // a decade follows: early, mid
	lawful                          // a number with its letters follows, as of a law: Section, धारा
	bank                            // four digits beside it are the tail of an account: sbi, hdfc
	monthly                         // what is paid by the month: pension, tuition
	dosed                           // U behind a number near it are units: insulin
	appointed                       // a time follows: appt, meeting
	people                          // of which there is no fraction: 2/3 log
	givenMoney                      // what is done with an advance: diya, paid
	tagWord                         // English sentences of India end with it, too: na, yaar
	targets                         // prices of shares follow: TGT, SL
	headWord                        // for each of whom something is: head, person
	examined                        // what one scores in is no game: maths, paper
	smallRomanHead                  // a Roman numeral in small letters follows: sem, chapter
	schoolDay                       // a day of which hours are told: half day, chhutti
	addressSign                     // what the signs of addresses of the web are called: ऐट, dot
	dateNamed                       // a day follows, whatever else it looks like: dt, दिनांक
	leastOf                         // of which there is a least: balance, order
	multiplied                      // what is so many times as much, and is no list of things: speed
	ownedBy                         // stands between a bank and its account: wale
	intoAccount                     // stands behind the tail of an account: me, se
	beforeUsedCode                  // stands between the verb of a code and the code: in, your
	behindDoctor                    // dr before it is a doctor: sahab
	seniors                         // sr before it is senior: citizen, manager
	ofAccount                       // ac behind it is an account: joint, savings
	landmarks                       // nr before them is near
	trains                          // Exp near them is an express
	fewOf                           // min behind it are minutes: ek min 2 sec
	behindMonth                     // a short month before it has no day: nov mein
	beforeMonth                     // a short month behind it has no day: since Oct
	behindKe                        // k before it is ke: liye, saath
	behindOffice                    // ofc before it is an office: me, time
	behindNumber                    // card no before it is the number of a card: followed, is
	howMuch                         // asks for the result of a formula: kitna
	behindBareTime                  // ties digits without a colon to a time: tak, pe
	minuteWord                      // minutes: min, मिनट
	media                           // minutes and seconds of it follow: video, gaana
	caseEnding                      // the postpositions that a person takes: ne, को
	weekendBefore                   // Sat and Sun behind it are days: on, every
	weekendBehind                   // Sat and Sun before it are days: off, ko
	hourly                          // hours, behind a length of time: 2:30 घंटे
	yearly                          // years: yr, saal
	lawBook                         // the book of a law: Act, IPC
	paidBy                          // says how money went: from, via
	courseUnit                      // how long a medicine is taken: days, हफ़्ते
	owner                           // whose number it is: mera, my
	frequency                       // how often: once, बार
	period                          // in what time: day, माह
	orWord                          // or, या
	windowed                        // D behind its number is days: window, notice
	numberBefore                    // # behind it says nothing more: number, संख्या
	another                         // stands between two of a kind: या, and
	trainName                       // part of the name of a train: Rajdhani, एक्सप्रेस
	loginVerb                       // what one does with a code: login, verify
	beforeCodeVerb                  // stands between a code and its verb: यहाँ, मत
	beforeCodeName                  // stands between a code and what it is: your, यह
	notPlace                        // before six digits that end no address: में, कुल
	capacious                       // L behind its number is litres: fridge, tanki
	dated                           // Dt behind it is its date: bill, last
	either                          // stands behind one of two days: 24/25 को
	nextOne                         // a train or a show, and its time follows: next, अगली
	arriving                        // what people do at a time: pahunchna, nikalna
	starred                         // 5* beside it are stars: hotel, rating
	cooled                          // T behind it is tons: AC, split
	roundTimes                      // 2x110 beside it is money: toll, fare
	homeward                        // where people go, and their going: ghar, pahunch
	stopping                        // pt behind it is a point: boarding, pickup
	bloodWord                       // A- and B+ near it are groups: blood, donor
	balances                        // clr and tot before them are clear and total: bal
	blocking                        // what people write to a bank: BLOCK
	salutation                      // a person's name follows: mister
	joiner                          // stands inside names and times with a capital, too: of, to
	letterName                      // a letter of the Latin script in Devanagari: ए, के
	planned                         // a letter numbers it: plan, hepatitis
	era                             // a year stands before: ईस्वी, BC
	command                         // what a shell does behind its prompt: npm, git
	groups                          // how many there are
)

// groupSet has a bit for each group.
type groupSet [(groups + 63) / 64]uint64

func (s *groupSet) add(g group)      { s[g/64] |= 1 << (g % 64) }
func (s *groupSet) has(g group) bool { return s[g/64]&(1<<(g%64)) != 0 }

// in reports whether token i is a word of a group, however it is written.
func (r *reader) in(i int, g group) bool { return r.at(i).word.groups.has(g) }

// groupWords are the words of the groups, in lower case.
var groupWords = [groups]string{
	hindiOrdinalEnding: `वाँ वां वीं वें वा था थी थे ठा ठी ठे`,
	towards:            `to in into on by se me mein via from hua में हुए`,
	banked:             `bal balance avl avail available clr ac account credited debited credit debit deposited खाता शेष बैलेंस`,
	availed:            `bal balance limit lmt amt amount cash credit`,
	beforeBalance:      `tag wallet new updated led cr avlbl avl avbl avail aval available clr clear tot total cur curr current min minimum ledger closing opening net your account ac maintain low sufficient remaining updated`,
	alsoWord:           `hon tab tabs art cap caps disc er sh gen col fig ave max min vol mon`,
	endsPhrase:         `etc clg ltd inc corp univ bros jr rd`,
	transferred:        `wallet account acct ac खाते upi neft imps`,
	feverish:           `temp temperature fever bukhar बुखार तापमान taapmaan`,
	reckoned:           `kitna kitne kitni hota hote hua barabar equals कितना कितने होता होते हुआ बराबर`,
	halved:             `घंटे घंटा घंटों ghante ghanta ghanto ghanton किलो kilo लीटर बजे baje साल saal किलोमीटर महीने mahine`,
	beforeTime:         `by from till until before after starts`,
	afterDeparture:     `ko को tak तक wali वाली ki की ka का baje बजे`,
	afterTime:          `on in today tomorrow sharp daily tonight`,
	afterDottedTime:    `ko को tak तक tk ka ki ke से se`,
	nearToday:          `kal aaj parso कल आज परसों today tomorrow tonight`,
	afterMeridiem:      `to till until on in and or for at from by with every each daily is only the`,
	tiesTime:           `पर par pe पे से se तक tak का ka की ki के ke को ko है hai हैं hain हो ho या ya और aur`,
	pricing:            `upto at for under sirf only`,
	possessive:         `ka ki ke का की के`,
	priced:             `hai hain tha thi hoga hogi aaya aayi mila mili liya padega है हैं था थी होगा होगी आया आई मिला मिली लिया पड़ेगा`,
	numberWord:         `no number नं नंबर`,
	ownWord:            `no nos ex tel`,
	versioned:          `version app build release firmware update v वर्शन संस्करण`,
	beforeDay:          `from till until by before upto from since after for`,
	betweenDays:        `से se to till aur और and ya या`,
	afterDay:           `को ko तक tak से se`,
	beforeDecade:       `the early late mid`,
	lawful:             `section sec form rule article धारा dhara फ़ॉर्म फॉर्म नियम अनुच्छेद schedule`,
	bank:               `sbi hdfc icici axis kotak pnb bob boi idbi canara union indusind idfc yes rbl federal paytm`,
	monthly:            `pension pt rent maintenance maint tuition tution sip emi salary stipend hostel mess pg gym fee fees chit`,
	dosed:              `insulin lantus novorapid mixtard botox इंसुलिन`,
	appointed:          `start starts begin begins appt appointment meeting mtg slot aarti show class timing time`,
	people:             `log logon लोग लोगों bande bacche bachche students ladke बच्चे baar बार times`,
	givenMoney:         `dia diya di diye liya li dena de do paid given payment amt amount received`,
	tagWord:            `na yaar bhai ji didi`,
	targets:            `tgt target targets sl cmp टारगेट`,
	headWord:           `head person pax student`,
	examined:           `maths math exam exams marks physics chemistry biology science sst`,
	smallRomanHead:     `sem semester class std chapter part unit phase level`,
	schoolDay:          `day chhutti छुट्टी`,
	addressSign:        `ऐट at डॉट dot स्लैश slash underscore`,
	dateNamed:          `dt date dated दिनांक तारीख तारीख़ dob doj`,
	leastOf:            `balance order bal age amount amt qty wage attendance`,
	multiplied:         `speed zoom faster growth profit return returns pay points reward rewards more`,
	ownedBy:            `wale wala wali`,
	intoAccount:        `me mein main में se से wale wala वाले`,
	beforeUsedCode:     `in with only your the`,
	seniors:            `citizen citizens manager engineer developer executive officer inspector secondary sec doctor resident advocate teacher player`,
	ofAccount:          `joint savings saving salary loan demat escrow`,
	landmarks:          `sbi atm bank school college hospital metro station temple mandir masjid church market mall park gate office chowk circle bus depot thana petrol`,
	trains:             `train trains ट्रेन गाड़ी gaadi pnr rail`,
	fewOf:              `ek do teen char paanch dus das एक दो तीन पाँच दस one two three five ten few half kuch`,
	behindMonth:        `me mein में tak tk तक wala wali wale bill salary month`,
	beforeMonth:        `in since till until last next this from by bill month salary of`,
	behindKe:           `liye lie liy saath sath baad bad paas pas andar upar neeche niche bahar baare bare pehle phle hisab hisaab badle bagair bina`,
	behindDoctor:       `sahab saab sahib साहब appt appointment`,
	behindOffice:       `me mein में time`,
	behindNumber:       `followed is and ending registered linked`,
	howMuch:            `kitna kitne कितना कितने`,
	behindBareTime:     `tk tak तक pe ko को पर`,
	minuteWord:         `min mins minutes मिनट`,
	media:              `video clip reel song gaana audio track वीडियो क्लिप गाना`,
	caseEnding:         `ne ko ke ka ki se ने को के का की से`,
	weekendBefore:      `on by every each this next coming last till until from or and to am pm is se ya aur har इस अगले हर`,
	weekendBehind:      `off closed holiday morning evening night afternoon ko को tak तक only also`,
	hourly:             `घंटे घंटा घंटों ghante ghanta ghanto ghanton hours hour`,
	yearly:             `yr yrs year years saal`,
	lawBook:            `act ipc bns bnss crpc cpc rules code adhiniyam`,
	paidBy:             `from to by via on in se`,
	courseUnit:         `days day d weeks week wks wk months month mths din hafte दिन`,
	owner:              `mera uska unka apna naya aapka iska tera my`,
	frequency:          `once twice thrice times time baar बार`,
	period:             `day wk week month mo yr year hr दिन हफ़्ता माह साल`,
	orWord:             `or या ya`,
	windowed:           `window validity valid replacement exchange return stay notice`,
	numberBefore:       `number no नंबर नम्बर संख्या`,
	another:            `ya या or aur और and`,
	trainName:          `rajdhani shatabdi duronto express exp mail superfast sf vande tejas garib intercity passenger एक्सप्रेस राजधानी शताब्दी वंदे`,
	loginVerb:          `login verify log sign signin unlock confirm लॉगिन activate authenticate`,
	beforeCodeVerb:     `ko को yahan यहाँ na न मत mat kisi wahan abhi hi ही app box`,
	beforeCodeName:     `your आपका aapka apka ye yeh yah यह ये तुम्हारा mera मेरा for को ko एक wala`,
	notPlace:           `में से को का की के है तक कुल`,
	capacious:          `fridge refrigerator geyser tank tanki bucket balti cooler boot capacity drum cooker oven microwave backpack bag सिलेंडर टंकी बाल्टी फ्रिज`,
	dated:              `bill last due invoice inv start end policy renewal joining`,
	either:             `ko को tak तक tk tarikh तारीख़ तारीख`,
	nextOne:            `next agli agla pehli pehla last first अगली अगला पहली आखिरी`,
	arriving:           `aa aana aao aaye aaiye aaja aajao aayega aayegi ayega jaana jao jaye nikal nikalna nikalenge milna milte milo pahunch pahuncho pahunchna pahunchenge पहुँच पहुँचना आना आएँ आ जाना निकलना मिलना`,
	starred:            `rate rating rated hotel fridge ac resort review reviews geyser`,
	cooled:             `ac acs split inverter एसी`,
	roundTimes:         `toll fare ticket tickets emi emis kiraya`,
	homeward:           `ghar घर office ऑफ़िस station स्टेशन airport pahunch pahuch pahunchna pahunchenge pahunchunga pahunchungi niklenge niklunga niklungi nikal nikalna पहुँच निकल`,
	bloodWord:          `blood group donor donors donate donation khoon khun rakt plasma platelets transfusion ब्लड ग्रुप खून ख़ून रक्त डोनर प्लाज़्मा रक्तदान`,
	balances:           `bal balance avl avbl avlbl avail available`,
	blocking:           `block blk hotlist`,
	salutation:         `mister missus miz doctor professor shrimati captain advocate colonel major`,
	joiner:             `no of and for to in on at by with from or till until ka ki ke ko se me mein par aur ya`,
	letterName:         `ए बी सी डी ई एफ एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू डब्लू एक्स वाई ज़ेड जेड`,
	planned:            `plan hepatitis`,
	era:                `ईस्वी ईसवी ईसवीं ad bc ce bce`,
	command:            `npm npx yarn pip git docker kubectl cargo sudo apt brew node python curl wget ssh chmod mkdir`,
	stopping:           `boarding pickup drop dropping starting meeting assembly collection delivery view charging checking toll`,
}
