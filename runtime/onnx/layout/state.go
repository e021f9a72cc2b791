package layout

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
)

// maxStates and maxStateBytes bound what a description can ask for. A model of 24 layers has 72 states of 200 MB
// together.
const (
	maxStates     = 1024
	maxStateBytes = 1 << 30 // of all states of a graph
)

// state is an array that a graph hands from run to run.
type state struct {
	input, output string
	path          string // module/key, as a stored voice calls it; empty where nothing says so
	typ           graph.Type
	shape         []int
	fill          string // what it starts with: nan, zeros, ones or empty
	// still says that it never changes, because it holds nothing or comes out as it went in: the graph need not
	// return it, and all streams share one.
	still bool
}

// count returns the number of values, or one that is too large if there are too many to count.
func (s *state) count() int {
	n := 1
	for _, d := range s.shape {
		if d > 0 && n > maxStateBytes/d {
			n, d = maxStateBytes+1, min(d, 1)
		}
		n *= d
	}
	return n
}

func (s *state) bytes() int64 {
	size := map[graph.Type]int64{graph.F32: 4, graph.I64: 8, graph.Bool: 1}[s.typ]
	return int64(s.count()) * size
}

// checkStates compares described states with what the graph declares, and finds out which of them change.
func checkStates(states []state, g *graph.Signature) error {
	if len(states) == 0 {
		return errors.New("it has no states")
	}
	total := int64(0)
	for i := range states {
		s := &states[i]
		in, ok := g.Input(s.input)
		if !ok {
			return fmt.Errorf("state %s is not an input of the graph", s.input)
		}
		out, ok := g.Output(s.output)
		if !ok {
			return fmt.Errorf("state %s is not an output of the graph", s.output)
		}
		switch s.typ {
		case graph.F32, graph.I64, graph.Bool:
		default:
			return fmt.Errorf("state %s is %v, only float32, int64 and bool are supported", s.input, s.typ)
		}
		for _, p := range []graph.Port{in, out} {
			if p.Type != s.typ {
				return fmt.Errorf("state %s is %v, the graph has %v", p.Name, s.typ, p)
			}
		}
		if len(s.shape) == 0 || !fits(in.Shape, s.shape) {
			return fmt.Errorf("state %s has shape %v, the graph has %v", s.input, s.shape, in)
		}
		if total += s.bytes(); total > maxStateBytes {
			return fmt.Errorf("its states take more than %d bytes", int64(maxStateBytes))
		}
		s.still = s.count() == 0 || g.Same[s.output] == s.input
		if !s.still && !fits(out.Shape, s.shape) {
			return fmt.Errorf("state %s has shape %v, the graph has %v", s.output, s.shape, out)
		}
	}
	return nil
}

// fits reports whether a shape agrees with what is declared.
func fits(declared, shape []int) bool {
	return slices.EqualFunc(declared, shape, func(d, n int) bool { return d == n || d == varies })
}

// deriveStates reads the states off a graph that comes without a description: inputs state_N become outputs
// out_state_N. start says what a state begins with.
func deriveStates(g *graph.Signature, start func(graph.Port) string) ([]state, error) {
	var states []state
	for i := range maxStates {
		in, ok := g.Input("state_" + strconv.Itoa(i))
		if !ok {
			break
		}
		s := state{input: in.Name, output: "out_" + in.Name, typ: in.Type, shape: slices.Clone(in.Shape),
			fill: start(in)}
		for j, n := range s.shape {
			if n != varies {
				continue
			}
			if len(s.shape) != 1 {
				return nil, fmt.Errorf("state %v has no fixed size", in)
			}
			// a list of what was heard, which is never read: only its length was, and a counter says that
			s.shape[j] = 0
		}
		states = append(states, s)
	}
	return states, checkStates(states, g)
}

// varies stands for a dimension of any size.
const varies = graph.Varies

// wantPort is a port that a graph should have.
func wantPort(name string, t graph.Type, shape ...int) graph.Port {
	return graph.Port{Name: name, Type: t, Shape: shape}
}

// checkPorts checks that a graph has the given inputs and outputs beside its states, and no others among its inputs.
func checkPorts(g *graph.Signature, states []state, inputs, outputs []graph.Port) error {
	for _, side := range []struct {
		name string
		find func(name string) (graph.Port, bool)
		want []graph.Port
	}{{"input", g.Input, inputs}, {"output", g.Output, outputs}} {
		for _, w := range side.want {
			p, ok := side.find(w.Name)
			if !ok {
				return fmt.Errorf("it has no %s %s", side.name, w.Name)
			}
			agrees := slices.EqualFunc(p.Shape, w.Shape,
				func(a, b int) bool { return a == b || a == varies || b == varies })
			if p.Type != w.Type || !agrees {
				return fmt.Errorf("its %s %v should be %v", side.name, p, w)
			}
		}
	}
	for _, p := range g.Inputs {
		known := slices.ContainsFunc(inputs, func(in graph.Port) bool { return in.Name == p.Name })
		if !known && !slices.ContainsFunc(states, func(s state) bool { return s.input == p.Name }) {
			return fmt.Errorf("its input %s is unknown", p.Name)
		}
	}
	return nil
}

// array is the memory of a state.
type array struct {
	floats []float32
	ints   []int64
	bits   []bool
	tensor *ort.Tensor
}

func newArray(s *state) (a array, err error) {
	switch n := s.count(); s.typ {
	case graph.F32:
		a.floats = make([]float32, n)
		a.tensor, err = ort.Floats(a.floats, s.shape...)
	case graph.I64:
		a.ints = make([]int64, n)
		a.tensor, err = ort.Int64s(a.ints, s.shape...)
	case graph.Bool:
		a.bits = make([]bool, n)
		a.tensor, err = ort.Bools(a.bits, s.shape...)
	}
	if err != nil {
		return array{}, fmt.Errorf("state %s: %w", s.input, err)
	}
	a.start(s)
	return a, nil
}

// start gives the array the values that its state starts with.
func (a *array) start(s *state) {
	fillWith(a.floats, s.filler())
	for i := range a.ints {
		a.ints[i] = 0
		if s.fill == "ones" {
			a.ints[i] = 1
		}
	}
	for i := range a.bits {
		a.bits[i] = s.fill == "ones"
	}
}

// filler is the value that a state of floats starts with.
func (s *state) filler() float32 {
	switch s.fill {
	case "nan":
		return float32(math.NaN())
	case "ones":
		return 1
	}
	return 0
}

func fillWith(values []float32, v float32) {
	for i := range values {
		values[i] = v
	}
}

// moduleOf returns the module of the state that a path names.
func moduleOf(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }
