// Command chart writes generated files: values.schema.json of charts/swar from the comments of values.yaml, the
// template of the CRD from config/crd, and the objects of config from the rendered templates in testdata.
//
// A comment before a value describes it. A line of it that begins with @ narrows the value:
//
//	@enum a|b         one of these
//	@range 1..9       a whole number of that range
//	@pattern ^a$      a text like that
//	@length 40        a text of at most this many characters
//	@required         a text that is not empty
//	@tag, @digest, @url, @quantity
//	                  a text of this form, or empty if the default is empty
//	@items string     a list of texts; of namespace, or of object for any object of Kubernetes
//	@atleast 1        a list of at least this length
//	@strings          a map of texts with any names
//	@kubernetes       any field of Kubernetes
//
// Everything else follows from the default, and other values are refused.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../..

const (
	chart      = "charts/swar"
	definition = "config/crd/swar.dev_ttsdeployments.yaml"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	files, err := generate(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "chart:", err)
			os.Exit(1)
		}
	}
}

// generate returns the files that follow from others, by their names below root.
func generate(root string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, chart, "values.yaml"))
	if err != nil {
		return nil, err
	}
	values, err := parseValues(text)
	if err != nil {
		return nil, fmt.Errorf("%s/values.yaml: %w", chart, err)
	}
	schema, err := schemaOf(values)
	if err != nil {
		return nil, err
	}
	crd, err := os.ReadFile(filepath.Join(root, definition))
	if err != nil {
		return nil, err
	}
	template, err := crdTemplate(string(crd))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", definition, err)
	}
	files, err := configOf(root)
	if err != nil {
		return nil, err
	}
	files[chart+"/values.schema.json"] = schema
	files[chart+"/templates/crds.yaml"] = []byte(template)
	return files, nil
}

// schemaOf writes the schema of all values. A chart that has this one as a part may give it `global`.
func schemaOf(values *value) ([]byte, error) {
	root := values.schema()
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "Values of the chart swar"
	root["properties"].(map[string]any)["global"] = map[string]any{
		"type": "object", "description": "What a parent chart shares. Nothing here reads it.",
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(root)
	return b.Bytes(), err
}
