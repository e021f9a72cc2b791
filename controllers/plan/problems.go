package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
)

// Problems returns what is in the way of a fleet, the worst first and each once.
func Problems(o Observed) (all []Problem) {
	all = append(all, o.Missing...)
	if o.Failed != nil {
		all = append(all, Problem{v1alpha1.ReasonApplyFailed, "the cluster refuses what the fleet is made of: " +
			strings.ReplaceAll(o.Failed.Error(), "\n", "; ")})
	}
	if o.Workers != nil {
		all = append(all, quota(o.Workers.Name, o.Workers)...)
	}
	if o.Routers != nil && o.Routers.Stuck != "" {
		all = append(all, Problem{v1alpha1.ReasonQuotaExceeded, "routers cannot be made: " + o.Routers.Stuck})
	}
	for _, pods := range [][]corev1.Pod{o.Gates, o.Pods} {
		for i := range pods {
			if p := ofPod(&pods[i]); p != nil && pods[i].DeletionTimestamp == nil {
				all = append(all, *p)
			}
		}
	}
	if o.Scaling.Mismatched > 0 {
		all = append(all,
			Problem{v1alpha1.ReasonModelMismatch,
				fmt.Sprintf("routers do not use %d pods, which speak with another model "+
					"than %s, or do not have its voices: compare spec.model.id and spec.voices with what the logs of the routers say of them",
					o.Scaling.Mismatched, o.Fleet.Spec.Model.ID)})
	}
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(p Problem) bool {
		was := seen[p.Reason+p.Text]
		seen[p.Reason+p.Text] = true
		return was
	})
	return all
}

// quota says why a Deployment's pods are not made.
func quota(name string, d *appsv1.Deployment) []Problem {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			reason := wordFor(strings.Contains(c.Message, "quota"), v1alpha1.ReasonQuotaExceeded,
				v1alpha1.ReasonApplyFailed)
			return []Problem{{reason, fmt.Sprintf("pods of %s cannot be made: %s", name, c.Message)}}
		}
	}
	return nil
}

// ofPod describes why a pod does not run, without its name, so that equal problems are reported once.
func ofPod(p *corev1.Pod) *Problem {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse &&
			c.Reason == corev1.PodReasonUnschedulable {
			return &Problem{v1alpha1.ReasonUnschedulable, "no node has room for a pod: " + c.Message +
				". Add nodes, or lower spec.runtime.workersPerPod, memory or placement"}
		}
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if found := ofContainer(&s); found != nil {
			return found
		}
	}
	return nil
}

func ofContainer(s *corev1.ContainerStatus) *Problem {
	if w := s.State.Waiting; w != nil {
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable":
			return &Problem{v1alpha1.ReasonImageUnavailable,
				fmt.Sprintf("the image %s of %s cannot be pulled: check its name, and "+
					"imagePullSecrets: %s", s.Image, s.Name, firstLine(w.Message))}
		case "CreateContainerConfigError":
			return &Problem{v1alpha1.ReasonSecretMissing,
				fmt.Sprintf("%s cannot start: %s", s.Name, firstLine(w.Message))}
		}
	}
	ended := s.LastTerminationState.Terminated
	if s.State.Terminated != nil && s.State.Terminated.ExitCode != 0 {
		ended = s.State.Terminated
	}
	if ended == nil || ended.ExitCode == 0 || s.Ready {
		return nil
	}
	says := cmp.Or(lastLine(ended.Message), ended.Reason)
	switch {
	case ended.Reason == "OOMKilled":
		return &Problem{v1alpha1.ReasonCrashLoop,
			s.Name + " wants more memory than it may have: raise spec.runtime.memory"}
	case strings.Contains(says, "--bundle-digest") || strings.Contains(says, "--sha256"):
		return &Problem{v1alpha1.ReasonDigestMismatch, "the model is not the one that spec.model names: " + says}
	}
	return &Problem{v1alpha1.ReasonCrashLoop,
		fmt.Sprintf("%s ends again and again, with exit code %d: %s", s.Name, ended.ExitCode, says)}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
