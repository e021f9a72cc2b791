package chunk

import (
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
)

// byWord counts words, which makes limits easy to see.
func byWord(text string) int { return len(strings.Fields(text)) }

// byRune counts as an engine does whose tokens are about four characters long.
func byRune(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

func texts(chunks []speech.Chunk) []string {
	out := make([]string, len(chunks))
	for i, c := range chunks {
		out[i] = c.Text
	}
	return out
}

func TestSentences(t *testing.T) {
	tests := map[string]struct {
		text  string
		limit int // words
		want  []string
	}{
		"nothing":                             {" \n", 10, nil},
		"one sentence":                        {" नमस्ते दोस्तों। ", 10, []string{"नमस्ते दोस्तों।"}},
		"sentences stand alone":               {"एक दो तीन। चार पाँच छह। सात आठ नौ।", 10, []string{"एक दो तीन।", "चार पाँच छह।", "सात आठ नौ।"}},
		"two words take the next one along":   {"हाँ जी। चार पाँच छह। सात आठ नौ।", 10, []string{"हाँ जी। चार पाँच छह।", "सात आठ नौ।"}},
		"several short ones":                  {"हाँ। जी। चलो। सात आठ नौ।", 10, []string{"हाँ। जी। चलो।", "सात आठ नौ।"}},
		"a short one at the end":              {"एक दो तीन। चार पाँच छह। बस।", 10, []string{"एक दो तीन।", "चार पाँच छह। बस।"}},
		"only short ones":                     {"हाँ। बस।", 10, []string{"हाँ। बस।"}},
		"a short one beside one at the limit": {"एक दो तीन चार। बस।", 4, []string{"एक दो तीन चार।", "बस।"}},
		"a long sentence is cut":              {"ek do, teen chaar; paanch chhe, saat. aath nau das", 5, []string{"ek do, teen chaar;", "paanch chhe, saat.", "aath nau das"}},
	}
	for name, tt := range tests {
		if got := texts(Sentences(tt.text, tt.limit, byWord)); !slices.Equal(got, tt.want) &&
			len(got)+len(tt.want) > 0 {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	for i, c := range Sentences("एक दो तीन। चार पाँच छह।", 10, byWord) {
		if c.Index != i || c.Tokens != 3 || c.CharStart != 11*i || c.CharEnd-c.CharStart != len([]rune(c.Text)) {
			t.Errorf("chunk %d: %+v", i, c)
		}
	}
}

func TestSplit(t *testing.T) {
	tests := map[string]struct {
		text  string
		limit int // words
		want  []string
	}{
		"nothing":                              {"", 10, nil},
		"only white space":                     {" \n\t ", 10, nil},
		"one sentence":                         {" नमस्ते दोस्तों। ", 10, []string{"नमस्ते दोस्तों।"}},
		"short sentences share a chunk":        {"हाँ। ठीक है। चलो।", 10, []string{"हाँ। ठीक है। चलो।"}},
		"one word below the limit":             {"एक दो तीन। चार पाँच छह।", 7, []string{"एक दो तीन। चार पाँच छह।"}},
		"exactly the limit":                    {"एक दो तीन। चार पाँच छह।", 6, []string{"एक दो तीन। चार पाँच छह।"}},
		"one word above the limit":             {"एक दो तीन। चार पाँच छह।", 5, []string{"एक दो तीन।", "चार पाँच छह।"}},
		"full stop, ! ? and …":                 {"Yes it is. No way at! Is it so? Well then…  ok fine now", 4, []string{"Yes it is.", "No way at!", "Is it so?", "Well then…", "ok fine now"}},
		"double danda and newline":             {"एक दो तीन॥ चार पाँच\nछह सात आठ", 3, []string{"एक दो तीन॥", "चार पाँच", "छह सात आठ"}},
		"a danda without a space":              {"एक दो तीन।चार पाँच छह।", 3, []string{"एक दो तीन।", "चार पाँच छह।"}},
		"closing marks stay":                   {"“Ek do teen.” (Chaar paanch chhe!) saat", 4, []string{"“Ek do teen.”", "(Chaar paanch chhe!) saat"}},
		"not inside a number":                  {"pi is 3.14 not 3.2 ok", 3, []string{"pi is 3.14", "not 3.2 ok"}},
		"not after a single letter":            {"the U. S. A. team won. They did it", 6, []string{"the U. S. A. team won.", "They did it"}},
		"a clause mark before a comma":         {"ek do, teen chaar; paanch chhe, saat", 5, []string{"ek do, teen chaar;", "paanch chhe, saat"}},
		"a comma before a conjunction":         {"kal subah aana, phir aur log bhi milenge", 5, []string{"kal subah aana,", "phir aur log bhi milenge"}},
		"a conjunction before a space":         {"ek do teen chaar aur paanch chhe saat", 6, []string{"ek do teen chaar", "aur paanch chhe saat"}},
		"a Hindi conjunction":                  {"एक दो तीन चार लेकिन पाँच छह सात", 6, []string{"एक दो तीन चार", "लेकिन पाँच छह सात"}},
		"halves are balanced":                  {"a b c d e f g h i j k", 10, []string{"a b c d e", "f g h i j k"}},
		"a number before a comma in it":        {"mera naya number nau aath saat chhe paanch, chaar teen do ek shunya hai", 11, []string{"mera naya number", "nau aath saat chhe paanch, chaar teen do ek shunya hai"}},
		"a conjunction before a comma in it":   {"ek do teen, chaar aur paanch chhe saat", 5, []string{"ek do teen, chaar", "aur paanch chhe saat"}},
		"jisme begins a clause":                {"yeh naya plan hai jisme roz data milega aapko", 7, []string{"yeh naya plan hai", "jisme roz data milega aapko"}},
		"अगर begins a clause":                  {"आप कल ज़रूर आइए अगर समय हो तो फिर", 7, []string{"आप कल ज़रूर आइए", "अगर समय हो तो फिर"}},
		"a unit stays with its number":         {"दूध और दही मिलाकर पाँच किलो लेना है आज", 7, []string{"दूध और दही मिलाकर", "पाँच किलो लेना है आज"}},
		"a unit in the middle":                 {"kal main do kilo aam laya tha", 6, []string{"kal main do kilo", "aam laya tha"}},
		"a clock time stays together":          {"मीटिंग आज शाम पाँच बजकर पैंतालीस मिनट पर होगी सबकी", 8, []string{"मीटिंग आज शाम", "पाँच बजकर पैंतालीस मिनट पर होगी सबकी"}},
		"a date stays together":                {"आपकी मुलाकात अब पंद्रह अगस्त दो हज़ार छब्बीस को", 8, []string{"आपकी मुलाकात अब", "पंद्रह अगस्त दो हज़ार छब्बीस को"}},
		"digit groups are cut at a comma":      {"एक दो तीन चार, पाँच छह सात आठ, नौ शून्य एक दो, तीन चार पाँच छह", 9, []string{"एक दो तीन चार, पाँच छह सात आठ,", "नौ शून्य एक दो, तीन चार पाँच छह"}},
		"no short tail is left":                {"one two three. four five six. seven", 6, []string{"one two three.", "four five six. seven"}},
		"one word above the limit is balanced": {"aap kal subah phir aaye the, na", 6, []string{"aap kal subah", "phir aaye the, na"}},
		"a tail of three words may stand":      {"a1 b2 c3 d4 e5, f6 g7 h8", 7, []string{"a1 b2 c3 d4 e5,", "f6 g7 h8"}},
		"a short head takes a clause along":    {"Haan. aap kal aaye, phir hum gaye", 6, []string{"Haan. aap kal aaye,", "phir hum gaye"}},
		"but no torn clause":                   {"Haan. aap kal subah phir aana zaroor", 6, []string{"Haan.", "aap kal subah phir aana zaroor"}},
		"a short sentence at the end":          {"aap kal aaye, phir hum gaye. Theek", 6, []string{"aap kal aaye,", "phir hum gaye. Theek"}},
		"number words stay together":           {"aapka naya card number hai एक दो तीन चार पाँच छह सात", 10, []string{"aapka naya card number hai", "एक दो तीन चार पाँच छह सात"}},
		"number words of any script":           {"your old card number is one two three four paanch chhe", 9, []string{"your old card number is", "one two three four paanch chhe"}},
		"an amount stays together":             {"आपका कुल बिल एक लाख पच्चीस हज़ार रुपये हुआ है", 8, []string{"आपका कुल बिल", "एक लाख पच्चीस हज़ार रुपये हुआ है"}},
		"only number words are cut anyway":     {"एक दो तीन चार पाँच छह सात आठ", 6, []string{"एक दो तीन चार", "पाँच छह सात आठ"}},
		"spelled letters stay together":        {"please tell me P N R A B C", 8, []string{"please tell me", "P N R A B C"}},
		"a spelled word ends a sentence":       {"Never share your O T P. Thank you very much", 7, []string{"Never share your O T P.", "Thank you very much"}},
		"an initial does not":                  {"Yahan J. Sharma rehte hain. Aap kaun hain", 6, []string{"Yahan J. Sharma rehte hain.", "Aap kaun hain"}},
		"initials without a space":             {"the U.S.A. team has won. They did it", 5, []string{"the U.S.A. team has won.", "They did it"}},
		"a one-letter Hindi word does":         {"वह घर पर है. तुम कहाँ हो", 4, []string{"वह घर पर है.", "तुम कहाँ हो"}},
		"a comma before a closing quote":       {`usne kaha "ek do," phir woh chala gaya`, 6, []string{`usne kaha "ek do,"`, "phir woh chala gaya"}},
		"a dash ends a clause":                 {"aap kal aaye — phir hum log gaye", 6, []string{"aap kal aaye —", "phir hum log gaye"}},
		"a bracket begins one":                 {"aap kal subah aaye (phir hum log gaye)", 6, []string{"aap kal subah aaye", "(phir hum log gaye)"}},
		"an intraword hyphen is not a place":   {"aap kal day-care gaye phir wapas aaye", 5, []string{"aap kal day-care", "gaye phir wapas aaye"}},
		"lone marks go with a word":            {"aap kal subah aaye . ! ? phir hum log gaye !", 5, []string{"aap kal subah", "aaye . ! ?", "phir hum log gaye !"}},
		"unless no cut has room":               {"aap . ! ? kal", 3, []string{"aap", ". ! ?", "kal"}},
		"marks alone":                          {"... ! ?", 10, []string{"... ! ?"}},
		"marks in front":                       {"... Haan theek hai", 10, []string{"... Haan theek hai"}},
		"a limit of nothing means one":         {"ab cd", 0, []string{"ab", "cd"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Split(tt.text, tt.limit, byWord)
			if !slices.Equal(texts(got), tt.want) {
				t.Errorf("Split = %q, want %q", texts(got), tt.want)
			}
			check(t, tt.text, tt.limit, byWord, got)
		})
	}
}

func TestGrowing(t *testing.T) {
	const lead, limit = 4, 10
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                         {" \n", nil},
		"one word below the lead":         {" ek do teen. ", []string{"ek do teen."}},
		"exactly the lead":                {"ek do. teen chaar.", []string{"ek do. teen chaar."}},
		"one word above the lead":         {"ek do. teen chaar paanch.", []string{"ek do.", "teen chaar paanch."}},
		"as many as before":               {"a b c d. e f g h. i j k l. m n o p. q r s", []string{"a b c d.", "e f g h.", "i j k l. m n o p.", "q r s"}},
		"one more than before is cut":     {"a b c d. ek aur f g h. j k l m", []string{"a b c d.", "ek aur", "f g h.", "j k l m"}},
		"up to the limit, and no further": {"a b c d. e f g h. " + strings.Repeat("i j k l m. ", 5), []string{"a b c d.", "e f g h.", "i j k l m.", "i j k l m. i j k l m.", "i j k l m. i j k l m."}},
		"a short beginning":               {"haan ji bhai. ek do teen. a b c d. e f g h", []string{"haan ji bhai.", "ek do teen.", "a b c d.", "e f g h"}},
	} {
		if got := texts(Growing(tt.text, lead, limit, byWord)); !slices.Equal(got, tt.want) &&
			len(got)+len(tt.want) > 0 {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestGrowingKeepsThePromises: it is a split in all else, and asks for no more than a few times what Split does.
func TestGrowingKeepsThePromises(t *testing.T) {
	const lead, limit = 22, 50
	for name, text := range hostile {
		for by, count := range counts {
			calls, counted := 0, 0
			got := Growing(text, lead, limit, func(s string) int {
				calls++
				counted += len(s)
				return count(s)
			})
			check(t, text, limit, count, got)
			tokens := 0
			for i, c := range got {
				if most := min(max(lead, tokens), limit); c.Tokens > most && uniseg.GraphemeClusterCount(c.Text) > 1 {
					t.Errorf("%s, %s: chunk %d has %d tokens behind %d, more than %d", name, by, i, c.Tokens,
						tokens, most)
				}
				tokens += c.Tokens
			}
			if calls > 40*len(got)+8 || counted > 40*len(text) {
				t.Errorf("%s, %s: %d chunks: %d calls over %.1f times the text", name, by, len(got), calls,
					float64(counted)/float64(len(text)))
			}
		}
	}
}

// check holds the promises that every split keeps.
func check(t *testing.T, text string, limit int, count func(string) int, chunks []speech.Chunk) {
	t.Helper()
	limit = max(limit, 1)
	runes := []rune(text)
	end := 0
	for i, c := range chunks {
		if c.Index != i || c.Text == "" || c.Text != strings.TrimSpace(c.Text) {
			t.Fatalf("chunk %d: %+v is empty, misnumbered or not trimmed", i, c)
		}
		if c.CharStart < end || c.CharEnd <= c.CharStart || c.CharEnd > len(runes) ||
			string(runes[c.CharStart:c.CharEnd]) != c.Text {
			t.Fatalf("chunk %d: offsets %d to %d do not hold %q", i, c.CharStart, c.CharEnd, c.Text)
		}
		if lost := strings.TrimSpace(string(runes[end:c.CharStart])); lost != "" {
			t.Fatalf("%q before chunk %d was lost", lost, i)
		}
		if c.Tokens != count(c.Text) {
			t.Fatalf("chunk %d says %d tokens, has %d", i, c.Tokens, count(c.Text))
		}
		if c.Tokens > limit && uniseg.GraphemeClusterCount(c.Text) > 1 {
			t.Fatalf("chunk %d has %d tokens, more than %d: %q", i, c.Tokens, limit, c.Text)
		}
		end = c.CharEnd
	}
	if lost := strings.TrimSpace(string(runes[end:])); lost != "" {
		t.Fatalf("%q at the end was lost", lost)
	}
}

// wordless texts and the like, 4,000 code points each, that tempt an implementation to count too often.
var hostile = map[string]string{
	"letters without a space": strings.Repeat("a", 4000),
	"Devanagari without":      strings.Repeat("क्षि", 1000),
	"commas":                  strings.Repeat(",", 4000),
	"commas and letters":      strings.Repeat("a,", 2000),
	"combining marks":         "क" + strings.Repeat("\u093e", 3999),
	"marks on full stops":     strings.Repeat(".\u0301", 2000),
	"dandas":                  strings.Repeat("।", 4000),
	"full stops and spaces":   strings.Repeat(". ", 2000),
	"single letters":          strings.Repeat("a ", 2000),
	"initials":                strings.Repeat("A. ", 1333),
	"digits in words":         strings.Repeat("शून्य एक, ", 400),
	"digits without a comma":  strings.Repeat("शून्य एक ", 444),
	"one long sentence":       strings.Repeat("aapka order kal tak deliver ho jayega ", 105),
	"many short ones":         strings.Repeat("Haan. ", 666),
	"newlines":                strings.Repeat("a\n", 2000),
	"long words":              strings.Repeat(strings.Repeat("x", 249)+" ", 16),
	"long and short":          strings.Repeat("Haan. "+strings.Repeat("ek aur, ", 26)+"bas. ", 18),
	"a dense and a thin half": strings.Repeat(". ", 1000) + strings.Repeat("क्षि", 500),
	"emoji families":          strings.Repeat("👩‍👩‍👧‍👦", 571),
	"white space":             "a" + strings.Repeat(" ", 3998) + "b",
}

func TestHostileTextsKeepThePromises(t *testing.T) {
	for name, text := range hostile {
		for by, count := range counts {
			t.Run(name+"/"+by, func(t *testing.T) {
				calls, counted := 0, 0
				got := Split(text, 50, func(s string) int {
					calls++
					counted += len(s)
					return count(s)
				})
				check(t, text, 50, count, got)
				// A call for each sentence, space or letter would be thousands, and often over the whole text.
				if calls > 12*len(got)+4 || counted > 12*len(text) {
					t.Errorf("%d chunks: %d calls over %.1f times the text", len(got), calls,
						float64(counted)/float64(len(text)))
				}
			})
		}
	}
}

// counts are the ways in which engines count, and worse.
var counts = map[string]func(string) int{
	"by word":  byWord,
	"by rune":  byRune,
	"prepared": func(s string) int { return byRune(s) + 2 }, // each chunk gets a start and an end
	"marks cost most": func(s string) int { // as tokenizers have it that know few marks
		return byRune(s) + 3*strings.Count(s, ",") + 2*strings.Count(s, ".")
	},
	"marks are free": func(s string) int {
		return len(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }))
	},
	"not at all monotonic": func(s string) int { return byRune(s) + int(crc32.ChecksumIEEE([]byte(s))%4) },
}

func TestNoGraphemeIsCut(t *testing.T) {
	for name, text := range map[string]string{
		"in a word":                 strings.Repeat("क्षत्रिय👩‍👩‍👧‍👦श्री", 60),
		"a mark on a danda":         strings.Repeat("ek do।\u0301 teen ", 20),
		"a mark on a closing quote": strings.Repeat("ek do.”\u0301 teen ", 20),
		"a mark on a comma":         strings.Repeat("ek,\u0301do,\u200dteen ", 20),
		"a mark on a space":         strings.Repeat("ek \u0301do. \u0301teen  \u0903 ", 20),
		"a Thai vowel on a comma":   strings.Repeat("ek,\u0e33 do,\u0e33", 20),
	} {
		t.Run(name, func(t *testing.T) {
			for limit := range 12 {
				got := Split(text, limit, byRune)
				check(t, text, limit, byRune, got)
				whole(t, text, got)
				for _, c := range got {
					if limit > 2 && strings.HasSuffix(c.Text, "\u094d") {
						t.Errorf("limit %d: chunk %d cuts a conjunct: %q", limit, c.Index, c.Text)
					}
				}
			}
		})
	}
}

// whole checks that no chunk begins or ends inside a grapheme.
func whole(t *testing.T, text string, chunks []speech.Chunk) {
	t.Helper()
	border := map[int]bool{0: true}
	pos := 0
	for rest, state := text, -1; rest != ""; {
		var grapheme string
		grapheme, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		pos += utf8.RuneCountInString(grapheme)
		border[pos] = true
		if strings.TrimSpace(grapheme) != grapheme { // white space is dropped, also where it carries a mark
			border[pos-utf8.RuneCountInString(strings.TrimLeftFunc(grapheme, unicode.IsSpace))] = true
		}
	}
	for _, c := range chunks {
		if !border[c.CharStart] || !border[c.CharEnd] {
			t.Errorf("chunk %d (%d to %d) cuts a grapheme: %q", c.Index, c.CharStart, c.CharEnd, c.Text)
		}
	}
}

func TestSplitKeepsItsPromisesOnRandomText(t *testing.T) {
	words := strings.Split("aapka order कल तक ho, jayega; ठीक है। yes. no! 3.14 U. “ok?” — और aur ( ) ... \n क्ष एक दो तीन, a", " ")
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range r.IntN(120) {
			b.WriteString(words[r.IntN(len(words))])
			if r.IntN(8) > 0 {
				b.WriteByte(' ')
			}
		}
		limit := 1 + r.IntN(50)
		for _, count := range counts {
			got := Split(b.String(), limit, count)
			check(t, b.String(), limit, count, got)
			whole(t, b.String(), got)
		}
	}
}

// TestShortChunksAreRare holds chunks of natural sentences to the promise about stranded words.
func TestShortChunksAreRare(t *testing.T) {
	sentences := []string{
		"Aapka order कल तक deliver ho jayega, aur aapko ek message mil jayega.", "Haan.", "Theek hai!",
		"कृपया ओ टी पी चार शून्य सात एक डिलीवरी पार्टनर को बताएं।", "Total चार सौ निन्यानबे रुपये hai; cash ya card, dono chalega.", "Dhanyavaad।",
	}
	r := rand.New(rand.NewPCG(3, 4))
	chunks, short := 0, 0
	for range 2000 {
		var text []string
		for range 2 + r.IntN(8) {
			text = append(text, sentences[r.IntN(len(sentences))])
		}
		for _, c := range Split(strings.Join(text, " "), 20, byRune) {
			chunks++
			if byWord(c.Text) < minWords {
				short++
			}
		}
	}
	if chunks < 5000 || short*50 > chunks {
		t.Errorf("%d of %d chunks have less than %d words, want at most 2 %%", short, chunks, minWords)
	}
	t.Logf("%d of %d chunks are short", short, chunks)
}

func TestNeighboursDoNotFitTogether(t *testing.T) {
	for name, text := range hostile {
		got := Split(text, 50, byRune)
		for i := 1; i < len(got); i++ {
			if n := byRune(string([]rune(text)[got[i-1].CharStart:got[i].CharEnd])); n <= 50 {
				t.Errorf("%s: chunks %d and %d would be %d tokens together", name, i-1, i, n)
			}
		}
	}
}

// TestTheLongestOrdinaryTextIsNotRefused: a text of ordinary words must not be refused for its number of chunks.
func TestTheLongestOrdinaryTextIsNotRefused(t *testing.T) {
	for _, name := range []string{"digits in words", "digits without a comma", "one long sentence", "many short ones",
		"long and short"} {
		if got := len(Split(hostile[name], speech.MaxChunkTokens, byRune)); got > speech.MaxChunks {
			t.Errorf("%s: %d chunks, of which %d are allowed", name, got, speech.MaxChunks)
		}
	}
}

func TestAGraphemeThatExceedsTheLimitStandsAlone(t *testing.T) {
	byByte := func(s string) int { return len(s) }
	got := texts(Split("ab e\u0301\u0301 👩‍👩‍👧‍👦c", 2, byByte))
	if want := []string{"ab", "e\u0301\u0301", "👩‍👩‍👧‍👦", "c"}; !slices.Equal(got, want) {
		t.Errorf("Split = %q, want %q", got, want)
	}
}

// TestPackingIsGreedy compares with the plain way to do it, on sentences that need no cutting and no mending.
func TestPackingIsGreedy(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		var text, last string
		var want []string
		for range 1 + r.IntN(30) {
			sentence := "aap kal" + strings.Repeat(" aana", 1+r.IntN(12)) + "."
			text += " " + sentence
			if joined := last + " " + sentence; last != "" && counts["prepared"](joined) <= 20 {
				last = joined
				continue
			}
			if last != "" {
				want = append(want, last)
			}
			last = sentence
		}
		want = append(want, last)
		if got := texts(Split(text, 20, counts["prepared"])); !slices.Equal(got, want) {
			t.Fatalf("Split(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestWordsAreWrittenAsTheNormaliserWritesThem: in NFC, where a nukta letter is two code points.
func TestWordsAreWrittenAsTheNormaliserWritesThem(t *testing.T) {
	for _, words := range []map[string]bool{conjunctions, spellings, units} {
		if len(words) < 10 {
			t.Errorf("only %d words", len(words))
		}
		for word := range words {
			if strings.ContainsFunc(word, func(r rune) bool { return r >= 0x958 && r <= 0x95f }) ||
				word != strings.ToLower(word) {
				t.Errorf("%q is not written as it is looked up", word)
			}
		}
	}
}

// TestUnitsOfTheNormaliserAreKnown: what it writes behind a number is no place for a cut.
func TestUnitsOfTheNormaliserAreKnown(t *testing.T) {
	for _, symbols := range []string{
		"kg g mg mcg km m cm mm ft km/h l ml KB MB GB TB Mbps kW kWh mAh Hz kHz MHz GHz MP HP cc kcal dB hr min yr wk sec ms sqft °C %",
	} {
		for symbol := range strings.FieldsSeq(symbols) {
			for _, sentence := range []string{"isme 5 %s hai", "this has 5 %s in it"} {
				spoken := normalize.Text(strings.Replace(sentence, "%s", symbol, 1), normalize.Options{})
				words := strings.Fields(spoken)
				at := slices.IndexFunc(words, spelled)
				if at < 0 || at+1 >= len(words) || !measured(words[at+1]) && !spelled(words[at+1]) {
					t.Errorf("%s: of %q the word after the number is not known", symbol, spoken)
				}
			}
		}
	}
	for sign := range strings.FieldsSeq("₹ $ € £ ¥ AED SGD SAR THB CHF") {
		for _, sentence := range []string{"isme %s5.50 lagenge", "this is %s5.50 only"} {
			spoken := normalize.Text(strings.Replace(sentence, "%s", sign, 1), normalize.Options{})
			inNumber := 0
			for word := range strings.FieldsSeq(spoken) {
				if spelled(word) || measured(word) {
					inNumber++
				}
			}
			if inNumber < 4 {
				t.Errorf("%s: of %q only %d words are known as those of an amount", sign, spoken, inNumber)
			}
		}
	}
}

// TestSplittingAChunkAgainChangesNothing: a chunk is a whole.
func TestSplittingAChunkAgainChangesNothing(t *testing.T) {
	for name, text := range hostile {
		for _, c := range Split(text, 50, byRune) {
			if again := Split(c.Text, 50, byRune); len(again) != 1 || again[0].Text != c.Text {
				t.Errorf("%s: %q was split again", name, c.Text)
			}
		}
	}
}

// seeds of FuzzSplit, beside the hostile texts.
var seeds = []string{
	"नमस्ते। Aapka order aayega, aur 3.14 U. S. ok", "a\u0301\u0301 ।।।", "O T P. bas", "(“ek,” do;teen—chaar)", "\r\n।\u200d \u0301x", "\xff\xfe. \xe0\xa4",
}

func FuzzSplit(f *testing.F) {
	for _, text := range seeds {
		f.Add(text, 3)
	}
	for _, text := range hostile {
		f.Add(text[:60], 5)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 0 || limit > 1000 || len(text) > 5000 {
			return
		}
		for _, count := range counts {
			got := Split(text, limit, count)
			if !utf8.ValidString(text) {
				continue // nothing is promised but an end
			}
			check(t, text, limit, count, got)
			whole(t, text, got)
		}
	})
}

func TestSeedsAreThere(t *testing.T) {
	if len(seeds) == 0 || len(hostile) == 0 {
		t.Error("the fuzz target has no seeds")
	}
}

func BenchmarkSplit(b *testing.B) {
	message := "नमस्ते! Aapka order कल तक deliver ho jayega. Total चार सौ निन्यानबे रुपये hai, aur OTP kisi ko mat batana. "
	texts := map[string]string{"message": message, "4000 natural": strings.Repeat(message, 38)}
	for name, text := range hostile {
		texts["4000 "+name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		b.Run(name, func(b *testing.B) {
			calls, counted := 0, 0
			count := func(s string) int {
				calls++
				counted += len(s)
				return byRune(s)
			}
			chunks := len(Split(text, 50, count))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Split(text, 50, byRune)
			}
			b.ReportMetric(float64(chunks), "chunks")
			b.ReportMetric(float64(calls), "calls")
			b.ReportMetric(float64(counted)/float64(len(text)), "texts-counted")
		})
	}
}
