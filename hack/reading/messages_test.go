package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/swar-tts/swar/hack/reading/accept"
)

const (
	folder = "../../testdata/hinglish-reading/"
	public = folder + "messages.jsonl"

	development = folder + "development.jsonl"
)

func loaded(t *testing.T, path string) []message {
	t.Helper()
	messages, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func allMessages(t *testing.T) []message {
	t.Helper()
	var all []message
	all = append(all, loaded(t, public)...)
	for _, l := range apart {
		all = append(all, loaded(t, folder+l.file)...)
	}
	return all
}

func TestMessagesAreBalanced(t *testing.T) {
	type balance struct {
		path             string
		size             int
		least, most      int // of a class
		scripts, hardest int // least of a script and of a difficulty
	}
	sets := []balance{
		{public, 800, 27, 28, 160, 250},
		{folder + "development-2.jsonl", 272, 6, 12, 14, 4}, // hardly a plain one, and no more of a class than that
		{folder + "development-9.jsonl", 232, 8, 8, 50, 70}, // by two people
	}
	for _, l := range apart {
		if l.name != "second development" && l.name != "ninth development" && l.everyday() {
			sets = append(sets, balance{folder + l.file, 200, 6, 7, 30, 55})
		}
	}
	for _, set := range sets {
		messages := loaded(t, set.path)
		if len(messages) != set.size {
			t.Errorf("%s has %d messages, want %d", set.path, len(messages), set.size)
		}
		classes, scripts, difficulties := map[string]int{}, map[string]int{}, map[int]int{}
		for _, m := range messages {
			classes[m.Class]++
			scripts[m.Script]++
			difficulties[m.Difficulty]++
		}
		if len(classes) != 29 || len(scripts) != 3 || len(difficulties) != 3 {
			t.Errorf("%s: %d classes, %d scripts, %d difficulties, want 29, 3, 3", set.path, len(classes), len(scripts),
				len(difficulties))
		}
		for class, n := range classes {
			if n < set.least || n > set.most {
				t.Errorf("%s: %d messages of class %s, want %d to %d", set.path, n, class, set.least, set.most)
			}
		}
		for script, n := range scripts {
			if n < set.scripts {
				t.Errorf("%s: %d messages in %s, want at least %d", set.path, n, script, set.scripts)
			}
		}
		for d, n := range difficulties {
			if n < set.hardest {
				t.Errorf("%s: %d messages of difficulty %d, want at least %d", set.path, n, d, set.hardest)
			}
		}
	}
}

// TestSMSAreBalanced: those of banks and telephone firms have kinds of their own, and are hardly ever plain or in
// Devanagari.
func TestSMSAreBalanced(t *testing.T) {
	for file, size := range map[string]int{"sms.jsonl": 195, "sms-2.jsonl": 84, "sms-3.jsonl": 145, "sms-4.jsonl": 121,
		"sms-5.jsonl": 69, "held-out-sms.jsonl": 82} {
		path := folder + file
		messages, classes := loaded(t, path), map[string]int{}
		for _, m := range messages {
			classes[m.Class]++
		}
		if len(messages) != size || len(classes) != 16 {
			t.Errorf("%s has %d messages of %d classes, want %d of 16", path, len(messages), len(classes), size)
		}
		for class, n := range classes {
			if n < 3 {
				t.Errorf("%s: %d messages of class %s, want 3 at least", path, n, class)
			}
		}
	}
}

func TestMessagesAreWhatTheySay(t *testing.T) {
	texts, ids := map[string]string{}, map[string]bool{}
	for _, m := range allMessages(t) {
		plain := strings.Join(strings.Fields(strings.ToLower(m.Text)), " ")
		if other := texts[plain]; other != "" {
			t.Errorf("%s says what %s says", m.ID, other)
		}
		if ids[m.ID] {
			t.Errorf("two messages are called %s", m.ID)
		}
		texts[plain], ids[m.ID] = m.ID, true
		if got := scriptOf(m.Text); got != m.Script {
			t.Errorf("%s is said to be %s and is %s", m.ID, m.Script, got)
		}
		if m.Text != strings.TrimSpace(m.Text) || m.Text == "" || len([]rune(m.Text)) > 160 {
			t.Errorf("%s: the text is empty, longer than 160 characters or has space around it", m.ID)
		}
	}
}

func scriptOf(text string) string {
	devanagari := strings.ContainsFunc(text, func(r rune) bool {
		return unicode.Is(unicode.Devanagari, r) &&
			unicode.IsLetter(r)
	})
	latin := strings.ContainsFunc(text, func(r rune) bool { return r < 128 && unicode.IsLetter(r) })
	switch {
	case devanagari && latin:
		return "mixed"
	case devanagari:
		return "devanagari"
	}
	return "latin"
}

var digitsOfMacro = regexp.MustCompile(`<(digits|tail|tollfree|label|number|rupees|money|quantity|range|year|date|time|ordinal) [^>]*>`)

// TestReadingsTellDigitsApart: every reading takes its own example and refuses the example of the same message with one
// digit changed. The written text itself is no reading either where it has digits. What is held out is named, and not
// shown.
func TestReadingsTellDigitsApart(t *testing.T) {
	tried := 0
	for _, m := range allMessages(t) {
		if !m.reading.Accepts(m.reading.Example()) {
			t.Errorf("%s: its own example is refused", m.ID)
		}
		if strings.ContainsFunc(m.Text, unicode.IsDigit) && m.reading.Accepts(m.Text) {
			t.Errorf("%s: the text itself is accepted", m.ID)
		}
		for _, macro := range digitsOfMacro.FindAllStringIndex(m.Reading, -1) {
			before := m.Reading[:macro[0]]
			if strings.Count(before, "{") != strings.Count(before, "}") {
				continue // the other alternatives say the same, and stand
			}
			for i := macro[0]; i < macro[1]; i++ {
				c := m.Reading[i]
				if c < '0' || c > '9' {
					continue
				}
				changed := m.Reading[:i] + string('0'+(c-'0'+1)%10) + m.Reading[i+1:]
				other, err := accept.Compile(changed, m.Language)
				if err != nil { // such as a thirteenth month
					continue
				}
				tried++
				if m.reading.Accepts(other.Example()) {
					t.Errorf("%s: the digit at %d of its reading may be another one", m.ID, i)
				}
			}
		}
	}
	if tried < 4000 {
		t.Errorf("only %d changes were tried", tried)
	}
}
