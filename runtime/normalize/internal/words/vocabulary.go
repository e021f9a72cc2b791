// Package words has the words of both languages as data: what each means to the rules, what short forms stand for, units, money, and
// the names of numbers, letters, months and days.
package words

import (
	"strings"
)

// MayHaveDot reports whether the word is known to be written with a dot behind it.
func (e *Entry) MayHaveDot() bool {
	return e.Is(Shortened|Month|Meridiem) || len(e.Beside) > 0 || e.Chat != nil
}

// LetterCase is how a Latin word is written.
type LetterCase uint8

const (
	Lower LetterCase = iota
	Title            // Word
	Upper            // WORD, or a single capital
	Mixed            // anything else
)

// Trait is something that the rules need to know of a word.
type Trait uint64

const (
	// The language of the sentence.
	HindiWord     Trait = 1 << iota // a Roman Hindi word that no English sentence has
	HindiFunction                   // one that holds sentences together: hai, ka, aap
	HindiVerb                       // a form of a verb: karein, milega
	HindiMaybe                      // a Roman Hindi word that is also English, or part of a name
	EnglishWord                     // an English word that Hinglish does not borrow
	DigitName                       // शून्य to नौ: stands in English sentences too, once their codes have been read

	// Code or quantity.
	CodeWord      // what stands near it is read digit by digit: OTP, PIN, code
	IdWord        // the same from three digits up: order, account, number
	Dialled       // what stands before it is read digit by digit: 112 डायल करें
	AfterPar      // the same with पर between them: 108 पर कॉल
	AmountOf      // an amount follows, although an account or an order is named: balance, total
	Paid          // an amount stands before: कटे, credited
	More          // with से before it, a quantity stands there: ज़्यादा
	Pressed       // * and # are keys: press, दबाएँ
	NumbersThings // the no behind it is its number: roll no 12
	LastWord      // with a count behind it, the tail of a number follows: last 4 digits 8150
	CodeVerb      // a code is what one does this with: enter, use, दर्ज
	Renewed       // new or old, as codes are that follow others
	Sport         // numbers are scores
	Games         // 3-2 near it is the end of a game
	Lettered      // its parts have letters: rows A-F
	Taken         // 52:40 beside it is a length of time
	Parcels       // 1/3 behind it is one of three
	Messages      // five digits beside it are where messages go
	Door          // numbers with hyphens behind it are a door
	Departs       // four digits behind it are a time
	Travel        // four digits may be a time
	Lasting       // m behind a number is minutes
	Terms         // m behind a number is months
	Timed         // 1.00-1.30 is a time
	Warm          // a <3 behind it is a heart: love, thanks
	Apart         // ends the reach of an idWord: में, se
	Holds         // an idWord that a number follows even across में: ending in 9087
	Counted       // a noun that is counted: din, minutes, लोग
	Screen        // 4K before it is a sharpness
	Gold          // 22K near it is a carat
	Coach         // B12 behind it is a code
	City          // a postal code follows

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
	Month       // n is its number
	Weekday     // n is its number, from Monday
	ScaleWord   // lakh, crore; n is its place in scaleWords

	Expansion // what a short form or a number becomes: doctor, hundred

	// Capitals.
	Spoken     // said as a word although written in capitals: NASA
	Plain      // a common word, which stays a word in capitals: SALE
	Initialism // said by letters although a word is written the same: US, IT

	// Short forms; hi and en are what is said.
	NeedsDot     // Prof.
	DotOrTitle   // dr., Dr
	DotOrNone    // approx, approx.
	BeforeNumber // No. 5, no 5

	BeforeID // ac no 5512: only before another word of an account or a number

	Shortened = NeedsDot | DotOrTitle | DotOrNone | BeforeNumber | BeforeID

	AnyHindi = HindiWord | HindiFunction | HindiVerb | HindiMaybe
)

// Entry is what the vocabulary knows of a word.
type Entry struct {
	Traits Trait
	N      int
	Hi, En string
	Chat   *chatForm // of the spellings in chatForms
	Beside []int     // places in neighbourForms
	Groups groupSet
}

// Unknown is the entry of all other words.
var Unknown Entry

func (e *Entry) Is(t Trait) bool { return e.Traits&t != 0 }

// Vocabulary finds words in lower case.
var Vocabulary = build()

// LookUp finds a word however it is written.
func LookUp(w string) *Entry {
	var buf [32]byte
	low, _ := Fold(buf[:0], w)
	if e := Vocabulary[string(low)]; e != nil {
		return e
	}
	return &Unknown
}

// Fold appends w in lower case to buf, as far as its letters are ASCII and there is room, and tells how w was written.
func Fold(buf []byte, w string) ([]byte, LetterCase) {
	ups, lows, first := 0, 0, false
	for i := range len(w) {
		c := w[i]
		switch {
		case 'A' <= c && c <= 'Z':
			ups++
			first = first || i == 0
			c += 'a' - 'A'
		case 'a' <= c && c <= 'z', c >= 0x80:
			lows++
		}
		if len(buf) < cap(buf) {
			buf = append(buf, c)
		}
	}
	switch {
	case ups == 0:
		return buf, Lower
	case lows == 0:
		return buf, Upper
	case first && ups == 1:
		return buf, Title
	}
	return buf, Mixed
}

