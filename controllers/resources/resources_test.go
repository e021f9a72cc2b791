package resources_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	psapi "k8s.io/pod-security-admission/api"
	pspolicy "k8s.io/pod-security-admission/policy"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/resources"
)

// everything turns on all that can be turned on, so that each object is among those of Build.
const everything = `
observability: {podMonitor: Enabled, prometheusRule: Enabled, dashboard: Enabled, tracing: {endpoint: "http://collector:4317"}}
model:
  id: m
  source: {pull: {model: "https://models.example.org:8443/m.tar#sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}
router: {usageVolume: {}}
`

// throughProxy pulls a model through a proxy that wants a password, from a server with an authority of its own.
const throughProxy = `
model:
  id: m
  source: {pull: {
    model: "https://example.com/m.tar#sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    authority: {configMapKeyRef: {name: ours, key: ca.crt}}, tokenSecretRef: {name: hub, key: token}}}
runtime: {env: [
  {name: PROXY_PASSWORD, secretKeyRef: {name: proxy, key: password}},
  {name: HTTPS_PROXY, value: "http://swar:$(PROXY_PASSWORD)@proxy:3128"}, {name: https_proxy, value: "proxy:3128"},
  {name: HTTP_PROXY, value: "socks5://proxy"}, {name: NO_PROXY, value: ".svc"}, {name: HF_TOKEN, value: theirs}]}
`

// ourPods adds to pods what platform teams add.
const ourPods = `
runtime:
  serviceAccount: {annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/speech"}}
  podTemplate:
    metadata: {labels: {team: voice}, annotations: {example.org/inject: "false"}}
    spec:
      runtimeClassName: gvisor
      schedulerName: bin-packing
      containers:
        - {name: worker, env: [{name: ZONE, value: a}], startupProbe: {periodSeconds: 2},
           volumeMounts: [{name: scratch, mountPath: /scratch}]}
        - name: log-shipper
          image: shipper:1
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
      volumes: [{name: scratch, emptyDir: {}}]
router:
  serviceAccount: {name: ours}
  podTemplate: {spec: {terminationGracePeriodSeconds: 600, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app.kubernetes.io/component: router}}}]}}}}
`

// choices are specs that differ in what samples do not show.
var choices = map[string]string{
	"the least":                   "",
	"everything":                  everything,
	"plain text in a mesh":        "security: {internalTLS: Mesh}",
	"a mesh without a portal":     "security: {internalTLS: Mesh}\naccess: {mode: Open}",
	"certificates from elsewhere": "security: {internalTLS: Secret, secretPrefix: ours}",
	"keys":                        "access: {mode: Keys, secretName: clients}",
	"a portal of somebody else":   "access: {secretName: theirs}",
	"shared processors":           "runtime: {cpuPolicy: Shared, workersPerPod: 4, cpus: 2}",
	"no queue, no lingering":      "router: {queue: {capacity: 0, maxWaitMilliseconds: 1}, lingerSeconds: 0, affinity: None}",
	"larger routers":              "router: {replicas: 5, resources: {cpu: 2, memory: 1Gi}, trustedProxies: [10.0.0.0/8, 'fd00::/8'], dialects: [openai, sarvam], pages: 'https://portal.example.org/$(x)/'}",
	"signed calls":                "router: {dialects: [bridge], twilioTokenSecretRef: {name: calls, key: auth}}",
	"a label":                     "router: {labelling: {disclosure: 'यह ए आई की आवाज़ है।', disclosureRequired: true, serviceName: Asha Bank}}",
	"a volume for usage":          "router: {usageVolume: {storageClassName: fast, size: 3Gi}}",
	"a rare trace":                "observability: {tracing: {endpoint: 'https://collector', samplePerThousand: 5}}",
	"pods of every zone":          "placement: {zones: Ignore}",
	"a cache of none":             "runtime: {prefillCacheMegabytes: 0}",
	"a model of a hub of ours": `model: {id: hinglish, source: {pull: {model: "hf://acme/hinglish@v1", precision: fp32, endpoint: "http://hub:8080",
  voices: [{name: raj, from: "hf://acme/voices/raj.wav"}], codec: "hf://acme/codec/model.safetensors", tokenSecretRef: {name: hub, key: token}}}}`,
	"a model through a proxy": throughProxy,
	"pods of ours":            ourPods,
	"a public address": `router: {service: {type: LoadBalancer, loadBalancerClass: example.org/lb, externalTrafficPolicy: Local,
  loadBalancerSourceRanges: [10.0.0.0/8], ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv4, IPv6], annotations: {example.org/internal: "true"}}}`,
	"settings of the engine": "runtime: {env: [{name: TZ, value: Asia/Kolkata}, {name: LICENCE, secretKeyRef: {name: l, key: k}}]}",
}

