package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
	"github.com/swar-tts/swar/runtime/wav"
)

// toElevenLabs posts body as a client of ElevenLabs does. The path goes on behind the voice.
func (g *rig) toElevenLabs(path, body string, headers ...string) answered {
	g.t.Helper()
	return g.do(http.MethodPost, "/v1/text-to-speech/"+path, body,
		append([]string{"X-Api-Key", "", "Xi-Api-Key", testKey}, headers...)...)
}

// wantElevenLabsError checks that a is an error that every client of ElevenLabs reads.
func (a answered) wantElevenLabsError(t *testing.T, status int, word string) {
	t.Helper()
	var got struct{ Detail map[string]string }
	err := json.Unmarshal(a.body, &got)
	if d := got.Detail; err != nil || a.StatusCode != status || len(d) != 2 || d["status"] != word ||
		d["message"] == "" {
		t.Errorf("%s %s (%v), want %d %s", a.Status, a.body, err, status, word)
	}
	if a.Header.Get("X-Request-Id") == "" || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers are missing: %v", a.Header)
	}
	if got, want := a.Header.Get("Retry-After") == "1", status == 429 || status == 503; got != want {
		t.Errorf("Retry-After is %q with %d", a.Header.Get("Retry-After"), status)
	}
}

// TestElevenLabsIsTheNativeVoice: the formats that both have are the same bytes, streamed and as a whole.
func TestElevenLabsIsTheNativeVoice(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	for word, native := range map[string]string{"wav_24000": "wav", "pcm_24000": "pcm16", "opus_48000_96": ""} {
		for path, stream := range map[string]bool{"raj": false, "raj/stream": true} {
			got := g.toElevenLabs(path+"?output_format="+word, `{"text":"Aapka OTP 407 hai.","seed":7}`)
			length := ""
			if !stream {
				length = strconv.Itoa(len(got.body))
			}
			if got.StatusCode != http.StatusOK || len(got.body) < 10 || got.Header.Get("Content-Length") != length {
				t.Errorf("%s as %s: %s with %d bytes, length %q", path, word, got.Status, len(got.body),
					got.Header.Get("Content-Length"))
			}
			wantHeaders(t, got.Header, map[string]string{"X-Voice": "raj", "X-Seed": "7", "Character-Cost": "18",
				"Request-Id": got.Header.Get("X-Request-Id")})
			if native == "" {
				continue
			}
			want := g.speak(fmt.Sprintf(`{"text":"Aapka OTP 407 hai.","voice":"raj","format":%q,"seed":7,"stream":%v}`,
				native, stream))
			if !bytes.Equal(got.body, want.body) {
				t.Errorf("%s as %s has %d bytes, natively %d", path, word, len(got.body), len(want.body))
			}
		}
	}
}

// TestElevenLabsKnowsTheLength: a WAV that was encoded as a stream has right lengths as a whole.
func TestElevenLabsKnowsTheLength(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects, func(c *Config) { c.Encoders = wavEncoders{} })
	got := g.toElevenLabs("raj?output_format=wav_8000", `{"text":"Aapka OTP 407 hai."}`)
	if got.StatusCode != http.StatusOK || len(got.body) < 1000 {
		t.Fatalf("%s %.100s", got.Status, got.body)
	}
	if riff, data := binary.LittleEndian.Uint32(got.body[4:]),
		binary.LittleEndian.Uint32(got.body[40:]); int(riff) != len(got.body)-8 || int(data) != len(got.body)-44 {
		t.Errorf("the lengths are %d and %d, of %d bytes", riff, data, len(got.body))
	}
	got = g.toElevenLabs("raj/with-timestamps?output_format=wav_8000", `{"text":"Aapka OTP 407 hai."}`)
	var whole timedAudio
	if err := json.Unmarshal(got.body, &whole); err != nil || len(whole.Audio) < 1000 {
		t.Fatalf("%v: %.100s", err, got.body)
	}
	if data := binary.LittleEndian.Uint32(whole.Audio[40:]); int(data) != len(whole.Audio)-44 {
		t.Errorf("the length is %d, of %d bytes", data, len(whole.Audio))
	}
	got = g.toElevenLabs("raj/stream?output_format=wav_8000", `{"text":"Aapka OTP 407 hai."}`)
	if data := binary.LittleEndian.Uint32(got.body[40:]); data != 0xffffffff {
		t.Errorf("the length of a stream is %d", data)
	}
}

// wavEncoders write the header of a stream of WAV, and every third sample.
type wavEncoders struct{ lateEncoders }

