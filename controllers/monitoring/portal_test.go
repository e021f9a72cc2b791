package monitoring_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// portalText is the chart's rules on the portal, filled in as templates/prometheusrule.yaml does.
func portalText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../charts/swar/files/portal-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(
		"NAMESPACE", "swar-system", "PORTAL", "swar-portal", "RUNBOOKS", "https://example.org/runbooks",
	).Replace(string(text))
}

func portalRules(t *testing.T) map[string]rule {
	t.Helper()
	return readRules(t, []byte(portalText(t)))
}

// TestAlertsOnThePortal fire when they should, and not one step before: portal_rules_test.yaml says when.
func TestAlertsOnThePortal(t *testing.T) {
	folder := t.TempDir()
	cases, err := os.ReadFile("portal_rules_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"rules.yaml": portalText(t), "rules_test.yaml": string(cases)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	promtool(t, folder, "check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
	promtool(t, folder, "test", "rules", "rules_test.yaml")
}

// TestQueriesOnThePortal name metrics that it has, and are of it alone.
func TestQueriesOnThePortal(t *testing.T) {
	has := exported(t)
	for name, r := range portalRules(t) {
		for _, s := range selector.FindAllStringSubmatch(r.Expr, -1) {
			own, is := has[s[1]]
			if !is {
				t.Errorf("%s: no program has %s", name, s[1])
			}
			if !strings.HasPrefix(s[2], `namespace="swar-system", service="swar-portal"`) {
				t.Errorf("%s takes %s of others, too: %s", name, s[1], s[2])
			}
			for _, m := range matcher.FindAllStringSubmatch(s[2], -1)[2:] {
				if _, is := own[m[1]]; !is {
					t.Errorf("%s: %s has no label %s", name, s[1], m[1])
				}
			}
		}
		if n := len(named.FindAllString(r.Expr, -1)); n != len(selector.FindAllString(r.Expr, -1)) {
			t.Errorf("%s takes a metric of everybody: %s", name, r.Expr)
		}
	}
}
