package layout

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDecisionsHaveAnIndex: every paragraph of DECISIONS.md is linked in its index, once, and the newest come first.
func TestDecisionsHaveAnIndex(t *testing.T) {
	text, err := os.ReadFile("../../DECISIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	index, _, _ := strings.Cut(string(text), "\n## ")
	var linked, anchors, dates []string
	for _, m := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(index, -1) {
		linked = append(linked, m[1])
	}
	dropped := regexp.MustCompile(`[^\p{L}\p{N}_-]`) // by what makes anchors of headings
	for _, m := range regexp.MustCompile(`(?m)^## (\d{4}-\d\d-\d\d): .+$`).FindAllStringSubmatch(string(text), -1) {
		heading := strings.ToLower(strings.TrimPrefix(m[0], "## "))
		anchors = append(anchors, dropped.ReplaceAllString(strings.ReplaceAll(heading, " ", "-"), ""))
		dates = append(dates, m[1])
	}
	if len(anchors) == 0 {
		t.Fatal("no paragraph was found")
	}
	if !slices.IsSortedFunc(dates, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Error("the paragraphs are not in the order of their dates, newest first")
	}
	slices.Sort(linked)
	slices.Sort(anchors)
	for _, a := range anchors {
		if !slices.Contains(linked, a) {
			t.Errorf("#%s is not in the index", a)
		}
	}
	if !slices.Equal(linked, slices.Compact(slices.Clone(linked))) || len(linked) != len(anchors) {
		t.Errorf("the index has %d links to %d paragraphs", len(linked), len(anchors))
	}
}
