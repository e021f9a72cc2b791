package serve

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestRounding(t *testing.T) {
	tests := []struct {
		sentence  string
		got, want string
	}{
		{"seconds have three decimals", decimal(seconds(12345678 * time.Microsecond)), "12.346"},
		{"whole seconds have none", decimal(seconds(2 * time.Second)), "2"},
		{"no time is 0", decimal(seconds(0)), "0"},
		{"milliseconds have one decimal", decimal(millis(12345 * time.Microsecond)), "12.3"},
		{"half of a tenth is rounded up", decimal(millis(12350 * time.Microsecond)), "12.4"},
		{"what is below is 0", decimal(millis(49 * time.Microsecond)), "0"},
		{"hours do not become exponents", decimal(millis(10000 * time.Hour)), "36000000000"},
		{"ratios have three decimals", decimal(thousandths(0.12345)), "0.123"},
		{"frames are exact", decimal(speech.Seconds(7)), "0.56"},
		{"many frames are exact", decimal(speech.Seconds(1501)), "120.08"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.sentence, tt.got, tt.want)
		}
	}
}

func TestRequestIDsAreRandom(t *testing.T) {
	shape := regexp.MustCompile(`^req_[0-9a-hjkmnp-tv-z]{26}$`)
	seen := make(map[string]bool)
	letters := make(map[rune]bool)
	for range 1000 {
		id := newRequestID()
		if !shape.MatchString(id) || !validRequestID(id) || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
		for _, c := range strings.TrimPrefix(id, "req_") {
			letters[c] = true
		}
	}
	if len(letters) != 32 {
		t.Errorf("%d of 32 letters occur in a thousand ids", len(letters))
	}
}

func TestSeedsAreExactInJavaScript(t *testing.T) {
	large := false
	for range 1000 {
		seed := newSeed()
		if seed < 0 || seed >= 1<<53 {
			t.Fatalf("seed %d, want 53 bits", seed)
		}
		large = large || seed>>52 > 0
	}
	if !large {
		t.Error("no seed of a thousand has 53 bits")
	}
}
