package normalize

import "strings"

// trait is what the rules need to know of a word.
type trait uint64

const (
	hindiWord    trait = 1 << iota // a Roman Hindi word that no English sentence has
	hindiMaybe                     // a Roman Hindi word that is also English, or a name
	englishWord                    // an English function word
	codeWord                       // what stands near it is read digit by digit: OTP, PIN, code
	idWord                         // the same from three digits up: order, account, number
	link                           // goes between a code word and its code: is, hai, no, :
	apart                          // ends the reach of an idWord: में, se
	counted                        // a noun that is counted: din, minutes, लोग
	yearWord                       // a year follows: in, सन्
	dayPart                        // says which half of the day: सुबह, raat
	oclock                         // बजे, baje
	meridiem                       // am, pm
	englishHead                    // a number after it is read in English: Gate 2
	romanHead                      // a Roman numeral follows: Class XII
	spoken                         // said as a word although written in capitals
	plain                          // an English word, also in capitals
	signed                         // a minus may follow: temperature
	expiry                         // a month and a year follow
	dateWord                       // a day and a month follow: on, date
	place                          // part of an address: a fraction is not a date
	expands                        // written short; hi and en are what is said
	dotted                         // and a full stop belongs to it
	beforeNumber                   // but only when a number follows
	month                          // n is its number
	scaleWord                      // lakh, crore; n is the power of ten
	masked                         // a card or account number's tail follows
	phoneWord                      // a phone number follows
	dialled                        // what stands before it is read digit by digit: 112 डायल करें
	afterPar                       // with पर between them: 108 पर कॉल
	initialism                     // an acronym although a word has the same letters
)

// entry is what the lexicon knows of a word.
type entry struct {
	traits trait
	n      int
	hi, en string
}

// unknown is the entry of all other words.
var unknown entry

func (e *entry) is(t trait) bool { return e.traits&t != 0 }

// lexicon finds words in lower case.
var lexicon = build()

// lookUp finds a word however it is written; nil when it is unknown.
func lookUp(w string) *entry {
	var buf [24]byte
	low, _ := fold(buf[:0], w)
	return lexicon[string(low)]
}

