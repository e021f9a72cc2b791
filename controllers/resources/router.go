package resources

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/runtime/contract"
)

const (
	dataVolume = "data"
	dataRoom   = "256Mi" // in the pod, for usage that the portal does not have
)

// Default resources of a router: the request covers two hundred streams (1.12 ms of a processor for each second of
// audio, docs/benchmarks.md). There is no CPU limit, which would make the audio of all clients falter at once. Half of
// the memory is for audio that waits for clients (--spool), the rest for their connections.
const (
	routerCPU     = "250m"
	routerRequest = "128Mi"
	routerMemory  = "512Mi"
)

func routerDeployment(r Release, d *v1alpha1.TTSDeployment, f Facts) Object {
	keep, deadline := int32(revisions), d.Spec.Rollout.ProgressDeadlineSeconds
	surge, missing := intstr.FromInt32(1), intstr.FromInt32(0)
	return &appsv1.Deployment{
		TypeMeta: kindOf(appsv1.SchemeGroupVersion, "Deployment"), ObjectMeta: meta(d, RouterName(d), Router),
		Spec: appsv1.DeploymentSpec{
			Replicas: d.Spec.Router.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: Selector(d, Router)},
			Template: routerTemplate(r, d, f),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &missing},
			},
			RevisionHistoryLimit: &keep, ProgressDeadlineSeconds: &deadline,
		},
	}
}

// routerStatefulSet gives each router a volume. One that is scaled away keeps its volume, with what the portal does not
// have yet, for the next one of its number; all go with the fleet.
func routerStatefulSet(r Release, d *v1alpha1.TTSDeployment, f Facts) Object {
	keep := int32(revisions)
	v := d.Spec.Router.UsageVolume
	return &appsv1.StatefulSet{
		TypeMeta: kindOf(appsv1.SchemeGroupVersion, "StatefulSet"), ObjectMeta: meta(d, RouterName(d), Router),
		Spec: appsv1.StatefulSetSpec{
			Replicas:             d.Spec.Router.Replicas,
			ServiceName:          RouterName(d),
			Selector:             &metav1.LabelSelector{MatchLabels: Selector(d, Router)},
			Template:             routerTemplate(r, d, f),
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			UpdateStrategy:       appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType},
			RevisionHistoryLimit: &keep,
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				TypeMeta:   kindOf(corev1.SchemeGroupVersion, "PersistentVolumeClaim"),
				ObjectMeta: metav1.ObjectMeta{Name: dataVolume, Labels: Selector(d, Router)},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					StorageClassName: v.StorageClassName,
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: quantityOf(v.Size, "1Gi")},
					},
				},
			}},
		},
	}
}

func routerTemplate(r Release, d *v1alpha1.TTSDeployment, f Facts) corev1.PodTemplateSpec {
	// CheckTemplates reports the error.
	t, _ := patchTemplate(routerBase(r, d, f), d.Spec.Router.PodTemplate, Router)
	return t
}

// routerBase is routerTemplate without the patch of the spec.
func routerBase(r Release, d *v1alpha1.TTSDeployment, f Facts) corev1.PodTemplateSpec {
	p := routerPod(r, d)
	if d.Spec.Router.UsageVolume == nil {
		p.mount(corev1.Volume{Name: dataVolume, VolumeSource: emptyDir(dataRoom)}, dataFolder, false)
	} else { // the volume is that of the claim of the StatefulSet
		p.container.VolumeMounts = append(p.container.VolumeMounts,
			corev1.VolumeMount{Name: dataVolume, MountPath: dataFolder})
	}
	linger := time.Duration(valueOf(d.Spec.Router.LingerSeconds)) * time.Second
	grace := linger + contract.DrainLimit + contract.ShipLimit
	t := p.template(r, d, Router, accountName(d.Spec.Router.ServiceAccount, RouterName(d)), int64(grace.Seconds()))
	yes := true
	t.Spec.AutomountServiceAccountToken = &yes // it asks the API server where worker pods are
	for name, hash := range map[string]string{AnnotationKeys: f.KeysHash, AnnotationTwilio: f.TwilioHash} {
		if hash != "" {
			metav1.SetMetaDataAnnotation(&t.ObjectMeta, name, hash)
		}
	}
	return t
}

