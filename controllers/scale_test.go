package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
)

// scaled is a fleet whose number of pods several people want to say.
type scaled struct {
	t         *testing.T
	c         client.Client
	namespace string
	mode      string
}

func (s scaled) fleet() *v1alpha1.TTSDeployment {
	s.t.Helper()
	f := &v1alpha1.TTSDeployment{}
	if err := s.c.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "hinglish"}, f); err != nil {
		s.t.Fatal(err)
	}
	return f
}

// scale reads the subresource as an HPA does.
func (s scaled) scale() (*autoscalingv1.Scale, error) {
	scale := &autoscalingv1.Scale{}
	return scale, s.c.SubResource("scale").Get(s.t.Context(), s.fleet(), scale)
}

// scaleTo writes the subresource as an HPA and kubectl scale do.
func (s scaled) scaleTo(n int32) {
	s.t.Helper()
	scale, err := s.scale()
	if err != nil {
		s.t.Fatal(err)
	}
	scale.Spec.Replicas, scale.ResourceVersion = n, "" // whatever else has changed meanwhile
	if err := s.c.SubResource("scale").Update(s.t.Context(), s.fleet(), client.WithSubResourceBody(scale)); err != nil {
		s.t.Fatal(err)
	}
}

// apply applies the fleet as a user does whose file has a line replicas, or none.
func (s scaled) apply(line string, options ...client.ApplyOption) error {
	spec := fmt.Sprintf("spec:\n  scaling: {mode: %s}\n  %s\n", s.mode, line)
	u := parse(s.t, s.namespace, strings.ReplaceAll(fleetYAML("hinglish"), "spec:\n", spec))
	return s.c.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(u),
		append(options, client.FieldOwner("user"))...)
}

// becomes waits until the fleet and its Deployment have so many pods.
func (s scaled) becomes(what string, want int32) {
	s.t.Helper()
	eventually(s.t, what, 20*time.Second, func(ctx context.Context) string {
		d := &appsv1.Deployment{}
		if err := s.c.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "hinglish-worker"}, d); err != nil {
			return err.Error()
		}
		says := s.fleet().Spec.Replicas
		if says == nil || *says != want || *d.Spec.Replicas != want {
			return fmt.Sprintf("the fleet says %v and the Deployment %d, want %d", says, *d.Spec.Replicas, want)
		}
		return ""
	})
}

// TestWhoSaysHowManyByThemselves: in the mode External the size belongs to who scales, and no line that is left out
// makes a fleet smaller.
func TestWhoSaysHowManyByThemselves(t *testing.T) {
	c, namespace := open(t)
	s := scaled{t, c, namespace, "External"}
	if err := s.apply(""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.scale(); err == nil {
		t.Error("/scale can be read while nobody has said a number")
	}
	o := startOperator(t, namespace, controllers.Config{})
	s.becomes("the operator says the first number", 1)
	scale, err := s.scale()
	if err != nil || scale.Spec.Replicas != 1 {
		t.Fatalf("/scale says %+v, %v", scale, err)
	}
	eventually(t, "an HPA finds the pods", 20*time.Second, func(context.Context) string {
		const want = "app.kubernetes.io/component=worker,app.kubernetes.io/instance=hinglish,app.kubernetes.io/name=swar"
		scale, err := s.scale()
		if scale.Status.Selector != want {
			return fmt.Sprintf("the selector is %q, %v; want %q", scale.Status.Selector, err, want)
		}
		return ""
	})
	for _, n := range []int32{3, 4, 5} {
		s.scaleTo(n)
		s.becomes("it has what /scale says", n)
	}
	if err := s.apply("replicas: 7"); !apierrors.IsConflict(err) {
		t.Errorf("a user's line against who scales: %v, want a conflict", err)
	}
	if err := s.apply("replicas: 7", client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	s.becomes("a user who insists has it", 7)
	if err := s.apply(""); err != nil {
		t.Fatal(err)
	}
	o.idle(t)
	s.becomes("who drops the line moves nothing", 7)
	s.scaleTo(8)
	s.becomes("who scales goes on from there", 8)
}

// TestWhoSaysHowManyBesideTheOperator: in the mode Automatic the operator owns the number. What comes by /scale all the
// same is the size from which it goes on; while no router is heard, it holds it.
func TestWhoSaysHowManyBesideTheOperator(t *testing.T) {
	c, namespace := open(t)
	s := scaled{t, c, namespace, "Automatic"}
	if err := s.apply(""); err != nil {
		t.Fatal(err)
	}
	o := startOperator(t, namespace, controllers.Config{})
	s.becomes("the operator says the first number", 1)
	err := s.apply("replicas: 7")
	if !apierrors.IsConflict(err) || !strings.Contains(fmt.Sprint(err), "swar-operator") {
		t.Errorf("a user's line: %v, want a conflict that names the operator", err)
	}
	s.scaleTo(9)
	o.idle(t)
	s.becomes("the operator goes on from what /scale says", 9)
}
