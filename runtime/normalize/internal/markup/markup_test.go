package markup

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// show writes what spans make of text: silent marks vanish, ␣ is one that parts words, ‖ a pause, ¦ a border of cells,
// «…» a program, ⟨…⟩ a formula, and a word stands in braces.
func show(text string, spans []Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start])
		at = int(s.End)
		inside := text[s.Start:s.End]
		switch s.Kind {
		case Silent:
		case Apart:
			b.WriteString("␣")
		case Pause:
			b.WriteString("‖")
		case Cell:
			b.WriteString("¦")
		case Char:
			b.WriteRune(s.Rune)
		case Say:
			fmt.Fprintf(&b, "{%d}", s.Word)
		case Code, Listing:
			b.WriteString("«" + inside + "»")
		case Maths:
			b.WriteString("⟨" + inside + "⟩")
		}
	}
	return b.String() + text[at:]
}

// w is how [show] writes a word.
func w(word Word) string { return fmt.Sprintf("{%d}", word) }

var cases = []struct{ name, text, want string }{
	{"a backslash before a letter of several bytes", `$\क+1 = 2$`, "␣␣⟨क⟩{2}⟨1⟩ {18} ⟨2⟩␣"},
	{"plain text", "Kal 5-6 baje (shaam) aana.", "Kal 5-6 baje (shaam) aana."},
	{"bold number", "Kul **4500** hua", "Kul 4500 hua"},
	{"three kinds of emphasis", "***a*** _b_ ~~c~~ __d__", "a b c d"},
	{"bold inside italics", "*a **b** c*", "a b c"},
	{"a product is no emphasis", "5*6*7 and 2 * 3", "5*6*7 and 2 * 3"},
	{"a mask stays", "98****10 and ****4321", "98****10 and ****4321"},
	{"keys stay", "dial *121# or *123#", "dial *121# or *123#"},
	{"names with underscores stay", "get_user_id", "get_user_id"},
	{"half of a pair stays", "**a", "**a"},
	{"emphasis ends with its line", "**a\nb**", "**a\nb**"},
	{"highlight and comparison", "a ==b== c == d", "a b c == d"},
	{"heading of a wiki", "== Itihas ==\nx", " Itihas \nx"},
	{"closed heading", "## Title ##", "## Title "},
	{"underlined heading", "Title\n=====\nText", "Title\n\nText"},
	{"rule", "a\n* * *\nb", "a\n\nb"},
	{"quotation", "> > [^1]: a\n> 90% b", "> >  a\n> 90% b"},
	{"task", "- [x] a\n- [ ] b", "- " + w(Done) + " a\n-  b"},
	{"link", "see [a b](https://x.in/y_(z) \"t\") now", "see a b now"},
	{"picture", "![logo](l.png)!", "logo!"},
	{"link by reference", "[guide][g].\n[g]: https://x.in", "guide.\n"},
	{"sources", "है[1] और [2], [3]।", "है और , ।"},
	{"source behind a sentence", "It is old. [1]", "It is old. "},
	{"sources under a paragraph", "It is old.\n[1], [2]\nNew", "It is old.\n, \nNew"},
	{"a key is no source", "Hindi ke liye [1] dabayein.", "Hindi ke liye [1] dabayein."},
	{"a place in a list is no source", "x[1] and arr[0] = 5", "x[1] and arr[0] = 5"},
	{"source of a chat model", "rakha【4†source】 hai", "rakha hai"},
	{"footnote", "a[^n] b\n[^n]: text", "a b\n text"},
	{"tags", "a<br>b <b>c</b> <A/c> <naam>", "a␣b ␣c␣ <A/c> <naam>"},
	{"tag with attributes", "<x-y a=\"1\">b", "␣b"},
	{"comment", "a<!-- b\n c -->d", "a␣d"},
	{"address in angles", "<https://x.in> <a@x.in> <x>", "␣https://x.in␣ ␣a@x.in␣ <x>"},
	{"references", "R&amp;D &#8377;5 &#x20b9;6 &zzz;", "R&D ₹5 ₹6 &zzz;"},
	{"escapes", `5 \* 3 \$20 C:\dir`, `5 * 3 $20 C:\dir`},
	{"inline code", "`a_b` and ``c`d``", "«a_b» and «c`d»"},
	{"types in code", "`List<int>`", "«List»␣«int»␣"},
	{"comparison in code", "`n > 0`", "«n > 0»"},
	{"fence", "a\n```sh\n$ ls\n# c\n```\nb", "a\n\n␣«ls»\n«# c»\n\nb"},
	{"fence of tildes", "~~~\n```\n~~~", "\n«```»\n"},
	{"fence without an end", "```js\nlet a;", "\nlet a;"},
	{"table", "| a | b |\n|---|:-:|\n| 1 | 2 |\n\nc | d", " a ¦ b \n\n 1 ¦ 2 \n\nc | d"},
	{"row without its head", "| a | b |\nx | y", " a ¦ b \nx ¦ y"},
	{"arrows", "a => b --> c <- d", "a → b → c → d"},
	{"signs of sets", "x ∈ A, y", "x " + w(In) + " ⟨A⟩, y"},
	{"a set", "x ∈ {1, 2}.", "x " + w(In) + " (⟨1⟩⟨,⟩ ⟨2⟩)."},
	{"prices", "$20 and $30, $5-$10, $5M to $6M", "$20 and $30, $5-$10, $5M to $6M"},
	{"dollars around words", "$HOME and $PATH", "$HOME and $PATH"},
	{"a letter", "so $n$ is", "so ␣⟨n⟩␣ is"},
	{"a power", "$x^2$", "␣⟨x⟩" + w(Squared) + "␣"},
	{"a power of several terms", `$x^{n+1}$`, "␣⟨x⟩" + w(Power) + "(⟨n⟩" + w(Plus) + "⟨1⟩)␣"},
	{"a half", `\(\frac{1}{2}\)`, "␣½␣"},
	{"a fraction", `\[\frac{a+b}{2}\]`, "␣(⟨a⟩" + w(Plus) + "⟨b⟩)" + w(Over) + "⟨2⟩␣␣"},
	{"not equal, not in", `$x \neq 0, y \notin A$`, "␣⟨x⟩ " + w(Unequal) + " ⟨0⟩⟨,⟩ ⟨y⟩ " + w(NotIn) + " ⟨A⟩␣"},
	{"a sum", `$$\sum_{i=1}^{n} i$$`, "␣" + w(Sum) + w(From) + "⟨i⟩" + w(Equals) + "⟨1⟩␣" + w(UpTo) + "⟨n⟩␣" + w(Of) + " ⟨i⟩␣"},
	{"cube root", `$\sqrt[3]{8}$`, "␣" + w(CubeRoot) + "⟨8⟩␣␣"},
	{"units", `$9.8\text{ m/s}^2$`, "␣⟨9.8⟩␣ m/s²␣"},
	{"call", "so 2T(n/2) and f(x), Option(s)", "so ⟨2⟩⟨T⟩⟨(⟩⟨n⟩" + w(Over) + "⟨2⟩⟨)⟩ and ⟨f⟩⟨(⟩⟨x⟩⟨)⟩, Option(s)"},
}

