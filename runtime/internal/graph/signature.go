package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Varies stands for a dimension that is decided by the caller or that the graph does not declare.
const Varies = -1

// maxRank bounds what is believed of a file. Graphs of speech have four dimensions at most.
const maxRank = 16

// Port is an input or an output of a graph that was read.
type Port struct {
	Name  string
	Type  Type
	Shape []int
}

func (p Port) String() string { return fmt.Sprintf("%s %v %v", p.Name, p.Type, p.Shape) }

// Signature is what a graph shows to the outside.
type Signature struct {
	Inputs, Outputs []Port
	// Same holds, by output, the input that comes out there unchanged.
	Same map[string]string
}

// Input returns the input of the given name.
func (s *Signature) Input(name string) (Port, bool) { return find(s.Inputs, name) }

// Output returns the output of the given name.
func (s *Signature) Output(name string) (Port, bool) { return find(s.Outputs, name) }

func find(ports []Port, name string) (Port, bool) {
	i := slices.IndexFunc(ports, func(p Port) bool { return p.Name == name })
	if i < 0 {
		return Port{}, false
	}
	return ports[i], true
}

var errNotGraph = errors.New("the file is truncated or not an ONNX graph")

// ReadSignature reads the inputs and outputs of an ONNX file. The library would have to load the whole graph for it,
// which takes seconds and as much memory again, and it does not tell which inputs are only handed through.
func ReadSignature(file []byte) (Signature, error) {
	s := Signature{Same: map[string]string{}}
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
				err = appendPort(&s.Inputs, m)
			case 12:
				err = appendPort(&s.Outputs, m)
			}
			return err
		})
	})
	if err != nil {
		return Signature{}, err
	}
	s.Inputs = slices.DeleteFunc(s.Inputs, func(p Port) bool { return constants[p.Name] })
	if len(s.Inputs) == 0 || len(s.Outputs) == 0 {
		return Signature{}, errNotGraph
	}
	for _, o := range s.Outputs {
		name := o.Name
		for range origin { // as many steps as there are edges, should they form a ring
			from, ok := origin[name]
			if !ok {
				break
			}
			name = from
		}
		if _, ok := s.Input(name); ok {
			s.Same[o.Name] = name
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

func appendPort(to *[]Port, m []byte) error {
	p := Port{Shape: []int{}}
	err := messages(m, func(number protowire.Number, m []byte) error {
		if number == 1 {
			p.Name = string(m)
		}
		if number != 2 {
			return nil
		}
		return messages(m, func(number protowire.Number, tensor []byte) error {
			if number != 1 {
				return nil
			}
			p.Type = Type(integer(tensor, 1, 0))
			return messages(tensor, func(number protowire.Number, shape []byte) error {
				if number != 2 {
					return nil
				}
				return messages(shape, func(number protowire.Number, dim []byte) error {
					if len(p.Shape) == maxRank {
						return fmt.Errorf("%s has more than %d dimensions", p.Name, maxRank)
					}
					if number != 1 {
						return nil
					}
					n := integer(dim, 1, Varies)
					if n < 0 || n > math.MaxInt32 {
						n = Varies
					}
					p.Shape = append(p.Shape, int(n))
					return nil
				})
			})
		})
	})
	*to = append(*to, p)
	return err
}

// field is a part of a message: a number, and what stands under it.
type field struct {
	number protowire.Number
	kind   protowire.Type
	whole  []byte // as it stands in the message, tag and all
	body   []byte // without the tag
}

// fields calls f with every field of a message, in order.
func fields(m []byte, f func(field) error) error {
	for len(m) > 0 {
		number, kind, tag := protowire.ConsumeTag(m)
		if tag < 0 {
			return errNotGraph
		}
		n := protowire.ConsumeFieldValue(number, kind, m[tag:])
		if n < 0 {
			return errNotGraph
		}
		if err := f(field{number, kind, m[:tag+n], m[tag : tag+n]}); err != nil {
			return err
		}
		m = m[tag+n:]
	}
	return nil
}

// messages calls f with every field of a message that holds bytes.
func messages(m []byte, f func(number protowire.Number, value []byte) error) error {
	return fields(m, func(x field) error {
		if x.kind != protowire.BytesType {
			return nil
		}
		value, _ := protowire.ConsumeBytes(x.body)
		return f(x.number, value)
	})
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
