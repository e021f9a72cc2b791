package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// checkContract compares what a graph declares with what the manifest says about it. The engine calls graphs with
// memory of its own, so that a tensor of another type or size must be found before the first run.
func checkContract(file []byte, g bundle.Graph) error {
	s, err := graph.ReadSignature(file)
	if err != nil {
		return fmt.Errorf("the graph cannot be read: %w", err)
	}
	for _, side := range []struct {
		name   string
		ports  []graph.Port
		wanted []bundle.Value
	}{{"input", s.Inputs, g.Inputs}, {"output", s.Outputs, g.Outputs}} {
		var declared, wanted []string
		for _, p := range side.ports {
			declared = append(declared, p.String())
		}
		for _, v := range side.wanted {
			wanted = append(wanted, describe(v))
		}
		for _, line := range wanted {
			if !slices.Contains(declared, line) {
				return fmt.Errorf("the manifest has an %s %q, the graph has %q: convert the model again", side.name,
					line, named(declared, line))
			}
		}
		for _, line := range declared {
			if !slices.Contains(wanted, line) {
				return fmt.Errorf("the graph has an %s %q that the manifest does not know: convert the model again",
					side.name, line)
			}
		}
	}
	return nil
}

// describe writes a value as [graph.Port] does.
func describe(v bundle.Value) string {
	dims := make([]string, len(v.Dims))
	for i, d := range v.Dims {
		if dims[i] = d; strings.Trim(d, "0123456789") != "" {
			dims[i] = strconv.Itoa(graph.Varies)
		}
	}
	return fmt.Sprintf("%s %s [%s]", v.Name, v.Type, strings.Join(dims, " "))
}

// named returns the line that begins with the same name, or "nothing of that name".
func named(lines []string, like string) string {
	name, _, _ := strings.Cut(like, " ")
	for _, line := range lines {
		if strings.HasPrefix(line, name+" ") {
			return line
		}
	}
	return "nothing of that name"
}
