package convert

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// TestFloats: the copy has the ports of the export, tells durations, and has no products of integers.
func TestFloats(t *testing.T) {
	export := madeUp(tiny, true, nil)
	var file bytes.Buffer
	if err := Floats(t.Context(), &file, export); err != nil {
		t.Fatal(err)
	}
	parts, err := graph.ReadParts(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parts.Nodes {
		if strings.Contains(n.Op, "Integer") || strings.Contains(n.Op, "Quantize") {
			t.Errorf("the node %s is a %s", n.Name, n.Op)
		}
	}
	s, err := graph.ReadSignature(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var ports []string
	for _, p := range append(s.Inputs, s.Outputs...) {
		ports = append(ports, p.Name)
	}
	if want := []string{tokensInput, styleInput, speedInput, "samples", "durations"}; !slices.Equal(ports, want) {
		t.Errorf("its ports are %q, want %q", ports, want)
	}
	if err := Floats(t.Context(), &file, []byte("no graph")); err == nil {
		t.Error("of no graph: want an error")
	}
}
