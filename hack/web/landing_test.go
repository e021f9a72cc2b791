package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const landingSource = "../../portal/web/src/landing"

// TestLanding: both pages are whole, need no script, and promise no figure that a machine would have had to measure.
func TestLanding(t *testing.T) {
	files, err := landing(landingSource)
	if err != nil {
		t.Fatal(err)
	}
	measured := regexp.MustCompile(`\d+(\.\d+)? ?(ms|KB|MB)\b|\d+ (listeners|times)`)
	for _, name := range []string{"landing.en.html", "landing.hi.html"} {
		page := string(files[name])
		for _, want := range []string{"₹1,24,999.50", "482913", "एक लाख चौबीस हज़ार", "<!-- voices <section>",
			"<audio controls", `href="/app/"`, `href="/docs/"`, `href="/signin"`,
			"curl -sS http://127.0.0.1:8080/v1/tts"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
		if n := strings.Count(page, "<script"); n != 1 || !strings.Contains(page, "theme.ts") {
			t.Errorf("%s: %d scripts beside that of the theme", name, n-1)
		}
		if found := measured.FindString(page); found != "" {
			t.Errorf("%s claims %q", name, found)
		}
	}
}

func TestLandingWantsEveryWord(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(landingSource, "page.html"))
	if err != nil {
		t.Fatal(err)
	}
	words, err := os.ReadFile(filepath.Join(landingSource, "words.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"a word is missing":       {`"Skip": "सीधे सामग्री पर जाएँ", `, ""},
		"a word that nobody asks": {`"Skip": "सीधे सामग्री पर जाएँ"`, `"Skip": "a", "Skipp": "b"`},
	} {
		folder := t.TempDir()
		changed := strings.Replace(string(words), change[0], change[1], 1)
		if changed == string(words) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if err := os.WriteFile(filepath.Join(folder, "page.html"), page, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "words.json"), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := landing(folder); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
