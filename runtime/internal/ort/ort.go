// Package ort is the used part of ONNX Runtime. Sessions are shared by many goroutines, each with its own tensors.
//
// A tensor wraps memory that stays where it is as long as the tensor lives, so that a run copies nothing in or out.
// One tensor may be both an input and an output of a run; no two runs may use it at the same time.
package ort

import (
	"context"
	"errors"
	"fmt"

	runtime "github.com/yalue/onnxruntime_go"
)

// Session is a loaded graph. It computes on the thread that calls Run and is safe for concurrent use.
type Session struct {
	session         *runtime.DynamicAdvancedSession
	inputs, outputs []string
	products        Products
}

// Open loads a graph. The names fix the order of tensors in Run.
//
// Products of integers are exact, whatever the processor: those that we have written are computed by an operator of
// our own, see [UseKernel], and those of others by ONNX Runtime, from weights that it does not cut sums of.
func Open(graph []byte, inputs, outputs []string) (*Session, error) {
	return open(graph, inputs, outputs, serve)
}

// open loads a graph after rewrite has changed it and the options for it.
func open(graph []byte, inputs, outputs []string, rewrite rewriter) (s *Session, err error) {
	o, err := runtime.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Destroy()) }()
	// One thread for each stream: more would fight over the same cores, and sums would depend on how work was split.
	// Without memory patterns, which are kept for every shape that was ever run: 16 MB at full size, for no time that
	// could be measured.
	err = errors.Join(
		o.SetIntraOpNumThreads(1), o.SetInterOpNumThreads(1), o.SetExecutionMode(runtime.ExecutionModeSequential),
		o.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"), o.SetMemPattern(false),
	)
	if err != nil {
		return nil, err
	}
	graph, products, err := rewrite(graph, o)
	if err != nil {
		return nil, err
	}
	session, err := runtime.NewDynamicAdvancedSessionWithONNXData(graph, inputs, outputs, o)
	if err != nil {
		return nil, err
	}
	return &Session{session, inputs, outputs, products}, nil
}

// OpenInFloats is [Open], but that products of rows by integers are computed in floats. It is for comparing: it takes
// four times the memory.
func OpenInFloats(graph []byte, inputs, outputs []string) (*Session, error) {
	return open(graph, inputs, outputs, floats)
}

// OpenUnsigned is [Open], but that ONNX Runtime computes all products of integers, from unsigned weights. It is for
// comparing.
func OpenUnsigned(graph []byte, inputs, outputs []string) (*Session, error) {
	return open(graph, inputs, outputs, unsigned)
}

// Products counts the products of integers in a graph.
type Products struct {
	Own    int // by the operator of our own
	Others int // that ONNX Runtime computes, which our graphs have none of
}

type rewriter func(graph []byte, options *runtime.SessionOptions) ([]byte, Products, error)

// Products returns the products of integers in this graph.
func (s *Session) Products() Products { return s.products }

// Run computes the outputs, which are tensors of the caller like the inputs. Cancelling ctx ends it early with the
// cause of ctx.
func (s *Session) Run(ctx context.Context, inputs, outputs []*Tensor) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if len(inputs) != len(s.inputs) || len(outputs) != len(s.outputs) {
		return fmt.Errorf("%d inputs and %d outputs, want %d and %d", len(inputs), len(outputs), len(s.inputs),
			len(s.outputs))
	}
	if ctx.Done() == nil {
		return s.session.Run(values(inputs), values(outputs))
	}
	o, err := runtime.NewRunOptions()
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = o.Terminate() // it fails only for options that are gone, which are kept until ended is closed
	})
	err = s.session.RunWithOptions(values(inputs), values(outputs), o)
	if !stop() {
		<-ended
	}
	err = errors.Join(err, o.Destroy())
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// Close releases the graph. No run may be under way.
func (s *Session) Close() error { return s.session.Destroy() }

func values(tensors []*Tensor) []runtime.Value {
	v := make([]runtime.Value, len(tensors))
	for i, t := range tensors {
		v[i] = t.value
	}
	return v
}

// Tensor is an array that runs read and write. It is not safe for concurrent use.
type Tensor struct {
	value  runtime.Value
	floats []float32
}

// Floats returns a tensor over values, which it does not copy.
func Floats(values []float32, shape ...int) (*Tensor, error) {
	t, err := wrap(values, shape)
	if err != nil {
		return nil, err
	}
	return &Tensor{t, values}, nil
}

// Int32s returns a tensor over values, which it does not copy.
func Int32s(values []int32, shape ...int) (*Tensor, error) {
	t, err := wrap(values, shape)
	if err != nil {
		return nil, err
	}
	return &Tensor{value: t}, nil
}

// Int64s returns a tensor over values, which it does not copy.
func Int64s(values []int64, shape ...int) (*Tensor, error) {
	t, err := wrap(values, shape)
	if err != nil {
		return nil, err
	}
	return &Tensor{value: t}, nil
}

// Bools returns a tensor over values, which it does not copy.
func Bools(values []bool, shape ...int) (*Tensor, error) {
	t, err := wrap(values, shape)
	if err != nil {
		return nil, err
	}
	return &Tensor{value: t}, nil
}

func wrap[T runtime.TensorData](values []T, shape []int) (runtime.Value, error) {
	dims, n := make(runtime.Shape, len(shape)), 1
	for i, d := range shape {
		dims[i], n = int64(d), n*d
	}
	if len(shape) == 0 || n != len(values) {
		return nil, fmt.Errorf("%d values for a tensor of shape %v", len(values), shape)
	}
	return runtime.NewTensor(dims, values)
}

// Floats returns the values of a tensor of floats, nil for another.
func (t *Tensor) Floats() []float32 { return t.floats }

// Close releases t; the values stay. A nil tensor is closed already.
func (t *Tensor) Close() error {
	if t == nil || t.value == nil {
		return nil
	}
	err := t.value.Destroy()
	t.value = nil
	return err
}
