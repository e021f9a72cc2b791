package plan_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/plan"
)

// rollout is how Argo CD and kstatus see a fleet.
type rollout struct {
	name    string
	change  func(*plan.Observed)
	ready   metav1.ConditionStatus
	reason  string
	kstatus status.Status
	argo    string
}

var stuck = appsv1.DeploymentCondition{
	Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded",
}

var rollouts = []rollout{
	{"serving", func(*plan.Observed) {}, "True", "Ready", status.CurrentStatus, "Healthy"},
	{"new", func(o *plan.Observed) { o.Workers, o.Routers, o.Pods, o.Gates = nil, nil, nil, nil },
		"False", "RollingOut", status.InProgressStatus, "Progressing"},
	{"template written", func(o *plan.Observed) { o.TemplateWritten = true },
		"False", "RollingOut", status.InProgressStatus, "Progressing"},
	{"Deployment not seen yet", func(o *plan.Observed) { o.Workers.Generation = 5 },
		"False", "RollingOut", status.InProgressStatus, "Progressing"},
	{"worker of the revision before", func(o *plan.Observed) {
		o.Workers.Status.Replicas, o.Workers.Status.UpdatedReplicas = 3, 2
	}, "False", "RollingOut", status.InProgressStatus, "Progressing"},
	{"router of the revision before", func(o *plan.Observed) { o.Routers.Mixed, o.Routers.Rolling = true, true },
		"False", "RollingOut", status.InProgressStatus, "Progressing"},
	{"autoscaler adds a pod", func(o *plan.Observed) {
		o.Scaling.Desired, o.Scaling.Now, *o.Workers.Spec.Replicas = 3, 3, 3
		o.Workers.Status.Replicas, o.Workers.Status.UpdatedReplicas = 3, 3
		o.Pods = append(o.Pods, worker("c", false))
	}, "True", "Ready", status.CurrentStatus, "Healthy"},
	{"autoscaler finds no node", func(o *plan.Observed) {
		p := worker("c", false)
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled,
			Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/2 nodes"})
		o.Pods = append(o.Pods, p)
	}, "True", "Ready", status.CurrentStatus, "Healthy"},
	{"at the minimum", func(o *plan.Observed) { o.Fleet.Spec.Scaling.MinReplicas = number(2) },
		"True", "Ready", status.CurrentStatus, "Healthy"},
	{"one below the minimum", func(o *plan.Observed) { o.Fleet.Spec.Scaling.MinReplicas = number(3) },
		"False", "Warming", status.InProgressStatus, "Progressing"},
	{"one below replicas by hand", func(o *plan.Observed) {
		o.Fleet.Spec.Scaling.Mode, o.Pods[1] = v1alpha1.ScalingManual, worker("b", false)
	}, "False", "Warming", status.InProgressStatus, "Progressing"},
	{"one pod of an external autoscaler", func(o *plan.Observed) {
		o.Fleet.Spec.Scaling.Mode, o.Pods[1] = v1alpha1.ScalingExternal, worker("b", false)
	}, "True", "Ready", status.CurrentStatus, "Healthy"},
	{"scaled to zero", func(o *plan.Observed) { atZero(o, 0) },
		"True", "ScaledToZero", status.CurrentStatus, "Healthy"},
	{"zero below the minimum", func(o *plan.Observed) { atZero(o, 1) },
		"False", "ScaledToZero", status.InProgressStatus, "Progressing"},
	{"image missing", func(o *plan.Observed) { o.Pods = []corev1.Pod{waiting("ImagePullBackOff", "not found")} },
		"False", "ImageUnavailable", status.InProgressStatus, "Progressing"},
	{"Secret missing", func(o *plan.Observed) {
		o.Missing = []plan.Problem{{Reason: v1alpha1.ReasonSecretMissing, Text: "there is no Secret keys"}}
	}, "False", "SecretMissing", status.InProgressStatus, "Progressing"},
	{"pod template invalid", func(o *plan.Observed) {
		o.Missing = []plan.Problem{{Reason: v1alpha1.ReasonPodTemplateInvalid, Text: "must not change image"}}
	}, "False", "PodTemplateInvalid", status.FailedStatus, "Degraded"},
	{"API server away", func(o *plan.Observed) { o.Failed = errors.New("connection refused") },
		"False", "ApplyFailed", status.InProgressStatus, "Progressing"},
	{"API server rejects an object", func(o *plan.Observed) {
		o.Failed = apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "a.b", nil)
	}, "False", "ApplyFailed", status.FailedStatus, "Degraded"},
	{"revision stuck", func(o *plan.Observed) { o.Workers.Status.Conditions = []appsv1.DeploymentCondition{stuck} },
		"False", "ProgressDeadlineExceeded", status.FailedStatus, "Degraded"},
	{"first revision in time", func(o *plan.Observed) { neverMade(o, 600*time.Second) },
		"False", "RollingOut", status.InProgressStatus, "Progressing"},
	{"first revision too late", func(o *plan.Observed) { neverMade(o, 601*time.Second) },
		"False", "ProgressDeadlineExceeded", status.FailedStatus, "Degraded"},
}

