package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/certs"
	"github.com/swar-tts/swar/controllers/resources"
	"github.com/swar-tts/swar/runtime/contract"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// wrong is something that is the matter with a fleet.
type wrong struct {
	spec   string
	make   func(t *testing.T, f *fleetOnLoopback) // what Kubernetes, or somebody else, does
	reason string
	says   string // what to do
}

// podThat makes a worker pod of which a kubelet, or a scheduler, tells something.
func podThat(tell func(*corev1.PodStatus)) func(*testing.T, *fleetOnLoopback) {
	return func(t *testing.T, f *fleetOnLoopback) {
		f.pod(resources.Worker, f.fleet.Name+"-0", "127.84.0.10", false)
		p := &corev1.Pod{}
		if err := f.c.Get(t.Context(), client.ObjectKey{Namespace: f.namespace, Name: f.fleet.Name + "-0"},
			p); err != nil {
			t.Fatal(err)
		}
		tell(&p.Status)
		if err := f.c.Status().Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
}

func waits(reason, message string) func(*testing.T, *fleetOnLoopback) {
	return podThat(func(s *corev1.PodStatus) {
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", Image: "swar/worker:1",
			State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
			}}}
	})
}

func ends(message string) func(*testing.T, *fleetOnLoopback) {
	return podThat(func(s *corev1.PodStatus) {
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: message},
		}}}
	})
}

func isUnschedulable(s *corev1.PodStatus) {
	s.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/2 nodes",
	}}
}

// exceedsQuota is what the controller of Deployments tells.
func exceedsQuota(t *testing.T, f *fleetOnLoopback) {
	d := &appsv1.Deployment{}
	eventually(t, "there are workers", 20*time.Second, func(ctx context.Context) string {
		if err := f.c.Get(ctx, client.ObjectKey{Namespace: f.namespace, Name: f.fleet.Name + "-worker"},
			d); err != nil {
			return err.Error()
		}
		d.Status.Conditions = []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate",
			Message: "exceeded quota: cpu",
		}}
		if err := f.c.Status().Update(ctx, d); err != nil {
			return err.Error()
		}
		return ""
	})
}

// given makes the certificates of a fleet as somebody else would, those of workers at another time and for another
// role.
func given(made time.Time, worker grpcauth.Role) func(*testing.T, *fleetOnLoopback) {
	return func(t *testing.T, f *fleetOnLoopback) {
		a, err := certs.NewAuthority(made)
		if err != nil {
			t.Fatal(err)
		}
		for suffix, role := range map[string]grpcauth.Role{"worker": worker, "router": grpcauth.Router} {
			when := time.Now()
			if suffix == "worker" {
				when = made
			}
			leaf, err := a.Issue(when, grpcauth.Identity{Namespace: f.namespace, Name: f.fleet.Name, Role: role}.URI())
			if err != nil {
				t.Fatal(err)
			}
			create(t, f.c, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: f.fleet.Name + "-" + suffix},
				Data: map[string][]byte{
					contract.TLSCert: leaf.Cert, contract.TLSKey: leaf.Key, contract.TLSAuthority: leaf.CA,
				},
			})
		}
	}
}

func nothing(*testing.T, *fleetOnLoopback) {}

// TestWhatIsWrongIsSaid in a condition and in an Event, both with what to do; and neither is another fleet touched by
// it, nor anything deleted.
func TestWhatIsWrongIsSaid(t *testing.T) {
	c, namespace := open(t)
	o := startOperator(t, namespace, controllers.Config{})
	create(t, c, fleetWith(t, namespace, "fine", `{}`))
	wait(t, c, namespace, "fine", "it is well", isWell)
	o.idle(t)
	before := versions(t, c, namespace)
	t.Run("fleets", func(t *testing.T) { // returns when each has ended
		for name, w := range allWrong() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w.isSaid(t, c, namespace, name)
			})
		}
	})
	o.idle(t)
	after := versions(t, c, namespace)
	for object, version := range before {
		if after[object] != version {
			t.Errorf("%s was version %s, and is %q now", object, version, after[object])
		}
	}
}

