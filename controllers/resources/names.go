package resources

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/runtime/contract"
)

// What the pods of a fleet are, as the value of [LabelComponent].
const (
	Worker = "worker"
	Router = "router"
)

// Labels of all objects.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	LabelManagedBy = "app.kubernetes.io/managed-by"

	Name      = "swar"          // of LabelName
	ManagedBy = "swar-operator" // of LabelManagedBy
)

// AnnotationKeys is in the template of router pods that read their API keys from a Secret. A changed value restarts
// them, because they read the keys at start only.
const AnnotationKeys = "swar.dev/keys"

// AnnotationTwilio is the same for the token of Twilio.
const AnnotationTwilio = "swar.dev/twilio"

// WorkerName is that of the worker pods' Deployment, headless Service, budget, network policy and service account.
func WorkerName(d *v1alpha1.TTSDeployment) string { return d.Name + "-worker" }

// RouterName is that of the routers' Deployment or StatefulSet, headless Service, budget, network policy, service
// account, role and its binding.
func RouterName(d *v1alpha1.TTSDeployment) string { return d.Name + "-router" }

// FrontName is that of the Service that clients call, and of what measures the fleet as a whole.
func FrontName(d *v1alpha1.TTSDeployment) string { return d.Name }

// DashboardName is that of the ConfigMap with the dashboard.
func DashboardName(d *v1alpha1.TTSDeployment) string { return d.Name + "-dashboard" }

// WorkerTLSSecret is that with the certificate of worker pods; empty where there is none.
func WorkerTLSSecret(d *v1alpha1.TTSDeployment) string { return tlsSecret(d, Worker) }

// RouterTLSSecret is that with the certificate of routers; empty where there is none.
func RouterTLSSecret(d *v1alpha1.TTSDeployment) string { return tlsSecret(d, Router) }

func tlsSecret(d *v1alpha1.TTSDeployment, component string) string {
	switch s := d.Spec.Security; s.InternalTLS {
	case v1alpha1.TLSMesh:
		return ""
	case v1alpha1.TLSSecret:
		return s.SecretPrefix + "-" + component
	default:
		return d.Name + "-" + component + "-tls"
	}
}

// TokenSecret is the Secret with the token of routers, worker pods and the operator. It is empty where they have
// certificates.
func TokenSecret(d *v1alpha1.TTSDeployment) string {
	if d.Spec.Security.InternalTLS != v1alpha1.TLSMesh {
		return ""
	}
	return d.Name + "-token"
}

// PortalSecret is that with the address, the token and the authority of the portal; empty where there is no portal.
func PortalSecret(d *v1alpha1.TTSDeployment) string {
	switch a := d.Spec.Access; {
	case a.Mode != v1alpha1.AccessPortal:
		return ""
	case a.SecretName != "":
		return a.SecretName
	default:
		return d.Name + "-portal"
	}
}

// KeysSecret is that with API keys; empty where they are not in a Secret.
func KeysSecret(d *v1alpha1.TTSDeployment) string {
	if d.Spec.Access.Mode != v1alpha1.AccessKeys {
		return ""
	}
	return d.Spec.Access.SecretName
}

// ScalerCASecret is that with the authority by which others who scale the fleet know the operator.
func ScalerCASecret(d *v1alpha1.TTSDeployment) string { return d.Name + "-scaler-ca" }

// Endpoint is where clients in the cluster call the fleet.
func Endpoint(d *v1alpha1.TTSDeployment) string {
	return fmt.Sprintf("http://%s.%s.svc:%d", FrontName(d), d.Namespace, contract.RouterAPI)
}

// Selector are the labels that pods of a component have and keep: a Deployment's selector cannot be changed.
func Selector(d *v1alpha1.TTSDeployment, component string) map[string]string {
	return map[string]string{LabelName: Name, LabelInstance: d.Name, LabelComponent: component}
}

// SelectorText is [Selector] as it is written in a query, and in status.selector.
func SelectorText(d *v1alpha1.TTSDeployment, component string) string {
	selector := Selector(d, component)
	var terms []string
	for _, label := range slices.Sorted(maps.Keys(selector)) {
		terms = append(terms, label+"="+selector[label])
	}
	return strings.Join(terms, ",")
}

// labels returns the labels of an object of d; component is empty for an object of the whole fleet.
func labels(d *v1alpha1.TTSDeployment, component string) map[string]string {
	all := map[string]string{LabelName: Name, LabelInstance: d.Name, LabelManagedBy: ManagedBy}
	if component != "" {
		all[LabelComponent] = component
	}
	return all
}