// all returns every sample and every choice.
func all(t *testing.T) map[string]*v1alpha1.TTSDeployment {
	every := samples(t)
	for name, spec := range choices {
		every[name] = of(t, spec)
	}
	return every
}

// find returns the object of a kind with a name.
func find[T resources.Object](t *testing.T, objects []resources.Object, name string) (found T) {
	t.Helper()
	for _, o := range objects {
		if typed, ok := o.(T); ok && o.GetName() == name {
			return typed
		}
	}
	t.Fatalf("there is no %T %s", found, name)
	return found
}

// templates are those of the worker pods and of the routers.
func templates(t *testing.T, objects []resources.Object) (worker, router corev1.PodTemplateSpec) {
	t.Helper()
	for _, o := range objects {
		var template corev1.PodTemplateSpec
		switch o := o.(type) {
		case *appsv1.Deployment:
			template = o.Spec.Template
		case *appsv1.StatefulSet:
			template = o.Spec.Template
		default:
			continue
		}
		if strings.HasSuffix(o.GetName(), "-"+resources.Worker) {
			worker = template
		} else {
			router = template
		}
	}
	return worker, router
}

func TestEveryObject(t *testing.T) {
	for name, d := range all(t) {
		seen := map[string]bool{}
		for _, o := range resources.Build(release, d, resources.Facts{Workers: 1}) {
			kind := o.GetObjectKind().GroupVersionKind()
			id := kind.Kind + " " + o.GetName()
			if kind.Empty() || kind.Version == "" || seen[id] || o.GetNamespace() != "shop" {
				t.Errorf("%s: %v: its kind is %v, it is there twice: %v, its namespace is %q",
					name, id, kind, seen[id], o.GetNamespace())
			}
			seen[id] = true
			owners := o.GetOwnerReferences()
			if len(owners) != 1 || owners[0].UID != d.UID || !*owners[0].Controller || !*owners[0].BlockOwnerDeletion {
				t.Errorf("%s: %s belongs to %v", name, id, owners)
			}
			if l := o.GetLabels(); l[resources.LabelInstance] != d.Name ||
				l[resources.LabelManagedBy] != resources.ManagedBy {
				t.Errorf("%s: %s has the labels %v", name, id, l)
			}
		}
	}
}

func TestTheSameAgain(t *testing.T) {
	for name, d := range all(t) {
		before := d.DeepCopy()
		first := resources.Build(release, d, resources.Facts{})
		if second := resources.Build(release, d, resources.Facts{}); !reflect.DeepEqual(first, second) {
			t.Errorf("%s: built again, objects differ", name)
		}
		for _, o := range first {
			if deployment, ok := o.(*appsv1.Deployment); ok {
				spec := &deployment.Spec.Template.Spec
				spec.Tolerations = append(spec.Tolerations[:0], corev1.Toleration{Key: "changed"})
				if spec.NodeSelector != nil {
					spec.NodeSelector["changed"] = "yes"
				}
			}
		}
		if !reflect.DeepEqual(d, before) {
			t.Errorf("%s: who changes objects changes the TTSDeployment", name)
		}
	}
}

