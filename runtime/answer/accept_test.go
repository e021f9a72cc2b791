package answer

import (
	"net/http/httptest"
	"testing"
)

func TestPrefersHTML(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/*": false,
		"text/html": true,
		"text/html,application/xhtml+xml,*/*;q=0.8": true,
		"text/html;q=0":                     false,
		"text/html;q=0.5, application/json": false,
		"application/json;q=0.5, TEXT/HTML": true,
		"text/html, application/json":       false,
		"text/html;q=nan":                   false,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", accept)
		if got := PrefersHTML(r); got != want {
			t.Errorf("Accept %q: got %v, want %v", accept, got, want)
		}
	}
}