func (wavEncoders) NewEncoder(a dialect.Audio, _ []string) (dialect.Encoder, error) {
	return &wavEncoder{wav.Sound{Tag: wav.PCM, Bits: 16, Rate: uint32(a.Rate)}.AppendHeader(nil, wav.Streaming)}, nil
}

type wavEncoder struct{ head []byte }

func (e *wavEncoder) Write(samples []int16) ([]byte, error) {
	out := e.head
	e.head = nil
	for i := 0; i < len(samples); i += 3 {
		out = binary.LittleEndian.AppendUint16(out, uint16(samples[i]))
	}
	return out, nil
}

func (e *wavEncoder) Close() ([]byte, error) { return nil, nil }

// timedAudio is an answer with times of characters, or a line of one.
type timedAudio struct {
	Audio                 []byte          `json:"audio_base64"`
	Alignment, Normalized *charactersTold // the second one is normalized_alignment
}

func (a *timedAudio) UnmarshalJSON(data []byte) error {
	var told struct {
		Audio      []byte          `json:"audio_base64"`
		Alignment  *charactersTold `json:"alignment"`
		Normalized *charactersTold `json:"normalized_alignment"`
	}
	err := json.Unmarshal(data, &told)
	*a = timedAudio(told)
	return err
}

type charactersTold struct {
	Characters []string
	Starts     []float64 `json:"character_start_times_seconds"`
	Ends       []float64 `json:"character_end_times_seconds"`
}

// check fails unless times grow and end within the audio.
func (c *charactersTold) check(t *testing.T, seconds float64) {
	t.Helper()
	if len(c.Characters) != len(c.Starts) || len(c.Starts) != len(c.Ends) || !slices.IsSorted(c.Starts) ||
		!slices.IsSorted(c.Ends) {
		t.Errorf("times do not grow: %+v", c)
	}
	if last := c.Ends[len(c.Ends)-1]; last > seconds || last < seconds/2 {
		t.Errorf("the last character ends at %g s of %g s", last, seconds)
	}
}

// TestElevenLabsTimes: characters are told as they were written and as they were spoken, and the disclosure is spoken
// only.
func TestElevenLabsTimes(t *testing.T) {
	const body = `{"text":"Aapka OTP 407 hai. कल मिलेंगे।","seed":7}`
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects,
		func(c *Config) { c.Disclosure = "Yeh AI hai." })
	pcm := g.toElevenLabs("raj?output_format=pcm_24000", body).body
	seconds := float64(len(pcm)) / speech.SampleRate / 2
	var whole timedAudio
	got := g.toElevenLabs("raj/with-timestamps?output_format=pcm_24000", body)
	if err := json.Unmarshal(got.body, &whole); err != nil || !bytes.Equal(whole.Audio, pcm) {
		t.Fatalf("%s, %v: %.200s", got.Status, err, got.body)
	}
	if text := strings.Join(whole.Alignment.Characters, ""); text != "Aapka OTP 407 hai. कल मिलेंगे। " {
		t.Errorf("written was %q", text)
	}
	if text := strings.Join(whole.Normalized.Characters, ""); !strings.HasPrefix(text, "Yeh ") ||
		!strings.Contains(text, "चार शून्य सात") {
		t.Errorf("spoken was %q", text)
	}
	whole.Alignment.check(t, seconds)
	whole.Normalized.check(t, seconds)

	var all timedAudio
	all.Alignment, all.Normalized = &charactersTold{}, &charactersTold{}
	streamed := g.toElevenLabs("raj/stream/with-timestamps?output_format=pcm_24000", body)
	for line := range bytes.Lines(streamed.body) {
		var one timedAudio
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all.Audio = append(all.Audio, one.Audio...)
		for to, from := range map[*charactersTold]*charactersTold{all.Alignment: one.Alignment,
			all.Normalized: one.Normalized} {
			if from != nil {
				to.Characters = append(to.Characters, from.Characters...)
				to.Starts, to.Ends = append(to.Starts, from.Starts...), append(to.Ends, from.Ends...)
			}
		}
	}
	if !bytes.Equal(all.Audio, pcm) || !slices.Equal(all.Alignment.Starts, whole.Alignment.Starts) ||
		!slices.Equal(all.Normalized.Ends, whole.Normalized.Ends) {
		t.Error("streamed are other samples or times than as a whole")
	}
	if streamed.Header.Get("Content-Type") != "application/json" || streamed.Header.Get("Content-Length") != "" {
		t.Errorf("streamed as %v", streamed.Header)
	}
	faster := g.toElevenLabs("raj/with-timestamps?output_format=pcm_24000",
		strings.Replace(body, "{", `{"voice_settings":{"speed":1.2},`, 1))
	var fast timedAudio
	if err := json.Unmarshal(faster.body, &fast); err != nil || fast.Alignment == nil {
		t.Fatalf("%v: %.200s", err, faster.body)
	}
	if got, want := fast.Alignment.Starts[9], whole.Alignment.Starts[9]/1.2; got < want-.002 || got > want+.002 {
		t.Errorf("at speed 1.2 a character is at %g s, want %g", got, want)
	}
}

