package phoneme

import (
	"bufio"
	"context"
	_ "embed" // the golden table
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/internal/espeakng"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
	"github.com/swar-tts/swar/runtime/normalize"
	"github.com/swar-tts/swar/runtime/speech"
)

//go:embed testdata/golden.tsv
var goldenTable string

func TestGolden(t *testing.T) {
	for line := range strings.Lines(goldenTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimSpace(line), "\t")
		var want []int64
		for id := range strings.FieldsSeq(row[3]) {
			n, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, n)
		}
		if got := appendIDs(nil, row[2]); !slices.Equal(got, want) {
			t.Errorf("%s: ids %v, want %v", row[2], got, want)
		}
		if got := espeak.Prepared(row[0]); got != row[1] {
			t.Errorf("%s: prepared %q, want %q", row[0], got, row[1])
		}
		t.Run(row[0], func(t *testing.T) {
			got, err := installed(t).Read(t.Context(), row[1])
			if err != nil || !slices.Equal(got.IDs, want) {
				t.Errorf("%v, %v; want %s", spelled(got.IDs), err, row[2])
			}
			checkWords(t, row[1], got)
		})
	}
}

func TestMarks(t *testing.T) {
	r := fakeReader(t, "echoes")
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"white space", " \n ", ""},
		{"only marks", "। - ?", ""},
		{"a word", "ab", "ab"},
		{"every mark", "a, b; c: d. e! f? h… i", "a, b; c: d. e! f? h… i"},
		{"dandas", "a। b॥", "a. b."},
		{"dashes", "a - b – c — d", "a — b — c — d"},
		{"a dash behind a word", "a– b— c", "a — b — c"},
		{"a dash at the end", "a -", "a —"},
		{"a mark before all words", "- a", "a"},
		{"two marks: the first counts", "a?! b? - c", "a? b? c"},
		{"a clause without sounds has no pause", "a, ळ, b", "a, b"},
		{"the same at the start", "ळ. b", "b"},
		{"marks inside words stay with the program", "d'b a-b", "db ab"},
		{"a sign that is no mark", "a * b [[t]] \x01c", "a b t c"},
		{"a line break", "a\nb", "a b"},
	} {
		got, err := r.Read(t.Context(), tt.text)
		if s := spelled(got.IDs); err != nil || s != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.name, s, err, tt.want)
		}
		checkWords(t, tt.text, got)
	}
}

func TestAClauseMayPrintAnyNumberOfLines(t *testing.T) {
	for how, want := range map[string]string{"prints two lines": "a b c, d e.", "says nothing": ""} {
		got, err := fakeReader(t, how).Read(t.Context(), "a b c, d e.")
		if s := spelled(got.IDs); err != nil || s != want || len(got.Words) != 5 {
			t.Errorf("%s: %q with words %v, %v; want %q with five", how, s, got.Words, err, want)
		}
	}
}

