package cartesia

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// call is a request to a server that writes mp3 of some bit rates, and everything else. Its key may not use kavi.
func call(body string) dialect.Call {
	return dialect.Call{
		RequestID: "req_1", Body: []byte(body), Query: url.Values{}, Header: func(string) string { return "" },
		Allows: func(voice string) bool { return voice != "kavi" },
		Encodes: func(a dialect.Audio) bool {
			return a.Container != dialect.MP3 || a.BitRate%32_000 == 0 && 32_000 <= a.BitRate && a.BitRate <= 192_000
		},
		Model: speech.Model{Voices: []speech.Voice{
			{Name: "anjura", Language: "hi-IN+en-IN"}, {Name: "raj", Language: "hi-IN+en-IN"}, {Name: "kavi", Language: "hi-IN"}, {Name: "mira", Language: "en"},
		}},
	}
}

const (
	raw   = `"output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":24000}`
	voice = `"voice":{"mode":"id","id":"anjura"}`
	uuid  = "f786b574-daa5-4673-aa0c-cbe3e8534c02"
)

func audioOf(
	container dialect.Container, e dialect.Encoding, rate, bitRate int, speed float64, contentType string,
) dialect.Audio {
	return dialect.Audio{Container: container, Encoding: e, Rate: rate, BitRate: bitRate, Speed: speed,
		ContentType: contentType}
}

var pcm = audioOf(dialect.Raw, dialect.S16, 24_000, 0, 1, "audio/pcm")

// faster is pcm at another speed.
func faster(speed float64) dialect.Audio {
	a := pcm
	a.Speed = speed
	return a
}