// wordLists give traits to words. A word may be in several lists.
var wordLists = []struct {
	traits Trait
	words  string
}{
	{HindiWord, `
		hai hain hu hoon hun tha thi ho hoga hogi honge hua hui hue ka ki ke ko se mein mai aur ya nahi nahin nhi na kya kyun kyon kab kahan kaise kaisa kaisi kaun
		kitna kitne kitni aap aapka aapki aapke aapko aapne apka apki apke apko tum tumhara tumhari tumhe tumhein tera teri tere mera meri mere mujhe mujhko maine
		hamara hamari hamare humara humari humare humein hamein unka unki unke unko unhe unhein uska uski uske usko usne iska iski iske isko isme ismein usme usse isse
		yeh ye woh wo vo jo jab tak wala wali wale gaya gayi gaye gya gyi kis kisi kise kisne kar karein kare karen karo karna karni karne kiya kiye  kijiye kijie
		karke karta karti karte karunga karungi karenge karega karegi raha rahi rahe rha rhi rhe rahega rahegi sakte sakta sakti chahiye chahie chahte liye lekin magar agar
		toh phir fir bhi abhi aaj kal parso kripya kripaya dhanyavaad dhanyawad dhanyavad namaskar shukriya ji haan haanji accha acha achha theek thik bahut bohot thoda
		thodi zyada jyada kam sab sabhi kuch koi yahan yahin wahan wahin idhar udhar andar bahar upar neeche niche ghante ghanta ghanto ghanton mahine mahina saal hafte
		hafta rupaye rupay rupya rupaiya paise paisa lijiye lijie dijiye dijie dein dena dene denge dega diya diye diyi lena lene lenge liya jayega jayegi jayenge jaega
		jaiye jaaiye aayega aayegi aayenge aaya aayi aaye aaiye aana aane jaana jaane jana jaao jao mila mili milega milegi milenge milna milo miliye batayein bataye bataiye
		batao batana bata dekh dekhein dekhiye dekho suniye suno boliye bolo bol bhej bheja bheji bheje bhejein bhejiye bhejo rakhein rakhe rakho rakhiye shuru khatam
		baad pehle pahle saath sath wapas vapas naya nayi naye purana purani apna apni apne hone hona hote hota hoti karwa karwaye karwayein karwaiye lagega lagegi lagenge
		lage lagta chalo chalu chuka chuki chuke pata ghar paas dobara ek din dinon logon wajah matlab samay honi krein kr krna krne hy bhai didi bhaiya sahab sirf bina
		waise jaise aise lagao likhein likho likhiye padhein padhe sunein khula khuli khule bandh bharna bharein bhare dabayein dabaye dabaiye ruko rukiye rukein 
		bache bachi bacha gayab taiyar tayar ne udaan chhoot chhutti kharcha kharch rakam rashi khata khate mujhse aapse humse unse kisko jisko jinka jinki jinke isliye
		kyunki kyonki  warna tabhi kabhi hamesha jaldi zaroor jaroor zaroori bilkul sahi galat khush dukh mausam garmi sardi barish khana pani doodh chai aata chawal
		dal sabzi dukaan dukan sadak gaadi gadi rasta raasta dost beta beti bhejna bhejne mangwa mangwao   yaar arre  haal baat baatein baje bje`},
	{HindiWord, `
		kharab shaadi shadi bukhar bimar beemar thand thanda thandi bheed bijli khali khaali bhara garam garmi mehnga mehenga sasta bura buri lamba lambi chhota chhoti bada badi bade
		mushkil aasan aasaan zaruri khula khush naraz thaka thaki bhookh pyaas dard chot gussa pyar dhyan jagah kaam kam zyada padhai bacche ladka ladki
		pehla doosra doosri doosre dusra dusri dusre teesra teesri teesre chautha chauthi akela saaf ganda taaza purana sona baaki baki gaon shahar dukaan makaan kamra khet fasal mandi barsaat toofan subah`},
	{HindiFunction, `
		hai hain hu hoon hun tha thi ho hoga hogi honge hua hui hue ka ki ke ko se mein mai aur ya nahi nahin nhi na kya kyun kyon kab kahan kaise kaisa kaisi kaun
		kitna kitne kitni aap aapka aapki aapke aapko aapne apka apki apke apko tum tumhara tumhari tumhe tumhein tera teri tere mera meri mere mujhe mujhko maine
		hamara hamari hamare humara humari humare humein hamein unka unki unke unko unhe unhein uska uski uske usko usne iska iski iske isko isme ismein usme usse isse
		yeh ye woh wo vo jo jab tak wala wali wale kis kisi kise kisne lekin magar agar toh phir fir bhi abhi ji haan apna apni apne ne bina sirf waise jaise kyunki kyonki
		mujhse aapse humse unse kisko jisko jinka jinki jinke isliye hy liye`},
	{HindiVerb, `
		gaya gayi gaye gya gyi kar karein kare karen karo karna karni karne kiya kiye kijiye kijie karke karta karti karte karunga karungi karenge karega karegi raha rahi rahe rha rhi rhe
		rahega rahegi sakte sakta sakti chahiye chahie chahte lijiye lijie dijiye dijie dein dena dene denge dega diya diye diyi lena lene lenge liya jayega jayegi jayenge jaega
		jaiye jaaiye aayega aayegi aayenge aaya aayi aaye aaiye aana aane jaana jaane jana jaao jao mila mili milega milegi milenge milna milo miliye batayein bataye bataiye
		batao batana bata dekh dekhein dekhiye dekho suniye suno boliye bolo bol bhej bheja bheji bheje bhejein bhejiye bhejo rakhein rakhe rakho rakhiye hone hona hote hota hoti
		karwa karwaye karwayein karwaiye lagega lagegi lagenge lage lagta chalo chuka chuki chuke krein kr krna krne lagao likhein likho likhiye padhein padhe sunein bharna bharein bhare
		dabayein dabaye dabaiye ruko rukiye rukein bache bachi bacha bhejna bhejne mangwa mangwao honi`},
	{HindiMaybe, `me main par pe hi ab un tu bar baar log tab mile mat sun lo den hum namaste bas band teen das sau hazaar hazar aye   de le`},
	{EnglishWord, `
		the a an is are was were be been being has have had having will would can could shall should may might must your you yours i my we our us their they them he she his
		him her it its this that these those of for from with at by in on to and or not no if then than when where what which who whom whose how why please dear do does did done
		doing don't doesn't didn't can't couldn't won't wouldn't isn't aren't wasn't haven't hasn't you've you're you'll i'm i've i'll we've we're we'll it's that's let's
		as into about up down out off over under above below between through during before after within until till since while because although though but so also too very
		only just even still yet already again more most less least much many few some any all each every both other another such same own here there now
		get gets got give gives given gave take takes took taken make makes made go goes going gone went come comes came see sees saw seen know knows say says said tell tells
		told ask asks asked meet meets let lets use used using need needs want wants like likes try tries keep keeps put find found think look looks send sent say  show
		shows enter press click visit wait waits hold thank thanks sorry hello hurry join read write reach reply leave left arrives arrived starts ends expires opens closes
		ur built grew held ran became began won sold bought brought caught taught spent led flew drew chose rose fell drove wrote spoke hired
		costs lasts weighs holds walk drink add boil install speak talk`},
	{DayPart, `subah shaam sham raat dopahar dopahr savere सुबह शाम रात दोपहर सवेरे तड़के प्रातः सायं morning evening night afternoon noon midnight`},
	{HindiWord, `subah shaam sham raat dopahar dopahr savere`},
	{Oclock, `बजे baje bje`},
	{Meridiem, `am pm`},
	{DigitName, `शून्य एक दो तीन चार पाँच छह सात आठ नौ प्लस`},

	{CodeWord, `
		otp otps pin pins mpin upin tpin cvv cvc code codes passcode password passwords verification कोड पासकोड ओटीपी पिन पासवर्ड एमपिन सीवीवी pincode zipcode पिनकोड captcha कैप्चा
		coupon promo voucher कूपन dac`},
	{IdWord, `
		order orders ordr ऑर्डर आर्डर booking बुकिंग pnr awb tracking track ट्रैकिंग ref reference रेफरेंस रेफ़रेंस utr rrn invoice इनवॉइस acct account खाता खाते अकाउंट card कार्ड
		ending ends policy पॉलिसी consumer customer ग्राहक उपभोक्ता train ट्रेन flight फ्लाइट फ़्लाइट phone फोन फ़ोन mobile मोबाइल नंबर नम्बर number no nos num call कॉल whatsapp sms
		व्हाट्सएप helpline हेल्पलाइन आखिरी आख़िरी अंतिम aakhiri akhiri aakhri antim last id आईडी ids ticket टिकट docket complaint शिकायत txn transaction ट्रांजैक्शन ट्रांज़ैक्शन लेनदेन
		request application loan लोन folio umn umrn trn dial डायल folio serial shipment consignment case संख्या sankhya क्रमांक क्र kramank registration roll rma crn srn grn hsn token टोकन extension ext enrollment ifsc gstin
		aadhaar aadhar आधार`},
	{Holds, `ending ends card कार्ड phone फोन फ़ोन mobile मोबाइल call कॉल number नंबर`},
	{Dialled, `dial डायल मिलाएँ मिलाएं समाप्त samapt समाप्ति`},
	{Dialled | AfterPar, `call कॉल संपर्क sampark whatsapp sms एसएमएस मिस्ड missed फोन फ़ोन phone message मैसेज बात baat`},
	{AmountOf, `
		total amount amt value price cost fee fees salary rent due outstanding balance bal limit worth count strength राशि रकम कीमत क़ीमत दाम मूल्य किराया बैलेंस बकाया शेष लिमिट सीमा कुल फ़ीस फीस शुल्क वेतन
		rakam keemat kimat daam kiraya baki till until by`},
	{Paid, `कटे कट कटेंगे जमा निकाले भेजे मिले लगे लगेंगे kat kate katenge jama nikale bheje mile lage lagenge debit debited credit credited cashback refund refunded deducted paid`},
	{More, `zyada jyada adhik kam upar ooper ज़्यादा ज्यादा अधिक कम ऊपर`},
	{Warm, `party love luv lots miss thanks thank thanku thx you u dear baby jaan yaar pyaar pyar hugs kisses birthday प्यार शुक्रिया धन्यवाद जान यार shukriya`},
	{NumbersThings, `
		rm rt sr tbl rcpt pg gali galli makan makaan गली queue ordr order pol platform berth counter tower sector ward coach bogie roll seat door plot house flat shop room coach bus gate bill serial page question token locker table ward route engine chassis model part batch lot cheque receipt voucher file case fir
		reg registration licence license passport membership member admission enrolment roll meter connection contact helpline whatsapp fax gst pan pf uan lic rc dl
		बिल सीट फ़ाइल केस रोल`},
	{LastWord, `last final ending अंतिम आखिरी आख़िरी aakhiri akhiri aakhri antim`},
	{CodeVerb, `try daal daalke dalke use enter type share submit input quote punch डालें डालो डालिए दर्ज भरें बताएँ बताएं बताना बताओ bata batayein bataayein bataein btao btana btaye btayein dikhao dikhana dikhaye dikhayein dikhaiye दिखाएँ दिखाएं दिखाना दिखाओ दिखाइए बताइए dalo daalo dalein daalein daliye dalna daalna dal batao batana bataye bataiye likho
		enter submit darj bharo bharein share`},
	{Renewed, `new old earlier previous latest another fresh नया पुराना दूसरा naya purana dusra doosra`},
	{Sport, `
		wicket wickets run runs over overs ov econ economy rr rrr target bat batting bowling figures innings chase chasing score scored strike partnership ball balls odi spell
		crr nrr stumps declared lead leads trail trails series bowled bowler batsman spinner seamer six sixes four fours catch haul
		विकेट रन ओवर गेंद गेंदों पारी स्कोर लक्ष्य बल्लेबाज़ गेंदबाज़ out`},
	{Games, `
		score scoreline jeeta jeeti jeete jita jeet jeetkar haara haari haare harakar haraya haraaya draw match final semifinal goal goals set game
		स्कोर जीता जीती जीते जीत जीतकर हारा हारी हारे हराया हराकर ड्रॉ मैच फ़ाइनल फाइनल गोल बराबरी`},
	{Lettered, `
		row rows block blocks wing wings section sections group groups class classes tower towers grade grades page pages option options batch batches gate gates coach coaches vitamin vitamins
		part parts set sets team teams name names surname surnames`},
	{Taken, `took takes run ran finished time marathon race timer video song mark record lap clip kiya किया ki की लगे lage daud दौड़ pace best pb duration long`},
	{Parcels, `pkg package parcel page pg part step box bag packet shipment msg slide`},
	{Messages, `sms text send reply bhejo bhejein bhejen bhej bheje भेजें भेजो लिखकर likhkar एसएमएस message whatsapp`},
	{Door, `door plot house flat मकान प्लॉट फ़्लैट फ्लैट h`},
	{Departs, `
		boards departs arrives leaves lands dep arr etd eta std sta at ab अब boarding departure arrival reporting reports प्रस्थान आगमन बोर्डिंग समय`},
	{Travel, `
		flight train bus local boards boarding gate terminal departs departure dep arr arrives arrival etd eta lands landing takeoff shuttle checkin platform pnr ferry metro
		ट्रेन बस उड़ान फ्लाइट फ़्लाइट लोकल गाड़ी प्रस्थान आगमन रवाना पहुँचेगी छूटेगी पकड़नी pakadni chhutegi pahunchegi nikalegi reporting report briefing shift doors entry curfew checkout`},
	{Lasting, `timeout session video break wait cache interval song clip call delay expires expire meeting audio reel podcast lecture workout nap timer warmup runtime late jog walk plank rest halt ttl screening demo standup ride`},
	{Terms, `notice tenure emi emis runway lockin probation internship subscription lease rental warranty bond term policy validity`},
	{Timed, `time tym hrs आरती दर्शन darshan aarti प्रातः सायं कटौती lunch dinner breakfast office hours timing timings class school period shift break open shop bank clinic opd भोजन समय कार्यालय दुकान कक्षा अवकाश विश्राम लंच मध्यांतर ओपीडी दोपहर शाम सुबह khulta khulti samay`},
	{Pressed, `press dial enter followed key keys dabayein dabaye dabaiye dabao दबाएँ दबाएं दबाइए दबाओ दबाकर डायल`},
	{Apart, `में mein me  mai से se ke के in for with`},
	{Counted, `
		दिन दिनों मिनट मिनटों अंक अंकों प्रयास प्रयासों लोग लोगों टिकट टिकटें घंटे घंटा घंटों सेकंड सेकेंड साल सालों महीने महीना महीनों हफ्ते हफ़्ते सप्ताह बार रुपये रुपए रूपये रुपया पैसे बच्चे बच्चों
		चीज़ें आइटम प्लेट किलो मीटर लीटर गुना वर्ष माह कदम सवाल सदस्य सदस्यों यात्री यात्रियों सीट सीटें किमी प्रतिशत डिग्री ऑर्डर किताबें किताब बजे गोली गोलियाँ शब्द अक्षर पन्ने पेज बोतल पैकेट
		डिब्बे टुकड़े पौधे बिस्तर घर कमरे मरीज़ छात्र दुकानें गाँव शहर मकान व्यक्ति महिला पुरुष वोट मतदाता दर्शक
		din dino dinon minute minutes min mins ank anko ankon digit digits prayas attempt attempts tries log logon people persons person passengers passenger ticket tickets seat seats
		plate plates item items piece pieces pcs box boxes packet packets bottle bottles cup cups pack packs unit units point points ghante ghanta ghanto ghanton hour hours hrs hr second seconds
		sec secs day days week weeks month months year years saal saalon mahine mahina mahino hafte hafta baar times time rupaye rupay rupees rupee paise rs baje nights night adults adult
		child children kids member members user users orders messages emails mails files pages page rooms guests installments emis payments transactions km kg gb mb students questions
		steps characters char chars letters words working ghar dukaan books shops visitors marks runs copies dozen views followers subscribers downloads votes cases  percent litres litre metres metre kilometres kilos kilo callers branches mistakes goals wickets runs balls overs`},
	{Coach, `coach कोच bogie डिब्बा seat berth flat room tower block फ्लैट फ़्लैट टावर ब्लॉक`},
	{Screen, `tv tvs video videos display resolution ultra hd uhd monitor camera quality screen led oled टीवी वीडियो स्क्रीन`},
	{Gold, `gold सोना सोने sona sone ring अंगूठी ornament jewellery आभूषण गहने हार`},
	{City, `
		delhi mumbai bombay kolkata calcutta chennai madras bengaluru bangalore hyderabad pune ahmedabad surat jaipur lucknow kanpur nagpur indore bhopal patna vadodara ghaziabad ludhiana agra
		nashik faridabad meerut rajkot varanasi srinagar aurangabad dhanbad amritsar allahabad prayagraj ranchi howrah coimbatore jabalpur gwalior vijayawada jodhpur madurai raipur kota guwahati
		chandigarh solapur hubli mysuru mysore tiruchirappalli bareilly aligarh moradabad gurgaon gurugram jalandhar bhubaneswar salem warangal thiruvananthapuram trivandrum kochi cochin
		guntur dehradun shimla noida thane jammu udaipur ajmer mangaluru mangalore cuttack siliguri gorakhpur jamshedpur goa panaji imphal shillong aizawl kohima agartala gangtok itanagar
		karnataka maharashtra gujarat rajasthan punjab haryana bihar kerala odisha assam jharkhand uttarakhand telangana bengal tamilnadu chhattisgarh up mp
		दिल्ली मुंबई कोलकाता चेन्नई बेंगलुरु बैंगलोर हैदराबाद पुणे अहमदाबाद सूरत जयपुर लखनऊ कानपुर नागपुर इंदौर भोपाल पटना वडोदरा गाज़ियाबाद गाजियाबाद लुधियाना आगरा नासिक फ़रीदाबाद फरीदाबाद मेरठ
		राजकोट वाराणसी श्रीनगर औरंगाबाद धनबाद अमृतसर इलाहाबाद प्रयागराज राँची रांची हावड़ा कोयंबटूर जबलपुर ग्वालियर विजयवाड़ा जोधपुर मदुरै रायपुर कोटा गुवाहाटी चंडीगढ़ सोलापुर मैसूर बरेली अलीगढ़
		मुरादाबाद गुड़गाँव गुरुग्राम जालंधर भुवनेश्वर तिरुवनंतपुरम कोच्चि देहरादून शिमला नोएडा ठाणे जम्मू उदयपुर अजमेर मंगलुरु कटक सिलीगुड़ी गोरखपुर जमशेदपुर गोवा
		कर्नाटक महाराष्ट्र गुजरात राजस्थान पंजाब हरियाणा बिहार केरल ओडिशा असम झारखंड उत्तराखंड तेलंगाना बंगाल छत्तीसगढ़ प्रदेश`},

	{YearBefore, `est established founded estd born in सन् सन year साल वर्ष since saal san of fy ay`},
	{Past, `
		kranti ladai yudh yuddh vidroh sandhi andolan akaal batwara vibhajan hatyakand gadar revolution war battle revolt mutiny famine treaty census earthquake bhukamp
		क्रांति लड़ाई युद्ध विद्रोह संधि आंदोलन अकाल बँटवारा बंटवारा विभाजन हत्याकांड ग़दर गदर जनगणना भूकंप स्थापना जन्म मृत्यु`},
	{YearAfter, `model मॉडल batch बैच edition season में mein से se तक tak का के की ka ke ki`},
	{DateWord, `on date dt dated दिनांक तारीख तारीख़ tareekh tarikh dob doj doa dod due`},
	{Expiry, `mfg mfd pkd packed manufactured expiry expires exp valid expiring validity card thru एक्सपायरी वैधता वैध कार्ड`},
	{Place, `
		house flat plot hno makaan makan मकान फ्लैट फ़्लैट प्लॉट गली gali street road sector सेक्टर ward वार्ड block ब्लॉक shop दुकान room कमरा no number नंबर`},
	{AddressWord, `
		near opp opposite behind nagar colony vihar enclave marg chowk bazaar bazar market mohalla village vill dist distt district tehsil taluka post po ps road rd lane cross main layout phase
		park garden gardens apartment apartments apts society residency towers heights complex bhavan bhawan chambers cantt station pump puram halli pura pur ganj address state india bldg building
		floor garh mandir masjid school hospital stores store
		नगर कॉलोनी विहार मार्ग चौक बाज़ार बाजार मोहल्ला मुहल्ला गाँव ग्राम ज़िला जिला तहसील डाकघर पोस्ट रोड लेन पीछे सामने पास निकट अपार्टमेंट सोसायटी भवन स्टेशन मंदिर पता पुरम गंज मंज़िल`},
	{Signed, `temperature temp तापमान taapmaan tapman पारा minimum maximum न्यूनतम अधिकतम is hai है was था reading`},
	{EnglishHead, `
		iphone gate platform floor class terminal version windows android galaxy note redmi oneplus grade season episode part chapter step phase model series pixel ipad macbook
		playstation type zone bay counter tower wing section question article rule sector flat room ward block lane war volume unit slide figure table round group`},
	{RomanTail, `class sem semester year yr term trimester सेम सेमेस्टर वर्ष`},
	{RomanHead, `
		sector block paper group level war class part chapter phase volume vol section act type grade stage unit schedule annexure article tier world semester sem level playing elizabeth henry george charles louis
		अनुसूची परिशिष्ट सूची ग्रुप समूह पेपर लेवल क्लास कक्षा भाग अध्याय पार्ट फेज फेज़ फ़ेज़ टाइप चरण खंड`},

	{Spoken, `
		readme nasa isro nato aadhaar aadhar pan pin mpin sim ram rom cibil sebi aiims covid fastag nach bhim neft unicef unesco opec laser radar asean saarc kisan awas yojana ujjwala swachh neet nift clat toefl gate jipmer rera pocso sensex nifty swift nabard irdai sidbi niti trai
		bharat digi mudra jio airtel paytm phonepe gpay zomato swiggy flipkart ola uber amazon zepto blinkit nykaa myntra meesho captcha gif jpeg wifi imax visa mastercard maestro vistara
		tejas shatabdi rajdhani duronto cat bescom diksha rera discom gail sail bhel mhada cidco pocso hudco jipmer sidbi nabard iffco amul indigo tata axis kotak yes bandhan rupay yono ikea nokia lenovo sony asus acer dell bosch cipla voltas titan fiit`},
	{Plain, `
		mix civil civic vivid livid mild dim lid
		off free sale new stop win now buy get all the and for you your our are is was has have had not no yes ok okay go down in on at to of by or if we me my he she they them this that
		call calls text reply click here link visit shop order orders pay paid payment card cards bank account cash back cashback offer offers deal deals save saved only last day days today
		tomorrow hurry limited time hours hour final first second third best hot big mega super flat upto up extra use code codes apply coupon gift gifts prize winner won lucky draw dear
		sir madam team thanks thank please urgent alert warning notice never share anyone any one with do does did done can could will would shall should must may might
		open close closed start end begin welcome hello hi hey bye good morning evening night happy festival diwali holi eid year month week date name number phone mobile email
		address city state country india indian delhi mumbai pune kolkata noida agra jaipur surat hindi home house office work job jobs loan loans credit debit due bill bills amount
		total balance price rate low high more less than from till until before after then when where what who why how which very too also just even ever always most much many some none
		every each both other next old cold red blue green black white gold silver cyber monday friday sunday sat jan feb mar apr june july august
		test demo live true false null error fail failed sent send box press dial enter select choose return refund replace track expiry valid verify login user app apps play
		store update plan plans data pack top bonus reward points point loyal member club plus pro max mini lite two three four five six
		seven eight nine ten zero lakh crore rupees small size fit fits men women kids boys girls man woman boy girl food milk rice dal tea coffee water chai pizza burger cake combo meal
		bus train flight cab taxi car bike auto metro road ticket seat seats book books booked check out exit entry gate room floor hotel stay tour trip travel bag bags
		health care life policy claim term fund funds money invest stock shares market sell trade tax fee fees charge cost down help service center centre issue issues solved fix fixed query
		wait hold line busy need want love like make made take took give gave come came see saw look find found know think tell say said ask let put keep kept set run read write show hear
		feel try turn move shipped been be but so as an its into about over above under cancel packed ready left right safe secure secret note read scan upload photo video audio song
		movie music game games play match score team news flash break media world peace war king queen star sun moon rain snow wind fire earth air sea river lake hill`},
	{Plain, `
		able also area army aunt away baby band base beach beat bell bird birth block blood board boat body bone born bread break bride brown build burn cause chair chance change cheap cheese
		chef chief child church class clean clear clock cloth cloud coach coast coat colour common copy corner cotton couple course court cover cream crime cross crowd crown crude cut dance dark
		data daily dead death deep desk diary diet doctor dog door double dream dress drink drive driver drop dry dust duty early east easy edge edit effect eight either else empty energy
		engine enjoy enough even event exact exam excuse face fact fall family famous fan farm fast father fear fever field fifty fight file fill film fine finish first fish five flag floor flow
		flower fly follow foot force foreign forest forget form formal four frame fresh friend front fruit full future garden gas gather glad glass goal god grade grand grass great group grow guard
		guess guest guide hair half hall hand happen hard head heart heat heavy height hide hill hint hire hobby hope horse host human hunt idea image inform inner input inside issue item jersey
		jewel join joint joke judge juice jump junior just kick kill kind kitchen knife lady large laser late laugh law layer lead learn least leave legal lemon lesson letter level lift line link
		list listen local long loose lose loss lost loud lower lunch magic mail main major manage map maria mark mask master matter mayor mean medal media medium memory merit metal method
		middle minor minute mirror miss model modern moment monkey moon mother motor mount mouse mouth museum nature near neck nice noise normal north nose notify novel nurse object obtain ocean
		often onion online opera option orange origin outer output owner page pain paint pair palace panel paper parcel parent park part party path peace pen people period permit person petrol piece
		pilot pink pipe place plane planet plant plate player poem poetry police pool poor post potato pound powder power prayer press pretty prime print prison profit proper proof proud public pull
		pump purple push queen quick quiet quit quite radio range rapid rare rate reach ready real reason recent record reduce refer relax rely remain remark remind remote rent repair repeat report
		rescue rest result rich ride rise risk rival robot rock role roll roof root rope rose round route royal rule rush sad safety salad salary salt same sample sand scale scene school score
		screen search season second sector secure select self senior sense series serve seven shape sharp sheet shift ship shirt shock shoe shoot shore short shot shout shut sick side sight sign
		signal silent silk simple since sing single sister site skill skin skirt sky sleep slice slow smart smell smile smoke snake social soft soil solid some son soon soul sound soup source
		south space speak speech speed spell spend spirit split sport spot spring square staff stage stairs stamp stand state steal steam steel step stick still stitch stone storm story street
		strike strong style sugar suit summer supply sure sweet swim switch system table tablet tail tall target task taste teach tell temple tennis tent text thick thief thin thing thirty
		throat throw thumb tiger tight tile timing tiny tired title tomato tongue tonne tool tooth topic touch tough toward tower town toy track train treat tree trend trial trick truck truth
		twice twin type union unique unit unlock upper usage useful value van very victim video view village virus voice vote wages walk wall war warm wash waste watch wave weak wealth wear
		wedding weigh west wheel while whole wide wife wild window wine winter wish within wonder wood wool word worker worry worth write wrong yard yellow young youth zone`},
	{Spoken, `
		aarav abdul abhay abhi adarsh aditi aditya ahmed ajay ajit akash akhil akshay alka alok aman amar amir amit amrit anand anil anita anjali anju ankit ankita ankur anuj anupam anwar
		apurva archana arjun arpit arti arun aruna arvind asha ashish ashok asif atul avinash ayesha ayush babita bala balram bharat bharti bhavna bimal bina chand chandra charu chetan chirag
		daksh daya deepa deepak deepti dev devi dharam dilip dinesh divya durga ekta esha faisal farhan fatima firoz ganesh garima gaurav gauri geeta girish gita gopal govind gulab
		gupta guru hanif hardik hari harish harsh hassan heena hema hemant himani hina imran indra irfan isha ishaan ishita jagat jai jain janki jatin javed jaya jayant jaydev jitu juhi jyoti
		kabir kajal kamal kamla kanta kapil karan karim kartik kavita kaur khan khanna kiran kirti komal kripa kumar kumari kunal kush lal lalit lata laxmi leela lokesh madan madhav madhu
		mahesh malik manish manju manoj maya meena meera megha mehta mehul mina mishra mohan mohit mona mukesh mukul murali nadeem nair naman nanda nandan nandini naren naresh narine naveen
		navin neel neelam neeraj neeta neha nidhi nikhil nikita nirmal nisha nitin om omkar pallavi pandey pankaj param pari parul patel pavan pawan payal pooja prabha prabhu prachi pradip
		prakash pranav pranay prasad prem preeti prince priti priya priyanka puja puneet puri radha raghav rahim rahul raj raja rajan rajat rajeev rajesh rajiv raju rakesh rakhi raman ramesh
		ramu rana rani ranjit rao rashi rashmi ratan ravi raza reddy reena rekha renu reshma richa ritesh ritika ritu riya riyaz rohan rohini rohit roma roshan rubina ruchi rupa sachin sagar
		sahil saif saini sakshi salim salman saloni samir sana sandip sangita sanjay sanju sarita sarla satish savita seema shah shaan shakti shalu shammi shanti sharad sharma shashi sheela shikha
		shilpa shiv shivam shobha shreya shruti shubh shweta shyam simran singh sinha sita smita sneha sohail sonali soni sonia sonu subodh sudha sudhir suhana sujata suman sumit sunil sunita
		suresh surya sushil swati syed tanu tanvi tanya tara tarun tej thakur tina tushar uday uma umesh urmila usha vandana varun vasant veena verma vidya vijay vikas vikram vimal vinay vinita
		vinod vipin vipul virat vishal vishnu vivek yadav yash yogesh yusuf zafar zara zoya iyer joshi das dutt ghosh bose roy sen mehra kapoor batra arora bajaj birla ambani dubey tiwari shukla
		rawat negi bisht rathore modi gandhi nehru mnrega nrega mudra umang ayush swayam`},
	{Initialism, `fir us it pm am ac tv hr sat sun mar dec ifsc gstin upin tpin`},
}

