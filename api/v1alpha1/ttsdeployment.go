package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TTSDeployment is a fleet that turns text into speech: worker pods that speak, and routers that answer clients.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=ttsd,categories=all
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.spec.model.id`
// +kubebuilder:printcolumn:name="Pods",type=string,JSONPath=`.status.pods`
// +kubebuilder:printcolumn:name="Slots",type=integer,JSONPath=`.status.slots.total`
// +kubebuilder:printcolumn:name="Busy",type=integer,JSONPath=`.status.slots.busy`
// +kubebuilder:printcolumn:name="Queue",type=integer,JSONPath=`.status.slots.queued`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name is also that of a Service: want lower-case letters, digits and hyphens, a letter first and no hyphen last"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40",message="metadata.name may have 40 characters at most, because names of other objects are made of it: choose a shorter one"
type TTSDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state.
	// +required
	Spec Spec `json:"spec"`
	// What there is. Only the operator writes it.
	// +optional
	Status Status `json:"status,omitzero"`
}

// TTSDeploymentList is what a list of them is answered with.
//
// +kubebuilder:object:root=true
type TTSDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TTSDeployment `json:"items"`
}
