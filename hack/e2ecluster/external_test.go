//go:build e2ecluster

package e2ecluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const hpaManifest = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: espeak}
spec:
  scaleTargetRef: {apiVersion: swar.dev/v1alpha1, kind: TTSDeployment, name: espeak}
  minReplicas: 1
  maxReplicas: 4
  metrics:
  - type: External
    external:
      metric: {name: tts_demand_slots, selector: {matchLabels: {ttsdeployment: espeak}}}
      target: {type: AverageValue, averageValue: 1600m} # 0.8 of the two slots of a pod
  behavior: {scaleDown: {stabilizationWindowSeconds: 0}}
`

const kedaManifest = `
apiVersion: keda.sh/v1alpha1
kind: TriggerAuthentication
metadata: {name: swar-scaler}
spec:
  secretTargetRef: [{parameter: caCert, name: espeak-scaler-ca, key: ca.crt}]
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: espeak}
spec:
  scaleTargetRef: {apiVersion: swar.dev/v1alpha1, kind: TTSDeployment, name: espeak}
  minReplicaCount: 0
  maxReplicaCount: 4
  pollingInterval: 5
  cooldownPeriod: 15
  advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: {stabilizationWindowSeconds: 0}}}}
  triggers:
  - type: external-push
    metricType: AverageValue
    metadata: {scalerAddress: "swar-operator.swar.svc:9443", ttsdName: espeak}
    authenticationRef: {name: swar-scaler}
`

const (
	byOthers         = `{"runtime": {"workersPerPod": 2}, "scaling": {"mode": "External", "minReplicas": 1, "maxReplicas": 4}}`
	byOthersFromZero = `{"scaling": {"minReplicas": 0, "idleSecondsToZero": 60}}`
)

// replicas waits until the fleet is given a size, and has it.
func replicas(t *testing.T, limit time.Duration, pods int) {
	t.Helper()
	within(t, limit, fmt.Sprintf("it is given %d pods", pods),
		prints(fmt.Sprint(pods), "get", "ttsd", fleet, "-o", "jsonpath={.spec.replicas}"))
	ready(t, limit, pods)
}

// byHPA has a HorizontalPodAutoscaler follow the demand, by the server of external metrics that the chart brings.
func byHPA(t *testing.T, l *life) {
	const service = "v1beta1.external.metrics.k8s.io"
	helm(t, "upgrade", release, "../../charts/swar", "--reuse-values", "--wait", "--timeout", "3m",
		"--set", "operator.externalMetrics.enabled=true")
	kubectl(t, "wait", "apiservice", service, "--for", "condition=Available", "--timeout", "1m")
	patch(t, byOthers)
	apply(t, hpaManifest)
	c := &clients{address: l.address, key: l.key}
	c.start(12, 0)
	replicas(t, 3*time.Minute, 4)
	judge(t, c.end(), false)
	replicas(t, 5*time.Minute, 1)
	kubectl(t, "delete", "hpa", fleet)
	helm(t, "rollback", release, "--wait", "--timeout", "3m")
	within(t, time.Minute, "its API is gone",
		prints("", "get", "apiservice", service, "--ignore-not-found", "-o", "name"))
}

// byKEDA has KEDA follow the demand, from zero as well. KEDA is tried where somebody has built it.
func byKEDA(t *testing.T, l *life) {
	folder, err := run("", "../cluster/keda.sh", "-c")
	if err != nil {
		t.Skip("NOT TRIED with KEDA, which is not built: hack/cluster/keda.sh builds it")
	}
	mustRun(t, "", "../cluster/load-image.sh", filepath.Join(folder, "keda.tar"),
		filepath.Join(folder, "keda-adapter.tar"))
	manifest, err := os.ReadFile(filepath.Join(folder, "keda.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, string(manifest), "kubectl", "apply", "--server-side", "-f", "-")
	t.Cleanup(func() {
		mustRun(t, string(manifest), "kubectl", "delete", "--ignore-not-found", "--timeout", "2m", "-f", "-")
	})
	mustRun(t, "", "kubectl", "--namespace", "keda", "wait", "deployment", "--all", "--for", "condition=Available",
		"--timeout", "3m")
	patch(t, byOthers)
	patch(t, byOthersFromZero)
	apply(t, kedaManifest)
	t.Cleanup(func() { kubectl(t, "delete", "scaledobject,triggerauthentication", "--all", "--timeout", "1m") })
	replicas(t, 3*time.Minute, 0)
	begin := time.Now()
	within(t, time.Minute, "the first who calls is served again", func() error { return l.speak(t) })
	t.Logf("%5.1f s from the first call to speech, from zero", time.Since(begin).Seconds())
	c := &clients{address: l.address, key: l.key}
	c.start(12, 0)
	replicas(t, 3*time.Minute, 4)
	judge(t, c.end(), false)
	replicas(t, 5*time.Minute, 0)
}
