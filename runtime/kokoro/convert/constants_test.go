package convert

import "testing"

func TestConstants(t *testing.T) {
	for _, source := range []string{"hf_beta", "hm_omega"} {
		norms, ok := Constants(measuredModel, source)
		if !ok || len(norms) != len(Norms()) {
			t.Fatalf("%s: %d norms, %v; want %d", source, len(norms), ok, len(Norms()))
		}
		for name, n := range norms {
			for c, v := range n.Variance {
				if !(v >= 0) || n.Mean[c]-n.Mean[c] != 0 {
					t.Errorf("%s, %s, channel %d: mean %v, variance %v", source, name, c, n.Mean[c], v)
				}
			}
		}
	}
	if _, ok := Constants(measuredVocoder, "hf_beta"); !ok {
		t.Error("the vocoder's weights have no constants")
	}
	for _, other := range [][2]string{{measuredModel, "hf_nobody"}, {measuredModel, "../hf_beta"}, {"", "hf_beta"}} {
		if _, ok := Constants(other[0], other[1]); ok {
			t.Errorf("%q has constants", other)
		}
	}
}
