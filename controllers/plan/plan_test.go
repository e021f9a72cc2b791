package plan_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/plan"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func number(n int32) *int32 { return &n }

// healthy is a fleet of two worker pods that speak.
func healthy() plan.Observed {
	fleet := &v1alpha1.TTSDeployment{ObjectMeta: metav1.ObjectMeta{Name: "hinglish", Generation: 3}}
	fleet.Spec.Model.ID = "m"
	fleet.Spec.Replicas = number(2)
	fleet.Spec.Scaling = v1alpha1.Scaling{Mode: v1alpha1.ScalingAutomatic, MinReplicas: number(1), MaxReplicas: 4}
	fleet.Spec.Rollout.ProgressDeadlineSeconds = 600
	return plan.Observed{
		Fleet: fleet,
		Workers: &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "hinglish-worker",
				Annotations: map[string]string{"deployment.kubernetes.io/revision": "4"}},
			Spec: appsv1.DeploymentSpec{Replicas: number(2)},
			Status: appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2,
				AvailableReplicas: 2},
		},
		Routers: &plan.Routers{Desired: 2, Ready: 2, Updated: 2},
		Pods:    []corev1.Pod{worker("a", true), worker("b", true)},
		Gates:   []corev1.Pod{worker("r", true)},
		Scaling: plan.Scaling{Desired: 2, Now: 2, Reason: "Steady", Text: "enough", Reported: true,
			Slots: v1alpha1.Slots{Total: 8, Busy: 3}},
	}
}

func worker(name string, ready bool) corev1.Pod {
	is := corev1.ConditionFalse
	if ready {
		is = corev1.ConditionTrue
	}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: is}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "worker", Ready: ready, Started: &ready}},
		},
	}
}

// waiting is a pod whose container does not start.
func waiting(reason, message string) corev1.Pod {
	p := worker("w", false)
	p.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	p.Status.ContainerStatuses[0].Image = "swar/worker:1"
	return p
}

// ended is a pod whose container has ended.
func ended(code int32, reason, message string) corev1.Pod {
	p := waiting("CrashLoopBackOff", "back-off")
	p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message,
	}
	return p
}

