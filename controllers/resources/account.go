package resources

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// workerAccount has no rights, and its pods no token.
func workerAccount(d *v1alpha1.TTSDeployment) Object {
	return account(d, WorkerName(d), Worker, d.Spec.Runtime.ServiceAccount)
}

func routerAccount(d *v1alpha1.TTSDeployment) Object {
	return account(d, RouterName(d), Router, d.Spec.Router.ServiceAccount)
}

// account is one whose token pods have to ask for. It is there, too, where the spec names another one.
func account(d *v1alpha1.TTSDeployment, name, component string, theirs *v1alpha1.ServiceAccount) Object {
	no := false
	a := &corev1.ServiceAccount{
		TypeMeta: kindOf(corev1.SchemeGroupVersion, "ServiceAccount"), ObjectMeta: meta(d, name, component),
		AutomountServiceAccountToken: &no,
	}
	if theirs != nil {
		a.Annotations = theirs.Annotations
	}
	return a
}

// accountName is that of the account of pods: what the spec names, or the operator's.
func accountName(theirs *v1alpha1.ServiceAccount, own string) string {
	if theirs == nil {
		return own
	}
	return or(theirs.Name, own)
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
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: RouterName(d)},
		Subjects: []rbacv1.Subject{{
			Kind: rbacv1.ServiceAccountKind, Namespace: d.Namespace,
			Name: accountName(d.Spec.Router.ServiceAccount, RouterName(d)),
		}},
	}
}
