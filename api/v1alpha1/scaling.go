package v1alpha1

// ScalingMode is who decides how many worker pods there are.
// +kubebuilder:validation:Enum=Manual;Automatic;External
type ScalingMode string

const (
	// ScalingManual is whoever writes spec.replicas.
	ScalingManual ScalingMode = "Manual"
	// ScalingAutomatic is the operator, by the demand in slots that routers tell.
	ScalingAutomatic ScalingMode = "Automatic"
	// ScalingExternal is somebody who writes through /scale: an HPA, or KEDA.
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
	// Fewest worker pods. With 0, whoever calls an idle fleet first is refused (503) until a pod is warm, which takes
	// longer than clients repeat.
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
	// Share of the slots that are meant to speak; the rest is for what comes before another pod is warm.
	// +optional
	// +kubebuilder:default=80
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=100
	TargetSlotUtilizationPercent int32 `json:"targetSlotUtilizationPercent,omitempty"`
	// What those who scale by tts_queue_depth are told to aim at.
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
	// A fleet that nobody has called for so long goes to zero.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=604800
	IdleSecondsToZero *int32 `json:"idleSecondsToZero,omitempty"`
}

// ScaleUp bounds how fast a fleet grows.
type ScaleUp struct {
	// While one pod starts the fleet grows to so many times its size at most.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100
	MaxFactor int32 `json:"maxFactor,omitempty"`
}

// ScaleDown bounds how fast a fleet shrinks.
type ScaleDown struct {
	// The largest demand of so long counts.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	StabilizationSeconds *int32 `json:"stabilizationSeconds,omitempty"`
	// So many percent of the pods go in a minute at most, one at least.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxPercentPerMinute int32 `json:"maxPercentPerMinute,omitempty"`
}