// shortForms are written short and said in full. Without an expansion the word itself is said and only the dot goes.
var shortForms = []struct {
	traits Trait
	words  string
	hi, en string
}{
	{DotOrTitle, "dr", "", "doctor"},
	{DotOrTitle, "mr", "", "mister"},
	{DotOrTitle, "mrs", "", "missus"},
	{DotOrTitle, "ms", "", "miz"},
	{DotOrTitle, "prof", "", "professor"},
	{DotOrTitle, "smt", "", "shrimati"},
	{NeedsDot, "er", "", "engineer"},
	{DotOrTitle, "adv", "", "advocate"},
	{DotOrTitle, "mon", "", "Monday"},
	{DotOrTitle, "tue", "", "Tuesday"},
	{DotOrNone, "tues", "", "Tuesday"},
	{DotOrTitle, "wed", "", "Wednesday"},
	{DotOrTitle, "thu thur", "", "Thursday"},
	{DotOrNone, "thurs", "", "Thursday"},
	{DotOrTitle, "fri", "", "Friday"},
	{DotOrTitle, "capt", "", "captain"},
	{NeedsDot, "st", "", "saint"},
	{NeedsDot, "shri sri श्री श्रीमती सुश्री", "", ""},
	{DotOrNone, "vs", "", "versus"},
	{DotOrNone, "txn trxn", "", "transaction"},
	{DotOrNone, "txns", "", "transactions"},
	{DotOrNone, "avl avbl aval avlbl availbl", "", "available"},
	{DotOrNone, "avlbal avbal avblbal avlblbal availbal", "", "available balance"},
	{DotOrNone, "clrbal", "", "clear balance"},
	{DotOrNone, "totbal", "", "total balance"},
	{DotOrNone, "curbal currbal", "", "current balance"},
	{DotOrNone, "avllmt avblmt", "", "available limit"},
	{DotOrNone, "acct", "", "account"},
	{BeforeID, "ac acc", "", "account"},
	{DotOrNone, "amt", "", "amount"},
	{DotOrNone, "dtd", "", "dated"},
	{NeedsDot, "dt", "", "dated"},
	{BeforeNumber, "ex", "", "exercise"},
	{BeforeNumber, "wt", "", "weight"},
	{BeforeNumber, "ht", "", "height"},
	{DotOrNone, "wdl", "", "withdrawal"},
	{DotOrNone, "pts", "", "points"},
	{DotOrNone, "pkt", "", "packet"},
	{DotOrNone, "pkts", "", "packets"},
	{DotOrNone, "avg", "", "average"},
	{BeforeNumber, "प्र", "प्रश्न", ""},
	{NeedsDot, "अनु", "", ""},
	{DotOrNone, "regd", "", "registered"},
	{DotOrNone, "cust", "", "customer"},
	{DotOrNone, "clg", "", "college"},
	{DotOrNone, "pwd", "", "password"},
	{DotOrNone, "mkt", "", "market"},
	{DotOrNone, "lmt", "", "limit"},
	{DotOrNone, "flt", "", "flight"},
	{DotOrNone, "cert", "", "certificate"},
	{DotOrNone, "rtn", "", "return"},
	{DotOrNone, "hts", "", "heights"},
	{DotOrNone, "twr", "", "tower"},
	{BeforeNumber, "inv", "", "invoice"},
	{DotOrNone, "qtn", "", "quotation"},
	{DotOrNone, "applcbl", "", "applicable"},
	{NeedsDot, "elec", "", "electricity"},
	{DotOrNone, "attd", "", "attendance"},
	{DotOrNone, "mrks", "", "marks"},
	{DotOrNone, "trf", "", "transfer"},
	{DotOrNone, "appln", "", "application"},
	{DotOrNone, "chg chrg", "", "charge"},
	{DotOrNone, "chgs chrgs", "", "charges"},
	{DotOrNone, "disp", "", "dispatch"},
	{DotOrNone, "tkn", "", "token"},
	{DotOrNone, "ordr", "", "order"},
	{DotOrNone, "dlvd dlvrd", "", "delivered"},
	{DotOrNone, "dlvry dlvy", "", "delivery"},
	{BeforeNumber, "rm", "", "room"},
	{DotOrNone, "tkt", "", "ticket"},
	{DotOrNone, "tkts", "", "tickets"},
	{DotOrNone, "ngr", "", "nagar"},
	{DotOrNone, "sno", "", "serial number"},
	{DotOrNone, "mgmt", "", "management"},
	{NeedsDot, "viz", "", "namely"},
	{NeedsDot, "misc", "", "miscellaneous"},
	{NeedsDot, "dist", "", "district"},
	{NeedsDot, "opp", "", "opposite"},
	{NeedsDot, "nr", "", "near"},
	{NeedsDot, "rd", "", "road"},
	{NeedsDot, "bldg", "", "building"},
	{NeedsDot, "apt", "", "apartment"},
	{NeedsDot, "co", "", "company"},
	{NeedsDot, "corp", "", "corporation"},
	{NeedsDot, "inc", "", "incorporated"},
	{NeedsDot, "bros", "", "brothers"},
	{BeforeNumber, "sec", "", "sector"},
	{BeforeNumber, "pg", "", "page"},
	{BeforeNumber, "ch", "", "chapter"},
	{DotOrNone, "pvt", "", "private"},
	{DotOrNone, "ltd", "", "limited"},
	{DotOrNone, "govt", "", "government"},
	{DotOrNone, "approx", "", "approximately"},
	{DotOrNone, "dept", "", "department"},
	{DotOrNone, "incl", "", "including"},
	{NeedsDot, "excl", "", "excluding"},
	{NeedsDot, "max", "", "maximum"},
	{NeedsDot, "min", "", "minimum"},
	{NeedsDot, "sl", "", "serial"},
	{NeedsDot, "पृ", "पृष्ठ", ""},
	{NeedsDot, "etc", "", "etcetera"},
	{NeedsDot, "jr", "", "junior"},
	{NeedsDot, "sr", "", "senior"},
	{BeforeNumber, "no", "", "number"},
	{BeforeNumber, "nos", "", "numbers"},
	{BeforeNumber, "ph tel", "", "phone"},
	{BeforeNumber, "mob", "", "mobile"},
	{BeforeNumber, "ext", "", "extension"},
	{DotOrTitle, "डॉ डा", "डॉक्टर", ""},
	{NeedsDot, "कु", "कुमारी", ""},
	{NeedsDot, "प्रो", "प्रोफ़ेसर", ""},
	{NeedsDot, "मा", "माननीय", ""},
	{NeedsDot, "पं", "पंडित", ""},
	{NeedsDot, "स्व", "स्वर्गीय", ""},
	{DotOrNone, "नं", "नंबर", ""},
	{DotOrNone, "क्र", "क्रमांक", ""},
	{DotOrNone, "किमी", "किलोमीटर", ""},
	{NeedsDot, "मो", "मोबाइल", ""},
	{NeedsDot, "दि", "दिनांक", ""},
	{NeedsDot, "pt", "", "pandit"},
	{NeedsDot, "art", "", "article"},
	{NeedsDot, "col", "", "colonel"},
	{NeedsDot, "lt", "", "lieutenant"},
	{NeedsDot, "maj", "", "major"},
	{NeedsDot, "gen", "", "general"},
	{NeedsDot, "sgt", "", "sergeant"},
	{DotOrNone, "retd", "", "retired"},
	{NeedsDot, "hon", "", "honourable"},
	{DotOrTitle, "vill", "", "village"},
	{NeedsDot, "teh", "", "tehsil"},
	{DotOrTitle, "distt", "", "district"},
	{DotOrTitle, "mgr", "", "manager"},
	{DotOrNone, "req'd reqd", "", "required"},
	{NeedsDot, "cl", "", "class"},
	{NeedsDot, "std", "", "standard"},
	{DotOrNone, "syp", "", "syrup"},
	{NeedsDot, "tab", "", "tablet"},
	{NeedsDot, "tabs", "", "tablets"},
	{NeedsDot, "cap", "", "capsule"},
	{NeedsDot, "caps", "", "capsules"},
	{DotOrNone, "inj", "", "injection"},
	{DotOrNone, "pkg", "", "package"},
	{DotOrNone, "qty", "", "quantity"},
	{DotOrNone, "biz", "", "business"},
	{DotOrNone, "yoy", "", "year on year"},
	{DotOrNone, "qoq", "", "quarter on quarter"},
	{DotOrNone, "ord", "", "order"},
	{DotOrNone, "b'luru b'lore", "", "Bengaluru"},
	{BeforeNumber, "extn", "", "extension"},
	{DotOrNone, "addr", "", "address"},
	{DotOrNone, "msg", "", "message"},
	{DotOrNone, "msgs", "", "messages"},
	{DotOrNone, "asst", "", "assistant"},
	{DotOrNone, "hosp", "", "hospital"},
	{DotOrNone, "univ", "", "university"},
	{NeedsDot, "engg", "", "engineering"},
	{NeedsDot, "est", "", "established"},
	{NeedsDot, "vol", "", "volume"},
	{NeedsDot, "fig", "", "figure"},
	{NeedsDot, "ave", "", "avenue"},
	{NeedsDot, "ln", "", "lane"},
	{DotOrNone, "mfg", "", "manufacturing"},
	{DotOrNone, "chq", "", "cheque"},
	{DotOrNone, "stmt", "", "statement"},
	{DotOrNone, "appt", "", "appointment"},
	{DotOrNone, "recd rcvd", "", "received"},
	{DotOrNone, "wd", "", "withdrawn"},
	{DotOrNone, "jn", "", "junction"},
	{DotOrNone, "ov ovs", "", "overs"},
	{DotOrNone, "wkt wkts", "", "wickets"},
	{BeforeNumber, "सं", "संख्या", ""},
	{NeedsDot, "इं", "इंजीनियर", ""},
	{NeedsDot, "ले", "लेफ़्टिनेंट", ""},
	{NeedsDot, "वै", "वैद्य", ""},
	{NeedsDot, "जि ज़ि", "ज़िला", ""},
	{NeedsDot, "हे", "हेक्टेयर", ""},
	{NeedsDot, "पो", "पोस्ट", ""},
	{NeedsDot, "ग्रा", "ग्राम", ""},
	{NeedsDot, "चि", "चिरंजीवी", ""},
	{DotOrTitle, "md", "", "Mohammad"},
	{DotOrTitle, "mohd", "", "Mohammad"},
	{NeedsDot, "gr", "", "ground"},
	{DotOrTitle, "ct", "", "constable"},
	{DotOrNone, "maint", "", "maintenance"},
	{DotOrNone, "frm", "", "from"},
	{DotOrNone, "nxt", "", "next"},
	{DotOrNone, "tbl", "", "table"},
	{DotOrNone, "secy", "", "secretary"},
	{DotOrNone, "regds", "", "regards"},
	{NeedsDot, "sh", "", "shri"},
	{NeedsDot, "ver", "", "version"},
	{NeedsDot, "vit", "", "vitamin"},
	{NeedsDot, "ea", "", "each"},
	{NeedsDot, "disc", "", "discount"},
	{NeedsDot, "pp", "", "pages"},
	{DotOrNone, "flr", "", "floor"},
	{NeedsDot, "तह", "तहसील", ""},
	{NeedsDot, "उदा", "उदाहरण", ""},
}

