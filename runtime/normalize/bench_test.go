package normalize

import (
	"fmt"
	"strings"
	"testing"
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
