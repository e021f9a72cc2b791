package controllers_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/resources"
)

// writes counts what an operator writes.
type writes struct {
	next http.RoundTripper
	n    *atomic.Int64
	last *atomic.Value
}

func (w writes) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		w.n.Add(1)
		w.last.Store(r.Method + " " + r.URL.Path)
	}
	return w.next.RoundTrip(r)
}

// operator is one that looks after a namespace of a test.
type operator struct {
	writes  atomic.Int64
	last    atomic.Value
	stop    func()
	problem chan error
}

func startOperator(t *testing.T, namespace string, c controllers.Config) *operator {
	t.Helper()
	return startOperatorOf(t, namespace, namespace, c)
}

// startOperatorOf starts an operator of a release in the namespace own, which watches another one.
func startOperatorOf(t *testing.T, own, namespace string, c controllers.Config) *operator {
	t.Helper()
	o := &operator{problem: make(chan error, 1)}
	o.last.Store("")
	config := rest.CopyConfig(kube)
	config.QPS, config.Burst = 500, 1000
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return writes{next, &o.writes, &o.last} })
	options := controllers.ManagerOptions([]string{namespace})
	options.Metrics = server.Options{BindAddress: "0"}
	skip := true
	options.Controller.SkipNameValidation = &skip // several of them run in this process
	m, err := ctrl.NewManager(config, options)
	if err != nil {
		t.Fatal(err)
	}
	c.Namespace = namespace // which the test has; the authority is there
	c.Release.WorkerImage, c.Release.RouterImage, c.Release.OperatorNamespace = "swar/worker:1", "swar/router:1", own
	if err := controllers.Add(m, c, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { o.problem <- m.Start(ctx) }()
	stopped := false
	o.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-o.problem; err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	}
	t.Cleanup(o.stop)
	return o
}

// idle waits until the operator has written nothing for a while, and fails if that never comes.
func (o *operator) idle(t *testing.T) {
	t.Helper()
	const quiet, limit = 2 * time.Second, 30 * time.Second
	begin, before, since := time.Now(), o.writes.Load(), time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if now := o.writes.Load(); now != before {
			before, since = now, time.Now()
		}
		if time.Since(since) >= quiet {
			return
		}
		if time.Since(begin) > limit {
			t.Fatalf("it still writes: %v", o.last.Load())
		}
	}
}

func condition(f *v1alpha1.TTSDeployment, typ string) metav1.Condition {
	for _, c := range f.Status.Conditions {
		if c.Type == typ {
			return c
		}
	}
	return metav1.Condition{}
}

// wait waits until a fleet is as a test wants it.
func wait(
	t *testing.T, c client.Client, namespace, name, what string, wrong func(*v1alpha1.TTSDeployment) string,
) *v1alpha1.TTSDeployment {
	t.Helper()
	f := &v1alpha1.TTSDeployment{}
	eventually(t, what, 30*time.Second, func(ctx context.Context) string {
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, f); err != nil {
			return err.Error()
		}
		return wrong(f)
	})
	return f
}

func hasCondition(typ string, status metav1.ConditionStatus, reason string) func(*v1alpha1.TTSDeployment) string {
	return func(f *v1alpha1.TTSDeployment) string {
		c := condition(f, typ)
		if c.Status != status || c.Reason != reason {
			return fmt.Sprintf("%s is %s, %s: %s", typ, c.Status, c.Reason, c.Message)
		}
		return ""
	}
}

var isRollingOut = hasCondition(v1alpha1.Progressing, metav1.ConditionTrue, v1alpha1.ReasonRollingOut)

var isWell = hasCondition(v1alpha1.Degraded, metav1.ConditionFalse, v1alpha1.ReasonAsExpected)

