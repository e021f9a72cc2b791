package metrics

import (
	"strings"
	"testing"
	"time"
)

func TestRouters(t *testing.T) {
	m := New()
	if body, _ := scrape(t, m, ""); strings.Contains(body, "tts_routers") {
		t.Error("routers are shown by a portal that has none")
	}
	m.RegisterRouters(func() (current, behind int) { return 3, 1 })
	body, _ := scrape(t, m, "")
	for _, want := range []string{`tts_routers{current="true"} 3`, `tts_routers{current="false"} 1`} {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("the scrape lacks %q", want)
		}
	}
}

func TestThePortalIsReadWhenItIsScraped(t *testing.T) {
	m := New()
	if body, _ := scrape(t, m, ""); strings.Contains(body, "tts_usage_") || strings.Contains(body, "tts_keys") {
		t.Error("metrics of a portal are shown without one")
	}
	var usage UsageCounts
	var keys KeyCounts
	var difference int64
	m.RegisterUsage(func() UsageCounts { return usage })
	m.RegisterKeys(func() KeyCounts { return keys })
	if body, _ := scrape(t, m, ""); strings.Contains(body, "tts_portal_") || strings.Contains(body, "reconciliation") {
		t.Error("metrics of a portal are shown where only keys are checked")
	}
	p := m.RegisterPortal(func() int64 { return difference })
	p.RecordRequest("GET", 200, 3*time.Millisecond)
	p.RecordRequest("BREW", 405, time.Millisecond)
	for _, step := range []struct {
		name string
		then func()
		want []string
	}{
		{"at the start", func() {}, []string{
			"tts_usage_queued_events 0", "tts_usage_oldest_seconds 0", "tts_usage_reconciliation_difference 0", "tts_usage_lost_events_total 0",
			"tts_keys 0", "tts_keys_current 0",
			`tts_portal_request_seconds_bucket{method="GET",status="200",le="0.0025"} 0`,
			`tts_portal_request_seconds_bucket{method="GET",status="200",le="0.005"} 1`,
			`tts_portal_request_seconds_count{method="OTHER",status="405"} 1`,
		}},
		{"later", func() {
			usage = UsageCounts{Queued: 7, Lost: 1, Delay: 1500 * time.Millisecond}
			keys, difference = KeyCounts{Keys: 3, Current: true}, 2
		}, []string{
			"tts_usage_queued_events 7", "tts_usage_oldest_seconds 1.5", "tts_usage_reconciliation_difference 2", "tts_usage_lost_events_total 1",
			"tts_keys 3", "tts_keys_current 1",
		}},
	} {
		step.then()
		body, _ := scrape(t, m, "")
		for _, want := range step.want {
			if !strings.Contains(body, "\n"+want+"\n") {
				t.Errorf("%s: the scrape lacks %q", step.name, want)
			}
		}
	}
}
