// Package elevenlabstest has the requests and the events that the tests of this dialect share.
package elevenlabstest

import (
	"net/url"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// Call is a request with body to a server that can write every format except those in lacks.
func Call(body string, lacks ...dialect.Container) dialect.Call {
	return dialect.Call{
		RequestID: "req_1", Body: []byte(body), Query: url.Values{},
		Var: func(string) string { return "anjura" }, Header: func(string) string { return "" },
		Allows: func(string) bool { return true },
		Model: speech.Model{Voices: []speech.Voice{
			{Name: "anjura", Language: "hi-IN+en-IN"}, {Name: "raj", Language: "hi-IN+en-IN"}, {Name: "other", Language: "xx"},
		}},
		Encodes: func(a dialect.Audio) bool { return !slices.Contains(lacks, a.Container) },
	}
}

// Sentence is "कल 4" of 400 ms, of which 100 are a pause, after a pause of 50 ms; it begins at from.
func Sentence(from time.Duration) dialect.Words {
	ms := func(n int) time.Duration { return from + time.Duration(n)*time.Millisecond }
	return dialect.Words{
		Text: "कल चार।", CharStart: 10, Start: from, End: ms(400),
		Spoken: []speech.Word{
			{Text: "कल", CharStart: 10, CharEnd: 12, Start: ms(50), End: ms(150)},
			{Text: "चार", CharStart: 13, CharEnd: 16, Start: ms(150), End: ms(300)},
		},
		Source: []speech.Word{
			{Text: "कल", CharEnd: 2, Start: ms(50), End: ms(150)},
			{Text: "4।", CharStart: 3, CharEnd: 5, Start: ms(150), End: ms(300)},
		},
	}
}
