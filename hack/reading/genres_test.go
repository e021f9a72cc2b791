package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func message1(difficulty int) message { return message{Difficulty: difficulty} }

func measuredOf(l list, difficulties []int, accepted []bool) listResult {
	r := result{name: "Swar", accepted: accepted}
	for _, d := range difficulties {
		r.messages = append(r.messages, message1(d))
	}
	return listResult{list: l, results: []result{r}}
}

func TestWorstGenreStandsBesideTheMean(t *testing.T) {
	measured := []listResult{
		measuredOf(list{heldOut: true}, []int{1, 1, 2, 2, 3, 3, 3, 3},
			[]bool{true, true, true, false, true, true, true, false}),
		measuredOf(list{heldOut: true, sms: true}, []int{1, 2, 3, 3}, []bool{true, false, false, false}),
		measuredOf(list{sms: true}, []int{2}, []bool{true}),
	}
	worst, mean := worstAndMean(ratesOfGenres(measured))
	if worst.name != genres[3].name || worst.heldOut != (rate{1, 4}) || worst.development != (rate{1, 1}) {
		t.Errorf("worst is %s with %v and %v", worst.name, worst.heldOut, worst.development)
	}
	if want := (100 + 50 + 75 + 25) / 4.0; math.Abs(mean-want) > 1e-9 {
		t.Errorf("mean %v, want %v", mean, want)
	}
	table := genreTable(ratesOfGenres(measured))
	for _, want := range []string{"| everyday messages, plain | 100.0 % (2 of 2) | - |",
		"with **25.0 %**; the mean of the genres is **62.5 %**"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is missing in\n%s", want, table)
		}
	}
	var out bytes.Buffer
	printGenres(&out, ratesOfGenres(measured))
	if !strings.Contains(out.String(), "worst 25.0 % (SMS of banks, cards and telephone firms), mean 62.5 %") {
		t.Errorf("printed:\n%s", out.String())
	}
}

// TestEachMessageIsOfOneGenre: a message of none would vanish, and one of two would count twice.
func TestEachMessageIsOfOneGenre(t *testing.T) {
	for _, l := range apart {
		for _, m := range loaded(t, folder+l.file) {
			n := 0
			for _, g := range genres {
				if g.has(l, m) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s is of %d genres", m.ID, n)
			}
		}
	}
}
