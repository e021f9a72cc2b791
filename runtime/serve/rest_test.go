package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/wav"
)

func TestStreamedAnswer(t *testing.T) {
	tests := []struct{ sentence, body, contentType string }{
		{"wav is the default", `{"text":"Hi","seed":-5}`, "audio/wav"},
		{"pcm16", `{"text":"Hi","seed":-5,"format":"pcm16"}`, "audio/L16;rate=24000;channels=1"},
		{"opus", `{"text":"Hi","seed":-5,"format":"opus"}`, "audio/ogg"},
		{"stream may be asked for", `{"text":"Hi","seed":-5,"stream":true}`, "audio/wav"},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			got := newRig(t, &script{}).speak(tt.body)
			if got.StatusCode != http.StatusOK || got.cut != nil {
				t.Fatalf("status = %d, %v: %.200s", got.StatusCode, got.cut, got.body)
			}
			if want := frames(0, 5); !bytes.Equal(got.body, want) {
				t.Errorf("body has %d bytes, want the %d of five frames", len(got.body), len(want))
			}
			if !slices.Equal(got.TransferEncoding, []string{"chunked"}) || got.ContentLength != -1 {
				t.Errorf("transfer encoding = %v, length = %d; want chunked without a length", got.TransferEncoding,
					got.ContentLength)
			}
			wantHeaders(t, got.Header, map[string]string{
				"Content-Type":           tt.contentType,
				"Cache-Control":          "no-store",
				"X-Seed":                 "-5",
				"X-Model":                "fake",
				"X-Voice":                "anjura",
				"X-Queue-Ms":             "2.3",
				"X-Concurrency-Active":   "1",
				"X-Concurrency-Limit":    "2",
				"Server-Timing":          "queue;dur=2.3, normalise;dur=0.2, prefill;dur=12.3, first_frame;dur=5.7",
				"X-Accel-Buffering":      "no",
				"X-Content-Type-Options": "nosniff",
				"X-Error-Code":           "",
				"X-Frames":               "",
			})
			wantHeaders(t, got.Trailer, proofOf(got.body))
			if len(got.Trailer) != len(proofOf(nil)) {
				t.Errorf("trailers = %v", got.Trailer)
			}
		})
	}
}

func TestBufferedAnswer(t *testing.T) {
	tests := []struct {
		sentence, format, contentType string
		head                          int
	}{
		{"wav has the right length in its header", "wav", "audio/wav", 44},
		{"pcm16 is bare", "pcm16", "audio/L16;rate=24000;channels=1", 0},
		{"opus is a complete file", "opus", "audio/ogg", 0},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			got := newRig(t, &script{}).speak(`{"text":"Hi","seed":9,"stream":false,"format":"` + tt.format + `"}`)
			if got.StatusCode != http.StatusOK || got.cut != nil {
				t.Fatalf("status = %d, %v: %.200s", got.StatusCode, got.cut, got.body)
			}
			audio := frames(0, 5)
			if want := append(wavHead(tt.head, len(audio)), audio...); !bytes.Equal(got.body, want) {
				t.Errorf("body has %d bytes, want %d: %.60q", len(got.body), len(want), got.body)
			}
			if got.ContentLength != int64(len(got.body)) || got.TransferEncoding != nil {
				t.Errorf("length = %d of %d bytes, transfer encoding = %v", got.ContentLength, len(got.body),
					got.TransferEncoding)
			}
			wantHeaders(t, got.Header, map[string]string{
				"Content-Type": tt.contentType, "Cache-Control": "no-store", "X-Seed": "9", "X-Model": "fake", "X-Voice": "anjura",
				"X-Queue-Ms": "2.3", "X-Concurrency-Active": "1", "X-Concurrency-Limit": "2", "X-Content-Type-Options": "nosniff",
				"Server-Timing": "queue;dur=2.3, normalise;dur=0.2, prefill;dur=12.3, first_frame;dur=5.7", "Trailer": "",
			})
			wantHeaders(t, got.Header, proofOf(got.body))
			if len(got.Trailer) != 0 {
				t.Errorf("trailers = %v, want none", got.Trailer)
			}
		})
	}
}

