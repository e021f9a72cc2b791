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

func TestVersionsOfImages(t *testing.T) {
	for image, want := range map[string]bool{
		"localhost/swar/worker:0.1.0":         true,
		"localhost:5000/worker:1":             true,
		"registry.example.org/w@sha256:0123":  true,
		"registry.example.org/w:1@sha256:012": true,
		"worker":                              false,
		"localhost:5000/worker":               false,
		"worker:":                             false,
		"registry.example.org/worker:latest":  false,
	} {
		if got := hasVersion(image); got != want {
			t.Errorf("%s has a version: %v, want %v", image, got, want)
		}
	}
}
