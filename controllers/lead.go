package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/plan"
)

// leaderAnnotation of a TTSDeployment names the namespace of the operator that leads it. Operators of one namespace share a
// lease, so that one of them acts.
const leaderAnnotation = "swar.dev/operator"

// lead reports whether this operator leads a fleet, and takes the lead of one that has no leader. Where another one leads, it
// changes nothing but says so in a condition and an event.
func (r *Reconciler) lead(ctx context.Context, fleet *v1alpha1.TTSDeployment) (bool, error) {
	own := r.Release.OperatorNamespace
	switch leader := fleet.Annotations[leaderAnnotation]; leader {
	case own:
		return true, r.endContest(ctx, fleet)
	case "":
		before := fleet.DeepCopy()
		if fleet.Annotations == nil {
			fleet.Annotations = map[string]string{}
		}
		fleet.Annotations[leaderAnnotation] = own
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}) // of two at once, one gets it
		err := r.Client.Patch(ctx, fleet, patch)
		if apierrors.IsConflict(err) {
			return false, nil // its change has the fleet looked at again
		}
		return err == nil, client.IgnoreNotFound(err)
	default:
		return false, r.say(ctx, fleet, plan.Contested(fleet, leader, own, r.Now()))
	}
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
	r.Events.Eventf(fleet, nil, corev1.EventTypeNormal, v1alpha1.ReasonReady, "Reconcile", "no other operator sees this fleet any more")
	return nil
}
