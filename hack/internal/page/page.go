// Package page finds the commands of a page of the documentation, so that tests run what people copy.
package page

import (
	"regexp"
	"strings"
	"testing"
)

var (
	blocks = regexp.MustCompile("(?s)```sh\n(.*?)```")
	inline = regexp.MustCompile("`([^`\n]+)`")
)

// Block returns the one block of commands that contains some words. It fails the test unless there is exactly one.
func Block(tb testing.TB, text, words string) string {
	tb.Helper()
	return only(tb, blocks.FindAllStringSubmatch(text, -1), words)
}

// Command returns the one command within a sentence that contains some words. It fails the test unless there is exactly
// one.
func Command(tb testing.TB, text, words string) string {
	tb.Helper()
	return only(tb, inline.FindAllStringSubmatch(blocks.ReplaceAllString(text, ""), -1), words)
}

func only(tb testing.TB, found [][]string, words string) string {
	tb.Helper()
	var all []string
	for _, f := range found {
		if strings.Contains(f[1], words) {
			all = append(all, f[1])
		}
	}
	if len(all) != 1 {
		tb.Fatalf("%d places of the page have %q, want 1: %q", len(all), words, all)
	}
	return all[0]
}