// TestMetadata: a WAV has a chunk of it only where that is asked for; every audio is marked by headers.
func TestMetadata(t *testing.T) {
	var asked speech.Utterance
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		asked = u
		return speakFrames(u, sink, 1, 2)
	}}
	g := newRig(t, speaker, func(c *Config) { c.Service = "Asha Bank" })
	tags := speech.Metadata{Service: "Asha Bank", Model: "fake", RequestID: "r"}.Tags()
	audio := frames(0, 3)
	for name, tt := range map[string]struct {
		fields string
		spoken speech.Format
		head   []byte
	}{
		"a streamed WAV":     {`"metadata":true`, speech.PCM16, wav.HeaderWithTags(wav.Streaming, tags)},
		"a buffered WAV":     {`"metadata":true,"stream":false`, speech.PCM16, wav.HeaderWithTags(uint32(len(audio)), tags)},
		"a WAV without it":   {`"metadata":false`, speech.WAV, nil}, // the speaker writes its header
		"a WAV with nothing": {`"metadata":null,"stream":false`, speech.PCM16, wavHead(44, len(audio))},
		"bare samples":       {`"metadata":true,"format":"pcm16"`, speech.PCM16, nil},
		"Ogg/Opus":           {`"metadata":true,"format":"opus"`, speech.Opus, nil},
	} {
		got := g.speak(`{"text":"Hi","request_id":"r",` + tt.fields + `}`)
		if want := slices.Concat(tt.head, audio); got.StatusCode != 200 || !bytes.Equal(got.body, want) {
			t.Errorf("%s: %d, %d bytes that begin with %.120q; want %d, %.120q", name, got.StatusCode, len(got.body),
				got.body, len(want), want)
		}
		sum := sha256.Sum256(got.body)
		proof := got.Header.Get("X-Audio-Sha256") + got.Trailer.Get("X-Audio-Sha256")
		if proof != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: the proof %s is not that of the body", name, proof)
		}
		if asked.Format != tt.spoken || asked.Service != "Asha Bank" {
			t.Errorf("%s: %s was asked of the speaker, for %q", name, asked.Format, asked.Service)
		}
		wantHeaders(t, got.Header, map[string]string{"X-Synthetic": "1", "X-Service": "Asha Bank"})
	}
	refused := g.speak(`{"text":""}`)
	wantHeaders(t, refused.Header, map[string]string{"X-Synthetic": "", "X-Service": ""})
}

// wavHead is the header of a WAV file of n bytes of audio, written out by hand.
func wavHead(size, n int) []byte {
	if size == 0 {
		return nil
	}
	le := func(v, bytes int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(v))[:bytes]) }
	return []byte("RIFF" + le(36+n, 4) + "WAVEfmt " + le(16, 4) + le(1, 2) + le(1, 2) + le(24000, 4) + le(48000, 4) +
		le(2, 2) + le(16, 2) +
		"data" + le(n, 4))
}

// proofOf is what a complete answer of five frames of the script proves; an empty value means any number.
func proofOf(body []byte) map[string]string {
	sum := sha256.Sum256(body)
	return map[string]string{"X-Audio-S": "0.4", "X-Frames": "5", "X-Wall-Ms": "0", "X-Rtf": "0",
		"X-Audio-Sha256": hex.EncodeToString(sum[:])}
}

func wantHeaders(t *testing.T, got http.Header, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got.Get(name) != want[name] {
			t.Errorf("%s = %q, want %q", name, got.Get(name), want[name])
		}
	}
}

func TestBufferedAnswerOfManyPieces(t *testing.T) {
	const n = 100 // 384,000 bytes: six pieces, and frames that lie across them
	g := newRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		if u.Format != speech.PCM16 {
			t.Errorf("a buffered WAV is spoken as %s, want pcm16", u.Format)
		}
		blocks := append([]int{1}, slices.Repeat([]int{3}, (n-1)/3)...)
		return speakFrames(u, sink, blocks...)
	}})
	got := g.speak(`{"text":"Hi","stream":false}`)
	if want := append(wavHead(44, n*speech.FrameBytes), frames(0, n)...); !bytes.Equal(got.body, want) {
		t.Errorf("got %d bytes, want %d", len(got.body), len(want))
	}
}

