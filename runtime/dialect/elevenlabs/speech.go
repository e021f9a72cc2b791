package elevenlabs

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/request"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/ssml"
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
	hasText, hasSeed, markup   bool
	chars                      int // of the text
	seed                       float64
	request.Settings
	ignored []string
}

var bodyMembers = []dialect.Member[body]{
	{Name: "text", Code: speech.CodeBadText, Read: func(b *body, v jsontext.Value) error {
		b.hasText = true
		return strictjson.String(v, &b.text)
	}},
	{Name: "model_id", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(b *body) *string { return &b.model })},
	{
		Name: "apply_text_normalization", Code: speech.CodeBadRequest,
		Read: dialect.ReadString(func(b *body) *string { return &b.normalization }),
	},
	{Name: request.MarkupName, Code: speech.CodeBadRequest, Read: dialect.ReadBool(func(b *body) *bool { return &b.markup })},
	{Name: "seed", Code: speech.CodeBadRequest, Read: func(b *body, v jsontext.Value) error {
		b.hasSeed = true
		return strictjson.Number(v, &b.seed)
	}},
	{Name: request.SettingsName, Code: speech.CodeBadRequest, Read: func(b *body, v jsontext.Value) error {
		return dialect.ReadObject(v, request.SettingsMembers, &b.Settings, func(name string) {
			b.ignored = append(b.ignored, request.SettingsName+"."+name)
		})
	}},
	{Name: request.DictionaryName, Code: speech.CodeBadRequest, Read: func(b *body, v jsontext.Value) error { return b.ReadLexicon(v) }},
}

// read reads a request.
func (w way) read(c dialect.Call) (o dialect.Order, err error) {
	b := body{Settings: request.Settings{Speed: 1}}
	err = dialect.ReadBody(c.Body, bodyMembers, &b, func(name string) { b.ignored = append(b.ignored, name) })
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
	o, err = request.Common(c)
	o.Headers = headers
	if err != nil {
		return o, err
	}
	if err := b.fill(c, &o); err != nil {
		return o, err
	}
	o.Lexicon = b.Lexicon
	headers["Character-Cost"] = strconv.Itoa(b.chars)
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
	if b.chars = utf8.RuneCountInString(u.Text); b.chars > maxText {
		return dialect.Refuse("text", speech.CodeTextTooLong, fmt.Sprintf("text longer than %d characters", maxText))
	}
	u.SSML = u.SSML || b.markup
	if err := request.NormalizeAs(u, b.normalization); err != nil {
		return err
	}
	if u.SSML {
		u.Text = ssml.Document(u.Text)
	}
	if b.hasSeed {
		if u.Seed, err = request.ReadSeed(b.seed); err != nil {
			return err
		}
		o.HasSeed = true
	}
	if o.Audio.Speed = b.Speed; b.Speed != 1 && !c.Encodes(o.Audio) {
		return request.ErrNoSpeed
	}
	return nil
}
