package main

import (
	"context"
	"io"
	"testing"
	"time"
)

// TestSwarReadsNoFewerOfItsOwnLists holds what was reached of the lists for development; a change that reads more
// raises the numbers.
func TestSwarReadsNoFewerOfItsOwnLists(t *testing.T) {
	o := options{data: "../../testdata/hinglish-reading", timeout: time.Minute, heldOut: true}
	rates, err := o.measureOwn(context.Background(), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for k, reached := range []rate{{214, 219}, {783, 784}} { // 2026-11-28
		if got := rates[k].development; got.accepted < reached.accepted || got.all != reached.all {
			t.Errorf("%s: %d of %d, %d of %d were: go run ./hack/reading -failures", rates[k].name, got.accepted,
				got.all, reached.accepted, reached.all)
		}
		if rates[k].heldOut.all == 0 {
			t.Errorf("%s: nothing held out is measured", rates[k].name)
		}
	}
}

func TestSpellingsOfOneWord(t *testing.T) {
	for _, tt := range []struct {
		got, want string
		right     bool
	}{
		{"सब्जी", "सब्ज़ी", true}, {"यह", "ये|यह", true}, {"आँख,", "आंख", true}, {"दौड़", "दौर", false}, {"सीख", "सिख", false}, {"यह", "ये|वह", false},
	} {
		if got := isSpelling(tt.got, tt.want); got != tt.right {
			t.Errorf("%s for %s: %v", tt.got, tt.want, got)
		}
	}
}
