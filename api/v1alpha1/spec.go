package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// Spec is the desired state of a fleet. Every section but the model may be left out.
type Spec struct {
	// The model that is spoken with.
	// +required
	Model Model `json:"model"`

	// Voices of the model that are offered. Without it all that the model has are.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Voices []Voice `json:"voices,omitempty"`

	// Images and sizes of the pods that speak.
	// +optional
	// +kubebuilder:default={workersPerPod: 1, cpuPolicy: Guaranteed}
	Runtime Runtime `json:"runtime,omitzero"`

	// Number of worker pods. The operator writes it where scaling.mode is Automatic, and the autoscaler that uses
	// /scale where it is External: leave it out of manifests then. Absent means that the present number stays.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	Replicas *int32 `json:"replicas,omitempty"`

	// How the number of worker pods follows the demand.
	// +optional
	// +kubebuilder:default={minReplicas: 1, maxReplicas: 10}
	Scaling Scaling `json:"scaling,omitzero"`

	// The pods that answer clients.
	// +optional
	// +kubebuilder:default={}
	Router Router `json:"router,omitzero"`

	// Who may speak, and where it is billed.
	// +optional
	// +kubebuilder:default={mode: Portal}
	Access Access `json:"access,omitzero"`

	// How pods of a new revision replace the old ones.
	// +optional
	// +kubebuilder:default={}
	Rollout Rollout `json:"rollout,omitzero"`

	// How many pods a node drain may take at once.
	// +optional
	// +kubebuilder:default={}
	Disruption Disruption `json:"disruption,omitzero"`

	// Where pods may run.
	// +optional
	// +kubebuilder:default={}
	Placement Placement `json:"placement,omitzero"`

	// How pods know one another, and who may reach them.
	// +optional
	// +kubebuilder:default={internalTLS: Operator}
	Security Security `json:"security,omitzero"`

	// What is measured, and where it goes.
	// +optional
	// +kubebuilder:default={}
	Observability Observability `json:"observability,omitzero"`

	// Paused leaves everything as it is, whatever is changed here or elsewhere, until it is Active again.
	// +optional
	// +kubebuilder:default=Active
	Reconciliation Reconciliation `json:"reconciliation,omitempty"`
}

// Model is what a fleet speaks with.
//
// +kubebuilder:validation:XValidation:rule="!has(self.source.image) || has(self.source.image.path) || self.id == 'espeak-ng-hinglish'",message="without a bundle pods speak with espeak-ng, whose spec.model.id is espeak-ng-hinglish: take that, or name the bundle in spec.model.source.image.path"
//
// +kubebuilder:validation:XValidation:rule="!has(self.sha256) || !has(self.source.image) || has(self.source.image.path)",message="spec.model.sha256 pins a bundle, and espeak-ng is none: name the bundle with source.image.path, or leave sha256 out"
//
// +kubebuilder:validation:XValidation:rule="!has(self.source.pull) || self.id.matches('^[a-z0-9][a-z0-9.-]{0,62}$')",message="spec.model.id is what a pulled model is called: want at most 63 lower-case letters, digits, dots and hyphens"
type Model struct {
	// Identifier of the model in answers to clients. Pods with another model are not used. It cannot be changed,
	// because clients and bills refer to it: create a new TTSDeployment for another model.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._/-]*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.model.id cannot be changed: make a new TTSDeployment for another model"
	ID string `json:"id"`

	// Where to download the model.
	// +required
	Source Source `json:"source"`

	// SHA-256 of the bundle's manifest.json, which names the SHA-256 of every other file. Pods refuse to start with
	// another bundle.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	SHA256 string `json:"sha256,omitempty"`
}

// Source is where to download a model: exactly one of these.
//
// +kubebuilder:validation:XValidation:rule="(has(self.image) ? 1 : 0) + (has(self.oci) ? 1 : 0) + (has(self.persistentVolumeClaim) ? 1 : 0) + (has(self.pull) ? 1 : 0) == 1",message="spec.model.source wants exactly one of image, oci, persistentVolumeClaim and pull"
type Source struct {
	// A folder of the worker's image, or espeak-ng, which every image has.
	// +optional
	Image *ImageSource `json:"image,omitempty"`
	// An OCI image or artefact, mounted as a volume. Wants Kubernetes 1.35.
	// +optional
	OCI *OCISource `json:"oci,omitempty"`
	// A volume that many pods can read.
	// +optional
	PersistentVolumeClaim *VolumeSource `json:"persistentVolumeClaim,omitempty"`
	// A public model by name, or one from an address, that each pod downloads and converts before it starts: for
	// trials.
	// +optional
	Pull *PullSource `json:"pull,omitempty"`
}

