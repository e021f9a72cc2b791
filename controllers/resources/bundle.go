package resources

import (
	"path"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
)

const (
	bundleVolume  = "bundle"
	authorityName = "authority"
	modelStore    = "SWAR_MODELS" // where the programs look for models
)

// addModel gives the pod its model. The container that it returns, if any, runs before.
func (p *pod) addModel(d *v1alpha1.TTSDeployment) (before *corev1.Container) {
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
	case s.Pull != nil:
		return p.pull(d)
	}
	if folder == "" {
		return nil
	}
	p.setFlag("bundle", folder)
	p.pin(d)
	return nil
}

// pin has the program refuse another bundle than that which the fleet names.
func (p *pod) pin(d *v1alpha1.TTSDeployment) {
	if digest := d.Spec.Model.SHA256; digest != "" {
		p.setFlag("bundle-digest", digest)
	}
}

// pull gives the pod a volume as its store of models, and returns the container that downloads the model into it.
func (p *pod) pull(d *v1alpha1.TTSDeployment) *corev1.Container {
	s := d.Spec.Model.Source.Pull
	limit := quantityOf(s.SizeLimit, "4Gi")
	p.mount(corev1.Volume{Name: bundleVolume, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit},
	}}, bundleFolder, true)
	store := corev1.EnvVar{Name: modelStore, Value: bundleFolder}
	p.container.Env = append(p.container.Env, store)
	p.setFlag("model", d.Spec.Model.ID)
	p.pin(d)
	c := &corev1.Container{
		Name: "pull", Command: []string{"swar"}, Env: []corev1.EnvVar{store},
		Args: []string{"model", "pull", s.Model, "--name=" + d.Spec.Model.ID,
			"--limit=" + strconv.FormatInt(limit.Value(), 10)},
		VolumeMounts: []corev1.VolumeMount{{Name: bundleVolume, MountPath: bundleFolder}},
	}
	if s.Precision != "" {
		c.Args = append(c.Args, "--precision="+s.Precision)
	}
	for _, v := range s.Voices {
		c.Args = append(c.Args, "--voice="+v.Name+"="+v.From)
	}
	if s.Codec != "" {
		c.Args = append(c.Args, "--codec="+s.Codec)
	}
	if s.Endpoint != "" {
		c.Env = append(c.Env, corev1.EnvVar{Name: "HF_ENDPOINT", Value: s.Endpoint})
	}
	if t := s.TokenSecretRef; t != nil {
		c.Env = append(c.Env, fromSecret("HF_TOKEN", t.Name, t.Key))
	}
	if s.Authority != nil {
		p.volumes = append(p.volumes, authorityVolume(s.Authority))
		c.VolumeMounts = append(c.VolumeMounts,
			corev1.VolumeMount{Name: authorityName, MountPath: authorityFolder, ReadOnly: true})
		// Besides the file of public authorities in the image, which SSL_CERT_FILE would replace.
		c.Env = append(c.Env, corev1.EnvVar{Name: "SSL_CERT_DIR", Value: authorityFolder})
	}
	for _, v := range d.Spec.Runtime.Env {
		isSet := func(e corev1.EnvVar) bool { return e.Name == v.Name } // a name may be there once only
		if !slices.ContainsFunc(c.Env, isSet) {
			c.Env = append(c.Env, environment(v))
		}
	}
	return c
}

// authorityVolume holds certificates as one file.
func authorityVolume(a *v1alpha1.Authority) corev1.Volume {
	const file = "authority.pem"
	mode := int32(0o440)
	v := corev1.Volume{Name: authorityName}
	if m := a.ConfigMapKeyRef; m != nil {
		v.ConfigMap = &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: m.Name}, DefaultMode: &mode,
			Items: []corev1.KeyToPath{{Key: m.Key, Path: file}},
		}
	} else if s := a.SecretKeyRef; s != nil {
		v.Secret = &corev1.SecretVolumeSource{
			SecretName: s.Name, DefaultMode: &mode, Items: []corev1.KeyToPath{{Key: s.Key, Path: file}},
		}
	}
	return v
}
