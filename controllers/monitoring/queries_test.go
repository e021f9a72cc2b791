package monitoring_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/swar-tts/swar/api/v1alpha1"
	operator "github.com/swar-tts/swar/controllers/metrics"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// labels are those of a metric, with their values as far as they are known before anything happens.
type labels map[string][]string

// fromScrape are labels that Prometheus and the PodMonitor add to what routers and worker pods tell.
var fromScrape = []string{"namespace", "pod", "app_kubernetes_io_instance", "app_kubernetes_io_component"}

// exported is every metric that a program of ours has.
func exported(t *testing.T) map[string]labels {
	t.Helper()
	r := metrics.New()
	api := r.RegisterAPI(func() metrics.StreamCounts { return metrics.StreamCounts{} })
	api.Prefill(true)
	api.RegisterDelivery(func() metrics.DeliveryCounts { return metrics.DeliveryCounts{} })
	r.RegisterWorkers(func() speech.Capacity { return speech.Capacity{} })
	r.RegisterEngine(metrics.EngineInfo{}, func() metrics.EngineCounts { return metrics.EngineCounts{} })
	r.RegisterUsage(func() metrics.UsageCounts { return metrics.UsageCounts{} })
	r.RegisterKeys(func() metrics.KeyCounts { return metrics.KeyCounts{} })
	r.RegisterPod(func() speech.Capacity { return speech.Capacity{} }).RecordRTF(1, 1)
	r.RegisterFleet(func() metrics.FleetCounts { return metrics.FleetCounts{} })
	r.RegisterPortal(func() int64 { return 0 }).RecordRequest(http.MethodGet, http.StatusServiceUnavailable,
		time.Second)
	r.RegisterMails(func() (sent, failed int64) { return 0, 0 })
	r.RegisterRouters(func() (current, behind int) { return 0, 0 })
	r.RegisterRefusedUsage(func() int64 { return 0 })

	fleets, of := operator.New(time.Now), types.NamespacedName{Namespace: "speech", Name: "hinglish"}
	fleets.SetSize(of, operator.Size{})
	fleets.Certificate(of, time.Now())
	fleets.SetConditions(of, []metav1.Condition{
		{Type: v1alpha1.Available, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonScaledToZero},
		{Type: v1alpha1.Progressing, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDeadlineExceeded},
		{Type: v1alpha1.ScalingActive, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNoRouterReports},
		{Type: v1alpha1.Degraded, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonQuotaExceeded},
		{Type: v1alpha1.PausedNow, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReconciliationPaused},
		{Type: v1alpha1.Contested, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAnotherOperator},
	})
	registry := prometheus.NewRegistry()
	if err := registry.Register(fleets); err != nil {
		t.Fatal(err)
	}
	all := map[string]labels{}
	for _, h := range []http.Handler{r.Handler(), promhttp.HandlerFor(registry, promhttp.HandlerOpts{})} {
		read(t, h, all)
	}
	return all
}

var (
	sample  = regexp.MustCompile(`(?m)^(\w+)(?:\{(.*)\})? \S+$`)
	matcher = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"`)
)

// read adds what a process tells.
func read(t *testing.T, h http.Handler, to map[string]labels) {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, s := range sample.FindAllStringSubmatch(answer.Body.String(), -1) {
		if to[s[1]] == nil {
			to[s[1]] = labels{}
		}
		for _, l := range matcher.FindAllStringSubmatch(s[2], -1) {
			to[s[1]][l[1]] = append(to[s[1]][l[1]], l[3])
		}
	}
}

// queries are those of all alerts and panels, by where they stand.
func queries(t *testing.T) map[string]string {
	t.Helper()
	d := fleet("speech", "hinglish")
	all := map[string]string{}
	for name, r := range rules(t, "", d) {
		all[name] = r.Expr
	}
	for _, p := range dashboard(t, d).Panels {
		for _, q := range p.Targets {
			all[p.Title+", "+q.LegendFormat] = q.Expr
		}
	}
	return all
}

var (
	selector = regexp.MustCompile(`([a-zA-Z_]\w*)\s*\{([^}]*)\}`)
	named    = regexp.MustCompile(`\b(?:tts|ttsd|process|go)_\w+`)
	grouped  = regexp.MustCompile(`\b(?:by|on|without|ignoring)\s*\(([^)]*)\)`)
	word     = regexp.MustCompile(`\w+`)
)

