package convert

import (
	"context"
	"errors"
	"fmt"
)

// Encode runs the encoder of c's weights on a recording of 24 kHz in [-1, 1]. The result is [frames, width of the
// prompt], not normalised. A last frame that is not whole is filled with zeros. Converting a recording does this
// after making it end on a pause; Encode is for comparing the encoder with another one.
func Encode(ctx context.Context, c Conversion, samples []float32) (latents []float32, err error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	weights, _, _, err := c.open(ctx, &config)
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	defer func() { err = errors.Join(err, weights.Close()) }()
	gelu, _ := config.trainedWith()
	e, err := newEncoder(&config, weights, or(c.GELU, gelu), func(int64) {})
	if err != nil {
		return nil, err
	}
	whole := doubles(samples)
	if rest := len(whole) % frameSamples; rest > 0 {
		whole = append(whole, make([]float64, frameSamples-rest)...)
	}
	x, err := e.encode(ctx, whole)
	return singles(x), err
}
