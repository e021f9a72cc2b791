package tokenize

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// The tests in this file hold Encode against SentencePiece's own programs (Debian: apt-get install sentencepiece).

const (
	oracleLines = 6000 // for each trained model
	craftLines  = 300  // for each crafted model
	craftModels = 40   // of each type

	rule = "--normalization_rule_name="
)

func TestTrainedModelsAgreeWithSentencePiece(t *testing.T) {
	train, encode := program(t, "spm_train"), program(t, "spm_encode")
	rng := rand.New(rand.NewPCG(1, 2))
	corpus := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(corpus, joined(trainingLines(rng, 6000)), 0o600); err != nil {
		t.Fatal(err)
	}
	models := map[string][]string{
		"unigram, bytes, identity":         {"--model_type=unigram", "--byte_fallback=true", rule + "identity"},
		"unigram, no bytes, nmt_nfkc":      {"--model_type=unigram"},
		"unigram, bytes, nmt_nfkc_cf":      {"--model_type=unigram", "--byte_fallback=true", rule + "nmt_nfkc_cf"},
		"unigram, no bytes, identity, raw": {"--model_type=unigram", rule + "identity", "--remove_extra_whitespaces=false", "--add_dummy_prefix=false"},
		"unigram, own pieces":              {"--model_type=unigram", "--user_defined_symbols=hai,<laugh>,नमस्ते,aa,दो", "--control_symbols=<end>"},
		"bpe, no bytes, nmt_nfkc":          {"--model_type=bpe"},
		"bpe, bytes, identity":             {"--model_type=bpe", "--byte_fallback=true", rule + "identity"},
		"bpe, own pieces":                  {"--model_type=bpe", "--user_defined_symbols=hai,<laugh>,नमस्ते,aa,दो", "--byte_fallback=true"},
		"bpe across words":                 {"--model_type=bpe", "--split_by_whitespace=false", "--remove_extra_whitespaces=false"},
	}
	lines := oddLines(rng, oracleLines)
	for name, flags := range models {
		t.Run(name, func(t *testing.T) {
			prefix := filepath.Join(t.TempDir(), "m")
			flags = append(flags, "--input="+corpus, "--model_prefix="+prefix, "--vocab_size=1500",
				"--character_coverage=0.9995",
				"--hard_vocab_limit=false", "--num_threads=2", "--minloglevel=2")
			if out, err := exec.CommandContext(t.Context(), train, flags...).CombinedOutput(); err != nil {
				t.Fatalf("spm_train: %v\n%s", err, out)
			}
			agree(t, encode, prefix+".model", lines)
		})
	}
}

// Models of few letters and few different scores are full of ties, and of pieces that training seldom or never makes.
func TestCraftedModelsAgreeWithSentencePiece(t *testing.T) {
	encode := program(t, "spm_encode")
	rng := rand.New(rand.NewPCG(3, 4))
	letters := []string{"a", "b", "क", "ि", "▁", "c"}
	word := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(letters[rng.IntN(len(letters))])
		}
		return b.String()
	}
	for _, algorithm := range []string{"unigram", "bpe"} {
		for n := range craftModels {
			t.Run(fmt.Sprintf("%s %d", algorithm, n), func(t *testing.T) {
				pieces := []piece{{"<s>", 0, controlPiece}}
				if n%3 == 0 {
					pieces = append(pieces, allBytes()...)
				}
				scores := []float32{-1, -2, -2.5, -3, -1.1, -0.3, -12.7, -1e-3, -7777.7}
				if n%4 == 0 {
					scores = append(scores, 0, 3.3, 1e6)
				}
				seen := map[string]bool{}
				for range 60 {
					p := piece{word(1 + rng.IntN(5)), scores[rng.IntN(len(scores))], normalPiece}
					switch rng.IntN(12) {
					case 0:
						p.typ = unusedPiece
					case 1:
						if n%2 == 0 {
							p.typ = userPiece
						}
					case 2:
						if n%5 == 0 && utf8.RuneCountInString(p.text) > 1 { // of one letter, spm_encode fails with BPE
							p.typ = controlPiece
						}
					}
					if !seen[p.text] {
						pieces = append(pieces, p)
						seen[p.text] = true
					}
				}
				if n%7 == 0 {
					pieces = slices.DeleteFunc(pieces, func(p piece) bool { return p.text == "a" })
				}
				file := filepath.Join(t.TempDir(), "m.model")
				if err := os.WriteFile(file, crafted(algorithm, nil, pieces...), 0o600); err != nil {
					t.Fatal(err)
				}
				var lines []string
				for range craftLines {
					lines = append(lines, strings.ReplaceAll(word(rng.IntN(40)), "▁", " ")+strings.Repeat("z",
						rng.IntN(2))+word(rng.IntN(9)))
				}
				agree(t, encode, file, lines)
			})
		}
	}
}

func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("NOT COMPARED with SentencePiece: %s is missing (Debian: apt-get install sentencepiece)", name)
	}
	return path
}

