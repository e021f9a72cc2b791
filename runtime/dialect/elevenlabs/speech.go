package elevenlabs

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

const maxText = 5000 // code points after trimming

// way is one of the four ways to ask for speech by POST.
type way struct {
	whole bool // one answer, when all was spoken
	timed bool // JSON with times of characters
}

// body is the members of a request. Members of any other name are ignored.
type body struct {
	text, model, normalization string
	hasText, hasSeed           bool
	seed                       float64
	speed                      float64
	ignored                    []string
}

var bodyNames = []string{"text", "model_id", "apply_text_normalization", "seed", "voice_settings", "pronunciation_dictionary_locators"}

// readBody reads the members of a request.
func readBody(data []byte) (b body, err error) {
	values := make([]jsontext.Value, len(bodyNames))
	err = strictjson.MembersAnd(data, bodyNames, values, func(name string) { b.ignored = append(b.ignored, name) })
	if err != nil {
		return b, dialect.Refuse("", speech.CodeBadRequest, "invalid JSON: "+err.Error())
	}
	for i, to := range []*string{&b.text, &b.model, &b.normalization} {
		if v := values[i]; v != nil && v.Kind() != 'n' {
			if err := strictjson.String(v, to); err != nil {
				return b, dialect.Refuse(bodyNames[i], speech.CodeBadRequest, bodyNames[i]+": "+err.Error())
			}
			b.hasText = b.hasText || i == 0
		}
	}
	if v := values[3]; v != nil && v.Kind() != 'n' {
		if err := strictjson.Number(v, &b.seed); err != nil {
			return b, dialect.Refuse("seed", speech.CodeBadRequest, "seed: "+err.Error())
		}
		b.hasSeed = true
	}
	speed, ignored, err := readSpeed(values[4])
	if err != nil {
		return b, err
	}
	b.speed, b.ignored = speed, append(b.ignored, ignored...)
	if !isEmpty(values[5]) {
		return b, refuseDictionary()
	}
	if !utf8.Valid(data) { // in a name, or in a member that is ignored
		return b, dialect.Refuse("", speech.CodeBadRequest, "invalid JSON: not valid UTF-8")
	}
	return b, nil
}

// isEmpty reports whether v says nothing.
func isEmpty(v jsontext.Value) bool {
	return v == nil || v.Kind() == 'n' || v.Kind() == '[' && string(v.Clone()) == "[]"
}

func refuseDictionary() error {
	const name = "pronunciation_dictionary_locators"
	return dialect.Refuse(name, speech.CodeBadRequest, name+": not supported; leave it out")
}

// read reads a request.
func (w way) read(c dialect.Call) (o dialect.Order, err error) {
	b, err := readBody(c.Body)
	headers := map[string]string{"Request-Id": c.RequestID}
	if len(b.ignored) > 0 {
		headers["X-Ignored"] = dialect.Ignored(b.ignored)
	}
	if b.model != "" {
		headers["X-Model-Requested"] = dialect.HeaderValue(b.model)
	}
	if err != nil {
		return dialect.Order{Headers: headers}, err
	}
	o, err = common(c)
	o.Headers = headers
	if err != nil {
		return o, err
	}
	if err := b.fill(c, &o); err != nil {
		return o, err
	}
	headers["Character-Cost"] = strconv.Itoa(utf8.RuneCountInString(o.Utterance.Text))
	o.Buffered = w.whole
	if w.timed {
		o.Utterance.WordTimes = true
		o.Framing = lines()
		if w.whole {
			o.Framing = whole()
		}
	}
	return o, nil
}

// fill checks the members, and puts them into o.
func (b *body) fill(c dialect.Call, o *dialect.Order) (err error) {
	u := &o.Utterance
	if !b.hasText {
		return dialect.Refuse("text", speech.CodeBadRequest, "text: required")
	}
	if u.Text, err = speech.CleanText(b.text); err != nil {
		return err
	}
	if utf8.RuneCountInString(u.Text) > maxText {
		return dialect.Refuse("text", speech.CodeTextTooLong, fmt.Sprintf("text longer than %d characters", maxText))
	}
	if u.Raw, err = readNormalization(b.normalization); err != nil {
		return err
	}
	if b.hasSeed {
		if u.Seed, err = readSeed(b.seed); err != nil {
			return err
		}
		o.HasSeed = true
	}
	if o.Audio.Speed = b.speed; b.speed != 1 && !c.Encodes(o.Audio) {
		return errNoSpeed
	}
	return nil
}
