package metrics

import (
	"strings"
	"testing"
)

func TestLostLinesAreReadWhenTheyAreScraped(t *testing.T) {
	m := New()
	lost := int64(0)
	m.RegisterLog(func() int64 { return lost })
	for _, want := range []string{"\ntts_log_lost_lines_total 0\n", "\ntts_log_lost_lines_total 3\n"} {
		if body, _ := scrape(t, m, ""); !strings.Contains(body, want) {
			t.Errorf("the scrape lacks %q", want)
		}
		lost = 3
	}
}
