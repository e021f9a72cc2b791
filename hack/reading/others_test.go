package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeTests puts own lines into files that have the form of the tests of others.
func writeTests(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "test_cases_"+name+".txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTestsOfOthersAreCountedApart(t *testing.T) {
	dir := writeTests(t, map[string]string{
		"cardinal": "७२~बहत्तर \n८१२३४५६~इक्यासी लाख तेईस हज़ार चार सौ छप्पन\n~\nno tilde\n",
		"measure":  "७ kg~सात किलोग्राम\n७ km~सात किलोमीटर\n८ km~नौ किलोमीटर\n",
	})
	var out strings.Builder
	if err := run(context.Background(), []string{"-tests", dir, "-failures"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"40.0 % of all 5, 66.7 % of the 3 in which conventions agree",
		"cardinal       50.0 %    1 of   2     100.0 %    1 of   1",
		"measure        33.3 %    1 of   3      50.0 %    1 of   2",
		"measure  ८ km\n    read    आठ किलोमीटर\n    theirs  नौ किलोमीटर\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\ncardinal  ८१२") {
		t.Error("a line in which conventions differ is listed among what is wrong")
	}
}

func TestConventions(t *testing.T) {
	for _, c := range []struct {
		name, file, line string
		differ           bool
	}{
		{"six digits alone", "cardinal", "८१२३४५~x", false},
		{"seven digits alone", "cardinal", "८१२३४५६~x", true},
		{"seven digits and what they count", "cardinal", "८१२३४५६ सेब~x", false},
		{"a zero before a digit", "cardinal", "०४~शून्य चार", true},
		{"a zero before two digits", "cardinal", "०४५~शून्य चार पाँच", false},
		{"a day and a month alone", "date", "०७-०३~सात मार्च", true},
		{"a month and a year", "date", "०३-२०१६~मार्च दो हज़ार सोलह", false},
		{"a whole date", "date", "०७-०३-२०१६~सात मार्च दो हज़ार सोलह", false},
		{"kilograms", "measure", "३ kg~तीन किलोग्राम", true},
		{"grams", "measure", "३ g~तीन ग्राम", false},
		{"a name in Latin letters", "electronic", "okpay.in~x", true},
		{"numbers of a network", "electronic", "10.2.0.9~x", false},
		{"an equation in Latin letters alone", "math", "x = 7~x", true},
		{"an equation with digits of Devanagari", "math", "x = ७~x", false},
		{"an equation without letters", "math", "3 + 4 = 7~x", false},
		{"hundredths and zeros", "money", "₹3.2500~तीन रुपए पच्चीस पैसे", true},
		{"thousandths", "money", "₹3.257~तीन दशमलव दो पाँच सात रुपए", false},
		{"another file", "time", "८१२३४५६~x", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			pairs, err := loadPairs(writeTests(t, map[string]string{c.file: c.line}))
			if err != nil || len(pairs) != 1 {
				t.Fatalf("%d pairs, %v", len(pairs), err)
			}
			if got := pairs[0].convention >= 0; got != c.differ {
				t.Errorf("conventions differ: %v, want %v", got, c.differ)
			}
		})
	}
	for _, c := range conventions {
		if c.theirs == "" || c.ours == "" || c.theirs == c.ours {
			t.Errorf("%s %s: say what they do and what we do", c.file, c.written)
		}
	}
}

func TestTestsOfOthersRefuse(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"a folder without tests", []string{"-tests", t.TempDir()}, "has no test_cases_*.txt: name the folder"},
		{"what is held out", []string{"-tests", t.TempDir(), "-held-out"}, "leave -held-out and -messages out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := run(context.Background(), c.args, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestTablesGoBetweenTheirMarkers(t *testing.T) {
	messages := loaded(t, public)
	r, err := measure(context.Background(), normaliser{"Swar", swar}, messages, time.Minute, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "docs.md")
	text := "a\n<!-- results -->\nold\n<!-- end of results -->\nb\n<!-- held out -->\n<!-- end of held out -->\nc\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeDocs(path, map[string]string{"results": table([]result{r}),
		"held out": apartTable([]listResult{{list: list{name: "first"}, results: []result{r}}})}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a\n<!-- results -->\n\n| | all | difficulty 1 |",
		"| Swar | **" + r.rate().String() + "** |", "<!-- end of results -->\nb\n", "| | first |\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "old") {
		t.Error("the old table stays")
	}
	if err := writeDocs(path, map[string]string{"none": ""}); err == nil || !strings.Contains(err.Error(), "markers") {
		t.Errorf("%v, want that the markers are missing", err)
	}
}

// TestSwarReadsNoFewer holds what was reached, of the public messages and of the lists for development. A change that
// reads more raises the numbers.
func TestSwarReadsNoFewer(t *testing.T) {
	for file, reached := range map[string]int{ // 2026-11-25
		"messages.jsonl": 798, "development.jsonl": 198, "development-2.jsonl": 263, "development-3.jsonl": 200, "development-4.jsonl": 197,
		"development-5.jsonl": 194, "development-6.jsonl": 193, "development-7.jsonl": 197, "development-8.jsonl": 195,
		// 2026-11-28
		"sms.jsonl": 195, "sms-2.jsonl": 83, "sms-3.jsonl": 144, "sms-4.jsonl": 121, "sms-5.jsonl": 66, "talk.jsonl": 95,
	} {
		messages := loaded(t, folder+file)
		r, err := measure(context.Background(), normaliser{"Swar", swar}, messages, time.Minute, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.rate(); got.accepted < reached || got.all != len(messages) {
			t.Errorf("%d of %d messages of %s are read as people read them, %d were: go run ./hack/reading -failures",
				got.accepted, got.all, file, reached)
		}
	}
}