func agree(t *testing.T, spmEncode, file string, lines []string) {
	t.Helper()
	model, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sp := load(t, model)
	cmd := exec.CommandContext(t.Context(), spmEncode, "--model="+file, "--output_format=id")
	cmd.Stdin = bytes.NewReader(joined(lines))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("spm_encode: %v\n%s", err, &stderr)
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d answers for %d lines", len(answers), len(lines))
	}
	wrong := 0
	for i, line := range lines {
		want := make([]int32, 0, len(line))
		for f := range strings.FieldsSeq(answers[i]) {
			id, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, int32(id))
		}
		if got := sp.Encode(nil, line); !slices.Equal(got, want) {
			if wrong++; wrong <= 5 {
				t.Errorf("Encode(%q) = %v, want %v", line, got, want)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d lines differ", wrong, len(lines))
	}
	t.Logf("%d lines compared, %d pieces", len(lines), sp.Size())
}

func joined(lines []string) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

var (
	hindi = strings.Fields(`नमस्ते आप कैसे हैं मैं ठीक हूँ और बहुत अच्छा दिन है आज कल सुबह शाम पानी खाना घर दुकान बाज़ार सड़क गाड़ी समय पैसा रुपये ऑर्डर
		डिलीवरी पार्टनर कृपया धन्यवाद शून्य एक दो तीन चार पाँच छह सात आठ नौ दस किताब विद्यालय क्षत्रिय ज्ञान श्रीमान प्रश्न उत्तर ज़्यादा फ़िल्म लड़का पढ़ाई`)
	english = strings.Fields(`hello order delivery partner please thanks your account number is blocked call back later today tomorrow payment received
		through bank transfer customer support team will contact you within hours the quick and easy way don't worry we're here OTP PIN UPI EMI`)
	roman = strings.Fields(`namaste aap kaise hain main theek hoon aur bahut accha din hai aaj kal subah shaam paani khaana ghar dukaan baazaar
		sadak gaadi samay paisa rupaye kripya dhanyavaad shukriya haan nahin kyon kyunki lekin magar zyada thoda jaldi aaiye batao`)
	odd = []string{" ", "  ", "\t", "\u00a0", "\u3000", "\u200b", "\u200d", "\u200c", "▁", "▁▁", "।", "॥", "₹", "<unk>",
		"<s>", "</s>", "<0x41>", "<laugh>",
		"<end>", "ﷺ", "①", "Ⅷ", "ｱﾞ", "ﬁ", "Ａ", "क़", "क\u093c", "é", "e\u0301", "\u0300\u0301\u0302", "가각", "\u1100\u1161", "🎉", "👩‍👩‍👧", "�", "\x01", "\x7f", "\r",
		"\xff", "\xe0\xa4", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf", "...", "?!", "''", "--", "1,23,456.78", "+91-98765", "१२३४", "㍿", "™", "½"}
)

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }

// invented is a word that no dictionary has, so that there is more to learn than the lists above.
func invented(rng *rand.Rand) string {
	syllables := [][2][]string{
		{strings.Split("क ख ग घ च ज झ ट ठ ड त थ द ध न प फ ब भ म य र ल व श स ह प्र क्ष त्र", " "), strings.Split(" ा ि ी ु ू े ै ो ौ ं", " ")},
		{strings.Split("k kh g ch j t th d n p ph b m y r l v sh s h pr str", " "), strings.Split("a aa i ee u oo e ai o au an", " ")},
	}[rng.IntN(2)]
	var b strings.Builder
	for range 1 + rng.IntN(4) {
		b.WriteString(pick(rng, syllables[0]))
		b.WriteString(pick(rng, syllables[1]))
	}
	return b.String()
}

func trainingLines(rng *rand.Rand, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		var words []string
		for range 3 + rng.IntN(12) {
			switch rng.IntN(5) {
			case 0:
				words = append(words, pick(rng, hindi))
			case 1:
				words = append(words, pick(rng, english))
			case 2:
				words = append(words, pick(rng, roman))
			case 3:
				words = append(words, strconv.Itoa(rng.IntN(100000)))
			default:
				words = append(words, invented(rng))
			}
		}
		lines[i] = strings.Join(words, " ") + pick(rng, []string{".", "?", "!", "।", ""})
	}
	return lines
}

// oddLines are ordinary lines, mixtures of odd strings, and random Unicode, a third each.
func oddLines(rng *rand.Rand, n int) []string {
	lines := trainingLines(rng, n)
	for i := range lines {
		var b strings.Builder
		switch i % 3 {
		case 0:
			continue
		case 1:
			for range rng.IntN(14) {
				b.WriteString(pick(rng, [][]string{odd, odd, hindi, english, roman}[rng.IntN(5)]))
				if rng.IntN(3) == 0 {
					b.WriteByte(' ')
				}
			}
		case 2:
			blocks := [][2]rune{{0x20, 0x7f}, {0x80, 0x250}, {0x300, 0x36f}, {0x900, 0x980}, {0x900, 0x980},
				{0x1100, 0x1200}, {0x2000, 0x2200},
				{0x3000, 0x3400}, {0xac00, 0xd7a4}, {0xf900, 0x10000}, {0x1d400, 0x1d800}, {0x1f300, 0x1f700}, {1, 0x110000}}
			for range rng.IntN(40) {
				block := blocks[rng.IntN(len(blocks))]
				if r := block[0] + rng.Int32N(block[1]-block[0]); r != '\n' {
					b.WriteRune(r) // surrogates become U+FFFD
				}
			}
		}
		lines[i] = b.String()
	}
	return lines
}
