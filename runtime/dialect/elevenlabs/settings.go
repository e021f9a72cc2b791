package elevenlabs

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

// voiceSettings are how a text is spoken. Of the member voice_settings only the speed changes anything.
type voiceSettings struct {
	speed   float64
	lexicon string
}

// The names of their members.
const (
	settingsName   = "voice_settings"
	dictionaryName = "pronunciation_dictionary_locators"
)

// readLexicon reads the one dictionary that can be used.
func (s *voiceSettings) readLexicon(v jsontext.Value) error {
	var all []struct {
		ID string `json:"pronunciation_dictionary_id"`
	}
	switch err := json.Unmarshal(v, &all); {
	case err != nil || len(all) > 0 && all[0].ID == "":
		return errors.New("must be a list of objects with a pronunciation_dictionary_id")
	case len(all) > 1:
		return errors.New("name only one")
	case len(all) == 1:
		s.lexicon = all[0].ID
	}
	return nil
}

var voiceMembers = []dialect.Member[voiceSettings]{
	{Name: "speed", Code: speech.CodeBadSpeed, Read: func(s *voiceSettings, v jsontext.Value) error {
		err := strictjson.Number(v, &s.speed)
		if err == nil && (s.speed < minSpeed || s.speed > maxSpeed) {
			err = fmt.Errorf("must be in [%g, %g]", minSpeed, maxSpeed)
		}
		return err
	}},
}

var errNoSpeed = dialect.Refuse(settingsName, speech.CodeBadSpeed, speech.ErrBadSpeed.Text)

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
