package usage

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPaise(t *testing.T) {
	tests := map[string]struct{ billed, rate, want int64 }{
		"a minute":                    {750, 20, 20},
		"nothing":                     {0, 20, 0},
		"a frame":                     {1, 20, 0},
		"just below half a paisa":     {18, 20, 0},
		"half a paisa and a bit":      {19, 20, 1},
		"exactly half a paisa":        {75, 5, 1},
		"one and exactly half":        {225, 5, 2},
		"a free month":                {750, 0, 0},
		"less than nothing":           {-750, 20, 0},
		"as many frames as there are": {math.MaxInt64, 750, math.MaxInt64},
		"more than fits":              {math.MaxInt64, 751, math.MaxInt64},
		"more than divides":           {math.MaxInt64, math.MaxInt64, math.MaxInt64},
		"a million years of speaking": {394_470_000_000_000, 20, 10_519_200_000_000},
	}
	for name, tt := range tests {
		if got := Paise(tt.billed, tt.rate); got != tt.want {
			t.Errorf("%s: %d frames at %d = %d paise, want %d", name, tt.billed, tt.rate, got, tt.want)
		}
	}
}

func TestPaiseAgainstRationalNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	half := big.NewRat(1, 2)
	for range 200_000 {
		billed, rate := rng.Int64()>>rng.IntN(63), rng.Int64()>>(20+rng.IntN(43))
		exact := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(billed), big.NewInt(rate)),
			big.NewInt(FramesPerMinute))
		exact.Add(exact, half)
		want := new(big.Int).Div(exact.Num(), exact.Denom()) // rounds down, and it is not negative
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if got := Paise(billed, rate); got != want.Int64() {
			t.Fatalf("%d frames at %d = %d paise, want %d", billed, rate, got, want)
		}
	}
}

func TestDecimals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	check := func(n int64, got string, num, denom int64, digits int) {
		t.Helper()
		exact := big.NewRat(num, denom)
		exact.Mul(exact, new(big.Rat).SetInt64(n))
		if want := exact.FloatString(digits); strings.TrimPrefix(got, "-") != strings.TrimPrefix(want, "-") ||
			(n < 0 && !isZero(want)) != strings.HasPrefix(got, "-") {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
	for i := range int64(5000) {
		n := i - 2500
		if i >= 4000 {
			n = rng.Int64() >> (5 + rng.IntN(50))
		}
		check(n, Rupees(n), 1, 100, 2)
		check(n, Seconds(n), 8, 100, 2)
		check(n, Minutes(n), 1, FramesPerMinute, 3)
	}
}

func isZero(s string) bool { return strings.Trim(s, "-0.") == "" }

// No floating-point number may come near money: not as a type, not as a literal, not as a function of package math.
func TestNoFloatInMoney(t *testing.T) {
	for _, file := range []string{"money.go", "bill.go", "book.go", "store.go", "shard.go", "ledger.go", "upkeep.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range floatsIn(f) {
			t.Errorf("%s uses %s", file, fault)
		}
	}
	found := map[string]bool{}
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
		import "math"
		var a float64
		var b = 0.5
		var c = math.Round(float32(1))`, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range floatsIn(f) {
		found[fault] = true
	}
	for _, want := range []string{"float64", "float32", "0.5", "math.Round"} {
		if !found[want] {
			t.Errorf("this test does not see %s", want)
		}
	}
}

func floatsIn(f *ast.File) (faults []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if strings.HasPrefix(n.Name, "float") || strings.HasPrefix(n.Name, "complex") {
				faults = append(faults, n.Name)
			}
		case *ast.BasicLit:
			if n.Kind == token.FLOAT || n.Kind == token.IMAG {
				faults = append(faults, n.Value)
			}
		case *ast.SelectorExpr:
			if p, ok := n.X.(*ast.Ident); ok && p.Name == "math" && !strings.HasPrefix(n.Sel.Name, "MaxInt") {
				faults = append(faults, fmt.Sprintf("math.%s", n.Sel.Name))
			}
		}
		return true
	})
	return faults
}

func TestRates(t *testing.T) {
	rates := Rates{{"", 20}, {"2026-12", 25}, {"2027-02", 15}}
	if err := rates.check(); err != nil {
		t.Fatal(err)
	}
	for month, want := range map[string]int64{"2025-01": 20, "2026-11": 20, "2026-12": 25, "2027-01": 25, "2027-02": 15,
		"2030-01": 15} {
		if got := rates.at(month); got != want {
			t.Errorf("in %s %d paise, want %d", month, got, want)
		}
	}
	if got := Rates(nil).at("2026-11"); got != DefaultRate {
		t.Errorf("without rates %d paise, want %d", got, DefaultRate)
	}
	for name, bad := range map[string]Rates{
		"negative":      {{"", -1}},
		"no month":      {{"2026-13", 20}},
		"a day":         {{"2026-12-01", 20}},
		"out of order":  {{"2026-12", 20}, {"2026-11", 25}},
		"twice a month": {{"2026-12", 20}, {"2026-12", 25}},
	} {
		if bad.check() == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