// TestNames tries the longest name that the schema allows.
func TestNames(t *testing.T) {
	d := of(t, everything)
	d.Name = strings.Repeat("n", 40)
	objects := resources.Build(release, d, resources.Facts{})
	if len(objects) != 16 {
		t.Errorf("%d objects, want every one there is: 16", len(objects))
	}
	names := []string{
		resources.WorkerTLSSecret(d), resources.RouterTLSSecret(d), resources.PortalSecret(d),
		resources.DashboardName(d),
		resources.RouterName(d) + "-0", "data-" + resources.RouterName(d) + "-63", // pods and claims of a StatefulSet
	}
	mesh := d.DeepCopy()
	mesh.Spec.Security.InternalTLS = v1alpha1.TLSMesh
	names = append(names, resources.TokenSecret(mesh))
	for _, o := range objects {
		names = append(names, o.GetName())
		for label, value := range o.GetLabels() {
			if why := append(validation.IsQualifiedName(label), validation.IsValidLabelValue(value)...); len(why) > 0 {
				t.Errorf("%s: %s=%s: %v", o.GetName(), label, value, why)
			}
		}
	}
	for _, name := range names {
		if why := validation.IsDNS1123Label(name); len(why) > 0 {
			t.Errorf("%q: %v", name, why)
		}
	}
	if got, want := resources.SelectorText(d, resources.Worker), "app.kubernetes.io/component=worker,"+
		"app.kubernetes.io/instance="+d.Name+",app.kubernetes.io/name=swar"; got != want {
		t.Errorf("the selector is %s, want %s", got, want)
	}
	if got, want := resources.Endpoint(of(t, "")), "http://hindi.shop.svc:8080"; got != want {
		t.Errorf("the endpoint is %s, want %s", got, want)
	}
}

// TestPodsAreRestricted asks Kubernetes' own check.
func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := pspolicy.NewEvaluator(pspolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := psapi.LevelVersion{Level: psapi.LevelRestricted, Version: psapi.LatestVersion()}
	check := func(template corev1.PodTemplateSpec) string {
		result := pspolicy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta,
			&template.Spec))
		if result.Allowed {
			return ""
		}
		return result.ForbiddenDetail()
	}
	for name, d := range all(t) {
		worker, router := templates(t, resources.Build(release, d, resources.Facts{}))
		for which, template := range map[string]corev1.PodTemplateSpec{"worker": worker, "router": router} {
			if why := check(template); why != "" {
				t.Errorf("%s: %s: %s", name, which, why)
			}
			for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
				if s := c.SecurityContext; s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
					t.Errorf("%s: %s may write to its root", name, c.Name)
				}
			}
		}
	}
	worker, _ := templates(t, resources.Build(release, of(t, ""), resources.Facts{}))
	worker.Spec.Containers[0].SecurityContext.Capabilities = nil
	if check(worker) == "" {
		t.Error("a container with all capabilities passes: the check checks nothing")
	}
}

// TestTheTokenOfTwilio comes from its Secret, and stands in no argument.
func TestTheTokenOfTwilio(t *testing.T) {
	for spec, want := range map[string]string{"": "", choices["signed calls"]: "calls/auth"} {
		_, router := templates(t, resources.Build(release, of(t, spec), resources.Facts{}))
		got := ""
		for _, v := range router.Spec.Containers[0].Env {
			if v.Name == "SWAR_TWILIO_TOKEN" {
				got = v.ValueFrom.SecretKeyRef.Name + "/" + v.ValueFrom.SecretKeyRef.Key
			}
		}
		if got != want || slices.ContainsFunc(router.Spec.Containers[0].Args,
			func(a string) bool { return strings.Contains(a, "twilio") }) {
			t.Errorf("%q: the token comes from %q, want %q", spec, got, want)
		}
	}
}

