package ort

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

var errCutOff = errors.New("the file is cut off or no ONNX graph")

// Contract returns the inputs and outputs that a graph declares, as "name type [dims]" with -1 for a dimension that varies. It reads the
// file itself: the library would have to load the whole graph for it, which takes seconds and as much memory again.
func Contract(graph []byte) (inputs, outputs []string, err error) {
	const graphField, inputField, outputField = 7, 11, 12
	known := false
	err = fields(graph, func(number protowire.Number, _ uint64, body []byte) error {
		if number != graphField || body == nil {
			return nil
		}
		known = true
		return fields(body, func(number protowire.Number, _ uint64, body []byte) error {
			if number != inputField && number != outputField {
				return nil
			}
			line, err := value(body)
			if number == inputField {
				inputs = append(inputs, line)
			} else {
				outputs = append(outputs, line)
			}
			return err
		})
	})
	if err == nil && !known {
		err = errCutOff
	}
	return inputs, outputs, err
}

// value reads a ValueInfoProto: a name, and a type that holds the element's type and a shape.
func value(message []byte) (line string, err error) {
	const nameField, typeField, tensorField, elementField, shapeField, dimField, sizeField = 1, 2, 1, 1, 2, 1, 1
	var name string
	var element uint64
	var dims []string
	inside := func(want protowire.Number, f func([]byte) error) func(protowire.Number, uint64, []byte) error {
		return func(number protowire.Number, _ uint64, body []byte) error {
			if number == want && body != nil {
				return f(body)
			}
			return nil
		}
	}
	dim := func(body []byte) error {
		size := int64(-1)
		err := fields(body, func(number protowire.Number, v uint64, _ []byte) error {
			if number == sizeField {
				size = int64(v)
			}
			return nil
		})
		dims = append(dims, strconv.FormatInt(size, 10))
		return err
	}
	tensor := func(body []byte) error {
		return fields(body, func(number protowire.Number, v uint64, body []byte) error {
			switch number {
			case elementField:
				element = v
			case shapeField:
				return fields(body, inside(dimField, dim))
			}
			return nil
		})
	}
	err = fields(message, func(number protowire.Number, _ uint64, body []byte) error {
		switch number {
		case nameField:
			name = string(body)
		case typeField:
			return fields(body, inside(tensorField, tensor))
		}
		return nil
	})
	types := map[uint64]string{1: "float", 2: "uint8", 3: "int8", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "double", 16: "bfloat16"}
	kind, ok := types[element]
	if !ok {
		kind = fmt.Sprintf("type-%d", element)
	}
	return fmt.Sprintf("%s %s [%s]", name, kind, strings.Join(dims, " ")), err
}

// fields calls f for each field of a message: with its number, or with its bytes, which are not nil then.
func fields(message []byte, f func(number protowire.Number, v uint64, body []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errCutOff
		}
		message = message[n:]
		var v uint64
		var body []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			if body, n = protowire.ConsumeBytes(message); body == nil {
				body = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return errCutOff
		}
		message = message[n:]
		if err := f(number, v, body); err != nil {
			return err
		}
	}
	return nil
}
