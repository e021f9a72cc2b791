package externalmetrics

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/external_metrics/v1beta1"

	"github.com/swar-tts/swar/controllers/keda"
)

// What the API is called, and where it is.
var (
	groupVersion = v1beta1.SchemeGroupVersion.String()
	groupPath    = "/apis/" + v1beta1.SchemeGroupVersion.Group
	versionPath  = "/apis/" + groupVersion
)

const listKind = "ExternalMetricValueList"

func group() *metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{GroupVersion: groupVersion, Version: v1beta1.SchemeGroupVersion.Version}
	return &metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"},
		Name:     v1beta1.SchemeGroupVersion.Group,
		Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
}

func groups() *metav1.APIGroupList {
	return &metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}, Groups: []metav1.APIGroup{*group()},
	}
}

// resources are the metrics. The only verb is get, so that clients that list, watch or delete everything in a namespace
// do not call this server.
func resources() *metav1.APIResourceList {
	list := &metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: groupVersion,
	}
	for _, metric := range []string{keda.DemandSlots, keda.QueueDepth} {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: metric, Namespaced: true, Kind: listKind, Verbs: metav1.Verbs{"get"},
		})
	}
	return list
}