// ImageSource is a bundle in the worker's image.
type ImageSource struct {
	// Folder of the bundle. Without it the pods speak with espeak-ng.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^/`
	Path string `json:"path,omitempty"`
}

// OCISource is a bundle that an image volume holds.
type OCISource struct {
	// Reference of the image, with its digest or a tag.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][^ ]*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|@sha256:[0-9a-f]{64})$')",message="want an image with its tag or its digest, such as registry.example.org/models/hinglish:1.0"
	Reference string `json:"reference"`
	// When nodes pull it.
	// +optional
	// +kubebuilder:default=IfNotPresent
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	PullPolicy corev1.PullPolicy `json:"pullPolicy,omitempty"`
	// Folder of the bundle in the image.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.split('/').exists(p, p == '..')",message="subPath is a folder within the volume: it neither begins with / nor has .. in it"
	SubPath string `json:"subPath,omitempty"`
}

// VolumeSource is a bundle on a volume.
type VolumeSource struct {
	// Name of the claim, in the namespace of the TTSDeployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	ClaimName string `json:"claimName"`
	// Folder of the bundle on the volume.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/') && !self.split('/').exists(p, p == '..')",message="subPath is a folder within the volume: it neither begins with / nor has .. in it"
	SubPath string `json:"subPath,omitempty"`
}

// PullSource is a model as `swar model pull` downloads it. It is kept under the name of spec.model.id.
type PullSource struct {
	// Name in the catalogue, hf://OWNER/NAME, both perhaps with @REVISION, oci://REGISTRY/NAME:TAG, or the address of a
	// .tar, .tar.gz or .tar.zst file with #sha256= and its SHA-256.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^([a-z0-9][a-z0-9.-]*(@[^@\s]+)?|(hf|oci)://\S+|https?://[^\s#]+#sha256=[0-9a-f]{64})$`
	Model string `json:"model"`
	// What a model of the hub is converted to: int8, the fast one, or fp32, the exact one.
	// +optional
	// +kubebuilder:default=int8
	// +kubebuilder:validation:Enum=int8;fp32
	Precision string `json:"precision,omitempty"`
	// Where to download the voices, for a model of the hub without voices, or instead of its voices.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	Voices []PulledVoice `json:"voices,omitempty"`
	// Weights of the codec, for a model of the hub that is published without, as hf://OWNER/NAME/FILE.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^hf://\S+$`
	Codec string `json:"codec,omitempty"`
	// Token of the hub, for a model whose terms have to be accepted.
	// +optional
	TokenSecretRef *SecretKey `json:"tokenSecretRef,omitempty"`
	// Trusted certificates besides those of public authorities: for a hub, a registry or a proxy with a private
	// authority. The proxy itself is named in spec.runtime.env, by HTTPS_PROXY and NO_PROXY.
	// +optional
	Authority *Authority `json:"authority,omitempty"`
	// Address of another hub that answers like Hugging Face's.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://`
	Endpoint string `json:"endpoint,omitempty"`
	// Room in each pod for what is downloaded and what is made of it.
	// +optional
	// +kubebuilder:default="4Gi"
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}

// Authority is certificates in PEM: exactly one of these.
//
// +kubebuilder:validation:XValidation:rule="has(self.configMapKeyRef) != has(self.secretKeyRef)",message="authority wants exactly one of configMapKeyRef and secretKeyRef"
type Authority struct {
	// +optional
	ConfigMapKeyRef *ConfigMapKey `json:"configMapKeyRef,omitempty"`
	// +optional
	SecretKeyRef *SecretKey `json:"secretKeyRef,omitempty"`
}

// PulledVoice is a voice that a pulled model is given.
type PulledVoice struct {
	// What it is called.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[^=\s]+$`
	Name string `json:"name"`
	// A recording of 5 to 30 s, or a stored voice, as hf://OWNER/NAME/FILE.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^hf://\S+$`
	From string `json:"from"`
}

// Voice is one that is offered.
type Voice struct {
	// Name of the voice in the model.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name"`
}

// CPUPolicy is how processors are given to worker pods.
// +kubebuilder:validation:Enum=Guaranteed;Shared
type CPUPolicy string

