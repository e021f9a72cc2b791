package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "swar.dev", Version: "v1alpha1"}

// Kind is the name of the one kind of this group.
const Kind = "TTSDeployment"

// AddToScheme makes the types known to s.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &TTSDeployment{}, &TTSDeploymentList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