func TestConditions(t *testing.T) {
	type want struct {
		typ    string
		status metav1.ConditionStatus
		reason string
		says   string
	}
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	for name, tt := range map[string]struct {
		change func(*plan.Observed)
		want   []want
	}{
		"all is well": {func(*plan.Observed) {}, []want{
			{v1alpha1.Ready, yes, v1alpha1.ReasonReady, "2 worker pods"},
			{v1alpha1.Available, yes, v1alpha1.ReasonReady, "2 worker pods"},
			{v1alpha1.Progressing, no, v1alpha1.ReasonRolledOut, ""},
			{v1alpha1.Stalled, no, v1alpha1.ReasonAsExpected, ""},
			{v1alpha1.ModelVerified, yes, v1alpha1.ReasonNotPinned, "spec.model.sha256"},
			{v1alpha1.WorkersWarm, yes, v1alpha1.ReasonReady, "2 of 2"},
			{v1alpha1.RouterReady, yes, v1alpha1.ReasonReady, "2 of 2"},
			{v1alpha1.ScalingActive, yes, v1alpha1.ReasonFollowingDemand, "enough"},
			{v1alpha1.Degraded, no, v1alpha1.ReasonAsExpected, ""},
			{v1alpha1.PausedNow, no, v1alpha1.ReasonReconciliationActive, ""},
		}},
		"the first look": {func(o *plan.Observed) { o.Workers, o.Routers, o.Pods = nil, nil, nil }, []want{
			{v1alpha1.Available, no, v1alpha1.ReasonRoutersNotReady, ""},
			{v1alpha1.Progressing, yes, v1alpha1.ReasonRollingOut, ""},
			{v1alpha1.ModelVerified, unknown, v1alpha1.ReasonUnknown, ""},
			{v1alpha1.WorkersWarm, no, v1alpha1.ReasonReady, "0 of 0"},
		}},
		"one pod is warming": {func(o *plan.Observed) { o.Pods[1] = worker("b", false) }, []want{
			{v1alpha1.Available, yes, v1alpha1.ReasonReady, "1 worker pods"},
			{v1alpha1.WorkersWarm, no, v1alpha1.ReasonWarming, "1 of 2"},
		}},
		"all pods are warming": {func(o *plan.Observed) { o.Pods = []corev1.Pod{worker("b", false)} }, []want{
			{v1alpha1.Available, no, v1alpha1.ReasonWarming, "0 of 1"},
			{v1alpha1.Degraded, no, v1alpha1.ReasonAsExpected, ""},
		}},
		"nobody calls": {func(o *plan.Observed) { o.Pods, o.Scaling.Desired = nil, 0 }, []want{
			{v1alpha1.Available, no, v1alpha1.ReasonScaledToZero, "next request"},
		}},
		"the image is missing": {func(o *plan.Observed) {
			o.Pods = []corev1.Pod{waiting("ImagePullBackOff", "not found\nand more")}
		}, []want{
			{v1alpha1.Available, no, v1alpha1.ReasonImageUnavailable, "swar/worker:1"},
			{v1alpha1.Degraded, yes, v1alpha1.ReasonImageUnavailable, "imagePullSecrets: not found"},
		}},
		"a Secret of the environment is missing": {func(o *plan.Observed) {
			o.Pods = append(o.Pods, waiting("CreateContainerConfigError", `secret "x" not found`))
		}, []want{
			{v1alpha1.Available, yes, v1alpha1.ReasonReady, ""},
			{v1alpha1.Degraded, yes, v1alpha1.ReasonSecretMissing, `secret "x" not found`},
		}},
		"another bundle": {func(o *plan.Observed) {
			o.Pods = append(o.Pods, ended(1, "Error",
				"swar-worker: the bundle in /b is another one than --bundle-digest pins"))
		}, []want{
			{v1alpha1.ModelVerified, no, v1alpha1.ReasonDigestMismatch, "another one"},
			{v1alpha1.Degraded, yes, v1alpha1.ReasonDigestMismatch, ""},
		}},
		"a digest that was checked": {func(o *plan.Observed) { o.Fleet.Spec.Model.SHA256 = "ab" }, []want{
			{v1alpha1.ModelVerified, yes, v1alpha1.ReasonDigestChecked, ""},
		}},
		"too little memory": {func(o *plan.Observed) { o.Pods = []corev1.Pod{ended(137, "OOMKilled", "")} }, []want{
			{v1alpha1.Degraded, yes, v1alpha1.ReasonCrashLoop, "raise spec.runtime.memory"},
		}},
		"a crash loop": {func(o *plan.Observed) {
			o.Pods = []corev1.Pod{ended(2, "Error", "first\nswar-worker: --workers 9: too many\n")}
		}, []want{
			{v1alpha1.Degraded, yes, v1alpha1.ReasonCrashLoop, "exit code 2: swar-worker: --workers 9"},
		}},
		"no room": {func(o *plan.Observed) {
			p := worker("c", false)
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				Message: "0/2 nodes",
			})
			o.Pods = append(o.Pods, p)
		}, []want{{v1alpha1.Degraded, yes, v1alpha1.ReasonUnschedulable, "0/2 nodes. Add nodes"}}},
		"a quota": {func(o *plan.Observed) {
			o.Workers.Status.Conditions = []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota: cpu",
			}}
		}, []want{{v1alpha1.Degraded, yes, v1alpha1.ReasonQuotaExceeded, "exceeded quota: cpu"}}},
		"a revision that is stuck": {func(o *plan.Observed) {
			o.Workers.Status.Conditions = []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded",
			}}
			o.Pods = append(o.Pods, ended(1, "Error", "swar-worker: no voice raj"))
		}, []want{
			{v1alpha1.Available, yes, v1alpha1.ReasonReady, ""},
			{v1alpha1.Progressing, no, v1alpha1.ReasonDeadlineExceeded, "revision 4 exceeded its deadline of 600 s"},
		}},
		"a template that was just written": {func(o *plan.Observed) { o.TemplateWritten = true }, []want{
			{v1alpha1.Progressing, yes, v1alpha1.ReasonRollingOut, "a new revision was applied"},
		}},
		"routers that roll out": {func(o *plan.Observed) {
			o.Routers = &plan.Routers{Desired: 2, Ready: 2, Updated: 1, Rolling: true}
		}, []want{
			{v1alpha1.Progressing, yes, v1alpha1.ReasonRollingOut, "1 of 2 routers are of the newest revision, and 2 ready"},
		}},
		"routers that are stuck": {func(o *plan.Observed) {
			o.Routers = &plan.Routers{Desired: 2, Ready: 2, Rolling: true, Overdue: true}
		}, []want{
			{v1alpha1.Progressing, no, v1alpha1.ReasonDeadlineExceeded, "revision of the routers exceeded its deadline of 600 s"},
		}},
		"routers of a StatefulSet, in time": {func(o *plan.Observed) { rollingSince(o, 600*time.Second) }, []want{
			{v1alpha1.Progressing, yes, v1alpha1.ReasonRollingOut, "routers"},
		}},
		"routers of a StatefulSet, too late": {func(o *plan.Observed) { rollingSince(o, 601*time.Second) }, []want{
			{v1alpha1.Progressing, no, v1alpha1.ReasonDeadlineExceeded, "the newest revision of the routers"},
		}},
		"no routers yet": {func(o *plan.Observed) { o.Routers = nil }, []want{
			{v1alpha1.Progressing, yes, v1alpha1.ReasonRollingOut, "the first routers"},
		}},
		"pods of another model": {func(o *plan.Observed) { o.Scaling.Mismatched = 2 }, []want{
			{v1alpha1.ModelVerified, no, v1alpha1.ReasonModelMismatch, "spec.model.id"},
			{v1alpha1.Degraded, yes, v1alpha1.ReasonModelMismatch, "2 pods"},
		}},
		"a Secret is missing": {func(o *plan.Observed) {
			o.Missing = []plan.Problem{{Reason: v1alpha1.ReasonSecretMissing, Text: "there is no Secret keys"}}
			o.Pods, o.Workers, o.Routers = nil, nil, nil
		}, []want{
			{v1alpha1.Available, no, v1alpha1.ReasonSecretMissing, "no Secret keys"},
		}},
		"a certificate of others has expired": {func(o *plan.Observed) {
			o.Missing = []plan.Problem{{Reason: v1alpha1.ReasonCertificateExpired,
				Text: "it has expired. Renew it there"}}
		}, []want{
			{v1alpha1.Available, yes, v1alpha1.ReasonReady, ""},
			{v1alpha1.Degraded, yes, v1alpha1.ReasonCertificateExpired, "Renew it there"},
		}},
		"the cluster refuses": {func(o *plan.Observed) { o.Failed = errors.New("forbidden") }, []want{
			{v1alpha1.Degraded, yes, v1alpha1.ReasonApplyFailed, "forbidden"},
		}},
		"no router tells": {func(o *plan.Observed) { o.Scaling.Reported = false }, []want{
			{v1alpha1.ScalingActive, no, v1alpha1.ReasonNoRouterReports, "8091"},
		}},
		"at the maximum": {func(o *plan.Observed) { o.Scaling.Limit = true }, []want{
			{v1alpha1.ScalingActive, yes, v1alpha1.ReasonAtMaximum, "maxReplicas"},
		}},
		"by hand": {func(o *plan.Observed) { o.Fleet.Spec.Scaling.Mode = v1alpha1.ScalingManual }, []want{
			{v1alpha1.ScalingActive, no, v1alpha1.ReasonManual, ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy()
			tt.change(&o)
			p := plan.Decide(o, now, time.Time{})
			for _, w := range tt.want {
				got := find(p.Status.Conditions, w.typ)
				if got.Status != w.status || got.Reason != w.reason || !strings.Contains(got.Message, w.says) {
					t.Errorf("%s is %s, %s: %s; want %s, %s: …%s…", w.typ, got.Status, got.Reason, got.Message,
						w.status, w.reason, w.says)
				}
			}
		})
	}
}

