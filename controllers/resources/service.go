package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/runtime/contract"
)

// workerService makes all worker pods discoverable for routers, ready or not: pods report their state themselves.
func workerService(d *v1alpha1.TTSDeployment) Object {
	return headless(d, WorkerName(d), Worker,
		servicePort(portSpeech, contract.WorkerSpeech), servicePort(portProbe, contract.WorkerProbe))
}

// routerService gives each router of a StatefulSet its name.
func routerService(d *v1alpha1.TTSDeployment) Object {
	return headless(d, RouterName(d), Router,
		servicePort(portAPI, contract.RouterAPI), servicePort(portProbe, contract.RouterProbe),
		servicePort(portWatch, contract.RouterWatch))
}

// frontService is the Service for clients. Its port is that of the containers, so that addresses, policies and
// documents have one number, and a port-forward needs no port below 1024.
func frontService(d *v1alpha1.TTSDeployment) Object {
	s := &corev1.Service{
		TypeMeta: kindOf(corev1.SchemeGroupVersion, "Service"), ObjectMeta: meta(d, FrontName(d), Router),
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, Selector: Selector(d, Router),
			Ports: []corev1.ServicePort{servicePort(portAPI, contract.RouterAPI)},
		},
	}
	if theirs := d.Spec.Router.Service; theirs != nil {
		expose(s, theirs)
	}
	if d.Spec.Placement.Zones == v1alpha1.ZonesPrefer {
		// Kubernetes 1.34 has called it PreferSameZone since, and takes both; before, this is its only name.
		near := corev1.ServiceTrafficDistributionPreferClose
		s.Spec.TrafficDistribution = &near
	}
	return s
}

// expose makes a Service what the spec says of it.
func expose(s *corev1.Service, theirs *v1alpha1.FrontService) {
	s.Annotations = theirs.Annotations
	if theirs.Type != "" {
		s.Spec.Type = theirs.Type
	}
	s.Spec.LoadBalancerClass = theirs.LoadBalancerClass
	s.Spec.LoadBalancerSourceRanges = theirs.LoadBalancerSourceRanges
	s.Spec.ExternalTrafficPolicy = theirs.ExternalTrafficPolicy
	s.Spec.IPFamilyPolicy, s.Spec.IPFamilies = theirs.IPFamilyPolicy, theirs.IPFamilies
}

func headless(d *v1alpha1.TTSDeployment, name, component string, ports ...corev1.ServicePort) Object {
	return &corev1.Service{
		TypeMeta: kindOf(corev1.SchemeGroupVersion, "Service"), ObjectMeta: meta(d, name, component),
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone, Selector: Selector(d, component),
			PublishNotReadyAddresses: true, Ports: ports,
		},
	}
}

func servicePort(name string, port int32) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: port, TargetPort: intstr.FromString(name), Protocol: corev1.ProtocolTCP}
}
