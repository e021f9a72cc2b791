package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// A word is a key with its text, as prettier lays them out.
	word = regexp.MustCompile(`(?m)^ +(?:"([\w.]+)"|(\w+)):\s+"((?:[^"\\]|\\.)*)",$`)
	slot = regexp.MustCompile(`\{\w+\}`)
)

// languagesOf returns the words of each language in a source: the one before the place where Hindi begins, and those
// from there on.
func languagesOf(source string) (en, hi map[string]string) {
	begin := strings.Index(source, "words(")
	if begin < 0 || strings.HasPrefix(source[begin:], "words(…") {
		return nil, nil
	}
	en, hi = map[string]string{}, map[string]string{}
	turn := begin + strings.Index(source[begin:], "\n  },\n  {\n")
	if strings.HasPrefix(source[begin:], "words(en, {") {
		turn = begin
	}
	for _, at := range word.FindAllStringSubmatchIndex(source, -1) {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return source[at[2*n]:at[2*n+1]]
		}
		to := en
		if at[0] > turn {
			to = hi
		}
		to[group(1)+group(2)] = group(3)
	}
	return en, hi
}

// TestBothLanguagesHaveEveryWord: the same keys, no empty text, the same places for values, and Hindi in Devanagari.
func TestBothLanguagesHaveEveryWord(t *testing.T) {
	src, files, all := filepath.Join(root, "portal/web/src"), 0, 0
	latin := regexp.MustCompile(`^[^\p{Devanagari}]*[a-z]{3}`)
	// names, units, and the other language
	same := []string{"csv", "play.events.time", "langOther", "requests.rest", "requests.ws"}
	err := filepath.WalkDir(src, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".ts") || strings.HasSuffix(path, "lib/language.ts") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "= words(") {
			return err
		}
		files++
		en, hi := languagesOf(string(text))
		all += len(en)
		if !slices.Equal(slices.Sorted(maps.Keys(en)), slices.Sorted(maps.Keys(hi))) || len(en) == 0 {
			t.Errorf("%s: %d words in English, %d in Hindi", path, len(en), len(hi))
		}
		for key, text := range en {
			slots := func(s string) []string { return slices.Sorted(slices.Values(slot.FindAllString(s, -1))) }
			if text == "" || hi[key] == "" || !slices.Equal(slots(text), slots(hi[key])) {
				t.Errorf("%s: %s is %q and %q", path, key, text, hi[key])
			}
			if latin.MatchString(hi[key]) && !strings.ContainsAny(hi[key], "अआइईउऊएऐओऔकखगघचछजझटठडढतथदधनपफबभमयरलवशसह") &&
				!slices.Contains(same, key) {
				t.Errorf("%s: %s is %q in Hindi", path, key, hi[key])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 6 || all < 400 {
		t.Errorf("only %d files with %d words were found", files, all)
	}
}
