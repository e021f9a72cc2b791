// Package resources builds the Kubernetes objects of a TTSDeployment. Each is a pure function of the spec, without a
// clock and an API server. Equal input gives equal objects, in the same order, so that applying them again changes
// nothing.
package resources

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// Object is one that can be applied: its kind is set.
type Object interface {
	metav1.Object
	runtime.Object
}

// Release is what an operator makes every fleet of.
type Release struct {
	WorkerImage string // where a TTSDeployment names none
	RouterImage string
	// the cluster gives pods their user and groups, as OpenShift does, and refuses pods that name others
	AssignedIDs bool

	// The operator's own pods, which alone may watch routers.
	OperatorNamespace string
	OperatorLabels    map[string]string

	APIServerPorts []int32 // that the API server is reached at behind its Service; nil means 443 and 6443

	Kinds     Kinds
	Rules     func(*v1alpha1.TTSDeployment) map[string]any // the spec of a PrometheusRule; nil: none
	Dashboard func(*v1alpha1.TTSDeployment) string         // for Grafana, as JSON; nil: none
}

// Kinds are the kinds of other projects that the cluster has.
type Kinds struct {
	PodMonitor     bool
	PrometheusRule bool
}

// Facts are what was found out about one TTSDeployment, and stands not in its spec.
type Facts struct {
	Workers    int32  // worker pods that shall be there
	PortalPort int32  // of the address in the portal's Secret; 0 means that of our portals
	KeysHash   string // of the API keys in a Secret, which routers read at start only; empty without
	TwilioHash string // of the token of Twilio, as KeysHash
}

// Build returns the objects of d, in the order in which they are applied: what others refer to comes first. Fields of d
// that have a default must be set, as the API server sets them.
//
// The routers' Deployment has no number of replicas if d has none: the caller gives two to new ones.
func Build(r Release, d *v1alpha1.TTSDeployment, f Facts) []Object {
	d = d.DeepCopy() // so that objects share nothing with it
	objects := []Object{workerAccount(d), routerAccount(d), routerRole(d), routerRoleBinding(d)}
	if d.Spec.Security.NetworkPolicy == v1alpha1.Enabled {
		objects = append(objects, workerPolicy(d), routerPolicy(r, d, f))
	}
	objects = append(objects, workerService(d), frontService(d))
	if d.Spec.Router.UsageVolume != nil {
		objects = append(objects, routerService(d), routerStatefulSet(r, d, f))
	} else {
		objects = append(objects, routerDeployment(r, d, f))
	}
	objects = append(objects, workerDeployment(r, d, f), workerBudget(d), routerBudget(d))
	return append(objects, monitoring(r, d)...)
}

// kindOf returns the kind of an object, as its field kind has it.
func kindOf(v schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v.String(), Kind: kind}
}

// meta is that of an object of d, which goes with d. Component is empty for one that belongs to the fleet as a whole.
func meta(d *v1alpha1.TTSDeployment, name, component string) metav1.ObjectMeta {
	yes := true
	return metav1.ObjectMeta{
		Name: name, Namespace: d.Namespace, Labels: labels(d, component),
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.Kind, Name: d.Name, UID: d.UID,
			Controller: &yes, BlockOwnerDeletion: &yes,
		}},
	}
}
