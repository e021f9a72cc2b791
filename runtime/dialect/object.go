package dialect

import (
	"errors"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// Member is a member of a JSON object that a T is read from.
type Member[T any] struct {
	Name string
	Code speech.Code                    // of the refusal when Read fails
	Read func(*T, jsontext.Value) error // the value is not null; an error describes the fault, without the name
}

// ReadBody decodes the object of a request or message into to. Errors are those of the vendor's API: a [FieldError]
// names the member, as voice.id for a member of an inner object. ignored is called with the name of each member that is
// not among members; it may be nil.
func ReadBody[T any](body []byte, members []Member[T], to *T, ignored func(name string)) error {
	if err := ReadObject(body, members, to, ignored); err != nil {
		if field, ok := errors.AsType[*FieldError](err); ok {
			return field
		}
		return Refuse("", speech.CodeBadRequest, "invalid JSON: "+err.Error())
	}
	if !utf8.Valid(body) { // in a name, or in a member that is ignored
		return Refuse("", speech.CodeBadRequest, "invalid JSON: not valid UTF-8")
	}
	return nil
}

// ReadObject is ReadBody for an object inside of another one.
func ReadObject[T any](object jsontext.Value, members []Member[T], to *T, ignored func(name string)) error {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	values := make([]jsontext.Value, len(members))
	if err := strictjson.MembersAnd(object, names, values, ignored); err != nil {
		return err
	}
	for i, m := range members {
		if values[i] == nil || values[i].Kind() == 'n' {
			continue
		}
		if err := m.Read(to, values[i]); err != nil {
			return m.refuse(err)
		}
	}
	return nil
}

// refuse puts the name of the member before what is wrong with it.
func (m Member[T]) refuse(err error) error {
	if inner, ok := errors.AsType[*FieldError](err); ok {
		return Refuse(m.Name+"."+inner.Field, inner.Refusal.Code, m.Name+"."+inner.Refusal.Text)
	}
	return Refuse(m.Name, m.Code, m.Name+": "+err.Error())
}

// ReadString reads a string into what of returns.
func ReadString[T any](of func(*T) *string) func(*T, jsontext.Value) error {
	return func(to *T, v jsontext.Value) error { return strictjson.String(v, of(to)) }
}

// ReadNumber reads a number into what of returns.
func ReadNumber[T any](of func(*T) *float64) func(*T, jsontext.Value) error {
	return func(to *T, v jsontext.Value) error { return strictjson.Number(v, of(to)) }
}

var errNotBool = errors.New("must be true or false")

// ReadBool reads true or false into what of returns.
func ReadBool[T any](of func(*T) *bool) func(*T, jsontext.Value) error {
	return func(to *T, v jsontext.Value) error {
		if v.Kind() != 't' && v.Kind() != 'f' {
			return errNotBool
		}
		*of(to) = v.Kind() == 't'
		return nil
	}
}

// Unsupported refuses any value of a member that would change the sound.
func Unsupported[T any](text string) func(*T, jsontext.Value) error {
	return func(*T, jsontext.Value) error { return errors.New(text) }
}

// JSON encodes a value of this program. Bytes of a text that are not UTF-8, as in an error of an engine, become U+FFFD.
func JSON(v any) []byte {
	data, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // a value of this program cannot fail
	}
	return data
}

// JSONMessage is a message of a socket that holds a value of this program.
func JSONMessage(v any) Message { return Message{Data: JSON(v)} }