// TestWhatPullsHasTheEnvironment of the worker, each name once, and the certificates.
func TestWhatPullsHasTheEnvironment(t *testing.T) {
	for name, tt := range map[string]struct{ authority, volume string }{
		"a ConfigMap": {"configMapKeyRef", "ours ca.crt"},
		"a Secret":    {"secretKeyRef", "ours ca.crt"},
	} {
		d := of(t, strings.Replace(throughProxy, "configMapKeyRef", tt.authority, 1))
		worker, _ := templates(t, resources.Build(release, d, resources.Facts{}))
		c := worker.Spec.InitContainers[0]
		got := map[string]string{}
		for _, v := range c.Env {
			if _, isThere := got[v.Name]; isThere {
				t.Errorf("%s: %s is there twice", name, v.Name)
			}
			got[v.Name] = v.Value
			if v.ValueFrom != nil {
				got[v.Name] = v.ValueFrom.SecretKeyRef.Name + "/" + v.ValueFrom.SecretKeyRef.Key
			}
		}
		want := map[string]string{
			"SWAR_MODELS": "/bundle", "HF_TOKEN": "hub/token", "SSL_CERT_DIR": "/etc/swar/authority", "PROXY_PASSWORD": "proxy/password",
			"HTTPS_PROXY": "http://swar:$(PROXY_PASSWORD)@proxy:3128", "https_proxy": "proxy:3128", "HTTP_PROXY": "socks5://proxy", "NO_PROXY": ".svc",
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: what pulls has the environment %v, want %v", name, got, want)
		}
		var volume string
		for _, v := range worker.Spec.Volumes {
			switch {
			case v.Name != "authority":
			case v.ConfigMap != nil && tt.authority == "configMapKeyRef":
				volume = v.ConfigMap.Name + " " + v.ConfigMap.Items[0].Key
			case v.Secret != nil && tt.authority == "secretKeyRef":
				volume = v.Secret.SecretName + " " + v.Secret.Items[0].Key
			}
		}
		if volume != tt.volume || !slices.ContainsFunc(c.VolumeMounts,
			func(m corev1.VolumeMount) bool { return m.Name == "authority" && m.ReadOnly }) {
			t.Errorf("%s: the certificates are those of %q, mounted: %v", name, volume, c.VolumeMounts)
		}
	}
}

// TestUsers: pods name those of the images, or none where the cluster assigns them.
func TestUsers(t *testing.T) {
	for _, isAssigned := range []bool{false, true} {
		r := release
		r.AssignedIDs = isAssigned
		for name, d := range all(t) {
			worker, router := templates(t, resources.Build(r, d, resources.Facts{}))
			for which, template := range map[string]corev1.PodTemplateSpec{"worker": worker, "router": router} {
				s := template.Spec.SecurityContext
				for _, id := range []*int64{s.RunAsUser, s.RunAsGroup, s.FSGroup} {
					if (id == nil) != isAssigned || id != nil && *id != 65532 {
						t.Errorf("%s: %s, assigned: %v: user and groups are %v %v %v", name, which, isAssigned,
							s.RunAsUser, s.RunAsGroup, s.FSGroup)
					}
				}
				if s.RunAsNonRoot == nil || !*s.RunAsNonRoot {
					t.Errorf("%s: %s, assigned: %v: it may run as root", name, which, isAssigned)
				}
				for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
					if c.SecurityContext.RunAsUser != nil || c.SecurityContext.RunAsGroup != nil {
						t.Errorf("%s: the container %s names a user", name, c.Name)
					}
				}
			}
		}
	}
}

