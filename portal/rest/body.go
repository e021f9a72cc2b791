package rest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/portal/tenant"
)

const maxBody = 1 << 20 // bytes

// field is a member of a body that a handler knows. Any other member is ignored.
type field struct {
	name     string
	required bool
	read     func(jsontext.Value) error
}

func required(name string, to *string) field {
	return field{name, true, func(v jsontext.Value) error { return readString(v, to) }}
}

func optional(name string, to *string) field {
	return field{name, false, func(v jsontext.Value) error { return readString(v, to) }}
}

// given is an optional field of which it counts whether it was sent.
func given[T any](name string, to **T, read func(jsontext.Value, *T) error) field {
	return field{name, false, func(v jsontext.Value) error {
		*to = new(T)
		return read(v, *to)
	}}
}

// body reads the fields of a request's body, and what makes it safe to send again.
func (c *call) body(fields ...field) (tenant.Once, error) {
	body, err := c.readBody()
	if err != nil {
		return tenant.Once{}, err
	}
	if err := decode(body, fields); err != nil {
		return tenant.Once{}, err
	}
	return c.once(body)
}

// once reads the header Idempotency-Key. One that is there and empty is refused: its sender relies on it.
func (c *call) once(body []byte) (tenant.Once, error) {
	keys := c.r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return tenant.Once{}, nil
	}
	if len(keys) > 1 || !visible(keys[0], tenant.MaxIdempotencyKey) {
		return tenant.Once{}, tenant.ErrBadIdempotencyKey
	}
	h := sha256.New()
	for _, part := range []string{c.r.Method, c.r.URL.EscapedPath(), string(body)} {
		h.Write(strconv.AppendInt(nil, int64(len(part)), 10)) // so that no two lists of parts look the same
		h.Write([]byte(" " + part))
	}
	return tenant.Once{Key: keys[0], Body: [32]byte(h.Sum(nil))}, nil
}

// readBody reads the whole body. Only then does net/http notice that a client has gone.
func (c *call) readBody() ([]byte, error) {
	if e := c.r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, errEncodedBody
	}
	if c.r.ContentLength > maxBody {
		return nil, errBodyTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	switch _, tooLarge := errors.AsType[*http.MaxBytesError](err); {
	case tooLarge:
		return nil, errBodyTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errBodyTimeout
	case err != nil:
		return nil, errBodyBroken
	}
	return body, nil
}

// decode reads one JSON object strictly: nothing follows it, names are case-sensitive, the last of a repeated member counts, and null is
// absence. Errors about fields come in the order of fields.
func decode(body []byte, fields []field) error {
	values, err := members(body, fields)
	if err != nil {
		return err
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

// members checks that body is one JSON object and nothing else, and finds the values of the fields in it. The values are pieces of body.
func members(body []byte, fields []field) ([]jsontext.Value, error) {
	values := make([]jsontext.Value, len(fields))
	// UTF-8 is judged later, when it is known in which field it is wrong.
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if kind := d.PeekKind(); kind != '{' && kind != 0 {
		return nil, invalidJSON("expected an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, syntaxError(err)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, syntaxError(err)
		}
		i := fieldIndex(fields, name.String())
		if i < 0 {
			if err := d.SkipValue(); err != nil {
				return nil, syntaxError(err)
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return nil, syntaxError(err)
		}
		end := int(d.InputOffset())
		values[i] = body[end-len(value) : end] // what ReadValue returned may be gone after the next read
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, syntaxError(err)
	}
	switch _, err := d.ReadToken(); {
	case errors.Is(err, io.EOF):
		return values, nil
	case err != nil:
		return nil, syntaxError(err)
	default:
		return nil, invalidJSON("something follows the object")
	}
}

func fieldIndex(fields []field, name string) int {
	for i := range fields {
		if fields[i].name == name {
			return i
		}
	}
	return -1
}

func syntaxError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return invalidJSON("unexpected end")
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok && e.Err != nil {
		return invalidJSON(e.Err.Error() + " at byte " + strconv.FormatInt(e.ByteOffset, 10))
	}
	return invalidJSON(err.Error())
}

func invalidJSON(reason string) error {
	return &tenant.Refusal{Kind: tenant.Invalid, Code: "bad_request", Text: "invalid JSON: " + reason}
}

func isRequired(name string) error {
	return &tenant.Refusal{Kind: tenant.Invalid, Code: "bad_" + name, Text: name + " is required"}
}

// What is wrong with a field; its name goes in front.
var (
	errNotString  = errors.New("must be a string")
	errNotStrings = errors.New("must be an array of strings")
	errNotNumber  = errors.New("must be a number")
	errNotUTF8    = errors.New("not valid UTF-8")
)

func readString(v jsontext.Value, to *string) error {
	if v.Kind() != '"' {
		return errNotString
	}
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return errNotUTF8 // raw bytes, or half of a surrogate pair; the grammar has been checked
	}
	*to = string(s)
	return nil
}

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
		if err := readString(element, &s); err != nil {
			return err
		}
		*to = append(*to, s)
	}
	if d.PeekKind() != ']' {
		return errNotStrings
	}
	return nil
}

// readNumber reads a number that is too large for a float as infinite.
func readNumber(v jsontext.Value, to *float64) error {
	if v.Kind() != '0' {
		return errNotNumber
	}
	*to, _ = strconv.ParseFloat(string(v), 64)
	return nil
}
