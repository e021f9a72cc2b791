package plan

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// ready answers for the whole fleet what kstatus, Argo CD and kubectl wait ask: is this generation of the spec out, and
// does it serve? An autoscaler that adds pods does not end it, but fewer warm pods than the minimum do.
func ready(o Observed, available, progressing condition, problems []Problem) condition {
	no := func(reason, text string) condition { return answer(v1alpha1.Ready, false, reason, text) }
	blocked := func(reason, text string) condition {
		if len(problems) > 0 {
			reason, text = problems[0].Reason, problems[0].Text
		}
		return no(reason, text)
	}
	warm, minimum := o.readyPods(), minimumPods(o.Fleet)
	switch {
	case len(o.Missing) > 0 || o.Failed != nil:
		return blocked("", "")
	case progressing.reason == v1alpha1.ReasonDeadlineExceeded || isRollingOut(o):
		return no(progressing.reason, progressing.text)
	case available.reason == v1alpha1.ReasonScaledToZero && minimum == 0:
		return answer(v1alpha1.Ready, true, available.reason, available.text)
	case !available.isTrue():
		return no(available.reason, available.text)
	case warm < minimum:
		return blocked(v1alpha1.ReasonWarming, fmt.Sprintf("%d of at least %d worker pods are warm", warm, minimum))
	}
	return answer(v1alpha1.Ready, true, v1alpha1.ReasonReady,
		fmt.Sprintf("the newest revision serves with %d worker pods", warm))
}

// stalled reports a generation that cannot become ready without a change of the spec, or of what it depends on.
func stalled(o Observed, progressing condition) condition {
	switch {
	case progressing.reason == v1alpha1.ReasonDeadlineExceeded:
		return answer(v1alpha1.Stalled, true, progressing.reason, progressing.text)
	case len(o.Missing) > 0 && o.Missing[0].Reason == v1alpha1.ReasonPodTemplateInvalid:
		return answer(v1alpha1.Stalled, true, o.Missing[0].Reason, o.Missing[0].Text)
	case apierrors.IsInvalid(o.Failed):
		return answer(v1alpha1.Stalled, true, v1alpha1.ReasonApplyFailed,
			"the API server rejects an object of this spec: "+o.Failed.Error())
	}
	return answer(v1alpha1.Stalled, false, v1alpha1.ReasonAsExpected, "nothing waits for a change of the spec")
}

// isRollingOut reports whether a pod of an earlier revision is left, or none of this one was made. Unlike [rolledOut]
// it does not count the pods that an autoscaler adds.
func isRollingOut(o Observed) bool {
	return o.Workers == nil || o.TemplateWritten || isMixed(o.Workers) || o.Routers == nil || o.Routers.Mixed
}

// isMixed reports whether a Deployment has not seen its newest revision, or has pods of an earlier one.
func isMixed(d *appsv1.Deployment) bool {
	return d.Status.ObservedGeneration < d.Generation || d.Status.Replicas != d.Status.UpdatedReplicas
}

// minimumPods is the number of worker pods that a fleet always has.
func minimumPods(fleet *v1alpha1.TTSDeployment) int {
	switch fleet.Spec.Scaling.Mode {
	case v1alpha1.ScalingManual:
		return int(InitialReplicas(fleet))
	case v1alpha1.ScalingExternal:
		return 1 // another autoscaler knows the minimum
	}
	return int(minReplicas(fleet))
}
