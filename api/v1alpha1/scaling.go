package v1alpha1

// ScalingMode is who decides how many worker pods there are.
// +kubebuilder:validation:Enum=Manual;Automatic;External
type ScalingMode string

const (
	// ScalingManual leaves spec.replicas to the user.
	ScalingManual ScalingMode = "Manual"
	// ScalingAutomatic lets the operator scale by the slots that routers report as demanded.
	ScalingAutomatic ScalingMode = "Automatic"
	// ScalingExternal leaves the size to a client of /scale: an HPA, or KEDA.
	ScalingExternal ScalingMode = "External"
)

// Scaling is how the number of worker pods follows the demand.
//
// +kubebuilder:validation:XValidation:rule="self.minReplicas <= self.maxReplicas",message="spec.scaling.minReplicas must not be above maxReplicas"
// +kubebuilder:validation:XValidation:rule="!has(self.idleSecondsToZero) || self.minReplicas == 0",message="spec.scaling.idleSecondsToZero wants minReplicas 0: with another minimum the fleet never goes to zero"
type Scaling struct {
	// +optional
	// +kubebuilder:default=Automatic
	Mode ScalingMode `json:"mode,omitempty"`
	// Fewest worker pods. With 0, the first request to an idle fleet is refused (503) until a pod is warm, which takes
	// longer than clients retry.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	// Most worker pods.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5000
	MaxReplicas int32 `json:"maxReplicas,omitempty"`
	// Target share of busy slots. The rest covers new requests until another pod is warm.
	// +optional
	// +kubebuilder:default=80
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=100
	TargetSlotUtilizationPercent int32 `json:"targetSlotUtilizationPercent,omitempty"`
	// Target queue length for autoscalers that use tts_queue_depth.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	TargetQueueDepth int32 `json:"targetQueueDepth,omitempty"`
	// +optional
	// +kubebuilder:default={}
	ScaleUp ScaleUp `json:"scaleUp,omitzero"`
	// +optional
	// +kubebuilder:default={}
	ScaleDown ScaleDown `json:"scaleDown,omitzero"`
	// Seconds without a request after which the fleet scales to zero.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=604800
	IdleSecondsToZero *int32 `json:"idleSecondsToZero,omitempty"`
}

// ScaleUp bounds how fast a fleet grows.
type ScaleUp struct {
	// While one pod starts, the fleet grows to at most this multiple of its size.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	MaxFactor int32 `json:"maxFactor,omitempty"`
}

// ScaleDown bounds how fast a fleet shrinks.
type ScaleDown struct {
	// Window in seconds; the largest demand in it counts.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	StabilizationSeconds *int32 `json:"stabilizationSeconds,omitempty"`
	// Largest share of pods removed in a minute, in percent; at least one pod.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxPercentPerMinute int32 `json:"maxPercentPerMinute,omitempty"`
}
