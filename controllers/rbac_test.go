package controllers_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/monitoring"
	"github.com/swar-tts/swar/controllers/resources"
)

// unused are rights that no request of the operator needs, and why it has them all the same.
var unused = map[string]string{
	"patch /events": "an election that repeats within minutes is counted on",
	"update swar.dev/ttsdeployments/finalizers":        "where OwnerReferencesPermissionEnforcement is on, who owns objects must have it",
	"get discovery.k8s.io/endpointslices":              "nobody can give routers a right that they have not",
	"list discovery.k8s.io/endpointslices":             "nobody can give routers a right that they have not",
	"watch discovery.k8s.io/endpointslices":            "nobody can give routers a right that they have not",
	"create authentication.k8s.io/tokenreviews":        "asked by the metrics server's client; TestWhoMayReadMetrics needs it",
	"create authorization.k8s.io/subjectaccessreviews": "asked by the metrics server's client; TestWhoMayReadMetrics needs it",
}

// request is one to the API server.
type request struct {
	verb      string
	resource  string // GROUP/RESOURCE or GROUP/RESOURCE/SUBRESOURCE; the group of the core is empty
	namespace string // empty for all of them
	name      string
}

func (r request) right() string { return r.verb + " " + r.resource }

// recorder keeps what is asked of the API server, and what is refused.
type recorder struct {
	next http.RoundTripper

	mu      *sync.Mutex
	asked   map[request]bool
	refused map[string]bool
}

func (r recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	asked, ok := requestOf(q)
	answer, err := r.next.RoundTrip(q)
	if err != nil || !ok {
		return answer, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[asked] = true
	switch answer.StatusCode {
	case http.StatusCreated:
		asked.verb = "create" // an object that was applied and was not there
		r.asked[asked] = true
	case http.StatusForbidden:
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			return nil, err
		}
		r.refused[string(text)] = true
		answer.Body = io.NopCloser(bytes.NewReader(text))
	}
	return answer, nil
}

// requestOf reads a path such as /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME. Others are not about objects.
func requestOf(q *http.Request) (r request, ok bool) {
	parts := strings.Split(strings.Trim(q.URL.Path, "/"), "/")
	group := ""
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = parts[1], parts[3:]
	default:
		return r, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		r.namespace, parts = parts[1], parts[2:]
	}
	r.resource = group + "/" + parts[0]
	if len(parts) > 1 {
		r.name = parts[1]
	}
	if len(parts) > 2 {
		r.resource += "/" + parts[2]
	}
	isWatch := q.URL.Query().Get("watch") == "true"
	r.verb = map[string]string{
		http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
		http.MethodGet: "get",
	}[q.Method]
	switch {
	case r.verb == "get" && isWatch:
		r.verb = "watch"
	case r.verb == "get" && r.name == "":
		r.verb = "list"
	}
	return r, true
}

// role is a Role or ClusterRole of the chart.
type role struct {
	name      string
	namespace string // empty for one of the cluster
	rules     []rbacv1.PolicyRule
}

// allows returns the right of the role by which a request is allowed, empty if there is none.
func (r role) allows(q request) string {
	if r.namespace != "" && r.namespace != q.namespace {
		return ""
	}
	for _, right := range r.rights() {
		if right == q.right() || right == q.right()+" "+q.name {
			return right
		}
	}
	return ""
}

// rights are VERB GROUP/RESOURCE, or VERB GROUP/RESOURCE NAME.
func (r role) rights() (all []string) {
	for _, rule := range r.rules {
		for _, verb := range rule.Verbs {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					right := verb + " " + group + "/" + resource
					if len(rule.ResourceNames) == 0 {
						all = append(all, right)
					}
					for _, name := range rule.ResourceNames {
						all = append(all, right+" "+name)
					}
				}
			}
		}
	}
	return all
}

// install applies the roles that the chart gives the operator, in other namespaces than it was rendered for, and
// returns those of the operator.
func install(t *testing.T, c client.Client, golden string, namespaces map[string]string) (roles []role) {
	t.Helper()
	text, err := os.ReadFile("../hack/chart/testdata/" + golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n---\n") {
		for from, to := range namespaces {
			part = strings.ReplaceAll(part, "namespace: "+from+"\n", "namespace: "+to+"\n")
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), &u.Object); err != nil {
			t.Fatal(err)
		}
		if u.Object == nil || u.GroupVersionKind().Group != rbacv1.GroupName && u.GetKind() != "ServiceAccount" {
			continue
		}
		if err := c.Create(t.Context(), u); err != nil {
			t.Fatalf("%s %s: %v", u.GetKind(), u.GetName(), err)
		}
		t.Cleanup(func() { _ = c.Delete(context.Background(), u) }) // those of the cluster are not the next test's
		isOfPeople := strings.Contains(u.GetName(), "ttsdeployment") || strings.HasSuffix(u.GetName(), "-reader")
		if !strings.HasSuffix(u.GetKind(), "Role") || isOfPeople {
			continue
		}
		var r rbacv1.Role
		if err := yaml.Unmarshal([]byte(part), &r); err != nil {
			t.Fatal(err)
		}
		roles = append(roles, role{r.Name, r.Namespace, r.Rules})
	}
	return roles
}

