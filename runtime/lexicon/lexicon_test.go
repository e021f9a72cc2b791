package lexicon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// compiled is a lexicon of words, which are spoken as themselves in capitals.
func compiled(t *testing.T, words ...string) *Lexicon {
	t.Helper()
	entries := make([]Entry, len(words))
	for i, w := range words {
		entries[i] = Entry{Word: w, Spoken: strings.ToUpper(w)}
	}
	entries, err := Clean(entries)
	if err != nil {
		t.Fatal(err)
	}
	return Compile("lex_1", 3, entries)
}

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		text  string
		want  []string // what stands there
	}{
		"nothing":                   {[]string{"swar"}, "", nil},
		"the whole text":            {[]string{"swar"}, "swar", []string{"swar"}},
		"any case":                  {[]string{"SwAr"}, "SWAR, swar. Swar!", []string{"SWAR", "swar", "Swar"}},
		"no part of a word":         {[]string{"swar"}, "swarm aswar swar2 2swar swarी", nil},
		"signs are no part":         {[]string{"swar"}, "(swar)-swar's", []string{"swar", "swar"}},
		"Devanagari":                {[]string{"स्वर"}, "यह स्वर है, स्वरों में स्वर।", []string{"स्वर", "स्वर"}},
		"a mark goes on a word":     {[]string{"स्वर"}, "स्वरा स्वरं स्वर्", nil},
		"the longest first":         {[]string{"tata", "tata sky", "sky"}, "tata sky tata skyline sky", []string{"tata sky", "tata", "sky"}},
		"the longest that is whole": {[]string{"tata", "tata s"}, "tata sky", []string{"tata"}},
		"any white space":           {[]string{"tata sky"}, "Tata \t Sky", []string{"Tata \t Sky"}},
		"not over a line break":     {[]string{"tata sky"}, "tata\nsky", nil},
		"invisible joiners":         {[]string{"हिन्दी"}, "हिन्\u200dदी", []string{"हिन्\u200dदी"}},
		"joiners in the entry":      {[]string{"हिन्\u200dदी"}, "हिन्दी", []string{"हिन्दी"}},
		"a joiner goes on":          {[]string{"swar"}, "swar\u200dm", nil},
		"typographic apostrophes":   {[]string{"haldiram's"}, "Haldiram’s", []string{"Haldiram’s"}},
		"signs in a word":           {[]string{"AT&T", "C++"}, "at&t or c++.", []string{"at&t", "c++"}},
		"a sign in front":           {[]string{"@swar"}, "me@swar @swar", []string{"@swar"}},
		"digits":                    {[]string{"108"}, "108 1080 1.108 108", []string{"108", "108", "108"}},
		"words behind one another":  {[]string{"a", "b"}, "a b-a", []string{"a", "b", "a"}},
		"a composed nukta":          {[]string{"क़लम"}, "क\u093cलम", []string{"क\u093cलम"}},
		"an entry that begins long": {[]string{"a b c d"}, "a b c a b c d", []string{"a b c d"}},
	} {
		t.Run(name, func(t *testing.T) {
			letters := []rune(c.text)
			var got []string
			for _, m := range compiled(t, c.words...).Find(c.text) {
				got = append(got, string(letters[m.Start:m.End]))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func TestClean(t *testing.T) {
	long := strings.Repeat("क", MaxWord)
	for name, c := range map[string]struct {
		entries []Entry
		want    string // the error; empty: none
	}{
		"no entries":            {nil, ""},
		"the longest":           {[]Entry{{long, strings.Repeat("s", MaxSpoken), ""}}, ""},
		"a word too long":       {[]Entry{{long + "क", "s", ""}}, "entry 1 (" + long + "…): word has 65 characters; at most 64 are possible"},
		"spoken too long":       {[]Entry{{"a", strings.Repeat("s", MaxSpoken+1), ""}}, "entry 1 (a): spoken has 129 characters; at most 128 are possible"},
		"no word":               {[]Entry{{"a", "b", ""}, {" ", "b", ""}}, "entry 2: word is empty"},
		"nothing spoken":        {[]Entry{{"a", "", ""}}, "entry 1 (a): spoken is empty"},
		"signs alone":           {[]Entry{{"++", "plus", ""}}, "entry 1 (++): word needs a letter or a digit"},
		"nothing pronounceable": {[]Entry{{"a", "!", ""}}, "entry 1 (a): spoken needs a letter or a digit"},
		"control characters":    {[]Entry{{"a", "b\x00", ""}}, "entry 1 (a): spoken must not contain control characters"},
		"not UTF-8":             {[]Entry{{"a\xff", "b", ""}}, "entry 1: word is not valid UTF-8"},
		"a mark alone":          {[]Entry{{"\u0301a", "b", ""}}, "entry 1 (\u0301a): word begins with a mark that has no letter"},
		"another language":      {[]Entry{{"a", "b", "mr"}}, `entry 1 (a): lang must be "hi", "en" or absent`},
		"both languages":        {[]Entry{{"a", "b", "hi"}, {"b", "b", "en"}}, ""},
		"twice":                 {[]Entry{{"Swar", "a", ""}, {"x", "a", ""}, {"SWAR ", "b", ""}}, "entry 3 (SWAR): the word is that of entry 1; keep one of them"},
		"as many as possible":   {numbered(MaxEntries), ""},
		"one too many":          {numbered(MaxEntries + 1), "entry 1001: a lexicon has at most 1000 entries"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Clean(c.entries)
			_, isEntry := errors.AsType[*EntryError](err)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || err.Error() != c.want || !isEntry):
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
}

func numbered(n int) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = Entry{Word: fmt.Sprint("w", i), Spoken: "x"}
	}
	return entries
}

func TestCleanTrims(t *testing.T) {
	got, err := Clean([]Entry{{"  Tata \n Sky ", " टाटा  स्काय ", "hi"}})
	if want := []Entry{{"Tata Sky", "टाटा स्काय", "hi"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("cleaned to %q, %v, want %q", got, err, want)
	}
}

func TestIn(t *testing.T) {
	l := compiled(t, "a", "b", "क़")
	if got := l.In("b! B, \u0958."); len(got.Entries()) != 2 || got.ID() != "lex_1" || got.Version() != 3 {
		t.Errorf("the text has %v of %s version %d", got.Entries(), got.ID(), got.Version())
	}
	if got := l.In("c"); got != nil {
		t.Errorf("the text has %v", got.Entries())
	}
}

func TestNilHasNothing(t *testing.T) {
	var l *Lexicon
	if l.Find("a") != nil || l.In("a") != nil || l.ID() != "" || l.Version() != 0 || l.Entries() != nil {
		t.Error("a nil lexicon has something")
	}
	if Compile("lex_1", 1, nil) != nil {
		t.Error("a lexicon without entries is not nil")
	}
}

func TestIDOf(t *testing.T) {
	if got := IDOf("prj_01ab"); got != "lex_01ab" {
		t.Error(got)
	}
	if got := IDOf(""); got != "" {
		t.Error(got)
	}
}

// TestHostileTextsTakeLinearTime: words that nearly match at every place cost no more than their longest length each.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	l := compiled(t, strings.Repeat("a ", 31)+"b", strings.Repeat(".", 62)+"b", "a")
	for name, unit := range map[string]string{"words": "a ", "dots": ".", "joiners": "\u200d", "spaces": "a    ",
		"joined": "a \u200d"} {
		took := func(n int) time.Duration {
			best, text := time.Hour, strings.Repeat(unit, n)
			for range 5 {
				began := time.Now()
				l.Find(text)
				best = min(best, time.Since(began))
			}
			return best
		}
		if short, long := took(100), took(100*16); long > 200*short {
			t.Errorf("%s: 16 times as many take %v in place of %v", name, long, short)
		}
	}
}
