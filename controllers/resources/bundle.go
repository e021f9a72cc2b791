package resources

import (
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/swar-tts/swar/api/v1alpha1"
)

const (
	bundleVolume = "bundle"
	fetched      = "model" // folder of the volume that a fetched bundle is put into
)

// bring gives the pod its model. The container that it returns, if any, runs before.
func (p *pod) bring(d *v1alpha1.TTSDeployment) (before *corev1.Container) {
	folder := ""
	switch s := d.Spec.Model.Source; {
	case s.Image != nil:
		folder = s.Image.Path // empty for the embedded voices
	case s.OCI != nil:
		p.mount(corev1.Volume{Name: bundleVolume, VolumeSource: corev1.VolumeSource{
			Image: &corev1.ImageVolumeSource{Reference: s.OCI.Reference, PullPolicy: s.OCI.PullPolicy},
		}}, bundleFolder, true)
		folder = path.Join(bundleFolder, s.OCI.SubPath)
	case s.PersistentVolumeClaim != nil:
		p.mount(corev1.Volume{Name: bundleVolume, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
				ClaimName: s.PersistentVolumeClaim.ClaimName, ReadOnly: true,
			},
		}}, bundleFolder, true)
		folder = path.Join(bundleFolder, s.PersistentVolumeClaim.SubPath)
	case s.URL != nil:
		limit := quantityOf(s.URL.SizeLimit, "2Gi")
		p.mount(corev1.Volume{Name: bundleVolume, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit},
		}}, bundleFolder, true)
		folder = path.Join(bundleFolder, fetched)
		before = fetching(s.URL, folder, limit)
	}
	if folder == "" {
		return nil
	}
	p.setFlag("bundle", folder)
	if digest := d.Spec.Model.SHA256; digest != "" {
		p.setFlag("bundle-digest", digest)
	}
	return before
}

// fetching is a container that brings a bundle into a folder.
func fetching(s *v1alpha1.URLSource, folder string, limit resource.Quantity) *corev1.Container {
	return &corev1.Container{
		Name: "fetch", Command: []string{"swar"},
		Args: []string{
			"bundle", "fetch", s.URL, "--sha256=" + s.SHA256, "--to=" + folder, "--limit=" + strconv.FormatInt(limit.Value(), 10),
		},
		VolumeMounts: []corev1.VolumeMount{{Name: bundleVolume, MountPath: bundleFolder}},
	}
}
