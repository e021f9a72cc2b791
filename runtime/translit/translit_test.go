package translit

import (
	_ "embed" // the sentences
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Each line is a text, what an engine gets that can read English, and, where it differs, what one gets that cannot.
//
//go:embed testdata/sentences.tsv
var sentenceTable string

type example struct{ text, kept, respelled string }

func examples(t testing.TB) []example {
	t.Helper()
	var list []example
	for line := range strings.Lines(sentenceTable) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch len(fields) {
		case 2:
			list = append(list, example{fields[0], fields[1], fields[1]})
		case 3:
			list = append(list, example{fields[0], fields[1], fields[2]})
		default:
			t.Fatalf("sentences.tsv: %d fields in %q", len(fields), line)
		}
	}
	if len(list) < 300 {
		t.Fatalf("sentences.tsv has %d sentences, want at least 300", len(list))
	}
	return list
}

func TestSentences(t *testing.T) {
	for _, e := range examples(t) {
		if got := Devanagari(e.text, Options{KeepEnglish: true}); got != e.kept {
			t.Errorf("%q keeping English\n got %q\nwant %q", e.text, got, e.kept)
		}
		if got := Devanagari(e.text, Options{}); got != e.respelled {
			t.Errorf("%q\n got %q\nwant %q", e.text, got, e.respelled)
		}
	}
}

