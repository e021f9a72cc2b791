package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/swar-tts/swar/hack/reading/accept"
)

// A pair is a line of the tests of others: what is written, and the one reading that they have for it.
type pair struct {
	file, written, read string
	convention          int // index in conventions, or -1
}

// A convention is a way of reading in which others decided otherwise than Swar, and neither is wrong. It is found by
// what is written and by what they read, never by what a normaliser answers.
type convention struct {
	file          string
	written, read *regexp.Regexp // both must be found
	theirs, ours  string
}

func in(file, written, read, theirs, ours string) convention {
	return convention{file, regexp.MustCompile(written), regexp.MustCompile(read), theirs, ours}
}

// The digits of both scripts.
const digit = `[0-9०-९]`

var conventions = []convention{
	in("address", ``, ``, "every number of an address digit by digit, a hyphen by its name",
		"doors and streets as numbers, only PIN codes digit by digit"),
	in("electronic", `[a-z]`, ``, "names letter by letter but for known ones, which are written in Devanagari; the scheme and every slash by name",
		"names stay words in Latin letters for the engine; the scheme and a slash at the end are not said"),
	in("cardinal", `^`+digit+`{7,}$`, ``, "seven and more digits that stand alone as a number",
		"digit by digit: alone they are a telephone number or a code"),
	in("cardinal", `^[0०][1-9१-९]$`, ``, "the zero before a single digit is said", "it is not"),
	in("date", `^`+digit+`{2}-`+digit+`{2}$`, ``, "two numbers with a hyphen, and nothing else, are a date",
		"they are a range"),
	in("date", `^(10-29|11-14|१०-२९|११-१४)-`, ``, "a date that has its month first is read so",
		"the day is read first"),
	in("date", `-[2२][1१]`+digit+`{2}$`, ``, "years after 2100 by hundreds", "by thousands"),
	in("decimal", ``, `^(पच्चीस सौ|पंद्रह सौ|हजार)`,
		"numbers above a thousand by hundreds, a thousand without एक (here and there)", "by thousands, with एक"),
	in("ordinal", ``, `^(सत्रह|उन्नीस|अट्ठानबे) सौ`, "some ordinals above a thousand by hundreds", "by thousands"),
	in("ordinal", `^8th$`, ``, "English ordinals as they sound",
		"English ordinals in Latin letters; of this one no rule of spelling knows that it is the same word"),
	in("fraction", `^([1१]/[34३४]|3/4)$`, ``, "तिहाई, चौथाई, तीन चौथाई", "एक बटा तीन, एक चौथाई, पौन"),
	in("math", `^-?[xy][^०-९]*$`, ``, "Hindi whatever is written", "English where no letter and no digit is Hindi"),
	in("math", `^पेज `+digit+`+-`+digit+`+$`, ``, "two numbers of pages one after the other", "a range"),
	in("measure", `kg$`, ``, "किलोग्राम", "किलो, as people say"),
	in("measure", `ft$`, ``, "फीट", "फ़ुट"),
	in("measure", `yd$`, `यार्ड`, "यार्ड", "गज"),
	in("measure", `oz$`, `आउन्स`, "आउन्स", "औंस"),
	in("measure", `yr$`, ``, "वर्ष, or साल from one to five; quarters and halves in words",
		"साल; a half of a year by its decimal"),
	in("money", `\.\d*0{2,}$|\.500$`, `पैसे|सेंट`, "zeros after the hundredths are dropped",
		"a third digit makes it a decimal"),
	in("money", `^₺`, `कुरस`, "कुरस", "कुरुश, as it sounds"),
	in("money", `[.][5५] (करोड़|हजार)`, ``, "two point five", "ढाई, डेढ़"),
	in("serial", `^`+digit+`जी$`, ``, "पाँच जी", "फ़ाइव जी, as people say"),
	in("serial", `\^`, `स्क्वेर्ड|क्यूब|पावर`, "powers by their English names", "का वर्ग, का घन, की घात"),
	in("serial", `^1-800-`, ``, "groups of a telephone number as numbers", "digit by digit"),
	in("serial", `^(99-1|10-20-30)$`, ``, "numbers with hyphens, and nothing else, one after the other",
		"a range, or a date where it can be one"),
	in("serial", `^[A-Z]{1,3}-?`+digit+`{2,3}$`, ``, "letters and the number behind them as a number",
		"digit by digit, as a code"),
	in("telephone", `(था|करो) [1-9१-९]`, `(था|करो) शून्य`, "a zero that is not written is put before an area code",
		"what is written"),
	in("whitelist", `^वै\.`, `वैज्ञानिक`, "वै. is वैज्ञानिक", "वै. is वैद्य"),
	in("whitelist", `^मा\.`, ``, "मा. is मास्टर", "मा. is माननीय"),
}

