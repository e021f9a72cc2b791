package controllers_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// assignedUser is the first of the range that hack/e2ecluster/testdata gives a namespace, as OpenShift does.
const assignedUser = 1000680000

// assignUsers makes an API server refuse pods of a namespace that name other users than those of its range, and give
// pods one of them that name none. isGiven says that it can do the latter.
func assignUsers(t *testing.T, c client.Client, namespace string) (isGiven bool) {
	t.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	label := []byte(`{"metadata": {"labels": {"swar.test/users": "assigned", "pod-security.kubernetes.io/enforce": "restricted"}}}`)
	if err := c.Patch(t.Context(), n, client.RawPatch("application/merge-patch+json", label)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"users.yaml", "users-assigned.yaml"} {
		text, err := os.ReadFile("../hack/e2ecluster/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		isGiven = true
		for part := range strings.SplitSeq(string(text), "\n---\n") {
			u := parse(t, "", part)
			err := c.Create(t.Context(), u)
			switch {
			case meta.IsNoMatchError(err):
				isGiven = false
			case err != nil:
				t.Fatal(err)
			default:
				t.Cleanup(func() { _ = c.Delete(context.Background(), u) })
			}
		}
	}
	return isGiven
}

// samplePods returns the pods of the fleets of config/samples, as an operator makes them that names users or not.
func samplePods(t *testing.T, strict client.Client, namespace string, isAssigned bool) map[string]*corev1.Pod {
	t.Helper()
	pods := map[string]*corev1.Pod{}
	for _, o := range sampleObjects(t, strict, namespace, isAssigned) {
		var template corev1.PodTemplateSpec
		switch o := o.(type) {
		case *appsv1.Deployment:
			template = o.Spec.Template
		case *appsv1.StatefulSet:
			template = o.Spec.Template
			for _, claim := range o.Spec.VolumeClaimTemplates { // which its controller makes volumes of
				template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{
					Name: claim.Name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
				})
			}
		default:
			continue
		}
		pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.Namespace, pod.GenerateName = namespace, "pod-"
		pods[o.GetName()] = pod
	}
	return pods
}

// TestPodsTakeTheUsersOfANamespace: with assigned users every fleet of config/samples has pods that a namespace with a
// range of users takes, as OpenShift makes one; with those of the images it has none.
func TestPodsTakeTheUsersOfANamespace(t *testing.T) {
	c, namespace := open(t)
	isGiven := assignUsers(t, c, namespace)
	if !isGiven {
		t.Log("this API server gives pods no user: only what it refuses was tested")
	}
	strict := client.WithFieldValidation(client.NewDryRunClient(c), metav1.FieldValidationStrict)
	for name, pod := range samplePods(t, strict, namespace, false) {
		eventually(t, name+" with a user of the image is refused", 10*time.Second, func(ctx context.Context) string {
			if err := strict.Create(ctx, pod.DeepCopy()); !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
				return "the API server says " + errorText(err)
			} else if !strings.Contains(err.Error(), "must be in the range") {
				return err.Error()
			}
			return ""
		})
	}
	for name, pod := range samplePods(t, strict, namespace, true) {
		eventually(t, name+" is taken", 10*time.Second, func(ctx context.Context) string {
			taken := pod.DeepCopy()
			if err := strict.Create(ctx, taken); err != nil {
				return err.Error()
			}
			s := taken.Spec.SecurityContext
			if isGiven && (s.RunAsUser == nil || *s.RunAsUser != assignedUser || s.FSGroup == nil ||
				*s.FSGroup != assignedUser) {
				return "it has another user than it was given"
			}
			return ""
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return "nothing"
	}
	return err.Error()
}
