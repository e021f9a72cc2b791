package serve

import (
	"cmp"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestExactNumbersCompareAsTheyAreWritten(t *testing.T) {
	tests := map[string]int{ // against 2
		"0": -1, "-0": -1, "1": -1, "1.9999999999999999999999": -1, "19e-1": -1, "0.2": -1, "0.0002e3": -1, "-2": -1,
		"-3e5": -1, "2e-999999999999999999999": -1,
		"2": 0, "2.0": 0, "2.000e0": 0, "0.2e1": 0, "200e-2": 0, "0.0000002E+7": 0,
		"2.0000000000000000000001": 1, "3": 1, "21e-1": 1, "10": 1, "2e1": 1, "1e999999999999999999999": 1,
	}
	for number, want := range tests {
		if got := exactly([]byte(number)).compareDigit(2); got != want {
			t.Errorf("%s compared with 2: %d, want %d", number, got, want)
		}
	}
}

func TestBelowZero(t *testing.T) {
	for number, want := range map[string]bool{
		"-1": true, "-1e-99999999999999999999": true, "-0.01": true,
		"-0": false, "-0.0e5": false, "0": false, "1": false,
	} {
		if got := exactly([]byte(number)).below0(); got != want {
			t.Errorf("%s is below 0: %v, want %v", number, got, want)
		}
	}
}

// FuzzExactNumber compares with the rational numbers of math/big.
func FuzzExactNumber(f *testing.F) {
	seeds := []string{"0", "-0.0", "2", "2.0000000000000000000001", "1.9e0", "123.456e-7", "-9.99E+3"}
	for _, s := range seeds {
		f.Add(s)
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, number string) {
		if !json.Valid([]byte(number)) || jsontext.Value(number).Kind() != '0' || len(number) > 40 {
			t.Skip("no JSON number, or one that math/big would write out")
		}
		want, ok := new(big.Rat).SetString(number)
		if !ok || want.Num().BitLen() > 1000 || want.Denom().BitLen() > 1000 {
			t.Skip()
		}
		n := exactly([]byte(number))
		if got := n.below0(); got != (want.Sign() < 0) {
			t.Errorf("%s is below 0: %v", number, got)
		}
		if got := n.isInteger(); got != want.IsInt() {
			t.Errorf("%s is an integer: %v", number, got)
		}
		for digit := byte(1); digit <= 9; digit++ {
			if got, want := n.compareDigit(digit), cmp.Compare(want.Cmp(big.NewRat(int64(digit), 1)), 0); got != want {
				t.Errorf("%s compared with %d: %d, want %d", number, digit, got, want)
			}
		}
	})
}