// TestRequests reads what real clients of November 2026 send, and what others might.
func TestRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		fields, voice, word string
		audio               dialect.Audio
		ignored             string
	}{
		"npm, wav": {
			`"model_id":"swar-1",` + voice + `,"language":"hi","output_format":{"container":"wav","encoding":"pcm_s16le","sample_rate":24000}`,
			"anjura", "wav_pcm_s16le/24000", audioOf(dialect.WAV, dialect.S16, 24_000, 0, 1, "audio/wav"), "language",
		},
		"npm, mp3": {
			voice + `,"output_format":{"container":"mp3","sample_rate":24000,"bit_rate":64000}`,
			"anjura", "mp3/24000", audioOf(dialect.MP3, "", 24_000, 64_000, 1, "audio/mpeg"), "",
		},
		"npm, a voice of Cartesia":    {`"voice":{"mode":"id","id":"` + uuid + `"},` + raw, "anjura", "pcm_s16le/24000", pcm, ""},
		"PyPI, LiveKit and Pipecat":   {`"model_id":"sonic-3",` + voice + `,"language":"en",` + raw, "anjura", "pcm_s16le/24000", pcm, "language"},
		"a bare voice":                {`"voice":"RAJ",` + raw, "raj", "pcm_s16le/24000", pcm, ""},
		"a speed":                     {voice + `,` + raw + `,"generation_config":{"speed":1.5,"volume":2,"emotion":"sad"}`, "anjura", "pcm_s16le/24000", faster(1.5), "generation_config.volume, generation_config.emotion"},
		"the slowest":                 {voice + `,` + raw + `,"generation_config":{"speed":0.6}`, "anjura", "pcm_s16le/24000", faster(0.6), ""},
		"a speed in words":            {voice + `,` + raw + `,"speed":"slow"`, "anjura", "pcm_s16le/24000", faster(0.8), ""},
		"a speed of the first API":    {`"voice":{"id":"raj","__experimental_controls":{"speed":"fastest","emotion":[]}},` + raw, "raj", "pcm_s16le/24000", faster(1.5), "voice.__experimental_controls.emotion"},
		"null is absence":             {voice + `,` + raw + `,"speed":null,"generation_config":null,"pronunciation_dict_id":null,"duration":null`, "anjura", "pcm_s16le/24000", pcm, ""},
		"floats":                      {voice + `,"output_format":{"container":"raw","encoding":"pcm_f32le","sample_rate":44100}`, "anjura", "pcm_f32le/44100", audioOf(dialect.Raw, dialect.F32, 44_100, 0, 1, "application/octet-stream"), ""},
		"a telephone":                 {voice + `,"output_format":{"container":"raw","encoding":"pcm_mulaw","sample_rate":8000}`, "anjura", "pcm_mulaw/8000", audioOf(dialect.Raw, dialect.MuLaw, 8000, 0, 1, "audio/mulaw"), ""},
		"a format with nothing named": {voice + `,"output_format":{"container":"mp3"}`, "anjura", "mp3/24000", audioOf(dialect.MP3, "", 24_000, 128_000, 1, "audio/mpeg"), ""},
	} {
		o, err := readBytes(call(`{"transcript":" Namaste! ",` + tt.fields + `}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		u := o.Utterance
		if u.Text != "Namaste!" || u.Voice != tt.voice || o.Word != tt.word || o.Audio != tt.audio || o.Buffered ||
			o.Framing != nil {
			t.Errorf("%s: the order is %+v", name, o)
		}
		if got := o.Headers["X-Ignored"]; got != tt.ignored {
			t.Errorf("%s: ignored is %q, want %q", name, got, tt.ignored)
		}
	}
}

func TestRefusals(t *testing.T) {
	format := func(members string) string { return voice + `,"output_format":{` + members + `}` }
	for name, tt := range map[string]struct {
		fields, field string
		code          speech.Code
	}{
		"no voice":               {raw, "voice", speech.CodeBadRequest},
		"a voice without id":     {`"voice":{"mode":"id"},` + raw, "voice", speech.CodeBadRequest},
		"a voice of nobody":      {`"voice":{"mode":"id","id":"kaun"},` + raw, "voice", speech.CodeUnknownVoice},
		"a voice of a list":      {`"voice":[],` + raw, "voice", speech.CodeBadRequest},
		"a voice of numbers":     {`"voice":{"id":7},` + raw, "voice.id", speech.CodeBadRequest},
		"an embedding":           {`"voice":{"mode":"embedding","embedding":[0.1]},` + raw, "voice.mode", speech.CodeBadRequest},
		"a hidden embedding":     {`"voice":{"id":"raj","embedding":[0.1]},` + raw, "voice.embedding", speech.CodeBadRequest},
		"a speed of numbers":     {`"voice":{"id":"raj","__experimental_controls":{"speed":-1}},` + raw, "voice.__experimental_controls.speed", speech.CodeBadSpeed},
		"no format":              {voice, "output_format", speech.CodeBadFormat},
		"no container":           {format(`"sample_rate":8000`), "output_format.container", speech.CodeBadFormat},
		"flac":                   {format(`"container":"flac"`), "output_format.container", speech.CodeBadFormat},
		"an unknown encoding":    {format(`"container":"raw","encoding":"pcm_s24le"`), "output_format.encoding", speech.CodeBadFormat},
		"an odd rate":            {format(`"container":"raw","sample_rate":11025`), "output_format.sample_rate", speech.CodeBadSampleRate},
		"an endless rate":        {format(`"container":"raw","sample_rate":1e999`), "output_format.sample_rate", speech.CodeBadSampleRate},
		"a rate in words":        {format(`"container":"raw","sample_rate":"8000"`), "output_format.sample_rate", speech.CodeBadSampleRate},
		"an odd bit rate":        {format(`"container":"mp3","bit_rate":64001`), "output_format.bit_rate", speech.CodeBadFormat},
		"too slow":               {voice + `,` + raw + `,"generation_config":{"speed":0.59}`, "generation_config.speed", speech.CodeBadSpeed},
		"too fast":               {voice + `,` + raw + `,"generation_config":{"speed":1.51}`, "generation_config.speed", speech.CodeBadSpeed},
		"another word":           {voice + `,` + raw + `,"speed":"quick"`, "speed", speech.CodeBadSpeed},
		"a length":               {voice + `,` + raw + `,"duration":3`, "duration", speech.CodeBadRequest},
		"a transcript of 7":      {voice + `,` + raw + `,"transcript":7`, "transcript", speech.CodeBadText},
		"half a surrogate":       {voice + `,` + raw + `,"transcript":"\ud800"`, "transcript", speech.CodeBadText},
		"white space":            {voice + `,` + raw + `,"transcript":" \n"`, "", speech.CodeTextEmpty},
		"a long id":              {voice + `,` + raw + `,"context_id":"` + strings.Repeat("a", 257) + `"`, "context_id", speech.CodeBadRequest},
		"times of another shape": {voice + `,` + raw + `,"add_timestamps":"yes"`, "add_timestamps", speech.CodeBadRequest},
		"half of JSON":           {`"voice":`, "", speech.CodeBadRequest},
		"no UTF-8":               {"\"x\":\"\xff\"", "", speech.CodeBadRequest},
	} {
		_, err := readBytes(call(`{"transcript":"Hi",` + tt.fields + `}`))
		refusal, _ := errors.AsType[*speech.Refusal](err)
		field, _ := errors.AsType[*dialect.FieldError](err)
		if refusal == nil || refusal.Code != tt.code ||
			tt.field != "" && (field == nil || field.Field != tt.field ||
				!strings.Contains(refusal.Text, tt.field) && tt.code != speech.CodeUnknownVoice) {
			t.Errorf("%s: refused with %v, want %s of %s", name, err, tt.code, tt.field)
		}
	}
	for letters, want := range map[int]error{3999: nil, 4000: nil, 4001: speech.ErrTextTooLong} {
		_, err := readBytes(call(`{` + voice + `,` + raw + `,"transcript":"` + strings.Repeat("क", letters) + ` "}`))
		if !errors.Is(err, want) {
			t.Errorf("%d letters: %v", letters, err)
		}
	}
	if _, err := readEvents(call(`{"transcript":"Hi",` + format(`"container":"wav"`) + `}`)); err == nil {
		t.Error("events have a WAV")
	}
}

func TestEvents(t *testing.T) {
	fields := `{"transcript":"Hi",` + voice + `,` + raw + `,"add_timestamps":true`
	o, err := readEvents(call(fields + `,"context_id":"c"}`))
	if err != nil || !o.Utterance.WordTimes || o.Framing.ContentType != "text/event-stream" {
		t.Fatalf("%+v, %v", o, err)
	}
	words := dialect.Words{Source: []speech.Word{{Text: "हाय", Start: 80 * time.Millisecond,
		End: 160 * time.Millisecond}}}
	_, body := dialect.Cartesia.FaultBody(dialect.Fault{Code: "engine_error", Status: 500, Text: "engine error",
		RequestID: "r"})
	got := string(o.Framing.Audio([]byte("abc"))) + string(o.Framing.Words(words)) +
		string(o.Framing.Words(dialect.Words{})) +
		string(o.Framing.End(1)) + string(o.Framing.Failed(body))
	want := `event: chunk
data: {"type":"chunk","data":"YWJj","done":false,"status_code":206,"step_time":0,"context_id":"c"}

event: timestamps
data: {"type":"timestamps","done":false,"status_code":206,"word_timestamps":{"words":["हाय"],"start":[0.08],"end":[0.16]},"context_id":"c"}

event: done
data: {"type":"done","done":true,"status_code":200,"context_id":"c"}

event: error
data: {"type":"error","done":true,"status_code":500,"error_code":"internal_server_error","message":"engine error","request_id":"r","title":"Internal server error","context_id":"c"}

`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	o, err = readEvents(call(strings.Replace(fields, "true", "false", 1) + `}`))
	if err != nil || o.Framing.Words != nil || !strings.Contains(string(o.Framing.End(0)), `"context_id":"req_1"`) {
		t.Errorf("without times and a name: %+v, %v", o, err)
	}
}

func TestVoices(t *testing.T) {
	entry := func(name, language string) string {
		return fmt.Sprintf(`{"id":"%s","name":"%s","language":"%s","is_public":true,"description":"A voice of Swar","created_at":"2026-11-25T00:00:00Z"}`, name, name, language)
	}
	anjura, raj, mira := entry("anjura", "hi"), entry("raj", "hi"), entry("mira", "en")
	for query, want := range map[string]string{
		"":                               `{"data":[` + anjura + `,` + raj + `,` + mira + `],"has_more":false,"next_page":null}`,
		"limit=3":                        `{"data":[` + anjura + `,` + raj + `,` + mira + `],"has_more":false,"next_page":null}`,
		"limit=2":                        `{"data":[` + anjura + `,` + raj + `],"has_more":true,"next_page":"raj"}`,
		"limit=2&starting_after=raj":     `{"data":[` + mira + `],"has_more":false,"next_page":null}`,
		"starting_after=mira":            `{"data":[],"has_more":false,"next_page":null}`,
		"starting_after=gone":            `{"data":[],"has_more":false,"next_page":null}`,
		"limit=0":                        `limit must be in [1, 100]`,
		"limit=101":                      `limit must be in [1, 100]`,
		"limit=all":                      `limit must be in [1, 100]`,
		"limit=1&starting_after=anjura":  `{"data":[` + raj + `],"has_more":true,"next_page":"raj"}`,
		"limit=100&starting_after=kavi+": `{"data":[],"has_more":false,"next_page":null}`,
	} {
		c := call("")
		c.Query, _ = url.ParseQuery(query)
		list, err := listVoices(c)
		got, _ := json.Marshal(list)
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
	for id, want := range map[string]string{"raj": raj, uuid: strings.Replace(anjura, `"anjura"`, `"`+uuid+`"`, 1),
		"kaun": "voice_not_found", "kavi": "voice_not_found"} {
		c := call("")
		c.Var = func(string) string { return id }
		v, err := voiceOf(c)
		got, _ := json.Marshal(v)
		if missing, ok := errors.AsType[*dialect.NotFoundError](err); ok {
			got = []byte(missing.Code)
		}
		if string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", id, got, want)
		}
	}
}

// FuzzSpeech: whatever is sent is refused, or is an order that can be spoken.
func FuzzSpeech(f *testing.F) {
	for _, body := range []string{
		`{"transcript":"Namaste","voice":{"mode":"id","id":"raj"},` + raw + `,"generation_config":{"speed":1.2},"context_id":"a"}`,
		`{"transcript":"\ud83d\ude00","voice":"raj","output_format":{"container":"mp3","bit_rate":1e300}}`, `{"voice":{"id":{}}}`, `[`, "\xef\xbb\xbf{}",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := readEvents(call(string(body)))
		if err != nil {
			if refusal, ok := errors.AsType[*speech.Refusal](err); !ok || refusal.Text == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		letters := utf8.RuneCountInString(o.Utterance.Text)
		if letters == 0 || letters > maxTranscript || o.Utterance.Voice == "" || o.Word == "" {
			t.Fatalf("the order is %+v", o)
		}
		if a := o.Audio; a.ContentType == "" || a.Speed < minSpeed || a.Speed > maxSpeed || a.Rate < 8000 {
			t.Fatalf("the audio is %+v", a)
		}
	})
}