// DottedForms are short forms with dots inside, here without them.
var DottedForms = map[string]string{
	"eg": "for example", "ie": "that is", "wrt": "with respect to", "hno": "house number", "rno": "room number", "ps": "P S", "phd": "P H D", "llb": "L L B", "llm": "L L M", "pa": "per annum", "wef": "with effect from", "asap": "as soon as possible", "sno": "serial number", "slno": "serial number", "srno": "serial number", "क्रसं": "क्रम संख्या", "किमी": "किलोमीटर",
	"मनं": "मकान नंबर", "मोन": "मोबाइल नंबर", "फोन": "फ़ोन नंबर", "wno": "ward number", "ग्रापं": "ग्राम पंचायत", "ईपू": "ईसा पूर्व", "विसं": "विक्रम संवत", "विव": "वित्त वर्ष", "मप्र": "मध्य प्रदेश", "उप्र": "उत्तर प्रदेश", "हिप्र": "हिमाचल प्रदेश", "आंप्र": "आंध्र प्रदेश", "रामा": "राष्ट्रीय मार्ग", "रारा": "राष्ट्रीय राजमार्ग", "किग्रा": "किलो", "मिग्रा": "मिलीग्राम", "सेमी": "सेंटीमीटर", "मिमी": "मिलीमीटर", "मिली": "मिलीलीटर",
}