const (
	// CPUGuaranteed gives each worker a processor: requests equal limits.
	CPUGuaranteed CPUPolicy = "Guaranteed"
	// CPUShared asks for nearly none and sets no limit: for laptops and trials. Speech may falter.
	CPUShared CPUPolicy = "Shared"
)

// Runtime is the pods that speak.
//
// +kubebuilder:validation:XValidation:rule="!has(self.cpus) || self.cpuPolicy != 'Guaranteed' || self.cpus == self.workersPerPod",message="spec.runtime.cpus must equal workersPerPod where cpuPolicy is Guaranteed: each worker has a processor of its own. Leave it out, or take cpuPolicy Shared"
type Runtime struct {
	// Image with swar-worker. Without it that of the operator's release is taken.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.endsWith(':latest')",message="an image with the tag latest is another one tomorrow: name a version or a digest"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][^ ]*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|@sha256:[0-9a-f]{64})$')",message="want an image with its version or its digest, such as registry.example.org/speech/worker:1.0: without one nodes take the tag latest"
	Image string `json:"image,omitempty"`
	// When nodes pull it.
	// +optional
	// +kubebuilder:default=IfNotPresent
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
	// Secrets of the namespace with which images are pulled.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []SecretName `json:"imagePullSecrets,omitempty"`
	// Utterances that a pod speaks at the same time. Each has a worker.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	WorkersPerPod int32 `json:"workersPerPod,omitempty"`
	// How processors are given to pods.
	// +optional
	// +kubebuilder:default=Guaranteed
	CPUPolicy CPUPolicy `json:"cpuPolicy,omitempty"`
	// Whole processors of a pod. Without it one for each worker.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	CPUs *int32 `json:"cpus,omitempty"`
	// Memory of a pod.
	// +optional
	// +kubebuilder:default="1Gi"
	Memory *resource.Quantity `json:"memory,omitempty"`
	// Memory for prepared texts, in megabytes; 0 means none. Without it the worker decides.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65536
	PrefillCacheMegabytes *int32 `json:"prefillCacheMegabytes,omitempty"`
	// Environment of the worker, and of the container that pulls a model, where fields of source.pull come first. Names
	// that begin with SWAR_ are settings of the operator's. The port of HTTPS_PROXY and HTTP_PROXY is opened in the
	// network policy: give the address as a value, whose user and password may be $(NAME) of variables before it, from
	// a Secret.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []EnvVar `json:"env,omitempty"`
	// Seconds that a pod may take to become ready before it is restarted.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=3600
	StartupSeconds int32 `json:"startupSeconds,omitempty"`
	PodSettings    `json:",inline"`
}

// PodSettings are what workers and routers each have.
type PodSettings struct {
	// Account of the pods, for cloud identities such as IRSA and Workload Identity.
	// +optional
	ServiceAccount *ServiceAccount `json:"serviceAccount,omitempty"`
	// Patch of the pod template (strategic merge) with metadata and spec: labels, annotations, sidecars, volumes,
	// environment, affinity, runtimeClassName, timing of probes. What probes, drains and certificates depend on must
	// not change.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	PodTemplate *runtime.RawExtension `json:"podTemplate,omitempty"`
}

// ServiceAccount is the account of pods: one of the namespace by its name, or that of the operator with annotations.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.annotations)",message="serviceAccount wants exactly one of name and annotations: an account of yours has annotations of its own"
type ServiceAccount struct {
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]string `json:"annotations,omitempty"`
}