// wordLists give traits to words. A word may be in several lists.
var wordLists = []struct {
	traits trait
	words  string
}{
	// Which language is it?
	{hindiWord, `hai hain hu hoon hun tha thi ho hoga hogi honge hua hui hue ka ki ke ko se mein mai aur ya nahi nahin nhi na kya kyun kyon kab kahan
		kaise kaun kitna kitne kitni aap aapka aapki aapke aapko aapne tum tumhara tumhe tera teri tere mera meri mere mujhe mujhko hum hamara hamari
		hamare humara humare humein unka unki unke unko uska uski uske usko usne iska iski iske isko isme usme isse usse yeh ye woh wo vo jo jab tab tak wala wali wale
		gaya gayi gaye gya karein kare karen karo karna karni karne kar kiya kiye kijiye kijie karke karta karti karte raha rahi rahe rha rhi rhe sakte sakta sakti
		chahiye chahie liye lekin magar agar toh phir fir bhi abhi aaj parso kripya dhanyavaad dhanyawad namaste namaskar shukriya ji haan haanji
		accha acha achha theek thik bahut bohot thoda zyada jyada kam sab sabhi kuch koi yahan wahan idhar udhar andar bahar upar neeche niche
		baje bajkar ghante ghanta ghanton mahine mahina saal hafte hafta rupaye rupay rupya rupaiya paise lijiye lo dijiye dijie dein den dena dene diya diye diyi
		jayega jayegi jayenge jaega jayenga aayega aayegi aaya aayi aaye aana aane gyi jaana jaane jao mila mile mili milega milegi batayein bataye bataiye batao batana
		baad pehle pahle saath sath wapas vapas naya nayi naye purana purani apna apni apne apka apki apke apko dekhein dekhiye sun sunein suniye boliye bolo
		bhej bheja bheji bhejein bhejo rakhein rakhe rakho shuru khatam kal subah shaam sham raat dopahar din dinon logon log wajah matlab samay
		hone hona hote hota hoti karwa karwaye karwayein lagega lagegi lagenge lagta chal chalo chuka chuki chuke gaye pata kitab ghar paas pass_ tarah taraf dobara
		aayenge honi mat krein kr krna krne hy h hey_ bhai didi bhaiya sahab sirf bas bina waise jaise aise`},
	{hindiMaybe, `me main par pe hi do the to so us is ab use un ne ek tu bar baar ise din_ kam_ sir_ char teen paanch das sau hazaar hazar lakh crore`},
	{englishWord, `the a an is are was were be been has have had will would can could should may might must your you i my we our us they their he she it its this that these those
		of for from with at by in on to and or not no if then when where what which who how please dear do does did don't can't won't you've you're i'm we've it's
		call pay get click visit use using before after within until till only new your due will as into than more less about up out all any each per there here just now`},
	{hindiWord | dayPart, `subah shaam sham raat dopahar dopahr savere`},
	{dayPart, `सुबह शाम रात दोपहर सवेरे तड़के प्रातः सायं morning evening night afternoon noon midnight`},
	{hindiWord | oclock, `baje bje`},
	{oclock, `बजे`},

	// Is it a code or a quantity?
	{codeWord, `otp otps pin pins mpin upin cvv cvc code codes passcode password passwords verification कोड ओटीपी पिन पासवर्ड एमपिन सीवीवी tpin pincode zipcode पिनकोड captcha coupon promo voucher`},
	{idWord, `order orders ऑर्डर आर्डर booking बुकिंग pnr awb tracking track ट्रैकिंग ref reference रेफरेंस रेफ़रेंस utr rrn invoice इनवॉइस a/c acct account खाता खाते अकाउंट card कार्ड ending ends
		policy पॉलिसी consumer customer ग्राहक train ट्रेन flight फ्लाइट फ़्लाइट phone फोन फ़ोन mobile मोबाइल नंबर नम्बर number numbers no nos nmbr num call कॉल whatsapp व्हाट्सएप helpline हेल्पलाइन toll
		आखिरी आख़िरी अंतिम aakhiri akhiri antim last id आईडी ids ticket टिकट docket complaint शिकायत txn transaction ट्रांजैक्शन ट्रांज़ैक्शन request application loan लोन dial डायल folio serial
		shipment consignment case संख्या sankhya क्रमांक kramank registration roll token टोकन extension ext enrollment ifsc gstin aadhaar aadhar आधार pan meter मीटर bill`},
	{phoneWord, `phone फोन फ़ोन mobile मोबाइल call कॉल whatsapp helpline dial contact संपर्क tel mob ph`},
	{masked, `card a/c acct account ending ends खाता कार्ड`},
	{link, `is hai है : are no number नंबर id hain हैं was`},
	{dialled, `dial डायल मिलाएँ मिलाएं समाप्त samapt समाप्ति`},
	{dialled | afterPar, `call कॉल संपर्क sampark whatsapp sms एसएमएस मिस्ड missed फोन फ़ोन phone message मैसेज`},
	{apart, `में mein me mai से se ke के par_ in for with`},
	{counted, `दिन दिनों मिनट मिनटों अंक अंकों प्रयास प्रयासों लोग लोगों टिकट टिकटें घंटे घंटा घंटों सेकंड सेकेंड साल सालों महीने महीना महीनों हफ्ते हफ़्ते सप्ताह बार बजे रुपये रुपए रूपये रुपया पैसे बच्चे बच्चों चीज़ें
		आइटम प्लेट किलो मीटर लीटर गुना वर्ष माह कदम सवाल सदस्य सदस्यों यात्री यात्रियों सीट सीटें किमी प्रतिशत डिग्री
		din dino dinon minute minutes min mins ank anko ankon digit digits prayas attempt attempts tries log logon people persons person passengers passenger ticket tickets seat seats
		plate plates item items piece pieces pcs box boxes packet packets bottle bottles cup cups pack packs unit units point points ghante ghanta ghanto ghanton hour hours hrs hr second seconds sec secs
		day days week weeks month months year years saal saalon mahine mahina mahino hafte hafta baar bar times time rupaye rupay rupees rupee paise rs baje nights night adults adult child children kids
		members member users user orders calls messages sms emails mails files pages page rooms guests installments emis emi payments transactions km kg gb mb minutes' lines students questions steps
		characters char chars letters words`},
	{yearWord, `in सन् सन में year years साल वर्ष since से_ ईस्वी saal san`},
	{dateWord, `on date dated दिनांक तारीख tareekh tarikh dob due`},
	{expiry, `expiry expires exp valid expiring validity एक्सपायरी वैधता`},
	{place, `house flat plot h.no hno makaan makan मकान फ्लैट फ़्लैट प्लॉट गली gali street road sector सेक्टर ward वार्ड block ब्लॉक shop दुकान room कमरा no number नंबर`},
	{signed, `temperature temp तापमान taapmaan tapman पारा minimum maximum न्यूनतम अधिकतम low high`},
	{englishHead, `iphone gate platform floor level class terminal version windows android galaxy note redmi oneplus plan grade season episode part chapter step phase model series pixel ipad
		macbook playstation type zone bay counter tower wing section question article rule`},
	{romanHead, `war class part chapter phase volume vol section act type grade stage unit schedule annexure article type tier world semester sem level elizabeth henry george charles louis
		क्लास कक्षा भाग अध्याय पार्ट फेज फेज़ फ़ेज़ टाइप`},

	// Written in capitals, said as words.
	{spoken, `nasa isro nato aadhaar aadhar pan pin sim ram rom cibil sebi aiims covid fastag nach bhim pin neft unicef unesco opec laser radar asean saarc
		nabard irda irdai sidbi niti upsc_ trai bharat digi mudra pmay jio airtel paytm phonepe gpay zomato swiggy flipkart ola uber amazon zepto blinkit nykaa myntra meesho
		kyc_ captcha gif jpeg wifi iot_ lic_ imax dslr_ lan wan asap_ yolo ghar aap hai nahi namaste rupay visa mastercard maestro vistara indigo tata axis kotak icici_ yes bandhan mtnl_`},
	{plain, `off free sale new stop win now buy get all the and for you your our are is was has have had not no yes ok okay go up down in on at to of by or if it we us me my he she they them this that
		call calls text reply click here link visit shop order orders pay paid payment card cards bank account cash back cashback offer offers deal deals save saved only last day days today tomorrow hurry
		limited time hours hour final first second third best big mega super flat upto up extra get use code codes apply coupon gift gifts prize winner won lucky draw congratulations congrats dear customer
		sir madam team thanks thank please urgent alert warning notice important attention never share anyone with any one don't do not does did done can could will would shall should must may might
		open close closed start end begin yes welcome hello hi hey bye good morning evening night happy birthday festival diwali holi eid christmas year month week date name number phone mobile email
		address city state country india indian delhi mumbai pune chennai kolkata noida goa agra jaipur surat hindi english home house office work job jobs apply loan loans credit debit due bill bills amount
		total balance price rate low high more less than from off till until before after then when where what who why how which very too also just even ever always most much many some none every each
		both other next previous old hot cold red blue green black white gold silver black friday cyber monday tuesday wednesday thursday saturday sunday jan feb mar apr june july august september october
		november december test demo live true false null error fail failed success sent send received message box press dial enter select choose confirm cancel cancelled confirmed delivered shipped packed
		dispatched return returned refund refunded exchange replace track tracking delivery pending complete completed active expired expiry valid invalid verify verified password login user app apps play
		store download install update upgrade plan plans data pack recharge talk top bonus reward rewards points point loyalty member club premium gold plus pro max mini lite one two three four five six
		seven eight nine ten zero hundred thousand lakh crore rupees big small size fit fits men women kids boys girls man woman boy girl food milk rice dal tea coffee water chai pizza burger cake combo meal
		bus train flight cab taxi car bike auto metro road ticket tickets seat seats booking book books booked check out exit entry gate room floor hotel stay tour trip travel bag bags free
		health care life insurance policy claim term fund funds money invest stock stocks share shares market gold buy sell trade tax fee fees charge charges zero cost emi_ interest low down help
		support contact service services center centre issue issues problem solved fix fixed ticket query wait hold line busy
		want need love like make made take took give gave come came see saw look find found know think tell say said ask let put keep kept set run read write show hear feel try turn move
		hai nahi aap aapka aur ka ki ke ko se mein par karein kare karo abhi jaldi mat ruko haan ji bhai`},

	{initialism, `fir us it pm am ac tv me pe hr ho`},

	{meridiem, `am pm`},
}

