package layout

import (
	"context"
	"errors"
	"fmt"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
)

// network is a loaded graph with its states. It is safe for concurrent use.
type network struct {
	session *ort.Session
	states  []state
	still   []array // of the states that never change; the others are empty
	bytes   int64   // of the file
}

// openNetwork loads a graph. inputs and outputs come before the states, in this order.
func openNetwork(file []byte, states []state, inputs, outputs []graph.Port) (*network, error) {
	n := &network{states: states, still: make([]array, len(states)), bytes: int64(len(file))}
	var in, out []string
	for _, p := range inputs {
		in = append(in, p.Name)
	}
	for _, p := range outputs {
		out = append(out, p.Name)
	}
	var err error
	for i := range states {
		s := &states[i]
		in = append(in, s.input)
		if !s.still {
			out = append(out, s.output)
			continue
		}
		if n.still[i], err = newArray(s); err != nil {
			return nil, errors.Join(err, n.close())
		}
	}
	if n.session, err = ort.Open(file, in, out); err != nil {
		return nil, errors.Join(fmt.Errorf("ONNX Runtime cannot load it: %w", err), n.close())
	}
	return n, nil
}

func (n *network) close() error {
	if n == nil {
		return nil
	}
	var err error
	if n.session != nil {
		err = n.session.Close()
		n.session = nil
	}
	for i := range n.still {
		err = errors.Join(err, n.still[i].tensor.Close())
	}
	return err
}

// memory is what one stream remembers in a network. A run reads the present set of states and writes the other one,
// because these graphs may read a state after they have begun to write it. It is not safe for concurrent use.
type memory struct {
	network         *network
	sets            [2][]array
	present         int // which of the sets
	inputs, outputs []*ort.Tensor
}

func (n *network) newMemory() (*memory, error) {
	m := &memory{network: n}
	for i := range m.sets {
		m.sets[i] = make([]array, len(n.states))
		for j := range n.states {
			if n.states[j].still {
				continue
			}
			var err error
			if m.sets[i][j], err = newArray(&n.states[j]); err != nil {
				return nil, errors.Join(err, m.close())
			}
		}
	}
	return m, nil
}

// bytes is the size of what newMemory allocates.
func (n *network) memoryBytes() int64 {
	total := int64(0)
	for i := range n.states {
		if s := &n.states[i]; !s.still {
			total += 2 * s.bytes()
		}
	}
	return total
}

// now returns the present values of a state that changes.
func (m *memory) now(i int) *array { return &m.sets[m.present][i] }

// start forgets everything.
func (m *memory) start() {
	for i := range m.network.states {
		m.now(i).start(&m.network.states[i])
	}
}

// run moves the states on. After an error they are what they were.
func (m *memory) run(ctx context.Context, inputs, outputs []*ort.Tensor) error {
	m.inputs, m.outputs = append(m.inputs[:0], inputs...), append(m.outputs[:0], outputs...)
	for i := range m.network.states {
		if m.network.states[i].still {
			m.inputs = append(m.inputs, m.network.still[i].tensor)
			continue
		}
		m.inputs = append(m.inputs, m.now(i).tensor)
		m.outputs = append(m.outputs, m.sets[1-m.present][i].tensor)
	}
	if err := m.network.session.Run(ctx, m.inputs, m.outputs); err != nil {
		return err
	}
	m.present = 1 - m.present
	return nil
}

func (m *memory) close() error {
	if m == nil {
		return nil
	}
	var err error
	for _, set := range m.sets {
		for i := range set {
			err = errors.Join(err, set[i].tensor.Close())
		}
	}
	return err
}

// tensors makes many tensors and remembers the first error.
type tensors struct {
	all []*ort.Tensor
	err error
}

func (t *tensors) floats(values []float32, shape ...int) *ort.Tensor {
	tensor, err := ort.Floats(values, shape...)
	if err != nil {
		t.err = errors.Join(t.err, fmt.Errorf("making a tensor: %w", err))
		return nil
	}
	t.all = append(t.all, tensor)
	return tensor
}

func (t *tensors) close() error {
	var err error
	for _, tensor := range t.all {
		err = errors.Join(err, tensor.Close())
	}
	t.all = nil
	return err
}
