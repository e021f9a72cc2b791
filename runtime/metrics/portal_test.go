package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestThePortalIsReadWhenItIsScraped(t *testing.T) {
	m := New(func() speech.Capacity { return speech.Capacity{} })
	if body, _ := scrape(t, m, ""); strings.Contains(body, "tts_usage_") || strings.Contains(body, "tts_keys") {
		t.Error("metrics of a portal are shown without one")
	}
	var c PortalCounts
	p := m.RegisterPortal(func() PortalCounts { return c })
	p.Answered("GET", 200, 3*time.Millisecond)
	p.Answered("BREW", 405, time.Millisecond)
	for _, step := range []struct {
		name string
		c    PortalCounts
		want []string
	}{
		{"at the start", PortalCounts{}, []string{
			"tts_usage_queued_events 0", "tts_usage_oldest_seconds 0", "tts_usage_reconciliation_difference 0", "tts_usage_lost_events_total 0",
			"tts_keys 0", "tts_keys_current 0",
			`tts_portal_request_seconds_bucket{method="GET",status="200",le="0.0025"} 0`,
			`tts_portal_request_seconds_bucket{method="GET",status="200",le="0.005"} 1`,
			`tts_portal_request_seconds_count{method="OTHER",status="405"} 1`,
		}},
		{"later", PortalCounts{Queued: 7, Lost: 1, Delay: 1500 * time.Millisecond, Difference: 2, Keys: 3, Current: true}, []string{
			"tts_usage_queued_events 7", "tts_usage_oldest_seconds 1.5", "tts_usage_reconciliation_difference 2", "tts_usage_lost_events_total 1",
			"tts_keys 3", "tts_keys_current 1",
		}},
	} {
		c = step.c
		body, _ := scrape(t, m, "")
		for _, want := range step.want {
			if !strings.Contains(body, "\n"+want+"\n") {
				t.Errorf("%s: the scrape lacks %q", step.name, want)
			}
		}
	}
}