// shortForms are written short and said in full. With beforeNumber they are short only before a number.
var shortForms = []struct {
	words  string
	hi, en string
	traits trait
}{
	{"dr", "डॉक्टर", "doctor", dotted},
	{"mr", "मिस्टर", "mister", dotted},
	{"mrs", "मिसेज़", "missus", dotted},
	{"ms", "मिस", "miz", dotted},
	{"prof", "प्रोफ़ेसर", "professor", dotted},
	{"smt", "श्रीमती", "shrimati", dotted},
	{"shri", "श्री", "shri", dotted},
	{"डॉ डा", "डॉक्टर", "", dotted},
	{"श्री", "श्री", "", dotted},
	{"श्रीमती", "श्रीमती", "", dotted},
	{"कु", "कुमारी", "", dotted},
	{"प्रो", "प्रोफ़ेसर", "", dotted},
	{"नं", "नंबर", "", dotted},
	{"no nos num nmbr", "नंबर", "number", beforeNumber},
}

var monthWords = [13]string{
	"", "jan january जनवरी", "feb february फरवरी फ़रवरी", "mar march मार्च", "apr april अप्रैल", "may मई", "jun june जून", "jul july जुलाई", "aug august अगस्त",
	"sep sept september सितंबर सितम्बर", "oct october अक्टूबर अक्तूबर", "nov november नवंबर नवम्बर", "dec december दिसंबर दिसम्बर",
}