// account is that of the operator of a release, as it calls the API server.
func account(namespace, name string) *rest.Config {
	config := rest.CopyConfig(kube)
	config.QPS, config.Burst = 500, 1000
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":" + name,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
	return config
}

// defineMonitors makes the kinds of the Prometheus operator known, as far as tests need it.
func defineMonitors(t *testing.T, c client.Client) {
	t.Helper()
	for plural, kind := range map[string]string{"podmonitors": "PodMonitor", "prometheusrules": "PrometheusRule"} {
		crd := parse(t, "", fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {plural: %[1]s, kind: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, plural, kind))
		eventually(t, kind+" can be made, when that of the test before is gone", 10*time.Second,
			func(ctx context.Context) string {
				if err := c.Create(ctx, crd.DeepCopy()); err != nil {
					return err.Error()
				}
				return ""
			})
		t.Cleanup(func() { _ = c.Delete(context.Background(), crd) })
		eventually(t, kind+" is known", 10*time.Second, func(ctx context.Context) string {
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion("monitoring.coreos.com/v1")
			list.SetKind(kind)
			if err := c.List(ctx, list); err != nil {
				return err.Error()
			}
			return ""
		})
	}
}

// TestRights runs the operator as its own account with exactly the roles of the chart, has it do everything that it can
// do, and compares what it was allowed with what it needed: nothing is refused, and nothing is granted in vain.
func TestRights(t *testing.T) {
	for name, tt := range map[string]struct {
		golden  string
		account string
		scope   func(own, fleets string) []string // namespaces that it looks after
	}{
		"of a namespace":   {"namespaces.yaml", "speech-operator", func(_, fleets string) []string { return []string{fleets} }},
		"of the cluster":   {"cluster.yaml", "swar-operator", func(_, _ string) []string { return nil }},
		"of its namespace": {"default.yaml", "swar-operator", func(own, _ string) []string { return []string{own} }},
	} {
		t.Run(name, func(t *testing.T) {
			c, own := open(t)
			_, fleets := open(t)
			_, other := open(t)
			if tt.golden == "default.yaml" {
				fleets = own
			}
			roles := install(t, c, tt.golden, map[string]string{"swar-system": own, "shop": fleets, "support": other})
			defineMonitors(t, c)
			asked := do(t, c, own, fleets, account(own, tt.account), tt.scope(own, fleets))
			compare(t, roles, asked, other)
		})
	}
}

// compare finds requests that no role allows, and rights that no request needs.
func compare(t *testing.T, roles []role, asked map[request]bool, idle string) {
	t.Helper()
	needed := map[string]bool{}
	for q := range asked {
		allowed := false
		for _, r := range roles {
			if right := r.allows(q); right != "" {
				needed[r.namespace+" "+r.name+" "+right], allowed = true, true
			}
		}
		if !allowed {
			t.Errorf("it asks to %s in the namespace %q, and no role says that it may", q.right(), q.namespace)
		}
	}
	for _, r := range roles {
		for _, right := range r.rights() {
			verb, resource, _ := strings.Cut(right, " ")
			isNeeded := func(right string) bool { return needed[r.namespace+" "+r.name+" "+right] }
			isOlder := verb == "list" && isNeeded("watch "+resource) // API servers before 1.35 stream no lists
			if r.namespace != idle && !isNeeded(right) && !isOlder && unused[right] == "" {
				t.Errorf("%s in %q grants to %s, and nothing needs that", r.name, r.namespace, right)
			}
			if resource == "/secrets" && (verb == "list" || verb == "watch" || verb == "delete") ||
				strings.Contains(resource, "pods/exec") {
				t.Errorf("%s in %q grants to %s, which nobody should have", r.name, r.namespace, right)
			}
		}
	}
}