func TestWords(t *testing.T) {
	r := installed(t)
	for _, tt := range []struct{ name, text, want string }{
		{"one for one", "नमस्ते, आप कैसे हैं?", "नमस्ते=nəmˈʌsteː आप=ˌaːp कैसे=kˈɛːseː हैं=hɛ̃"},
		{"joined", "Your order has been shipped.", "Your=jɔːɹ order=ˈɔːdə has=hˈaz been=biːn shipped=ʃˈɪpt"},
		{"joined, with a vowel that is changed", "free for the first", "free=fɹˈiː for=fə the=ðə first=fˈɜːst"},
		{"split", "login to MoneyNest कीजिए", "login=lˈɒɡɪn to=tə MoneyNest=mˈʌni nˈɛst कीजिए=kˈiːɟɪˌeː"},
		{"joined and split", "AutoPay has been set", "AutoPay=ˈɔːtQ pˈA has=hˈaz been=biːn set=sˈɛt"},
		{"a clause of its own each", "has been - AutoPay", "has=hˈaz been=biːn AutoPay=ˈɔːtQ pˈA"},
		{"a compound", "गुड-मॉर्निंग जी", "गुड-मॉर्निंग=ɡˈʊdɖːmɔrnˈi\u0303ŋɡ जी=ɟˈi"},
		{"decimals", "3.5 है", "3.5=tˈiːn dəsəmlˈoː pˈa\u0303ɲc है=hɛː"},
	} {
		got, err := r.Read(t.Context(), tt.text)
		if err != nil {
			t.Fatal(err)
		}
		checkWords(t, tt.text, got)
		var said []string
		for _, w := range got.Words {
			said = append(said, tt.text[w.From:w.To]+"="+spelled(got.IDs[w.First:w.Last]))
		}
		if s := strings.Join(said, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}

// checkWords checks what is promised of the words of any text.
func checkWords(t *testing.T, text string, p Phonemes) {
	t.Helper()
	known := map[int64]bool{}
	for _, id := range vocabulary {
		known[id] = true
	}
	at, id := 0, 0
	between := append(idsOf(",;:.!?…—"), space)
	for _, w := range append(slices.Clone(p.Words), Word{len(text), len(text), len(p.IDs), len(p.IDs)}) {
		inOrder := at <= w.From && w.From <= w.To && id <= w.First && w.First <= w.Last
		if !inOrder || w.To > len(text) || w.Last > len(p.IDs) {
			t.Fatalf("%q: word %+v after byte %d and id %d of %d", text, w, at, id, len(p.IDs))
		}
		if slices.ContainsFunc(p.IDs[id:w.First], func(id int64) bool { return !slices.Contains(between, id) }) {
			t.Errorf("%q: sounds %q belong to no word", text, spelled(p.IDs[id:w.First]))
		}
		at, id = w.To, w.Last
	}
	if bad := slices.IndexFunc(p.IDs, func(id int64) bool { return !known[id] }); bad >= 0 {
		t.Errorf("%q: id %d is not in the vocabulary", text, p.IDs[bad])
	}
}

func TestTheLimitOfIDs(t *testing.T) {
	r := fakeReader(t, "echoes")
	for n, want := range map[int]bool{MaxIDs - 1: false, MaxIDs: false, MaxIDs + 1: true} {
		text := strings.Repeat("a", n)
		got, err := r.Read(t.Context(), text)
		if errors.Is(err, ErrTooLong) != want || !want && len(got.IDs) != n {
			t.Errorf("%d letters: %d ids, %v; want too long: %v", n, len(got.IDs), err, want)
		}
	}
	// And so many bytes without an id.
	for n, want := range map[int]bool{maxBytes - 1: false, maxBytes: false, maxBytes + 1: true} {
		got, err := r.Read(t.Context(), strings.Repeat("7", n))
		if errors.Is(err, ErrTooLong) != want || len(got.IDs) != 0 {
			t.Errorf("%d digits: %d ids, %v; want too long: %v", n, len(got.IDs), err, want)
		}
	}
}

// TestALongTextHasAllItsSounds: without a mark the program prints several lines.
func TestALongTextHasAllItsSounds(t *testing.T) {
	r := installed(t)
	one, err := r.Read(t.Context(), "एक")
	if err != nil {
		t.Fatal(err)
	}
	const words = 102
	text := strings.TrimSpace(strings.Repeat("एक ", words))
	got, err := r.Read(t.Context(), text)
	if want := words*(len(one.IDs)+1) - 1; err != nil || len(got.IDs) != want || len(got.Words) != words {
		t.Errorf("%d ids of %d words, %v; want %d of %d", len(got.IDs), len(got.Words), err, want, words)
	}
	_, err = r.Read(t.Context(), strings.Repeat("एक ", 2*words))
	if !errors.Is(err, ErrTooLong) {
		t.Errorf("twice the text: %v, want %v", err, ErrTooLong)
	}
}

func TestAProgramThatMisbehavesIsAnError(t *testing.T) {
	for _, tt := range []struct{ how, text, cause string }{
		{"fails", "speech program failed", "exit status 3: Error: no voice data"},
		{"is killed", "speech program failed", "signal: killed: "},
		{"loses a line", "speech program failed", "it answered 0 texts instead of 2"},
		{"goes on", "speech program failed", "it answered 2 texts instead of 2"},
	} {
		_, err := fakeReader(t, tt.how).Read(t.Context(), "a, b")
		e, ok := errors.AsType[*speech.EngineError](err)
		if !ok || e.Text != tt.text || !strings.HasSuffix(e.Err.Error(), tt.cause) {
			t.Errorf("%s: %v, want %s: …%s", tt.how, err, tt.text, tt.cause)
		}
	}
	r := fakeReader(t, "echoes")
	r.program.Path += ".gone"
	if _, err := r.Read(t.Context(), "a"); !errors.Is(err, espeakng.ErrNotInstalled) {
		t.Errorf("Read without the program = %v, want ErrNotInstalled", err)
	}
}

func TestTheProgramSeesNoSecrets(t *testing.T) {
	t.Setenv("SWAR_API_KEY", "secret")
	t.Setenv("ESPEAK_DATA_PATH", "/data")
	_, err := fakeReader(t, "shows its environment").Read(t.Context(), "a")
	if err == nil || !strings.HasSuffix(err.Error(), ": /data") {
		t.Errorf("%v, want the path of the data alone", err)
	}
}

func TestAProgramThatHangsIsEnded(t *testing.T) {
	r := fakeReader(t, "hangs")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(speech.ErrClientGone) })
	if _, err := r.Read(ctx, "a"); err != speech.ErrClientGone {
		t.Errorf("Read after the cancel = %v, want %v", err, speech.ErrClientGone)
	}
	if _, err := r.Read(ctx, "a"); err != speech.ErrClientGone {
		t.Errorf("Read with a context that has ended = %v, want %v", err, speech.ErrClientGone)
	}
	r.limit = 50 * time.Millisecond
	_, err := r.Read(t.Context(), "a")
	if e, ok := errors.AsType[*speech.EngineError](err); !ok || e.Text != "speech program does not answer" {
		t.Errorf("Read = %v, want an engine error", err)
	}
}

