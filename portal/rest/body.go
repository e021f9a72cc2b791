package rest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/strictjson"
)

const maxBody = 1 << 20 // bytes

// field is a member of a body that a handler knows. Any other member is ignored.
type field struct {
	name     string
	required bool
	read     func(jsontext.Value) error
}

func required(name string, to *string) field {
	return field{name, true, func(v jsontext.Value) error { return strictjson.String(v, to) }}
}

func optional(name string, to *string) field {
	return field{name, false, func(v jsontext.Value) error { return strictjson.String(v, to) }}
}

// given is an optional field that records whether it was sent.
func given[T any](name string, to **T, read func(jsontext.Value, *T) error) field {
	return field{name, false, func(v jsontext.Value) error {
		*to = new(T)
		return read(v, *to)
	}}
}

// body reads the fields of a request's body, and what makes it safe to send again.
func (c *call) body(fields ...field) (tenant.Idempotency, error) {
	body, err := answer.ReadBody(c.w, c.r, maxBody)
	if err != nil {
		return tenant.Idempotency{}, err
	}
	if err := decode(body, fields); err != nil {
		return tenant.Idempotency{}, err
	}
	return c.once(body)
}

// once reads the header Idempotency-Key. One that is there and empty is refused: its sender relies on it.
func (c *call) once(body []byte) (tenant.Idempotency, error) {
	keys := c.r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return tenant.Idempotency{}, nil
	}
	if len(keys) > 1 || !visible(keys[0], tenant.MaxIdempotencyKey) {
		return tenant.Idempotency{}, tenant.ErrBadIdempotencyKey
	}
	h := sha256.New()
	for _, part := range []string{c.r.Method, c.r.URL.EscapedPath(), string(body)} {
		h.Write(strconv.AppendInt(nil, int64(len(part)), 10)) // so that no two lists of parts look the same
		h.Write([]byte(" " + part))
	}
	return tenant.Idempotency{Key: keys[0], Body: [32]byte(h.Sum(nil))}, nil
}

// decode reads exactly one JSON object: names are case-sensitive, the last duplicate counts, and null is absence.
// Errors about fields come in the order of fields.
func decode(body []byte, fields []field) error {
	names, values := make([]string, len(fields)), make([]jsontext.Value, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if err := strictjson.Members(body, names, values); err != nil {
		return invalidJSON(err.Error())
	}
	for i, f := range fields {
		switch {
		case values[i] == nil || values[i].Kind() == 'n':
			if f.required {
				return isRequired(f.name)
			}
		default:
			if err := f.read(values[i]); err != nil {
				return tenant.BadField(f.name, err.Error())
			}
		}
	}
	if !utf8.Valid(body) { // in a name, or in a member that is ignored
		return invalidJSON("not valid UTF-8")
	}
	return nil
}

func invalidJSON(reason string) error {
	return &tenant.Refusal{Kind: tenant.Invalid, Code: "bad_request", Text: "invalid JSON: " + reason}
}

func isRequired(name string) error {
	return &tenant.Refusal{Kind: tenant.Invalid, Code: "bad_" + name, Text: name + " is required"}
}

// errNotEntries describes a wrong field; the caller adds its name.
var errNotEntries = errors.New("must be an array of objects")

// errNotStrings describes a wrong field; the caller adds its name.
var errNotStrings = errors.New("must be an array of strings")

func readStrings(v jsontext.Value, to *[]string) error {
	if v.Kind() != '[' {
		return errNotStrings
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(v), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return errNotStrings
	}
	for d.PeekKind() == '"' {
		element, err := d.ReadValue()
		if err != nil {
			return errNotStrings
		}
		var s string
		if err := strictjson.String(element, &s); err != nil {
			return err
		}
		*to = append(*to, s)
	}
	if d.PeekKind() != ']' {
		return errNotStrings
	}
	return nil
}