// do has an operator do everything, and returns what it has asked for.
func do(t *testing.T, c client.Client, own, fleets string, config *rest.Config, scope []string) map[request]bool {
	t.Helper()
	rec := recorder{mu: new(sync.Mutex), asked: map[request]bool{}, refused: map[string]bool{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return recorder{next, rec.mu, rec.asked,
			rec.refused}
	})
	defer func() {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		for text := range rec.refused {
			t.Errorf("it is refused: %s", text)
		}
	}()
	var ahead atomic.Int64
	stop := lead(t, config, own, scope, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })

	const everything = `{
		observability: {podMonitor: Enabled, prometheusRule: Enabled, dashboard: Enabled},
		access: {mode: Portal},
	}`
	create(t, c, fleetWith(t, fleets, "everything", everything))
	create(t, c, fleetWith(t, fleets, "mesh",
		`{router: {replicas: 2, usageVolume: {}}, security: {internalTLS: Mesh}}`))
	create(t, c, fleetWith(t, fleets, "keys", `{access: {mode: Keys, secretName: keys}}`))
	rolls := hasCondition(v1alpha1.Progressing, metav1.ConditionTrue, v1alpha1.ReasonRollingOut)
	wait(t, c, fleets, "everything", "everything is made", rolls)
	wait(t, c, fleets, "mesh", "a StatefulSet is made", rolls)

	patch(t, c, fleets, "everything", `{"spec": {"security": {"networkPolicy": "Disabled"},
		"observability": {"podMonitor": "Disabled", "prometheusRule": "Disabled", "dashboard": "Disabled"}}}`)
	isGone := func(kind, version, name string) {
		eventually(t, kind+" is gone", 20*time.Second, func(ctx context.Context) string {
			u := &unstructured.Unstructured{}
			u.SetAPIVersion(version)
			u.SetKind(kind)
			if err := c.Get(ctx, client.ObjectKey{Namespace: fleets, Name: name},
				u); client.IgnoreNotFound(err) != nil || err == nil {
				return fmt.Sprint("it is there, ", err)
			}
			return ""
		})
	}
	isGone("NetworkPolicy", "networking.k8s.io/v1", "everything-router")
	isGone("ConfigMap", "v1", "everything-dashboard")
	isGone("PodMonitor", "monitoring.coreos.com/v1", "everything")
	isGone("PrometheusRule", "monitoring.coreos.com/v1", "everything")

	// The same is said twice of a fleet, which makes an Event a series.
	keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: fleets, Name: "keys"},
		StringData: map[string]string{"keys": "k"}}
	for range 2 {
		wait(t, c, fleets, "keys", "keys are missing",
			hasCondition(v1alpha1.Degraded, metav1.ConditionTrue, v1alpha1.ReasonSecretMissing))
		create(t, c, keys.DeepCopy())
		patch(t, c, fleets, "keys", fmt.Sprintf(`{"metadata": {"annotations": {"touched": "%d"}}}`,
			time.Now().UnixNano()))
		wait(t, c, fleets, "keys", "keys are there",
			hasCondition(v1alpha1.Degraded, metav1.ConditionFalse, v1alpha1.ReasonAsExpected))
		if err := c.Delete(t.Context(), keys.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		patch(t, c, fleets, "keys", fmt.Sprintf(`{"metadata": {"annotations": {"touched": "%d"}}}`,
			time.Now().UnixNano()))
	}

	ahead.Store(int64((10*365 - 119) * 24 * time.Hour)) // the authority is about to end
	patch(t, c, fleets, "everything", `{"metadata": {"annotations": {"touched": "again"}}}`)
	has := func(what string, q request) {
		eventually(t, what, 30*time.Second, func(context.Context) string {
			rec.mu.Lock()
			defer rec.mu.Unlock()
			for asked := range rec.asked {
				if q.name == "" {
					asked.name = ""
				}
				if asked == q {
					return ""
				}
			}
			return "it is not asked for"
		})
	}
	has("who leads is told", request{"create", "/events", own, ""})
	has("an Event is made a series", request{"patch", "events.k8s.io/events", fleets, ""})
	has("the next authority is announced", request{"patch", "/secrets", own, controllers.AuthoritySecret})
	has("a certificate is renewed", request{"patch", "/secrets", fleets, "everything-worker-tls"})
	has("the portal has a certificate", request{"patch", "/secrets", own, controllers.PortalTLSSecret})
	has("the portal has a token", request{"patch", "/secrets", own, controllers.PortalTokenSecret})
	has("the lease is renewed", request{"update", "coordination.k8s.io/leases", own, resources.ManagedBy})
	stop()

	rec.mu.Lock()
	defer rec.mu.Unlock()
	return maps.Clone(rec.asked) // Events are told for a moment longer
}

func patch(t *testing.T, c client.Client, namespace, name, text string) {
	t.Helper()
	f := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := c.Patch(t.Context(), f, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		t.Fatal(err)
	}
}

