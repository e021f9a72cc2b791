// Package wire reads and writes events: a line of JSON, and behind it data and a payload.
package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// MaxPart is what each part of an event may have in bytes: its line, its data, its payload.
const MaxPart = 1 << 20

// Event is a message of a client. Its payload, such as the sound of a microphone, is skipped.
type Event struct {
	Kind string
	data [2]jsontext.Value // in the line, and behind it; the second one wins
}

// headerNames are the members of the line that are read.
var headerNames = []string{"type", "data", "data_length", "payload_length"}

// Read reads an event: a line {"type", "data", "data_length", "payload_length"}, and the data and payload of these
// lengths. Anything else is a [speech.Refusal].
func Read(r *bufio.Reader) (e Event, err error) {
	line, err := readLine(r)
	if err != nil {
		return e, err
	}
	var header [4]jsontext.Value
	if err := strictjson.Members(line, headerNames, header[:]); err != nil {
		return e, BadRequest("invalid JSON: " + err.Error())
	}
	if err := strictjson.String(header[0], &e.Kind); err != nil {
		return e, BadRequest("type: " + err.Error())
	}
	if e.data[0], err = object(header[1]); err != nil {
		return e, err
	}
	dataLength, err := length("data_length", header[2])
	if err != nil {
		return e, err
	}
	payloadLength, err := length("payload_length", header[3])
	if err != nil {
		return e, err
	}
	if dataLength > 0 {
		data := make([]byte, dataLength)
		if _, err := io.ReadFull(r, data); err != nil {
			return e, err
		}
		if e.data[1], err = object(data); err != nil {
			return e, err
		}
	}
	_, err = io.CopyN(io.Discard, r, int64(payloadLength))
	return e, err
}

// readLine reads up to the end of a line, without that.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxPart+1 {
			return nil, BadRequest(fmt.Sprintf("an event has more than %d bytes", MaxPart))
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// length reads the length of a part.
func length(name string, v jsontext.Value) (n int, err error) {
	if v == nil || v.Kind() == 'n' {
		return 0, nil
	}
	var f float64
	if err := strictjson.Number(v, &f); err != nil {
		return 0, BadRequest(name + ": " + err.Error())
	}
	if f < 0 || f > MaxPart || f != float64(int(f)) {
		return 0, BadRequest(fmt.Sprintf("%s must be a whole number of at most %d", name, MaxPart))
	}
	return int(f), nil
}

// object refuses what is neither an object nor absent.
func object(v jsontext.Value) (jsontext.Value, error) {
	if v == nil || v.Kind() == 'n' {
		return nil, nil
	}
	if err := strictjson.Members(v, nil, nil); err != nil {
		return nil, BadRequest("data: " + err.Error())
	}
	return v, nil
}

// Members puts the members of an object, or of nothing, into values.
func Members(v jsontext.Value, names []string, values []jsontext.Value) error {
	if v == nil {
		return nil
	}
	if err := strictjson.Members(v, names, values); err != nil {
		return BadRequest("data: " + err.Error())
	}
	return nil
}

// Texts reads members of the data that are strings. One that is not there is empty.
func (e Event) Texts(to map[string]*string) error {
	for name, text := range to {
		v, err := e.Member(name)
		if err != nil {
			return err
		}
		if err := Text(name, v, text); err != nil {
			return err
		}
	}
	return nil
}

// Member returns a member of the data, nil where it is not there.
func (e Event) Member(name string) (jsontext.Value, error) {
	var v [1]jsontext.Value
	for _, data := range e.data {
		if err := Members(data, []string{name}, v[:]); err != nil {
			return nil, err
		}
	}
	return v[0], nil
}

// Text reads a member of this name that is a string. One that is not there changes nothing.
func Text(name string, v jsontext.Value, to *string) error {
	if v == nil || v.Kind() == 'n' {
		return nil
	}
	if err := strictjson.String(v, to); err != nil {
		return BadRequest(name + ": " + err.Error())
	}
	return nil
}

// Encode returns an event as it is sent.
func Encode(kind string, data any, payload []byte) []byte {
	var body []byte
	if data != nil {
		body = dialect.JSON(data)
	}
	type header struct {
		Type    string `json:"type"`
		Data    int    `json:"data_length,omitzero"`
		Payload int    `json:"payload_length,omitzero"`
	}
	all := append(dialect.JSON(header{kind, len(body), len(payload)}), '\n')
	all = append(all, body...)
	return append(all, payload...)
}

// BadRequest refuses what a client has sent.
func BadRequest(text string) error { return &speech.Refusal{Code: speech.CodeBadRequest, Text: text} }