func TestScan(t *testing.T) {
	for _, c := range cases {
		spans, _ := Scan(c.text)
		if got := show(c.text, spans); got != c.want {
			t.Errorf("%s: %q\n got %s\nwant %s", c.name, c.text, got, c.want)
		}
	}
}

func TestScanSaysWhatIsOpen(t *testing.T) {
	for text, want := range map[string]int{
		"a\n```js\nb": 2, "a\n```js\nb\n```": -1, "a $$x": 2, "a $$x$$": -1, `a \[x`: 2, "a": -1, "```": -1, "a\n~~~ text\nb\n": 2,
	} {
		if _, open := Scan(text); open != want {
			t.Errorf("%q: open at %d, want %d", text, open, want)
		}
	}
}

func TestPlainTextCostsNothing(t *testing.T) {
	const text = "प्रिय ग्राहक, आपके A/c XX4321 से ₹2,500.50 की निकासी (15/08/2026) को – 5:30 PM पर हुई। OTP 604218 किसी को न बताएँ…"
	if n := testing.AllocsPerRun(100, func() { Scan(text) }); n != 0 {
		t.Errorf("%v allocations for a text without markup", n)
	}
	const marked = "**Kul:** `4500` [a](b) $x^2$ <b>c</b>"
	if n := testing.AllocsPerRun(100, func() { Scan(marked) }); n > 1 {
		t.Errorf("%v allocations for a text with markup, want 1", n)
	}
}

// check fails unless the spans of text are in order, apart and whole.
func check(t *testing.T, text string) {
	t.Helper()
	spans, open := Scan(text)
	end := int32(0)
	for _, s := range spans {
		if s.Start < end || s.End < s.Start || int(s.End) > len(text) {
			t.Fatalf("%q: span %+v behind %d", text, s, end)
		}
		if s.Kind == 0 || s.Kind >= delimiter || s.Kind == Char && (s.Rune <= 0 || !utf8.ValidRune(s.Rune)) ||
			s.Kind == Say && (s.Word == NoWord || s.Word >= Words) {
			t.Fatalf("%q: span %+v says nothing", text, s)
		}
		if s.Kind != Say && s.Kind != Char && s.Start == s.End && s.Kind != Apart && s.Kind != Maths {
			t.Fatalf("%q: span %+v is empty", text, s)
		}
		if !utf8.ValidString(text[s.Start:s.End]) {
			t.Fatalf("%q: span %+v cuts a character", text, s)
		}
		end = s.End
	}
	if open < -1 || open >= max(len(text), 1) {
		t.Fatalf("%q: open at %d", text, open)
	}
}

func FuzzScan(f *testing.F) {
	for _, c := range cases {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			check(t, text)
		}
	})
}

// links are what chains are made of: what may begin something that never ends.
var links = []string{
	"*", "**a", "_", "~~", "`", "`a", "``a`", "[", "](", "[a](", "[1]", "![", "[a][", "<", "<a ", "</", "<!--", "<http://", "\\", `\(`, `\[`, `\frac{`, "$", "$$", "$x", "$a$",
	"&", "&#", "&amp", "|", "|\n", "|-\n", "a|b\n", "#", "# ", " #", "```", "```\n", "```a\n", "~~~\n", "==", "== ", "==a", "\n==a", "-", "->", "=>", "> ", ">>", "[^", "[a]: ", "\n[a]:",
	"- [x] ", "∈", "∈ A", "∈ {", "【", "f(", "f(x", "2f(x)", "$\\sqrt{", "$^{", "$x_{", `$$\begin{`, "\n", " ", "$|", "$$|a",
}

func TestChainsAreWhole(t *testing.T) {
	for _, a := range links {
		for _, b := range links {
			check(t, strings.Repeat(a+b, 40))
			check(t, strings.Repeat(a, 40)+strings.Repeat(b, 40))
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for name, text := range map[string]string{
		"plain":  strings.Repeat("Aapka order kal tak aa jayega, dhanyavaad. ", 4)[:150],
		"marked": strings.Repeat("**Kul:** 4500 `main.rs` [a](b) $x^2$. ", 4)[:150],
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Scan(text)
			}
		})
	}
}