func TestArguments(t *testing.T) {
	secure := "--tls-cert=/etc/swar/tls/tls.crt --tls-key=/etc/swar/tls/tls.key --tls-ca=/etc/swar/tls/ca.crt"
	portal := "--portal-token-file=/etc/swar/portal/token --portal-ca=/etc/swar/portal/ca.crt"
	for name, tt := range map[string]struct {
		worker  string
		router  []string // among others
		without []string // what routers are not told
	}{
		"the least": {
			"--workers=1 " + secure,
			[]string{"--queue=8", "--queue-wait=2s", "--affinity=prefill", "--linger=10s", "--key-grace=15m0s",
				"--spool=268435456", portal, secure},
			[]string{"--voice", "--open", "--plaintext", "--otlp", "--trust-proxy", "--dialects",
				"--token-file=/etc/swar/token"},
		},
		"plain text in a mesh": {
			"--workers=1 --token-file=/etc/swar/token/token --plaintext",
			[]string{"--token-file=/etc/swar/token/token --plaintext", "--portal-token-file=/etc/swar/portal/token"},
			[]string{"--tls-", "--portal-ca"},
		},
		"a mesh without a portal": {
			"--workers=1 --token-file=/etc/swar/token/token --plaintext", []string{"--open"}, []string{"--portal"},
		},
		"keys":              {"--workers=1 " + secure, []string{secure}, []string{"--portal", "--open", "--api-key"}},
		"shared processors": {"--workers=4 --oversubscribe " + secure, nil, nil},
		"no queue, no lingering": {
			"--workers=1 " + secure, []string{"--queue=0 --queue-wait=1ms --affinity=none", "--linger=0s"}, nil,
		},
		"larger routers": {
			"--workers=1 " + secure, []string{"--spool=536870912", "--trust-proxy=10.0.0.0/8 --trust-proxy=fd00::/8 --dialects=openai,sarvam", "--pages=https://portal.example.org/$$(x)/"}, nil,
		},
		"a rare trace": {
			"--workers=1 " + secure + " --otlp=https://collector --otlp-share=0.005",
			[]string{"--otlp=https://collector --otlp-share=0.005"}, nil,
		},
		"a cache of none": {"--workers=1 --prefill-cache-mb=0 " + secure, nil, nil},
		"everything": {
			"--workers=1 --model=m " + secure + " --otlp=http://collector:4317 --otlp-share=1", nil, nil,
		},
	} {
		worker, router := templates(t, resources.Build(release, of(t, choices[name]), resources.Facts{}))
		if got := strings.Join(worker.Spec.Containers[0].Args, " "); got != tt.worker {
			t.Errorf("%s: workers are told\n%s, want\n%s", name, got, tt.worker)
		}
		got := strings.Join(router.Spec.Containers[0].Args, " ")
		for _, want := range tt.router {
			if !strings.Contains(got, want) {
				t.Errorf("%s: routers are told\n%s, want among it\n%s", name, got, want)
			}
		}
		for _, not := range tt.without {
			if strings.Contains(got, not) {
				t.Errorf("%s: routers are told\n%s, want nothing of %s", name, got, not)
			}
		}
	}
}

func TestResources(t *testing.T) {
	for name, tt := range map[string]struct {
		spec           string
		worker, router string // requests / limits
		class          corev1.PodQOSClass
	}{
		"the least":                  {"", "1 1Gi / 1 1Gi", "250m 128Mi / 0 512Mi", corev1.PodQOSGuaranteed},
		"a processor for each":       {"runtime: {workersPerPod: 3, memory: 2Gi}", "3 2Gi / 3 2Gi", "250m 128Mi / 0 512Mi", corev1.PodQOSGuaranteed},
		"shared":                     {"runtime: {cpuPolicy: Shared, workersPerPod: 4}", "100m 1Gi / 0 1Gi", "250m 128Mi / 0 512Mi", corev1.PodQOSBurstable},
		"shared, but not for ever":   {choices["shared processors"], "100m 1Gi / 2 1Gi", "250m 128Mi / 0 512Mi", corev1.PodQOSBurstable},
		"routers by number":          {choices["larger routers"], "1 1Gi / 1 1Gi", "2 1Gi / 2 1Gi", corev1.PodQOSGuaranteed},
		"routers by memory":          {"router: {resources: {memory: 2Gi}}", "1 1Gi / 1 1Gi", "250m 2Gi / 0 2Gi", corev1.PodQOSGuaranteed},
		"with a container before it": {choices["everything"], "1 1Gi / 1 1Gi", "250m 128Mi / 0 512Mi", corev1.PodQOSGuaranteed},
	} {
		worker, router := templates(t, resources.Build(release, of(t, tt.spec), resources.Facts{}))
		for which, pair := range map[string]struct {
			template corev1.PodTemplateSpec
			want     string
		}{"workers": {worker, tt.worker}, "routers": {router, tt.router}} {
			r := pair.template.Spec.Containers[0].Resources
			got := strings.Join([]string{r.Requests.Cpu().String(), r.Requests.Memory().String(), "/",
				r.Limits.Cpu().String(), r.Limits.Memory().String()}, " ")
			if got != pair.want {
				t.Errorf("%s: %s have %s, want %s", name, which, got, pair.want)
			}
		}
		class := corev1.PodQOSGuaranteed
		for _, c := range slices.Concat(worker.Spec.InitContainers, worker.Spec.Containers) {
			if !reflect.DeepEqual(c.Resources.Requests, c.Resources.Limits) || len(c.Resources.Limits) != 2 {
				class = corev1.PodQOSBurstable
			}
		}
		if class != tt.class {
			t.Errorf("%s: worker pods are %s, want %s", name, class, tt.class)
		}
	}
}