// Degrees are the words behind the initial of a degree.
const Degrees = " Tech Com Sc Ed Phil Pharm Arch Des Lib Voc "

// StrokedForms are short forms of two letters with a stroke between them.
var StrokedForms = map[string]string{
	"ac": "account", "co": "care of", "so": "son of", "do": "daughter of", "wo": "wife of", "na": "not available", "bw": "between", "us": "under section", "ms": "messrs", "vs": "versus", "ro": "resident of", "ph": "per hour", "rv": "review", "pe": "P E", "pb": "P B", "dl": "D L", "qf": "quarter final", "sf": "semi final", "rw": "R W",
}

var monthWords = [13]string{
	"", "jan january जनवरी", "feb february फरवरी फ़रवरी", "mar march मार्च", "apr april अप्रैल", "may मई", "jun june जून", "jul july जुलाई", "aug august अगस्त",
	"sep sept september सितंबर सितम्बर", "oct october अक्टूबर अक्तूबर", "nov november नवंबर नवम्बर", "dec december दिसंबर दिसम्बर",
}

var weekdayWords = [8]string{
	"", "mon monday सोम सोमवार", "tue tues tuesday मंगल मंगलवार", "wed wednesday बुध बुधवार", "thu thur thurs thursday गुरु गुरुवार", "fri friday शुक्र शुक्रवार", "sat saturday शनि शनिवार", "sun sunday रवि रविवार",
}

