package resources

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/runtime/contract"
)

// dnsPorts are the ports of DNS Services and, on OpenShift, of the pods behind them, which network policies apply to.
var dnsPorts = []int32{53, 5353}

// workerBudget lets a drain evict some worker pods at once. Pods that do not speak may always be evicted.
func workerBudget(d *v1alpha1.TTSDeployment) Object {
	percent := strconv.Itoa(int(d.Spec.Disruption.MaxUnavailablePercent)) + "%"
	return budget(d, WorkerName(d), Worker, intstr.FromString(percent)) // it is rounded up
}

func routerBudget(d *v1alpha1.TTSDeployment) Object {
	return budget(d, RouterName(d), Router, intstr.FromInt32(1))
}

func budget(d *v1alpha1.TTSDeployment, name, component string, missing intstr.IntOrString) Object {
	always := policyv1.AlwaysAllow
	return &policyv1.PodDisruptionBudget{
		TypeMeta: kindOf(policyv1.SchemeGroupVersion, "PodDisruptionBudget"), ObjectMeta: meta(d, name, component),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &missing, UnhealthyPodEvictionPolicy: &always,
			Selector: &metav1.LabelSelector{MatchLabels: Selector(d, component)},
		},
	}
}

// workerPolicy lets only routers of the same fleet have worker pods speak.
func workerPolicy(d *v1alpha1.TTSDeployment) Object {
	egress := append(dns(), tracing(d)...)
	if s := d.Spec.Model.Source.Pull; s != nil {
		egress = append(egress, to(nil, pullPorts(s)...))
	}
	if ports := proxyPorts(d.Spec.Runtime.Env); len(ports) > 0 {
		egress = append(egress, to(nil, ports...))
	}
	return policy(d, WorkerName(d), Worker,
		[]networkingv1.NetworkPolicyIngressRule{
			from(podsOf(d, Router), contract.WorkerSpeech),
			from(nil, contract.WorkerProbe),
		}, egress)
}

// proxyPorts returns the ports of the proxies in the environment. The port of an address in a Secret is unknown.
func proxyPorts(env []v1alpha1.EnvVar) (ports []int32) {
	for _, v := range env {
		name := strings.ToUpper(v.Name)
		if name != "HTTPS_PROXY" && name != "HTTP_PROXY" || valueOf(v.Value) == "" {
			continue
		}
		address := *v.Value
		scheme, _, hasScheme := strings.Cut(address, "://")
		if !hasScheme {
			scheme, address = "http", "http://"+address
		}
		otherwise := map[string]int32{"https": 443, "socks5": 1080, "socks5h": 1080}[scheme]
		if otherwise == 0 {
			otherwise = 80
		}
		if port := portOf(address, otherwise); !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports
}

// pullPorts returns the ports for downloads of a model. Hubs and registries redirect large files and tokens to other
// hosts, over HTTPS.
func pullPorts(s *v1alpha1.PullSource) (ports []int32) {
	isArchive := strings.HasPrefix(s.Model, "http")
	if !isArchive || s.Endpoint != "" {
		ports = append(ports, 443)
	}
	for _, address := range []string{s.Model, s.Endpoint} {
		port := int32(443)
		if strings.HasPrefix(address, "http:") {
			port = 80
		}
		if !strings.Contains(address, "://") || strings.HasPrefix(address, "hf:") {
			continue
		}
		if port = portOf(address, port); !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports
}

// routerPolicy allows all clients to call routers, and only the operator to watch them.
func routerPolicy(r Release, d *v1alpha1.TTSDeployment, f Facts) Object {
	operator := []networkingv1.NetworkPolicyPeer{{
		NamespaceSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{corev1.LabelMetadataName: r.OperatorNamespace},
		},
		PodSelector: &metav1.LabelSelector{MatchLabels: r.OperatorLabels},
	}}
	server := r.APIServerPorts
	if len(server) == 0 {
		server = []int32{443, 6443}
	}
	egress := append(dns(), to(podsOf(d, Worker), contract.WorkerSpeech), to(nil, server...))
	if PortalSecret(d) != "" {
		port := f.PortalPort
		if port == 0 {
			port = contract.PortalDataplane
		}
		egress = append(egress, to(nil, port))
	}
	return policy(d, RouterName(d), Router,
		[]networkingv1.NetworkPolicyIngressRule{
			from(nil, contract.RouterAPI, contract.RouterProbe),
			from(operator, contract.RouterWatch),
		}, append(egress, tracing(d)...))
}

func policy(
	d *v1alpha1.TTSDeployment, name, component string,
	in []networkingv1.NetworkPolicyIngressRule, out []networkingv1.NetworkPolicyEgressRule,
) Object {
	return &networkingv1.NetworkPolicy{
		TypeMeta: kindOf(networkingv1.SchemeGroupVersion, "NetworkPolicy"), ObjectMeta: meta(d, name, component),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: Selector(d, component)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Ingress:     in, Egress: out,
		},
	}
}

// from allows traffic from peers; without any, from everywhere.
func from(peers []networkingv1.NetworkPolicyPeer, ports ...int32) networkingv1.NetworkPolicyIngressRule {
	return networkingv1.NetworkPolicyIngressRule{From: peers, Ports: policyPorts(corev1.ProtocolTCP, ports)}
}

// to allows traffic to peers; without any, to everywhere.
func to(peers []networkingv1.NetworkPolicyPeer, ports ...int32) networkingv1.NetworkPolicyEgressRule {
	return networkingv1.NetworkPolicyEgressRule{To: peers, Ports: policyPorts(corev1.ProtocolTCP, ports)}
}

func dns() []networkingv1.NetworkPolicyEgressRule {
	return []networkingv1.NetworkPolicyEgressRule{{
		Ports: slices.Concat(policyPorts(corev1.ProtocolUDP, dnsPorts), policyPorts(corev1.ProtocolTCP, dnsPorts)),
	}}
}

// tracing lets spans out to where they are collected. gRPC takes 443 where a URL has no port.
func tracing(d *v1alpha1.TTSDeployment) []networkingv1.NetworkPolicyEgressRule {
	t := d.Spec.Observability.Tracing
	if t == nil {
		return nil
	}
	return []networkingv1.NetworkPolicyEgressRule{to(nil, portOf(t.Endpoint, 443))}
}

func podsOf(d *v1alpha1.TTSDeployment, component string) []networkingv1.NetworkPolicyPeer {
	return []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: Selector(d, component)}}}
}

func policyPorts(protocol corev1.Protocol, ports []int32) (all []networkingv1.NetworkPolicyPort) {
	for _, p := range ports {
		port := intstr.FromInt32(p)
		all = append(all, networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: &port})
	}
	return all
}

// portOf is the port of a URL, or the other one where it names none.
func portOf(address string, otherwise int32) int32 {
	u, err := url.Parse(address)
	if err != nil {
		return otherwise
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return otherwise
	}
	return int32(port)
}