// routerPod is that of a router, but for the volume of its data.
func routerPod(r Release, d *v1alpha1.TTSDeployment) *pod {
	s := d.Spec.Router
	p := &pod{container: corev1.Container{
		Name: Router, Image: or(s.Image, r.RouterImage), ImagePullPolicy: corev1.PullIfNotPresent,
		Resources: routerResources(s),
		Ports: []corev1.ContainerPort{
			containerPort(portAPI, contract.RouterAPI), containerPort(portProbe, contract.RouterProbe),
			containerPort(portWatch, contract.RouterWatch),
		},
		ReadinessProbe: probe(contract.Readyz, 1, 3),
		LivenessProbe:  alive(),
	}}
	memory := p.container.Resources.Limits.Memory().Value()
	// Or Go would hold up to twice what is in use, and the router be killed with a full spool.
	p.container.Env = []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: strconv.FormatInt(memory/10*9, 10)}}

	p.setFlag("endpoint-slices", d.Namespace+"/"+WorkerName(d))
	p.setFlag("endpoints-dns", fmt.Sprintf("%s.%s.svc:%d", WorkerName(d), d.Namespace, contract.WorkerSpeech))
	p.setFlag("model-id", d.Spec.Model.ID)
	for _, v := range d.Spec.Voices {
		p.setFlag("voice", v.Name)
	}
	if s.Queue.Capacity != nil {
		p.setFlag("queue", strconv.Itoa(int(*s.Queue.Capacity)))
	}
	p.setFlag("queue-wait", (time.Duration(s.Queue.MaxWaitMilliseconds) * time.Millisecond).String())
	p.setFlag("affinity", affinity(s.Affinity))
	p.setFlag("key-grace", (time.Duration(s.KeyGraceSeconds) * time.Second).String())
	p.setFlag("linger", (time.Duration(valueOf(s.LingerSeconds)) * time.Second).String())
	p.setFlag("spool", strconv.FormatInt(memory/2, 10))
	p.setFlag("data", dataFolder)
	for _, network := range s.TrustedProxies {
		p.setFlag("trust-proxy", network)
	}
	if len(s.Dialects) > 0 { // routers of an older image do not know the flag
		p.setFlag("dialects", joined(s.Dialects))
	}
	if token := s.TwilioTokenSecretRef; token != nil {
		p.container.Env = append(p.container.Env, fromSecret("SWAR_TWILIO_TOKEN", token.Name, token.Key))
	}
	p.label(s.Labelling)
	if s.Pages != "" { // routers of an older image do not know the flag
		p.setFlag("pages", strings.ReplaceAll(s.Pages, "$", "$$"))
	}
	if d.Spec.Placement.Zones == v1alpha1.ZonesPrefer {
		p.container.Env = append(p.container.Env, ownZone())
	}
	p.admit(d)
	p.identify(d, RouterTLSSecret(d))
	p.trace(d)
	return p
}

// label adds the flags that mark speech as synthetic. Unset fields give no flag: routers of an older image do not know
// them.
func (p *pod) label(l v1alpha1.Labelling) {
	literal := func(s string) string { return strings.ReplaceAll(s, "$", "$$") } // Kubernetes expands $(NAME)
	if l.Disclosure != "" {
		p.setFlag("disclosure", literal(l.Disclosure))
	}
	if l.DisclosureRequired {
		p.container.Args = append(p.container.Args, "--disclosure-required")
	}
	if l.ServiceName != "" {
		p.setFlag("service-name", literal(l.ServiceName))
	}
}

// admit says who may speak.
func (p *pod) admit(d *v1alpha1.TTSDeployment) {
	switch {
	case PortalSecret(d) != "":
		p.container.Env = append(p.container.Env,
			fromSecret("SWAR_PORTAL_ADDR", PortalSecret(d), contract.PortalAddress))
		p.mount(secretVolume("portal", PortalSecret(d)), portalFolder, true)
		p.setFlag("portal-token-file", path.Join(portalFolder, contract.Token))
		if TokenSecret(d) == "" {
			p.setFlag("portal-ca", path.Join(portalFolder, contract.TLSAuthority))
		}
	case KeysSecret(d) != "":
		p.container.Env = append(p.container.Env, fromSecret("SWAR_API_KEY", KeysSecret(d), contract.APIKeys))
	default:
		p.container.Args = append(p.container.Args, "--open")
	}
}

// ownZone gives a router its zone, which Kubernetes writes on pods since 1.35; before that the value is empty, and no
// zone is preferred.
func ownZone() corev1.EnvVar {
	return corev1.EnvVar{Name: "SWAR_ZONE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
		APIVersion: "v1", FieldPath: "metadata.labels['" + corev1.LabelTopologyZone + "']",
	}}}
}

func affinity(a v1alpha1.Affinity) string {
	if a == v1alpha1.AffinityNone {
		return "none"
	}
	return "prefill"
}

func routerResources(s v1alpha1.Router) corev1.ResourceRequirements {
	need := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(routerCPU), corev1.ResourceMemory: resource.MustParse(routerRequest),
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(routerMemory)},
	}
	if s.Resources == nil {
		return need
	}
	if cpu := s.Resources.CPU; cpu != nil {
		need.Requests[corev1.ResourceCPU], need.Limits[corev1.ResourceCPU] = *cpu, *cpu
	}
	if memory := s.Resources.Memory; memory != nil {
		need.Requests[corev1.ResourceMemory], need.Limits[corev1.ResourceMemory] = *memory, *memory
	}
	return need
}

// joined is a list as flags take it.
func joined(dialects []v1alpha1.Dialect) string {
	names := make([]string, len(dialects))
	for i, d := range dialects {
		names[i] = string(d)
	}
	return strings.Join(names, ",")
}
