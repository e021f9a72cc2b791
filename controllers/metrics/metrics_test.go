package metrics

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	now      = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	hinglish = types.NamespacedName{Namespace: "speech", Name: "hinglish"}
)

// scrape returns what is told now: a line for each value, with the values of its labels in the order of their names.
func scrape(t *testing.T, f *Fleets) map[string]float64 {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(f); err != nil {
		t.Fatal(err)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, family := range families {
		for _, m := range family.Metric {
			line := family.GetName()
			for _, l := range m.Label {
				line += " " + l.GetValue()
			}
			all[line] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return all
}

// told is everything that can be told of a fleet.
func told() *Fleets {
	f := New(func() time.Time { return now })
	f.SetSize(hinglish, Size{Demand: 2.5, QueueDepth: 3, Replicas: 4, Reason: "ScaledUpByDemand", Reporting: 2,
		NotReporting: 1})
	f.SetConditions(hinglish, []metav1.Condition{{Type: "Available", Status: metav1.ConditionTrue, Reason: "Ready"}})
	f.Certificate(hinglish, now.Add(time.Hour))
	return f
}

func TestWhatIsToldOfAFleet(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Fleets)
		want   map[string]float64
		absent []string
	}{
		"everything": {func(*Fleets) {}, map[string]float64{
			"ttsd_demand_slots hinglish speech":                           2.5,
			"ttsd_queue_depth hinglish speech":                            3,
			"ttsd_desired_replicas hinglish speech":                       4,
			"ttsd_routers true hinglish speech":                           2,
			"ttsd_routers false hinglish speech":                          1,
			"ttsd_scale_decisions_total hinglish speech ScaledUpByDemand": 1,
			"ttsd_scale_decisions_total hinglish speech HeldMissingData":  0,
			"ttsd_condition hinglish speech Ready True Available":         1,
			"ttsd_cert_expiry_seconds hinglish speech":                    3600,
		}, nil},
		"the same decision again": {func(f *Fleets) {
			f.SetSize(hinglish, Size{Demand: 9, Replicas: 4, Reason: "ScaledUpByDemand"})
		}, map[string]float64{
			"ttsd_demand_slots hinglish speech":                           9,
			"ttsd_scale_decisions_total hinglish speech ScaledUpByDemand": 1,
		}, nil},
		"another size for the same reason": {func(f *Fleets) {
			f.SetSize(hinglish, Size{Replicas: 8, Reason: "ScaledUpByDemand"})
		}, map[string]float64{"ttsd_scale_decisions_total hinglish speech ScaledUpByDemand": 2}, nil},
		"a reason that nobody knew": {func(f *Fleets) {
			f.SetSize(hinglish, Size{Replicas: 4, Reason: "Tired"})
		}, map[string]float64{"ttsd_scale_decisions_total hinglish speech Tired": 1}, nil},
		"paused": {func(f *Fleets) { f.ClearSize(hinglish) }, map[string]float64{
			"ttsd_scale_decisions_total hinglish speech ScaledUpByDemand": 1, // or it would seem to start anew
			"ttsd_condition hinglish speech Ready True Available":         1,
		}, []string{"ttsd_demand_slots", "ttsd_queue_depth", "ttsd_desired_replicas", "ttsd_routers"}},
		"another reason of a condition": {func(f *Fleets) {
			f.SetConditions(hinglish, []metav1.Condition{{Type: "Available", Status: metav1.ConditionFalse,
				Reason: "NoPods"}})
		}, map[string]float64{"ttsd_condition hinglish speech NoPods False Available": 1},
			[]string{"ttsd_condition hinglish speech Ready True Available"}},
		"a certificate that is over": {func(f *Fleets) { f.Certificate(hinglish, now.Add(-time.Second)) },
			map[string]float64{"ttsd_cert_expiry_seconds hinglish speech": -1}, nil},
		"no certificate":        {func(f *Fleets) { f.Certificate(hinglish, time.Time{}) }, nil, []string{"ttsd_cert_expiry_seconds"}},
		"gone":                  {func(f *Fleets) { f.Forget(hinglish) }, nil, []string{"ttsd_"}},
		"another operator acts": {func(f *Fleets) { f.Clear() }, nil, []string{"ttsd_"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := told()
			tt.change(f)
			got := scrape(t, f)
			for line, want := range tt.want {
				if value, ok := got[line]; !ok || value != want {
					t.Errorf("%s is %v, want %v; there are %v", line, value, want, got)
				}
			}
			for line := range got {
				if slices.ContainsFunc(tt.absent, func(absent string) bool { return strings.HasPrefix(line, absent) }) {
					t.Errorf("%s is still told", line)
				}
			}
		})
	}
}

// TestNobodyIsTold: who reconciles need not ask whether there is somebody to tell.
func TestNobodyIsTold(*testing.T) {
	var f *Fleets
	f.SetSize(hinglish, Size{})
	f.ClearSize(hinglish)
	f.SetConditions(hinglish, nil)
	f.Certificate(hinglish, now)
	f.Forget(hinglish)
}

// TestEveryReasonIsShownFromTheStart compares with the reasons of package scaler.
func TestEveryReasonIsShownFromTheStart(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../scaler/scaler.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Reason" {
			return true
		}
		found++
		reason, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil || !slices.Contains(reasons, reason) {
			t.Errorf("%s is not among the reasons that are shown from the start", spec.Names[0])
		}
		return true
	})
	if found < 15 {
		t.Errorf("got %d reasons in package scaler, want them all", found)
	}
}

// TestEveryMetricHasAnOwner compares what is told with the table in docs/fleet.md.
func TestEveryMetricHasAnOwner(t *testing.T) {
	page, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Metrics")
	owned := regexp.MustCompile("ttsd_[a-z_]+").FindAllString(table, -1)
	var exported []string
	for line := range scrape(t, told()) {
		name, _, _ := strings.Cut(line, " ")
		exported = append(exported, name)
		if !slices.Contains(owned, name) {
			t.Errorf("%s has no owner in docs/fleet.md", name)
		}
	}
	for _, name := range owned {
		if !slices.Contains(exported, name) {
			t.Errorf("docs/fleet.md lists %s, an unknown metric", name)
		}
	}
}
