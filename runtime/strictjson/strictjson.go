// Package strictjson reads the JSON bodies of requests. A body is one object and nothing else, names are
// case-sensitive, the last of a repeated member counts, and errors have texts for clients.
package strictjson

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What is wrong with a value; the name of its field goes in front.
var (
	ErrNotString = errors.New("must be a string")
	ErrNotNumber = errors.New("must be a number")
	ErrNotUTF8   = errors.New("not valid UTF-8")
)

// byteOrderMark is what some editors and PowerShell write in front of UTF-8. RFC 8259, section 8.1, allows to skip one.
const byteOrderMark = "\ufeff"

// Members reads one JSON object into values, the members that are fields in the order of their names. A byte order
// mark in front is allowed, other members are ignored, and the values are pieces of body. The text of an error is the
// reason alone. Members looks at the grammar only: UTF-8 is judged later, when it is known in which field it is
// wrong.
func Members(body []byte, names []string, values []jsontext.Value) error {
	return MembersAnd(body, names, values, nil)
}

// MembersAnd is Members that calls other with the name of each unknown member whose value is not null.
func MembersAnd(body []byte, names []string, values []jsontext.Value, other func(name string)) error {
	body = bytes.TrimPrefix(body, []byte(byteOrderMark))
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if kind := d.PeekKind(); kind != '{' && kind != 0 {
		return errors.New("expected an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return reason(err)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return reason(err)
		}
		i := slices.Index(names, name.String())
		if i < 0 {
			if other != nil {
				text := name.String() // the token is gone with the next read
				if d.PeekKind() != 'n' {
					other(text)
				}
			}
			if err := d.SkipValue(); err != nil {
				return reason(err)
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return reason(err)
		}
		end := int(d.InputOffset())
		values[i] = body[end-len(value) : end] // what ReadValue returned may be gone after the next read
	}
	if _, err := d.ReadToken(); err != nil {
		return reason(err)
	}
	switch _, err := d.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return reason(err)
	default:
		return errors.New("something follows the object")
	}
}

// Strings reads the members of body that are named, which must be strings. One that is not there or null is not in
// the map. What is wrong with body itself is an error as of [Members], what is wrong with one member a [*FieldError].
func Strings(body []byte, names ...string) (map[string]string, error) {
	values := make([]jsontext.Value, len(names))
	if err := Members(body, names, values); err != nil {
		return nil, err
	}
	members := make(map[string]string, len(names))
	for i, v := range values {
		if v == nil || v.Kind() == 'n' {
			continue
		}
		var s string
		if err := String(v, &s); err != nil {
			return nil, &FieldError{names[i], err}
		}
		members[names[i]] = s
	}
	if !utf8.Valid(body) { // in a name, or in a member that is ignored
		return nil, ErrNotUTF8
	}
	return members, nil
}

// FieldError says what is wrong with one member.
type FieldError struct {
	Name string
	Err  error
}

func (e *FieldError) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

func reason(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("unexpected end")
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok && e.Err != nil {
		return errors.New(e.Err.Error() + " at byte " + strconv.FormatInt(e.ByteOffset, 10))
	}
	return err
}

// String reads a string.
func String(v jsontext.Value, to *string) error {
	if v.Kind() != '"' {
		return ErrNotString
	}
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ErrNotUTF8 // raw bytes, or half of a surrogate pair; the grammar has been checked
	}
	*to = string(s)
	return nil
}

// Number reads a number. One that is too large for a float is infinite.
func Number(v jsontext.Value, to *float64) error {
	if v.Kind() != '0' {
		return ErrNotNumber
	}
	*to, _ = strconv.ParseFloat(string(v), 64)
	return nil
}
