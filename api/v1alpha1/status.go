package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Types of conditions. Each answers one question.
const (
	Ready         = "Ready"         // is this generation of the spec rolled out, and does it serve?
	Available     = "Available"     // does the fleet answer, and speak?
	Progressing   = "Progressing"   // is a revision on its way?
	Stalled       = "Stalled"       // does the rollout wait for a change by the user?
	ModelVerified = "ModelVerified" // do pods have the requested model?
	WorkersWarm   = "WorkersWarm"   // has every worker spoken each voice?
	RouterReady   = "RouterReady"   // do routers answer?
	ScalingActive = "ScalingActive" // does the number of pods follow the demand?
	Degraded      = "Degraded"      // does something need attention?
	PausedNow     = "Paused"        // is the operator paused?
	Contested     = "Contested"     // does another operator see the fleet, which leaves it to the one that leads it?
)

// Reasons of conditions. They are part of the API.
const (
	ReasonReady                = "Ready"
	ReasonNoPods               = "NoPods"
	ReasonScaledToZero         = "ScaledToZero"
	ReasonRoutersNotReady      = "RoutersNotReady"
	ReasonWarming              = "Warming"
	ReasonRollingOut           = "RollingOut"
	ReasonRolledOut            = "RolledOut"
	ReasonDeadlineExceeded     = "ProgressDeadlineExceeded"
	ReasonDigestChecked        = "DigestChecked"
	ReasonNotPinned            = "NotPinned"
	ReasonDigestMismatch       = "DigestMismatch"
	ReasonModelMismatch        = "ModelMismatch"
	ReasonFollowingDemand      = "FollowingDemand"
	ReasonManual               = "Manual"
	ReasonExternal             = "External"
	ReasonNoRouterReports      = "NoRouterReports"
	ReasonAtMaximum            = "AtMaximum"
	ReasonAsExpected           = "AsExpected"
	ReasonImageUnavailable     = "ImageUnavailable"
	ReasonSecretMissing        = "SecretMissing"
	ReasonSecretMalformed      = "SecretMalformed"
	ReasonUnschedulable        = "Unschedulable"
	ReasonQuotaExceeded        = "QuotaExceeded"
	ReasonCrashLoop            = "CrashLoop"
	ReasonPodTemplateInvalid   = "PodTemplateInvalid"
	ReasonApplyFailed          = "ApplyFailed"
	ReasonCertificateExpired   = "CertificateExpired"
	ReasonCertificateInvalid   = "CertificateInvalid"
	ReasonAnotherOperator      = "AnotherOperator"
	ReasonReconciliationPaused = "ReconciliationPaused"
	ReasonReconciliationActive = "ReconciliationActive"
	ReasonUnknown              = "Unknown"
)

// Status is what there is.
type Status struct {
	// Generation of the spec that this is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Worker pods, whatever they do.
	// +optional
	Replicas int32 `json:"replicas"`
	// Those whose workers are all warm, and that take utterances.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// Pods that are starting.
	// +optional
	WarmingReplicas int32 `json:"warmingReplicas"`
	// Pods that finish running utterances before they stop.
	// +optional
	DrainingReplicas int32 `json:"drainingReplicas"`
	// Pods of the newest revision.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`
	// Ready and wanted pods, as a column shows them.
	// +optional
	Pods string `json:"pods,omitempty"`
	// Label selector of the worker pods, for autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`
	// Slots, as routers saw them within the last quarter of a minute. Metrics have the present values.
	// +optional
	Slots Slots `json:"slots,omitzero"`
	// How many pods are wanted, and why.
	// +optional
	Desired Desired `json:"desired,omitzero"`
	// +optional
	Revision Revision `json:"revision,omitzero"`
	// Digest of the bundle's manifest that pods are held to.
	// +optional
	ModelDigest string `json:"modelDigest,omitempty"`
	// Where routers answer, within the cluster.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
}

// Slots counts the slots of all pods, and the requests that wait for one.
type Slots struct {
	// +optional
	Total int32 `json:"total"`
	// +optional
	Busy int32 `json:"busy"`
	// +optional
	Queued int32 `json:"queued"`
}

// Desired is how many worker pods are wanted.
type Desired struct {
	// +optional
	Replicas int32 `json:"replicas"`
	// +optional
	Reason string `json:"reason,omitempty"`
}

// Revision is which templates pods are made of.
type Revision struct {
	// That all pods had last.
	// +optional
	Current string `json:"current,omitempty"`
	// That of the spec.
	// +optional
	Updated string `json:"updated,omitempty"`
}
