package translit

import (
	_ "embed" // the judged names
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// Each line is a name as it is written in Latin letters, what kind it is, and how it is written in Hindi, in one to
// three ways that spaces part. The held-out ones are measured only: no rule and no entry may be made for the sake of
// one of them.
var (
	//go:embed testdata/names.tsv
	judgedNames string
	//go:embed testdata/names-heldout.tsv
	heldOutNames string
)

type judged struct {
	roman, kind string
	accepted    []string
}

func judgedOf(t testing.TB, table string) []judged {
	t.Helper()
	var list []judged
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 || fields[1] == "" {
			t.Fatalf("%q is no judged name", line)
		}
		list = append(list, judged{fields[0], fields[1], strings.Fields(fields[2])})
	}
	return list
}

// read is how name comes out in a Hindi sentence.
func (j judged) read(t testing.TB, name string, o Options) string {
	t.Helper()
	before, after := "मेरा नाम ", " है."
	text := "Mera naam " + name + " hai."
	if j.kind == "town" {
		before, after = "मैं ", " में रहता हूँ."
		text = "Main " + name + " mein rehta hoon."
	}
	got := Devanagari(text, o)
	got, begins := strings.CutPrefix(got, before)
	got, ends := strings.CutSuffix(got, after)
	if !begins || !ends {
		t.Errorf("%q became %q, want its other words as they are", text, Devanagari(text, o))
	}
	return got
}

// right reports whether got is one of the accepted spellings. What Hindi leaves to the writer does not count: the dot
// below क ख ग ज फ, the two signs of a nasal vowel, and whether a nasal before a stop is a letter or a sign.
func (j judged) right(got string) bool {
	for _, want := range j.accepted {
		if plainSpelling.Replace(got) == plainSpelling.Replace(norm.NFC.String(want)) {
			return true
		}
	}
	return false
}

var plainSpelling = strings.NewReplacer("क़", "क", "ख़", "ख", "ग़", "ग", "ज़", "ज", "फ़", "फ", "ँ", "ं",
	"ङ्क", "ंक", "ङ्ग", "ंग", "ञ्च", "ंच", "ञ्ज", "ंज", "ण्ट", "ंट", "ण्ठ", "ंठ", "ण्ड", "ंड", "न्त", "ंत", "न्थ", "ंथ", "न्द", "ंद",
	"न्ध", "ंध", "म्प", "ंप", "म्फ", "ंफ", "म्ब", "ंब", "म्भ", "ंभ")

// rate returns how many of the names, written by how, are right, and how many there are, by kind and in all.
func rate(t testing.TB, list []judged, how func(string) string, o Options) (right, all map[string]int) {
	right, all = make(map[string]int), make(map[string]int)
	for _, j := range list {
		group := "names"
		if j.kind == "town" {
			group = "towns"
		}
		ok := j.right(j.read(t, how(j.roman), o))
		for _, g := range []string{group, j.kind, "all"} {
			all[g]++
			if ok {
				right[g]++
			}
		}
	}
	return right, all
}

func asWritten(s string) string { return s }

// TestJudgedNames counts the names of the lists that are read right. If more are, write the new number here; it never
// gets smaller.
func TestJudgedNames(t *testing.T) {
	for name, list := range map[string]struct {
		table        string
		names, towns int // right with a capital, of all
		inLower      int // names and towns
		inCapitals   int
	}{
		"judged":   {judgedNames, 1422, 605, 1974, 1974},
		"held out": {heldOutNames, 181, 92, 269, 269},
	} {
		judged := judgedOf(t, list.table)
		right, all := rate(t, judged, asWritten, Options{})
		if right["names"] != list.names || right["towns"] != list.towns {
			t.Errorf("%s: %d of %d names and %d of %d towns, want %d and %d", name, right["names"], all["names"],
				right["towns"], all["towns"], list.names, list.towns)
		}
		if lower, _ := rate(t, judged, strings.ToLower, Options{}); lower["all"] != list.inLower {
			t.Errorf("%s: in lower case %d, want %d", name, lower["all"], list.inLower)
		}
		if upper, _ := rate(t, judged, strings.ToUpper, Options{}); upper["all"] != list.inCapitals {
			t.Errorf("%s: in capitals %d, want %d", name, upper["all"], list.inCapitals)
		}
	}
}