func TestElevenLabsRefusals(t *testing.T) {
	g := newRig(t, &script{}, withDialects)
	const hi = `{"text":"Hi"}`
	for name, tt := range map[string]struct {
		path, body, key string
		status          int
		word            string
	}{
		"no key":           {"anjura", hi, "", 401, "needs_authorization"},
		"a wrong key":      {"anjura", hi, "wrong", 401, "invalid_api_key"},
		"a foreign voice":  {"anjura", hi, "raj-key", 403, "voice_access_denied"},
		"an unknown voice": {"aaaaaaaaaaaaaaaaaaaa/stream", hi, testKey, 404, "voice_not_found"},
		"no text":          {"anjura", `{}`, testKey, 400, "invalid_request"},
		"an empty text":    {"anjura/with-timestamps", `{"text":" "}`, testKey, 400, "input_text_empty"},
		"5001 letters":     {"anjura", `{"text":"` + strings.Repeat("क", 5001) + `"}`, testKey, 400, "max_character_limit_exceeded"},
		"a format":         {"anjura?output_format=aac", hi, testKey, 400, "invalid_output_format"},
		"a speed":          {"anjura", `{"text":"Hi","voice_settings":{"speed":1.21}}`, testKey, 400, "invalid_voice_settings"},
		"half of JSON":     {"anjura", `{"text":`, testKey, 400, "invalid_request"},
		"too much":         {"anjura", strings.Repeat(" ", maxBody+1), testKey, 413, "body_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			g.toElevenLabs(tt.path, tt.body, "Xi-Api-Key", tt.key).wantElevenLabsError(t, tt.status, tt.word)
		})
	}
	g.do(http.MethodGet, "/v1/text-to-speech/anjura", "").wantElevenLabsError(t, 405, "method_not_allowed")
	g.do(http.MethodGet, "/v1/voices/kaun", "").wantElevenLabsError(t, 404, "voice_not_found")
	if got := g.toElevenLabs("hpp4J3VqNfWAUOO0d1Us",
		`{"text":"`+strings.Repeat("क", 5000)+`"}`); got.StatusCode != 200 || got.Header.Get("X-Voice") != "anjura" {
		t.Errorf("5000 letters by a voice of theirs: %s %.200s", got.Status, got.body)
	}
}

func TestElevenLabsFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		status int
		word   string
	}{
		"busy":            {speech.ErrBusy, 429, "system_busy"},
		"engine":          {errors.New("boom"), 500, "internal_server_error"},
		"timeout":         {speech.ErrTimeout, 504, "timeout"},
		"nothing to say":  {speech.ErrNothingToSay, 400, "nothing_to_say"},
		"no key to check": {access.ErrUnavailable, 503, "portal_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			half := false
			g := newRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
				sink speech.Sink) (st speech.Stats, err error) {
				if half {
					st, _ = speakFrames(u, sink, 1, 4)
				}
				return st, tt.err
			}}, withDialects)
			for _, path := range []string{"raj", "raj/stream", "raj/with-timestamps", "raj/stream/with-timestamps"} {
				half = false
				g.toElevenLabs(path, `{"text":"Hi"}`).wantElevenLabsError(t, tt.status, tt.word)
				half = true
				got := g.toElevenLabs(path, `{"text":"Hi"}`)
				isCut := errors.Is(got.cut, io.ErrUnexpectedEOF) && got.StatusCode == http.StatusOK
				if !strings.Contains(path, "stream") {
					got.wantElevenLabsError(t, tt.status, tt.word) // nothing was sent by then
				} else if !isCut || strings.Contains(path, "with") &&
					!strings.HasSuffix(string(got.body), `"status":"`+tt.word+`"}}`+"\n") {
					t.Errorf("%s fails in the middle: %s %.300s (%v)", path, got.Status, got.body, got.cut)
				}
			}
		})
	}
}