func TestOpen(t *testing.T) {
	if _, err := Open("/nowhere/espeak-ng"); !errors.Is(err, espeakng.ErrNotInstalled) {
		t.Errorf("Open with a wrong path = %v, want ErrNotInstalled", err)
	}
	for how, want := range map[string]string{
		"version 1.50":    "SELF: version 1.50 prints incomplete phonemes; install espeak-ng 1.51 or later",
		"version 0.99":    "SELF: version 0.99 prints incomplete phonemes; install espeak-ng 1.51 or later",
		"version 1.51":    "",
		"version 1.52.0":  "",
		"version 1.52-d":  "",
		"version 2.0":     "",
		"version unknown": `SELF: its version "unknown" is not a number such as 1.51; install espeak-ng 1.51 or later`,
		"has no Hindi":    "asking SELF for its voices: it has no Hindi voice; its data is incomplete",
	} {
		self := setFake(t, how)
		r, err := open(self, probeLimit)
		got := ""
		if err != nil {
			got = strings.ReplaceAll(err.Error(), self, "SELF")
		} else if !slices.Contains(r.args, "inc/hi") {
			t.Errorf("%s: arguments %q", how, r.args)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", how, got, want)
		}
	}
	self := setFake(t, "hangs")
	if _, err := open(self, time.Nanosecond); err == nil || !strings.HasSuffix(err.Error(), "no answer in 1ns") {
		t.Errorf("Open of a slow program = %v", err)
	}
}

func TestManyReadAtOnce(t *testing.T) {
	r := installed(t)
	texts := []string{
		"नमस्ते, आप कैसे हैं?", "Your order has been shipped.", "आपका ओ टी पी चार आठ दो एक है।", "बूढ़े दादा जी",
	}
	var want []Phonemes
	for _, text := range texts {
		p, err := r.Read(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, p)
	}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			k := i % len(texts)
			got, err := r.Read(t.Context(), texts[k])
			if err != nil || !slices.Equal(got.IDs, want[k].IDs) || !slices.Equal(got.Words, want[k].Words) {
				t.Errorf("%s: %+v, %v; want %+v", texts[k], got, err, want[k])
			}
		})
	}
	all.Wait()
}

// TestNoSoundIsLost: for the words of our tables the program says nothing that the vocabulary lacks.
func TestNoSoundIsLost(t *testing.T) {
	kokorotest.WithoutRaceDetector(t)
	r := installed(t)
	words := tableWords(t)
	if len(words) < 10_000 {
		t.Fatalf("%d words in the tables", len(words))
	}
	var texts []string // of 20 words, which is faster than words alone
	for some := range slices.Chunk(words, 20) {
		texts = append(texts, strings.Join(some, " "))
	}
	said, err := r.say(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		sounds := strings.Join(said[i], " ")
		if 3*len(said[i]) < 2*len(strings.Fields(text)) {
			t.Errorf("%s is only %s", text, sounds)
		}
		for _, s := range sounds {
			if vocabulary[s] == 0 {
				t.Errorf("%s is %s: %q is not in the vocabulary", text, sounds, s)
			}
		}
	}
}

// tableWords are the words of our tables as the program is fed them, each once.
func tableWords(t *testing.T) []string {
	files, err := filepath.Glob("../../../translit/tables/*.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range append(files, "../../../espeak/respell.tsv") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line[0] == '#' {
				continue
			}
			apart := func(r rune) bool { return unicode.IsSpace(r) || r == '|' }
			for field := range strings.FieldsFuncSeq(line, apart) {
				for _, c := range split(espeak.Prepared(field)) {
					seen[c.fed()] = true
				}
			}
		}
	}
	words := make([]string, 0, len(seen))
	for word := range seen {
		words = append(words, word)
	}
	slices.Sort(words)
	return words
}