func TestTimes(t *testing.T) {
	for name, tt := range map[string]struct {
		spec           string
		worker, router int64
	}{
		"the least":                 {"", 150, 150},
		"longer utterances":         {"rollout: {drainTimeoutSeconds: 600}", 630, 150},
		"routers that go at once":   {"router: {lingerSeconds: 0}", 150, 140},
		"routers that go very late": {"router: {lingerSeconds: 60}", 150, 200},
	} {
		worker, router := templates(t, resources.Build(release, of(t, tt.spec), resources.Facts{}))
		w, r := *worker.Spec.TerminationGracePeriodSeconds, *router.Spec.TerminationGracePeriodSeconds
		if w != tt.worker || r != tt.router {
			t.Errorf("%s: workers have %d s and routers %d s, want %d and %d", name, w, r, tt.worker, tt.router)
		}
	}
	worker, _ := templates(t, resources.Build(release, of(t, "runtime: {startupSeconds: 42}"), resources.Facts{}))
	if p := worker.Spec.Containers[0].StartupProbe; p.PeriodSeconds*p.FailureThreshold != 42 {
		t.Errorf("a pod may start for %d s, want 42", p.PeriodSeconds*p.FailureThreshold)
	}
}

func TestSpread(t *testing.T) {
	const zone, host, rack = corev1.LabelTopologyZone, corev1.LabelHostname, "example.org/rack"
	for name, tt := range map[string]struct {
		spec string
		want []string
		zone bool // routers are told theirs
	}{
		"the least":          {"", []string{zone, host}, true},
		"pods of every zone": {choices["pods of every zone"], []string{host}, false},
		"another constraint": {
			"placement: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: example.org/rack, whenUnsatisfiable: DoNotSchedule}]}",
			[]string{rack, zone, host}, true,
		},
		"the same constraint": {
			"placement: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}]}",
			[]string{zone, host}, true,
		},
		"the same one, but harder": {
			"placement: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]}",
			[]string{zone, zone, host}, true,
		},
	} {
		worker, router := templates(t, resources.Build(release, of(t, tt.spec), resources.Facts{}))
		for component, template := range map[string]corev1.PodTemplateSpec{"worker": worker, "router": router} {
			var got []string
			for _, c := range template.Spec.TopologySpreadConstraints {
				got = append(got, c.TopologyKey)
				if c.LabelSelector.MatchLabels[resources.LabelComponent] != component {
					t.Errorf("%s: %s counts %v", name, component, c.LabelSelector)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %s is spread over %v, want %v", name, component, got, tt.want)
			}
		}
		isZone := func(v corev1.EnvVar) bool { return v.Name == "SWAR_ZONE" }
		if got := slices.ContainsFunc(router.Spec.Containers[0].Env, isZone); got != tt.zone {
			t.Errorf("%s: routers know their zone: %v", name, got)
		}
	}
}

// TestWhatRestartsRouters: keys are read at the start only, and everything else that changes outside of the spec is
// not. TestNodesThatAreLost: their pods are replaced soon, unless the fleet says otherwise.
func TestNodesThatAreLost(t *testing.T) {
	const ours = "node.kubernetes.io/not-ready:30 node.kubernetes.io/unreachable:30"
	for name, tt := range map[string]struct {
		tolerations []corev1.Toleration
		want        string
	}{
		"nothing is said":            {nil, ours},
		"something else is said":     {[]corev1.Toleration{{Key: "gpu"}}, "gpu:0 " + ours},
		"of one of them":             {[]corev1.Toleration{{Key: corev1.TaintNodeNotReady}}, "node.kubernetes.io/not-ready:0 node.kubernetes.io/unreachable:30"},
		"of scheduling there only":   {[]corev1.Toleration{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}, "node.kubernetes.io/not-ready:0 " + ours},
		"pods bear every taint":      {[]corev1.Toleration{{Operator: corev1.TolerationOpExists}}, ":0"},
		"every taint that schedules": {[]corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}, ":0 " + ours},
	} {
		d := of(t, everything)
		d.Spec.Placement.Tolerations = tt.tolerations
		worker, router := templates(t, resources.Build(release, d, resources.Facts{}))
		for component, template := range map[string]corev1.PodTemplateSpec{"worker": worker, "router": router} {
			var got []string
			for _, toleration := range template.Spec.Tolerations {
				var seconds int64
				if toleration.TolerationSeconds != nil {
					seconds = *toleration.TolerationSeconds
				}
				got = append(got, fmt.Sprintf("%s:%d", toleration.Key, seconds))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s: %s pods bear %v, want %s", name, component, got, tt.want)
			}
		}
	}
}

