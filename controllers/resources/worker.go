package resources

import (
	"strconv"
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
	revisions  = 3  // old ones that can be gone back to
	afterDrain = 30 // seconds of grace beyond what is spoken still

	// A terminating pod accepts utterances for so long while no other pod is ready. The rest of afterDrain is for the
	// end.
	workerLinger = 20 * time.Second
)

// sharedCPU is what a worker pod asks for that takes what is left over.
var sharedCPU = resource.MustParse("100m")

func workerDeployment(r Release, d *v1alpha1.TTSDeployment, f Facts) Object {
	keep, deadline := int32(revisions), d.Spec.Rollout.ProgressDeadlineSeconds
	surge, missing := intstr.FromInt32(d.Spec.Rollout.MaxSurge),
		intstr.FromInt32(valueOf(d.Spec.Rollout.MaxUnavailable))
	return &appsv1.Deployment{
		TypeMeta: kindOf(appsv1.SchemeGroupVersion, "Deployment"), ObjectMeta: meta(d, WorkerName(d), Worker),
		Spec: appsv1.DeploymentSpec{
			Replicas: &f.Workers,
			Selector: &metav1.LabelSelector{MatchLabels: Selector(d, Worker)},
			Template: workerTemplate(r, d),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &missing},
			},
			RevisionHistoryLimit: &keep, ProgressDeadlineSeconds: &deadline,
		},
	}
}

// workerTemplate is that of the pods that speak.
func workerTemplate(r Release, d *v1alpha1.TTSDeployment) corev1.PodTemplateSpec {
	// CheckTemplates reports the error.
	t, _ := patchTemplate(workerBase(r, d), d.Spec.Runtime.PodTemplate, Worker)
	return t
}

// workerBase is workerTemplate without the patch of the spec. Its pods need no API server, no restart for a new
// certificate, and no preStop hook, because they push their end to routers.
func workerBase(r Release, d *v1alpha1.TTSDeployment) corev1.PodTemplateSpec {
	run := d.Spec.Runtime
	p := &pod{container: corev1.Container{
		Name: Worker, Image: or(run.Image, r.WorkerImage), ImagePullPolicy: run.ImagePullPolicy,
		Resources: workerResources(run),
		Ports: []corev1.ContainerPort{
			containerPort(portSpeech, contract.WorkerSpeech), containerPort(portProbe, contract.WorkerProbe),
		},
		StartupProbe:   probe(contract.Readyz, 1, run.StartupSeconds),
		ReadinessProbe: probe(contract.Readyz, 1, 1),
		LivenessProbe:  alive(),
	}}
	p.setFlag("workers", strconv.Itoa(int(run.WorkersPerPod)))
	if run.CPUPolicy == v1alpha1.CPUShared {
		p.container.Args = append(p.container.Args, "--oversubscribe")
	}
	if run.PrefillCacheMegabytes != nil {
		p.setFlag("prefill-cache-mb", strconv.Itoa(int(*run.PrefillCacheMegabytes)))
	}
	fetch := p.addModel(d)
	p.identify(d, WorkerTLSSecret(d))
	p.trace(d)
	// In the environment, because images of older releases do not know the flag.
	p.container.Env = append(p.container.Env, corev1.EnvVar{Name: "SWAR_LINGER", Value: workerLinger.String()})
	for _, v := range run.Env {
		p.container.Env = append(p.container.Env, environment(v))
	}
	p.mount(corev1.Volume{Name: "tmp", VolumeSource: emptyDir("64Mi")}, "/tmp", false)
	t := p.template(r, d, Worker, accountName(run.ServiceAccount, WorkerName(d)),
		int64(d.Spec.Rollout.DrainTimeoutSeconds)+afterDrain)
	if fetch != nil {
		finish(fetch)
		fetch.Image, fetch.ImagePullPolicy = p.container.Image, run.ImagePullPolicy
		fetch.Resources = p.container.Resources // or the pod would not be of the class Guaranteed
		t.Spec.InitContainers = []corev1.Container{*fetch}
	}
	return t
}

// workerResources gives each worker a processor, or with cpuPolicy Shared the spare time of all.
func workerResources(run v1alpha1.Runtime) corev1.ResourceRequirements {
	memory := quantityOf(run.Memory, "1Gi")
	request := corev1.ResourceList{corev1.ResourceMemory: memory}
	limit := corev1.ResourceList{corev1.ResourceMemory: memory}
	switch {
	case run.CPUPolicy != v1alpha1.CPUShared:
		cpus := *resource.NewQuantity(int64(run.WorkersPerPod), resource.DecimalSI)
		request[corev1.ResourceCPU], limit[corev1.ResourceCPU] = cpus, cpus
	case run.CPUs != nil:
		request[corev1.ResourceCPU] = sharedCPU
		limit[corev1.ResourceCPU] = *resource.NewQuantity(int64(*run.CPUs), resource.DecimalSI)
	default:
		request[corev1.ResourceCPU] = sharedCPU
	}
	return corev1.ResourceRequirements{Requests: request, Limits: limit}
}

func environment(v v1alpha1.EnvVar) corev1.EnvVar {
	if v.SecretKeyRef == nil {
		return corev1.EnvVar{Name: v.Name, Value: valueOf(v.Value)}
	}
	return fromSecret(v.Name, v.SecretKeyRef.Name, v.SecretKeyRef.Key)
}

func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key,
	}}}
}

func emptyDir(limit string) corev1.VolumeSource {
	size := resource.MustParse(limit)
	return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size}}
}

func quantityOf(q *resource.Quantity, otherwise string) resource.Quantity {
	if q == nil {
		return resource.MustParse(otherwise)
	}
	return *q
}

// valueOf is what p points to, or zero.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
