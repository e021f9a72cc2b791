package espeak

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

var update = flag.Bool("update", false, "rewrite the phonemes in respell.tsv")

func TestRespell(t *testing.T) {
	for _, tt := range []struct{ name, word, want string }{
		{"a word that the program knows", "नमस्ते", "नमस्ते"},
		{"a word of the table", "मतलब", "मत्लब"},
		{"the vowel before h opens", "शहर", "शॅहर"},
		{"and the one after it falls before a full syllable", "पहला", "पॅह्ला"},
		{"also with a dot below", "ज़हर", "ज़ॅहर"},
		{"but not with another vowel before it", "मोहन", "मोहन"},
		{"or after it", "कहानी", "कहानी"},
		{"or at the end", "तरह", "तरह"},
		{"or in a cluster", "रहस्य", "रहस्य"},
		{"or later in the word", "परहेज़", "परहेज़"},
		{"an ending keeps to itself", "लिखकर", "लिख्कर"},
		{"after the h too", "कहकर", "कॅह्कर"},
		{"but it is not an ending alone", "कर", "कर"},
		{"nor in a word of one syllable before it", "मकर", "मकर"},
		{"nor after a vowel sign", "नौकर", "नौकर"},
		{"nor after a cluster", "चक्कर", "चक्कर"},
		{"nor after a nasal", "शंकर", "शंकर"},
		{"the second half of an English word", "डिपार्टमेंट", "डिपार्ट्मेंट"},
		{"not behind a dot", "लैंडलाइन", "लैंडलाइन"},
		{"nor behind the consonants that begin the word", "प्रकट", "प्रकट"},
		{"with a dot below, too", "फ़्रकट", "फ़्रकट"},
		{"with a dot below", "लिफ़्टमैन", "लिफ़्ट्मैन"},
		{"but not one with v", "सॉफ़्टवेयर", "सॉफ़्टवेयर"},
		{"with an ending", "डिपार्टमेंट्स", "डिपार्ट्मेंट्स"},
		{"a short one", "शॉर्टली", "शॉर्ट्ली"},
		{"a short one that does not end the word", "पोर्टलीला", "पोर्टलीला"},
		{"not behind one consonant", "वेबसाइट", "वेबसाइट"},
		{"nor where the word begins", "मेंटर", "मेंटर"},
		{"an s behind k", "एक्सपायर", "एक्स्पायर"},
		{"an s behind b", "सब्सक्रिप्शन", "सब्स्क्रिप्शन"},
		{"but not before r", "बॉक्सरों", "बॉक्सरों"},
		{"nor before ch", "एक्सचेंज", "एक्सचेंज"},
		{"nor before the last letter", "फ़ैक्सक", "फ़ैक्सक"},
		{"nor an s behind t, which Hindi has", "चिकित्सकों", "चिकित्सकों"},
		{"a second half that begins with a vowel", "बैकअप", "बैक्अप"},
		{"behind two consonants", "टर्नओवर", "टर्न्ओवर"},
		{"but not an i", "चेन्नई", "चेन्नई"},
		{"nor a verb", "गई", "गई"},
		{"nor a word of one letter before it", "कअप", "कअप"},
		{"a plural", "योजनाओं", "योजनायों"},
		{"but not an imperative", "जाओ", "जाओ"},
		{"the moon dot is a dot", "गाँव", "गांव"},
		{"no pause before a postposition", "पर", "पर्"},
	} {
		if got := write(tt.word, nil).text; got != tt.want {
			t.Errorf("%s: %q is fed as %q, want %q", tt.name, tt.word, got, tt.want)
		}
	}
}

func TestRespellTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range respellRows(t) {
		word, fed := row[0], row[1]
		if seen[word] {
			t.Errorf("%s stands twice", word)
		}
		seen[word] = true
		if !norm.NFC.IsNormalString(word) || !norm.NFC.IsNormalString(fed) {
			t.Errorf("%s → %s is not in NFC and never found", word, fed)
		}
		if got := write(word, nil).text; got != fed {
			t.Errorf("%s is fed as %s, want %s", word, got, fed)
		}
	}
	if len(seen) < 100 {
		t.Errorf("%d words, want the whole table", len(seen))
	}
}

// TestRespellTableSoundsAsItSays asks the program. Every row must change what it says.
func TestRespellTableSoundsAsItSays(t *testing.T) {
	e := installed(t)
	if e.Version() != "1.51" {
		t.Skipf("SKIPPED: the phonemes in the table are those of espeak-ng 1.51, not %s", e.Version())
	}
	rows := respellRows(t)
	var words, fed []string
	for _, row := range rows {
		words, fed = append(words, row[0]), append(fed, row[1])
	}
	before, after := phonemes(t, e, words), phonemes(t, e, fed)
	table := respellTable
	for i, row := range rows {
		if before[i] == after[i] {
			t.Errorf("%s → %s changes nothing: %s", row[0], row[1], after[i])
		}
		if *update {
			table = strings.Replace(table, strings.Join(row, "\t")+"\n", row[0]+"\t"+row[1]+"\t"+after[i]+"\n", 1)
		} else if row[2] != after[i] {
			t.Errorf("%s → %s sounds %s, want %s", row[0], row[1], after[i], row[2])
		}
	}
	if *update {
		if err := os.WriteFile("respell.tsv", []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRulesSoundAsMeant asks the program what the rules make of words.
func TestRulesSoundAsMeant(t *testing.T) {
	e := installed(t)
	if e.Version() != "1.51" {
		t.Skipf("SKIPPED: the phonemes are those of espeak-ng 1.51, not %s", e.Version())
	}
	tests := []struct{ word, want string }{
		{"शहर", "S'EH@r"},
		{"पहले", "p'EHle:"},
		{"रहना", "r'EHna:"},
		{"लिखकर", "l'Ik#k@r"},
		{"समझकर", "s@m'VJ#k@r"},
		{"सेवाओं", "se:v'a:jo~"},
		{"गाँव", "g'a~v"},
		{"जाएँ", "J'a:e~:"},
		{"माँगना", "m'a~gn,a:"},
		{"डिपार्टमेंट", "d.Ip'a:*t.me~:t."},
		{"एक्सपायर", "'e:kspa:j,@3r"},
		{"बैकअप", "b'E:k@p"},
		{"हेल्पलाइन", "H'e:lpla:,In"},
		{"थर्सडे", "t#'Vrsd.e:"},
	}
	var fed []string
	for _, tt := range tests {
		fed = append(fed, write(tt.word, nil).text)
	}
	for i, got := range phonemes(t, e, fed) {
		if got != tests[i].want {
			t.Errorf("%s, fed as %s, sounds %s, want %s", tests[i].word, fed[i], got, tests[i].want)
		}
	}
}

// respellRows are the rows of the table: word, fed, phonemes.
func respellRows(t testing.TB) (rows [][]string) {
	t.Helper()
	for line := range strings.Lines(respellTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != 3 {
			t.Fatalf("row %q has %d columns, want 3", line, len(row))
		}
		rows = append(rows, row)
	}
	return rows
}

// phonemes is what the program says for each of the words.
func phonemes(t testing.TB, e *Engine, words []string) []string {
	t.Helper()
	var all []string
	for len(words) > 0 {
		n := min(30, len(words))
		cmd := exec.Command(e.program.Path, "-b", "1", "-v", e.hindi, "-q", "-x", "--stdin")
		cmd.Stdin = strings.NewReader(strings.Join(words[:n], "।\n") + "।")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		words = words[n:]
		got := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(got) != n {
			t.Fatalf("%d words have %d lines of phonemes: %q", n, len(got), got)
		}
		for _, line := range got {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}
