// Package v1alpha1 is the API of platform teams. A TTSDeployment is one fleet of routers and worker pods with one
// model.
//
// It is a leaf: it imports Kubernetes' API machinery and no other package of Swar, so that clients can import it alone.
// Every rule is in the schema, in CEL where it involves more than one field; there is no webhook.
//
// +kubebuilder:object:generate=true
// +groupName=swar.dev
package v1alpha1

//go:generate go tool controller-gen object paths=.
//go:generate go tool controller-gen crd:crdVersions=v1,maxDescLen=600 paths=. output:crd:dir=../../config/crd
