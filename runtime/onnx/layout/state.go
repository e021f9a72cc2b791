package layout

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
)

// maxStates and maxStateBytes bound what a description can ask for. A model of 24 layers has 72 states of 200 MB together.
const (
	maxStates     = 1024
	maxStateBytes = 1 << 30 // of all states of a graph
)

// state is an array that a graph hands from run to run.
type state struct {
	input, output string
	path          string // module/key, as a stored voice calls it; empty where nothing says so
	typ           element
	shape         []int
	fill          string // what it starts with: nan, zeros, ones or empty
	// still says that it never changes, because it holds nothing or comes out as it went in: the graph need not return it, and all
	// streams share one.
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
	size := map[element]int64{f32: 4, i64: 8, bit: 1}[s.typ]
	return int64(s.count()) * size
}

// checkStates compares described states with what the graph declares, and finds out which of them change.
func checkStates(states []state, g *signature) error {
	if len(states) == 0 {
		return errors.New("it has no states")
	}
	total := int64(0)
	for i := range states {
		s := &states[i]
		in, ok := g.input(s.input)
		if !ok {
			return fmt.Errorf("state %s is not an input of the graph", s.input)
		}
		out, ok := g.output(s.output)
		if !ok {
			return fmt.Errorf("state %s is not an output of the graph", s.output)
		}
		switch s.typ {
		case f32, i64, bit:
		default:
			return fmt.Errorf("state %s is %v, only float32, int64 and bool are supported", s.input, s.typ)
		}
		for _, p := range []port{in, out} {
			if p.typ != s.typ {
				return fmt.Errorf("state %s is %v, the graph has %v", p.name, s.typ, p)
			}
		}
		if len(s.shape) == 0 || !fits(in.shape, s.shape) {
			return fmt.Errorf("state %s has shape %v, the graph has %v", s.input, s.shape, in)
		}
		if total += s.bytes(); total > maxStateBytes {
			return fmt.Errorf("its states take more than %d bytes", int64(maxStateBytes))
		}
		s.still = s.count() == 0 || g.same[s.output] == s.input
		if !s.still && !fits(out.shape, s.shape) {
			return fmt.Errorf("state %s has shape %v, the graph has %v", s.output, s.shape, out)
		}
	}
	return nil
}

// fits reports whether a shape agrees with what is declared.
func fits(declared, shape []int) bool {
	return slices.EqualFunc(declared, shape, func(d, n int) bool { return d == n || d == varies })
}

// deriveStates reads the states off a graph that comes without a description: inputs state_N become outputs out_state_N. start says
// what a state begins with.
func deriveStates(g *signature, start func(port) string) ([]state, error) {
	var states []state
	for i := range maxStates {
		in, ok := g.input("state_" + strconv.Itoa(i))
		if !ok {
			break
		}
		s := state{input: in.name, output: "out_" + in.name, typ: in.typ, shape: slices.Clone(in.shape), fill: start(in)}
		for j, n := range s.shape {
			if n != varies {
				continue
			}
			if len(s.shape) != 1 {
				return nil, fmt.Errorf("state %v has no fixed size", in)
			}
			s.shape[j] = 0 // a list of what was heard, which is never read: only its length was, and a counter says that
		}
		states = append(states, s)
	}
	return states, checkStates(states, g)
}

// checkPorts checks that a graph has the given inputs and outputs beside its states, and no others among its inputs.
func checkPorts(g *signature, states []state, inputs, outputs []port) error {
	for _, side := range []struct {
		name       string
		have, want []port
	}{{"input", g.inputs, inputs}, {"output", g.outputs, outputs}} {
		for _, w := range side.want {
			p, ok := find(side.have, w.name)
			if !ok {
				return fmt.Errorf("it has no %s %s", side.name, w.name)
			}
			agrees := slices.EqualFunc(p.shape, w.shape, func(a, b int) bool { return a == b || a == varies || b == varies })
			if p.typ != w.typ || !agrees {
				return fmt.Errorf("its %s %v should be %v", side.name, p, w)
			}
		}
	}
	for _, p := range g.inputs {
		_, ok := find(inputs, p.name)
		if !ok && !slices.ContainsFunc(states, func(s state) bool { return s.input == p.name }) {
			return fmt.Errorf("its input %s is unknown", p.name)
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
	case f32:
		a.floats = make([]float32, n)
		a.tensor, err = ort.Floats(a.floats, s.shape...)
	case i64:
		a.ints = make([]int64, n)
		a.tensor, err = ort.Int64s(a.ints, s.shape...)
	case bit:
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
