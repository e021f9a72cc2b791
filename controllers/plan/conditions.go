package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// condition is an answer to one of the questions of v1alpha1.
type condition struct {
	typ    string
	status metav1.ConditionStatus
	reason string
	text   string
}

func (c condition) isTrue() bool { return c.status == metav1.ConditionTrue }

// isBad reports whether it is something to warn of.
func (c condition) isBad() bool {
	switch c.typ {
	case v1alpha1.Degraded, v1alpha1.Contested:
		return c.status == metav1.ConditionTrue
	case v1alpha1.Available, v1alpha1.RouterReady:
		return c.status == metav1.ConditionFalse && c.reason != v1alpha1.ReasonWarming &&
			c.reason != v1alpha1.ReasonScaledToZero
	case v1alpha1.ModelVerified:
		return c.status == metav1.ConditionFalse
	case v1alpha1.Progressing:
		return c.reason == v1alpha1.ReasonDeadlineExceeded
	}
	return false
}

// answer makes a condition of a question that is answered with yes or no.
func answer(typ string, yes bool, reason, text string) condition {
	if yes {
		return condition{typ, metav1.ConditionTrue, reason, text}
	}
	return condition{typ, metav1.ConditionFalse, reason, text}
}

// conditions answers all questions.
func conditions(o Observed, now time.Time) []condition {
	problems := Problems(o)
	router := routerReady(o)
	warm := workersWarm(o)
	available := available(o, router, warm, problems)
	progressing := progressing(o, problems, now)
	return []condition{
		ready(o, available, progressing, problems),
		available,
		progressing,
		stalled(o, progressing),
		modelVerified(o, problems),
		warm,
		router,
		scalingActive(o),
		degraded(problems),
		answer(v1alpha1.PausedNow, false, v1alpha1.ReasonReconciliationActive, "changes are carried out"),
	}
}

func available(o Observed, router, warm condition, problems []Problem) condition {
	no := func(reason, text string) condition {
		if len(problems) > 0 {
			reason, text = problems[0].Reason, problems[0].Text
		}
		return answer(v1alpha1.Available, false, reason, text)
	}
	ready := o.readyPods()
	switch {
	case router.status != metav1.ConditionTrue:
		return no(v1alpha1.ReasonRoutersNotReady, router.text)
	case ready > 0:
		return answer(v1alpha1.Available, true, v1alpha1.ReasonReady, fmt.Sprintf("%d worker pods speak", ready))
	case o.Scaling.Desired == 0:
		return no(v1alpha1.ReasonScaledToZero, "scaled to zero; the next request starts a pod")
	case len(o.Pods) == 0:
		return no(v1alpha1.ReasonNoPods, "no worker pods yet")
	}
	return no(v1alpha1.ReasonWarming, warm.text)
}

func progressing(o Observed, problems []Problem, now time.Time) condition {
	overdue := func(who string) condition {
		text := fmt.Sprintf("%s exceeded its deadline of %d s", who, o.Fleet.Spec.Rollout.ProgressDeadlineSeconds)
		if o.readyPods() > 0 {
			text += "; the previous pods keep serving"
		}
		if len(problems) > 0 {
			text += ": " + problems[0].Text
		}
		return answer(v1alpha1.Progressing, false, v1alpha1.ReasonDeadlineExceeded, text)
	}
	rolling := func(text string) condition {
		return answer(v1alpha1.Progressing, true, v1alpha1.ReasonRollingOut, text)
	}
	switch {
	case o.Workers == nil && isOverdue(o.Fleet, now):
		return overdue("the first revision")
	case o.Workers == nil:
		return rolling("the first worker pods are being made")
	case o.TemplateWritten:
		return rolling("a new revision was applied")
	case deploymentReason(o.Workers, appsv1.DeploymentProgressing) == deadlineExceeded:
		return overdue("revision " + o.Workers.Annotations["deployment.kubernetes.io/revision"])
	case o.Routers != nil &&
		(o.Routers.Overdue || o.Routers.Rolling && rolledOut(o.Workers) && isOverdue(o.Fleet, now)):
		return overdue("the newest revision of the routers")
	case !rolledOut(o.Workers):
		return rolling(fmt.Sprintf("%d of %d worker pods are of the newest revision",
			o.Workers.Status.UpdatedReplicas, o.Scaling.Now))
	case o.Routers == nil:
		return rolling("the first routers are being made")
	case o.Routers.Rolling:
		return rolling(fmt.Sprintf("%d of %d routers are of the newest revision, and %d ready", o.Routers.Updated,
			o.Routers.Desired, o.Routers.Ready))
	}
	return answer(v1alpha1.Progressing, false, v1alpha1.ReasonRolledOut,
		"every worker pod and every router is of the newest revision")
}

// isOverdue reports whether a rollout exceeded its deadline, for a StatefulSet, which has no such condition. It stays
// true until the rollout is complete.
func isOverdue(fleet *v1alpha1.TTSDeployment, now time.Time) bool {
	for _, c := range fleet.Status.Conditions {
		if c.Type != v1alpha1.Progressing || c.ObservedGeneration != fleet.Generation {
			continue
		}
		limit := time.Duration(fleet.Spec.Rollout.ProgressDeadlineSeconds) * time.Second
		return c.Reason == v1alpha1.ReasonDeadlineExceeded || c.Reason == v1alpha1.ReasonRollingOut &&
			now.Sub(c.LastTransitionTime.Time) > limit
	}
	return false
}

func modelVerified(o Observed, problems []Problem) condition {
	for _, p := range problems {
		if p.Reason == v1alpha1.ReasonDigestMismatch || p.Reason == v1alpha1.ReasonModelMismatch {
			return answer(v1alpha1.ModelVerified, false, p.Reason, p.Text)
		}
	}
	switch {
	case o.readyPods() == 0:
		return condition{v1alpha1.ModelVerified, metav1.ConditionUnknown, v1alpha1.ReasonUnknown,
			"no pod has loaded the model yet"}
	case o.Fleet.Spec.Model.SHA256 == "":
		return answer(v1alpha1.ModelVerified, true, v1alpha1.ReasonNotPinned,
			"pods speak with a model of that name; to hold them to one bundle, set spec.model.sha256")
	}
	return answer(v1alpha1.ModelVerified, true, v1alpha1.ReasonDigestChecked,
		"every ready pod has checked the digest of its bundle")
}

func workersWarm(o Observed) condition {
	ready, all := o.readyPods(), len(o.livePods())
	return answer(v1alpha1.WorkersWarm, all > 0 && ready == all,
		wordFor(ready == all, v1alpha1.ReasonReady, v1alpha1.ReasonWarming),
		fmt.Sprintf("%d of %d worker pods are warm", ready, all))
}

func routerReady(o Observed) condition {
	switch {
	case o.Routers == nil:
		return answer(v1alpha1.RouterReady, false, v1alpha1.ReasonRoutersNotReady, "there are no routers yet")
	case o.Routers.Ready == 0:
		return answer(v1alpha1.RouterReady, false, v1alpha1.ReasonRoutersNotReady,
			"no router is ready: with a portal it must have answered once, and the logs of the routers say what they wait for")
	}
	return answer(v1alpha1.RouterReady, true, v1alpha1.ReasonReady,
		fmt.Sprintf("%d of %d routers answer", o.Routers.Ready, o.Routers.Desired))
}

func scalingActive(o Observed) condition {
	switch {
	case o.Fleet.Spec.Scaling.Mode == v1alpha1.ScalingManual:
		return answer(v1alpha1.ScalingActive, false, v1alpha1.ReasonManual,
			"spec.replicas says how many pods there are")
	case !o.Scaling.Reported:
		return answer(v1alpha1.ScalingActive, false, v1alpha1.ReasonNoRouterReports,
			"no router reports its load, so the fleet does not scale in: check the routers and the network policy of their port 8091")
	case o.Fleet.Spec.Scaling.Mode == v1alpha1.ScalingExternal:
		return answer(v1alpha1.ScalingActive, true, v1alpha1.ReasonExternal,
			"an external autoscaler sets the number of pods through /scale")
	case o.Scaling.Limit:
		return answer(v1alpha1.ScalingActive, true, v1alpha1.ReasonAtMaximum,
			"more pods are wanted than spec.scaling.maxReplicas allows: raise it, or callers are refused")
	}
	return answer(v1alpha1.ScalingActive, true, v1alpha1.ReasonFollowingDemand, o.Scaling.Text)
}

func degraded(problems []Problem) condition {
	if len(problems) == 0 {
		return answer(v1alpha1.Degraded, false, v1alpha1.ReasonAsExpected, "nothing is in the way")
	}
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Text
	}
	const most = 4000 // bytes of a message that is still read
	text := strings.Join(texts, "; ")
	return answer(v1alpha1.Degraded, true, problems[0].Reason, text[:min(len(text), most)])
}

func wordFor(yes bool, ifYes, ifNo string) string {
	if yes {
		return ifYes
	}
	return ifNo
}

func (o Observed) livePods() []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(o.Pods), func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

func (o Observed) readyPods() (n int) {
	for _, p := range o.livePods() {
		if IsReady(&p) {
			n++
		}
	}
	return n
}

func deploymentReason(d *appsv1.Deployment, typ appsv1.DeploymentConditionType) string {
	for _, c := range d.Status.Conditions {
		if c.Type == typ {
			return c.Reason
		}
	}
	return ""
}
