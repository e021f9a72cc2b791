package resources_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/resources"
)

var update = flag.Bool("update", false, "write the objects that samples give")

// release is what tests build with.
var release = resources.Release{
	WorkerImage: "swar-worker:test", RouterImage: "swar-router:test",
	OperatorNamespace: "swar-system", OperatorLabels: map[string]string{resources.LabelName: "swar-operator"},
	Kinds: resources.Kinds{PodMonitor: true, PrometheusRule: true},
	Rules: func(d *v1alpha1.TTSDeployment) map[string]any {
		return map[string]any{"groups": []any{map[string]any{"name": d.Namespace + "/" + d.Name}}}
	},
	Dashboard: func(d *v1alpha1.TTSDeployment) string { return `{"title": "` + d.Name + `"}` },
}

// samples are the TTSDeployments of config/samples, as the API server would keep them, by the name of their file.
func samples(t testing.TB) map[string]*v1alpha1.TTSDeployment {
	t.Helper()
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	all := map[string]*v1alpha1.TTSDeployment{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n---\n") {
			if strings.Contains(part, "kind: "+v1alpha1.Kind+"\nmetadata:") {
				all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = parse(t, part)
			}
		}
	}
	if len(all) != len(files) {
		t.Errorf("%d TTSDeployments in %d files", len(all), len(files))
	}
	return all
}

// parse reads a TTSDeployment, with the defaults of the schema, and refuses fields that there are not.
func parse(t testing.TB, text string) *v1alpha1.TTSDeployment {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	fill(object, schema(t))
	full, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	d := new(v1alpha1.TTSDeployment)
	if err := yaml.UnmarshalStrict(full, d); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	d.Namespace, d.UID = "shop", "5f6e1c9e-0000-4000-8000-000000000000"
	return d
}

// schema is that of config/crd.
func schema(t testing.TB) *apiextensions.JSONSchemaProps {
	t.Helper()
	text, err := os.ReadFile("../../config/crd/swar.dev_ttsdeployments.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensions.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// fill gives an object the defaults of a schema, from the outside to the inside, as the API server does.
func fill(object map[string]any, s *apiextensions.JSONSchemaProps) {
	for name, property := range s.Properties {
		if _, ok := object[name]; !ok && property.Default != nil {
			var value any
			if err := yaml.Unmarshal(property.Default.Raw, &value); err != nil {
				panic(err) // of the CRD
			}
			object[name] = value
		}
		if inner, ok := object[name].(map[string]any); ok {
			fill(inner, &property)
		}
	}
}

// of makes a TTSDeployment of a spec in YAML, which is added to the least one.
func of(t testing.TB, spec string) *v1alpha1.TTSDeployment {
	t.Helper()
	if !strings.Contains(spec, "model:") {
		spec = "model: {id: espeak-ng-hinglish, source: {image: {}}}\n" + spec
	}
	lines := strings.Split(strings.TrimSpace(spec), "\n")
	return parse(t, "metadata: {name: hindi}\nspec:\n  "+strings.Join(lines, "\n  "))
}

// TestWhatSamplesGive compares every object of every sample with what stands in testdata, which `go test -update`
// writes.
func TestWhatSamplesGive(t *testing.T) {
	var written []string
	for name, d := range samples(t) {
		var got bytes.Buffer
		for _, object := range resources.Build(release, d, resources.Facts{Workers: 2}) {
			text, err := yaml.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			got.WriteString("---\n")
			got.Write(text)
		}
		file := filepath.Join("testdata", name+".yaml")
		written = append(written, file)
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s gives other objects than %s (%v); if they are meant, go test -update", name, file, err)
		}
	}
	files, err := filepath.Glob("testdata/*.yaml")
	slices.Sort(written)
	if err != nil || !slices.Equal(files, written) {
		t.Errorf("testdata holds %v (%v), want %v", files, err, written)
	}
}
