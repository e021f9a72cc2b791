package normalize

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEndsAreSureOfWhatFollows(t *testing.T) {
	// A bar stands behind each end that is sure, a tilde behind the others.
	tests := []struct{ name, want string }{
		{"plain", "Namaste!| Aap kaise hain?| Kal milte hain.|"},
		{"no mark", "Namaste ji~"},
		{"danda without space", "नमस्ते।|आप कैसे हैं॥|"},
		{"lines", "Doodh|\nChai|\n\nDhanyavaad~"},
		{"decimal", "Keemat 3.5 hai.|"},
		{"number at the end", "Balance 500.| Aap~"},
		{"list number", "1. doodh lao~"},
		{"address", "example.com par jaiye~"},
		{"title at the end", "Yeh Dr.~"},
		{"title", "Yeh Dr. Rao hain.|"},
		{"amount", "₹1,000.50 mile hain.|"},
		{"morning", "10:30 a.m. par aana~"},
		{"morning at the end", "10:30 a.m.~"},
		{"quotes", "\"Kahan ho?\"| usne poocha~"},
		{"factorial", "5!~"},
		{"month", "Total 12 Jan.~"},
		{"listing", "Ye lo:|\n```js\nlet a;\nlet b. c;\n```|\nAb **chalao**.| Haan~"},
		{"listing without its end", "Ye lo:|\n```js\nlet a;\nlet b;~"},
		{"formula of several lines", "Dekho:|\n$$\nx = 1 \\\\\ny = 2\n$$|\nTheek.|"},
		{"formula without its end", "Dekho.| Yeh $$\nx = 1\ny = 2~"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.NewReplacer("|", "", "~", "").Replace(tt.want)
			var got strings.Builder
			from := 0
			ends := Ends(text)
			for i, e := range ends {
				mark := "~"
				if e.Sure {
					mark = "|"
				}
				if !e.Sure && i < len(ends)-1 {
					mark = ""
				}
				got.WriteString(text[from:e.At] + mark)
				from = e.At
			}
			if got.WriteString(text[from:]); got.String() != tt.want {
				t.Errorf("got  %s\nwant %s", got.String(), tt.want)
			}
		})
	}
}

// TestSureEndsStay cuts every text of the tables at every character, as if the rest had not been written yet.
func TestSureEndsStay(t *testing.T) {
	texts(t, func(t *testing.T, at, text string) {
		if len(text) > 200 || !strings.ContainsAny(text, ".?!…") {
			return
		}
		whole := map[int]bool{}
		for _, e := range Ends(text) {
			whole[e.At] = true
		}
		for i := range text {
			if i < 2 || text[i-1] != ' ' {
				continue // a text that ends in white space has the most ends that are sure
			}
			for _, e := range Ends(text[:i]) {
				isSpaced := e.At < i && strings.TrimSpace(text[e.At:e.At+1]) == ""
				if e.Sure && isSpaced && !whole[e.At] {
					t.Errorf("%s: %q: %q is sure, and does not end when all is there", at, text, text[:e.At])
				}
			}
		}
	})
}

func TestEndsAreInOrder(t *testing.T) {
	texts(t, func(t *testing.T, at, text string) {
		last := 0
		for _, e := range Ends(text) {
			if e.At <= last && last > 0 || e.At > len(text) || e.At < len(text) && !utf8.RuneStart(text[e.At]) {
				t.Errorf("%s: %q: an end at %d behind %d", at, text, e.At, last)
			}
			last = e.At
		}
	})
}

func TestLineEnd(t *testing.T) {
	for line, want := range map[string]string{
		"Namaste": ".", "नमस्ते": "।", "Namaste.": "", "Items:": "", "2 kg": "।", "Dr": ".", "": "", "…": "",
	} {
		if got := LineEnd(line, Options{}); got != want {
			t.Errorf("LineEnd(%q) = %q, want %q", line, got, want)
		}
	}
}