// lead starts an operator that has all there can be, and returns what ends it.
func lead(t *testing.T, config *rest.Config, own string, scope []string, now func() time.Time) (stop func()) {
	t.Helper()
	options := controllers.ManagerOptions(scope)
	options.Metrics = server.Options{BindAddress: "0"}
	options.LeaderElection, options.LeaderElectionID, options.LeaderElectionNamespace = true, resources.ManagedBy, own
	options.LeaderElectionReleaseOnCancel = true
	skip := true
	options.Controller.SkipNameValidation = &skip
	m, err := ctrl.NewManager(config, options)
	if err != nil {
		t.Fatal(err)
	}
	texts := monitoring.New("")
	c := controllers.Config{
		Namespace: own, Now: now, Portal: "swar-portal." + own + ".svc:8082",
		Release: resources.Release{
			WorkerImage: "swar/worker:1", RouterImage: "swar/router:1", OperatorNamespace: own,
			Kinds: resources.Kinds{PodMonitor: true, PrometheusRule: true},
			Rules: texts.Rules, Dashboard: texts.Dashboard,
		},
	}
	if err := controllers.Add(m, c, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// TestWhoMayReadMetrics: who was given the chart's role for that, and nobody else.
func TestWhoMayReadMetrics(t *testing.T) {
	c, own := open(t)
	install(t, c, "cluster.yaml", map[string]string{"swar-system": own})
	options := controllers.ManagerOptions(nil)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	options.Metrics = server.Options{
		BindAddress: address, SecureServing: true, FilterProvider: filters.WithAuthenticationAndAuthorization,
	}
	m, err := ctrl.NewManager(account(own, "swar-operator"), options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	})
	create(t, c, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: own},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole",
			Name: "swar-operator-metrics-reader"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: own, Name: "prometheus"}},
	})
	get := func(token string) int {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			q.Header.Set("Authorization", "Bearer "+token)
		}
		h := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		answer, err := h.Do(q)
		if err != nil {
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	eventually(t, "somebody answers", 20*time.Second, func(context.Context) string {
		if get("") == 0 {
			return "nobody does"
		}
		return ""
	})
	for name, want := range map[string]int{"prometheus": http.StatusOK, "somebody": http.StatusForbidden,
		"": http.StatusUnauthorized} {
		token := ""
		if name != "" {
			a := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: name}}
			create(t, c, a)
			q := &authenticationv1.TokenRequest{}
			if err := c.SubResource("token").Create(t.Context(), a, q); err != nil {
				t.Fatal(err)
			}
			token = q.Status.Token
		}
		if got := get(token); got != want {
			t.Errorf("%q is answered %d, want %d", name, got, want)
		}
	}
}

// TestWhatTheChartInstalls is taken by an API server as it is, and its pods by the restricted Pod Security Standard.
func TestWhatTheChartInstalls(t *testing.T) {
	files, err := os.ReadDir("../hack/chart/testdata")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	// kinds that this API server does not know
	ofOthers := []string{"gateway.networking.k8s.io", "monitoring.coreos.com"}
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			c, namespace := open(t)
			strict := client.NewNamespacedClient(client.WithFieldValidation(client.NewDryRunClient(c),
				metav1.FieldValidationStrict), namespace)
			n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
			label := []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
			if err := c.Patch(t.Context(), n, client.RawPatch("application/merge-patch+json", label)); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile("../hack/chart/testdata/" + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, part := range strings.Split(string(text), "\n---\n") {
				u := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(part), &u.Object); err != nil {
					t.Fatal(err)
				}
				if u.Object == nil || slices.Contains(ofOthers, u.GroupVersionKind().Group) {
					continue
				}
				if u.GetNamespace() != "" {
					u.SetNamespace(namespace)
				}
				seen++
				if err := strict.Create(t.Context(), u); err != nil {
					t.Errorf("%s %s: %v", u.GetKind(), u.GetName(), err)
				}
				if template, ok, _ := unstructured.NestedMap(u.Object, "spec", "template"); ok &&
					u.GetKind() == "Deployment" {
					pod := &unstructured.Unstructured{Object: template}
					pod.SetAPIVersion("v1")
					pod.SetKind("Pod")
					pod.SetGenerateName(u.GetName() + "-")
					pod.SetNamespace(namespace)
					if err := strict.Create(t.Context(), pod); err != nil {
						t.Errorf("a pod of %s: %v", u.GetName(), err)
					}
				}
			}
			if seen < 7 {
				t.Errorf("only %d objects", seen)
			}
		})
	}
}
