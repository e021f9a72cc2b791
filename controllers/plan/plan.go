// Package plan decides the status of a fleet and the next steps. [Decide] takes the observation and the time, and
// returns a plan. It reads and writes nothing, so that every decision can be tried in a table.
package plan

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// Observed is what there is of a fleet. Nothing in it is changed.
type Observed struct {
	Fleet   *v1alpha1.TTSDeployment
	Workers *appsv1.Deployment // nil: there is none
	Routers *Routers           // nil: there are none
	Pods    []corev1.Pod       // workers
	Gates   []corev1.Pod       // routers
	Missing []Problem          // what keeps pods from being made, such as a Secret that is not there
	Failed  error              // of the last attempt to apply; nil
	// A pod template was changed, and the workload has not been read since: what it says is about the revision before.
	TemplateWritten bool
	Scaling         Scaling
}

// Routers is what a Deployment and a StatefulSet of routers have in common.
type Routers struct {
	Workload       metav1.Object // the Deployment or StatefulSet
	Desired, Ready int32
	Updated        int32  // of the newest revision
	Rolling        bool   // not all of them are of the newest revision and ready
	Mixed          bool   // a router of an earlier revision is left
	Overdue        bool   // the rollout exceeded its deadline; a StatefulSet does not report that
	Stuck          string // why no more of them come; empty: nothing is in their way
}

// RoutersOf returns what a Deployment of routers says.
func RoutersOf(d *appsv1.Deployment) *Routers {
	routers := &Routers{
		Workload: d, Desired: *d.Spec.Replicas, Ready: d.Status.ReadyReplicas, Updated: d.Status.UpdatedReplicas,
		Rolling: !rolledOut(d), Mixed: isMixed(d),
		Overdue: deploymentReason(d, appsv1.DeploymentProgressing) == deadlineExceeded,
	}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			routers.Stuck = c.Message
		}
	}
	return routers
}

// RoutersOfSet returns what a StatefulSet of routers says.
func RoutersOfSet(s *appsv1.StatefulSet) *Routers {
	is := s.Status
	mixed := is.ObservedGeneration < s.Generation || is.Replicas != is.UpdatedReplicas
	return &Routers{
		Workload: s, Desired: *s.Spec.Replicas, Ready: is.ReadyReplicas, Updated: is.UpdatedReplicas,
		Rolling: mixed || is.UpdatedReplicas != *s.Spec.Replicas || is.ReadyReplicas != is.UpdatedReplicas,
		Mixed:   mixed,
	}
}

// deadlineExceeded is what a Deployment gives as the reason that it does not progress.
const deadlineExceeded = "ProgressDeadlineExceeded"

// Scaling is the size decision of a fleet, and the reports of its routers.
type Scaling struct {
	Desired    int32  // worker pods that there shall be
	Now        int32  // worker pods that the Deployment may have now: more than Wanted until draining pods are empty
	Reason     string // of Wanted, a word
	Text       string // of it, for people
	Reported   bool   // routers have reported the state of pods lately
	Slots      v1alpha1.Slots
	Mismatched int // pods that routers do not use, because their model differs or they lack voices
	Limit      bool
}

// Problem is a state that needs attention.
type Problem struct {
	Reason string // one of v1alpha1's
	Text   string // what is wrong, and what to do
}

// Event is an event of the object.
type Event struct {
	Warning bool
	Reason  string
	Text    string
}

// Plan is what is to be done.
type Plan struct {
	Claim   *int32 // to be written to spec.replicas; nil: it stays as it is
	Workers int32  // worker pods that the Deployment may have now
	Status  v1alpha1.Status
	Events  []Event
}

// slotsEvery is how often slots in the status may change: the live value is in metrics.
const slotsEvery = 15 * time.Second

// Decide returns the plan for a fleet.
func Decide(o Observed, now time.Time, slotsWritten time.Time) Plan {
	p := Plan{Claim: claim(o), Workers: o.Scaling.Now, Status: *o.Fleet.Status.DeepCopy()}
	p.Status.ObservedGeneration = o.Fleet.Generation
	count(&p.Status, o)
	if now.Sub(slotsWritten) >= slotsEvery && slotsChanged(p.Status.Slots, o.Scaling.Slots) {
		p.Status.Slots = o.Scaling.Slots
	}
	p.Status.Desired = v1alpha1.Desired{Replicas: o.Scaling.Desired, Reason: o.Scaling.Reason}
	for _, c := range conditions(o, now) {
		p.Events = append(p.Events, set(&p.Status.Conditions, c, o.Fleet.Generation, now)...)
	}
	return p
}

// Paused is the plan for a paused fleet: only its status changes.
func Paused(fleet *v1alpha1.TTSDeployment, now time.Time) Plan {
	p := Plan{Status: *fleet.Status.DeepCopy()}
	p.Events = set(&p.Status.Conditions,
		condition{v1alpha1.PausedNow, metav1.ConditionTrue, v1alpha1.ReasonReconciliationPaused,
			"nothing is changed until spec.reconciliation is Active"}, fleet.Generation, now)
	return p
}

// contestLasts is how long a condition Contested counts: the operator that sets it checks the fleet more often.
const contestLasts = 15 * time.Minute

