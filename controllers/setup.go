package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/metrics"
	"github.com/swar-tts/swar/controllers/resources"
	"github.com/swar-tts/swar/runtime/grpcauth"
)

// Config configures the operator.
type Config struct {
	Release   resources.Release
	Namespace string          // its own
	Portal    string          // HOST:PORT of the dataplane of this release's portal; empty: there is none
	Metrics   *metrics.Fleets // nil: no metrics
	Now       func() time.Time

	Scaler      string   // address on which KEDA is answered; empty: nowhere
	ScalerHosts []string // that KEDA calls; nil: the names of the Service swar-operator
}

// ManagerOptions returns the options that the reconciler relies on: what is cached of which namespaces, and what never
// is.
func ManagerOptions(namespaces []string) ctrl.Options {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	ours := cache.ByObject{Label: labels.SelectorFromSet(resources.Managed)}
	byObject := map[client.Object]cache.ByObject{&corev1.Pod{}: ours}
	for _, o := range owned() {
		byObject[o] = ours
	}
	options := ctrl.Options{
		Scheme: scheme,
		// Secrets are read one by one and never cached: listing them would require a right that no program should have.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Cache:  cache.Options{DefaultTransform: cache.TransformStripManagedFields(), ByObject: byObject},
	}
	if len(namespaces) > 0 {
		options.Cache.DefaultNamespaces = make(map[string]cache.Config, len(namespaces))
		for _, n := range namespaces {
			options.Cache.DefaultNamespaces[n] = cache.Config{}
		}
	}
	return options
}

// owned are the kinds that fleets are made of.
func owned() []client.Object {
	return []client.Object{
		&appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{}, &corev1.ServiceAccount{}, &corev1.ConfigMap{},
		&policyv1.PodDisruptionBudget{}, &networkingv1.NetworkPolicy{}, &rbacv1.Role{}, &rbacv1.RoleBinding{},
	}
}

// atOnce is how many fleets are looked at at the same time.
const atOnce = 8

// AuthoritySecret is the Secret of the operator's namespace with its authority.
const AuthoritySecret = "swar-operator-ca"

// Add makes everything that looks after fleets and adds it to a manager, which runs it while it leads.
func Add(m manager.Manager, c Config, log *slog.Logger) error {
	if c.Now == nil {
		c.Now = time.Now
	}
	authority := &AuthorityStore{Client: m.GetClient(), Namespace: c.Namespace, Name: AuthoritySecret, Now: c.Now}
	identity := &identity{
		store: authority, client: m.GetClient(), log: log,
		name: grpcauth.Identity{Namespace: c.Namespace, Name: resources.ManagedBy, Role: grpcauth.Operator},
	}
	changed := make(chan event.GenericEvent, 1024)
	sizer := NewSizer(c.Now, identity.dial, func(name types.NamespacedName) {
		fleet := &v1alpha1.TTSDeployment{}
		fleet.Namespace, fleet.Name = name.Namespace, name.Name
		changed <- event.GenericEvent{Object: fleet}
	}, log)
	sizer.metrics = c.Metrics
	r := &Reconciler{
		Client: m.GetClient(), Reader: m.GetAPIReader(), Release: c.Release, Portal: c.Portal, Authority: authority,
		Sizer:  sizer,
		Events: m.GetEventRecorder(resources.ManagedBy), Metrics: c.Metrics, Now: c.Now,
	}
	cluster, err := newKinds(m, changed, log)
	if err != nil {
		return err
	}
	r.Kinds = cluster.Known
	for _, runnable := range []manager.Runnable{identity, leading(sizer.Run), leading(r.sizeAll),
		leading(cluster.Run)} {
		if err := m.Add(runnable); err != nil {
			return err
		}
	}
	if c.Portal != "" {
		if err := m.Add(leading(func(ctx context.Context) error {
			return authority.maintainPortal(ctx, c.Portal,
				log)
		})); err != nil {
			return err
		}
	}
	if c.Scaler != "" {
		shown := &ServerCertificate{Authority: authority, Name: identity.name, Hosts: c.scalerHosts()}
		answer := func(ctx context.Context) error { return answerScalers(ctx, c.Scaler, shown, sizer) }
		if err := m.Add(leading(answer)); err != nil {
			return err
		}
	}
	return watchAll(m, r, changed)
}

// newKinds returns what finds out which monitors the cluster knows, and then has every fleet looked at.
func newKinds(m manager.Manager, changed chan<- event.GenericEvent, log *slog.Logger) (*kinds, error) {
	server, err := discovery.NewDiscoveryClientForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	lookAtAll := func(ctx context.Context) {
		fleets := &v1alpha1.TTSDeploymentList{}
		if err := m.GetClient().List(ctx, fleets); err != nil {
			log.Error("listing fleets", "error", err)
			return
		}
		for i := range fleets.Items {
			select {
			case changed <- event.GenericEvent{Object: &fleets.Items[i]}:
			case <-ctx.Done():
				return
			}
		}
	}
	return &kinds{fetch: server.ServerResourcesForGroupVersionWithContext, changed: lookAtAll, log: log}, nil
}

// scalerHosts returns the host names in the certificate for KEDA.
func (c Config) scalerHosts() []string {
	if len(c.ScalerHosts) > 0 {
		return c.ScalerHosts
	}
	name := resources.ManagedBy + "." + c.Namespace
	return []string{name, name + ".svc", name + ".svc.cluster.local"}
}

// leading is something that only the operator that acts does.
type leading func(context.Context) error

// Start implements [manager.Runnable].
func (l leading) Start(ctx context.Context) error { return l(ctx) }

// watchAll has a fleet looked at when it or something of it changes, or its size is to.
func watchAll(m manager.Manager, r *Reconciler, changed <-chan event.GenericEvent) error {
	b := builder.ControllerManagedBy(m).Named("ttsdeployment").
		For(&v1alpha1.TTSDeployment{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{},
			predicate.LabelChangedPredicate{},
		))).
		WithOptions(controller.Options{MaxConcurrentReconciles: atOnce})
	for _, o := range owned() {
		b = b.Owns(o)
	}
	b = b.Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(fleetOf))
	b = b.WatchesRawSource(source.Channel(changed, &handler.EnqueueRequestForObject{}))
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("watching fleets: %w", err)
	}
	return nil
}

// fleetOf names the fleet of a pod, which its labels say.
func fleetOf(_ context.Context, pod client.Object) []reconcile.Request {
	labels := pod.GetLabels()
	if labels[resources.LabelManagedBy] != resources.ManagedBy || labels[resources.LabelInstance] == "" {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(),
		Name: labels[resources.LabelInstance]}}}
}