func TestAllEnglishCanStayLatin(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"English words in a Hindi sentence", "Aapka order kal deliver ho jayega.", "आपका order कल deliver हो जाएगा."},
		{"in Devanagari too", "आपका payment ho gaya hai", "आपका payment हो गया है"},
		{"an English sentence", "Your order is ready.", "Your order is ready."},
		{"a Hindi sentence beside it", "Your order is ready. Kal aana!", "Your order is ready. कल आना!"},
		{"a name in an English sentence", "Rahul is here today.", "Rahul is here today."},
		{"a name in a Hindi sentence", "Rahul kal aayega", "राहुल कल आएगा"},
		{"capitals in a Hindi sentence", "O T P kisi ko mat batana", "ओ टी पी किसी को मत बताना"},
		{"short forms", "pls kal aana", "please कल आना"},
		{"a word of both languages", "main road par khada hoon", "मैं road पर खड़ा हूँ"},
		{"nothing Latin", "कल आना।", "कल आना।"},
	} {
		if got := Devanagari(tt.text, Options{KeepAllEnglish: true}); got != tt.want {
			t.Errorf("%s: %q became %q, want %q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestWordsOfBothLanguages(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"main opens a clause in the first person", "main kal aaunga", "मैं कल आऊँगा"},
		{"main before an English noun, in the first person", "main road par khada hoon", "मैं रोड पर खड़ा हूँ"},
		{"main is the principal one", "main road par khada hai", "मेन रोड पर खड़ा है"},
		{"main after a genitive", "aapki main branch", "आपकी मेन ब्रांच"},
		{"main after a noun", "ghar main koi hai", "घर में कोई है"},
		{"main after kya", "kya main aa sakta hoon", "क्या मैं आ सकता हूँ"},
		{"me after a noun", "bank me hu", "बैंक में हूँ"},
		{"me opens a clause", "me ghar pe hu", "मैं घर पे हूँ"},
		{"me after an English verb", "aap call me back bolo", "आप कॉल मी बैक बोलो"},
		{"mai after a noun", "office mai hai", "ऑफ़िस में है"},
		{"mai as the pronoun", "mai theek hu", "मैं ठीक हूँ"},
		{"m alone as the pronoun", "m ghar pe hu", "मैं घर पे हूँ"},
		{"m alone after a noun", "ghar m koi nahi", "घर में कोई नहीं"},
		{"words with a long vowel", "ghode pe naashte ki mashaal", "घोड़े पे नाश्ते की मशाल"},
		{"a cry and its limit", "gaaliya mat do, hadd hai", "गालियाँ मत दो, हद है"},
		{"to after a subject", "main to aa gaya", "मैं तो आ गया"},
		{"to after welcome", "welcome to Swar, kaise hain aap", "वेलकम टू स्वर, कैसे हैं आप"},
		{"the closes a clause", "wo log kahan the", "वो लोग कहाँ थे"},
		{"the before what it names", "the payment ho gaya", "द पेमेंट हो गया"},
		{"is before a Hindi noun", "is mahine ka bill", "इस महीने का बिल"},
		{"is before a postposition", "is ko dekho", "इस को देखो"},
		{"is before the digits of a code", "aapka O T P is चार पाँच", "आपका ओ टी पी इज़ चार पाँच"},
		{"are opens a clause", "are bhai ruko", "अरे भाई रुको"},
		{"do before a noun", "do din lagenge", "दो दिन लगेंगे"},
		{"do after a verb", "paise bhej do", "पैसे भेज दो"},
		{"do before not", "please do not share, theek hai", "प्लीज़ डू नॉट शेयर, ठीक है"},
		{"use as a pronoun", "use bata do", "उसे बता दो"},
		{"use as a verb", "ise use karo", "इसे यूज़ करो"},
		{"us before a noun", "us din tum aaye the", "उस दिन तुम आए थे"},
		{"us after an English verb", "aap contact us par click karein", "आप कॉन्टैक्ट अस पर क्लिक करें"},
		{"hi stresses", "main hi jaunga", "मैं ही जाऊँगा"},
		{"hi greets", "hi bhai kaise ho", "हाय भाई कैसे हो"},
		{"he for hai", "kya kar rahe he", "क्या कर रहे है"},
		{"he calls", "he bhagwan", "हे भगवान"},
		{"bad after ke", "uske bad milte hain", "उसके बाद मिलते हैं"},
		{"bad as the English word", "network bahut bad hai", "नेटवर्क बहुत बैड है"},
		{"or between Hindi words", "tum or main", "तुम और मैं"},
		{"ki after a verb", "usne kaha ki theek hai", "उसने कहा कि ठीक है"},
		{"ki as the genitive", "Rahul ki gaadi", "राहुल की गाड़ी"},
		{"kaha after ne", "maine kaha tha", "मैंने कहा था"},
		{"kaha asks", "tum kaha ho", "तुम कहाँ हो"},
		{"log as people", "sab log aa gaye", "सब लोग आ गए"},
		{"log in", "log in kaise karein", "लॉग इन कैसे करें"},
		{"Ram is a name", "Ram aaya hai", "राम आया है"},
		{"RAM is memory", "phone ki RAM kam hai", "फ़ोन की रैम कम है"},
		{"dar after byaj", "byaj dar kya hai", "ब्याज दर क्या है"},
		{"dar as fear", "mujhe dar lagta hai", "मुझे डर लगता है"},
		{"dal before its helper", "namak dal do", "नमक डाल दो"},
		{"dal as lentils", "dal chawal khao", "दाल चावल खाओ"},
		{"band as closed", "dukaan band hai", "दुकान बंद है"},
		{"sat as seven", "sat baje aana", "सात बजे आना"},
		{"sun as a verb", "meri baat sun", "मेरी बात सुन"},
		{"lie for liye", "uske lie laya hu", "उसके लिए लाया हूँ"},
		{"khan after a name", "Salman khan aaye the", "सलमान ख़ान आए थे"},
		{"khan in a hurry", "tum khan ho", "तुम कहाँ हो"},
		{"h alone is hai", "kya hua h", "क्या हुआ है"},
		{"main after a genitive, before a Hindi noun", "mera main kaam ho gaya", "मेरा मेन काम हो गया"},
		{"main before a road, after a noun", "ye rasta main highway tak jata hai", "ये रास्ता मेन हाईवे तक जाता है"},
		{"me before too", "me too yaar", "मी टू यार"},
		{"me after on", "lunch on me, theek hai", "लंच ऑन मी, ठीक है"},
		{"ki after jo", "jo ki sahi hai", "जो कि सही है"},
		{"kaha after ne and a word between", "us ne hi kaha tha", "उस ने ही कहा था"},
		{"use opens an offer", "use code SWAR aur bachao", "यूज़ कोड स्वर और बचाओ"},
		{"he before is", "he is my friend, uska naam Aman hai", "ही इज़ माय फ़्रेंड, उसका नाम अमन है"},
		{"k alone after a verb", "wo bola k aaunga", "वो बोला कि आऊँगा"},
		{"k alone after a noun", "ghar k paas", "घर के पास"},
		{"k alone opens a clause", "k bhai", "ओके भाई"},
		{"q alone asks", "q nahi aaya", "क्यों नहीं आया"},
		{"n alone between English words", "rock 'n' roll sunte hain", "रॉक 'ऐंड' रोल सुनते हैं"},
		{"daal as lentils", "daal chawal khao", "दाल चावल खाओ"},
		{"daal before its helper", "namak daal do", "नमक डाल दो"},
		{"nach as a verb", "wo nach raha hai", "वो नाच रहा है"},
		{"NACH is a mandate", "NACH ka mandate", "नैच का मैंडेट"},
		{"rupay as money", "sau rupay do", "सौ रुपये दो"},
		{"RuPay is a card", "RuPay ka card", "रूपे का कार्ड"},
		{"aata as flour", "do kilo aata", "दो किलो आटा"},
		{"aata as a verb", "wo roz aata hai", "वो रोज़ आता है"},
		{"mile as a measure", "do mile door hai", "दो माइल दूर है"},
		{"mile as a verb", "mile to batana", "मिले तो बताना"},
		{"min before due", "min due kitna hai", "मिनिमम ड्यू कितना है"},
		{"min as a minute", "kuch min ruko", "कुछ मिनट रुको"},
		{"re before a hyphen", "re-check kar lo", "री-चेक कर लो"},
		{"re closes", "haan re", "हाँ रे"},
		{"mud as a verb", "left mud jao", "लेफ़्ट मुड़ जाओ"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Devanagari(tt.text, Options{}); got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestLetters(t *testing.T) {
	for _, tt := range []struct{ name, text, kept, respelled string }{
		{"in a Hindi sentence", "O T P batao", "ओ टी पी बताओ", "ओ टी पी बताओ"},
		{"in an English sentence", "Your O T P has expired.", "Your O T P has expired.", "योर ओ टी पी हैज़ एक्सपायर्ड."},
		{"an A among them would be read as the article", "Your A T M card.", "Your ए टी एम card.", "योर ए टी एम कार्ड."},
		{"the A is last", "Your V I S A card.", "Your वी आई एस ए card.", "योर वी आई एस ए कार्ड."},
		{"the article itself", "This is a card.", "This is a card.", "दिस इज़ अ कार्ड."},
		{"a lone A", "Plan A is the best plan.", "Plan A is the best plan.", "प्लान ए इज़ द बेस्ट प्लान."},
		{"a comma parts two rows", "K Y C, A T M kya hai", "के वाई सी, ए टी एम क्या है", "के वाई सी, ए टी एम क्या है"},
		{"several of them", "do O T Ps aaye", "दो ओ टी पीज़ आए", "दो ओ टी पीज़ आए"},
		{"in lower case", "o t p bhejo", "ओ टी पी भेजो", "ओ टी पी भेजो"},
		{"not parted", "HDFC ka card", "एच डी एफ़ सी का कार्ड", "एच डी एफ़ सी का कार्ड"},
		{"every one", "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z hai",
			"ए बी सी डी ई एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड है",
			"ए बी सी डी ई एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड है"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Devanagari(tt.text, Options{KeepEnglish: true}); got != norm.NFC.String(tt.kept) {
				t.Errorf("%q keeping English\n got %q\nwant %q", tt.text, got, tt.kept)
			}
			if got := Devanagari(tt.text, Options{}); got != norm.NFC.String(tt.respelled) {
				t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.respelled)
			}
		})
	}
}

func TestShape(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"signs only", "… — ?!", "… — ?!"},
		{"spacing and signs stay", "  haan ,\tna —(theek)\n hai ! ", "  हाँ ,\tना —(ठीक)\n है ! "},
		{"hyphens stay", "dheere-dheere", "धीरे-धीरे"},
		{"scripts that touch", "orderका", "ऑर्डरका"},
		{"capitals", "MUJHE NAHI CHAHIYE", "मुझे नहीं चाहिए"},
		{"drawn out", "bahuuuut acchaaaa yaaar", "बहुत अच्छा यार"},
		{"accents", "café mein hoon", "कैफ़े में हूँ"},
		{"accents apart from their letters", "cafe\u0301 mein hoon", "कैफ़े में हूँ"},
		{"wide letters", "ｋｙａ hua", "क्या हुआ"},
		{"Latin letters that stand for no sound", "kyaʔ hua", "क्या हुआ"},
		{"a curly apostrophe", "don’t worry yaar", "डोंट वरी यार"},
		{"other scripts stay", "haan Привет 你好", "हाँ Привет 你好"},
		{"not UTF-8", "haan \xff theek", "हाँ \xff ठीक"},
		{"drawn out from a double letter", "goooood hai, wowwww kya baat hai, sooooo ja", "गुड है, वाओ क्या बात है, सो जा"},
		{"an English 's", "kal's meeting, mummy's saree", "कल्स मीटिंग, मम्मीज़ साड़ी"},
		{"a verb written with its helper", "kardunga, bhejdiya, dekhlo", "कर दूँगा, भेज दिया, देख लो"},
		{"a noun in the plural", "dukaanon, kitabein, aankhon, customeron", "दुकानों, किताबें, आँखों, कस्टमरों"},
		{"a word that only sounds alike", "dhanyawaad, zaroorat, vyavasthaa", "धन्यवाद, ज़रूरत, व्यवस्था"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Devanagari(tt.text, Options{}); got != norm.NFC.String(tt.want) {
				t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

// A sentence is judged by itself, so that the English one keeps its words beside a Hindi one.
func TestSentencesAreJudgedOneByOne(t *testing.T) {
	got := Devanagari("Your order is ready. Aap kab aayenge? Please call us!", Options{KeepEnglish: true})
	want := "Your order is ready. आप कब आएँगे? Please call us!"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShortFormsOfEnglishSentences(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"in full", "pls call me wen u r free, thx", "please call me when you are free, thanks"},
		{"letters in a row are none", "your u p i and o t p", "your u p i and o t p"},
		{"capitals are none", "Your FYI is here.", "Your FYI is here."},
		{"with h it is Hindi", "can u call me wen free, urgent h", "कैन यू कॉल मी वेन फ़्री, अर्जेंट है"},
		{"in a Hindi sentence", "pls jaldi aao, thx", "प्लीज़ जल्दी आओ, थैंक्स"},
	} {
		if got := Devanagari(tt.text, Options{KeepEnglish: true}); got != tt.want {
			t.Errorf("%s: %q\n got %q\nwant %q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestGuestsOfEnglishSentences(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"digits of a code", "Your O T P is चार दो for login.", "Your O T P is चार दो for login."},
		{"but not without English grammar", "Order number चार दो.", "ऑर्डर नंबर चार दो."},
		{"a larger number", "Your bill पचास.", "योर बिल पचास."},
		{"a name sounds Indian", "Your driver Ramesh is here.", "Your driver रमेश is here."},
		{"and stays", "Your driver रमेश is here.", "Your driver रमेश is here."},
		{"a name that is a Hindi word stays Latin", "Your friend Asha is late.", "Your friend Asha is late."},
		{"a Hindi word makes it Hindi", "Your driver रमेश kal aayega.", "योर ड्राइवर रमेश कल आएगा."},
	} {
		if got := Devanagari(tt.text, Options{KeepEnglish: true}); got != tt.want {
			t.Errorf("%s: %q\n got %q\nwant %q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestDevanagariStaysAsItIs(t *testing.T) {
	for _, e := range examples(t) {
		for _, text := range []string{e.respelled, "आपका बैलेंस ₹५०० है।", "श्री॰ क़ ज़ फ़ ड़ ढ़ \u200d \u200c ॐ"} {
			if got := Devanagari(text, Options{KeepEnglish: true}); got != text {
				t.Errorf("got %q, want it unchanged: %q", got, text)
			}
		}
	}
}

func TestConcurrentCallsAgree(t *testing.T) {
	want := Devanagari(message, Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := Devanagari(message, Options{}); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestAllocations(t *testing.T) {
	tables()
	const most = 2 // the result, and once more where the guess at its length was too low
	if got := testing.AllocsPerRun(50, func() { Devanagari(message, Options{KeepEnglish: true}) }); got > most {
		t.Errorf("%d characters took %v allocations, want at most %d", len(message), got, most)
	}
}

// check fails the test when a result breaks what Devanagari promises for every text.
func check(t *testing.T, text string) {
	t.Helper()
	for _, o := range []Options{{}, {KeepEnglish: true}} {
		got := Devanagari(text, o)
		if again := Devanagari(text, o); again != got {
			t.Errorf("%+v: %q gave %q, then %q", o, text, got, again)
		}
		if again := Devanagari(got, o); again != got {
			t.Errorf("%+v: %q gave %q, and that %q", o, text, got, again)
		}
		// The longest name of one letter is that of w, seven code points of three bytes, and initials are parted.
		if len(got) > 22*len(text) {
			t.Errorf("%+v: %d bytes became %d", o, len(text), len(got))
		}
		if norm.NFC.IsNormalString(text) && !norm.NFC.IsNormalString(got) {
			t.Errorf("%+v: %q gave %q, which is not NFC", o, text, got)
		}
		if !o.KeepEnglish && strings.ContainsFunc(got, hasLatin) {
			t.Errorf("%q: Latin is left in %q", text, got)
		}
		if kept := strings.Map(signs, got); kept != strings.Map(signs, text) && !o.KeepEnglish {
			t.Errorf("%q: signs or spacing changed in %q", text, got)
		}
	}
}

// hasLatin reports whether r is a Latin letter, or is taken for some by a tokenizer that decomposes signs.
func hasLatin(r rune) bool {
	return unicode.Is(unicode.Latin, r) || strings.ContainsFunc(norm.NFKD.String(string(r)),
		func(r rune) bool { return unicode.Is(unicode.Latin, r) })
}

// TestNoLatinIsLeft: whatever Unicode makes of Latin letters, alone, in a row, in words and in codes, nothing of it
// reaches an engine that reads only Devanagari.
func TestNoLatinIsLeft(t *testing.T) {
	found := 0
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if !unicode.IsGraphic(r) || unicode.In(r, unicode.Han, unicode.Hangul) || !hasLatin(r) {
			continue
		}
		found++
		c := string(r)
		for _, text := range []string{c, "haan " + c + " hai", "The " + c + " is here.", c + c + c, "or" + c + "der",
			"B" + c + "4" + c, c + "\u0301", c + "'s"} {
			if got := Devanagari(text, Options{}); strings.ContainsFunc(got, hasLatin) {
				t.Errorf("%U: %q became %q", r, text, got)
			}
		}
	}
	if found < 2000 {
		t.Errorf("only %d letters were tried", found)
	}
}

func TestLettersOfOtherKinds(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"accents", "résumé bhejo, café aao", "रेज़्यूमे भेजो, कैफ़े आओ"},
		{"wide capitals", "Ｂ ｃode", "बी कोड"},
		{"letters of mathematics", "𝐡𝐚𝐚𝐧 𝗵𝗮𝗶", "हाँ है"},
		{"in circles", "Ⓐ hai", "ए है"},
		{"units in one sign", "do ㎏ hai", "दो किलो है"},
		{"the old sign of the rupee", "₨ sau", "रुपीज़ सौ"},
		{"the sign of a trade mark is silent", "Amul™ ka doodh", "अमूल का दूध"},
		{"a letter of a code is no chat", "seat b4 aur h2 hai", "सीट बी4 और एच2 है"},
		{"but alone it is", "b hai", "भी है"},
		{"letters of no sound", "kya ʔ hua", "क्या  हुआ"},
	} {
		if got := Devanagari(tt.text, Options{}); got != norm.NFC.String(tt.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", tt.name, tt.text, got, tt.want)
		}
	}
}

// signs drops what may change: letters, marks, spaces (initials are parted by them) and the signs of a word.
func signs(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsMark(r) || strings.ContainsRune(" '’\u200c\u200d", r) || IsLatin(r) ||
		hasLatin(r) {
		return -1
	}
	return r
}

func TestProperties(t *testing.T) {
	for _, e := range examples(t) {
		check(t, e.text)
		check(t, strings.ToUpper(e.text))
		check(t, e.kept)
	}
	for _, text := range seeds {
		check(t, text)
	}
}

func TestLongWordsAndRows(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a", 4000), strings.Repeat("bcdfg", 800), strings.Repeat("karna", 800),
		strings.Repeat("A ", 2000),
		strings.Repeat("main ", 800), strings.Repeat("B ", 100) + "A card of the bank",
		strings.Repeat("ए ", 2000) + "card",
	} {
		check(t, text)
	}
}

// seeds are odd texts on which the properties are tried and from which fuzzing starts.
var seeds = []string{
	"", " ", "a", "A", "I", "h", "AB", "A B", "A b C d", "main", "main main main", "the the the", "is is is", "do do do", "to to to",
	"x", "xx", "qq", "ck", "'", "a'", "'a", "a'b", "don't", "’s", "rock'n'roll", "O'Brien's", "ß æ ø ł þ", "é", "e\u0301", "ʔ", "Ⅷ ª º",
	"\xff", "a\xffb", "\x00", "ａｂｃ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "kkkkkkkk", "zzzz", "ए टी एम card", "ए card", "के वाई सी card",
	"order।payment॥refund", "order-payment/refund", "a.b.c.d", "haan…na", "ok\nok", "Ps", "O T Ps", "A Is", "I As", "HDFC", "hdfc", "www", "NASA UPI",
	"राहुल order", "order राहुल", "क़ order", "phenomenon", "phenomenon hai", "Zydus", "zydus ka", "1 order 2 din", "₹ order", "ŋ", "ə ka", "ﬁ hai",
	"gpAY0CAB", "000AACa0r h", "AC r h", "u r here", "gpay cab", "the gayaji bsnl order", "𝐡𝐚𝐢", "Ⓐ b4 Ｂ", "㎏ ㎡ ℃ ™ ₨ №", "Привет π µ", "mr puri", "Puri ji", "Om puri ki", "naam puri hai", "karan ne", "A As0BY", "B As0BY",
}

func FuzzDevanagari(f *testing.F) {
	for _, e := range examples(f) {
		f.Add(e.text)
	}
	for _, text := range seeds {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 || !utf8.ValidString(text) {
			return
		}
		check(t, text)
	})
}

func TestFuzzHasSeeds(t *testing.T) {
	if len(seeds) == 0 || len(examples(t)) == 0 {
		t.Error("fuzzing would start from nothing")
	}
}
