package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/plan"
)

// leaderAnnotation of a TTSDeployment names the namespace of the operator that leads it. Operators of one namespace
// share a lease, so that one of them acts.
const leaderAnnotation = "swar.dev/operator"

// handOver is how long an operator that has left a fleet to another one waits until it takes the fleet without a
// mark: the one that leads puts back at once a mark that was lost, as kubectl replace loses it.
const handOver = 30 * time.Second

// lead reports whether this operator leads a fleet, and takes the lead of a fleet without a leader. If another operator
// leads, it changes nothing and reports that in a condition and an event. The duration is when to check again, if it
// does not lead.
func (r *Reconciler) lead(ctx context.Context,
	fleet *v1alpha1.TTSDeployment) (leads bool, next time.Duration, err error) {
	own, name := r.Release.OperatorNamespace, client.ObjectKeyFromObject(fleet)
	switch leader := fleet.Annotations[leaderAnnotation]; leader {
	case own:
		r.setOtherLeader(name, false)
		return true, 0, r.endContest(ctx, fleet)
	case "":
		if left := r.waits(name); left > 0 {
			return false, left, nil
		}
		before := fleet.DeepCopy()
		if fleet.Annotations == nil {
			fleet.Annotations = map[string]string{}
		}
		fleet.Annotations[leaderAnnotation] = own
		// of two at once, one gets it
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		err := r.Client.Patch(ctx, fleet, patch)
		if apierrors.IsConflict(err) {
			return false, again, nil // its change has the fleet looked at again
		}
		return err == nil, again, client.IgnoreNotFound(err)
	default:
		r.setOtherLeader(name, true)
		// The leader changes conditions too, and they are written as a whole.
		err := r.writeStatus(ctx, fleet, plan.Contested(fleet, leader, own, r.Now()),
			client.MergeFromWithOptimisticLock{})
		if apierrors.IsConflict(err) {
			return false, time.Second, nil
		}
		return false, again, err
	}
}

// setOtherLeader remembers that another operator leads a fleet, or forgets that one did.
func (r *Reconciler) setOtherLeader(name types.NamespacedName, other bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !other {
		delete(r.others, name)
		return
	}
	if r.others == nil {
		r.others = make(map[types.NamespacedName]time.Time)
	}
	r.others[name] = time.Time{}
}

// waits returns for how long a fleet without a mark is left to the operator that has led it.
func (r *Reconciler) waits(name types.NamespacedName) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, other := r.others[name]
	if !other {
		return 0
	}
	if since.IsZero() {
		since = r.Now()
		r.others[name] = since
	}
	return since.Add(handOver).Sub(r.Now())
}

// endContest removes what another operator has said of a fleet that this one leads, where it has not said so lately.
func (r *Reconciler) endContest(ctx context.Context, fleet *v1alpha1.TTSDeployment) error {
	status, ended := plan.EndContest(fleet, r.Now())
	if !ended {
		return nil
	}
	before := fleet.DeepCopy()
	fleet.Status = status
	if err := r.Client.Status().Patch(ctx, fleet, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("removing a condition: %w", err))
	}
	r.Events.Eventf(fleet, nil, corev1.EventTypeNormal, v1alpha1.ReasonReady, "Reconcile",
		"no other operator sees this fleet any more")
	return nil
}
