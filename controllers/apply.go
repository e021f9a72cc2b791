package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/plan"
	"github.com/swar-tts/swar/controllers/resources"
)

// appliedHash is of what the operator last said of an object: with it, what it does not say any more is found out.
const appliedHash = "swar.dev/applied"

// firstRouters is the number of routers of a new fleet without spec.router.replicas: one of them may stop at any time.
const firstRouters = 2

// claim takes ownership of the number of worker pods. Another field manager that sets it gets a conflict that names the
// operator.
func (r *Reconciler) claim(ctx context.Context, fleet *v1alpha1.TTSDeployment, replicas int32) error {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(),
		"kind":       v1alpha1.Kind,
		"metadata":   map[string]any{"name": fleet.Name, "namespace": fleet.Namespace, "uid": string(fleet.UID)},
		"spec":       map[string]any{"replicas": int64(replicas)},
	}}
	return r.applyAs(ctx, u, managerSize)
}

// createRouters creates the Deployment of routers with their first number, by a separate field manager. The
// operator's manager does not own the number, so that an autoscaler may change it.
func (r *Reconciler) createRouters(ctx context.Context, o plan.Observed, facts resources.Facts) error {
	if o.Routers != nil || o.Fleet.Spec.Router.Replicas != nil {
		return nil
	}
	for _, obj := range resources.Build(r.release(), o.Fleet, facts) {
		if obj.GetName() != resources.RouterName(o.Fleet) {
			continue
		}
		number := int32(firstRouters)
		switch obj := obj.(type) {
		case *appsv1.Deployment:
			obj.Spec.Replicas = &number
		case *appsv1.StatefulSet:
			obj.Spec.Replicas = &number
		default:
			continue
		}
		return client.IgnoreAlreadyExists(r.Client.Create(ctx, obj.(client.Object), client.FieldOwner(managerInitial)))
	}
	return nil
}

// ensure applies an object where it is not there, or is not what the operator says, and else writes nothing.
func (r *Reconciler) ensure(ctx context.Context, wanted resources.Object) error {
	u, err := toUnstructured(wanted)
	if err != nil {
		return err
	}
	hash := hashOf(u.Object)
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[appliedHash] = hash
	u.SetAnnotations(annotations)
	live := wanted.DeepCopyObject().(client.Object)
	err = r.Client.Get(ctx, client.ObjectKeyFromObject(live), live)
	if apierrors.IsNotFound(err) { // the cache knows only what is ours
		live = wanted.DeepCopyObject().(client.Object)
		err = r.Reader.Get(ctx, client.ObjectKeyFromObject(live), live)
	}
	if apierrors.IsNotFound(err) {
		return r.applyChecked(ctx, u)
	} else if err != nil {
		return err
	}
	if ownerOf(live) != ownerOf(wanted) {
		return errForeign
	}
	is, err := toUnstructured(live.(resources.Object))
	if err != nil {
		return err
	}
	if is.GetDeletionTimestamp() == nil && contains(is.Object, u.Object) {
		return nil
	}
	if err := r.preserveReplicas(ctx, u, live); err != nil {
		return err
	}
	if err := r.applyChecked(ctx, u); err != nil {
		return err
	}
	r.noteTemplate(is, u)
	return nil
}

// applyChecked applies an object, but not pods with an image volume where the API server knows none: it would leave
// the volume out without a word, and pods would start without their model.
func (r *Reconciler) applyChecked(ctx context.Context, u *unstructured.Unstructured) error {
	if mountsImage(u) {
		tried := u.DeepCopy()
		if err := r.applyAs(ctx, tried, fieldManager, client.DryRunAll); err != nil {
			return err
		}
		if !mountsImage(tried) {
			return errNoImageVolumes
		}
	}
	return r.applyAs(ctx, u, fieldManager)
}

var errNoImageVolumes = errors.New("this cluster has no image volumes, which spec.model.source.oci needs: upgrade to Kubernetes 1.35 or later, " +
	"or take the model from spec.model.source.pull, image or persistentVolumeClaim")

// mountsImage reports whether the pods of a workload mount an image.
func mountsImage(u *unstructured.Unstructured) bool {
	volumes, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "volumes")
	return slices.ContainsFunc(volumes, func(v any) bool {
		volume, _ := v.(map[string]any)
		return volume["image"] != nil
	})
}

// errForeign reports an object with a fleet's name that belongs to another owner.
var errForeign = errors.New("there is one of that name that is not of this fleet, and is left as it is: " +
	"rename the TTSDeployment, or remove that one")

// noteTemplate remembers the generation that an apply has made, where the pod template of a workload differs from
// what was there: until the cache has that generation, what it says of the roll-out is about the revision before.
// applied is what the server answered.
func (r *Reconciler) noteTemplate(was, applied *unstructured.Unstructured) {
	before, _, _ := unstructured.NestedMap(was.Object, "spec", "template")
	now, found, _ := unstructured.NestedMap(applied.Object, "spec", "template")
	isSame := contains(before, now) && contains(now, before) // what is empty may be left out on one side
	if !found || isSame || applied.GetGeneration() <= was.GetGeneration() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.templates == nil {
		r.templates = make(map[types.UID]int64)
	}
	r.templates[was.GetUID()] = applied.GetGeneration()
}

