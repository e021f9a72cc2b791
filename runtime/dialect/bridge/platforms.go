package bridge

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

const (
	lawFrame   = 160  // bytes of 20 ms at 8 kHz
	lawSilence = 0xFF // of µ-law

	exotelFrame = 3200 // bytes: less is not played well, and only multiples of 320
)

// twilio is the stream of Twilio: https://www.twilio.com/docs/voice/media-streams/websocket-messages
type twilio struct{}

func (twilio) sound(dialect.Call) (sound, error) { return law(), nil }

func law() sound {
	s := sound{frame: lawFrame, silence: lawSilence}
	s.audio, s.word = raw(dialect.MuLaw, telephone, "mulaw")
	return s
}

func (twilio) read(data []byte) (event, error) {
	m, err := readMembers(data, "event", "start", "mark", "dtmf")
	if err != nil {
		return event{}, err
	}
	e := event{kind: kinds[m.text("event")]}
	switch e.kind {
	case started:
		start := m.object("start", "streamSid", "customParameters")
		e.stream, e.parameters = start.text("streamSid"), texts(start["customParameters"])
	case reached:
		e.name = m.object("mark", "name").text("name")
	case dialled:
		e.digit = digit(m.object("dtmf", "digit").text("digit"))
	}
	return e, nil
}

// kinds are the events of platforms that matter. playedStream is what Plivo calls a mark that was reached.
var kinds = map[string]kind{
	"start": started, "mark": reached, "playedStream": reached, "dtmf": dialled, "stop": stopped,
}

func (twilio) media(stream string, frame []byte) any {
	return map[string]any{"event": "media", "streamSid": stream, "media": map[string]any{"payload": encode64(frame)}}
}

func (twilio) mark(stream, name string) any {
	return map[string]any{"event": "mark", "streamSid": stream, "mark": map[string]any{"name": name}}
}

// plivo is the stream of Plivo: https://www.plivo.com/docs/voice/audio-streaming
type plivo struct{}

func (plivo) sound(dialect.Call) (sound, error) { return law(), nil }

func (plivo) read(data []byte) (event, error) {
	m, err := readMembers(data, "event", "start", "name", "dtmf", "extra_headers")
	if err != nil {
		return event{}, err
	}
	e := event{kind: kinds[m.text("event")], name: m.text("name")}
	switch e.kind {
	case started:
		e.stream, e.parameters = m.object("start", "streamId").text("streamId"), pairs(m.text("extra_headers"))
	case dialled:
		e.digit = digit(m.object("dtmf", "digit").text("digit"))
	}
	return e, nil
}

// pairs reads what Plivo passes on of the attribute extraHeaders: name=value, with commas or semicolons between them.
func pairs(text string) map[string]string {
	all := map[string]string{}
	split := func(r rune) bool { return r == ',' || r == ';' }
	for pair := range strings.FieldsFuncSeq(text, split) {
		if name, value, ok := strings.Cut(pair, "="); ok {
			all[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all
}

func (plivo) media(_ string, frame []byte) any {
	return map[string]any{"event": "playAudio", "media": map[string]any{
		"contentType": "audio/x-mulaw", "sampleRate": telephone, "payload": encode64(frame),
	}}
}

func (plivo) mark(stream, name string) any {
	return map[string]any{"event": "checkpoint", "streamId": stream, "name": name}
}

// exotel is the stream of Exotel's voicebot applet. It numbers messages, and says when audio begins.
type exotel struct {
	rate      int
	sequence  int
	chunk     int
	timestamp time.Duration
}

// sound has the rate of the parameter sample-rate, which Exotel reads, too.
func (x *exotel) sound(c dialect.Call) (s sound, err error) {
	switch rate := c.Query.Get("sample-rate"); rate {
	case "", "8000":
		x.rate = telephone
	case "16000", "24000":
		x.rate, _ = strconv.Atoi(rate)
	default:
		return s, dialect.Refuse("sample-rate", speech.CodeBadSampleRate, "sample-rate must be 8000, 16000 or 24000")
	}
	s = sound{frame: exotelFrame}
	s.audio, s.word = raw(dialect.S16, x.rate, "pcm")
	return s, nil
}

func (x *exotel) read(data []byte) (event, error) {
	m, err := readMembers(data, "event", "stream_sid", "start", "mark", "dtmf")
	if err != nil {
		return event{}, err
	}
	e := event{kind: kinds[m.text("event")]}
	switch e.kind {
	case started:
		start := m.object("start", "stream_sid", "custom_parameters")
		if e.stream = m.text("stream_sid"); e.stream == "" {
			e.stream = start.text("stream_sid")
		}
		e.parameters = texts(start["custom_parameters"])
	case reached:
		e.name = m.object("mark", "name").text("name")
	case dialled:
		e.digit = digit(m.object("dtmf", "digit").text("digit"))
	}
	return e, nil
}

func (x *exotel) media(stream string, frame []byte) any {
	x.sequence++
	x.chunk++
	begins := x.timestamp
	x.timestamp += time.Duration(len(frame)/2) * time.Second / time.Duration(x.rate)
	return map[string]any{
		"event": "media", "stream_sid": stream, "sequence_number": x.sequence,
		"media": map[string]any{"chunk": x.chunk, "timestamp": strconv.FormatInt(begins.Milliseconds(), 10), "payload": encode64(frame)},
	}
}

func (x *exotel) mark(stream, name string) any {
	x.sequence++
	return map[string]any{
		"event": "mark", "stream_sid": stream, "sequence_number": x.sequence, "mark": map[string]any{"name": name},
	}
}

// object is members of a message, by name.
type object map[string]jsontext.Value

func readMembers(data []byte, names ...string) (object, error) {
	values := make([]jsontext.Value, len(names))
	if err := strictjson.Members(data, names, values); err != nil {
		return nil, err
	}
	m := object{}
	for i, name := range names {
		m[name] = values[i]
	}
	return m, nil
}

// object returns members of a member; none if that is not an object.
func (m object) object(name string, names ...string) object {
	of, _ := readMembers(m[name], names...)
	return of
}

// text returns a member that is a string, and nothing for any other.
func (m object) text(name string) (text string) {
	if m[name].Kind() == '"' && strictjson.String(m[name], &text) != nil {
		return ""
	}
	return text
}

// texts are the members of an object that are strings.
func texts(v jsontext.Value) map[string]string {
	m, err := readMembers(v, "text", "voice")
	if err != nil {
		return nil
	}
	return map[string]string{"text": m.text("text"), "voice": m.text("voice")}
}

// digit is a key of a telephone; nothing for anything else.
func digit(text string) string {
	const digits = "0123456789*#ABCD"
	if len(text) == 1 && strings.Contains(digits, text) {
		return text
	}
	return ""
}

func encode64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
