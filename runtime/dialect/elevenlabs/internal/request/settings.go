// Package request reads what requests and sockets say in the same words: the voice, the format and its settings.
package request

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// The speeds of a voice.
const (
	MinSpeed = 0.7
	MaxSpeed = 1.2
)

// Common reads the voice in the path, and in the query the format and whether texts have elements of SSML.
func Common(c dialect.Call) (o dialect.Order, err error) {
	asked := c.Var("voice")
	name, ok := dialect.Voice(dialect.ElevenLabs, c.Model, asked)
	if !ok {
		return o, speech.UnknownVoice(asked)
	}
	o.Utterance.Voice, o.Utterance.Temperature = name, speech.DefaultTemperature
	if o.Utterance.SSML, err = Bool(c, MarkupName); err != nil {
		return o, err
	}
	o.Audio, o.Word, err = readFormat(c)
	return o, err
}

// Settings are how a text is spoken. Of the member voice_settings only the speed changes anything.
type Settings struct {
	Speed   float64
	Lexicon string
}

// The names of their members.
const (
	SettingsName   = "voice_settings"
	DictionaryName = "pronunciation_dictionary_locators"
)

// ReadLexicon reads the one dictionary that can be used.
func (s *Settings) ReadLexicon(v jsontext.Value) error {
	var all []struct {
		ID string `json:"pronunciation_dictionary_id"`
	}
	switch err := json.Unmarshal(v, &all); {
	case err != nil || len(all) > 0 && all[0].ID == "":
		return errors.New("must be a list of objects with a pronunciation_dictionary_id")
	case len(all) > 1:
		return errors.New("name only one")
	case len(all) == 1:
		s.Lexicon = all[0].ID
	}
	return nil
}

// SettingsMembers are the members of voice_settings that change the sound.
var SettingsMembers = []dialect.Member[Settings]{
	{Name: "speed", Code: speech.CodeBadSpeed, Read: func(s *Settings, v jsontext.Value) error {
		err := strictjson.Number(v, &s.Speed)
		if err == nil && (s.Speed < MinSpeed || s.Speed > MaxSpeed) {
			err = fmt.Errorf("must be in [%g, %g]", MinSpeed, MaxSpeed)
		}
		return err
	}},
}

// ErrNoSpeed refuses a speed where the format can have none.
var ErrNoSpeed = dialect.Refuse(SettingsName, speech.CodeBadSpeed, speech.ErrBadSpeed.Text)

// MarkupName is what asks for SSML.
const MarkupName = "enable_ssml_parsing"

// NormalizeAs reads apply_text_normalization, whose off is for text that is spoken as it is.
func NormalizeAs(u *speech.Utterance, value string) error {
	const name = "apply_text_normalization"
	switch strings.ToLower(value) {
	case "", "auto", "on":
		return nil
	case "off":
		u.Raw = true
	default:
		return dialect.Refuse(name, speech.CodeBadRequest, name+" must be auto, on or off")
	}
	if u.SSML {
		return dialect.Refuse(name, speech.CodeBadRequest, name+": must not be off with "+MarkupName)
	}
	return nil
}

// ReadSeed reads a seed, which has 32 bits.
func ReadSeed(seed float64) (int64, error) {
	if seed < 0 || seed > math.MaxUint32 || seed != math.Trunc(seed) {
		return 0, dialect.Refuse("seed", speech.CodeBadRequest, "seed: must be an integer from 0 to 4294967295")
	}
	return int64(seed), nil
}

// Bool reads a value of a query, in any case of letters.
func Bool(c dialect.Call, name string) (bool, error) {
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
