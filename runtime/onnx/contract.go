package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
)

// checkContract compares what a graph declares with what the manifest says about it. The engine calls graphs with memory of its own,
// so that a tensor of another type or size must be found before the first run.
func checkContract(graph []byte, g bundle.Graph) error {
	inputs, outputs, err := ort.Contract(graph)
	if err != nil {
		return fmt.Errorf("the graph cannot be read: %w", err)
	}
	for _, side := range []struct {
		name     string
		declared []string
		wanted   []bundle.Value
	}{{"input", inputs, g.Inputs}, {"output", outputs, g.Outputs}} {
		var wanted []string
		for _, v := range side.wanted {
			wanted = append(wanted, describe(v))
		}
		for _, line := range wanted {
			if !slices.Contains(side.declared, line) {
				return fmt.Errorf("the manifest has an %s %q, the graph has %q: convert the model again", side.name, line, named(side.declared, line))
			}
		}
		for _, line := range side.declared {
			if !slices.Contains(wanted, line) {
				return fmt.Errorf("the graph has an %s %q that the manifest does not know: convert the model again", side.name, line)
			}
		}
	}
	return nil
}

// describe writes a value as [ort.Contract] does, which has -1 for every size that varies.
func describe(v bundle.Value) string {
	types := map[string]string{"f32": "float", "i32": "int32", "i64": "int64"}
	dims := make([]string, len(v.Dims))
	for i, d := range v.Dims {
		if dims[i] = d; strings.Trim(d, "0123456789") != "" {
			dims[i] = "-1"
		}
	}
	return fmt.Sprintf("%s %s [%s]", v.Name, types[v.Type], strings.Join(dims, " "))
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