func atZero(o *plan.Observed, minimum int32) {
	o.Pods, o.Scaling.Desired, o.Scaling.Now = nil, 0, 0
	o.Fleet.Spec.Scaling.MinReplicas = number(minimum)
	*o.Workers.Spec.Replicas, o.Workers.Status = 0, appsv1.DeploymentStatus{}
}

// neverMade is a fleet without a Deployment since long ago.
func neverMade(o *plan.Observed, ago time.Duration) {
	o.Workers, o.Routers, o.Pods, o.Gates = nil, nil, nil, nil
	o.Fleet.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.Progressing, Status: "True", Reason: v1alpha1.ReasonRollingOut,
		ObservedGeneration: o.Fleet.Generation, LastTransitionTime: metav1.NewTime(now.Add(-ago)),
	}}
}

func TestReady(t *testing.T) {
	for _, tt := range rollouts {
		t.Run(tt.name, func(t *testing.T) {
			o := healthy()
			tt.change(&o)
			got := find(plan.Decide(o, now, time.Time{}).Status.Conditions, v1alpha1.Ready)
			if got.Status != tt.ready || got.Reason != tt.reason || got.Message == "" ||
				got.ObservedGeneration != o.Fleet.Generation {
				t.Errorf("Ready is %s, %s of generation %d: %q; want %s, %s", got.Status, got.Reason,
					got.ObservedGeneration, got.Message, tt.ready, tt.reason)
			}
		})
	}
}

// TestKstatus asks the library by which Flux waits.
func TestKstatus(t *testing.T) {
	for _, tt := range rollouts {
		t.Run(tt.name, func(t *testing.T) {
			got, err := status.Compute(&unstructured.Unstructured{Object: decided(t, tt)})
			if err != nil || got.Status != tt.kstatus {
				t.Errorf("kstatus says %+v, %v; want %s", got, err, tt.kstatus)
			}
		})
	}
	before := decided(t, rollouts[0])
	before["metadata"].(map[string]any)["generation"] = int64(4)
	if got, err := status.Compute(&unstructured.Unstructured{Object: before}); err != nil ||
		got.Status != status.InProgressStatus {
		t.Errorf("of a generation that the operator has not seen, kstatus says %+v, %v", got, err)
	}
}

// TestArgoHealth runs the script as Argo CD does.
func TestArgoHealth(t *testing.T) {
	patch, err := os.ReadFile("../../config/argocd/health.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var configMap corev1.ConfigMap
	if err := yaml.UnmarshalStrict(patch, &configMap); err != nil {
		t.Fatal(err)
	}
	script := configMap.Data["resource.customizations.health.swar.dev_TTSDeployment"]
	for _, tt := range rollouts {
		t.Run(tt.name, func(t *testing.T) {
			if got := argoHealth(t, script, decided(t, tt)); got != tt.argo {
				t.Errorf("Argo CD says %s, want %s", got, tt.argo)
			}
		})
	}
	unseen := decided(t, rollouts[0])
	unseen["metadata"].(map[string]any)["generation"] = int64(4)
	fresh := map[string]any{"metadata": map[string]any{"generation": int64(1)}}
	for name, object := range map[string]map[string]any{"unseen generation": unseen, "no status": fresh} {
		if got := argoHealth(t, script, object); got != "Progressing" {
			t.Errorf("%s: Argo CD says %s, want Progressing", name, got)
		}
	}
}

func argoHealth(t *testing.T, script string, object map[string]any) string {
	t.Helper()
	l := lua.NewState()
	defer l.Close()
	l.SetGlobal("obj", luaValue(l, object))
	if err := l.DoString(script); err != nil {
		t.Fatal(err)
	}
	health, ok := l.Get(-1).(*lua.LTable)
	if !ok || lua.LVAsString(health.RawGetString("message")) == "" {
		t.Fatalf("the script returns %v", l.Get(-1))
	}
	return lua.LVAsString(health.RawGetString("status"))
}

// luaValue converts a value of JSON.
func luaValue(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case map[string]any:
		table := l.NewTable()
		for key, value := range v {
			table.RawSetString(key, luaValue(l, value))
		}
		return table
	case []any:
		table := l.NewTable()
		for _, value := range v {
			table.Append(luaValue(l, value))
		}
		return table
	}
	return lua.LNil
}

// decided returns a fleet with the status that the operator writes, as clients read it.
func decided(t *testing.T, r rollout) map[string]any {
	t.Helper()
	o := healthy()
	r.change(&o)
	fleet := o.Fleet.DeepCopy()
	fleet.Status = plan.Decide(o, now, time.Time{}).Status
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(fleet)
	if err != nil {
		t.Fatal(err)
	}
	object["apiVersion"], object["kind"] = "swar.dev/v1alpha1", "TTSDeployment"
	return object
}