// FrontService is how the Service of routers is reached.
//
// +kubebuilder:validation:XValidation:rule="!has(self.loadBalancerClass) && !has(self.loadBalancerSourceRanges) || self.type == 'LoadBalancer'",message="loadBalancerClass and loadBalancerSourceRanges want type LoadBalancer"
// +kubebuilder:validation:XValidation:rule="!has(self.externalTrafficPolicy) || self.type != 'ClusterIP'",message="externalTrafficPolicy wants type LoadBalancer or NodePort"
type FrontService struct {
	// +optional
	// +kubebuilder:default=ClusterIP
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]string `json:"annotations,omitempty"`
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	LoadBalancerClass *string `json:"loadBalancerClass,omitempty"`
	// Networks that a load balancer lets in, such as 10.0.0.0/8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",message="want a network such as 10.0.0.0/8"
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`
	// +optional
	// +kubebuilder:validation:Enum=Cluster;Local
	ExternalTrafficPolicy corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// +optional
	// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
	IPFamilyPolicy *corev1.IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:Enum=IPv4;IPv6
	IPFamilies []corev1.IPFamily `json:"ipFamilies,omitempty"`
}

// SecretName names a Secret of the namespace.
type SecretName struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
}

// EnvVar is a variable of the environment: a value, or a key of a Secret.
//
// +kubebuilder:validation:XValidation:rule="has(self.value) != has(self.secretKeyRef)",message="a variable wants exactly one of value and secretKeyRef"
// +kubebuilder:validation:XValidation:rule="!self.name.startsWith('SWAR_')",message="variables that begin with SWAR_ are settings, which the operator makes: use the fields of spec"
type EnvVar struct {
	// +required
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	Name string `json:"name"`
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value *string `json:"value,omitempty"`
	// +optional
	SecretKeyRef *SecretKey `json:"secretKeyRef,omitempty"`
}

// SecretKey is one entry of a Secret of the namespace.
type SecretKey struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key"`
}

// ConfigMapKey is one entry of a ConfigMap of the namespace.
type ConfigMapKey struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key"`
}

// Affinity is whether the same text goes to the same pod.
// +kubebuilder:validation:Enum=Prefill;None
type Affinity string

const (
	// AffinityPrefill prefers, of the pods with a free slot, the one that is likely to have a text prepared.
	AffinityPrefill Affinity = "Prefill"
	// AffinityNone takes any of them, at random: routers whose views are equally old would all take the same emptiest
	// one.
	AffinityNone Affinity = "None"
)

// Router is the pods that answer clients.
//
// +kubebuilder:validation:XValidation:rule="has(self.usageVolume) == has(oldSelf.usageVolume) && (!has(self.usageVolume) || self.usageVolume == oldSelf.usageVolume)",message="spec.router.usageVolume cannot be added, changed or removed, because usage that the portal does not have yet would be lost with the old routers: make a new TTSDeployment"
// +kubebuilder:validation:XValidation:rule="!has(self.twilioTokenSecretRef) || !has(self.dialects) || self.dialects.exists(d, d == 'bridge')",message="twilioTokenSecretRef wants bridge among the dialects, which answers Twilio"
type Router struct {
	// Number of routers. Applied only if it is set, so that an autoscaler may own it; without it, two at first.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Replicas *int32 `json:"replicas,omitempty"`
	// Image with swar-router. Without it that of the operator's release is taken.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.endsWith(':latest')",message="an image with the tag latest is another one tomorrow: name a version or a digest"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][^ ]*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|@sha256:[0-9a-f]{64})$')",message="want an image with its version or its digest, such as registry.example.org/speech/worker:1.0: without one nodes take the tag latest"
	Image string `json:"image,omitempty"`
	// Processors and memory of each.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
	// Queue of requests that wait for a slot, in each router.
	// +optional
	// +kubebuilder:default={}
	Queue Queue `json:"queue,omitzero"`
	// Whether the same text goes to the same pod.
	// +optional
	// +kubebuilder:default=Prefill
	Affinity Affinity `json:"affinity,omitempty"`
	// A volume for each router with usage that the portal does not have yet, so that it outlives a node. Routers are
	// then a StatefulSet. It cannot be added, changed or removed later, and goes with the TTSDeployment.
	// +optional
	UsageVolume *UsageVolume `json:"usageVolume,omitempty"`
	// Seconds that a stopping router keeps serving, until load balancers have removed it.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=60
	LingerSeconds *int32 `json:"lingerSeconds,omitempty"`
	// Seconds that cached keys stay valid while the portal is unreachable.
	// +optional
	// +kubebuilder:default=900
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	KeyGraceSeconds int32 `json:"keyGraceSeconds,omitempty"`
	// Networks of proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",message="want a network such as 10.0.0.0/8"
	TrustedProxies []string `json:"trustedProxies,omitempty"`
	// The APIs of other vendors that routers answer besides their own. All of them, if there is no list; [none] leaves
	// all of them out.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="size(self) == 1 || !self.exists(d, d == 'none')",message="none stands alone"
	Dialects []Dialect `json:"dialects,omitempty"`
	// Token of a Twilio account: only media streams signed with it are accepted. Without it any client with a key may
	// open one.
	// +optional
	TwilioTokenSecretRef *SecretKey `json:"twilioTokenSecretRef,omitempty"`
	// How speech is marked as synthetic.
	// +optional
	Labelling Labelling `json:"labelling,omitzero"`
	// People who open / in a browser are sent to this URL or path, that of the portal's pages. Programs get what they
	// always get.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^(https?://[^\s/@\\]+(/[^\s\\]*)?|/[^\s/\\][^\s\\]*)$`
	Pages string `json:"pages,omitempty"`
	// The Service that clients call.
	// +optional
	Service     *FrontService `json:"service,omitempty"`
	PodSettings `json:",inline"`
}

