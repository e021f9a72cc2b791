package speech

import (
	"slices"
	"strings"
	"testing"
)

func TestTags(t *testing.T) {
	for name, tt := range map[string]struct {
		of   Metadata
		want []string
	}{
		"all that there is": {
			Metadata{Service: "Asha Bank", Model: "m-1", RequestID: "req_1"},
			[]string{"SYNTHETIC=1", "SERVICE=Asha Bank", "MODEL=m-1", "REQUEST_ID=req_1"},
		},
		"nothing is known":       {Metadata{}, []string{"SYNTHETIC=1"}},
		"the longest value":      {Metadata{Model: strings.Repeat("m", 255)}, []string{"SYNTHETIC=1", "MODEL=" + strings.Repeat("m", 255)}},
		"a longer one":           {Metadata{Model: strings.Repeat("m", 256)}, []string{"SYNTHETIC=1", "MODEL=" + strings.Repeat("m", 255)}},
		"whole characters of it": {Metadata{Model: "mm" + strings.Repeat("क", 85)}, []string{"SYNTHETIC=1", "MODEL=mm" + strings.Repeat("क", 84)}},
	} {
		if got := tt.of.Tags(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