// scaleWords are the named powers of ten; the n of their words is the place here. Place 0 stands for none.
const lakhs = 3

var scaleWords = [...]struct {
	words   string
	power   int
	hi, en  string
	quarter bool // Hindi says डेढ़ and ढाई before it
}{
	{},
	{"hundred सौ sau", 2, "सौ", "hundred", true},
	{"thousand हज़ार हजार hazaar hazar k", 3, "हज़ार", "thousand", true},
	{"lakh lakhs lac lacs लाख l", 5, "लाख", "lakh", true},
	{"crore crores करोड़ करोड cr crs", 7, "करोड़", "crore", true},
	{"अरब arab", 9, "अरब", "hundred crore", false},
	{"खरब kharab", 11, "खरब", "thousand crore", false},
	{"million millions mn m", 6, "मिलियन", "million", false},
	{"billion billions bn b", 9, "बिलियन", "billion", false},
	{"trillion trillions tn", 12, "ट्रिलियन", "trillion", false},
}

// build puts the lists into one table.
func build() map[string]*entry {
	m := make(map[string]*entry, 2048)
	add := func(words string, change func(*entry)) {
		for w := range strings.FieldsSeq(words) {
			e := m[w]
			if e == nil {
				e = new(entry)
				m[w] = e
			}
			change(e)
		}
	}
	for _, l := range wordLists {
		add(l.words, func(e *entry) { e.traits |= l.traits })
	}
	for n, words := range monthWords {
		add(words, func(e *entry) { e.traits |= month; e.n = n })
	}
	for n, s := range scaleWords {
		add(s.words, func(e *entry) { e.traits |= scaleWord; e.n = n })
	}
	for _, s := range shortForms {
		add(s.words, func(e *entry) { e.traits |= expands | s.traits; e.hi, e.en = s.hi, s.en })
	}
	return m
}
