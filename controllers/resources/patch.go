package resources

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// CheckTemplates returns an error if spec.runtime.podTemplate or spec.router.podTemplate is no pod template, or changes
// what a fleet depends on. Build leaves such a patch out.
func CheckTemplates(r Release, d *v1alpha1.TTSDeployment) error {
	var worker, router error
	if patch := d.Spec.Runtime.PodTemplate; patch != nil {
		if _, err := patchTemplate(workerBase(r, d), patch, Worker); err != nil {
			worker = fmt.Errorf("spec.runtime.podTemplate: %w", err)
		}
	}
	if patch := d.Spec.Router.PodTemplate; patch != nil {
		if _, err := patchTemplate(routerBase(r, d, Facts{}), patch, Router); err != nil {
			router = fmt.Errorf("spec.router.podTemplate: %w", err)
		}
	}
	return errors.Join(worker, router)
}

// patchTemplate applies a strategic merge patch to a pod template. Main is the name of Swar's container, which stays
// the first one: kubectl logs and exec take that. With an error it returns the template unchanged.
func patchTemplate(base corev1.PodTemplateSpec, patch *runtime.RawExtension,
	main string) (corev1.PodTemplateSpec, error) {
	if patch == nil || len(patch.Raw) == 0 {
		return base, nil
	}
	// A patch of nothing is decoded strictly, because merging drops unknown fields. $patch and the like are directives.
	decoder := json.NewDecoder(bytes.NewReader(withoutDirectives(patch.Raw)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&corev1.PodTemplateSpec{}); err != nil {
		return base, fmt.Errorf("does not fit a pod template: %w", err)
	}
	before, err := json.Marshal(base)
	if err != nil {
		return base, err
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch.Raw, corev1.PodTemplateSpec{})
	if err != nil {
		return base, fmt.Errorf("cannot be merged: %w", err)
	}
	var merged corev1.PodTemplateSpec
	if err := json.Unmarshal(after, &merged); err != nil {
		return base, fmt.Errorf("cannot be merged: %w", err)
	}
	if changed := brokenInvariants(base, merged, main); len(changed) > 0 {
		return base, fmt.Errorf("must not change %s", strings.Join(changed, ", "))
	}
	isMain := func(c corev1.Container) bool { return c.Name == main }
	at := slices.IndexFunc(merged.Spec.Containers, isMain)
	own := merged.Spec.Containers[at]
	merged.Spec.Containers = slices.Insert(slices.Delete(merged.Spec.Containers, at, at+1), 0, own)
	return merged, nil
}

// withoutDirectives returns JSON without the keys of objects that begin with $.
func withoutDirectives(raw []byte) []byte {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return raw // the decoder names the fault
	}
	var clean func(any)
	clean = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			maps.DeleteFunc(v, func(key string, _ any) bool { return strings.HasPrefix(key, "$") })
			for _, inner := range v {
				clean(inner)
			}
		case []any:
			for _, inner := range v {
				clean(inner)
			}
		}
	}
	clean(value)
	cleaned, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	return cleaned
}

// brokenInvariants names what a merged template lacks or changes of what probes, drains, certificates and bills of a
// fleet depend on, each with the field to use instead where there is one.
func brokenInvariants(base, merged corev1.PodTemplateSpec, main string) (broken []string) {
	unless := func(ok bool, what string) {
		if !ok {
			broken = append(broken, what)
		}
	}
	was, is := base.Spec, merged.Spec
	unless(hasAll(merged.Labels, base.Labels), "labels of Swar (app.kubernetes.io/…)")
	unless(hasAll(merged.Annotations, base.Annotations), "annotations of Swar (swar.dev/…)")
	unless(is.ServiceAccountName == was.ServiceAccountName, "serviceAccountName (use serviceAccount.name)")
	unless(equality.Semantic.DeepEqual(is.AutomountServiceAccountToken, was.AutomountServiceAccountToken),
		"automountServiceAccountToken (mount a projected token)")
	unless(!is.HostNetwork && !is.HostPID && !is.HostIPC, "hostNetwork, hostPID, hostIPC")
	unless(is.RestartPolicy == "" || is.RestartPolicy == corev1.RestartPolicyAlways, "restartPolicy")
	unless(valueOf(is.TerminationGracePeriodSeconds) >= valueOf(was.TerminationGracePeriodSeconds),
		fmt.Sprintf("terminationGracePeriodSeconds to less than the %d s of a drain",
			valueOf(was.TerminationGracePeriodSeconds)))
	for _, v := range was.Volumes {
		unless(slices.ContainsFunc(is.Volumes, func(now corev1.Volume) bool {
			return equality.Semantic.DeepEqual(v, now)
		}), "the volume "+v.Name)
	}
	for _, containers := range [][2][]corev1.Container{
		{was.Containers, is.Containers}, {was.InitContainers, is.InitContainers},
	} {
		for _, own := range containers[0] {
			at := slices.IndexFunc(containers[1], func(c corev1.Container) bool { return c.Name == own.Name })
			if at < 0 {
				broken = append(broken, "the container "+own.Name)
				continue
			}
			broken = append(broken, brokenContainer(own, containers[1][at], main)...)
		}
	}
	return broken
}

// brokenContainer is brokenInvariants for a container of Swar's.
func brokenContainer(was, is corev1.Container, main string) (broken []string) {
	unless := func(ok bool, what string) {
		if !ok {
			broken = append(broken, what+" of the container "+was.Name)
		}
	}
	same := func(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }
	unless(is.Image == was.Image, "image (use runtime.image or router.image)")
	unless(same(is.Command, was.Command) && same(is.Args, was.Args), "command and args")
	unless(same(is.Resources, was.Resources),
		"resources (use runtime.workersPerPod, cpus and memory, or router.resources)")
	for _, p := range was.Ports {
		unless(slices.Contains(is.Ports, p), "port "+p.Name)
	}
	for _, v := range was.Env {
		unless(slices.ContainsFunc(is.Env, func(now corev1.EnvVar) bool { return same(v, now) }), "variable "+v.Name)
	}
	for _, m := range was.VolumeMounts {
		unless(slices.ContainsFunc(is.VolumeMounts, func(now corev1.VolumeMount) bool { return same(m, now) }),
			"mount "+m.MountPath)
	}
	for name, probes := range map[string][2]*corev1.Probe{
		"startupProbe":   {was.StartupProbe, is.StartupProbe},
		"readinessProbe": {was.ReadinessProbe, is.ReadinessProbe},
		"livenessProbe":  {was.LivenessProbe, is.LivenessProbe},
	} {
		// Timing may change, what is asked may not.
		unless(probes[0] == nil && (probes[1] == nil || was.Name != main) ||
			probes[0] != nil && probes[1] != nil && same(probes[0].ProbeHandler, probes[1].ProbeHandler),
			name+" but for its timing")
	}
	slices.Sort(broken)
	return broken
}

// hasAll reports whether labels or annotations have the entries of others.
func hasAll(all, some map[string]string) bool {
	return k8slabels.SelectorFromSet(some).Matches(k8slabels.Set(all))
}