// TestFirstByteLeavesWithTheFirstFrame reads while the engine is held after its first frame.
func TestFirstByteLeavesWithTheFirstFrame(t *testing.T) {
	held := make(chan struct{})
	g := newRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		st, err := speakFrames(u, sink, 1)
		if err != nil {
			return st, err
		}
		<-held
		return st, nil
	}})
	res, err := g.client.Do(g.request(t.Context(), http.MethodPost, "/v1/tts", `{"text":"Hi"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got := make([]byte, speech.FrameBytes)
	if _, err := io.ReadFull(res.Body, got); err != nil || !bytes.Equal(got, frames(0, 1)) {
		t.Errorf("the first frame did not come alone: %v", err)
	}
	if !slices.Equal(res.TransferEncoding, []string{"chunked"}) {
		t.Errorf("transfer encoding = %v: even an answer of one frame is chunked", res.TransferEncoding)
	}
	close(held)
	if rest, err := io.ReadAll(res.Body); len(rest) != 0 || err != nil {
		t.Errorf("rest = %d bytes, %v", len(rest), err)
	}
}

// TestNothingLeavesBeforeTheFirstFrame: a container's head alone does not begin the answer, because an error may still
// follow.
func TestNothingLeavesBeforeTheFirstFrame(t *testing.T) {
	var fail bool
	g := newRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		if err := sink.Start(startOf(u)); err != nil {
			return speech.Stats{Started: true}, err
		}
		for _, head := range []string{"Ogg", "S"} {
			if err := sink.Audio(speech.Audio{Data: []byte(head)}); err != nil {
				return speech.Stats{Started: true}, err
			}
		}
		if fail {
			return speech.Stats{Started: true}, speech.ErrWorkerGone
		}
		return speakFrames(u, sink, 1, 4)
	}})
	got := g.speak(`{"text":"Hi","format":"opus"}`)
	want := append([]byte("OggS"), frames(0, 5)...)
	if !bytes.Equal(got.body, want) {
		t.Errorf("body = %.20q…, want the head and then the frames", got.body)
	}
	wantHeaders(t, got.Trailer, proofOf(want))

	fail = true
	g.speak(`{"text":"Hi","format":"opus"}`).wantError(t, 500, "worker gone", "worker_gone")
}

func TestFailuresBeforeTheFirstFrameAreStatuses(t *testing.T) {
	tests := []struct {
		sentence string
		err      error
		status   int
		text     string
		code     string
		kind     string // of tts_errors_total
	}{
		{"nothing pronounceable", speech.ErrNothingToSay, 400, "nothing to say after normalisation", "nothing_to_say", "validation"},
		{"too many chunks", speech.TooManyChunks(65), 413, "text splits into 65 chunks; max 64", "too_many_chunks", "validation"},
		{"no capacity", speech.ErrBusy, 503, "busy", "busy", "busy"},
		{"the speaker is draining", speech.ErrDraining, 503, "busy", "busy", "busy"},
		{"no worker is warm", speech.ErrWarming, 503, "workers warming up", "warming_up", "warming"},
		{"time ran out", speech.ErrTimeout, 504, "timeout", "timeout", "timeout"},
		{"the worker died", fmt.Errorf("chunk 0: %w", speech.ErrWorkerGone), 500, "worker gone", "worker_gone", "worker_gone"},
		{"the worker died with a cause", &speech.EngineError{Text: "no", Err: speech.ErrWorkerGone}, 500, "worker gone", "worker_gone", "worker_gone"},
		{"the engine tells why", &speech.EngineError{Text: "out of phonemes", Err: errors.New("secret path")}, 500, "out of phonemes", "engine_error", "engine"},
		{"the engine's text is not UTF-8", &speech.EngineError{Text: "bad\xff"}, 500, "bad\ufffd", "engine_error", "engine"},
		{"the engine says nothing", &speech.EngineError{Err: errors.New("secret path")}, 500, "engine error", "engine_error", "engine"},
		{"the engine cancelled something of its own", &speech.EngineError{Err: context.Canceled}, 500, "engine error", "engine_error", "engine"},
		{"anything else", errors.New("secret path"), 500, "engine error", "engine_error", "engine"},
	}
	for _, tt := range tests {
		for _, stream := range []string{"true", "false"} {
			t.Run(tt.sentence+", stream "+stream, func(t *testing.T) {
				g := newRig(t, &script{SpeakFunc: func(context.Context, speech.Utterance,
					speech.Sink) (speech.Stats, error) {
					return speech.Stats{}, tt.err
				}})
				got := g.speak(`{"text":"Hi","request_id":"r-1","stream":` + stream + `}`)
				got.wantError(t, tt.status, tt.text, tt.code)
				wantHeaders(t, got.Header, map[string]string{"X-Request-Id": "r-1", "Cache-Control": "no-store",
					"X-Concurrency-Active": "1", "X-Concurrency-Limit": "2", "X-Content-Type-Options": "nosniff"})
				name := fmt.Sprintf(`tts_requests_total{endpoint="rest",status="%d"}`, tt.status)
				if got := g.metric(name); got != 1 {
					t.Errorf("%s = %v, want 1", name, got)
				}
				if got := g.metric(`tts_errors_total{kind="` + tt.kind + `"}`); got != 1 {
					t.Errorf("errors of kind %s = %v, want 1", tt.kind, got)
				}
			})
		}
	}
}

// TestBufferedFailsAsAWhole: with stream false a failure after audio is still a status.
func TestBufferedFailsAsAWhole(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		text   string
		code   string
	}{
		{&speech.EngineError{Text: "engine error"}, 500, "engine error", "engine_error"},
		{speech.ErrWorkerGone, 500, "worker gone", "worker_gone"},
		{speech.ErrTimeout, 504, "timeout", "timeout"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			g := newRig(t, &script{SpeakFunc: failAfter(tt.err, 1, 4)})
			got := g.speak(`{"text":"Hi","stream":false}`)
			got.wantError(t, tt.status, tt.text, tt.code)
			wantHeaders(t, got.Header, map[string]string{"X-Frames": "", "X-Audio-Sha256": "", "X-Seed": ""})
			if got := g.metric("tts_audio_seconds_total"); got != .4 {
				t.Errorf("audio seconds = %v, want the 0.4 that were decoded", got)
			}
		})
	}
}

func failAfter(err error, blocks ...int) func(context.Context, speech.Utterance, speech.Sink) (speech.Stats, error) {
	return func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		st, e := speakFrames(u, sink, blocks...)
		if e != nil {
			return st, e
		}
		return st, err
	}
}

// TestFailureAfterTheFirstFrameCutsTheBody: a 200 never becomes an error, but a client can tell that it is not
// complete.
func TestFailureAfterTheFirstFrameCutsTheBody(t *testing.T) {
	for _, tt := range []struct {
		err          error
		status, kind string
	}{
		{&speech.EngineError{Text: "engine error"}, "500", "engine"},
		{speech.ErrWorkerGone, "500", "worker_gone"},
		{speech.ErrTimeout, "504", "timeout"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			g := newRig(t, &script{SpeakFunc: failAfter(tt.err, 1, 4)})
			got := g.speak(`{"text":"Hi"}`)
			if got.StatusCode != http.StatusOK {
				t.Errorf("status = %d, want 200", got.StatusCode)
			}
			if !errors.Is(got.cut, io.ErrUnexpectedEOF) {
				t.Errorf("reading ends with %v, want unexpected EOF", got.cut)
			}
			if want := frames(0, 5); !bytes.Equal(got.body, want) {
				t.Errorf("body has %d bytes, want the %d that were spoken", len(got.body), len(want))
			}
			for name, values := range got.Trailer {
				if len(values) > 0 {
					t.Errorf("trailer %s: %v; a cut answer has none", name, values)
				}
			}
			line := g.logs.wait(t, 1)[0]
			if line["level"] != "ERROR" || fmt.Sprint(line["status"]) != tt.status || line["error"] == "" {
				t.Errorf("logged %v", line)
			}
			for name, want := range map[string]float64{
				`tts_requests_total{endpoint="rest",status="` + tt.status + `"}`: 1,
				`tts_requests_total{endpoint="rest",status="200"}`:               0,
				`tts_errors_total{kind="` + tt.kind + `"}`:                       1,
				`tts_audio_seconds_total`:                                        .4,
			} {
				if got := g.metric(name); got != want {
					t.Errorf("%s = %v, want %v", name, got, want)
				}
			}
		})
	}
}

func TestAnEngineWithoutAudioIsAFailure(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		g := newRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
			sink speech.Sink) (speech.Stats, error) {
			return speakFrames(u, sink)
		}})
		g.speak(`{"text":"Hi","stream":`+stream+`}`).wantError(t, 500, "engine error", "engine_error")
	}
}

func TestRefusedBodies(t *testing.T) {
	g := newRig(t, &script{SpeakFunc: func(context.Context, speech.Utterance, speech.Sink) (speech.Stats, error) {
		t.Error("a refused body was spoken")
		return speech.Stats{}, nil
	}})
	for _, tt := range refusedBodies {
		status := http.StatusBadRequest
		if tt.code == speech.CodeTextTooLong {
			status = http.StatusRequestEntityTooLarge
		}
		t.Run(tt.sentence, func(t *testing.T) {
			g := *g
			g.t = t
			g.speak(tt.body).wantError(t, status, tt.text, string(tt.code))
		})
	}
	if got, want := g.metric(`tts_errors_total{kind="validation"}`), float64(len(refusedBodies)); got != want {
		t.Errorf("validation errors = %v, want %v", got, want)
	}
}

func TestVoiceOutsideTheKeyIsForbidden(t *testing.T) {
	g := newRig(t, &script{})
	g.speak(`{"text":"Hi"}`, "X-Api-Key", "raj-key").wantError(t, 403, "voice anjura not allowed for this key",
		"voice_not_allowed")
	if got := g.speak(`{"text":"Hi","voice":"raj"}`, "X-Api-Key", "raj-key"); got.StatusCode != http.StatusOK {
		t.Errorf("status = %d with the allowed voice", got.StatusCode)
	}
}

func TestWhatIsSpoken(t *testing.T) {
	spoken := make(chan speech.Utterance, 1)
	turns := make(chan speech.Turn, 1)
	g := newRig(t, &script{TurnFunc: func(turn speech.Turn) { turns <- turn }, SpeakFunc: func(
		_ context.Context, u speech.Utterance, sink speech.Sink,
	) (speech.Stats, error) {
		spoken <- u
		return speakFrames(u, sink, 1)
	}})
	g.speak(`{"text":" Hi ","voice":"raj","format":"opus","raw":true,"en_digits":true,"temperature":0,"seed":12,"request_id":"r-1"}`)
	want := speech.Utterance{
		RequestID: "r-1", Service: "Swar Hinglish TTS", Text: "Hi", Voice: "raj", Format: "opus", Raw: true,
		EnDigits: true, Seed: 12,
	}
	if got := <-spoken; got != want {
		t.Errorf("spoken %+v, want %+v", got, want)
	}
	turn := <-turns
	if ago := time.Since(turn.QueuedSince); ago < 0 || ago > time.Minute {
		t.Errorf("asked for %v ago", ago)
	}
	if turn.Session != "" || turn.More != nil {
		t.Errorf("a lone request has the turn %+v of a session", turn)
	}
}

func TestSeedIsRandomAndTold(t *testing.T) {
	seeds := make(map[string]bool)
	var u speech.Utterance
	g := newRig(t, &script{SpeakFunc: func(_ context.Context, got speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		u = got
		return speakFrames(got, sink, 1)
	}})
	for range 5 {
		seed := g.speak(`{"text":"Hi"}`).Header.Get("X-Seed")
		if n, err := strconv.ParseInt(seed, 10, 64); err != nil || n < 0 || n != u.Seed {
			t.Errorf("x-seed = %q; spoken with %d", seed, u.Seed)
		}
		seeds[seed] = true
	}
	if len(seeds) != 5 {
		t.Errorf("seeds = %v, want five different ones", seeds)
	}
}

func TestRequestID(t *testing.T) {
	generated := regexp.MustCompile(`^req_[0-9a-hjkmnp-tv-z]{26}$`)
	tests := []struct{ sentence, header, body, want string }{
		{"the body's wins", "h-1", `{"text":"Hi","request_id":"b-1"}`, "b-1"},
		{"then the header's", "h-1", `{"text":"Hi"}`, "h-1"},
		{"then a generated one", "", `{"text":"Hi"}`, ""},
		{"null in the body is absence", "h-1", `{"text":"Hi","request_id":null}`, "h-1"},
		{"a header that may not be one is ignored", "a b", `{"text":"Hi"}`, ""},
		{"a header of 128 characters", strings.Repeat("h", 128), `{"text":"Hi"}`, strings.Repeat("h", 128)},
		{"a header of 129 characters is ignored", strings.Repeat("h", 129), `{"text":"Hi"}`, ""},
		{"an error has the body's", "h-1", `{"text":"","request_id":"b-1"}`, "b-1"},
		{"an error about a type has the body's", "h-1", `{"text":5,"request_id":"b-1"}`, "b-1"},
		{"an error about the id has the header's", "h-1", `{"text":"Hi","request_id":"b 1"}`, "h-1"},
		{"an error about JSON has the header's", "h-1", `{"request_id":"b-1"`, "h-1"},
		{"an error about JSON has a generated one", "", `{"request_id":"b-1"`, ""},
	}
	var spoken speech.Utterance
	g := newRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		spoken = u
		return speakFrames(u, sink, 1)
	}})
	for i, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			got := g.speak(tt.body, "X-Request-Id", tt.header)
			id := got.Header.Get("X-Request-Id")
			if id != tt.want && (tt.want != "" || !generated.MatchString(id)) {
				t.Errorf("x-request-id = %q, want %q", id, tt.want)
			}
			if got.StatusCode == http.StatusOK && spoken.RequestID != id {
				t.Errorf("spoken with %q, answered %q", spoken.RequestID, id)
			}
			if line := g.logs.wait(t, i+1)[i]; line["request_id"] != id {
				t.Errorf("logged %v, want %q", line["request_id"], id)
			}
		})
	}
}

// TestBodyLimit: 1 MiB is legal, one byte more is not, whether the length was announced or not.
func TestBodyLimit(t *testing.T) {
	const announced, chunked = "announced", "chunked"
	for _, sent := range []string{announced, chunked} {
		for size, ok := range map[int]bool{maxBody - 1: true, maxBody: true, maxBody + 1: false, 2 * maxBody: false} {
			t.Run(fmt.Sprintf("%s, %d bytes", sent, size), func(t *testing.T) {
				g := newRig(t, &script{})
				body := `{"text":"Hi"}`
				body += strings.Repeat(" ", size-len(body))
				req := g.request(t.Context(), http.MethodPost, "/v1/tts", body)
				if sent == chunked {
					req.ContentLength = -1
				}
				res, err := g.client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				a := answered{Response: res}
				a.body, a.cut = io.ReadAll(res.Body)
				if ok {
					if a.StatusCode != http.StatusOK {
						t.Errorf("status = %d, want 200", a.StatusCode)
					}
					return
				}
				a.wantError(t, 413, "request body larger than 1048576 bytes", "body_too_large")
				if !a.Close {
					t.Error("the connection stays open")
				}
			})
		}
	}
}

func TestLongestLegalTextFitsTheBody(t *testing.T) {
	g := newRig(t, &script{})
	body := `{"text":"` + strings.Repeat(`\ud83d\ude00`, speech.MaxChars) + `"}`
	if got := g.speak(body); got.StatusCode != http.StatusOK {
		t.Errorf("status = %d for %d bytes", got.StatusCode, len(body))
	}
}

func TestContentType(t *testing.T) {
	g := newRig(t, &script{})
	for _, contentType := range []string{"", "application/json", "application/x-www-form-urlencoded", "text/plain",
		"nonsense"} {
		if got := g.speak(`{"text":"Hi"}`, "Content-Type", contentType); got.StatusCode != http.StatusOK {
			t.Errorf("Content-Type %q: status %d, want it ignored", contentType, got.StatusCode)
		}
	}
	for encoding, want := range map[string]int{"": 200, "identity": 200, "Identity": 200, "gzip": 415, "br": 415,
		"zstd, gzip": 415} {
		got := g.speak(`{"text":"Hi"}`, "Content-Encoding", encoding)
		if got.StatusCode != want {
			t.Errorf("Content-Encoding %q: status %d, want %d", encoding, got.StatusCode, want)
		}
		if want == http.StatusUnsupportedMediaType {
			got.wantError(t, want, "Content-Encoding of requests is not supported", "bad_request")
		}
	}
}

// TestOrderOfChecksREST combines every two faults of different steps of a request; the earlier one decides.
func TestOrderOfChecksREST(t *testing.T) {
	type call struct {
		method, path, key, encoding, body string
		err                               error
	}
	steps := []struct {
		sentence string
		fault    func(*call)
		status   int
		text     string
	}{
		{"unknown path", func(c *call) { c.path = "/v1/tts/" }, 404, "not found"},
		{"wrong method", func(c *call) { c.method = http.MethodPut }, 405, "method not allowed"},
		{"no key", func(c *call) { c.key = "" }, 401, "missing x-api-key"},
		{"wrong key", func(c *call) { c.key = "wrong" }, 401, "invalid api key"},
		{"encoded body", func(c *call) { c.encoding = "gzip" }, 415, "Content-Encoding of requests is not supported"},
		{"body too large", func(c *call) { c.body = strings.Repeat(" ", maxBody+1) }, 413, "request body larger than 1048576 bytes"},
		{"invalid JSON", func(c *call) { c.body = "{" }, 400, "invalid JSON: unexpected end"},
		{"wrong type", func(c *call) { c.body = `{"text":5}` }, 400, "text: must be a string"},
		{"wrong value", func(c *call) { c.body = `{"text":"Hi","speed":2}` }, 400, "speed other than 1.0 is not supported by this model"},
		{"voice not allowed", func(c *call) { c.body = `{"text":"Hi","voice":"anjura"}` }, 403, "voice anjura not allowed for this key"},
		{"nothing to say", func(c *call) { c.err = speech.ErrNothingToSay }, 400, "nothing to say after normalisation"},
		{"no capacity", func(c *call) { c.err = speech.ErrBusy }, 503, "busy"},
	}
	var speakError error
	g := newRig(t, &script{SpeakFunc: func(context.Context, speech.Utterance, speech.Sink) (speech.Stats, error) {
		return speech.Stats{}, speakError
	}})
	for i, first := range steps {
		for _, second := range append(steps[i+1:], first) {
			c := call{method: http.MethodPost, path: "/v1/tts", key: "raj-key", body: `{"text":"Hi","voice":"raj"}`}
			second.fault(&c)
			first.fault(&c)
			speakError = c.err
			got := g.do(c.method, c.path, c.body, "X-Api-Key", c.key, "Content-Encoding", c.encoding)
			if got.StatusCode != first.status || !strings.Contains(string(got.body), first.text) {
				t.Errorf("%s and %s: %d %s, want %d %s", first.sentence, second.sentence, got.StatusCode, got.body,
					first.status, first.text)
			}
		}
	}
}

// TestDisconnectStopsSpeaking: whatever the request is waiting for, a client that leaves ends it, and it counts as
// cancelled.
func TestDisconnectStopsSpeaking(t *testing.T) {
	tests := []struct {
		sentence, body string
		blocks         []int // spoken before the client leaves
	}{
		{"before the first frame", `{"text":"Hi"}`, nil},
		{"after the first frame", `{"text":"Hi"}`, []int{1}},
		{"in the middle", `{"text":"Hi"}`, []int{1, 4, 4}},
		{"buffered, before the first frame", `{"text":"Hi","stream":false}`, nil},
		{"buffered, in the middle", `{"text":"Hi","stream":false}`, []int{1, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			g := newRig(t, &script{SpeakFunc: func(ctx context.Context, u speech.Utterance,
				sink speech.Sink) (speech.Stats, error) {
				st, err := speakFrames(u, sink, tt.blocks...)
				if err != nil {
					return st, err
				}
				leave()
				<-ctx.Done() // a test that hangs here has found what it looks for
				return st, context.Cause(ctx)
			}})
			_, _ = g.try(ctx, http.MethodPost, "/v1/tts", tt.body)
			line := g.logs.wait(t, 1)[0]
			if line["status"] != "cancelled" || line["level"] != "INFO" {
				t.Errorf("logged %v", line)
			}
			for name, want := range map[string]float64{
				`tts_requests_total{endpoint="rest",status="cancelled"}`: 1,
				`tts_requests_total{endpoint="rest",status="200"}`:       0,
				`tts_errors_total{kind="client_gone"}`:                   1,
				`tts_errors_total{kind="engine"}`:                        0,
			} {
				if got := g.metric(name); got != want {
					t.Errorf("%s = %v, want %v", name, got, want)
				}
			}
		})
	}
}

func TestPanicIsAnAnswerOf500(t *testing.T) {
	g := newRig(t, &script{
		SpeakFunc: func(context.Context, speech.Utterance, speech.Sink) (speech.Stats,
			error) {
			panic("spoke wrongly")
		},
		NormalizeFunc: func(speech.Utterance) (speech.Normalized, error) { panic("normalised wrongly") },
	})
	g.speak(`{"text":"Hi","request_id":"r-1"}`).wantError(t, 500, "engine error", "engine_error")
	g.do(http.MethodPost, "/v1/normalize", `{"text":"Hi"}`).wantError(t, 500, "engine error", "engine_error")
	for i, want := range []string{"panic: spoke wrongly", "panic: normalised wrongly"} {
		line := g.logs.wait(t, 2)[i]
		if line["error"] != want || line["level"] != "ERROR" ||
			!strings.Contains(fmt.Sprint(line["stack"]), "rest_test.go") {
			t.Errorf("logged %v, want %q with its stack", line, want)
		}
	}
	if got := g.metric(`tts_requests_total{endpoint="rest",status="500"}`); got != 1 {
		t.Errorf("requests with status 500 = %v, want 1", got)
	}
}

func TestPanicAfterTheFirstFrameCutsTheBody(t *testing.T) {
	g := newRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		st, err := speakFrames(u, sink, 1)
		if err != nil {
			return st, err
		}
		panic("spoke wrongly")
	}})
	got := g.speak(`{"text":"Hi"}`)
	if got.StatusCode != http.StatusOK || !errors.Is(got.cut, io.ErrUnexpectedEOF) ||
		!bytes.Equal(got.body, frames(0, 1)) {
		t.Errorf("status %d, %d bytes, %v; want one frame and a cut", got.StatusCode, len(got.body), got.cut)
	}
}

func TestPanicOfAnOpenRoute(t *testing.T) {
	wrong := false
	g := newRig(t, &script{CapacityFunc: func() speech.Capacity {
		if wrong {
			panic("counted wrongly")
		}
		return speech.Capacity{}
	}})
	wrong = true
	g.do(http.MethodGet, "/healthz", "").wantError(t, 500, "engine error", "engine_error")
	if line := g.logs.wait(t, 1)[0]; line["error"] != "panic: counted wrongly" || line["path"] != "/healthz" {
		t.Errorf("logged %v", line)
	}
}

func TestRequestsAreCountedOnce(t *testing.T) {
	g := newRig(t, &script{})
	calls := []struct{ method, path, body, key, metric string }{
		{"POST", "/v1/tts", `{"text":"Hi"}`, testKey, `tts_requests_total{endpoint="rest",status="200"}`},
		{"POST", "/v1/tts", `{"text":"Hi","stream":false}`, testKey, `tts_requests_total{endpoint="rest",status="200"}`},
		{"POST", "/v1/tts", `{`, testKey, `tts_requests_total{endpoint="rest",status="400"}`},
		{"POST", "/v1/tts", `{"text":"Hi"}`, "", `tts_requests_total{endpoint="rest",status="401"}`},
		{"POST", "/v1/tts", `{"text":"Hi"}`, "raj-key", `tts_requests_total{endpoint="rest",status="403"}`},
		{"POST", "/v1/normalize", `{"text":"Hi"}`, testKey, `tts_requests_total{endpoint="normalize",status="200"}`},
		{"POST", "/v1/normalize", `{"text":""}`, testKey, `tts_requests_total{endpoint="normalize",status="400"}`},
		{"GET", "/v1/voices", ``, testKey, `tts_requests_total{endpoint="voices",status="200"}`},
		{"GET", "/v1/voices", ``, "wrong", `tts_requests_total{endpoint="voices",status="401"}`},
	}
	total := func() (n float64) {
		for _, c := range calls {
			n += g.metric(c.metric) // twice for the two of status 200, before and after alike
		}
		return n
	}
	for i, c := range calls {
		before, sum := g.metric(c.metric), total()
		g.do(c.method, c.path, c.body, "X-Api-Key", c.key)
		g.logs.wait(t, i+1)
		if got := g.metric(c.metric) - before; got != 1 {
			t.Errorf("%s %s %s: %s grew by %v, want 1", c.method, c.path, c.body, c.metric, got)
		}
		if got := total() - sum; got > 2 {
			t.Errorf("%s %s %s is counted %v times", c.method, c.path, c.body, got)
		}
	}
	for name, want := range map[string]float64{
		`tts_errors_total{kind="auth"}`:       2,
		`tts_errors_total{kind="validation"}`: 3, // 403 among them
		`tts_audio_seconds_total`:             .8,
		`tts_prefills_total{cached="false"}`:  2,
		`tts_ttfa_seconds_count`:              2,
		`tts_rtf_count`:                       2,
		`tts_queue_seconds_count`:             2,
	} {
		if got := g.metric(name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
}

func TestLogs(t *testing.T) {
	g := newRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		st, err := speakFrames(u, sink, 1, 4)
		st.Chars, st.TTFA, st.Queue, st.Wall, st.Synth = 9, 31_240_000, 2_250_000, 100_060_000, 80_000_000
		return st, err
	}})
	g.speak(`{"text":"very secret","voice":"raj","format":"pcm16","request_id":"r-1"}`, "X-Api-Key", "raj-key")
	g.speak(`{"text":"very secret","voice":"secret voice"}`)
	g.do(http.MethodPost, "/v1/normalize?api_key=open-key", `{"text":"very secret"}`)
	lines := g.logs.wait(t, 3)
	want := map[string]any{
		"level": "INFO", "msg": "request", "endpoint": "rest", "request_id": "r-1", "status": 200.0, "voice": "raj", "format": "pcm16",
		"chars": 9.0, "frames": 5.0, "ttfa_ms": 31.2, "queue_ms": 2.3, "wall_ms": 100.1, "rtf": .2,
	}
	for name, value := range want {
		if got := lines[0][name]; got != value {
			t.Errorf("%s = %v, want %v", name, got, value)
		}
	}
	if id := fmt.Sprint(lines[0]["key_id"]); !strings.HasPrefix(id, "static_") {
		t.Errorf("key_id = %v", id)
	}
	if lines[1]["level"] != "DEBUG" || lines[1]["status"] != 400.0 {
		t.Errorf("a refusal is logged as %v", lines[1])
	}
	for _, line := range lines {
		if s := fmt.Sprint(line); strings.Contains(s, "very secret") || strings.Contains(s, "open-key") ||
			strings.Contains(s, "raj-key") {
			t.Errorf("the log tells a secret: %s", s)
		}
	}
}
