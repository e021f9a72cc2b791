package translit

import (
	"slices"
	"strings"
	"testing"
)

// TestNeighboursWeigh: what each kind of word weighs one, two and three words away, on either side, and that no fourth
// one does.
func TestNeighboursWeigh(t *testing.T) {
	for name, tt := range map[string]struct {
		neighbour word
		want      [4]int // at a distance of one word, two, three and four
	}{
		"Hindi":                     {word{kind: hindi}, [4]int{4, 2, 1, 0}},
		"Devanagari":                {word{kind: devanagari}, [4]int{4, 2, 1, 0}},
		"English grammar":           {word{kind: function}, [4]int{-6, -3, -1, 0}},
		"an English noun":           {word{kind: english}, [4]int{-2, -1, 0, 0}},
		"looks very Hindi":          {word{kind: unknown, lean: 2}, [4]int{2, 1, 0, 0}},
		"looks Hindi":               {word{kind: unknown, lean: 1}, [4]int{1, 0, 0, 0}},
		"looks like neither":        {word{kind: unknown}, [4]int{0, 0, 0, 0}},
		"looks English":             {word{kind: unknown, lean: -1}, [4]int{-1, 0, 0, 0}},
		"looks very English":        {word{kind: unknown, lean: -2}, [4]int{-2, -1, 0, 0}},
		"a name":                    {word{kind: name, lean: 2}, [4]int{0, 0, 0, 0}},
		"both languages, as itself": {word{kind: either, lean: 2}, [4]int{0, 0, 0, 0}},
		"a letter":                  {word{kind: letter, lean: -2}, [4]int{0, 0, 0, 0}},
		"initials":                  {word{kind: initials, lean: -2}, [4]int{0, 0, 0, 0}},
	} {
		for d, want := range tt.want {
			words := slices.Repeat([]word{{kind: either}}, 9)
			const middle = 4
			for side, at := range map[string]int{"before": middle - 1 - d, "behind": middle + 1 + d} {
				row := slices.Clone(words)
				row[at] = tt.neighbour
				if got := (&sentence{words: row}).around(middle); got != want {
					t.Errorf("%s, %d words %s: %d, want %d", name, d+1, side, got, want)
				}
			}
		}
	}
}

func TestNeighboursAddUpWithinTheirClause(t *testing.T) {
	kinds := map[rune]kind{'h': hindi, 'e': english, 'f': function, '?': either, 'x': either}
	for name, tt := range map[string]struct {
		row  string // x is the word in question; a comma breaks
		want int
	}{
		"alone":                                {"x", 0},
		"Hindi on both sides":                  {"h x h", 8},
		"three on each side":                   {"h h h x h h h", 14},
		"a fourth adds nothing":                {"h h h h x h h h h", 14},
		"one against the other":                {"h x f", -2},
		"the nearer one wins":                  {"f h x ? ?", 1},
		"two nouns weigh as much as a far one": {"h ? e x e ?", -3},
		"at the start of a sentence":           {"x h f", 1},
		"at its end":                           {"f h x", 1},
		"a break right before":                 {"h h h , x h", 4},
		"a break right behind":                 {"h x , h h h", 4},
		"a break one word before":              {"h h , e x", -2},
		"a break one word behind":              {"x e , h h", -2},
		"a break two words before":             {"f , h h x", 6},
		"a break two words behind":             {"x h h , f", 6},
		"breaks on both sides":                 {"f , x , f", 0},
		"a break before the first word":        {", h x", 4},
	} {
		var words []word
		middle, breaks := 0, false
		for f := range strings.FieldsSeq(tt.row) {
			if f == "," {
				breaks = true
				continue
			}
			if f == "x" {
				middle = len(words)
			}
			words = append(words, word{kind: kinds[rune(f[0])], breaks: breaks})
			breaks = false
		}
		if got := (&sentence{words: words}).around(middle); got != tt.want {
			t.Errorf("%s: %q weighs %d, want %d", name, tt.row, got, tt.want)
		}
	}
}

// TestNeighboursDecideWithTheWordsOwnLean: below nothing is English, nothing itself is Hindi.
func TestNeighboursDecideWithTheWordsOwnLean(t *testing.T) {
	for name, tt := range map[string]struct {
		before kind
		lean   int8
		want   string
	}{
		"they weigh nothing":                   {either, 0, "हिंदी"},
		"a lean to Hindi":                      {either, 1, "हिंदी"},
		"a lean to English":                    {either, -1, ""},
		"a noun, without a lean":               {english, 0, ""},
		"a noun against a lean of its weight":  {english, 2, "हिंदी"},
		"a noun against a lesser lean":         {english, 1, ""},
		"a Hindi word against a greater lean":  {hindi, -5, ""},
		"a Hindi word against a lean as great": {hindi, -4, "हिंदी"},
		"a Hindi word against a lesser lean":   {hindi, -3, "हिंदी"},
		"grammar against its weight":           {function, 6, "हिंदी"},
		"grammar against less":                 {function, 5, ""},
	} {
		w := word{kind: either, hindi: "हिंदी", english: "इंग्लिश", lean: tt.lean}
		s := &sentence{words: []word{{kind: tt.before}, w}}
		if got := s.byNeighbours(1); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		s.words[1].english = ""
		if got := s.byNeighbours(1); got != "हिंदी" {
			t.Errorf("%s: %q for a word without English, want Hindi", name, got)
		}
	}
}