// isBehind reports whether a workload was read before the last change of its template.
func (r *Reconciler) isBehind(o metav1.Object) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	generation, changed := r.templates[o.GetUID()]
	if changed && o.GetGeneration() >= generation {
		delete(r.templates, o.GetUID())
		return false
	}
	return changed
}

// preserveReplicas makes sure that a number which the operator does not say any more stays as it is: what it has said
// once would fall to the default of one.
func (r *Reconciler) preserveReplicas(ctx context.Context, wanted *unstructured.Unstructured,
	live client.Object) error {
	if _, says, _ := unstructured.NestedFieldNoCopy(wanted.Object, "spec", "replicas"); says {
		return nil
	}
	var replicas *int32
	switch live := live.(type) {
	case *appsv1.Deployment:
		replicas = live.Spec.Replicas
	case *appsv1.StatefulSet:
		replicas = live.Spec.Replicas
	}
	if replicas == nil {
		return nil
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": wanted.GetAPIVersion(), "kind": wanted.GetKind(),
		"metadata": map[string]any{"name": wanted.GetName(), "namespace": wanted.GetNamespace()},
		"spec":     map[string]any{"replicas": int64(*replicas)},
	}}
	return r.applyAs(ctx, u, managerInitial)
}

func (r *Reconciler) applyAs(ctx context.Context, u *unstructured.Unstructured, owner string,
	how ...client.ApplyOption) error {
	configuration := client.ApplyConfigurationFromUnstructured(u)
	return r.Client.Apply(ctx, configuration, append(how, client.FieldOwner(owner), client.ForceOwnership)...)
}

// writeSecret creates a Secret of a fleet, or applies it over the fleet's own. It leaves a Secret of another owner
// alone.
func (r *Reconciler) writeSecret(ctx context.Context, wanted *corev1.Secret) error {
	live := &corev1.Secret{}
	err := r.Reader.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	if apierrors.IsNotFound(err) {
		return r.Client.Create(ctx, wanted, client.FieldOwner(fieldManager))
	} else if err != nil {
		return err
	}
	if ownerOf(live) != ownerOf(wanted) {
		return errForeign
	}
	u, err := toUnstructured(wanted)
	if err != nil {
		return err
	}
	u.SetUID(live.UID) // a Secret that takes its place meanwhile is a conflict
	return r.applyAs(ctx, u, fieldManager)
}

// prune deletes what a fleet had and is not to have any more.
func (r *Reconciler) prune(ctx context.Context, fleet *v1alpha1.TTSDeployment, wanted []resources.Object) error {
	keep := map[string]bool{}
	for _, w := range wanted {
		keep[keyOf(w)] = true
	}
	for _, obj := range resources.Possible(r.release(), fleet) {
		if keep[keyOf(obj)] {
			continue
		}
		live := obj.DeepCopyObject().(client.Object)
		err := r.Client.Get(ctx, client.ObjectKeyFromObject(live), live)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err != nil || live.GetDeletionTimestamp() != nil || ownerOf(live) != string(fleet.UID) {
			continue
		}
		if err := client.IgnoreNotFound(r.Client.Delete(ctx, live)); err != nil {
			return fmt.Errorf("removing %s: %w", keyOf(obj), err)
		}
	}
	return nil
}

func keyOf(o resources.Object) string {
	return o.GetObjectKind().GroupVersionKind().Kind + " " + o.GetName()
}

// ownerOf returns the UID of the object that controls o.
func ownerOf(o client.Object) string {
	for _, ref := range o.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller {
			return string(ref.UID)
		}
	}
	return ""
}

// toUnstructured returns what an object says, without what only the cluster says.
func toUnstructured(o runtime.Object) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	delete(fields, "status")
	u := &unstructured.Unstructured{Object: fields}
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(fields, "spec", "template", "metadata", "creationTimestamp")
	return u, nil
}

func hashOf(fields map[string]any) string {
	text, err := json.Marshal(fields) // with sorted names
	if err != nil {
		panic(err) // it was made of JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// contains reports whether an object is as another one says: it may have more, such as defaults, and what others say.
// Items of lists that have names are found by them; of others there must be as many.
func contains(is, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok {
			return len(wanted) == 0 && is == nil
		}
		for k, w := range wanted {
			if !contains(is[k], w) {
				return false
			}
		}
		return true
	case []any:
		is, _ := is.([]any)
		if !areNamed(wanted) && len(is) != len(wanted) {
			return false
		}
		for i, w := range wanted {
			if !contains(itemLike(is, w, i), w) {
				return false
			}
		}
		return true
	case nil:
		return true
	}
	return fmt.Sprint(is) == fmt.Sprint(wanted)
}

func areNamed(list []any) bool {
	for _, item := range list {
		if m, ok := item.(map[string]any); !ok || m["name"] == nil {
			return false
		}
	}
	return true
}

// itemLike returns the item of a list that corresponds to another one: with the same name, else at the same index.
func itemLike(list []any, like any, i int) any {
	if named, ok := like.(map[string]any); ok && named["name"] != nil {
		for _, item := range list {
			if m, ok := item.(map[string]any); ok && m["name"] == named["name"] {
				return m
			}
		}
		return nil
	}
	if i < len(list) {
		return list[i]
	}
	return nil
}
