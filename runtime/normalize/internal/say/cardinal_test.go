package say

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// cardinal returns what is said for n in l.
func cardinal(n uint64, l words.Lang) string {
	var d Draft
	d.Cardinal(n, l)
	return written(&d)
}

// written is what a writer writes of d.
func written(d *Draft) string {
	var w Writer
	w.Write(d.Phrase())
	return string(w.Out)
}

// slowCardinal says a decimal number by cutting its digits into Indian groups: an implementation as far from the fast
// one as possible. Its words come from the tables below, which are written group by group.
func slowCardinal(digits string, names []string, scales [5]string) string {
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return names[0]
	}
	var said []string
	// From the right: two digits, one of hundreds, two of thousands, two of lakhs, and the rest in crores.
	for _, size := range []int{2, 1, 2, 2} {
		cut := max(0, len(digits)-size)
		group := digits[cut:]
		digits = digits[:cut]
		if n, _ := strconv.Atoi("0" + group); n > 0 {
			name := names[n]
			if scale := scales[len(said)]; scale != "" {
				name += " " + scale
			}
			said = append(said, name)
		} else {
			said = append(said, "")
		}
	}
	if digits != "" {
		said = append(said, slowCardinal(digits, names, scales)+" "+scales[4])
	}
	var all []string
	for i := range said {
		if w := said[len(said)-1-i]; w != "" {
			all = append(all, w)
		}
	}
	return strings.Join(all, " ")
}

// hindi99 repeats the words for 0 to 99 for the slow implementation, so that a slip in the fast one's table shows.
var hindi99 = strings.Fields(`
	शून्य एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस
	बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस
	चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरेपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ
	साठ इकसठ बासठ तिरेसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उनासी
	अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानबे बानबे तिरानबे चौरानबे पंचानबे छियानबे सत्तानबे अट्ठानबे निन्यानबे`)

// english99 builds the English words for 0 to 99 from their parts.
func english99() []string {
	ones := strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens := strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
	words := make([]string, 100)
	for n := range words {
		switch {
		case n < 20:
			words[n] = ones[n]
		case n%10 == 0:
			words[n] = tens[n/10]
		default:
			words[n] = tens[n/10] + " " + ones[n%10]
		}
	}
	return words
}

var (
	slowHindi   = [5]string{"", "सौ", "हज़ार", "लाख", "करोड़"}
	slowEnglish = [5]string{"", "hundred", "thousand", "lakh", "crore"}
)

// TestCardinalsAgainstSlowOnes compares every number up to a crore, and with the race detector a dense sample of them.
// What is said for 12,34,567 must be what is said slowly for 12,00,000 and for 34,567: the slow words are made once and
// used often.
func TestCardinalsAgainstSlowOnes(t *testing.T) {
	if len(hindi99) != 100 {
		t.Fatalf("%d Hindi words below 100", len(hindi99))
	}
	const last, block = 10_000_000, 100_000
	step := uint64(1)
	if raceDetector || testing.Short() {
		step = 97 // prime, so that all endings come up
	}
	var wg sync.WaitGroup
	for _, language := range []struct {
		lang   words.Lang
		names  []string
		scales [5]string
	}{{words.Hindi, hindi99, slowHindi}, {words.English, english99(), slowEnglish}} {
		wg.Go(func() {
			slow := func(n uint64) string {
				return slowCardinal(strconv.FormatUint(n, 10), language.names,
					language.scales)
			}
			low := make([]string, block)
			for n := range uint64(block) {
				low[n] = slow(n)
			}
			var d Draft
			var w Writer
			high, counted := "", 0
			for n := uint64(0); n <= last; n += step {
				if n%block < step && n >= block {
					high = slow(n - n%block)
				}
				w.Out, w.join = w.Out[:0], asWritten
				d.Reset()
				d.Cardinal(n, language.lang)
				w.Write(d.Phrase())
				counted++
				rest := low[n%block]
				switch got := w.Out; {
				case n < block && string(got) == rest:
				case n >= block && n%block == 0 && string(got) == high:
				case n > block && areWords(got, high, rest):
				default:
					t.Errorf("%d: got %q, want %q", n, got, slow(n))
					return
				}
			}
			if counted < last/97 {
				t.Errorf("only %d numbers were compared", counted)
			}
		})
	}
	wg.Wait()
}

// areWords reports whether got is a, a space and b. It allocates nothing, for it is asked millions of times.
func areWords(got []byte, a, b string) bool {
	n := len(a)
	if len(got) != n+1+len(b) || got[n] != ' ' {
		return false
	}
	return string(got[:n]) == a && string(got[n+1:]) == b
}

func TestLargeCardinals(t *testing.T) {
	for _, test := range []struct {
		n       uint64
		hindi   string
		english string
	}{
		{99_99_999, "निन्यानबे लाख निन्यानबे हज़ार नौ सौ निन्यानबे", "ninety nine lakh ninety nine thousand nine hundred ninety nine"},
		{1_00_00_000, "एक करोड़", "one crore"},
		{99_99_99_999, "निन्यानबे करोड़ निन्यानबे लाख निन्यानबे हज़ार नौ सौ निन्यानबे", "ninety nine crore ninety nine lakh ninety nine thousand nine hundred ninety nine"},
		{1_00_00_00_000, "एक अरब", "one hundred crore"},
		{1_00_00_00_00_000, "एक खरब", "ten thousand crore"},
		{12_34_00_00_00_001, "बारह खरब चौंतीस अरब एक", "one lakh twenty three thousand four hundred crore one"},
		{99_99_99_99_99_999, "निन्यानबे खरब निन्यानबे अरब निन्यानबे करोड़ निन्यानबे लाख निन्यानबे हज़ार नौ सौ निन्यानबे", "nine lakh ninety nine thousand nine hundred ninety nine crore ninety nine lakh ninety nine thousand nine hundred ninety nine"},
		{1_00_00_00_00_00_000, "एक नील", "ten lakh crore"},
		{1_00_00_00_00_00_00_000, "एक पद्म", "ten crore crore"},
		{1_00_00_00_00_00_00_00_000, "एक शंख", "one thousand crore crore"},
	} {
		if got := cardinal(test.n, words.Hindi); got != test.hindi {
			t.Errorf("%d in Hindi: got %q, want %q", test.n, got, test.hindi)
		}
		if got := cardinal(test.n, words.English); got != test.english {
			t.Errorf("%d in English: got %q, want %q", test.n, got, test.english)
		}
	}
}

func TestOrdinals(t *testing.T) {
	for n, want := range map[uint64]string{
		1: "first", 2: "second", 3: "third", 12: "twelfth", 20: "twentieth", 21: "twenty first", 40: "fortieth",
		99: "ninety ninth", 100: "one hundredth", 101: "one hundred first",
		1000: "one thousandth", 1_00_000: "one lakhth", 1_00_019: "one lakh nineteenth",
	} {
		var d Draft
		d.Ordinal(n)
		if got := written(&d); got != want {
			t.Errorf("ordinal %d: got %q, want %q", n, got, want)
		}
	}
}
