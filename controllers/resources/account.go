package resources

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// workerAccount has no rights, and its pods no token.
func workerAccount(d *v1alpha1.TTSDeployment) Object { return account(d, WorkerName(d), Worker) }

func routerAccount(d *v1alpha1.TTSDeployment) Object { return account(d, RouterName(d), Router) }

// account is one whose token pods have to ask for.
func account(d *v1alpha1.TTSDeployment, name, component string) Object {
	no := false
	return &corev1.ServiceAccount{
		TypeMeta: kindOf(corev1.SchemeGroupVersion, "ServiceAccount"), ObjectMeta: meta(d, name, component),
		AutomountServiceAccountToken: &no,
	}
}

// routerRole lets routers see where worker pods are. Kubernetes cannot narrow a list to one Service.
func routerRole(d *v1alpha1.TTSDeployment) Object {
	return &rbacv1.Role{
		TypeMeta: kindOf(rbacv1.SchemeGroupVersion, "Role"), ObjectMeta: meta(d, RouterName(d), Router),
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"},
			Verbs: []string{"get", "list", "watch"},
		}},
	}
}

func routerRoleBinding(d *v1alpha1.TTSDeployment) Object {
	return &rbacv1.RoleBinding{
		TypeMeta: kindOf(rbacv1.SchemeGroupVersion, "RoleBinding"), ObjectMeta: meta(d, RouterName(d), Router),
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: RouterName(d)},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: RouterName(d), Namespace: d.Namespace}},
	}
}
