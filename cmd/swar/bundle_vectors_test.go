package main

import (
	"math"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/parity"
)

func TestARowOfVectorsSaysHowItMeasures(t *testing.T) {
	for sentence, tt := range map[string]struct {
		result parity.Result
		want   string
	}{
		"a largest difference":            {parity.Result{Difference: 1.26e-6, Tolerance: 5e-5}, "1.3e-06  5e-05"},
		"what is equal":                   {parity.Result{}, "0  0"},
		"two counts":                      {parity.Result{Difference: 3}, "3  0"},
		"a relative one":                  {parity.Result{Difference: .02841, Tolerance: .03, Measure: parity.RelativeRMS}, "2.84 % rms  3 % rms"},
		"a relative one of nothing":       {parity.Result{Tolerance: .08, Measure: parity.RelativeRMS}, "0  8 % rms"},
		"a relative one without a number": {parity.Result{Difference: math.Inf(1), Tolerance: .03, Measure: parity.RelativeRMS}, "-  3 % rms"},
		"what was not compared":           {parity.Result{Skipped: true}, "-  -"},
	} {
		if got := difference(tt.result) + "  " + tolerance(tt.result); got != tt.want {
			t.Errorf("%s: %q, want %q", sentence, got, tt.want)
		}
	}
}
