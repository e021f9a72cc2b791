package normalize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// message is a text of 150 code points as a bank sends it.
const message = "प्रिय ग्राहक, आपके A/c XX4321 से ₹2,500.50 की निकासी 15/08/2026 को 5:30 PM पर हुई। OTP 604218 किसी को न बताएँ। Not you? Call 1800-123-4567 abhi, HDFC."

// long repeats messages up to n code points.
func long(n int) string {
	var b strings.Builder
	for utf8.RuneCountInString(b.String()) < n {
		b.WriteString(message)
		b.WriteString(" Your order #58213 is on the way, 2-3 din mein milega. ")
	}
	return string([]rune(b.String())[:n])
}

// hostile are texts made to be slow: each repeats one thing that begins a rule without ever letting it end.
func hostile(n int) map[string]string {
	texts := map[string]string{}
	for name, unit := range map[string]string{
		"digits": "7", "asterisks": "*", "commas": ",", "brackets": "[", "links": "](", "angles": "<a ", "dots": ".", "hyphens": "-", "at signs": "@", "at words": "a@", "pairs": "11,",
		"parts": "1234 ", "dates": "1/", "crosses": "X", "masks": "X*", "hashes": "#", "letters": "a", "dotted": "a.", "labels": "a.b-", "strokes": "1/2/", "ranges": "1-",
		"decimals": "1.", "clocks": "1:", "emoji": "🙏", "nuktas": "\u0958", "marks": "क़़", "new lines": "\n", "bars": "|", "codes": "A1", "hyphen codes": "A-1-", "capitals": "A.",
		"quotes": "\"", "open brackets": "(", "areas": "(022) ", "plus": "+91 ", "percent": "%", "currencies": "₹", "scales": "1 lakh ", "links in words": "x](y)", "spaces": " \u200b",
		"stars and digits": "*1", "service": "*1*", "words of context": "OTP is ", "ampersands": "&amp;", "question marks": "?a=", "slashes": "//", "times": "1x",
	} {
		texts[name] = string([]rune(strings.Repeat(unit, n))[:n])
	}
	return texts
}

func BenchmarkMessage(b *testing.B) {
	if n := utf8.RuneCountInString(message); n != 150 {
		b.Fatalf("the message has %d code points", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		Text(message, Options{})
	}
}

func BenchmarkSpans(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Spans(message, Options{})
	}
}

// dense are the SMS of 60 to 160 characters in the lists of reading: numbers, masks, dates and short forms in a row.
func dense(tb testing.TB) (texts []string, characters int) {
	tb.Helper()
	files, err := filepath.Glob("../../testdata/hinglish-reading/sms*.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var m struct{ Text string }
			if err := json.Unmarshal(line, &m); err != nil {
				tb.Fatalf("%s: %v", name, err)
			}
			if n := utf8.RuneCountInString(m.Text); n >= 60 && n <= 160 {
				texts, characters = append(texts, m.Text), characters+n
			}
		}
	}
	if len(texts) < 100 {
		tb.Fatalf("only %d dense SMS", len(texts))
	}
	return texts, characters
}

// BenchmarkDense reports what 150 characters of dense SMS take: the sum of the least time of each, which other work on
// the machine changes little.
func BenchmarkDense(b *testing.B) {
	texts, characters := dense(b)
	least := make([]time.Duration, len(texts))
	b.ReportAllocs()
	for b.Loop() {
		for i, text := range texts {
			began := time.Now()
			Text(text, Options{})
			if took := time.Since(began); took < least[i] || least[i] == 0 {
				least[i] = took
			}
		}
	}
	sum := time.Duration(0)
	for _, took := range least {
		sum += took
	}
	b.ReportMetric(float64(sum.Nanoseconds())*150/float64(characters), "ns/150")
}

func BenchmarkPlain(b *testing.B) {
	text := "नमस्ते, आपका स्वागत है। कृपया थोड़ा इंतज़ार करें, हम आपकी कॉल को जोड़ रहे हैं।"
	b.ReportAllocs()
	for b.Loop() {
		Text(text, Options{})
	}
}

func BenchmarkLength(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		text := long(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Text(text, Options{})
			}
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		for name, text := range hostile(n) {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, " ", "_"), n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Text(text, Options{})
				}
			})
		}
	}
}
