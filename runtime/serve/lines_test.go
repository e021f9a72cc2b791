package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

const wordsPath = "/v1/tts/words"

// answerLine is any line of POST /v1/tts/words.
type answerLine struct {
	Type       string
	RequestID  string `json:"request_id"`
	Timestamps string
	Frames     int
	Audio      []byte
	Estimated  bool
	Words      []struct {
		Word   string
		StartS float64 `json:"start_s"`
		EndS   float64 `json:"end_s"`
	}
	AudioStartS float64 `json:"audio_start_s"`
}

// linesOf reads the lines of an answer, and puts their audio together.
func linesOf(t *testing.T, body []byte) (lines []answerLine, audio []byte) {
	t.Helper()
	for text := range bytes.Lines(body) {
		var l answerLine
		if err := json.Unmarshal(text, &l); err != nil || !bytes.HasSuffix(text, []byte("\n")) {
			t.Fatalf("%q is no line of JSON: %v", text, err)
		}
		lines, audio = append(lines, l), append(audio, l.Audio...)
	}
	return lines, audio
}

// TestLinesHaveTheSameAudio: what POST /v1/tts streams is in the lines, byte for byte, in every format.
func TestLinesHaveTheSameAudio(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	for _, format := range []string{"wav", "pcm16", "opus"} {
		body := fmt.Sprintf(`{"text":%q,"format":%q,"seed":7,"request_id":"r-1"}`, line, format)
		want, got := g.speak(body), g.do(http.MethodPost, wordsPath, body)
		lines, audio := linesOf(t, got.body)
		same := bytes.Equal(audio, want.body)
		if format == "opus" { // each stream has a number of its own
			same = len(audio) == len(want.body) && bytes.HasPrefix(audio, []byte("OggS"))
		}
		if got.StatusCode != http.StatusOK || got.cut != nil || !same {
			t.Errorf("%s: status %d, %v, %d bytes of audio; want the %d of /v1/tts",
				format, got.StatusCode, got.cut, len(audio), len(want.body))
		}
		wantHeaders(t, got.Header, map[string]string{
			"Content-Type": "application/x-ndjson", "X-Seed": "7", "X-Request-Id": "r-1", "X-Synthetic": "1",
			"Cache-Control": "no-store", "Trailer": "",
		})
		frames, words, at := 0, 0, 0.
		for _, l := range lines {
			if l.Type == "audio" {
				frames += l.Frames
			}
			if l.RequestID != "r-1" || l.Type == "words" && !l.Estimated {
				t.Errorf("%s: a line is %+v", format, l)
			}
			for _, w := range l.Words {
				if w.StartS < at || w.EndS < w.StartS || w.EndS > speech.Seconds(frames) {
					t.Errorf("%s: %+v after %v s, or beyond the audio", format, w, at)
				}
				words, at = words+1, w.EndS
			}
		}
		last := lines[len(lines)-1]
		if words < 10 || last.Type != "end" || last.Frames != frames || lines[0].Timestamps != "words" {
			t.Errorf("%s: %d words and %d frames, from %+v to %+v", format, words, frames, lines[0], last)
		}
	}
}

func TestLinesComeInTheOrderOfEvents(t *testing.T) {
	g := newRig(t, &script{})
	got := g.do(http.MethodPost, wordsPath, `{"text":"hello","format":"pcm16","stream":false,"timestamps":1,"metadata":1}`)
	lines, audio := linesOf(t, got.body)
	var types []string
	for _, l := range lines {
		types = append(types, l.Type)
	}
	if want := []string{"start", "chunk", "audio", "audio", "words", "chunk_end", "end"}; !slices.Equal(types, want) {
		t.Errorf("%v, want %v", types, want)
	}
	if !bytes.Equal(audio, frames(0, 5)) {
		t.Errorf("%d bytes of audio, want five frames", len(audio))
	}
}

// TestLinesBeginWithTheFirstFrame: until then a failure is a status.
func TestLinesBeginWithTheFirstFrame(t *testing.T) {
	for name, tt := range map[string]struct {
		speaker    *script
		key, body  string
		status     int
		text, code string
	}{
		"no text":           {&script{}, testKey, `{}`, 400, "text is empty", "text_empty"},
		"no key":            {&script{}, "", `{"text":"Hi"}`, 401, "missing x-api-key", "missing_key"},
		"a voice of others": {&script{}, "raj-key", `{"text":"Hi"}`, 403, "voice anjura not allowed for this key", "voice_not_allowed"},
		"nobody is free":    {&script{SpeakFunc: failAfter(speech.ErrBusy)}, testKey, `{"text":"Hi"}`, 503, "busy", "busy"},
		"an engine without a sound": {
			&script{SpeakFunc: failAfter(nil)}, testKey, `{"text":"Hi"}`, 500, "engine error", "engine_error",
		},
	} {
		t.Run(name, func(t *testing.T) {
			newRig(t, tt.speaker).do(http.MethodPost, wordsPath, tt.body, "X-Api-Key", tt.key).
				wantError(t, tt.status, tt.text, tt.code)
		})
	}
}

// TestLinesWithoutEndAreCut: a failure after the first frame ends the answer early, and only a complete one has an end.
func TestLinesWithoutEndAreCut(t *testing.T) {
	g := newRig(t, &script{SpeakFunc: failAfter(&speech.EngineError{Text: "engine error"}, 1, 4)})
	got := g.do(http.MethodPost, wordsPath, `{"text":"Hi"}`)
	lines, audio := linesOf(t, got.body)
	if got.StatusCode != http.StatusOK || !errors.Is(got.cut, io.ErrUnexpectedEOF) ||
		!bytes.Equal(audio, frames(0, 5)) {
		t.Errorf("status %d, %d bytes of audio, %v; want five frames and a cut", got.StatusCode, len(audio), got.cut)
	}
	if last := lines[len(lines)-1]; last.Type == "end" {
		t.Error("there is an end")
	}
}

// TestLinesAreBilledLikeBareAudio reads the books as soon as the end was seen.
func TestLinesAreBilledLikeBareAudio(t *testing.T) {
	key, entry := newKey()
	b := newBooks(t)
	g := newRig(t, &script{}, func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
	got := g.do(http.MethodPost, wordsPath, `{"text":"hello","voice":"raj"}`, "X-Api-Key", key)
	if !strings.Contains(string(got.body), `"type":"end"`) {
		t.Errorf("no end: %s", got.body)
	}
	b.want("rest raj wav 5/5 ok")
}
