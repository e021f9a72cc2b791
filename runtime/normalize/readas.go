package normalize

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/rules"
)

// readAs reads token i of g as g says. What stands around g has no part in that.
func (r *reader) readAs(g *guide, i int) int {
	read := rules.Readers[g.As]
	if read == nil {
		return i
	}
	start, stop := r.Start, r.Stop
	r.Start, r.Stop = i, min(stop, g.next)
	defer func() { r.Start, r.Stop = start, stop }()
	r.Reset()
	reading, ok := read(&r.Reader, i)
	if !ok {
		return i
	}
	r.writer.Write(reading.Say)
	return reading.Next
}
