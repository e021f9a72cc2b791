package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readmeOf is the introduction and a table of all values for each section.
func readmeOf(values *value) string {
	var b strings.Builder
	b.WriteString("<!-- Written by go generate ./hack/chart, from hack/chart/intro.md and the comments of values.yaml. -->\n")
	b.WriteString(intro)
	b.WriteString("\n## Values\n\nNames that are not here are refused, before anything is installed.\n")
	top := &value{}
	for _, v := range values.children {
		if len(v.children) == 0 {
			top.children = append(top.children, v)
		}
	}
	top.table(&b)
	for _, v := range values.children {
		if len(v.children) > 0 {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n", v.name, v.about)
			v.table(&b)
		}
	}
	return b.String()
}

// table has a line for every value below v.
func (v *value) table(b *strings.Builder) {
	b.WriteString("\n| value | default | |\n|---|---|---|\n")
	v.lines(b)
}

func (v *value) lines(b *strings.Builder) {
	for _, c := range v.children {
		if len(c.children) > 0 {
			fmt.Fprintf(b, "| `%s` | | *%s* |\n", c.path, cell(c.about))
			c.lines(b)
			continue
		}
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", c.path, cell(c.example()), cell(c.meaning()))
	}
}

// meaning is what the comment says, and what may be chosen.
func (v *value) meaning() string {
	switch {
	case v.rules["enum"] != "":
		return v.about + " One of `" + strings.ReplaceAll(v.rules["enum"], "|", "`, `") + "`."
	case v.rules["range"] != "":
		return v.about + " " + strings.Replace(v.rules["range"], "..", " to ", 1) + "."
	}
	return v.about
}

// example is the default in one line.
func (v *value) example() string {
	var plain any
	if err := v.node.Decode(&plain); err != nil {
		panic(err) // it was read already
	}
	if v.node.Kind == yaml.ScalarNode && v.node.Value != "" {
		return v.node.Value
	}
	text, err := json.Marshal(plain)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
