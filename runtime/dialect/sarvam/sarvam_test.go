package sarvam

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// call is a request to a server that writes every bit rate that mp3 has, but no flac.
func call(body string) dialect.Call {
	return dialect.Call{
		RequestID: "req_1", Body: []byte(body), Query: url.Values{}, Header: func(string) string { return "" },
		Allows:  func(string) bool { return true },
		Encodes: func(a dialect.Audio) bool { return a.Container != dialect.FLAC },
		Model:   speech.Model{Voices: []speech.Voice{{Name: "anjura"}, {Name: "raj"}}},
	}
}

func audioOf(
	container dialect.Container, e dialect.Encoding, rate, bitRate int, speed float64, contentType string,
) dialect.Audio {
	return dialect.Audio{Container: container, Encoding: e, Rate: rate, BitRate: bitRate, Speed: speed,
		ContentType: contentType}
}

var wav = audioOf(dialect.WAV, dialect.S16, 24_000, 0, 1, "audio/wav")

// TestRequests reads what real clients of November 2026 send, and what others might.
func TestRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		fields, voice, word string
		temperature         float64
		audio               dialect.Audio
		ignored             string
	}{
		"PyPI": {`,"language_code":"hi-IN","speaker":"anjura","model":"swar-1"`, "anjura", "wav/24000", 0.3, wav, "language_code"},
		"PyPI, mp3": {
			`,"language_code":"hi-IN","speaker":"raj","speech_sample_rate":22050,"model":"swar-1","output_audio_codec":"mp3"`,
			"raj", "mp3/22050", 0.3, audioOf(dialect.MP3, "", 22_050, 128_000, 1, "audio/mpeg"), "language_code",
		},
		"npm, a rate in a string": {
			`,"language_code":"hi-IN","speaker":"Shubh","model":"bulbul:v3","output_audio_codec":"mp3","speech_sample_rate":"24000"`,
			"raj", "mp3/24000", 0.3, audioOf(dialect.MP3, "", 24_000, 128_000, 1, "audio/mpeg"), "language_code",
		},
		"LiveKit Node": {
			`,"target_language_code":"hi-IN","speaker":"anjura","model":"swar-1","pace":1,"speech_sample_rate":"24000",
			"output_audio_codec":"linear16","pitch":0,"loudness":1,"enable_preprocessing":false`,
			"anjura", "linear16/24000", 0.3, audioOf(dialect.Raw, dialect.S16, 24_000, 0, 1, "audio/pcm"), "target_language_code, enable_preprocessing",
		},
		"LiveKit Python": {
			`,"target_language_code":"hi-IN","speaker":"shubh","pace":1.0,"speech_sample_rate":22050,"model":"swar-1","output_audio_bitrate":"64k",
			"min_buffer_size":50,"max_chunk_length":150,"output_audio_codec":"mp3"`,
			"raj", "mp3/22050", 0.3, audioOf(dialect.MP3, "", 22_050, 64_000, 1, "audio/mpeg"), "target_language_code, min_buffer_size, max_chunk_length",
		},
		"Pipecat": {
			`,"target_language_code":"en-IN","speaker":"anushka","speech_sample_rate":24000,"enable_preprocessing":true,"model":"bulbul:v3",
			"pace":1.5,"temperature":0.6`,
			"anjura", "wav/24000", 0.6, audioOf(dialect.WAV, dialect.S16, 24_000, 0, 1.5, "audio/wav"), "target_language_code, enable_preprocessing",
		},
		"nothing named":    {``, "anjura", "wav/24000", 0.3, wav, ""},
		"null is absence":  {`,"speaker":null,"pace":null,"pitch":null,"dict_id":null,"speech_sample_rate":null`, "anjura", "wav/24000", 0.3, wav, ""},
		"the hottest":      {`,"temperature":2`, "anjura", "wav/24000", 2, wav, ""},
		"hotter than that": {`,"temperature":7`, "anjura", "wav/24000", 2, wav, ""},
		"the coldest":      {`,"temperature":0.01`, "anjura", "wav/24000", 0.01, wav, ""},
		"a law":            {`,"output_audio_codec":"mulaw"`, "anjura", "mulaw/8000", 0.3, audioOf(dialect.Raw, dialect.MuLaw, 8000, 0, 1, "audio/mulaw"), ""},
		"a law of another rate": {
			`,"output_audio_codec":"alaw","speech_sample_rate":16000`, "anjura", "alaw/16000", 0.3, audioOf(dialect.Raw, dialect.ALaw, 16_000, 0, 1, "audio/alaw"), "",
		},
		"opus":        {`,"output_audio_codec":"opus","output_audio_bitrate":"48k"`, "anjura", "opus/24000", 0.3, audioOf(dialect.Ogg, "", 24_000, 48_000, 1, "audio/ogg"), ""},
		"the slowest": {`,"pace":0.5`, "anjura", "wav/24000", 0.3, audioOf(dialect.WAV, dialect.S16, 24_000, 0, 0.5, "audio/wav"), ""},
		"the fastest": {`,"pace":2`, "anjura", "wav/24000", 0.3, audioOf(dialect.WAV, dialect.S16, 24_000, 0, 2, "audio/wav"), ""},
	} {
		o, err := readWhole(call(`{"text":" Namaste! "` + tt.fields + `}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		u := o.Utterance
		if u.Text != "Namaste!" || u.Voice != tt.voice || o.Word != tt.word || u.Temperature != tt.temperature ||
			o.Audio != tt.audio || !o.Buffered {
			t.Errorf("%s: the order is %+v", name, o)
		}
		if got := o.Headers["X-Ignored"]; got != tt.ignored {
			t.Errorf("%s: ignored is %q, want %q", name, got, tt.ignored)
		}
	}
	o, err := readStream(call(`{"text":"Hi"}`))
	if err != nil || o.Word != "mp3/24000" || o.Buffered || o.Framing != nil {
		t.Errorf("a stream is %+v, %v", o, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		fields, field string
		code          speech.Code
	}{
		"a voice of nobody":    {`,"speaker":"kaun"`, "speaker", speech.CodeUnknownVoice},
		"a voice of numbers":   {`,"speaker":1`, "speaker", speech.CodeBadRequest},
		"too slow":             {`,"pace":0.49`, "pace", speech.CodeBadSpeed},
		"too fast":             {`,"pace":2.01`, "pace", speech.CodeBadSpeed},
		"pace in words":        {`,"pace":"1"`, "pace", speech.CodeBadSpeed},
		"aac":                  {`,"output_audio_codec":"aac"`, "output_audio_codec", dialect.CodeUnsupported},
		"no encoder":           {`,"output_audio_codec":"flac"`, "output_audio_codec", dialect.CodeUnsupported},
		"an unknown codec":     {`,"output_audio_codec":"pcm"`, "output_audio_codec", speech.CodeBadFormat},
		"an odd rate":          {`,"speech_sample_rate":11025`, "speech_sample_rate", speech.CodeBadSampleRate},
		"half a rate":          {`,"speech_sample_rate":8000.5`, "speech_sample_rate", speech.CodeBadSampleRate},
		"a rate in words":      {`,"speech_sample_rate":"high"`, "speech_sample_rate", speech.CodeBadSampleRate},
		"an endless rate":      {`,"speech_sample_rate":1e999`, "speech_sample_rate", speech.CodeBadSampleRate},
		"an odd bit rate":      {`,"output_audio_bitrate":"100k"`, "output_audio_bitrate", speech.CodeBadFormat},
		"a bit rate in bits":   {`,"output_audio_bitrate":"128"`, "output_audio_bitrate", speech.CodeBadFormat},
		"a bit rate of number": {`,"output_audio_bitrate":128}`, "output_audio_bitrate", speech.CodeBadFormat},
		"pitch":                {`,"pitch":0.1`, "pitch", dialect.CodeUnsupported},
		"loudness":             {`,"loudness":0`, "loudness", dialect.CodeUnsupported},
		"too cold":             {`,"temperature":0.009`, "temperature", speech.CodeBadTemperature},
		"warm in words":        {`,"temperature":"warm"`, "temperature", speech.CodeBadTemperature},
		"a text of numbers":    {`,"text":7`, "text", speech.CodeBadText},
		"half a surrogate":     {`,"text":"\ud800"`, "text", speech.CodeBadText},
		"no text":              {`,"text":null`, "", speech.CodeTextEmpty},
		"white space":          {`,"text":" \n"`, "", speech.CodeTextEmpty},
		"half of JSON":         {`,"text":`, "", speech.CodeBadRequest},
		"no UTF-8":             {",\"x\":\"\xff\"", "", speech.CodeBadRequest},
	} {
		_, err := readWhole(call(`{"text":"Hi"` + strings.TrimSuffix(tt.fields, "}") + `}`))
		if name == "no text" {
			_, err = readWhole(call(`{}`))
		}
		refusal, _ := errors.AsType[*speech.Refusal](err)
		field, _ := errors.AsType[*dialect.FieldError](err)
		if refusal == nil || refusal.Code != tt.code ||
			tt.field != "" && (field == nil || field.Field != tt.field ||
				!strings.Contains(refusal.Text, tt.field) && tt.code != speech.CodeUnknownVoice) {
			t.Errorf("%s: refused with %v, want %s of %s", name, err, tt.code, tt.field)
		}
	}
	for letters, want := range map[int]error{2499: nil, 2500: nil, 2501: speech.ErrTextTooLong} {
		if _, err := readWhole(call(`{"text":"` + strings.Repeat("क", letters) + ` "}`)); !errors.Is(err, want) {
			t.Errorf("%d letters: %v", letters, err)
		}
		if _, err := readStream(call(`{"text":"` + strings.Repeat("क", letters+1000) + ` "}`)); !errors.Is(err, want) {
			t.Errorf("a stream of %d letters: %v", letters+1000, err)
		}
	}
}

func TestAudioInJSON(t *testing.T) {
	f := audios(`a"b`)
	if first, second := f.Audio([]byte("RIF")), f.Audio([]byte("F")); len(first)+len(second) > 0 {
		t.Error("something is sent before the end")
	}
	if got, want := string(f.End(1)), `{"request_id":"a\"b","audios":["UklGRg=="]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// show writes actions as lines: messages as they are, what is asked of the server as words.
func show(actions []dialect.Action) string {
	var all []string
	for _, a := range actions {
		switch a := a.(type) {
		case dialect.Begin:
			all = append(all, fmt.Sprintf("begin %s %s", a.Order.Utterance.Voice, a.Order.Word))
		case dialect.Message:
			all = append(all, string(a.Data))
		case dialect.Append:
			all = append(all, fmt.Sprintf("append %q %v", a.Text, a.Piece))
		case dialect.Flush:
			all = append(all, "flush")
		case dialect.Reject:
			all = append(all, "reject "+a.Err.Error())
		default:
			all = append(all, fmt.Sprintf("%#v", a))
		}
	}
	return strings.Join(all, "\n")
}

type step struct {
	in   any // a message of the client, or an event
	want string
}

// TestTranscripts replays what real clients of November 2026 have sent, with what is spoken in between.
func TestTranscripts(t *testing.T) {
	const (
		config = `{"type":"config","data":{"language_code":"hi-IN","speaker":"anjura","pitch":0,"pace":1,"loudness":1,"speech_sample_rate":%s,` +
			`"enable_preprocessing":false,"output_audio_codec":"%s","output_audio_bitrate":"128k","min_buffer_size":50,"max_chunk_length":150,"dict_id":null}}`
		livekit = `{"type": "config", "data": {"target_language_code": "hi-IN", "speaker": "anjura", "pace": 1.0, "model": "swar-1", ` +
			`"speech_sample_rate": 22050, "output_audio_codec": "mp3"}}`
		text  = `{"type":"text","data":{"text":"Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"}}`
		piece = `append "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।" true`
		final = `{"type":"event","data":{"event_type":"final"}}`
		flush = `{"type":"flush"}`
	)
	first := dialect.Started{RequestID: "req_2", ContentType: "audio/pcm"}
	sound := dialect.Sound{Data: []byte("abc"), Frames: 1}
	heard := func(contentType, id string) string {
		return `{"type":"audio","data":{"content_type":"` + contentType + `","audio":"YWJj","request_id":"` + id + `"}}`
	}
	fault := dialect.Fault{Code: "busy", Status: 503, Text: "busy", RequestID: "req_3"}
	busy := `{"type":"error","data":{"message":"busy","code":429,"request_id":"req_3"}}`
	for name, tt := range map[string]struct {
		completion string
		steps      []step
	}{
		"npm": {"true", []step{
			{fmt.Sprintf(config, "24000", "linear16"), "begin anjura linear16/24000"},
			{text, piece}, {flush, "flush"},
			{first, ""}, {sound, heard("audio/pcm", "req_2")}, {dialect.Flushed{}, final},
		}},
		"PyPI, mulaw": {"True", []step{
			{fmt.Sprintf(config, "8000.0", "mulaw"), "begin anjura mulaw/8000"},
			{text, piece}, {flush, "flush"}, {dialect.Flushed{}, final},
		}},
		"LiveKit Node, which flushes twice": {"true", []step{
			{fmt.Sprintf(config, `"24000"`, "linear16"), "begin anjura linear16/24000"},
			{`{"type":"text","data":{"text":"Namaste!"}}`, `append "Namaste!" true`},
			{first, ""}, {sound, heard("audio/pcm", "req_2")},
			{flush, "flush"}, {flush, ""}, {dialect.Flushed{}, final},
		}},
		"LiveKit Python, turn by turn": {"True", []step{
			{livekit, "begin anjura mp3/22050"}, {text, piece}, {flush, "flush"},
			{livekit, "begin anjura mp3/22050"}, {text, piece},
			{dialect.Started{RequestID: "a", ContentType: "audio/mpeg"}, ""}, {sound, heard("audio/mpeg", "a")}, {dialect.Flushed{}, final},
			{flush, "flush"},
			{dialect.Started{RequestID: "b", ContentType: "audio/wav"}, ""}, {sound, heard("audio/wav", "b")}, {dialect.Flushed{}, final},
		}},
		"without events": {"false", []step{
			{livekit, "begin anjura mp3/22050"}, {text, piece}, {flush, "flush"}, {dialect.Words{}, ""}, {dialect.Flushed{}, ""},
		}},
		"config by default": {"", []step{{`{"type":"config","data":{}}`, "begin anjura mp3/22050"}}},
		"a ping":            {"", []step{{`{"type":"ping"}`, `{"type":"event","data":{"event_type":"pong"}}`}}},
		"failures leave the socket": {"true", []step{
			{livekit, "begin anjura mp3/22050"}, {text, piece}, {flush, "flush"}, {dialect.Failed{Fault: fault}, busy},
			{flush, ""}, {text, piece}, {flush, "flush"}, {dialect.Flushed{}, final}, {dialect.Rejected{Fault: fault}, busy},
		}},
		"hostile": {"true", []step{
			{text, "reject the first message must be a config"},
			{flush, "reject the first message must be a config"},
			{`{"type":"config"}`, "reject data: required"},
			{`{"type":"config","data":7}`, "reject invalid JSON: expected an object"},
			{`{"type":"config","data":{"speaker":"kaun"}}`, "reject unknown voice 'kaun'; see /v1/voices"},
			{flush, "reject the first message must be a config"},
			{`{"type":"config","data":{"speaker":"raj","output_audio_codec":"wav"}}`, "begin raj wav/24000"},
			{`{"type":"text"}`, "reject data: required"},
			{`{"type":"text","data":{"text":7}}`, "reject text: must be a string"},
			{`{"type":"text","data":{"text":"a\u0000"}}`, "reject text: must not contain NUL"},
			{`{"type":"text","data":{"text":"\ud83d"}}`, "reject text: not valid UTF-8"},
			{`{"type":"text","data":{"text":" "}}`, `append " " true`}, {flush, ""},
			{`{"type":"text","data":{}}`, `append "" true`},
			{`{"type":"speak"}`, `reject type: "speak" must be config, text, flush or ping`},
			{`{}`, `reject type: "" must be config, text, flush or ping`},
			{`{"type":"flush"`, "reject invalid JSON: unexpected end"},
			{dialect.Message{Binary: true, Data: []byte(flush)}, "reject expected a JSON text message"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := call("")
			c.Query.Set("send_completion_event", tt.completion)
			s, err := newSocket(c)
			if err != nil || len(s.Open()) > 0 {
				t.Fatal("it does not open in silence", err)
			}
			for i, step := range tt.steps {
				var got string
				switch in := step.in.(type) {
				case string:
					got = show(s.Read(dialect.Message{Data: []byte(in)}))
				case dialect.Message:
					got = show(s.Read(in))
				case dialect.Event:
					got = show(s.Write("", in))
				}
				if got != step.want {
					t.Errorf("step %d, %v:\n got %s\nwant %s", i, step.in, got, step.want)
				}
			}
		})
	}
}

// FuzzSpeech: whatever is sent is refused, or is an order that can be spoken.
func FuzzSpeech(f *testing.F) {
	for _, body := range []string{
		`{"text":"Namaste","speaker":"raj","pace":1.5,"speech_sample_rate":"8000","output_audio_codec":"mp3","output_audio_bitrate":"64k"}`,
		`{"text":"\ud83d\ude00","temperature":1e9}`, `{"text":{}}`, `[`, "\xef\xbb\xbf{}",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := readWhole(call(string(body)))
		if err != nil {
			if refusal, ok := errors.AsType[*speech.Refusal](err); !ok || refusal.Text == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		u := o.Utterance
		letters := utf8.RuneCountInString(u.Text)
		if letters == 0 || letters > maxText || u.Voice == "" || u.Temperature < minTemperature ||
			u.Temperature > speech.MaxTemperature {
			t.Fatalf("the order is %+v", o)
		}
		if a := o.Audio; a.ContentType == "" || a.Speed < minPace || a.Speed > maxPace || a.Rate < 8000 {
			t.Fatalf("the audio is %+v", a)
		}
	})
}

// FuzzMessages: each message has an answer, is refused or is asked of the server, and what is sent is JSON.
func FuzzMessages(f *testing.F) {
	f.Add(`{"type":"config","data":{"speaker":"raj"}}`, `{"type":"text","data":{"text":"Hi"}}`, `{"type":"flush"}`)
	f.Add(`{"type":"ping"}`, `{"type":"text","data":{"text":"\ud83d"}}`, `{"type":{}}`)
	f.Fuzz(func(t *testing.T, first, second, third string) {
		s, err := newSocket(call(""))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{first, second, third} {
			for _, a := range s.Read(dialect.Message{Data: []byte(m)}) {
				if reject, ok := a.(dialect.Reject); ok {
					a = s.Write("", dialect.Rejected{Fault: dialect.Fault{Code: "bad_request",
						Text: reject.Err.Error()}})[0]
				}
				if a, ok := a.(dialect.Message); ok && !json.Valid(a.Data) {
					t.Fatalf("%q is answered with %q", m, a.Data)
				}
			}
		}
	})
}