// ScaleWords are the named powers of ten; the n of their words is the place here. Place 0 stands for none.
var ScaleWords = [...]struct {
	words   string
	Power   int
	Quarter bool // Hindi says डेढ़ and ढाई before it
}{
	{},
	{"hundred सौ sau", 2, true},
	{"thousand हज़ार हजार hazaar hazar k", 3, true},
	{"lakh lakhs lac lacs लाख l", 5, true},
	{"crore crores करोड़ करोड cr crs", 7, true},
	{"अरब arab", 9, false},
	{"खरब kharab", 11, false},
	{"million millions मिलियन mn m", 6, false},
	{"billion billions बिलियन bn b", 9, false},
	{"trillion trillions ट्रिलियन tn", 12, false},
}

// Lakhs is the place of lakh in scaleWords.
const Lakhs = 3

// chatForm is a word as chats spell it: krna for karna. It weighs for the language what the whole word does.
// Nobody puts a dot behind one because it is short, so a full stop there ends the sentence.
type chatForm struct {
	words   string
	Full    string
	Letters bool // in capitals it is letters: the SB account
}

var chatForms = [...]chatForm{
	{"kr", "kar", true},
	{"krna", "karna", true},
	{"krne", "karne", true},
	{"krke", "karke", true},
	{"kro", "karo", true},
	{"krta", "karta", true},
	{"krte", "karte", true},
	{"krdo", "kar do", true},
	{"tk", "tak", true},
	{"kl", "kal", true},
	{"sb", "sab", true},
	{"bht", "bahut", true},
	{"wrna", "warna", true},
	{"mtlb", "matlab", true},
	{"gya", "gaya", true},
	{"gye", "gaye", true},
	{"gyi", "gayi", true},
	{"rha", "raha", true},
	{"rhe", "rahe", true},
	{"rhi", "rahi", true},
	{"rkh", "rakh", true},
	{"rkha", "rakha", false},
	{"rkhe", "rakhe", false},
	{"rkhi", "rakhi", false},
	{"rkhna", "rakhna", false},
	{"rkho", "rakho", false},
	{"khda", "khada", false},
	{"khde", "khade", false},
	{"khdi", "khadi", false},
	{"bhr", "bhar", true},
	{"bhrna", "bharna", false},
	{"bhro", "bharo", false},
	{"bhj", "bhej", true},
	{"bhjo", "bhejo", false},
	{"dkh", "dekh", true},
	{"dkha", "dekha", false},
	{"dkho", "dekho", false},
	{"krti", "karti", false},
	{"krein", "karein", false},
	{"krenge", "karenge", false},
	{"krunga", "karunga", false},
	{"krungi", "karungi", false},
	{"krega", "karega", false},
	{"krwa", "karwa", false},
	{"krana", "karana", false},
	{"krwana", "karwana", false},
	{"bta", "bata", true},
	{"btao", "batao", false},
	{"btana", "batana", false},
	{"btaya", "bataya", false},
	{"bna", "bana", true},
	{"bnao", "banao", false},
	{"chl", "chal", true},
	{"chlo", "chalo", false},
	{"chla", "chala", false},
	{"nikl", "nikal", false},
	{"mjhe", "mujhe", false},
	{"tmhe", "tumhe", false},
	{"tmhara", "tumhara", false},
	{"smjh", "samajh", false},
	{"jldi", "jaldi", false},
	{"kbhi", "kabhi", false},
	{"ghnte", "ghante", false},
	{"ghnta", "ghanta", false},
	{"mhine", "mahine", false},
	{"hfte", "hafte", false},
}