// TestListsByHeader: two paths have three shapes, and the key's header decides.
func TestListsByHeader(t *testing.T) {
	g := newRig(t, &script{}, withDialects)
	for _, tt := range []struct{ path, header, value, want string }{
		{"/v1/voices", "Xi-Api-Key", testKey, `{"voices":[{"voice_id":"anjura","name":"anjura","category":"premade","labels":{"language":"hi-IN+en-IN","gender":"female"},"preview_url":"/samples/anjura.wav"}`},
		{"/v1/voices", "X-Api-Key", testKey, `{"voices":[{"name":"anjura","language":"hi-IN+en-IN"`},
		{"/v2/voices", "Xi-Api-Key", "raj-key", `{"voices":[{"voice_id":"raj",`},
		{"/v1/voices/bIHbv24MWmeRgasZH58o", "Xi-Api-Key", testKey, `{"voice_id":"raj",`},
		{"/v1/models", "Xi-Api-Key", testKey, `[{"model_id":"swar-1","name":"Swar","can_do_text_to_speech":true,`},
		{"/v1/models", "Authorization", "Bearer " + testKey, `{"object":"list",`},
		{"/v1/user", "Xi-Api-Key", testKey, `{"user_id":"swar","workspace_id":"swar","subscription":{"tier":"swar",`},
		{"/v1/user/subscription", "Xi-Api-Key", testKey, `{"tier":"swar","character_count":0,"character_limit":1000000000,"status":"active",`},
	} {
		got := g.do(http.MethodGet, tt.path, "", "X-Api-Key", "", tt.header, tt.value)
		if got.StatusCode != http.StatusOK || !strings.HasPrefix(string(got.body), tt.want) {
			t.Errorf("%s with %s: %s %s, want %s", tt.path, tt.header, got.Status, got.body, tt.want)
		}
	}
	g.do(http.MethodGet, "/v1/voices", "", "X-Api-Key", "", "Xi-Api-Key", "wrong").wantElevenLabsError(t, 401,
		"invalid_api_key")
}

// TestWhatClientsOfElevenLabsSend replays requests of real clients of November 2026.
func TestWhatClientsOfElevenLabsSend(t *testing.T) {
	const (
		node    = "User-Agent: @elevenlabs/elevenlabs-js/2.73.0|x-fern-language: JavaScript|Accept: */*|Accept-Encoding: gzip, deflate|Content-Type: application/json"
		python  = "Accept: */*|x-fern-language: Python|Content-Type: application/json"
		livekit = "Accept: */*|Content-Type: application/json"
		text    = `"text":"Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"`
	)
	g := newRig(t, &script{}, withDialects)
	for name, tt := range map[string]struct{ headers, path, body, contentType string }{
		"js":                     {node, "anjura?output_format=mp3_44100_128", `{` + text + `,"model_id":"swar-1"}`, "audio/mpeg"},
		"js, no format":          {node, "anjura", `{` + text + `}`, "audio/mpeg"},
		"js, times":              {node, "anjura/with-timestamps?output_format=pcm_24000", `{` + text + `}`, "application/json"},
		"js, times as they come": {node, "anjura/stream/with-timestamps?output_format=pcm_24000", `{` + text + `}`, "application/json"},
		"PyPI":                   {python, "anjura?output_format=pcm_16000", `{` + text + `}`, "audio/pcm"},
		"LiveKit Python": {livekit, "anjura/stream?output_format=mp3_22050_32&enable_logging=true",
			`{` + text + `,"model_id":"swar-1","voice_settings":null,"apply_text_normalization":"auto"}`, "audio/mpeg"},
		"LiveKit Node": {livekit, "anjura/stream?output_format=pcm_22050&enable_logging=true",
			`{` + text + `,"model_id":"swar-1","apply_text_normalization":"auto"}`, "audio/pcm"},
		"Pipecat": {livekit, "anjura/stream/with-timestamps?output_format=pcm_24000",
			`{"text": "Aapka OTP 482913 hai.", "model_id": "eleven_flash_v2_5", "previous_text": "Namaste!"}`, "application/json"},
		"telephony": {livekit, "anjura/stream?output_format=ulaw_8000", `{` + text + `}`, "audio/basic"},
	} {
		t.Run(name, func(t *testing.T) {
			var headers []string
			for header := range strings.SplitSeq(tt.headers, "|") {
				name, value, _ := strings.Cut(header, ": ")
				headers = append(headers, name, value)
			}
			got := g.toElevenLabs(tt.path, tt.body, headers...)
			if got.StatusCode != http.StatusOK || got.cut != nil || got.Header.Get("X-Voice") != "anjura" ||
				len(got.body) == 0 {
				t.Errorf("%s, voice %s: %.200s (%v)", got.Status, got.Header.Get("X-Voice"), got.body, got.cut)
			}
			if contentType := got.Header.Get("Content-Type"); contentType != tt.contentType ||
				got.Header.Get("Content-Encoding") != "" {
				t.Errorf("the answer is %s, want %s", contentType, tt.contentType)
			}
		})
	}
	line := g.logs.wait(t, 9)[0]
	if got := g.metric(`tts_requests_total{endpoint="elevenlabs",status="200"}`); got != 9 {
		t.Errorf("counted %v times", got)
	}
	if line["endpoint"] != "elevenlabs" || !strings.Contains(line["format"].(string), "_") ||
		line["voice"] != "anjura" {
		t.Errorf("logged is %v", line)
	}
}