func create(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func TestAFleetIsMadeAndLeftAlone(t *testing.T) {
	c, namespace := open(t)
	o := startOperator(t, namespace, controllers.Config{})
	create(t, c, fleetWith(t, namespace, "hinglish", `{scaling: {minReplicas: 2, maxReplicas: 4}}`))
	f := wait(t, c, namespace, "hinglish", "it is looked at", isRollingOut)
	if f.Spec.Replicas == nil || *f.Spec.Replicas != 2 {
		t.Errorf("spec.replicas is %v, want the minimum", f.Spec.Replicas)
	}
	release := resources.Release{WorkerImage: "w:1", RouterImage: "r:1"}
	for _, want := range resources.Build(release, f, resources.Facts{Workers: 2}) {
		live := want.DeepCopyObject().(client.Object)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
			t.Errorf("%T %s: %v", want, want.GetName(), err)
			continue
		}
		if owners := live.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != f.UID {
			t.Errorf("%T %s belongs to %v", want, want.GetName(), owners)
		}
	}
	routers := &appsv1.Deployment{}
	err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "hinglish-router"}, routers)
	if err != nil || *routers.Spec.Replicas != 2 {
		t.Errorf("%v routers, %v; want two at first", routers.Spec.Replicas, err)
	}
	o.idle(t)

	t.Run("others may scale routers", func(t *testing.T) {
		three := int32(3)
		routers.Spec.Replicas = &three
		if err := c.Update(t.Context(), routers); err != nil {
			t.Fatal(err)
		}
		o.idle(t)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(routers), routers); err != nil ||
			*routers.Spec.Replicas != 3 {
			t.Errorf("there are %d routers, %v; want the three", *routers.Spec.Replicas, err)
		}
	})

	t.Run("their number stays when it is not said any more", func(t *testing.T) {
		for _, replicas := range []string{"4", "null"} {
			patch := client.RawPatch("application/merge-patch+json",
				[]byte(`{"spec":{"router":{"replicas":`+replicas+`}}}`))
			if err := c.Patch(t.Context(), f.DeepCopy(), patch); err != nil {
				t.Fatal(err)
			}
			o.idle(t)
			err := c.Get(t.Context(), client.ObjectKeyFromObject(routers), routers)
			if err != nil || *routers.Spec.Replicas != 4 {
				t.Errorf("with %s there are %d routers, %v; want 4", replicas, *routers.Spec.Replicas, err)
			}
		}
	})

	t.Run("what is changed by hand is repaired", func(t *testing.T) {
		workers := &appsv1.Deployment{}
		key := client.ObjectKey{Namespace: namespace, Name: "hinglish-worker"}
		if err := c.Get(t.Context(), key, workers); err != nil {
			t.Fatal(err)
		}
		workers.Spec.Template.Spec.Containers[0].Image = "somebody/else:1"
		five := int32(5)
		workers.Spec.Replicas = &five
		if err := c.Update(t.Context(), workers); err != nil {
			t.Fatal(err)
		}
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hinglish"}}
		if err := c.Delete(t.Context(), service); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is repaired", 20*time.Second, func(ctx context.Context) string {
			if err := c.Get(ctx, key, workers); err != nil {
				return err.Error()
			}
			if image := workers.Spec.Template.Spec.Containers[0].Image; image != "swar/worker:1" ||
				*workers.Spec.Replicas != 2 {
				return fmt.Sprint(image, " ", *workers.Spec.Replicas)
			}
			if err := c.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
				return err.Error()
			}
			return ""
		})
		o.idle(t)
	})

	t.Run("what is not wanted any more goes", func(t *testing.T) {
		patch := client.RawPatch("application/merge-patch+json",
			[]byte(`{"spec":{"security":{"networkPolicy":"Disabled"}}}`))
		if err := c.Patch(t.Context(), f.DeepCopy(), patch); err != nil {
			t.Fatal(err)
		}
		eventually(t, "there is no network policy", 20*time.Second, func(ctx context.Context) string {
			for _, o := range resources.Possible(resources.Release{}, f) {
				if o.GetObjectKind().GroupVersionKind().Kind != "NetworkPolicy" {
					continue
				}
				err := c.Get(ctx, client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object))
				if !apierrors.IsNotFound(err) {
					return fmt.Sprint(o.GetName(), " is still there ", err)
				}
			}
			return ""
		})
	})

	t.Run("paused, nothing is done", func(t *testing.T) {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"reconciliation":"Paused"}}`))
		if err := c.Patch(t.Context(), f.DeepCopy(), patch); err != nil {
			t.Fatal(err)
		}
		wait(t, c, namespace, "hinglish", "it is paused",
			hasCondition(v1alpha1.PausedNow, metav1.ConditionTrue, v1alpha1.ReasonReconciliationPaused))
		o.idle(t) // what happened before is told of in events, which are written later
		before := o.writes.Load()
		front := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hinglish"}}
		if err := c.Delete(t.Context(), front); err != nil {
			t.Fatal(err)
		}
		o.idle(t)
		if after := o.writes.Load(); after != before {
			t.Errorf("it writes %v", o.last.Load())
		}
	})
}

// TestCertificatesAreMadeAndRenewed: without a restart of pods, whose templates do not change.
func TestCertificatesAreMadeAndRenewed(t *testing.T) {
	c, namespace := open(t)
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	o := startOperator(t, namespace, controllers.Config{Now: clock})
	create(t, c, fleetWith(t, namespace, "hinglish", `{}`))
	wait(t, c, namespace, "hinglish", "it is looked at", isRollingOut)
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: namespace, Name: "hinglish-worker-tls"}
	if err := c.Get(t.Context(), key, secret); err != nil {
		t.Fatal(err)
	}
	first := string(secret.Data["tls.crt"])
	o.idle(t)
	touch := func() {
		f := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hinglish"}}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, time.Now().UnixNano())
		if err := c.Patch(t.Context(), f, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	ahead.Store(int64(19 * 24 * time.Hour))
	touch()
	o.idle(t)
	if err := c.Get(t.Context(), key, secret); err != nil || string(secret.Data["tls.crt"]) != first {
		t.Errorf("after 19 days it is another one already, or %v", err)
	}
	ahead.Store(int64(21 * 24 * time.Hour))
	touch()
	eventually(t, "after 21 days it is another one", 20*time.Second, func(ctx context.Context) string {
		if err := c.Get(ctx, key, secret); err != nil {
			return err.Error()
		}
		if string(secret.Data["tls.crt"]) == first {
			return "it is the first one"
		}
		return ""
	})
	workers := &appsv1.Deployment{}
	err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "hinglish-worker"}, workers)
	if err != nil || workers.Generation != 1 {
		t.Errorf("the workers are of generation %d, %v; want that they go on", workers.Generation, err)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	c, namespace := open(t)
	startOperator(t, namespace, controllers.Config{})
	create(t, c, fleetWith(t, namespace, "keys", `{access: {mode: Keys, secretName: my-keys}}`))
	create(t, c, fleetWith(t, namespace, "portal", `{access: {mode: Portal}}`))
	create(t, c, fleetWith(t, namespace, "calls", `{router: {twilioTokenSecretRef: {name: my-twilio, key: auth}}}`))
	create(t, c, fleetWith(t, namespace, "fine", `{}`))
	says := func(name, reason, text string) {
		t.Helper()
		wait(t, c, namespace, name, "it says what is missing", func(f *v1alpha1.TTSDeployment) string {
			got := condition(f, v1alpha1.Degraded)
			if got.Status != metav1.ConditionTrue || got.Reason != reason || !strings.Contains(got.Message, text) {
				return fmt.Sprintf("%s: %s", got.Reason, got.Message)
			}
			return ""
		})
	}
	says("keys", v1alpha1.ReasonSecretMissing, "there is no Secret my-keys")
	says("portal", v1alpha1.ReasonSecretMissing, "no portal in this release")
	says("calls", v1alpha1.ReasonSecretMissing, "there is no Secret my-twilio")
	wait(t, c, namespace, "fine", "another one is not touched by that", isWell)
	keys := func(entry string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "my-keys"},
			StringData: map[string]string{entry: "secret"},
		}
	}
	create(t, c, keys("keyz"))
	says("keys", v1alpha1.ReasonSecretMalformed, "no entry keys")
	if err := c.Update(t.Context(), keys("keys")); err != nil {
		t.Fatal(err)
	}
	wait(t, c, namespace, "keys", "it goes on", isWell)
	create(t, c, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "my-twilio"},
		StringData: map[string]string{"auth": "token"},
	})
	wait(t, c, namespace, "calls", "it goes on", isWell)
}

// TestPodTemplates: a patch reaches the pods, and an invalid one leaves them as they are until it is mended.
func TestPodTemplates(t *testing.T) {
	c, namespace := open(t)
	o := startOperator(t, namespace, controllers.Config{})
	create(t, c, fleetWith(t, namespace, "ours", `{
  runtime: {serviceAccount: {annotations: {example.org/role: speech}},
    podTemplate: {metadata: {labels: {team: voice}}, spec: {containers: [{name: sidecar, image: "s:1"}]}}},
  router: {serviceAccount: {name: theirs}, service: {type: NodePort, annotations: {example.org/a: b}}}}`))
	wait(t, c, namespace, "ours", "it is well", isWell)
	read := func(name string, into client.Object) {
		t.Helper()
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, into); err != nil {
			t.Fatal(err)
		}
	}
	var workers, routers appsv1.Deployment
	var front corev1.Service
	var account corev1.ServiceAccount
	read("ours-worker", &workers)
	read("ours-router", &routers)
	read("ours", &front)
	read("ours-worker", &account)
	pods := workers.Spec.Template
	if pods.Labels["team"] != "voice" || len(pods.Spec.Containers) != 2 || pods.Spec.Containers[0].Name != "worker" ||
		routers.Spec.Template.Spec.ServiceAccountName != "theirs" || front.Spec.Type != corev1.ServiceTypeNodePort ||
		front.Annotations["example.org/a"] != "b" || account.Annotations["example.org/role"] != "speech" {
		t.Errorf("pods %+v, routers of %s, Service %+v of %s, account %v", pods.Labels,
			routers.Spec.Template.Spec.ServiceAccountName, front.Annotations, front.Spec.Type, account.Annotations)
	}
	o.idle(t) // what the API server adds to them is not written over again

	setTemplate := func(patch string) {
		t.Helper()
		fleet := &v1alpha1.TTSDeployment{}
		read("ours", fleet)
		before := fleet.DeepCopy()
		fleet.Spec.Runtime.PodTemplate.Raw = []byte(patch)
		if err := c.Patch(t.Context(), fleet, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
	}
	setTemplate(`{"spec": {"hostNetwork": true, "containers": [{"name": "worker", "image": "mine:1"}]}}`)
	wait(t, c, namespace, "ours", "it stalls",
		hasCondition(v1alpha1.Stalled, metav1.ConditionTrue, v1alpha1.ReasonPodTemplateInvalid))
	now := appsv1.Deployment{}
	read("ours-worker", &now)
	if now.Generation != workers.Generation {
		t.Errorf("the workers are of generation %d, want still %d", now.Generation, workers.Generation)
	}
	setTemplate(`{"metadata": {"labels": {"team": "ours"}}}`)
	wait(t, c, namespace, "ours", "it goes on", isWell)
	read("ours-worker", &now)
	if got := now.Spec.Template; got.Labels["team"] != "ours" || len(got.Spec.Containers) != 1 {
		t.Errorf("pods have the labels %v and %d containers", got.Labels, len(got.Spec.Containers))
	}
}

// TestWhatBelongsToOthersIsLeftAlone: a fleet takes nothing over that has the name of one of its objects.
func TestWhatBelongsToOthersIsLeftAlone(t *testing.T) {
	c, namespace := open(t)
	theirs := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hinglish",
			Labels: map[string]string{"app": "theirs"}},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	create(t, c, theirs)
	startOperator(t, namespace, controllers.Config{})
	create(t, c, fleetWith(t, namespace, "hinglish", `{}`))
	create(t, c, fleetWith(t, namespace, "fine", `{}`))
	wait(t, c, namespace, "hinglish", "it says what is in its way", func(f *v1alpha1.TTSDeployment) string {
		got := condition(f, v1alpha1.Degraded)
		says := strings.Contains(got.Message, "Service hinglish: there is one of that name")
		if got.Reason != v1alpha1.ReasonApplyFailed || !says {
			return fmt.Sprintf("%s: %s", got.Reason, got.Message)
		}
		return ""
	})
	wait(t, c, namespace, "fine", "another one is not touched by that", isWell)
	err := c.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs)
	if err != nil || theirs.Spec.Ports[0].Port != 80 || len(theirs.OwnerReferences) > 0 {
		t.Errorf("theirs is %+v, %v", theirs.Spec.Ports, err)
	}
	for _, name := range []string{"hinglish-worker", "hinglish-router"} {
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name},
			&appsv1.Deployment{}); err != nil {
			t.Errorf("the rest of the fleet: %v", err)
		}
	}
}

// TestSecretsOfOthersAreLeftAlone: a Secret that has the name of one of the fleet's is neither overwritten nor taken
// over, also not while the fleet is deleted.
func TestSecretsOfOthersAreLeftAlone(t *testing.T) {
	for suffix, spec := range map[string]string{
		"-portal": `{access: {mode: Portal}}`, "-worker-tls": `{}`, "-router-tls": `{}`, "-token": `{security: {internalTLS: Mesh}}`,
	} {
		t.Run(suffix, func(t *testing.T) {
			c, namespace := open(t)
			theirs := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hinglish" + suffix},
				Data: map[string][]byte{"password": []byte("precious"),
					"token": []byte("a token of somebody else")},
			}
			create(t, c, theirs)
			startOperator(t, namespace, controllers.Config{Portal: "portal.example:8082"})
			fleet := fleetWith(t, namespace, "hinglish", spec)
			create(t, c, fleet)
			wait(t, c, namespace, "hinglish", "it says what is in its way", func(f *v1alpha1.TTSDeployment) string {
				got := condition(f, v1alpha1.Degraded)
				if got.Reason != v1alpha1.ReasonApplyFailed ||
					!strings.Contains(got.Message, "Secret hinglish"+suffix+": there is one of that name") {
					return fmt.Sprintf("%s: %s", got.Reason, got.Message)
				}
				return ""
			})
			now := &corev1.Secret{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(theirs), now); err != nil {
				t.Fatal(err)
			}
			if now.ResourceVersion != theirs.ResourceVersion || len(now.OwnerReferences) > 0 {
				t.Errorf("it was changed: %v, owners %v", now.Data, now.OwnerReferences)
			}
		})
	}
}

// TestTwoOperators: of two that see one fleet, the first leads it, and the second says so and changes nothing.
func TestTwoOperators(t *testing.T) {
	c, namespace := open(t)
	first := startOperator(t, namespace, controllers.Config{})
	create(t, c, fleetWith(t, namespace, "hinglish", `{}`))
	wait(t, c, namespace, "hinglish", "it is looked at", isRollingOut)
	first.idle(t)
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	second := startOperatorOf(t, "elsewhere", namespace, controllers.Config{Now: clock})
	wait(t, c, namespace, "hinglish", "the second one says so",
		hasCondition(v1alpha1.Contested, metav1.ConditionTrue, v1alpha1.ReasonAnotherOperator))
	before := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: namespace, Name: "hinglish-worker"}
	if err := c.Get(t.Context(), key, before); err != nil {
		t.Fatal(err)
	}
	second.idle(t)
	first.idle(t)
	after := &appsv1.Deployment{}
	if err := c.Get(t.Context(), key, after); err != nil || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the workers were written again: %s, %s, %v", before.ResourceVersion, after.ResourceVersion, err)
	}
	annotate := func(with string) {
		t.Helper()
		f := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hinglish"}}
		patch := `{"metadata":{"annotations":{` + with + `}}}`
		if err := c.Patch(t.Context(), f, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	isLedBy := func(who string) func(*v1alpha1.TTSDeployment) string {
		return func(f *v1alpha1.TTSDeployment) string {
			if leader := f.Annotations["swar.dev/operator"]; leader != who {
				return fmt.Sprintf("it is led by %q", leader)
			}
			return ""
		}
	}
	annotate(`"swar.dev/operator":null`)
	wait(t, c, namespace, "hinglish", "the first one puts the mark back", isLedBy(namespace))
	second.idle(t)
	first.stop()
	annotate(`"swar.dev/operator":null`)
	second.idle(t)
	wait(t, c, namespace, "hinglish", "the second one waits", isLedBy(""))
	ahead.Store(int64(30 * time.Second))
	annotate(`"touched":"1"`)
	wait(t, c, namespace, "hinglish", "the second one takes it over", isLedBy("elsewhere"))
}
