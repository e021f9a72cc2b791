package controllers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/plan"
	"github.com/swar-tts/swar/controllers/resources"
)

// observe reads what there is of a fleet.
func (r *Reconciler) observe(ctx context.Context,
	fleet *v1alpha1.TTSDeployment) (o plan.Observed, s secrets, err error) {
	if o, err = r.observeCached(ctx, fleet); err != nil {
		return o, s, err
	}
	if s, o.Missing, err = r.observeSecrets(ctx, fleet); err != nil {
		return o, s, err
	}
	if err := resources.CheckTemplates(r.release(), fleet); err != nil {
		s.missing = true // what is there stays
		o.Missing = slices.Insert(o.Missing, 0, plan.Problem{
			Reason: v1alpha1.ReasonPodTemplateInvalid, Text: strings.ReplaceAll(err.Error(), "\n", "; "),
		})
	}
	r.mu.Lock()
	o.Failed = r.failed[client.ObjectKeyFromObject(fleet)]
	r.mu.Unlock()
	o.TemplateWritten = r.templateWritten(o)
	o.Scaling = r.Sizer.Observe(o)
	return o, s, nil
}

// templateWritten reports whether a workload was read before the last change of its template.
func (r *Reconciler) templateWritten(o plan.Observed) bool {
	return o.Workers != nil && r.isBehind(o.Workers) || o.Routers != nil && r.isBehind(o.Routers.Workload)
}

// observeCached reads pods and what makes them, which the cache has. Secrets it does not have.
func (r *Reconciler) observeCached(ctx context.Context, fleet *v1alpha1.TTSDeployment) (o plan.Observed, err error) {
	o.Fleet = fleet
	workers := &appsv1.Deployment{}
	if found, err := r.get(ctx, fleet, resources.WorkerName(fleet), workers); err != nil {
		return o, err
	} else if found {
		o.Workers = workers
	}
	if o.Routers, err = r.routers(ctx, fleet); err != nil {
		return o, err
	}
	if o.Pods, err = r.pods(ctx, fleet, resources.Worker); err != nil {
		return o, err
	}
	o.Gates, err = r.pods(ctx, fleet, resources.Router)
	return o, err
}

// sizeAll has the size of every fleet decided before any other thing is looked at: an operator that starts anew finds
// demand that has grown meanwhile, and with hundreds of fleets it takes half a minute until each has been looked at.
func (r *Reconciler) sizeAll(ctx context.Context) error {
	fleets := &v1alpha1.TTSDeploymentList{}
	if err := r.Client.List(ctx, fleets); err != nil {
		return fmt.Errorf("listing fleets: %w", err)
	}
	for i := range fleets.Items {
		fleet := &fleets.Items[i]
		leader := fleet.Annotations[leaderAnnotation] // empty at first
		isOthers := leader != "" && leader != r.Release.OperatorNamespace
		if isOthers || fleet.DeletionTimestamp != nil || fleet.Spec.Reconciliation == v1alpha1.Paused {
			continue
		}
		o, err := r.observeCached(ctx, fleet)
		if err != nil {
			return err
		}
		r.Sizer.Observe(o)
	}
	return nil
}

// get reads an object of the fleet. An object of another owner is not the fleet's.
func (r *Reconciler) get(ctx context.Context, fleet *v1alpha1.TTSDeployment, name string,
	into client.Object) (bool, error) {
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: fleet.Namespace, Name: name}, into)
	if client.IgnoreNotFound(err) != nil {
		return false, err
	}
	return err == nil, nil
}

func (r *Reconciler) routers(ctx context.Context, fleet *v1alpha1.TTSDeployment) (*plan.Routers, error) {
	if fleet.Spec.Router.UsageVolume != nil {
		set := &appsv1.StatefulSet{}
		found, err := r.get(ctx, fleet, resources.RouterName(fleet), set)
		if !found {
			return nil, err
		}
		return plan.RoutersOfSet(set), nil
	}
	deployment := &appsv1.Deployment{}
	found, err := r.get(ctx, fleet, resources.RouterName(fleet), deployment)
	if !found {
		return nil, err
	}
	return plan.RoutersOf(deployment), nil
}

func (r *Reconciler) pods(ctx context.Context, fleet *v1alpha1.TTSDeployment, component string) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	err := r.Client.List(ctx, list, client.InNamespace(fleet.Namespace),
		client.MatchingLabels(resources.Selector(fleet, component)))
	if err != nil {
		return nil, fmt.Errorf("listing the pods of %s: %w", component, err)
	}
	return list.Items, nil
}

// addresses are those at which pods that run can be called.
func addresses(pods []corev1.Pod, port int) (all []string) {
	for _, p := range pods {
		if p.Status.PodIP != "" && p.Status.Phase == corev1.PodRunning {
			all = append(all, net.JoinHostPort(p.Status.PodIP, strconv.Itoa(port)))
		}
	}
	return all
}
