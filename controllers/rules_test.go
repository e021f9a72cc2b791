package controllers_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// TestRulesOfTTSDeployments tries every rule of the schema both ways: what it refuses, with what it says, and what is
// just inside of it.
func TestRulesOfTTSDeployments(t *testing.T) {
	c, namespace := open(t)
	forty, fortyOne := strings.Repeat("n", 40), strings.Repeat("n", 41)
	const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, tt := range map[string]struct {
		name string
		spec string // in place of the model's source, or besides it
		want string // empty: it is accepted
	}{
		"as little as possible":   {spec: `{}`},
		"a name of 40 characters": {name: forty, spec: `{}`},
		"a name of 41":            {name: fortyOne, spec: `{}`, want: "40 characters at most"},
		"a name of one letter":    {name: "a", spec: `{}`},
		"a name with hyphens":     {name: "a--1", spec: `{}`},
		"a digit first":           {name: "24x7", spec: `{}`, want: "a letter first"},
		"a name with a dot":       {name: "a.b", spec: `{}`, want: "that of a Service"},

		"an authority of a ConfigMap":   {spec: `{model: {id: m, source: {pull: {model: m, authority: {configMapKeyRef: {name: ours, key: ca.crt}}}}}}`},
		"an authority of a Secret":      {spec: `{model: {id: m, source: {pull: {model: m, authority: {secretKeyRef: {name: ours, key: ca.crt}}}}}}`},
		"an authority of both":          {spec: `{model: {id: m, source: {pull: {model: m, authority: {secretKeyRef: {name: a, key: k}, configMapKeyRef: {name: a, key: k}}}}}}`, want: "exactly one of configMapKeyRef and secretKeyRef"},
		"an authority of neither":       {spec: `{model: {id: m, source: {pull: {model: m, authority: {}}}}}`, want: "exactly one of configMapKeyRef and secretKeyRef"},
		"a ConfigMap in capitals":       {spec: `{model: {id: m, source: {pull: {model: m, authority: {configMapKeyRef: {name: Ours, key: k}}}}}}`, want: "configMapKeyRef.name"},
		"an entry with a slash":         {spec: `{model: {id: m, source: {pull: {model: m, authority: {configMapKeyRef: {name: ours, key: a/b}}}}}}`, want: "configMapKeyRef.key"},
		"a claim that cannot be":        {spec: `{model: {id: m, source: {persistentVolumeClaim: {claimName: "My Models"}}}}`, want: "claimName"},
		"a Secret that cannot be":       {spec: `{access: {mode: Keys, secretName: My_Keys}}`, want: "secretName"},
		"a prefix that cannot be":       {spec: `{security: {internalTLS: Secret, secretPrefix: "-tls"}}`, want: "secretPrefix"},
		"a pull secret of no name":      {spec: `{runtime: {imagePullSecrets: [{name: "a b"}]}}`, want: "imagePullSecrets"},
		"an account by its name":        {spec: `{runtime: {serviceAccount: {name: speech}}}`},
		"an account with annotations":   {spec: `{router: {serviceAccount: {annotations: {a: b}}}}`},
		"an account of neither":         {spec: `{runtime: {serviceAccount: {}}}`, want: "exactly one of name and annotations"},
		"an account of both":            {spec: `{router: {serviceAccount: {name: a, annotations: {a: b}}}}`, want: "exactly one of name and annotations"},
		"an account in capitals":        {spec: `{runtime: {serviceAccount: {name: Speech}}}`, want: "serviceAccount.name"},
		"a pod template":                {spec: `{runtime: {podTemplate: {spec: {nodeName: a}}}, router: {podTemplate: {}}}`},
		"a pod template that is a text": {spec: `{runtime: {podTemplate: "{}"}}`, want: "podTemplate"},
		"a load balancer":               {spec: `{router: {service: {type: LoadBalancer, loadBalancerClass: a/b, loadBalancerSourceRanges: [10.0.0.0/8], externalTrafficPolicy: Local}}}`},
		"a class of no load balancer":   {spec: `{router: {service: {loadBalancerClass: a/b}}}`, want: "want type LoadBalancer"},
		"ranges of no load balancer":    {spec: `{router: {service: {type: NodePort, loadBalancerSourceRanges: [10.0.0.0/8]}}}`, want: "want type LoadBalancer"},
		"a range that is none":          {spec: `{router: {service: {type: LoadBalancer, loadBalancerSourceRanges: [ten]}}}`, want: "such as 10.0.0.0/8"},
		"a node port, locally":          {spec: `{router: {service: {type: NodePort, externalTrafficPolicy: Local}}}`},
		"a cluster address, locally":    {spec: `{router: {service: {externalTrafficPolicy: Local}}}`, want: "wants type LoadBalancer or NodePort"},
		"a Service that is a name":      {spec: `{router: {service: {type: ExternalName}}}`, want: "service.type"},
		"two families":                  {spec: `{router: {service: {ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv6, IPv4]}}}`},
		"three families":                {spec: `{router: {service: {ipFamilies: [IPv6, IPv4, IPv6]}}}`, want: "ipFamilies"},
		"a family of none":              {spec: `{router: {service: {ipFamilies: [IPv5]}}}`, want: "ipFamilies"},

		"a model without a name":         {spec: `{model: {id: "", source: {image: {}}}}`, want: "spec.model.id"},
		"a model with spaces":            {spec: `{model: {id: "a b", source: {image: {}}}}`, want: "spec.model.id"},
		"no source":                      {spec: `{model: {id: m, source: {}}}`, want: "exactly one of"},
		"two sources":                    {spec: `{model: {id: m, source: {image: {}, oci: {reference: "a:1"}}}}`, want: "exactly one of"},
		"an image":                       {spec: `{model: {id: m, source: {image: {path: /bundle}}}}`},
		"a path that is not absolute":    {spec: `{model: {id: m, source: {image: {path: bundle}}}}`, want: "path"},
		"a volume":                       {spec: `{model: {id: m, source: {persistentVolumeClaim: {claimName: models, subPath: a/b}}}}`},
		"a volume outside of itself":     {spec: `{model: {id: m, source: {persistentVolumeClaim: {claimName: models, subPath: a/../b}}}}`, want: "subPath"},
		"a volume from its root":         {spec: `{model: {id: m, source: {persistentVolumeClaim: {claimName: models, subPath: /a}}}}`, want: "subPath"},
		"an image volume":                {spec: `{model: {id: m, source: {oci: {reference: "models/a@sha256:` + sum + `", subPath: x}}}}`},
		"an image volume outside":        {spec: `{model: {id: m, source: {oci: {reference: "a:1", subPath: ..}}}}`, want: "subPath"},
		"an archive":                     {spec: `{model: {id: m, source: {pull: {model: "https://example.org/a.tar#sha256=` + sum + `"}}}}`},
		"an archive without its digest":  {spec: `{model: {id: m, source: {pull: {model: "https://example.org/a.tar"}}}}`, want: "pull.model"},
		"an archive by another protocol": {spec: `{model: {id: m, source: {pull: {model: "ftp://example.org/a#sha256=` + sum + `"}}}}`, want: "pull.model"},
		"a model by name":                {spec: `{model: {id: saryps-hindi, source: {pull: {model: saryps-hindi@main}}}}`},
		"a model of a hub":               {spec: `{model: {id: m, source: {pull: {model: "hf://a/b@v1", voices: [{name: raj, from: "hf://a/v/raj.wav"}]}}}}`},
		"a model of a registry":          {spec: `{model: {id: m, source: {pull: {model: "oci://r.example.org/m:1"}}}}`},
		"a flag as a model":              {spec: `{model: {id: m, source: {pull: {model: "--help"}}}}`, want: "pull.model"},
		"a pulled model in capitals":     {spec: `{model: {id: M, source: {pull: {model: saryps-hindi}}}}`, want: "lower-case"},
		"a voice from this machine":      {spec: `{model: {id: m, source: {pull: {model: m, voices: [{name: raj, from: /etc/passwd}]}}}}`, want: "from"},
		"another precision":              {spec: `{model: {id: m, source: {pull: {model: m, precision: int4}}}}`, want: "precision"},
		"a digest that is none":          {spec: `{model: {id: m, source: {image: {}}, sha256: abc}}`, want: "sha256"},

		"espeak by another name": {spec: `{model: {id: m, source: {image: {}}}}`, want: "espeak-ng-hinglish"},
		"espeak with a digest":   {spec: `{model: {id: espeak-ng-hinglish, source: {image: {}}, sha256: ` + sum + `}}`, want: "sha256"},

		"two voices of one name": {spec: `{voices: [{name: anjura}, {name: anjura}]}`, want: "Duplicate"},
		"two voices":             {spec: `{voices: [{name: anjura}, {name: raj}]}`},

		"min above max":             {spec: `{scaling: {minReplicas: 5, maxReplicas: 4}}`, want: "must not be above maxReplicas"},
		"min equal to max":          {spec: `{scaling: {minReplicas: 4, maxReplicas: 4}}`},
		"to zero with a minimum":    {spec: `{scaling: {minReplicas: 1, idleSecondsToZero: 60}}`, want: "wants minReplicas 0"},
		"to zero":                   {spec: `{scaling: {minReplicas: 0, idleSecondsToZero: 60}}`},
		"to zero too soon":          {spec: `{scaling: {minReplicas: 0, idleSecondsToZero: 29}}`, want: "idleSecondsToZero"},
		"a mode that is none":       {spec: `{scaling: {mode: Sometimes}}`, want: "scaling.mode"},
		"automatic with a number":   {spec: `{replicas: 3, scaling: {mode: Automatic}}`},
		"manual without a number":   {spec: `{scaling: {mode: Manual}}`},
		"a utilisation of 9":        {spec: `{scaling: {targetSlotUtilizationPercent: 9}}`, want: "targetSlotUtilizationPercent"},
		"a utilisation of 10":       {spec: `{scaling: {targetSlotUtilizationPercent: 10}}`},
		"a utilisation of 101":      {spec: `{scaling: {targetSlotUtilizationPercent: 101}}`, want: "targetSlotUtilizationPercent"},
		"growing to the same":       {spec: `{scaling: {scaleUp: {maxFactor: 1}}}`, want: "maxFactor"},
		"fewer than no pods":        {spec: `{replicas: -1}`, want: "replicas"},
		"no pods":                   {spec: `{replicas: 0}`},
		"a queue of 64":             {spec: `{router: {queue: {capacity: 64}}}`},
		"a queue of 65":             {spec: `{router: {queue: {capacity: 65}}}`, want: "capacity"},
		"waiting for ten seconds":   {spec: `{router: {queue: {maxWaitMilliseconds: 10000}}}`},
		"waiting for longer":        {spec: `{router: {queue: {maxWaitMilliseconds: 10001}}}`, want: "maxWaitMilliseconds"},
		"a drain of 120 s":          {spec: `{rollout: {drainTimeoutSeconds: 120}}`},
		"a drain of 119 s":          {spec: `{rollout: {drainTimeoutSeconds: 119}}`, want: "would be cut"},
		"a drain of 601 s":          {spec: `{rollout: {drainTimeoutSeconds: 601}}`, want: "drainTimeoutSeconds"},
		"a proxy that is a network": {spec: `{router: {trustedProxies: [10.0.0.0/8, "fd00::/8"]}}`},
		"two dialects":              {spec: `{router: {dialects: [openai, bridge]}}`},
		"a token of Twilio":         {spec: `{router: {twilioTokenSecretRef: {name: twilio, key: token}}}`},
		"a token, and the bridge":   {spec: `{router: {dialects: [bridge, openai], twilioTokenSecretRef: {name: twilio, key: token}}}`},
		"a token without a bridge":  {spec: `{router: {dialects: [openai], twilioTokenSecretRef: {name: twilio, key: token}}}`, want: "wants bridge"},
		"a token of no dialects":    {spec: `{router: {dialects: [none], twilioTokenSecretRef: {name: twilio, key: token}}}`, want: "wants bridge"},
		"a token without its key":   {spec: `{router: {twilioTokenSecretRef: {name: twilio}}}`, want: "key"},
		"no dialect":                {spec: `{router: {dialects: [none]}}`},
		"no dialect and one":        {spec: `{router: {dialects: [none, openai]}}`, want: "none stands alone"},
		"an unknown dialect":        {spec: `{router: {dialects: [azure]}}`, want: "dialects[0]"},
		"an empty list of dialects": {spec: `{router: {dialects: []}}`, want: "dialects"},
		"a proxy that is a host":    {spec: `{router: {trustedProxies: [10.0.0.1]}}`, want: "want a network"},
		"a disclosure": {
			spec: `{router: {labelling: {disclosure: "यह ए आई की आवाज़ है।", disclosureRequired: true, serviceName: Asha Bank}}}`,
		},
		"the longest disclosure":       {spec: `{router: {labelling: {disclosure: "` + strings.Repeat("क", 400) + `"}}}`},
		"a longer one":                 {spec: `{router: {labelling: {disclosure: "` + strings.Repeat("क", 401) + `"}}}`, want: "disclosure"},
		"one that is not heard":        {spec: `{router: {labelling: {disclosure: "..."}}}`, want: "disclosure"},
		"one that is required, but no": {spec: `{router: {labelling: {disclosureRequired: true}}}`, want: "wants a disclosure"},
		"a service in another script":  {spec: `{router: {labelling: {serviceName: "आवाज़"}}}`, want: "serviceName"},
		"the longest name of one":      {spec: `{router: {labelling: {serviceName: "` + strings.Repeat("n", 80) + `"}}}`},
		"a longer name":                {spec: `{router: {labelling: {serviceName: "` + strings.Repeat("n", 81) + `"}}}`, want: "serviceName"},

		"a key grace of 59 s": {spec: `{router: {keyGraceSeconds: 59}}`, want: "keyGraceSeconds"},

		"as many CPUs as workers":  {spec: `{runtime: {workersPerPod: 4, cpus: 4}}`},
		"fewer CPUs than workers":  {spec: `{runtime: {workersPerPod: 4, cpus: 3}}`, want: "must equal workersPerPod"},
		"fewer CPUs, shared":       {spec: `{runtime: {workersPerPod: 4, cpus: 3, cpuPolicy: Shared}}`},
		"64 workers":               {spec: `{runtime: {workersPerPod: 64}}`},
		"65 workers":               {spec: `{runtime: {workersPerPod: 65}}`, want: "workersPerPod"},
		"the tag latest":           {spec: `{runtime: {image: "swar/worker:latest"}}`, want: "another one tomorrow"},
		"no tag":                   {spec: `{runtime: {image: "swar/worker"}}`, want: "its version or its digest"},
		"no tag, but a port":       {spec: `{router: {image: "localhost:5000/router"}}`, want: "its version or its digest"},
		"an empty tag":             {spec: `{router: {image: "swar/router:"}}`, want: "its version or its digest"},
		"what is not an image":     {spec: `{runtime: {image: "FOO bar::1"}}`, want: "its version or its digest"},
		"a port and a tag":         {spec: `{runtime: {image: "localhost:5000/worker:1.0"}}`},
		"a tag and a digest":       {spec: `{router: {image: "swar/router:1@sha256:` + sum + `"}}`},
		"an image volume, no tag":  {spec: `{model: {id: m, source: {oci: {reference: "Bad Ref:"}}}}`, want: "its tag or its digest"},
		"routers of the tag":       {spec: `{router: {image: "swar/router:latest"}}`, want: "another one tomorrow"},
		"a variable":               {spec: `{runtime: {env: [{name: OMP_NUM_THREADS, value: "1"}]}}`},
		"a variable of a Secret":   {spec: `{runtime: {env: [{name: A, secretKeyRef: {name: s, key: k}}]}}`},
		"a variable of both":       {spec: `{runtime: {env: [{name: A, value: "", secretKeyRef: {name: s, key: k}}]}}`, want: "exactly one of value and secretKeyRef"},
		"a variable of neither":    {spec: `{runtime: {env: [{name: A}]}}`, want: "exactly one of value and secretKeyRef"},
		"a setting as a variable":  {spec: `{runtime: {env: [{name: SWAR_LOG_LEVEL, value: debug}]}}`, want: "are settings"},
		"keys without a Secret":    {spec: `{access: {mode: Keys}}`, want: "wants secretName"},
		"keys":                     {spec: `{access: {mode: Keys, secretName: keys}}`},
		"open with keys":           {spec: `{access: {mode: Open, secretName: keys}}`, want: "leave secretName out"},
		"the portal's Secret":      {spec: `{access: {mode: Portal, secretName: portal}}`},
		"certificates of others":   {spec: `{security: {internalTLS: Secret, secretPrefix: tls}}`},
		"of others, from nowhere":  {spec: `{security: {internalTLS: Secret}}`, want: "wants secretPrefix"},
		"of nobody, from a Secret": {spec: `{security: {internalTLS: Mesh, secretPrefix: tls}}`, want: "wants secretPrefix"},
		"a trace to nowhere":       {spec: `{observability: {tracing: {endpoint: "collector:4317"}}}`, want: "endpoint"},
		"half of the traces":       {spec: `{observability: {tracing: {endpoint: "http://collector:4317", samplePerThousand: 500}}}`},
		"more than all traces":     {spec: `{observability: {tracing: {endpoint: "http://c:1", samplePerThousand: 1001}}}`, want: "samplePerThousand"},
	} {
		t.Run(name, func(t *testing.T) {
			u := fleetWith(t, namespace, tt.name, tt.spec)
			err := c.Create(t.Context(), u, client.DryRunAll)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// fleetWith is a fleet of espeak with other fields in its spec.
func fleetWith(t *testing.T, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	if name == "" {
		name = "fleet"
	}
	u := parse(t, namespace, fleetYAML(name))
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		t.Fatal(err)
	}
	for k, v := range fields {
		if err := unstructured.SetNestedField(u.Object, v, "spec", k); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func TestAModelKeepsItsName(t *testing.T) {
	c, namespace := open(t)
	u := fleetWith(t, namespace, "", `{}`)
	if err := c.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(u.Object, "other", "spec", "model", "id"); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(t.Context(), u); err == nil || !strings.Contains(err.Error(), "make a new TTSDeployment") {
		t.Errorf("got %v, want it refused", err)
	}
}

// TestUnknownFieldsAreRefused by those who ask for that, as kubectl does.
func TestUnknownFieldsAreRefused(t *testing.T) {
	c, namespace := open(t)
	u := fleetWith(t, namespace, "", `{runtime: {worker: 3}}`)
	strict := client.WithFieldValidation(c, "Strict")
	if err := strict.Create(t.Context(), u, client.DryRunAll); err == nil ||
		!strings.Contains(err.Error(), "unknown field") {
		t.Errorf("got %v, want it refused", err)
	}
}
