package pipeline

import (
	"unicode"

	"github.com/swar-tts/swar/runtime/speech"
)

// relocate finds the places of spans of whole in spoken, which is what leaveOutNormalized has made of it: kept is what was left of it
// before it was normalised again. A span of which nothing is left is silent.
func relocate(spans []speech.Span, whole, kept, spoken string) {
	to := []rune(spoken)
	at := places([]rune(whole), []rune(kept), to)
	behind := 0 // what is spoken before
	for i := range spans {
		s := &spans[i]
		start, end := 0, 0
		for _, place := range at[s.OutStart:s.OutEnd] {
			if place < 0 {
				continue
			}
			if end == 0 {
				start = place
			}
			end = place + 1
		}
		if end == 0 {
			for _, place := range at[:s.OutStart] {
				behind = max(behind, place+1)
			}
			start, end = behind, behind
		}
		s.OutStart, s.OutEnd, s.Spoken = start, end, string(to[start:end])
		behind = end
	}
}

// places returns where each character of whole stands in to, or -1 where it does not; spaces stand nowhere.
func places(whole, kept, to []rune) []int {
	at := make([]int, len(whole))
	moved := align(kept, to)
	next := skipSpaces(kept, 0)
	for i, r := range whole {
		at[i] = -1
		if next < len(kept) && kept[next] == r { // spaces are never equal: next stands at none
			at[i] = moved[next]
			next = skipSpaces(kept, next+1)
		}
	}
	return at
}

// How far two texts may be apart until they go on alike, and how long they must be alike then, in characters. Normalising again takes
// away brackets and marks, and adds a comma here and there.
const alignReach, alignRun = 24, 3

// align returns where each character of from stands in to, in order, or -1 where it does not; spaces stand nowhere.
func align(from, to []rune) []int {
	at := make([]int, len(from))
	for i := range at {
		at[i] = -1
	}
	i, j := skipSpaces(from, 0), skipSpaces(to, 0)
	for i < len(from) && j < len(to) {
		if from[i] == to[j] {
			at[i] = j
			i, j = skipSpaces(from, i+1), skipSpaces(to, j+1)
			continue
		}
		down, across := resume(from[i:], to[j:])
		i, j = skipSpaces(from, i+down), skipSpaces(to, j+across)
	}
	return at
}

// resume returns how many characters of both to pass over until they go on alike, as few as may be.
func resume(from, to []rune) (down, across int) {
	for apart := 1; apart <= alignReach; apart++ {
		for across := range apart + 1 {
			if down := apart - across; down < len(from) && across < len(to) && alike(from[down:], to[across:]) {
				return down, across
			}
		}
	}
	return 1, 1
}

// alike reports whether both begin alike, or end before they differ.
func alike(a, b []rune) bool {
	for n := range alignRun {
		switch {
		case n == len(a) || n == len(b):
			return n > 0
		case a[n] != b[n]:
			return false
		}
	}
	return true
}

func skipSpaces(s []rune, i int) int {
	for i < len(s) && unicode.IsSpace(s[i]) {
		i++
	}
	return i
}