func find(all []metav1.Condition, typ string) metav1.Condition {
	for _, c := range all {
		if c.Type == typ {
			return c
		}
	}
	return metav1.Condition{}
}

func TestWhoWritesReplicas(t *testing.T) {
	for name, tt := range map[string]struct {
		mode   v1alpha1.ScalingMode
		is     *int32
		wanted int32
		want   *int32
	}{
		"automatic, another number":     {v1alpha1.ScalingAutomatic, number(2), 5, number(5)},
		"automatic, that number":        {v1alpha1.ScalingAutomatic, number(5), 5, nil},
		"automatic, absent":             {v1alpha1.ScalingAutomatic, nil, 5, number(5)},
		"external, what others say":     {v1alpha1.ScalingExternal, number(7), 5, nil},
		"external, absent":              {v1alpha1.ScalingExternal, nil, 5, number(5)},
		"by hand, what somebody says":   {v1alpha1.ScalingManual, number(7), 5, nil},
		"by hand, absent":               {v1alpha1.ScalingManual, nil, 5, number(5)},
		"automatic, down to nothing":    {v1alpha1.ScalingAutomatic, number(1), 0, number(0)},
		"external, at zero, as it says": {v1alpha1.ScalingExternal, number(0), 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy()
			o.Fleet.Spec.Scaling.Mode, o.Fleet.Spec.Replicas, o.Scaling.Desired = tt.mode, tt.is, tt.wanted
			got := plan.Decide(o, now, time.Time{}).Claim
			if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
				t.Errorf("it writes %v, want %v", got, tt.want)
			}
		})
	}
}

