package resources

import (
	"path"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/runtime/contract"
)

// user is the user of containers if the cluster does not assign users, and the group of their Secrets and volumes.
const user = 65532

// Where files are in containers.
const (
	tlsFolder    = "/etc/swar/tls"
	tokenFolder  = "/etc/swar/token"
	portalFolder = "/etc/swar/portal"
	dataFolder   = "/data"
	bundleFolder = "/bundle"

	authorityFolder = "/etc/swar/authority"
)

// Names of ports in pods and Services.
const (
	portAPI    = "http"
	portWatch  = "watch"
	portSpeech = contract.SpeechPort
	portProbe  = "probe"
)

const secondsToProbe = 3 // a probe may take this long on a machine whose processors are all busy

// pod is a container and what it needs around it.
type pod struct {
	container corev1.Container
	volumes   []corev1.Volume
}

// mount adds a volume to the container, read-only if it comes from elsewhere.
func (p *pod) mount(v corev1.Volume, folder string, readOnly bool) {
	p.volumes = append(p.volumes, v)
	p.container.VolumeMounts = append(p.container.VolumeMounts,
		corev1.VolumeMount{Name: v.Name, MountPath: folder, ReadOnly: readOnly})
}

// setFlag adds --name=value to the command line.
func (p *pod) setFlag(name, value string) {
	p.container.Args = append(p.container.Args, "--"+name+"="+value)
}

// identify adds the credentials of the process for its peers.
func (p *pod) identify(d *v1alpha1.TTSDeployment, tlsSecret string) {
	if token := TokenSecret(d); token != "" {
		p.mount(secretVolume("token", token), tokenFolder, true)
		p.setFlag("token-file", path.Join(tokenFolder, contract.Token))
		p.container.Args = append(p.container.Args, "--plaintext")
		return
	}
	p.mount(secretVolume("tls", tlsSecret), tlsFolder, true)
	p.setFlag("tls-cert", path.Join(tlsFolder, contract.TLSCert))
	p.setFlag("tls-key", path.Join(tlsFolder, contract.TLSKey))
	p.setFlag("tls-ca", path.Join(tlsFolder, contract.TLSAuthority))
}

// trace says where traces go.
func (p *pod) trace(d *v1alpha1.TTSDeployment) {
	t := d.Spec.Observability.Tracing
	if t == nil {
		return
	}
	p.setFlag("otlp", t.Endpoint)
	if t.SamplePerThousand != nil {
		p.setFlag("otlp-share", strconv.FormatFloat(float64(*t.SamplePerThousand)/1000, 'f', -1, 64))
	}
}

// template is that of the pods of a component.
func (p *pod) template(r Release, d *v1alpha1.TTSDeployment, component, account string,
	grace int64) corev1.PodTemplateSpec {
	no := false
	finish(&p.container)
	s := corev1.PodSpec{
		Containers:                    []corev1.Container{p.container},
		Volumes:                       p.volumes,
		ServiceAccountName:            account,
		AutomountServiceAccountToken:  &no,
		EnableServiceLinks:            &no, // or a Service called swar-data would look like the setting SWAR_DATA
		TerminationGracePeriodSeconds: &grace,
		SecurityContext:               podSecurity(r),
	}
	for _, secret := range d.Spec.Runtime.ImagePullSecrets {
		s.ImagePullSecrets = append(s.ImagePullSecrets, corev1.LocalObjectReference{Name: secret.Name})
	}
	place(&s, d, component)
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels(d, component)}, Spec: s}
}

// podSecurity is what the restricted Pod Security Standard wants of a pod.
func podSecurity(r Release) *corev1.PodSecurityContext {
	yes, onMismatch := true, corev1.FSGroupChangeOnRootMismatch
	s := &corev1.PodSecurityContext{
		RunAsNonRoot: &yes, FSGroupChangePolicy: &onMismatch,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if !r.AssignedIDs {
		id := int64(user)
		s.RunAsUser, s.RunAsGroup, s.FSGroup = &id, &id, &id
	}
	return s
}

// finish adds what all containers have: the settings of the restricted Pod Security Standard, a read-only root, and the
// end of the log as the termination message, which a condition shows.
func finish(c *corev1.Container) {
	no, yes := false, true
	c.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
}

// place says where the pods of a component may run.
func place(s *corev1.PodSpec, d *v1alpha1.TTSDeployment, component string) {
	p := d.Spec.Placement
	s.NodeSelector, s.Tolerations, s.PriorityClassName = p.NodeSelector, tolerations(p.Tolerations), p.PriorityClassName
	if p.NodeAffinity != nil {
		s.Affinity = &corev1.Affinity{NodeAffinity: p.NodeAffinity}
	}
	topologies := []string{corev1.LabelHostname}
	if p.Zones == v1alpha1.ZonesPrefer {
		topologies = []string{corev1.LabelTopologyZone, corev1.LabelHostname}
	}
	for _, c := range p.TopologySpreadConstraints {
		if c.LabelSelector == nil { // which would count no pod
			c.LabelSelector = &metav1.LabelSelector{MatchLabels: Selector(d, component)}
		}
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, c)
	}
	for _, topology := range topologies {
		isSame := func(c corev1.TopologySpreadConstraint) bool {
			return c.TopologyKey == topology && c.WhenUnsatisfiable == corev1.ScheduleAnyway
		}
		if slices.ContainsFunc(s.TopologySpreadConstraints, isSame) {
			continue // a pod may have one of each only, and theirs counts
		}
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: topology, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: Selector(d, component)},
		})
	}
}

// lostNodeSeconds is how long pods stay on an unreachable node before they are replaced. Kubernetes waits five minutes,
// in which a small fleet lacks them; a node that restarts its network is back by then.
const lostNodeSeconds int64 = 30

// tolerations returns those of the fleet, with defaults for lost nodes.
func tolerations(theirs []corev1.Toleration) []corev1.Toleration {
	all := slices.Clone(theirs)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		isSaid := func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		}
		if slices.ContainsFunc(theirs, isSaid) {
			continue
		}
		seconds := lostNodeSeconds
		all = append(all, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
			TolerationSeconds: &seconds,
		})
	}
	return all
}

// secretVolume holds the entries of a Secret as files, which change as the Secret does.
func secretVolume(name, secret string) corev1.Volume {
	mode := int32(0o440)
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: &mode},
	}}
}

// probe asks an address of a container.
func probe(path string, period, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: path, Port: intstr.FromString(portProbe), Scheme: corev1.URISchemeHTTP,
		}},
		PeriodSeconds: period, FailureThreshold: failures, TimeoutSeconds: secondsToProbe,
	}
}

// alive is a probe that is lenient: what it ends cuts every stream of the pod.
func alive() *corev1.Probe { return probe(contract.Healthz, 10, 6) }

func containerPort(name string, port int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: port, Protocol: corev1.ProtocolTCP}
}