// messages are the everyday messages of our reading lists, as the program is fed them.
func messages(t testing.TB) (all []string) {
	files, err := filepath.Glob("../../../../testdata/hinglish-reading/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			var m struct{ Text string }
			if err := json.Unmarshal(s.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
			all = append(all, espeak.Prepared(normalize.Text(m.Text, normalize.Options{})))
		}
	}
	return all
}

// TestClausesDoNotDisturbEachOther: together they sound as alone.
func TestClausesDoNotDisturbEachOther(t *testing.T) {
	r := installed(t)
	var texts []string
	for i, m := range messages(t) {
		if i%150 == 0 {
			for _, c := range split(m) {
				texts = append(texts, c.fed())
			}
		}
	}
	together, err := r.say(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		alone, err := r.say(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone[0], together[i]) {
			t.Errorf("%s: alone %q, among others %q", text, alone[0], together[i])
		}
	}
}

// TestCountOfUnusualWords: of words that are hardly in any text, and of those that were not written in words, there are
// at most a fifth more ids than are counted: so many fit the longest chunk.
func TestCountOfUnusualWords(t *testing.T) {
	r := installed(t)
	for _, word := range []string{"9999999", "98765 43210", "९८७६५", "99", "1,24,999.75", "WWW", "w w w dot", "qwrtp",
		"xxxx", "e-KYC", "Mahamrityunjay", "ॐ", "ऋ", "ङ", "a"} {
		text := espeak.Prepared(strings.Repeat(word+" ", 6))
		p, err := r.Read(t.Context(), text)
		if n := Count(text); err != nil || 5*len(p.IDs) > 6*n {
			t.Errorf("%s, six times: %d ids were counted as %d (%v)", word, len(p.IDs), n, err)
		}
	}
}

func TestCount(t *testing.T) {
	kokorotest.WithoutRaceDetector(t)
	r := installed(t)
	for text, want := range map[string]int{"": 0, "   ": 0, "।": 3} {
		if got := Count(text); got != want {
			t.Errorf("%q: %d ids, want %d", text, got, want)
		}
	}
	var texts []string
	for i, m := range messages(t) {
		if i%10 == 0 { // all of them take a minute; their numbers are 0.90 to 1.30
			texts = append(texts, m)
		}
	}
	var clauses [][]clause
	var fed []string
	for _, text := range texts {
		clauses = append(clauses, split(text))
		for _, c := range clauses[len(clauses)-1] {
			fed = append(fed, c.fed())
		}
	}
	said, err := r.say(t.Context(), fed)
	if err != nil {
		t.Fatal(err)
	}
	total, counted, under, long := 0, 0, 0, 0
	lowest, highest := 1.0, 1.0
	for i, text := range texts {
		w := writer{}
		for k := range clauses[i] {
			w.add(&clauses[i][k], said[k])
		}
		w.end()
		said = said[len(clauses[i]):]
		count := Count(text)
		total, counted = total+len(w.ids), counted+count
		if len(w.ids) < 40 {
			continue
		}
		long++
		ratio := float64(count) / float64(len(w.ids))
		if ratio < .95 {
			under++
		}
		if ratio < .85 {
			t.Errorf("%s: %d ids, counted %d", text, len(w.ids), count)
		}
		lowest, highest = min(lowest, ratio), max(highest, ratio)
	}
	t.Logf("%d ids counted as %d; of %d texts %d more than 5%% short; from %.2f to %.2f",
		total, counted, long, under, lowest, highest)
	if share := float64(counted) / float64(total); share < 1 || share > 1.1 {
		t.Errorf("%d ids counted as %d, want at most a tenth more", total, counted)
	}
	if under*50 > long {
		t.Errorf("%d of %d texts have 5%% more ids than counted, want at most a fiftieth", under, long)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "नमस्ते, आप कैसे हैं?", "Your order has been shipped.",
		"3.5 - (a) [[t]] \x011S", "ळ ऋ ॐ ज्ञ ट्ठ त्त्त्त्त्", "MoneyNest's A.B", "ব ક த",
	} {
		f.Add(seed)
	}
	r := installed(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{text, espeak.Prepared(text)} {
			p, err := r.Read(t.Context(), text)
			if errors.Is(err, ErrTooLong) {
				continue
			}
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			checkWords(t, text, p)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r := installed(b)
	for b.Loop() {
		if _, err := r.Read(b.Context(), "आपका ओ टी पी चार आठ दो एक है। Your order has been shipped."); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCount(b *testing.B) {
	for b.Loop() {
		Count("आपका ओ टी पी चार आठ दो एक है। Your order has been shipped.")
	}
}
