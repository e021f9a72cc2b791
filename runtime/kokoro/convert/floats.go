package convert

import (
	"context"
	"io"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// audioOutput is what the export makes of its inputs.
const audioOutput = "audio"

// Floats writes a copy of an export that computes in floats. The weights stay the same, but no signal is rounded.
// Beside the samples it gives how many frames each id lasts, before that is rounded. It is for comparing.
func Floats(ctx context.Context, to io.Writer, export []byte) error {
	s, err := readSource(export)
	if err != nil {
		return err
	}
	c := newCutter(ctx, s, "kokoro", func(int) {}, s.tokens, styleInput, speedInput)
	c.to.Input(s.tokens, graph.I64, 1, "ids")
	c.to.Input(styleInput, graph.F32, 1, 2*kokoro82M.style)
	c.to.Input(speedInput, graph.F32, 1)
	if err := c.copy([]string{audioOutput, durationsValue}); err != nil {
		return err
	}
	c.to.Output("samples", audioOutput, graph.F32, "samples")
	c.to.Output("durations", durationsValue, graph.F32, 1, "ids")
	_, err = c.to.WriteTo(to)
	return err
}
