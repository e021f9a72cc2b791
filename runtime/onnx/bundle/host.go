package bundle

import (
	"fmt"
	"io"

	"github.com/swar-tts/swar/runtime/safetensors"
)

// Host holds the weights that the host uses itself.
type Host struct {
	Embedding []float32 // [vocab + 1, width]: the row of each token
	Input     []float32 // [width, latent]: makes a row of a latent
	Start     []float32 // [width]: the row before the first latent
	Times     []float32 // [steps, flow width]: what the flow head is given as time
}

// Row writes the row that a latent enters the language model as.
func (h *Host) Row(row, latent []float32) {
	for i := range row {
		weights := h.Input[i*len(latent) : (i+1)*len(latent)]
		sum := float32(0)
		for j, v := range latent {
			sum += weights[j] * v
		}
		row[i] = sum
	}
}

// WriteHost writes h as a safetensors file.
func WriteHost(w io.Writer, h Host, d Dims, steps int) error {
	return safetensors.Write(w,
		safetensors.Tensor{Name: "embedding", Shape: []int{d.Vocab + 1, d.Width}, Floats: h.Embedding},
		safetensors.Tensor{Name: "input", Shape: []int{d.Width, d.Latent}, Floats: h.Input},
		safetensors.Tensor{Name: "start", Shape: []int{d.Width}, Floats: h.Start},
		safetensors.Tensor{Name: "times", Shape: []int{steps, d.FlowWidth}, Floats: h.Times})
}

// ReadHost reads what WriteHost wrote.
func ReadHost(t *safetensors.Tensors, d Dims, steps int) (h Host, err error) {
	for _, part := range []struct {
		to    *[]float32
		name  string
		shape []int
	}{
		{&h.Embedding, "embedding", []int{d.Vocab + 1, d.Width}}, {&h.Input, "input", []int{d.Width, d.Latent}},
		{&h.Start, "start", []int{d.Width}}, {&h.Times, "times", []int{steps, d.FlowWidth}},
	} {
		if *part.to, err = t.Floats(part.name, part.shape...); err != nil {
			return Host{}, fmt.Errorf("weights of the host: %w", err)
		}
	}
	return h, nil
}