// englishChatForms are those of English words, which Hindi sentences have, too.
var englishChatForms = [...]chatForm{
	{"ur", "your", true},
	{"thnx thx tnx", "thanks", false},
	{"pls plz", "please", false},
	{"tmrw tmw", "tomorrow", false},
	{"abt", "about", false},
	{"rcpt", "receipt", false},
	{"chk", "check", true},
	{"wht", "what", true},
	{"bcz bcoz", "because", true},
	{"tym", "time", false},
	{"mnth", "month", false},
	{"mnths", "months", false},
	{"bday", "birthday", false},
	{"ppl", "people", false},
}

// expansions are the English words that reading puts in place of short forms, numbers and units.
func expansions() []string {
	words := []string{"paise paisa plus minus point percent and a half quarter quarters three oh by times equals dot hash star number rate"}
	words = append(words, EnglishBelow20[:]...)
	words = append(words, EnglishTens[:]...)
	words = append(words, EnglishOrdinalBelow20[:]...)
	words = append(words, EnglishOrdinalTens[:]...)
	for _, s := range shortForms {
		words = append(words, s.en)
	}
	for _, c := range englishChatForms {
		words = append(words, c.Full)
	}
	for _, full := range DottedForms {
		words = append(words, full)
	}
	for _, full := range StrokedForms {
		words = append(words, full)
	}
	words = append(words, englishWords.ScaleNames[:]...)
	for _, u := range englishWords.units {
		words = append(words, u.One, u.Many)
	}
	for _, c := range englishWords.Money {
		words = append(words, c.One, c.Many, c.Cent, c.Cents)
	}
	return append(words, "reference accounts positive negative")
}

