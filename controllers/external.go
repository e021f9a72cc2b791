package controllers

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/keda"
	"github.com/swar-tts/swar/controllers/plan"
	"github.com/swar-tts/swar/controllers/resources"
	"github.com/swar-tts/swar/runtime/contract"
)

// answerScalers serves KEDA the load of fleets, until ctx ends. Only the leading operator has it and listens; a call to
// another one is refused at once, and KEDA calls again.
func answerScalers(ctx context.Context, address string, c *ServerCertificate, s *Sizer) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for KEDA: %w", err)
	}
	return keda.New(s).Serve(ctx, l, &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: c.Get})
}

// observeScalerCA writes the CA of the operator beside a fleet that KEDA may scale: a TriggerAuthentication reads
// Secrets of its own namespace only.
func (r *Reconciler) observeScalerCA(
	ctx context.Context, fleet *v1alpha1.TTSDeployment, s *secrets,
) ([]plan.Problem, error) {
	if fleet.Spec.Scaling.Mode != v1alpha1.ScalingExternal {
		return nil, nil
	}
	authority, err := r.Authority.Get(ctx)
	if err != nil {
		return nil, err
	}
	name := resources.ScalerCASecret(fleet)
	live, foreign, err := r.ownSecret(ctx, fleet, name)
	if err != nil || foreign != nil {
		return foreign, err
	}
	if string(live.Data[contract.TLSAuthority]) != string(authority.Trust) {
		data := map[string][]byte{contract.TLSAuthority: authority.Trust}
		s.toWrite = append(s.toWrite, resources.Secret(fleet, name, corev1.SecretTypeOpaque, data))
	}
	return nil, nil
}
