package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestGeneratedFiles are what their sources give.
func TestGeneratedFiles(t *testing.T) {
	if *update {
		t.Skip("they are written after what they follow from")
	}
	files, err := generate("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile("../../" + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date (%v); run go generate ./hack/chart", name, err)
		}
	}
}

// TestCommentsOfValues: what they may say, and what is refused.
func TestCommentsOfValues(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a value without a comment":    {"a: 1", "a: a comment is missing"},
		"a comment of rules alone":     {"# @range 1..2\na: 1", "a: a comment is missing"},
		"a rule that there is not":     {"# A.\n# @ranges 1..2\na: 1", "no rule @ranges"},
		"a list of whatever":           {"# A.\na: []", "say with @items"},
		"an object without fields":     {"# A.\na: {}", "say @strings or @kubernetes"},
		"a field without a comment":    {"# A.\na:\n  b: 1", "a.b: a comment is missing"},
		"a list in place of an object": {"- a", "want one object"},
		"everything said":              {"# A.\na:\n  # B.\n  # @items string\n  b: []\n  # C.\n  # @strings\n  c: {}", ""},
	} {
		_, err := parseValues([]byte(tt.text))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want something with %q", name, err, tt.want)
		}
	}
}

// TestDefinitionsThatCannotBeATemplate are refused.
func TestDefinitionsThatCannotBeATemplate(t *testing.T) {
	const good = "---\nkind: A\nmetadata:\n  annotations:\n    v: 1\n  name: a\nspec: {}\n"
	for name, tt := range map[string]struct{ crd, want string }{
		"as it is written":    {good, ""},
		"with an action":      {good + "# {{ x }}\n", "{{"},
		"without annotations": {"---\nkind: A\nmetadata:\n  name: a\n", "no annotations"},
		"without a name":      {"---\nkind: A\n", "no annotations"},
	} {
		_, err := crdTemplate(tt.crd)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want something with %q", name, err, tt.want)
		}
	}
}