// build puts the lists into one table.
func build() map[string]*Entry {
	m := make(map[string]*Entry, 3072)
	add := func(words string, change func(*Entry)) {
		for w := range strings.FieldsSeq(strings.ToLower(words)) {
			e := m[w]
			if e == nil {
				e = new(Entry)
				m[w] = e
			}
			change(e)
		}
	}
	for _, l := range wordLists {
		add(l.words, func(e *Entry) { e.Traits |= l.traits })
	}
	for _, words := range expansions() {
		add(words, func(e *Entry) { e.Traits |= Expansion })
	}
	for n, words := range weekdayWords {
		add(words, func(e *Entry) { e.Traits |= Weekday; e.N = n })
	}
	for n, words := range monthWords {
		add(words, func(e *Entry) { e.Traits |= Month; e.N = n })
	}
	for n, s := range ScaleWords {
		add(s.words, func(e *Entry) { e.Traits |= ScaleWord; e.N = n })
	}
	for _, s := range shortForms {
		add(s.words, func(e *Entry) { e.Traits |= s.traits; e.Hi, e.En = s.hi, s.en })
	}
	for _, forms := range [][]chatForm{chatForms[:], englishChatForms[:]} {
		for i := range forms {
			c := &forms[i]
			first, _, _ := strings.Cut(c.Full, " ")
			traits := Trait(0)
			if whole := m[first]; whole != nil {
				traits = whole.Traits & (AnyHindi | EnglishWord)
			}
			add(c.words, func(e *Entry) { e.Traits |= traits; e.Chat = c })
		}
	}
	for g, words := range groupWords {
		add(words, func(e *Entry) { e.Groups.add(Group(g)) })
	}
	return m
}