// loadPairs reads test_cases_*.txt, where a line is what is written, a tilde, and what is read.
func loadPairs(folder string) ([]pair, error) {
	files, err := filepath.Glob(filepath.Join(folder, "test_cases_*.txt"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no test_cases_*.txt: name the folder of them that docs/reading-benchmark.md says, "+
			"in a checkout of NeMo text processing (its released packages leave it out)", folder)
	}
	var out []pair
	for _, path := range files {
		pairs, err := loadFile(path)
		if err != nil {
			return nil, err
		}
		out = append(out, pairs...)
	}
	return out, nil
}

func loadFile(path string) ([]pair, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "test_cases_"), ".txt")
	var out []pair
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		written, read, ok := strings.Cut(strings.TrimSpace(lines.Text()), "~")
		if !ok || strings.TrimSpace(written) == "" {
			continue
		}
		p := pair{file: name, written: written, read: read}
		p.convention = slices.IndexFunc(conventions, func(c convention) bool {
			return c.file == name && c.written.MatchString(written) && c.read.MatchString(read)
		})
		out = append(out, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// An otherResult is what one normaliser makes of the tests of others.
type otherResult struct {
	name  string
	pairs []pair
	said  []string
	same  []bool
}

func measureOthers(
	ctx context.Context, n normaliser, pairs []pair, o options, progress io.Writer,
) (otherResult, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	messages := make([]message, len(pairs))
	for i, p := range pairs {
		messages[i] = message{ID: p.file, Text: p.written}
	}
	_, _ = fmt.Fprintf(progress, "%s: %d lines of others\n", n.name, len(pairs))
	said, err := n.read(ctx, messages, func(int) {})
	if err != nil {
		return otherResult{}, err
	}
	r := otherResult{name: n.name, pairs: pairs, said: said}
	for i, p := range pairs {
		r.same = append(r.same, accept.Same(said[i], p.read))
	}
	return r, nil
}

// rates counts all lines, and those in which conventions agree, of one file or of all.
func (r otherResult) rates(file string) (all, agreed rate) {
	for i, p := range r.pairs {
		if file != "" && p.file != file {
			continue
		}
		all.add(r.same[i])
		if p.convention < 0 {
			agreed.add(r.same[i])
		}
	}
	return all, agreed
}

func (r *rate) add(accepted bool) {
	r.all++
	if accepted {
		r.accepted++
	}
}

// fileNames are the files of the tests in the order of their names.
func fileNames(pairs []pair) []string {
	var out []string
	for _, p := range pairs {
		out = append(out, p.file)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r otherResult) print(w io.Writer, failures bool) {
	all, agreed := r.rates("")
	_, _ = fmt.Fprintf(w, "\n%s, on the tests of others: %s of all %d, %s of the %d in which conventions agree\n",
		r.name, all, all.all, agreed, agreed.all)
	for _, f := range fileNames(r.pairs) {
		all, agreed := r.rates(f)
		_, _ = fmt.Fprintf(w, "    %-12s %8s  %3d of %3d    %8s  %3d of %3d\n", f, all, all.accepted, all.all, agreed,
			agreed.accepted, agreed.all)
	}
	if !failures {
		return
	}
	for i, p := range r.pairs {
		if !r.same[i] && p.convention < 0 {
			_, _ = fmt.Fprintf(w, "%s  %s\n    read    %s\n    theirs  %s\n", p.file, p.written,
				strings.TrimSpace(r.said[i]), p.read)
		}
	}
}

func othersTable(results []otherResult) string {
	var b strings.Builder
	b.WriteString("| file | lines | conventions agree |")
	for _, r := range results {
		b.WriteString(" " + r.name + " |")
	}
	b.WriteString("\n|---|---:|---:|" + strings.Repeat("---:|", len(results)) + "\n")
	for _, f := range append([]string{""}, fileNames(results[0].pairs)...) {
		all, agreed := results[0].rates(f)
		name := f
		if f == "" {
			name = "**all**"
		}
		fmt.Fprintf(&b, "| %s | %d | %d |", name, all.all, agreed.all)
		for _, r := range results {
			_, agreed := r.rates(f)
			fmt.Fprintf(&b, " %s |", agreed)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// conventionsTable names what is left out, and of how many lines.
func conventionsTable(pairs []pair) string {
	var b strings.Builder
	b.WriteString("| file | lines | theirs | ours |\n|---|---:|---|---|\n")
	for i, c := range conventions {
		n := 0
		for _, p := range pairs {
			if p.convention == i {
				n++
			}
		}
		if n > 0 {
			fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", c.file, n, c.theirs, c.ours)
		}
	}
	return b.String()
}
