package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/metrics"
	"github.com/swar-tts/swar/controllers/plan"
	"github.com/swar-tts/swar/controllers/resources"
)

// Field managers. The size of a fleet has a separate one, because others may take it over.
const (
	fieldManager   = "swar-operator"
	managerSize    = "swar-operator-size"
	managerInitial = "swar-operator-birth" // what an object has at first and others may change
)

// again is how soon a fleet is looked at though nothing has changed: for Secrets, which are not watched.
const again = 5 * time.Minute

// Reconciler makes fleets what their TTSDeployments want.
type Reconciler struct {
	Client    client.Client // reads from the cache, but for Secrets
	Reader    client.Reader // reads from the API server
	Release   resources.Release
	Portal    string // HOST:PORT of the dataplane of this release's portal; empty: there is none
	Authority *AuthorityStore
	Sizer     *Sizer
	Events    events.EventRecorder
	Metrics   *metrics.Fleets // nil: no metrics
	Now       func() time.Time

	// Kinds of other projects that the cluster has now; nil: those of Release.
	Kinds func() resources.Kinds

	mu      sync.Mutex
	written map[types.NamespacedName]time.Time // when slots were last written to the status
	failed  map[types.NamespacedName]error     // why the last attempt to apply failed

	templates map[types.UID]int64 // generations of workloads whose template was changed, until the cache has them

	others map[types.NamespacedName]time.Time // fleets that another operator has led, and since when they have no mark
}

// Reconcile implements controller-runtime's reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
	fleet := &v1alpha1.TTSDeployment{}
	if err := r.Client.Get(ctx, q.NamespacedName, fleet); apierrors.IsNotFound(err) {
		r.forget(q.NamespacedName)
		return ctrl.Result{}, nil
	} else if err != nil {
		return ctrl.Result{}, err
	}
	if fleet.DeletionTimestamp != nil { // children go with it, by their owner references
		return ctrl.Result{}, nil
	}
	if leads, next, err := r.lead(ctx, fleet); err != nil || !leads {
		r.Sizer.Forget(q.NamespacedName)
		return ctrl.Result{RequeueAfter: next}, err
	}
	if fleet.Spec.Reconciliation == v1alpha1.Paused {
		r.Sizer.Forget(q.NamespacedName)
		return ctrl.Result{}, r.writeStatus(ctx, fleet, plan.Paused(fleet, r.Now()))
	}
	o, secrets, err := r.observe(ctx, fleet)
	if err != nil {
		return ctrl.Result{}, err
	}
	r.Metrics.Certificate(q.NamespacedName, secrets.expiry)
	p := plan.Decide(o, r.Now(), r.lastWritten(q.NamespacedName))
	return r.apply(ctx, o, p, secrets)
}

// forget drops the state in memory of a deleted fleet.
func (r *Reconciler) forget(name types.NamespacedName) {
	r.Sizer.Forget(name)
	r.Metrics.Forget(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.written, name)
	delete(r.failed, name)
	delete(r.others, name)
}

func (r *Reconciler) lastWritten(name types.NamespacedName) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written[name]
}

// apply writes the objects of a plan. Failures are shown in the status and retried.
func (r *Reconciler) apply(ctx context.Context, o plan.Observed, p plan.Plan, s secrets) (ctrl.Result, error) {
	name := client.ObjectKeyFromObject(o.Fleet)
	err := r.execute(ctx, o, p, s)
	if o.Fleet.UID != "" && apierrors.IsConflict(err) { // another client has just written: read again
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	r.mu.Lock()
	if r.failed == nil {
		r.failed, r.written = make(map[types.NamespacedName]error), make(map[types.NamespacedName]time.Time)
	}
	before := r.failed[name]
	r.failed[name] = err
	r.mu.Unlock()
	written := r.templateWritten(o)
	if fmt.Sprint(before) != fmt.Sprint(err) || written != o.TemplateWritten {
		o.Failed, o.TemplateWritten = err, written
		p = plan.Decide(o, r.Now(), r.lastWritten(name))
	}
	if sayErr := r.writeStatus(ctx, o.Fleet, p); sayErr != nil {
		return ctrl.Result{}, sayErr
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	next := again
	if !s.renew.IsZero() {
		next = min(next, max(s.renew.Sub(r.Now()), time.Second))
	}
	if len(o.Missing) > 0 {
		next = 10 * time.Second // Secrets are not watched
	}
	return ctrl.Result{RequeueAfter: next}, nil
}

func (r *Reconciler) execute(ctx context.Context, o plan.Observed, p plan.Plan, s secrets) error {
	if p.Claim != nil {
		if err := r.claim(ctx, o.Fleet, *p.Claim); err != nil {
			return fmt.Errorf("writing spec.replicas: %w", err)
		}
	}
	for _, secret := range s.toWrite {
		if err := r.writeSecret(ctx, secret); err != nil {
			return fmt.Errorf("writing the Secret %s: %w", secret.Name, err)
		}
	}
	if s.missing {
		return nil // pods without the Secret would only fail
	}
	s.facts.Workers = p.Workers
	if err := r.createRouters(ctx, o, s.facts); err != nil {
		return err
	}
	wanted := resources.Build(r.release(), o.Fleet, s.facts)
	if err := r.ensureAll(ctx, wanted); err != nil {
		return err // what is there stays until all that replaces it is
	}
	return r.prune(ctx, o.Fleet, wanted)
}

// ensureAll applies objects in their order. What cannot be applied keeps nothing else from being made, but pods do
// not start without the NetworkPolicies that protect them.
func (r *Reconciler) ensureAll(ctx context.Context, wanted []resources.Object) error {
	var failed []error
	unprotected := false
	for _, obj := range wanted {
		kind := obj.GetObjectKind().GroupVersionKind().Kind
		if unprotected && (kind == "Deployment" || kind == "StatefulSet") {
			continue
		}
		if err := r.ensure(ctx, obj); err != nil {
			failed = append(failed, fmt.Errorf("%s %s: %w", kind, obj.GetName(), err))
			unprotected = unprotected || kind == "NetworkPolicy"
		}
	}
	return errors.Join(failed...)
}

// release is what fleets are made of now.
func (r *Reconciler) release() resources.Release {
	release := r.Release
	if r.Kinds != nil {
		release.Kinds = r.Kinds()
	}
	return release
}

// writeStatus writes the status if it changed, and records the events.
func (r *Reconciler) writeStatus(ctx context.Context, fleet *v1alpha1.TTSDeployment, p plan.Plan,
	how ...client.MergeFromOption) error {
	p.Status.Selector, p.Status.Endpoint = resources.SelectorText(fleet, resources.Worker), resources.Endpoint(fleet)
	r.Metrics.SetConditions(client.ObjectKeyFromObject(fleet), p.Status.Conditions)
	for _, e := range p.Events {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		const most = 1000 // bytes that an Event's note may have, by the API
		r.Events.Eventf(fleet, nil, kind, e.Reason, "Reconcile", "%s", e.Text[:min(len(e.Text), most)])
	}
	if equality.Semantic.DeepEqual(fleet.Status, p.Status) {
		return nil
	}
	changed := fleet.DeepCopy()
	changed.Status = p.Status
	if err := r.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(fleet, how...)); err != nil {
		return client.IgnoreNotFound(err)
	}
	if p.Status.Slots != fleet.Status.Slots {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.written[client.ObjectKeyFromObject(fleet)] = r.Now()
	}
	return nil
}