// Dialect is the API of another vendor.
// +kubebuilder:validation:Enum=none;openai;deepgram;elevenlabs;sarvam;cartesia;vapi;jambonz;bridge
type Dialect string

// Labelling is how speech is marked as synthetic.
//
// +kubebuilder:validation:XValidation:rule="!has(self.disclosureRequired) || !self.disclosureRequired || has(self.disclosure)",message="disclosureRequired wants a disclosure: what is spoken where a key has none"
type Labelling struct {
	// Text that is spoken before every text, unless the key or its organisation has another; it is billed like the
	// rest.
	// +optional
	// +kubebuilder:validation:MaxLength=400
	// +kubebuilder:validation:Pattern=`^[^\p{Cc}]*[\p{L}\p{N}][^\p{Cc}]*$`
	Disclosure string `json:"disclosure,omitempty"`
	// Whether no key and no organisation may have nothing spoken instead.
	// +optional
	DisclosureRequired bool `json:"disclosureRequired,omitempty"`
	// Name of the service, in ASCII, in audio metadata and in GET /. Default: Swar Hinglish TTS.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:Pattern=`^[!-~]([ -~]*[!-~])?$`
	ServiceName string `json:"serviceName,omitempty"`
}

// Resources are requests and limits in one.
type Resources struct {
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
}

// Queue configures the queue for slots in each router.
type Queue struct {
	// Utterances that may wait; 0 means none.
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	Capacity *int32 `json:"capacity,omitempty"`
	// For how long at most.
	// +optional
	// +kubebuilder:default=2000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxWaitMilliseconds int32 `json:"maxWaitMilliseconds,omitempty"`
}

// UsageVolume is what a StatefulSet's claims are made of.
type UsageVolume struct {
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClassName *string `json:"storageClassName,omitempty"`
	// +optional
	// +kubebuilder:default="1Gi"
	Size *resource.Quantity `json:"size,omitempty"`
}

// AccessMode is who may speak.
// +kubebuilder:validation:Enum=Portal;Keys;Open
type AccessMode string

const (
	// AccessPortal takes keys from a portal, and bills there.
	AccessPortal AccessMode = "Portal"
	// AccessKeys takes keys from a Secret, without billing.
	AccessKeys AccessMode = "Keys"
	// AccessOpen requires no key: every client that reaches the routers may speak.
	AccessOpen AccessMode = "Open"
)

// Access is who may speak.
//
// +kubebuilder:validation:XValidation:rule="self.mode != 'Keys' || has(self.secretName)",message="spec.access.mode Keys wants secretName: a Secret whose entry keys has a key a line"
// +kubebuilder:validation:XValidation:rule="self.mode != 'Open' || !has(self.secretName)",message="spec.access.mode Open has no keys: leave secretName out"
type Access struct {
	// +optional
	// +kubebuilder:default=Portal
	Mode AccessMode `json:"mode,omitempty"`
	// A Secret of the namespace. With mode Keys, its entry keys has one key per line, KEY or KEY=voice,voice. With mode
	// Portal, it has the entries address, token and ca.crt of the portal; without it the operator writes one for the
	// portal of its own release.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	SecretName string `json:"secretName,omitempty"`
}

// Rollout is how pods are replaced.
type Rollout struct {
	// Pods that may be there in addition. New pods come before old ones go.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxSurge int32 `json:"maxSurge,omitempty"`
	// Pods that may be missing.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MaxUnavailable *int32 `json:"maxUnavailable,omitempty"`
	// Seconds without another ready pod after which a revision counts as stuck: the rollout stops, and the old revision
	// keeps serving.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	ProgressDeadlineSeconds int32 `json:"progressDeadlineSeconds,omitempty"`
	// Seconds that a stopping pod may take to finish running utterances. No utterance takes more than 120 s.
	// +optional
	// +kubebuilder:default=120
	// +kubebuilder:validation:Maximum=600
	// +kubebuilder:validation:XValidation:rule="self >= 120",message="spec.rollout.drainTimeoutSeconds must be 120 or more: an utterance may take so long, and would be cut"
	DrainTimeoutSeconds int32 `json:"drainTimeoutSeconds,omitempty"`
}

