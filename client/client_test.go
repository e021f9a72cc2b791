package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(int) {
		shared.CloseIdleConnections()
	}))
}

// serve returns a client of a server that answers with h.
func serve(t testing.TB, o Options, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	if o.HTTPClient == nil {
		o.HTTPClient = s.Client()
	}
	c, err := New(s.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNewRefusesWhatIsNoServerAddress(t *testing.T) {
	tests := map[string]struct {
		base string
		ok   bool
	}{
		"a host and a port":      {"http://127.0.0.1:8080", true},
		"a name with TLS":        {"https://tts.example.com", true},
		"a path":                 {"https://example.com/speech/", true},
		"an IPv6 address":        {"http://[::1]:8080", true},
		"nothing":                {"", false},
		"no scheme":              {"127.0.0.1:8080", false},
		"a name without scheme":  {"localhost:8080", false},
		"another scheme":         {"ws://127.0.0.1:8080", false},
		"no host":                {"http://", false},
		"a query":                {"http://127.0.0.1:8080?a=b", false},
		"a fragment":             {"http://127.0.0.1:8080#a", false},
		"a port that is a word":  {"http://127.0.0.1:http", false},
		"something else totally": {"://", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := New(tt.base, Options{}); (err == nil) != tt.ok {
				t.Errorf("New(%q) = %v, want success %v", tt.base, err, tt.ok)
			}
		})
	}
}

func TestSpeakSendsWhatItWasAsked(t *testing.T) {
	tests := map[string]struct {
		request Request
		want    string
	}{
		"only text":             {Request{Text: "Namaste"}, `{"text":"Namaste"}`},
		"zeros that mean zero":  {Request{Text: "a", Temperature: new(0.0), Seed: new(int64(0))}, `{"text":"a","temperature":0,"seed":0}`},
		"a seed of all bits":    {Request{Text: "a", Seed: new(int64(-1 << 63))}, `{"text":"a","seed":-9223372036854775808}`},
		"mixed script survives": {Request{Text: "आपका OTP <4>"}, `{"text":"आपका OTP <4>"}`},
		"words":                 {Request{Text: "a", WordTimes: true}, `{"text":"a","timestamps":"words"}`},
		"everything": {
			Request{Text: "a", Voice: "raj", Format: Opus, Buffered: true, Metadata: true, Raw: true, EnDigits: true,
				Lexicon: "none", Temperature: new(1.5), Seed: new(int64(7)), RequestID: "r1"},
			`{"request_id":"r1","text":"a","voice":"raj","format":"opus","stream":false,"metadata":true,"raw":true,"en_digits":true,"lexicon":"none","temperature":1.5,"seed":7}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got, want any
			c := serve(t, Options{Key: "k1", UserAgent: "test/1"}, func(_ http.ResponseWriter, r *http.Request) {
				if got, want := r.Method+" "+r.URL.Path, "POST /v1/tts"; got != want {
					t.Errorf("called %s, want %s", got, want)
				}
				for name, want := range map[string]string{"Authorization": "Bearer k1",
					"Content-Type": "application/json", "User-Agent": "test/1"} {
					if got := r.Header.Get(name); got != want {
						t.Errorf("%s = %q, want %q", name, got, want)
					}
				}
				d := json.NewDecoder(r.Body)
				d.UseNumber()
				if err := d.Decode(&got); err != nil {
					t.Error(err)
				}
			})
			a, err := c.Speak(t.Context(), tt.request)
			if err != nil {
				t.Fatal(err)
			}
			a.Close()
			d := json.NewDecoder(strings.NewReader(tt.want))
			d.UseNumber()
			if err := d.Decode(&want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("sent %v, want %v", got, want)
			}
		})
	}
}

func TestABaseMayHaveAPath(t *testing.T) {
	var got string
	c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.Path
		io.WriteString(w, `{}`)
	})
	behind, err := New(c.base.String()+"/speech/", c.options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := behind.Voices(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := "/speech/v1/voices"; got != want {
		t.Errorf("called %s, want %s", got, want)
	}
}

func TestTextThatIsNotUTF8IsNeverSent(t *testing.T) {
	c := serve(t, Options{}, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	_, speak := c.Speak(t.Context(), Request{Text: "a\xff"})
	_, normalize := c.Normalize(t.Context(), "a\xff", false)
	for name, err := range map[string]error{"Speak": speak, "Normalize": normalize} {
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeBadText {
			t.Errorf("%s: error = %v, want code bad_text", name, err)
		}
	}
}

const sample = "RIFF and some audio"

// stream answers like the API: headers, audio in two pieces, trailers.
func stream(w http.ResponseWriter, audio string, trailers map[string]string) {
	h := w.Header()
	h.Set("Content-Type", "audio/wav")
	h.Set("X-Request-Id", "r1")
	h.Set("X-Seed", "-42")
	h.Set("X-Model", "m")
	h.Set("X-Voice", "raj")
	h.Set("X-Queue-Ms", "1.5")
	h.Set("X-Unspoken", "%E4%BD%A0%2B")
	if trailers != nil {
		h.Set("Trailer", "x-audio-s, x-frames, x-wall-ms, x-rtf, x-audio-sha256")
	}
	io.WriteString(w, audio[:4])
	http.NewResponseController(w).Flush()
	io.WriteString(w, audio[4:])
	http.NewResponseController(w).Flush()
	for name, value := range trailers {
		h.Set(name, value)
	}
}

func proofOf(audio string) map[string]string {
	sum := sha256.Sum256([]byte(audio))
	return map[string]string{
		"X-Audio-S": "0.32", "X-Frames": "4", "X-Wall-Ms": "12.5", "X-Rtf": "0.039", "X-Audio-Sha256": hex.EncodeToString(sum[:]),
	}
}

func TestSpeakTellsACompleteStreamFromACutOne(t *testing.T) {
	type outcome struct {
		cut, proven bool
		text        string // of the error
	}
	tests := map[string]struct {
		answer http.HandlerFunc
		want   outcome
	}{
		"complete, with proof": {
			answer: func(w http.ResponseWriter, _ *http.Request) { stream(w, sample, proofOf(sample)) },
			want:   outcome{proven: true},
		},
		"complete, buffered": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range proofOf(sample) {
					w.Header().Set(name, value)
				}
				w.Header().Set("X-Request-Id", "r1")
				io.WriteString(w, sample)
			},
			want: outcome{proven: true},
		},
		"a server that knows no trailers": {
			answer: func(w http.ResponseWriter, _ *http.Request) { stream(w, sample, nil) },
			want:   outcome{},
		},
		"the server aborts": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				stream(w, sample, nil)
				panic(http.ErrAbortHandler)
			},
			want: outcome{cut: true, text: "audio was cut after 19 bytes (request r1): unexpected EOF"},
		},
		"a proxy announces the trailers and drops them": {
			answer: func(w http.ResponseWriter, _ *http.Request) { stream(w, sample, map[string]string{}) },
			want:   outcome{},
		},
		"a cut behind a proxy that would have dropped them": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				stream(w, sample, map[string]string{})
				panic(http.ErrAbortHandler)
			},
			want: outcome{cut: true, text: "audio was cut after 19 bytes (request r1): unexpected EOF"},
		},
		"something on the way changes a byte": {
			answer: func(w http.ResponseWriter, _ *http.Request) { stream(w, sample, proofOf("RIFF and same audio")) },
			want:   outcome{cut: true, text: "audio was cut after 19 bytes (request r1): the checksum does not match"},
		},
		"less than was announced": {
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", "r1")
				w.Header().Set("Content-Length", "100")
				io.WriteString(w, sample)
			},
			want: outcome{cut: true, text: "audio was cut after 19 bytes (request r1): unexpected EOF"},
		},
	}
	for name, tt := range tests {
		for how, open := range map[string]func(*Audio) io.ReadCloser{
			"read":       func(a *Audio) io.ReadCloser { return a },
			"read ahead": (*Audio).ReadAhead,
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				a, err := serve(t, Options{}, tt.answer).Speak(t.Context(), Request{Text: "a"})
				if err != nil {
					t.Fatal(err)
				}
				r := open(a)
				data, err := io.ReadAll(r)
				if err := r.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
				if got := string(data); got != sample {
					t.Errorf("read %q, want %q", got, sample)
				}
				cut, isCut := errors.AsType[*CutError](err)
				if isCut != tt.want.cut || errors.Is(err, io.ErrUnexpectedEOF) != tt.want.cut || isCut == (err == nil) {
					t.Fatalf("error = %v, want one of a cut: %v", err, tt.want.cut)
				}
				if isCut && (cut.Error() != tt.want.text || cut.RequestID != "r1" || cut.Bytes != int64(len(sample))) {
					t.Errorf("cut = %+v, want %q", cut, tt.want.text)
				}
				p, proven := a.Proof()
				want := Proof{}
				if tt.want.proven {
					want = Proof{4, 320 * time.Millisecond, 12500 * time.Microsecond, 0.039,
						proofOf(sample)["X-Audio-Sha256"]}
				}
				if proven != tt.want.proven || p != want {
					t.Errorf("Proof = %+v, %v; want %+v", p, proven, want)
				}
			})
		}
	}
}

func TestSpeakReturnsWithTheFirstAudio(t *testing.T) {
	goOn := make(chan struct{})
	c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, "0123", proofOf("0123rest"))
		<-goOn
		io.WriteString(w, "rest")
	})
	a, err := c.Speak(t.Context(), Request{Text: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, proven := a.Proof(); proven {
		t.Error("there is proof of what has not been read")
	}
	got := Audio{
		RequestID: a.RequestID, ContentType: a.ContentType, Voice: a.Voice, Model: a.Model,
		Seed: a.Seed, Queue: a.Queue, Unspoken: a.Unspoken,
	}
	want := Audio{
		RequestID: "r1", ContentType: "audio/wav", Voice: "raj", Model: "m",
		Seed: -42, Queue: 1500 * time.Microsecond, Unspoken: "你+",
	}
	if got != want {
		t.Errorf("Audio = %+v, want %+v", got, want)
	}
	first := make([]byte, 4)
	if _, err := io.ReadFull(a, first); err != nil || string(first) != "0123" {
		t.Fatalf("read %q, %v before the rest was there", first, err)
	}
	close(goOn)
	rest, err := io.ReadAll(a)
	if err != nil || string(rest) != "rest" {
		t.Errorf("read %q, %v; want the rest", rest, err)
	}
	if n, err := a.Read(first); n != 0 || err != io.EOF {
		t.Errorf("Read after the end = %d, %v; want 0, io.EOF", n, err)
	}
}

var waysToRead = map[string]func(*Audio) io.ReadCloser{
	"read":       func(a *Audio) io.ReadCloser { return a },
	"read ahead": (*Audio).ReadAhead,
}

func TestAudioReadsLikeAReader(t *testing.T) {
	c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) { stream(w, sample, proofOf(sample)) })
	for name, open := range waysToRead {
		a, err := c.Speak(t.Context(), Request{Text: "a"})
		if err != nil {
			t.Fatal(err)
		}
		r := open(a)
		if err := iotest.TestReader(r, []byte(sample)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r.Close()
	}
}

// serveWithoutEnd returns a client of a server that goes on after the sample, until the client leaves.
func serveWithoutEnd(t *testing.T) (c *Client, stopped <-chan struct{}) {
	t.Helper()
	left := make(chan struct{})
	return serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		io.ReadAll(r.Body)
		stream(w, sample, nil)
		<-r.Context().Done()
		close(left)
	}), left
}

func TestEndingTheContextIsNotACut(t *testing.T) {
	why := errors.New("the user has left")
	for how, open := range waysToRead {
		t.Run(how, func(t *testing.T) {
			c, stopped := serveWithoutEnd(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			a, err := c.Speak(ctx, Request{Text: "a"})
			if err != nil {
				t.Fatal(err)
			}
			r := open(a)
			io.ReadFull(r, make([]byte, len(sample)))
			cancel(why)
			if _, err := io.ReadAll(r); !errors.Is(err, why) {
				t.Errorf("error = %v, want the cause of the context", err)
			}
			<-stopped
			r.Close()
		})
	}
}

func TestClosingEarlyEndsTheRequest(t *testing.T) {
	for how, open := range waysToRead {
		t.Run(how, func(t *testing.T) {
			c, stopped := serveWithoutEnd(t)
			a, err := c.Speak(t.Context(), Request{Text: "a"})
			if err != nil {
				t.Fatal(err)
			}
			r := open(a)
			r.Close()
			<-stopped
			if _, err := r.Read(make([]byte, 1)); err == nil || err == io.EOF {
				t.Errorf("Read after Close = %v, want an error that is not an end", err)
			}
			if err := a.Close(); err != nil {
				t.Errorf("closing twice: %v", err)
			}
		})
	}
}

// The reader takes nothing until the server has sent everything, which is more than the sockets between them hold.
func TestReadAheadTakesAudioThatNobodyReadsYet(t *testing.T) {
	audio := strings.Repeat("Swar", 4<<20)
	sent := make(chan struct{})
	c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, audio, proofOf(audio))
		close(sent)
	})
	a, err := c.Speak(t.Context(), Request{Text: "a"})
	if err != nil {
		t.Fatal(err)
	}
	r := a.ReadAhead()
	defer r.Close()
	<-sent
	got, err := io.ReadAll(r)
	if err != nil || string(got) != audio {
		t.Errorf("read %d bytes, %v; want all %d", len(got), err, len(audio))
	}
}

func TestInboxIsBounded(t *testing.T) {
	half := make([]byte, maxAhead/2)
	tests := map[string]struct {
		sizes []int
		fits  bool // the last one, without anything being taken
	}{
		"exactly full":               {[]int{len(half), len(half)}, true},
		"one byte too many":          {[]int{len(half), len(half), 1}, false},
		"one that is larger, alone":  {[]int{maxAhead + 1}, true},
		"one that is larger, behind": {[]int{1, maxAhead + 1}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newInbox()
				put := 0
				go func() {
					for _, n := range tt.sizes {
						if !b.put(message{data: make([]byte, n)}) {
							return
						}
						put++
					}
				}()
				synctest.Wait()
				if got := put == len(tt.sizes); got != tt.fits {
					t.Errorf("%d of %d fit, want the last to fit: %v", put, len(tt.sizes), tt.fits)
				}
				if _, err := b.take(); err != nil {
					t.Errorf("take: %v", err)
				}
				synctest.Wait()
				if put != len(tt.sizes) {
					t.Error("the room of what was taken is not used")
				}
				b.shut(errClosed)
				if b.put(message{}) {
					t.Error("something was put into a shut inbox")
				}
				if _, err := b.take(); err != errClosed {
					t.Errorf("take = %v, want the reason", err)
				}
			})
		})
	}
}

func TestErrorsSayWhatTheServerSaid(t *testing.T) {
	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	tests := map[string]struct {
		status  int
		headers map[string]string
		body    string
		want    Error
		text    string
	}{
		"a refusal": {
			400, map[string]string{"X-Error-Code": "text_empty", "X-Request-Id": "r1"}, `{"error":"text is empty"}`,
			Error{400, CodeTextEmpty, "text is empty", "r1", 0}, "text is empty (status 400, request r1)",
		},
		"busy": {
			503, map[string]string{"X-Error-Code": "busy", "X-Request-Id": "r1", "Retry-After": "1"},
			`{"error":"busy"}`,
			Error{503, CodeBusy, "busy", "r1", time.Second}, "busy (status 503, request r1)",
		},
		"a server with nothing but the body": {
			401, nil, `{"error":"missing x-api-key"}`, Error{Status: 401, Text: "missing x-api-key"},
			"missing x-api-key (status 401)",
		},
		"a proxy's page": {
			502, map[string]string{"Content-Type": "text/html"}, "<html>upstream</html>",
			Error{Status: 502, Text: "bad gateway"}, "bad gateway (status 502)",
		},
		"nothing at all": {599, nil, "", Error{Status: 599, Text: "unknown status"}, "unknown status (status 599)"},
		"a Retry-After that makes no sense": {
			503, map[string]string{"Retry-After": "soon"}, `{"error":"busy"}`, Error{Status: 503, Text: "busy"},
			"busy (status 503)",
		},
		"a negative Retry-After": {
			503, map[string]string{"Retry-After": "-5"}, `{"error":"busy"}`, Error{Status: 503, Text: "busy"},
			"busy (status 503)",
		},
		"a Retry-After that is long past": {
			503, map[string]string{"Retry-After": "Mon, 02 Jan 2006 15:04:05 GMT"}, `{"error":"busy"}`,
			Error{Status: 503, Text: "busy"}, "busy (status 503)",
		},
		"success without being 200": {204, nil, "", Error{Status: 204, Text: "no content"}, "no content (status 204)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range tt.headers {
					w.Header().Set(name, value)
				}
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			_, speak := c.Speak(t.Context(), Request{Text: "a"})
			_, voices := c.Voices(t.Context())
			for name, err := range map[string]error{"Speak": speak, "Voices": voices, "Ready": c.Ready(t.Context())} {
				e, ok := errors.AsType[*Error](err)
				if !ok || *e != tt.want {
					t.Fatalf("%s: error = %#v, want %#v", name, err, tt.want)
				}
				if got := e.Error(); got != tt.text {
					t.Errorf("%s: text = %q, want %q", name, got, tt.text)
				}
			}
		})
	}
	t.Run("a Retry-After that is a date", func(t *testing.T) {
		if got := retryAfter(date); got < 59*time.Minute || got > time.Hour {
			t.Errorf("retryAfter(%q) = %v, want about an hour", date, got)
		}
	})
}

func TestInfo(t *testing.T) {
	c := serve(t, Options{Key: "k"}, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /v1/voices":
			io.WriteString(w, `{"voices":[{"name":"raj","language":"hi-IN+en-IN","sample_rate":24000,"prompt_frames":102}],"model":"m"}`)
		case "POST /v1/normalize":
			body, _ := io.ReadAll(r.Body)
			if got, want := string(body), `{"text":"₹5","en_digits":true}`; got != want {
				t.Errorf("sent %s, want %s", got, want)
			}
			io.WriteString(w, `{"normalized":"पाँच रुपये","disclosure":"पाँच","unspoken":"你","chars":10,"chunks":[{"text":"पाँच रुपये","tokens":4,"char_start":0,"char_end":10}],"input_chars":2,"spans":[{"start":0,"end":2,"kind":"amount","spoken":"पाँच रुपये","out_start":0,"out_end":10}]}`)
		case "GET /healthz":
			io.WriteString(w, `{"status":"ok","uptime_s":12.345,"workers":4,"workers_ready":3,"workers_busy":2,"queue_depth":1,"queue_limit":8,"model":"m","version":"v1"}`)
		case "GET /readyz":
			io.WriteString(w, `{"status":"ready"}`)
		default:
			t.Errorf("called %s %s", r.Method, r.URL.Path)
		}
	})
	voices, err := c.Voices(t.Context())
	if want := (Voices{[]Voice{{"raj", "hi-IN+en-IN", 24000, 102}}, "m"}); err != nil ||
		!reflect.DeepEqual(voices, want) {
		t.Errorf("Voices = %+v, %v; want %+v", voices, err, want)
	}
	n, err := c.Normalize(t.Context(), "₹5", true)
	want := Normalized{"पाँच रुपये", "पाँच", "你", 10, 2, []Chunk{{"पाँच रुपये", 4, 0, 10}},
		[]Span{{0, 2, "amount", "पाँच रुपये", 0, 10}}}
	if err != nil || !reflect.DeepEqual(n, want) {
		t.Errorf("Normalize = %+v, %v; want %+v", n, err, want)
	}
	h, err := c.Health(t.Context())
	if want := (Health{"ok", 12345 * time.Millisecond, 4, 3, 2, 1, 8, "m", "v1"}); err != nil || h != want {
		t.Errorf("Health = %+v, %v; want %+v", h, err, want)
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("Ready: %v", err)
	}
}

func TestPreviewAsksForAReading(t *testing.T) {
	var body string
	c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body = r.URL.Path + " " + string(b)
		io.WriteString(w, `{"normalized":"a","spans":[{"start":0,"end":1,"kind":"lexicon","spoken":"a","out_start":0,"out_end":1}]}`)
	})
	for _, tt := range []struct {
		request Request
		want    string
	}{
		{Request{Text: "a"}, `{"text":"a"}`},
		{Request{Text: "a", Voice: "raj", Format: Opus, WordTimes: true}, `{"text":"a"}`},
		{Request{Text: "a", SSML: true, EnDigits: true, Lexicon: "none"}, `{"text":"a","input_type":"ssml","en_digits":true,"lexicon":"none"}`},
	} {
		n, err := c.Preview(t.Context(), tt.request)
		if err != nil || body != "/v1/normalize "+tt.want || n.Spans[0].Kind != "lexicon" {
			t.Errorf("%+v asks for %s, %v; want %s", tt.request, body, err, tt.want)
		}
	}
	if _, err := c.Preview(t.Context(), Request{Text: "\xff"}); err == nil {
		t.Error("a text that is none is sent")
	}
}

func TestAnswersThatAreNoJSONAreErrors(t *testing.T) {
	c := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") })
	if _, err := c.Voices(t.Context()); err == nil || !strings.Contains(err.Error(), "/v1/voices") {
		t.Errorf("error = %v, want one that names the path", err)
	}
	if _, err := c.Health(t.Context()); err == nil {
		t.Error("Health took it")
	}
}
