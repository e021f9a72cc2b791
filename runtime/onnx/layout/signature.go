package layout

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// element is the type of the values of a tensor, by its number in the ONNX format.
type element int64

// The elements that these graphs use, and one that they could use.
const (
	f32  element = 1
	i64  element = 7
	bit  element = 9
	f16  element = 10
	none element = 0
)

func (e element) String() string {
	switch e {
	case f32:
		return "float32"
	case i64:
		return "int64"
	case bit:
		return "bool"
	case f16:
		return "float16"
	}
	return fmt.Sprintf("type %d", int64(e))
}

// varies stands for a dimension that is decided by the caller or that the graph does not declare.
const varies = -1

// port is an input or an output of a graph.
type port struct {
	name  string
	typ   element
	shape []int
}

func (p port) String() string { return fmt.Sprintf("%s %v %v", p.name, p.typ, p.shape) }

// signature is what a graph shows to the outside.
type signature struct {
	inputs, outputs []port
	// same holds, by output, the input that comes out there unchanged.
	same map[string]string
}

// input returns the input of the given name.
func (s *signature) input(name string) (port, bool) { return find(s.inputs, name) }

// output returns the output of the given name.
func (s *signature) output(name string) (port, bool) { return find(s.outputs, name) }

func find(ports []port, name string) (port, bool) {
	i := slices.IndexFunc(ports, func(p port) bool { return p.name == name })
	if i < 0 {
		return port{}, false
	}
	return ports[i], true
}

var errNotGraph = errors.New("the file is truncated or not an ONNX graph")

// readSignature reads the inputs and outputs of an ONNX file. Asking ONNX Runtime instead would cost loading the graph a second time,
// and it does not tell which states are only handed through.
func readSignature(file []byte) (signature, error) {
	s := signature{same: map[string]string{}}
	constants, origin := map[string]bool{}, map[string]string{}
	err := messages(file, func(number protowire.Number, graph []byte) error {
		if number != 7 {
			return nil
		}
		return messages(graph, func(number protowire.Number, m []byte) (err error) {
			switch number {
			case 1:
				err = readIdentity(m, origin)
			case 5: // a weight; old files list it as an input too
				err = messages(m, func(number protowire.Number, name []byte) error {
					if number == 8 {
						constants[string(name)] = true
					}
					return nil
				})
			case 11:
				err = appendPort(&s.inputs, m)
			case 12:
				err = appendPort(&s.outputs, m)
			}
			return err
		})
	})
	if err != nil {
		return signature{}, err
	}
	s.inputs = slices.DeleteFunc(s.inputs, func(p port) bool { return constants[p.name] })
	if len(s.inputs) == 0 || len(s.outputs) == 0 {
		return signature{}, errNotGraph
	}
	for _, o := range s.outputs {
		name := o.name
		for range origin { // as many steps as there are edges, should they form a ring
			from, ok := origin[name]
			if !ok {
				break
			}
			name = from
		}
		if _, ok := s.input(name); ok {
			s.same[o.name] = name
		}
	}
	return s, nil
}

// readIdentity notes where the output of a node comes from, if the node changes nothing.
func readIdentity(m []byte, origin map[string]string) error {
	var in, out, op string
	err := messages(m, func(number protowire.Number, value []byte) error {
		switch number {
		case 1:
			in = string(value)
		case 2:
			out = string(value)
		case 4:
			op = string(value)
		}
		return nil
	})
	if op == "Identity" {
		origin[out] = in
	}
	return err
}

func appendPort(to *[]port, m []byte) error {
	const maxRank = 16
	p := port{shape: []int{}}
	err := messages(m, func(number protowire.Number, m []byte) error {
		if number == 1 {
			p.name = string(m)
		}
		if number != 2 {
			return nil
		}
		return messages(m, func(number protowire.Number, tensor []byte) error {
			if number != 1 {
				return nil
			}
			p.typ = element(integer(tensor, 1, int64(none)))
			return messages(tensor, func(number protowire.Number, shape []byte) error {
				if number != 2 {
					return nil
				}
				return messages(shape, func(number protowire.Number, dim []byte) error {
					if len(p.shape) == maxRank {
						return fmt.Errorf("%s has more than %d dimensions", p.name, maxRank)
					}
					if number != 1 {
						return nil
					}
					n := integer(dim, 1, varies)
					if n < 0 || n > math.MaxInt32 {
						n = varies
					}
					p.shape = append(p.shape, int(n))
					return nil
				})
			})
		})
	})
	*to = append(*to, p)
	return err
}

// messages calls f with every field of a message that holds bytes.
func messages(m []byte, f func(number protowire.Number, value []byte) error) error {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return errNotGraph
		}
		m = m[n:]
		if n = protowire.ConsumeFieldValue(number, kind, m); n < 0 {
			return errNotGraph
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(m)
			if err := f(number, value); err != nil {
				return err
			}
		}
		m = m[n:]
	}
	return nil
}

// integer returns an integer field of a message, or else fallback.
func integer(m []byte, number protowire.Number, fallback int64) int64 {
	for len(m) > 0 {
		field, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return fallback
		}
		m = m[n:]
		if field == number && kind == protowire.VarintType {
			v, n := protowire.ConsumeVarint(m)
			if n < 0 {
				return fallback
			}
			return int64(v)
		}
		if n = protowire.ConsumeFieldValue(field, kind, m); n < 0 {
			return fallback
		}
		m = m[n:]
	}
	return fallback
}
