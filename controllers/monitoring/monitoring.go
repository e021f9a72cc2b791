// Package monitoring makes alerts for Prometheus and a dashboard for Grafana for a TTSDeployment.
package monitoring

import (
	"crypto/sha256"
	_ "embed" // of the texts
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// DefaultRunbooks is where the pages are that alerts link.
const DefaultRunbooks = "https://github.com/swar-tts/swar/blob/main/docs/runbooks"

// Remaining time of a certificate at which an alert fires. The operator renews its own ten days before their end;
// certificates of others may live shorter.
const (
	ownCertificateLeast   = 7 * 24 * time.Hour
	otherCertificateLeast = 24 * time.Hour
)

//go:embed rules.yaml
var rulesYAML []byte

//go:embed dashboard.json
var dashboardJSON []byte

// Templates are the alerts and the dashboard of any fleet. They are safe for concurrent use.
type Templates struct {
	runbooks  string
	rules     map[string]any
	dashboard map[string]any
}

// New returns templates whose alerts link pages at runbooks/ALERT.md.
func New(runbooks string) *Templates {
	t := &Templates{runbooks: strings.TrimRight(runbooks, "/")}
	for _, err := range []error{yaml.Unmarshal(rulesYAML, &t.rules), json.Unmarshal(dashboardJSON, &t.dashboard)} {
		if err != nil {
			panic(fmt.Sprintf("reading what was compiled in: %v", err))
		}
	}
	return t
}

// Rules returns the spec of a PrometheusRule for d, whose defaults must be set.
func (t *Templates) Rules(d *v1alpha1.TTSDeployment) map[string]any {
	return fill(t.rules, t.words(d)).(map[string]any)
}

// Dashboard returns a dashboard of Grafana for d, as JSON.
func (t *Templates) Dashboard(d *v1alpha1.TTSDeployment) string {
	text, err := json.Marshal(fill(t.dashboard, t.words(d)))
	if err != nil {
		panic(fmt.Sprintf("writing what was read as JSON: %v", err))
	}
	return string(text)
}

// words are the placeholders of templates, in capitals, with their values. Names in Kubernetes have no character that
// is special in PromQL or in an alert's text; [fill] handles their meaning in YAML and JSON.
func (t *Templates) words(d *v1alpha1.TTSDeployment) *strings.Replacer {
	grace := time.Duration(d.Spec.Router.KeyGraceSeconds) * time.Second
	least := ownCertificateLeast
	if d.Spec.Security.InternalTLS == v1alpha1.TLSSecret {
		least = otherCertificateLeast
	}
	return strings.NewReplacer(
		"NAMESPACE", d.Namespace, "FLEET", d.Name, "DASHBOARD_UID", uid(d), "RUNBOOKS", t.runbooks,
		"KEY_GRACE_MOST", seconds(grace*2/3), "KEY_GRACE", seconds(grace), "CERTIFICATE_LEAST", fmt.Sprintf("%.0f", least.Seconds()),
	)
}

// seconds writes a duration as Prometheus reads it.
func seconds(d time.Duration) string { return fmt.Sprintf("%.0fs", d.Seconds()) }

// uid is how Grafana knows the dashboard of d again; it may have 40 characters at most.
func uid(d *v1alpha1.TTSDeployment) string {
	sum := sha256.Sum256([]byte(d.Namespace + "/" + d.Name))
	return "swar-" + hex.EncodeToString(sum[:12])
}

// fill returns a copy of what was read of YAML or JSON, with words replaced in its strings. They stay strings, even if
// a fleet is called true.
func fill(v any, words *strings.Replacer) any {
	switch v := v.(type) {
	case map[string]any:
		filled := make(map[string]any, len(v))
		for key, value := range v {
			filled[key] = fill(value, words)
		}
		return filled
	case []any:
		filled := make([]any, len(v))
		for i, value := range v {
			filled[i] = fill(value, words)
		}
		return filled
	case string:
		return words.Replace(v)
	}
	return v
}