// Disruption is how many pods a node drain may take at once.
type Disruption struct {
	// In percent of the worker pods, one at least.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxUnavailablePercent int32 `json:"maxUnavailablePercent,omitempty"`
}

// ZonePolicy says whether routers prefer pods of the same zone.
// +kubebuilder:validation:Enum=Prefer;Ignore
type ZonePolicy string

const (
	// ZonesPrefer spreads pods over zones, and keeps speech within one while it has free slots.
	ZonesPrefer ZonePolicy = "Prefer"
	// ZonesIgnore makes no difference between zones.
	ZonesIgnore ZonePolicy = "Ignore"
)

// Placement is where pods may run.
type Placement struct {
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Taints that pods tolerate. Without an entry for node.kubernetes.io/not-ready and unreachable with NoExecute, pods
	// on such a node are replaced after 30 s.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// Nodes that pods want, or prefer.
	// +optional
	NodeAffinity *corev1.NodeAffinity `json:"nodeAffinity,omitempty"`
	// Constraints besides the spread over zones that zones makes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// +optional
	// +kubebuilder:default=Prefer
	Zones ZonePolicy `json:"zones,omitempty"`
}

// InternalTLS is how routers, workers, portal and operator know one another.
// +kubebuilder:validation:Enum=Operator;Secret;Mesh
type InternalTLS string

const (
	// TLSOperator has the operator make certificates, and renew them.
	TLSOperator InternalTLS = "Operator"
	// TLSSecret takes them from Secrets that something else fills, such as cert-manager.
	TLSSecret InternalTLS = "Secret"
	// TLSMesh speaks plain text, which a service mesh protects. A token stays.
	TLSMesh InternalTLS = "Mesh"
)

// Switch turns something on or off.
// +kubebuilder:validation:Enum=Enabled;Disabled
type Switch string

// The positions of a Switch.
const (
	Enabled  Switch = "Enabled"
	Disabled Switch = "Disabled"
)

// Security is how pods know one another, and who may reach them.
//
// +kubebuilder:validation:XValidation:rule="(self.internalTLS == 'Secret') == has(self.secretPrefix)",message="spec.security.internalTLS Secret wants secretPrefix, and nothing else does: the Secrets are PREFIX-worker and PREFIX-router, with tls.crt, tls.key and ca.crt"
type Security struct {
	// +optional
	// +kubebuilder:default=Operator
	InternalTLS InternalTLS `json:"internalTLS,omitempty"`
	// Where internalTLS is Secret: certificates are in the Secrets PREFIX-worker and PREFIX-router, as tls.crt, tls.key
	// and ca.crt, with the name spiffe://swar/NAMESPACE/NAME/worker or …/router.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	SecretPrefix string `json:"secretPrefix,omitempty"`
	// Whether only those reach pods who have to.
	// +optional
	// +kubebuilder:default=Enabled
	NetworkPolicy Switch `json:"networkPolicy,omitempty"`
}

// Observability is what is measured, and where it goes. Monitors, rules and the dashboard are made only where the
// cluster knows their kinds.
type Observability struct {
	// +optional
	// +kubebuilder:default=Disabled
	PodMonitor Switch `json:"podMonitor,omitempty"`
	// +optional
	// +kubebuilder:default=Disabled
	PrometheusRule Switch `json:"prometheusRule,omitempty"`
	// +optional
	// +kubebuilder:default=Disabled
	Dashboard Switch `json:"dashboard,omitempty"`
	// +optional
	Tracing *Tracing `json:"tracing,omitempty"`
}

// Tracing is where traces go.
type Tracing struct {
	// Address of a collector, such as http://collector:4317.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https?://`
	Endpoint string `json:"endpoint"`
	// How many of a thousand requests are traced, among those without a client's trace.
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	SamplePerThousand *int32 `json:"samplePerThousand,omitempty"`
}

// Reconciliation is whether the operator acts.
// +kubebuilder:validation:Enum=Active;Paused
type Reconciliation string

// What Reconciliation may be.
const (
	Active Reconciliation = "Active"
	Paused Reconciliation = "Paused"
)
