package monitoring_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const runbooks = "../../docs/runbooks"

// everyAlert is those of a fleet and those of the portal.
func everyAlert(t *testing.T) map[string]rule {
	t.Helper()
	all := rules(t, "", fleet("speech", "hinglish"))
	maps.Copy(all, portalRules(t))
	return all
}

// TestEveryAlertHasAPage, and every page is that of an alert and answers what somebody asks who is woken by it.
func TestEveryAlertHasAPage(t *testing.T) {
	all := everyAlert(t)
	for name := range all {
		text, err := os.ReadFile(filepath.Join(runbooks, name+".md"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.HasPrefix(string(text), "# "+name+"\n") {
			t.Errorf("the page of %s has another title", name)
		}
		want := []string{"Impact", "Diagnose", "Fix", "Resolves"}
		var got []string
		for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(text), -1) {
			got = append(got, heading[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("the page of %s has %q, want %q", name, got, want)
		}
	}
	pages, err := os.ReadDir(runbooks)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if _, is := all[strings.TrimSuffix(page.Name(), ".md")]; !is {
			t.Errorf("%s is the page of no alert", page.Name())
		}
	}
}

// TestLinksOfPages lead to pages that there are.
func TestLinksOfPages(t *testing.T) {
	pages, err := filepath.Glob(runbooks + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#]+)`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(runbooks, to[1])); err != nil {
				t.Errorf("%s: %v", filepath.Base(page), err)
			}
		}
	}
}

// TestTableOfAlerts in docs/kubernetes.md has each of them, with its severity.
func TestTableOfAlerts(t *testing.T) {
	page, err := os.ReadFile("../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	row := regexp.MustCompile(`(?m)^\| \[(\w+)\]\(runbooks/(\w+)\.md\) \| (\w+) \|`)
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		if r[1] != r[2] {
			t.Errorf("%s links the page of %s", r[1], r[2])
		}
		got[r[1]] = r[3]
	}
	want := map[string]string{}
	for name, r := range everyAlert(t) {
		want[name] = r.Labels["severity"]
	}
	if !maps.Equal(got, want) {
		t.Errorf("the table has %v, want %v", got, want)
	}
}
