package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is one of values.yaml, with what its comment says.
type value struct {
	path     string // a.b.c
	name     string
	about    string // in plain sentences
	rules    map[string]string
	node     *yaml.Node
	children []*value // of an object whose fields are known
}

// kinds are rules that stand for a pattern.
var kinds = map[string]string{
	"tag":      `[A-Za-z0-9_][A-Za-z0-9._-]{0,127}`,
	"digest":   `sha256:[0-9a-f]{64}`,
	"url":      `https?://\S+`,
	"quantity": `[0-9]+(\.[0-9]+)?([kMGTPE]i?|m)?`,
}

// namespacePattern is what Kubernetes takes as one.
const namespacePattern = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`

var known = map[string]bool{
	"enum": true, "range": true, "pattern": true, "length": true, "required": true, "items": true, "atleast": true,
	"strings": true, "kubernetes": true, "tag": true, "digest": true, "url": true, "quantity": true,
}

// parseValues reads values.yaml. The first comment, up to an empty line, is about the file.
func parseValues(text []byte) (*value, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("want one object")
	}
	root := &value{node: document.Content[0], rules: map[string]string{}}
	return root, root.descend()
}

// descend reads the fields of an object.
func (v *value) descend() error {
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key, node := v.node.Content[i], v.node.Content[i+1]
		child := &value{path: key.Value, name: key.Value, node: node}
		if v.path != "" {
			child.path = v.path + "." + key.Value
		}
		if err := child.describe(key.HeadComment); err != nil {
			return fmt.Errorf("%s: %w", child.path, err)
		}
		isOpen := child.has("strings") || child.has("kubernetes")
		if node.Kind == yaml.MappingNode && !isOpen {
			if len(node.Content) == 0 {
				return fmt.Errorf("%s: say @strings or @kubernetes of an object without fields", child.path)
			}
			if err := child.descend(); err != nil {
				return err
			}
		}
		v.children = append(v.children, child)
	}
	return nil
}

// describe splits a comment into sentences and rules.
func (v *value) describe(comment string) error {
	v.rules = map[string]string{}
	var lines []string
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#"))
		rule, isRule := strings.CutPrefix(line, "@")
		if !isRule {
			lines = append(lines, line)
			continue
		}
		name, argument, _ := strings.Cut(rule, " ")
		if !known[name] {
			return fmt.Errorf("there is no rule @%s", name)
		}
		v.rules[name] = argument
	}
	v.about = strings.TrimSpace(strings.Join(lines, " "))
	if v.about == "" {
		return errors.New("a comment is missing that says what it is")
	}
	if v.node.Kind == yaml.SequenceNode && v.rules["items"] == "" {
		return errors.New("say with @items what the list holds")
	}
	return nil
}

func (v *value) has(rule string) bool {
	_, ok := v.rules[rule]
	return ok
}

// schema is that of the value, closed.
func (v *value) schema() map[string]any {
	s := map[string]any{}
	if v.about != "" {
		s["description"] = v.about
	}
	switch {
	case v.has("strings"):
		s["type"], s["additionalProperties"] = "object", map[string]any{"type": "string"}
	case v.has("kubernetes"):
		s["type"] = "object"
	case v.node.Kind == yaml.MappingNode:
		properties := map[string]any{}
		for _, c := range v.children {
			properties[c.name] = c.schema()
		}
		s["type"], s["properties"], s["additionalProperties"] = "object", properties, false
	case v.node.Kind == yaml.SequenceNode:
		v.list(s)
	default:
		v.scalar(s)
	}
	return s
}

func (v *value) list(s map[string]any) {
	s["type"] = "array"
	switch of := v.rules["items"]; of {
	case "namespace":
		s["items"] = map[string]any{"type": "string", "pattern": namespacePattern}
	case "string":
		s["items"] = map[string]any{"type": "string", "minLength": 1}
	default:
		s["items"] = map[string]any{"type": of}
	}
	if least, err := strconv.Atoi(v.rules["atleast"]); err == nil {
		s["minItems"] = least
	}
}

// scalar adds what a text, a number or a switch may be.
func (v *value) scalar(s map[string]any) {
	switch v.node.Tag {
	case "!!bool":
		s["type"] = "boolean"
		return
	case "!!int":
		s["type"] = "integer"
	default:
		s["type"] = "string"
	}
	if choices := v.rules["enum"]; choices != "" {
		s["enum"] = strings.Split(choices, "|")
	}
	if least, most, ok := strings.Cut(v.rules["range"], ".."); ok {
		s["minimum"], s["maximum"] = number(least), number(most)
	}
	if pattern := v.rules["pattern"]; pattern != "" {
		s["pattern"] = pattern
	}
	if most := v.rules["length"]; most != "" {
		s["maxLength"] = number(most)
	}
	if v.has("required") {
		s["minLength"] = 1
	}
	if v.has("tag") {
		s["not"] = map[string]any{"const": "latest"}
	}
	for kind, pattern := range kinds {
		if !v.has(kind) {
			continue
		}
		s["pattern"] = "^" + pattern + "$"
		if v.node.Value == "" {
			s["pattern"] = "^(" + pattern + ")?$"
		}
	}
}

// number is one of a rule.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("a rule wants a whole number in place of %q", text)) // values.yaml is ours
	}
	return n
}