// Contested is the plan for a fleet that an operator in another namespace leads. The namespace of this operator is
// own.
func Contested(fleet *v1alpha1.TTSDeployment, leader, own string, now time.Time) Plan {
	p := Plan{Status: *fleet.Status.DeepCopy()}
	c := condition{v1alpha1.Contested, metav1.ConditionTrue, v1alpha1.ReasonAnotherOperator, fmt.Sprintf(
		"the operator in the namespace %s leads this fleet; the one in %s sees it, too, and leaves it alone. Let one of them watch "+
			"other namespaces. If the first one was removed for good, delete the annotation swar.dev/operator", leader, own)}
	p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(is metav1.Condition) bool {
		// so that it says again that it is so
		return is.Type == c.typ && now.Sub(is.LastTransitionTime.Time) > contestLasts/2
	})
	p.Events = set(&p.Status.Conditions, c, fleet.Generation, now)
	return p
}

// EndContest returns the status without a condition Contested that was not repeated in time, and whether there was one.
func EndContest(fleet *v1alpha1.TTSDeployment, now time.Time) (v1alpha1.Status, bool) {
	status := *fleet.Status.DeepCopy()
	status.Conditions = slices.DeleteFunc(status.Conditions, func(is metav1.Condition) bool {
		return is.Type == v1alpha1.Contested && now.Sub(is.LastTransitionTime.Time) > contestLasts
	})
	return status, len(status.Conditions) < len(fleet.Status.Conditions)
}

// claim returns the value of spec.replicas to write. In mode Automatic that is the operator's decision. In other modes
// the operator writes it only while it is absent, because autoscalers cannot read /scale otherwise, and a user who
// omits it once changes nothing.
func claim(o Observed) *int32 {
	now := o.Fleet.Spec.Replicas
	if now != nil && (o.Fleet.Spec.Scaling.Mode != v1alpha1.ScalingAutomatic || *now == o.Scaling.Desired) {
		return nil
	}
	return &o.Scaling.Desired
}

// InitialReplicas is the first number of worker pods of a fleet. It is 0 where the fleet may scale to zero, else the
// minimum, at least 1.
func InitialReplicas(fleet *v1alpha1.TTSDeployment) int32 {
	if n := fleet.Spec.Replicas; n != nil {
		return *n
	}
	return minReplicas(fleet)
}

// minReplicas is spec.scaling.minReplicas, or its default.
func minReplicas(fleet *v1alpha1.TTSDeployment) int32 {
	if m := fleet.Spec.Scaling.MinReplicas; m != nil {
		return *m
	}
	return 1
}

// count sets the numbers of pods.
func count(s *v1alpha1.Status, o Observed) {
	s.Replicas, s.ReadyReplicas, s.WarmingReplicas, s.DrainingReplicas, s.UpdatedReplicas = 0, 0, 0, 0, 0
	for i := range o.Pods {
		switch p := &o.Pods[i]; {
		case p.DeletionTimestamp != nil:
			s.DrainingReplicas++
			continue
		case IsReady(p):
			s.ReadyReplicas++
		case !hasBeenReady(p):
			s.WarmingReplicas++
		}
		s.Replicas++
	}
	s.ModelDigest = o.Fleet.Spec.Model.SHA256
	if o.Workers != nil {
		s.UpdatedReplicas = o.Workers.Status.UpdatedReplicas
		s.Revision.Updated = o.Workers.Annotations["deployment.kubernetes.io/revision"]
		if rolledOut(o.Workers) && !o.TemplateWritten {
			s.Revision.Current = s.Revision.Updated
		}
	}
	s.Pods = fmt.Sprintf("%d/%d", s.ReadyReplicas, o.Scaling.Desired)
}

// slotsChanged reports whether slots changed enough for a write: by a tenth, or from or to zero.
func slotsChanged(was, is v1alpha1.Slots) bool {
	far := func(a, b int32) bool { return a != b && (a == 0 || b == 0 || 10*max(a-b, b-a) >= a) }
	return far(was.Total, is.Total) || far(was.Busy, is.Busy) || far(was.Queued, is.Queued)
}

// set changes a condition, and returns an event if its status or reason changed.
func set(all *[]metav1.Condition, c condition, generation int64, now time.Time) (events []Event) {
	next := metav1.Condition{
		Type: c.typ, Status: c.status, Reason: c.reason, Message: c.text, ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(now),
	}
	i := slices.IndexFunc(*all, func(was metav1.Condition) bool { return was.Type == c.typ })
	if i < 0 {
		*all = append(*all, next)
		if c.isBad() {
			events = []Event{{true, c.reason, c.text}}
		}
		return events
	}
	was := (*all)[i]
	if was.Status == next.Status {
		next.LastTransitionTime = was.LastTransitionTime
	}
	if was.Status != next.Status || was.Reason != next.Reason {
		events = []Event{{c.isBad(), c.reason, c.text}}
	}
	if !equality.Semantic.DeepEqual(was, next) {
		(*all)[i] = next
	}
	return events
}

// IsReady reports whether Kubernetes sends traffic to a pod.
func IsReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// hasBeenReady reports whether a pod's container has passed its startup probe, which is that every worker was warm.
func hasBeenReady(p *corev1.Pod) bool {
	for _, s := range p.Status.ContainerStatuses {
		if s.Started != nil && *s.Started {
			return true
		}
	}
	return false
}

// rolledOut reports whether every pod is of the newest revision, and ready.
func rolledOut(d *appsv1.Deployment) bool {
	s := d.Status
	return d.Spec.Replicas != nil && !isMixed(d) && s.UpdatedReplicas == *d.Spec.Replicas &&
		s.AvailableReplicas == s.UpdatedReplicas
}