func TestWhatRestartsRouters(t *testing.T) {
	d := of(t, choices["keys"])
	_, before := templates(t, resources.Build(release, d, resources.Facts{KeysHash: "a", Workers: 1, PortalPort: 1}))
	_, same := templates(t, resources.Build(release, d, resources.Facts{KeysHash: "a", Workers: 2, PortalPort: 2}))
	_, other := templates(t, resources.Build(release, d, resources.Facts{KeysHash: "b"}))
	if !reflect.DeepEqual(before, same) || reflect.DeepEqual(before, other) {
		t.Error("routers restart with the number of workers, or not with other keys")
	}
	_, signed := templates(t, resources.Build(release, d, resources.Facts{KeysHash: "a", TwilioHash: "a"}))
	_, resigned := templates(t, resources.Build(release, d, resources.Facts{KeysHash: "a", TwilioHash: "b"}))
	if reflect.DeepEqual(before, signed) || reflect.DeepEqual(signed, resigned) {
		t.Error("routers do not restart with another token of Twilio")
	}
}

func TestWhoReachesWhom(t *testing.T) {
	ports := func(list []networkingv1.NetworkPolicyPort) (all []int) {
		for _, p := range list {
			all = append(all, p.Port.IntValue())
		}
		return all
	}
	for name, tt := range map[string]struct {
		spec           string
		facts          resources.Facts
		worker, router [][]int // what they may call, beside DNS
	}{
		"the least":               {"", resources.Facts{}, nil, [][]int{{9090}, {443, 6443}, {8082}}},
		"a portal of its own":     {choices["a portal of somebody else"], resources.Facts{PortalPort: 443}, nil, [][]int{{9090}, {443, 6443}, {443}}},
		"no portal":               {choices["keys"], resources.Facts{}, nil, [][]int{{9090}, {443, 6443}}},
		"traces":                  {choices["everything"], resources.Facts{}, [][]int{{4317}, {8443}}, [][]int{{9090}, {443, 6443}, {8082}, {4317}}},
		"traces without a port":   {choices["a rare trace"], resources.Facts{}, [][]int{{443}}, [][]int{{9090}, {443, 6443}, {8082}, {443}}},
		"a proxy":                 {throughProxy, resources.Facts{}, [][]int{{443}, {3128, 1080}}, [][]int{{9090}, {443, 6443}, {8082}}},
		"a proxy without a model": {"runtime: {env: [{name: https_proxy, value: 'https://proxy'}, {name: HTTP_PROXY, value: ''}, {name: NO_PROXY, value: 'a:1'}]}", resources.Facts{}, [][]int{{443}}, [][]int{{9090}, {443, 6443}, {8082}}},
		"a proxy of a Secret":     {"runtime: {env: [{name: HTTPS_PROXY, secretKeyRef: {name: s, key: k}}]}", resources.Facts{}, nil, [][]int{{9090}, {443, 6443}, {8082}}},
		"a proxy by name alone":   {"runtime: {env: [{name: HTTP_PROXY, value: proxy}]}", resources.Facts{}, [][]int{{80}}, [][]int{{9090}, {443, 6443}, {8082}}},
		"a model from plain HTTP": {strings.Replace(everything, "https://models.example.org:8443", "http://models.example.org", 1), resources.Facts{}, [][]int{{4317}, {80}}, [][]int{{9090}, {443, 6443}, {8082}, {4317}}},
	} {
		objects := resources.Build(release, of(t, tt.spec), tt.facts)
		for policy, want := range map[string][][]int{"hindi-worker": tt.worker, "hindi-router": tt.router} {
			var got [][]int
			for _, rule := range find[*networkingv1.NetworkPolicy](t, objects, policy).Spec.Egress[1:] {
				got = append(got, ports(rule.Ports))
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s may call %v, want %v", name, policy, got, want)
			}
		}
		in := find[*networkingv1.NetworkPolicy](t, objects, "hindi-worker").Spec.Ingress
		if len(in) != 2 || len(in[0].From) != 1 || !slices.Equal(ports(in[0].Ports), []int{9090}) {
			t.Errorf("%s: workers are called by %v", name, in)
		}
		in = find[*networkingv1.NetworkPolicy](t, objects, "hindi-router").Spec.Ingress
		watch := in[len(in)-1]
		if !slices.Equal(ports(watch.Ports), []int{8091}) || len(watch.From) != 1 ||
			watch.From[0].NamespaceSelector == nil ||
			!maps.Equal(watch.From[0].PodSelector.MatchLabels, release.OperatorLabels) {
			t.Errorf("%s: routers are watched by %v", name, watch)
		}
	}
	for _, o := range resources.Build(release, of(t, "security: {networkPolicy: Disabled}"), resources.Facts{}) {
		if _, ok := o.(*networkingv1.NetworkPolicy); ok {
			t.Errorf("there is the policy %s, which was turned off", o.GetName())
		}
	}
}

