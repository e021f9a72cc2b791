package rest

import (
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// timestamp is written in UTC with milliseconds, such as 2026-11-20T13:45:00.123Z.
type timestamp time.Time

// IsZero leaves out what is marked with omitzero.
func (t timestamp) IsZero() bool { return time.Time(t).IsZero() }

// MarshalText writes t.
func (t timestamp) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z"), nil
}

// exact is a number that was written by who knows its digits, so that no float comes between.
func exact(number string) jsontext.Value { return jsontext.Value(number) }

// millis writes microseconds as milliseconds, to a tenth.
func millis(us int64) float64 { return math.Round(float64(us)/100) / 10 }

// list makes a list of what clients see.
func list[T, S any](of []T, shape func(T) S) []S {
	shapes := make([]S, 0, len(of))
	for _, v := range of {
		shapes = append(shapes, shape(v))
	}
	return shapes
}
