package monitoring_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/swar-tts/swar/controllers/monitoring"
)

// promtool runs Prometheus' own checks in a folder. Where it is not built the test is skipped, unless SWAR_TEST_RULES
// is set.
func promtool(t *testing.T, folder string, args ...string) {
	t.Helper()
	path, err := filepath.Abs("../../.cache/bin/promtool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil && os.Getenv("SWAR_TEST_RULES") != "" {
		t.Fatalf("there is no %s: run make promtool", path)
	} else if err != nil {
		t.Skipf("SKIPPED, so that the alerts were not tried: there is no %s; run make rules", path)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func write(t *testing.T, folder, name string, v any) {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAlerts fire when they should, and not one step before: rules_test.yaml says when.
func TestAlerts(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "rules.yaml", monitoring.New("https://example.org/runbooks").Rules(fleet("speech", "hinglish")))
	cases, err := os.ReadFile("rules_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "rules_test.yaml"), cases, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, folder, "check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
	promtool(t, folder, "test", "rules", "rules_test.yaml")
}

// TestEveryAlertIsTried: its file has a case in which it fires, and one in which it does not.
func TestEveryAlertIsTried(t *testing.T) {
	areTried(t, "rules_test.yaml", rules(t, "", fleet("speech", "hinglish")))
	areTried(t, "portal_rules_test.yaml", portalRules(t))
}

// TestDocumentedRules: what docs/monitoring.md shows is accepted by Prometheus, and asks for metrics that exist.
func TestDocumentedRules(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(read("monitoring.md"), -1)
	if len(examples) != 2 {
		t.Fatalf("%d examples, want the configuration and the rules", len(examples))
	}
	folder := t.TempDir()
	for i, name := range []string{"prometheus.yml", "swar-rules.yml"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(examples[i][1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known := read("fleet.md")
	for _, metric := range regexp.MustCompile(`tts_[a-z_]+`).FindAllString(examples[1][1], -1) {
		if !strings.Contains(known, "`"+strings.TrimSuffix(metric, "_bucket")+"`") {
			t.Errorf("a rule asks for %s, which docs/fleet.md does not list", metric)
		}
	}
	promtool(t, folder, "check", "config", "prometheus.yml")
}

func areTried(t *testing.T, file string, all map[string]rule) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Tests []struct {
			AlertRuleTest []struct {
				Alertname string           `json:"alertname"`
				ExpAlerts []map[string]any `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	fires, rests := map[string]bool{}, map[string]bool{}
	for _, c := range cases.Tests {
		for _, a := range c.AlertRuleTest {
			fires[a.Alertname] = fires[a.Alertname] || len(a.ExpAlerts) > 0
			rests[a.Alertname] = rests[a.Alertname] || len(a.ExpAlerts) == 0
		}
	}
	for name := range all {
		if !fires[name] || !rests[name] {
			t.Errorf("%s is not tried both ways", name)
		}
	}
	for name := range fires {
		if _, is := all[name]; !is {
			t.Errorf("%s tries %s, which there is not", file, name)
		}
	}
}

// TestQueriesOfPanels can be read by Prometheus: they are checked as if they were rules.
func TestQueriesOfPanels(t *testing.T) {
	var recorded []any
	for _, p := range dashboard(t, fleet("speech", "hinglish")).Panels {
		for _, q := range p.Targets {
			recorded = append(recorded, map[string]any{
				"record": "panel", "expr": strings.ReplaceAll(q.Expr, "$__rate_interval", "1m"),
				"labels": map[string]any{"panel": p.Title, "query": q.LegendFormat},
			})
		}
	}
	folder := t.TempDir()
	write(t, folder, "panels.yaml", map[string]any{"groups": []any{map[string]any{"name": "panels",
		"rules": recorded}}})
	promtool(t, folder, "check", "rules", "panels.yaml")
}