// TestWhatMeasures: each is made only if it is wanted, and its kind or text is there.
func TestWhatMeasures(t *testing.T) {
	kinds := func(r resources.Release, spec string) (all []string) {
		for _, o := range resources.Build(r, of(t, spec), resources.Facts{}) {
			switch kind := o.GetObjectKind().GroupVersionKind().Kind; kind {
			case "PodMonitor", "PrometheusRule", "ConfigMap":
				all = append(all, kind)
			}
		}
		return all
	}
	bare, silent := release, release
	bare.Kinds = resources.Kinds{}
	silent.Rules, silent.Dashboard = nil, nil
	for name, tt := range map[string]struct {
		release resources.Release
		spec    string
		want    []string
	}{
		"nothing is wanted":         {release, "", nil},
		"everything":                {release, everything, []string{"PodMonitor", "PrometheusRule", "ConfigMap"}},
		"the cluster knows no kind": {bare, everything, []string{"ConfigMap"}},
		"there is no text":          {silent, everything, []string{"PodMonitor"}},
	} {
		if got := kinds(tt.release, tt.spec); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestRoutersWithAVolume(t *testing.T) {
	objects := resources.Build(release, of(t, choices["a volume for usage"]), resources.Facts{})
	set := find[*appsv1.StatefulSet](t, objects, "hindi-router")
	service := find[*corev1.Service](t, objects, set.Spec.ServiceName)
	claim := set.Spec.VolumeClaimTemplates[0].Spec
	mounted := slices.ContainsFunc(set.Spec.Template.Spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
		return m.Name == set.Spec.VolumeClaimTemplates[0].Name && m.MountPath == "/data"
	})
	if service.Spec.ClusterIP != corev1.ClusterIPNone || !mounted || *claim.StorageClassName != "fast" ||
		claim.Resources.Requests.Storage().String() != "3Gi" {
		t.Errorf("the Service is %v, the volume is mounted: %v, the claim is %v", service.Spec, mounted, claim)
	}
}

// TestALabelIsNotExpanded: Kubernetes would put a variable where an argument has $(NAME).
func TestALabelIsNotExpanded(t *testing.T) {
	d := of(t, "router: {labelling: {disclosure: 'AI $(PATH) $5 hai', serviceName: A$B}}")
	_, router := templates(t, resources.Build(release, d, resources.Facts{Workers: 1}))
	for _, want := range []string{"--disclosure=AI $$(PATH) $$5 hai", "--service-name=A$$B"} {
		if args := router.Spec.Containers[0].Args; !slices.Contains(args, want) {
			t.Errorf("a router is started with %q, want %q among them", args, want)
		}
	}
}
