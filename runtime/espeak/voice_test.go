package espeak

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/swar-tts/swar/runtime/synth"
)

func TestWithoutTemperatureTheTextIsFedAsItIs(t *testing.T) {
	s := prepare("नमस्ते, आप आइए। धन्यवाद!")
	if got := string(voices[0].input(&s, synth.Options{Seed: 9, Chunk: 2})); got != s.text {
		t.Errorf("input %q, want %q", got, s.text)
	}
}

var orders = regexp.MustCompile("\x01(\\d+)S\x01(\\d+)P\x01(\\d+)R")

func TestTemperatureOrdersEachClause(t *testing.T) {
	s := prepare("नमस्ते, आप आइए। धन्यवाद!")
	got := string(voices[0].input(&s, synth.Options{Temperature: 2}))
	if plain := orders.ReplaceAllString(got, ""); plain != s.text {
		t.Errorf("without its orders the input is %q, want %q", plain, s.text)
	}
	parts := orders.Split(got, -1)[1:]
	if want := []string{"नमस्ते, ", "आप आइए। ", "धन्यवाद!"}; !slices.Equal(parts, want) {
		t.Errorf("orders stand before %q, want %q", parts, want)
	}
}

func TestTemperatureVariesAroundTheVoice(t *testing.T) {
	s := prepare("नमस्ते")
	for _, v := range voices {
		for _, temperature := range []float64{.3, 1, 2} {
			var sum [3]float64
			const seeds = 2000
			plain := [3]float64{float64(v.speed), float64(v.pitch), plainRange}
			swing := [3]float64{float64(v.speed) * (math.Exp(speedSwing*temperature) - 1), pitchSwing * temperature,
				rangeSwing * temperature}
			for seed := range int64(seeds) {
				m := orders.FindStringSubmatch(string(v.input(&s,
					synth.Options{Temperature: temperature, Seed: seed - seeds/2})))
				for i := range sum {
					value, err := strconv.Atoi(m[i+1])
					if err != nil {
						t.Fatal(err)
					}
					if d := math.Abs(float64(value) - plain[i]); d > swing[i]+.5 {
						t.Fatalf("%s, temperature %v: order %c is %d, %.1f away from the voice, want at most %.1f",
							v.name, temperature, "SPR"[i], value, d, swing[i])
					}
					sum[i] += float64(value)
				}
			}
			for i := range sum {
				if mean := sum[i] / seeds; math.Abs(mean-plain[i]) > .06*swing[i]+.1 {
					t.Errorf("%s, temperature %v: order %c is %.2f on average, want %.0f", v.name, temperature,
						"SPR"[i], mean, plain[i])
				}
			}
		}
	}
}

func TestNoiseDependsOnAllItsParts(t *testing.T) {
	base := noise{seed: 1, chunk: 2, clause: 3}
	want := base.swing(0)
	for _, other := range []noise{{2, 2, 3}, {1, 3, 3}, {1, 2, 4}, {2, 1, 3}, {math.MaxUint64, 2, 3}} {
		if other.swing(0) == want {
			t.Errorf("%+v swings like %+v", other, base)
		}
	}
	if base.swing(1) == want {
		t.Error("two properties of a clause swing together")
	}
	if base.swing(0) != want {
		t.Error("the same place swings differently the second time")
	}
}