// TestElevenLabsSpeaksMarkup: with enable_ssml_parsing elements are not spoken, on requests and sockets, and times are
// those of the text. Without it, or where an element is not known, no markup is.
func TestElevenLabsSpeaksMarkup(t *testing.T) {
	speaker := newWarmLocal(t, 1, synthtest.Config{})
	g := newRig(t, speaker, withDialects)
	text := `Aapka <break time="800ms"/> code <say-as interpret-as="digits">407</say-as> R&D. Theek hai.`
	quoted, _ := json.Marshal(text)
	plain := g.toElevenLabs("raj?output_format=pcm_24000", `{"text":"Aapka code 407 R&D. Theek hai.","seed":7}`)
	marked := g.toElevenLabs("raj?output_format=pcm_24000&enable_ssml_parsing=true",
		`{"text":`+string(quoted)+`,"seed":7}`)
	said, _ := heard(t, withoutBreaks(marked.body))
	if marked.StatusCode != http.StatusOK || !strings.Contains(said, "चार शून्य सात") ||
		strings.Contains(said, "break") || len(marked.body) < len(plain.body)+10*speech.FrameBytes {
		t.Errorf("%s, says %q in %d bytes, plain %d", marked.Status, said, len(marked.body), len(plain.body))
	}
	as := g.toElevenLabs("raj?output_format=pcm_24000", `{"text":"Aapka 2 < 3 <phoneme> hai.","seed":7}`)
	if as.StatusCode != http.StatusOK {
		t.Errorf("tags in plain text: %s %.200s", as.Status, as.body)
	}
	g.toElevenLabs("raj?enable_ssml_parsing=true", `{"text":"a <phoneme>b</phoneme>"}`).wantElevenLabsError(t, 400,
		"unsupported_ssml")

	timed := g.toElevenLabs("raj/with-timestamps?output_format=pcm_24000&enable_ssml_parsing=true",
		`{"text":`+string(quoted)+`,"seed":7}`)
	var whole timedAudio
	if err := json.Unmarshal(timed.body, &whole); err != nil || whole.Alignment == nil ||
		strings.Join(whole.Alignment.Characters, "") != "Aapka code 407 R&D. Theek hai. " {
		t.Errorf("%v: the alignment is %+v", err, whole.Alignment)
	}

	s := newWSRig(t, speaker, withDialects).toMulti("&enable_ssml_parsing=true&sync_alignment=true&auto_mode=true")
	defer s.conn.Close()
	s.send(`{"text": " ", "context_id": "a"}`)
	for _, piece := range strings.SplitAfter(text, " ") {
		piece, _ := json.Marshal(piece)
		s.send(`{"text": ` + string(piece) + `, "context_id": "a"}`)
	}
	s.endContext("a")
	c := s.untilFinal("a")["a"]
	said, _ = heard(t, withoutBreaks(c.pcm))
	if !strings.Contains(said, "चार शून्य सात") || strings.Contains(said, "break") ||
		c.chars != "Aapka code 407 R&D. Theek hai. " || !slices.IsSorted(c.starts) {
		t.Errorf("the socket says %q, told is %q at %v %q", said, c.chars, c.starts, c.failed)
	}
	s.sayIn("b", "Ek <phoneme>do</phoneme>.")
	if c := s.untilFinal("b")["b"]; c.failed != "unsupported_ssml" {
		t.Errorf("an unknown element: %+v", c)
	}
}

// withoutBreaks leaves out the frames in which nobody speaks.
func withoutBreaks(pcm []byte) (spoken []byte) {
	for frame := range slices.Chunk(pcm, speech.FrameBytes) {
		if bytes.ContainsFunc(frame, func(r rune) bool { return r != 0 }) {
			spoken = append(spoken, frame...)
		}
	}
	return spoken
}