// TestQueriesNameWhatThereIs: a metric, a label or a value that no program has is an alert that never fires.
func TestQueriesNameWhatThereIs(t *testing.T) {
	has := exported(t)
	if len(has) < 50 {
		t.Fatalf("got %d metrics, want all", len(has))
	}
	for where, query := range queries(t) {
		for _, problem := range problemsOf(query, has) {
			t.Errorf("%s: %s\n%s", where, problem, query)
		}
	}
}

// problemsOf says what a query names that there is not.
func problemsOf(query string, has map[string]labels) (problems []string) {
	selectors := selector.FindAllStringSubmatch(query, -1)
	if n := len(named.FindAllString(query, -1)); n != len(selectors) {
		problems = append(problems, "a metric is taken of all fleets")
	}
	known := []string{"le"}
	for _, s := range selectors {
		metric, of := s[1], "app_kubernetes_io_instance"
		own, is := has[metric]
		if !is {
			problems = append(problems, "no program has "+metric)
			continue
		}
		known = slices.AppendSeq(known, maps.Keys(own))
		if strings.HasPrefix(metric, "ttsd_") {
			of = "name"
		} else {
			known = append(known, fromScrape...)
		}
		for _, want := range []string{`namespace="speech"`, of + `="hinglish"`} {
			if !strings.Contains(s[2], want) {
				problems = append(problems, metric+" is not taken of "+want)
			}
		}
		problems = append(problems, wrongMatchers(metric, s[2], own)...)
	}
	for _, g := range grouped.FindAllStringSubmatch(query, -1) {
		for _, label := range word.FindAllString(g[1], -1) {
			if !slices.Contains(known, label) {
				problems = append(problems, "none of its metrics has the label "+label)
			}
		}
	}
	return problems
}

// wrongMatchers says which matchers of a metric match nothing that it tells.
func wrongMatchers(metric, matchers string, own labels) (problems []string) {
	for _, m := range matcher.FindAllStringSubmatch(matchers, -1) {
		values, is := own[m[1]]
		if !is {
			if strings.HasPrefix(metric, "ttsd_") || !slices.Contains(fromScrape, m[1]) {
				problems = append(problems, metric+" has no label "+m[1])
			}
			continue
		}
		for value := range strings.SplitSeq(m[3], "|") {
			if !slices.Contains(values, value) {
				problems = append(problems, metric+" never has "+m[1]+" "+value)
			}
		}
	}
	return problems
}

// TestProblemsOfQueries: what this package promises hangs on finding them.
func TestProblemsOfQueries(t *testing.T) {
	has := map[string]labels{
		"tts_refused_total": {"reason": {"busy", "failed"}},
		"ttsd_condition":    {"namespace": {"speech"}, "name": {"hinglish"}, "type": {"Available"}},
	}
	for name, tt := range map[string]struct{ query, want string }{
		"as it should be": {`sum by (reason) (tts_refused_total{namespace="speech", app_kubernetes_io_instance="hinglish", reason=~"busy|failed"})`, ""},
		"no such metric":  {`tts_refusals_total{namespace="speech", app_kubernetes_io_instance="hinglish"}`, "no program has tts_refusals_total"},
		"no such label":   {`tts_refused_total{namespace="speech", app_kubernetes_io_instance="hinglish", cause="busy"}`, "tts_refused_total has no label cause"},
		"no such value":   {`tts_refused_total{namespace="speech", app_kubernetes_io_instance="hinglish", reason=~"busy|full"}`, "tts_refused_total never has reason full"},
		"no such group":   {`sum by (cause) (tts_refused_total{namespace="speech", app_kubernetes_io_instance="hinglish"})`, "none of its metrics has the label cause"},
		"of all fleets":   {`tts_refused_total`, "a metric is taken of all fleets"},
		"of a namespace":  {`tts_refused_total{namespace="speech"}`, `tts_refused_total is not taken of app_kubernetes_io_instance="hinglish"`},
		"of a pod":        {`ttsd_condition{namespace="speech", name="hinglish", pod="a"}`, "ttsd_condition has no label pod"},
	} {
		if got := strings.Join(problemsOf(tt.query, has), "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestLegends name labels that their query leaves.
func TestLegends(t *testing.T) {
	in := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, p := range dashboard(t, fleet("speech", "hinglish")).Panels {
		for _, q := range p.Targets {
			left := grouped.FindStringSubmatch(q.Expr)
			for _, l := range in.FindAllStringSubmatch(q.LegendFormat, -1) {
				if left == nil || !slices.Contains(word.FindAllString(left[1], -1), l[1]) {
					t.Errorf("%s: its legend has %s, which %s does not leave", p.Title, l[1], q.Expr)
				}
			}
		}
	}
}
