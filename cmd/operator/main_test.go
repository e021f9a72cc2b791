package main

import "testing"

func TestPagesOfAlerts(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.org/runbooks":      true,
		"http://wiki:8080":                  true,
		"":                                  false,
		"docs/runbooks":                     false,
		"file:///docs/runbooks":             false,
		"javascript:alert(1)":               false,
		"https://":                          false,
		"https://example.org/{{ .Labels }}": false,
		"https://example.org/our pages":     false,
		"https://example.org/%zz":           false,
	} {
		if got := isPage(address); got != want {
			t.Errorf("%q is a page: %v, want %v", address, got, want)
		}
	}
}
