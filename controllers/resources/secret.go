package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// Secret is one of d that the operator fills.
func Secret(d *v1alpha1.TTSDeployment, name string, kind corev1.SecretType, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta(d, name, ""), Type: kind,
		Data: data,
	}
}
