package elevenlabs

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// The speeds of a voice.
const (
	minSpeed = 0.7
	maxSpeed = 1.2
)

// common is what requests and sockets say in the same words: the voice in the path, and the format in the query.
func common(c dialect.Call) (o dialect.Order, err error) {
	asked := c.Var("voice")
	name, ok := dialect.Voice(dialect.ElevenLabs, c.Model, asked)
	if !ok {
		return o, speech.UnknownVoice(asked)
	}
	o.Utterance.Voice, o.Utterance.Temperature = name, speech.DefaultTemperature
	o.Audio, o.Word, err = readFormat(c)
	return o, err
}

// readSpeed reads the member voice_settings, of which only the speed changes anything. It returns the names of the others.
func readSpeed(v jsontext.Value) (speed float64, ignored []string, err error) {
	const field = "voice_settings"
	speed = 1
	if v == nil || v.Kind() == 'n' {
		return speed, nil, nil
	}
	if v.Kind() != '{' {
		return speed, nil, dialect.Refuse(field, speech.CodeBadRequest, field+": must be an object")
	}
	var values [1]jsontext.Value
	err = strictjson.MembersAnd(v, []string{"speed"}, values[:], func(name string) { ignored = append(ignored, field+"."+name) })
	if err != nil {
		return speed, nil, dialect.Refuse(field, speech.CodeBadRequest, field+": "+err.Error())
	}
	if v := values[0]; v != nil && v.Kind() != 'n' {
		if err := strictjson.Number(v, &speed); err != nil {
			return speed, nil, dialect.Refuse(field, speech.CodeBadSpeed, field+".speed: "+err.Error())
		}
	}
	if speed < minSpeed || speed > maxSpeed {
		return speed, nil, dialect.Refuse(field, speech.CodeBadSpeed, fmt.Sprintf("%s.speed must be in [%g, %g]", field, minSpeed, maxSpeed))
	}
	return speed, ignored, nil
}

var errNoSpeed = dialect.Refuse("voice_settings", speech.CodeBadSpeed, speech.ErrBadSpeed.Text)

// readNormalization reads apply_text_normalization, which is raw if it is off.
func readNormalization(value string) (raw bool, err error) {
	switch strings.ToLower(value) {
	case "", "auto", "on":
		return false, nil
	case "off":
		return true, nil
	}
	return false, dialect.Refuse("apply_text_normalization", speech.CodeBadRequest, "apply_text_normalization must be auto, on or off")
}

// readSeed reads a seed, which has 32 bits.
func readSeed(seed float64) (int64, error) {
	if seed < 0 || seed > math.MaxUint32 || seed != math.Trunc(seed) {
		return 0, dialect.Refuse("seed", speech.CodeBadRequest, "seed: must be an integer from 0 to 4294967295")
	}
	return int64(seed), nil
}

// readBool reads a value of a query, in any case of letters.
func readBool(c dialect.Call, name string) (bool, error) {
	value := c.Query.Get(name)
	if value == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(strings.ToLower(value))
	if err != nil {
		return false, dialect.Refuse(name, speech.CodeBadRequest, name+": must be true or false")
	}
	return b, nil
}
