package monitoring_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/monitoring"
)

// fleet is one as the API server keeps it.
func fleet(namespace, name string) *v1alpha1.TTSDeployment {
	d := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	d.Spec.Router.KeyGraceSeconds = 900
	d.Spec.Security.InternalTLS = v1alpha1.TLSOperator
	return d
}

// rule is one of the rules, as Prometheus reads them.
type rule struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

// rules are those for d, by their names. What is no string where a PrometheusRule wants one fails the test.
func rules(t *testing.T, runbooks string, d *v1alpha1.TTSDeployment) map[string]rule {
	t.Helper()
	text, err := json.Marshal(monitoring.New(runbooks).Rules(d))
	if err != nil {
		t.Fatal(err)
	}
	return readRules(t, text)
}

// readRules reads the spec of a PrometheusRule.
func readRules(t *testing.T, text []byte) map[string]rule {
	t.Helper()
	var spec struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	if err := yaml.UnmarshalStrict(text, &spec); err != nil {
		t.Fatal(err)
	}
	all := map[string]rule{}
	for _, g := range spec.Groups {
		for _, r := range g.Rules {
			if _, twice := all[r.Alert]; twice || r.Alert == "" {
				t.Errorf("there are two alerts %q", r.Alert)
			}
			all[r.Alert] = r
		}
	}
	return all
}

// panel is one of the panels of a dashboard.
type panel struct {
	ID          int
	Type        string
	Title       string
	Description string
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct{ Expr, LegendFormat string }
}

type board struct {
	UID    string
	Title  string
	Panels []panel
}

func dashboard(t *testing.T, d *v1alpha1.TTSDeployment) (b board) {
	t.Helper()
	if err := json.Unmarshal([]byte(monitoring.New("").Dashboard(d)), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhatIsFilledIn(t *testing.T) {
	others, short := fleet("speech", "hinglish"), fleet("speech", "hinglish")
	others.Spec.Security.InternalTLS = v1alpha1.TLSSecret
	short.Spec.Router.KeyGraceSeconds = 60
	for name, tt := range map[string]struct {
		of    *v1alpha1.TTSDeployment
		alert string
		want  string
	}{
		"the operator's certificates": {fleet("speech", "hinglish"), "SwarCertificateExpiring", `name="hinglish"}) < 604800`},
		"certificates of others":      {others, "SwarCertificateExpiring", `name="hinglish"}) < 86400`},
		"a grace of 15 minutes":       {fleet("speech", "hinglish"), "SwarKeysAway", "for: 600s"},
		"a grace of a minute":         {short, "SwarKeysAway", "for: 40s"},
		"a name that YAML misreads":   {fleet("true", "1e3"), "SwarPortalAway", "max(tts_keys_current{namespace=\"true\", app_kubernetes_io_instance=\"1e3\"})"},
		"a page":                      {fleet("speech", "hinglish"), "SwarRefusals", "https://wiki.example.org/swar/SwarRefusals.md\n"},
		"whose it is":                 {fleet("null", "0x1f"), "SwarRefusals", "fleet: \"0x1f\"\n  namespace: \"null\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			of, err := yaml.Marshal(rules(t, "https://wiki.example.org/swar/", tt.of)[tt.alert])
			if err != nil {
				t.Fatal(err)
			}
			got := strings.NewReplacer("Alert:", "alert:", "Expr:", "expr:", "For:", "for:").Replace(string(of))
			if !strings.Contains(got, tt.want) {
				t.Errorf("got\n%s\nwant %q in it", got, tt.want)
			}
		})
	}
}

// TestNothingIsLeftToFillIn: a word in capitals that nobody knows would stand in every alert.
func TestNothingIsLeftToFillIn(t *testing.T) {
	d := fleet("speech", "hinglish")
	texts := monitoring.New("https://example.org")
	rules, err := yaml.Marshal(texts.Rules(d))
	if err != nil {
		t.Fatal(err)
	}
	all := string(rules) + texts.Dashboard(d)
	for _, word := range []string{"NAMESPACE", "FLEET", "DASHBOARD_UID", "RUNBOOKS", "KEY_GRACE", "CERTIFICATE_LEAST"} {
		if strings.Contains(all, word) {
			t.Errorf("%s is left", word)
		}
	}
}

// TestFleetsDoNotShare what is filled in: templates stay as they are.
func TestFleetsDoNotShare(t *testing.T) {
	texts := monitoring.New("https://example.org")
	first := texts.Dashboard(fleet("speech", "hinglish"))
	second := texts.Dashboard(fleet("speech", "tamil"))
	if strings.Contains(second, "hinglish") || texts.Dashboard(fleet("speech", "hinglish")) != first {
		t.Error("the dashboard of one fleet is in that of another, or differs the second time")
	}
	// The names together are the same, and the fleets are not.
	if a, b := dashboard(t, fleet("a", "b-c")), dashboard(t, fleet("a-b", "c")); a.UID == b.UID {
		t.Errorf("two dashboards are %s", a.UID)
	}
}

// TestAlertsSayWhatIsWrong to somebody who is woken by them.
func TestAlertsSayWhatIsWrong(t *testing.T) {
	for name, r := range rules(t, "https://example.org/runbooks", fleet("speech", "hinglish")) {
		if severity := r.Labels["severity"]; severity != "warning" && severity != "critical" {
			t.Errorf("%s has the severity %q", name, severity)
		}
		if r.Labels["namespace"] != "speech" || r.Labels["fleet"] != "hinglish" {
			t.Errorf("%s is of %v", name, r.Labels)
		}
		if !strings.Contains(r.Annotations["summary"], "speech/hinglish") || r.Annotations["description"] == "" {
			t.Errorf("%s says %q", name, r.Annotations)
		}
		if got, want := r.Annotations["runbook_url"], "https://example.org/runbooks/"+name+".md"; got != want {
			t.Errorf("%s links %q, want %q", name, got, want)
		}
	}
}

// TestPanels have a place of their own, something to show and a word about it.
func TestPanels(t *testing.T) {
	b := dashboard(t, fleet("speech", "hinglish"))
	if len(b.UID) > 40 || b.Title != "Swar speech/hinglish" {
		t.Errorf("the dashboard is %s, %q", b.UID, b.Title)
	}
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range b.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("there are two panels %d, or %q has no title", p.ID, p.Title)
		}
		ids[p.ID] = true
		if p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("%q has %d queries and says %q", p.Title, len(p.Targets), p.Description)
		}
		if p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%q is beyond the right edge", p.Title)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, is := taken[[2]int{x, y}]; is {
					t.Fatalf("%q lies on %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}
