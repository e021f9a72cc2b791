package normalize

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/rules"
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
)

// step reads the piece that begins with token i and returns where the next one begins.
func (r *reader) step(i int) int {
	all := r.rules.At(&r.View, i)
	for k := range all {
		r.Reset()
		if reading, ok := all[k].Try(&r.Reader, i); ok {
			if r.why != nil {
				reading = r.explainPiece(i, reading, all[k:])
			}
			return r.write(reading, all[k].Identifier)
		}
	}
	return i + 1
}

// write writes what a rule has read, and returns where the next piece begins.
func (r *reader) write(reading rules.Reading, identifier bool) int {
	r.writer.Write(reading.Say)
	if after := r.At(reading.Next); identifier && (after.Kind == text.Digits || text.SignCurrency(after.Ch) > 0) {
		r.writer.Pause() // so that a quantity behind a code is not taken for a part of it
	}
	return reading.Next
}
