package metrics

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

// TestEveryMetricHasAnOwner compares what can be registered with the table in docs/fleet.md.
func TestEveryMetricHasAnOwner(t *testing.T) {
	r := New()
	api := r.RegisterAPI(func() StreamCounts { return StreamCounts{} })
	api.Prefill(true)
	api.RegisterDelivery(func() DeliveryCounts { return DeliveryCounts{} })
	r.RegisterWorkers(func() speech.Capacity { return speech.Capacity{} })
	r.RegisterEngine(EngineInfo{}, func() EngineCounts { return EngineCounts{} })
	r.RegisterUsage(func() UsageCounts { return UsageCounts{} })
	r.RegisterKeys(func() KeyCounts { return KeyCounts{} })
	r.RegisterLog(func() int64 { return 0 })
	r.RegisterConnections(func(string) int64 { return 0 })
	r.RegisterPortal(func() int64 { return 0 }).RecordRequest("GET", 200, 0)
	r.RegisterPod(func() speech.Capacity { return speech.Capacity{} }).RecordRTF(1, 1)
	r.RegisterFleet(func() FleetCounts { return FleetCounts{} })
	r.RegisterRefusedUsage(func() int64 { return 0 })
	r.RegisterRouters(func() (int, int) { return 0, 0 })
	families, err := r.prometheus.Gather()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "## Metrics")
	if !found {
		t.Fatal("docs/fleet.md has no table of metrics any more")
	}
	owned := regexp.MustCompile("tts_[a-z_]+").FindAllString(table, -1)
	var registered []string
	for _, f := range families {
		name := f.GetName()
		if !strings.HasPrefix(name, "tts_") {
			continue // of Go, and of the process
		}
		registered = append(registered, name)
		if !slices.Contains(owned, name) {
			t.Errorf("%s has no owner in docs/fleet.md", name)
		}
	}
	for _, name := range owned {
		if !slices.Contains(registered, name) {
			t.Errorf("docs/fleet.md lists %s, an unknown metric", name)
		}
	}
}