func TestHowManyPodsAreBorn(t *testing.T) {
	for name, tt := range map[string]struct {
		replicas, least *int32
		want            int32
	}{
		"nobody says":          {nil, nil, 1},
		"a minimum":            {nil, number(3), 3},
		"a minimum of nothing": {nil, number(0), 0},
		"somebody says":        {number(6), number(3), 6},
	} {
		fleet := &v1alpha1.TTSDeployment{}
		fleet.Spec.Replicas, fleet.Spec.Scaling.MinReplicas = tt.replicas, tt.least
		if got := plan.InitialReplicas(fleet); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// TestWhatDoesNotChangeIsNotWritten: a second look gives the same status, and tells nothing.
func TestWhatDoesNotChangeIsNotWritten(t *testing.T) {
	o := healthy()
	first := plan.Decide(o, now, time.Time{})
	o.Fleet.Status = first.Status
	second := plan.Decide(o, now.Add(time.Hour), now)
	if len(second.Events) > 0 {
		t.Errorf("it tells %v", second.Events)
	}
	for i, c := range second.Status.Conditions {
		if c != first.Status.Conditions[i] {
			t.Errorf("%v became %v", first.Status.Conditions[i], c)
		}
	}
	o.Pods[0] = waiting("ImagePullBackOff", "x")
	third := plan.Decide(o, now.Add(2*time.Hour), now)
	if len(third.Events) == 0 || !third.Events[0].Warning && !third.Events[len(third.Events)-1].Warning {
		t.Errorf("of an image that is missing it tells %v", third.Events)
	}
	if c := find(third.Status.Conditions, v1alpha1.Degraded); !c.LastTransitionTime.Time.Equal(now.Add(2 * time.Hour)) {
		t.Errorf("it is degraded since %v", c.LastTransitionTime)
	}
}

func TestSlotsAreWrittenSeldom(t *testing.T) {
	was := v1alpha1.Slots{Total: 100, Busy: 50}
	for name, tt := range map[string]struct {
		after time.Duration
		is    v1alpha1.Slots
		want  bool
	}{
		"much, just too soon":  {15*time.Second - 1, v1alpha1.Slots{Total: 100, Busy: 90}, false},
		"much":                 {15 * time.Second, v1alpha1.Slots{Total: 100, Busy: 90}, true},
		"by just a tenth":      {time.Minute, v1alpha1.Slots{Total: 100, Busy: 55}, true},
		"by less":              {time.Minute, v1alpha1.Slots{Total: 100, Busy: 54}, false},
		"a request is waiting": {time.Minute, v1alpha1.Slots{Total: 100, Busy: 50, Queued: 1}, true},
		"nobody speaks":        {time.Minute, v1alpha1.Slots{Total: 100}, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy()
			o.Fleet.Status.Slots, o.Scaling.Slots = was, tt.is
			got := plan.Decide(o, now, now.Add(-tt.after)).Status.Slots
			if written := got == tt.is; written != tt.want {
				t.Errorf("slots are %+v", got)
			}
		})
	}
}

func TestPaused(t *testing.T) {
	o := healthy()
	o.Fleet.Status = plan.Decide(o, now, time.Time{}).Status
	p := plan.Paused(o.Fleet, now)
	if c := find(p.Status.Conditions, v1alpha1.PausedNow); c.Status != metav1.ConditionTrue {
		t.Errorf("paused is %v", c)
	}
	if p.Claim != nil || find(p.Status.Conditions, v1alpha1.Available).Status != metav1.ConditionTrue {
		t.Error("a paused fleet is changed")
	}
}

// rollingSince has a fleet's routers roll out for so long.
func rollingSince(o *plan.Observed, d time.Duration) {
	o.Routers = &plan.Routers{Desired: 2, Ready: 1, Updated: 1, Rolling: true}
	o.Fleet.Status.Conditions = append(o.Fleet.Status.Conditions, metav1.Condition{
		Type: v1alpha1.Progressing, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonRollingOut,
		ObservedGeneration: o.Fleet.Generation, LastTransitionTime: metav1.NewTime(now.Add(-d)),
	})
}

func TestContested(t *testing.T) {
	o := healthy()
	p := plan.Contested(o.Fleet, "swar", "b", now)
	got := find(p.Status.Conditions, v1alpha1.Contested)
	if got.Status != metav1.ConditionTrue || !strings.Contains(got.Message, "namespace swar leads") ||
		len(p.Events) != 1 || !p.Events[0].Warning {
		t.Errorf("got %+v, events %v", got, p.Events)
	}
	o.Fleet.Status = p.Status
	for after, want := range map[time.Duration]struct{ repeated, ended bool }{
		450 * time.Second: {false, false}, 451 * time.Second: {true, false}, 900 * time.Second: {true, false},
		901 * time.Second: {true, true},
	} {
		again := find(plan.Contested(o.Fleet, "swar", "b", now.Add(after)).Status.Conditions, v1alpha1.Contested)
		if repeated := !again.LastTransitionTime.Equal(&got.LastTransitionTime); repeated != want.repeated {
			t.Errorf("after %v it is repeated: %v, want %v", after, repeated, want.repeated)
		}
		if _, ended := plan.EndContest(o.Fleet, now.Add(after)); ended != want.ended {
			t.Errorf("after %v it ends: %v, want %v", after, ended, want.ended)
		}
	}
}

func TestRoutersOf(t *testing.T) {
	two := int32(2)
	for name, tt := range map[string]struct {
		set  appsv1.StatefulSetStatus
		want bool // it rolls out
	}{
		"all are new":       {appsv1.StatefulSetStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2}, false},
		"it was not read":   {appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2}, true},
		"one is of before":  {appsv1.StatefulSetStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 1, ReadyReplicas: 2}, true},
		"one is not ready":  {appsv1.StatefulSetStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 1}, true},
		"one is not there":  {appsv1.StatefulSetStatus{ObservedGeneration: 3, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1}, true},
		"one is still left": {appsv1.StatefulSetStatus{ObservedGeneration: 3, Replicas: 3, UpdatedReplicas: 2, ReadyReplicas: 2}, true},
	} {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Generation: 3},
			Spec: appsv1.StatefulSetSpec{Replicas: &two}, Status: tt.set}
		if got := plan.RoutersOfSet(set).Rolling; got != tt.want {
			t.Errorf("a StatefulSet, %s: %v, want %v", name, got, tt.want)
		}
		d := &appsv1.Deployment{ObjectMeta: set.ObjectMeta, Spec: appsv1.DeploymentSpec{Replicas: &two},
			Status: appsv1.DeploymentStatus{
				ObservedGeneration: tt.set.ObservedGeneration, Replicas: tt.set.Replicas,
				UpdatedReplicas: tt.set.UpdatedReplicas,
				ReadyReplicas:   tt.set.ReadyReplicas, AvailableReplicas: tt.set.ReadyReplicas,
			}}
		if got := plan.RoutersOf(d).Rolling; got != tt.want {
			t.Errorf("a Deployment, %s: %v, want %v", name, got, tt.want)
		}
	}
}