// allWrong is by the names of fleets.
func allWrong() map[string]wrong {
	foreign := func(name string) string {
		return fmt.Sprintf(`{security: {internalTLS: Secret, secretPrefix: %s}}`, name)
	}
	const month = 31 * 24 * time.Hour
	return map[string]wrong{
		"image":         {`{}`, waits("ImagePullBackOff", "not found"), v1alpha1.ReasonImageUnavailable, "check its name"},
		"digest":        {`{}`, ends("swar-worker: --bundle-digest: differs"), v1alpha1.ReasonDigestMismatch, "spec.model names"},
		"crash":         {`{}`, ends("swar-worker: no voice raj"), v1alpha1.ReasonCrashLoop, "no voice raj"},
		"unschedulable": {`{}`, podThat(isUnschedulable), v1alpha1.ReasonUnschedulable, "Add nodes"},
		"quota":         {`{}`, exceedsQuota, v1alpha1.ReasonQuotaExceeded, "exceeded quota: cpu"},
		"keys":          {`{access: {mode: Keys, secretName: none}}`, nothing, v1alpha1.ReasonSecretMissing, "make one with the entries keys"},
		"expired":       {foreign("expired"), given(time.Now().Add(-month), grpcauth.Worker), v1alpha1.ReasonCertificateExpired, "Renew it there"},
		"early":         {foreign("early"), given(time.Now().Add(month), grpcauth.Worker), v1alpha1.ReasonCertificateInvalid, "it is good from"},
		"role":          {foreign("role"), given(time.Now(), grpcauth.Portal), v1alpha1.ReasonCertificateInvalid, "/role/worker"},
	}
}

// isSaid waits until it stands in a condition and in an Event of a fleet that this is made of.
func (w wrong) isSaid(t *testing.T, c client.Client, namespace, name string) {
	create(t, c, fleetWith(t, namespace, name, w.spec))
	f := &fleetOnLoopback{t: t, c: c, namespace: namespace}
	f.fleet = wait(t, c, namespace, name, "it is looked at",
		hasCondition(v1alpha1.PausedNow, metav1.ConditionFalse, v1alpha1.ReasonReconciliationActive))
	w.make(t, f)
	wait(t, c, namespace, name, "it says what is wrong", func(f *v1alpha1.TTSDeployment) string {
		got := condition(f, v1alpha1.Degraded)
		if got.Status != metav1.ConditionTrue || got.Reason != w.reason || !strings.Contains(got.Message, w.says) {
			return fmt.Sprintf("%s: %s", got.Reason, got.Message)
		}
		return ""
	})
	eventually(t, "it is told as an Event", 20*time.Second, func(ctx context.Context) string {
		return hasEvent(ctx, c, f.fleet, w.reason, w.says)
	})
}

// versions returns the versions of what the fleet "fine" is made of, and of itself.
func versions(t *testing.T, c client.Client, namespace string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, list := range []client.ObjectList{
		&v1alpha1.TTSDeploymentList{}, &appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{},
		&corev1.SecretList{},
	} {
		if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			if o := item.(client.Object); strings.HasPrefix(o.GetName(), "fine") {
				all[fmt.Sprintf("%T %s", o, o.GetName())] = o.GetResourceVersion()
			}
		}
	}
	return all
}

// hasEvent returns what is missing: a warning of a fleet for a reason.
func hasEvent(ctx context.Context, c client.Client, fleet *v1alpha1.TTSDeployment, reason, says string) string {
	list := &eventsv1.EventList{}
	if err := c.List(ctx, list, client.InNamespace(fleet.Namespace)); err != nil {
		return err.Error()
	}
	var notes []string
	for _, e := range list.Items {
		if e.Regarding.UID != fleet.UID {
			continue
		}
		if e.Type == corev1.EventTypeWarning && e.Reason == reason && strings.Contains(e.Note, says) {
			return ""
		}
		notes = append(notes, e.Reason+": "+e.Note)
	}
	return fmt.Sprintf("there are %d of it: %q", len(notes), notes)
}
