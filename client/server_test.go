package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/serve"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// realServer is the server itself, over the fake engine with one worker. Key "all" may use every voice, "raj" only raj.
func realServer(t *testing.T, engine synthtest.Config) (base string, server *serve.Server) {
	t.Helper()
	e := synthtest.NewEngine(engine)
	log := slog.New(slog.DiscardHandler)
	p, err := pool.New(pool.Config{Workers: 1, QueueLen: -1}, e, log)
	if err != nil {
		t.Fatal(err)
	}
	speaker := pipeline.New(pipeline.Config{}, e, p)
	keys, err := access.NewStatic([]string{"all", "raj=raj"}, []string{"anjura", "raj"})
	if err != nil {
		t.Fatal(err)
	}
	server, err = serve.New(serve.Config{Speaker: speaker, Keys: keys,
		Metrics: metrics.New().RegisterAPI(metrics.StreamsOf(speaker.Capacity)), Log: log, Version: "v0-test"})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(server)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		h.Close()
		limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Wait(limit); err != nil {
			t.Error(err)
		}
		stop()
		running.Wait()
	})
	if err := p.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h.URL, server
}

func newClient(t *testing.T, base, key string) *client.Client {
	t.Helper()
	c, err := client.New(base, client.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAgainstTheRealServer(t *testing.T) {
	base, _ := realServer(t, synthtest.Config{})
	c := newClient(t, base, "all")

	speak := func(t *testing.T, r client.Request) ([]byte, *client.Audio) {
		t.Helper()
		audio, err := c.Speak(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		defer audio.Close()
		data, err := io.ReadAll(audio)
		if err != nil {
			t.Fatal(err)
		}
		return data, audio
	}
	request := client.Request{Text: "Namaste! Kya haal hai?", Voice: "raj", Format: client.PCM16, Seed: new(int64(7)),
		RequestID: "r1"}

	t.Run("streamed", func(t *testing.T) {
		data, audio := speak(t, request)
		proof, ok := audio.Proof()
		if !ok || proof.Frames == 0 || proof.Frames*client.FrameBytes != len(data) {
			t.Errorf("proof = %+v, %v of %d bytes", proof, ok, len(data))
		}
		if audio.RequestID != "r1" || audio.Seed != 7 || audio.Voice != "raj" || audio.Model != "fake" {
			t.Errorf("audio = %+v", audio)
		}
		if got, want := audio.ContentType, "audio/L16;rate=24000;channels=1"; got != want {
			t.Errorf("audio has the content type %q, want %q", got, want)
		}
	})
	t.Run("buffered", func(t *testing.T) {
		streamed, _ := speak(t, request)
		r := request
		r.Buffered = true
		data, audio := speak(t, r)
		if proof, ok := audio.Proof(); !ok || proof.Frames == 0 || !bytes.Equal(data, streamed) {
			t.Errorf("proof = %+v, %v; %d bytes, want the %d of the stream", proof, ok, len(data), len(streamed))
		}
	})
	t.Run("Opus", func(t *testing.T) {
		r := request
		r.Format = client.Opus
		if data, audio := speak(t, r); audio.ContentType != "audio/ogg" || !bytes.HasPrefix(data, []byte("OggS")) {
			t.Errorf("%s begins with %q", audio.ContentType, data[:min(len(data), 8)])
		}
	})
	t.Run("refused", func(t *testing.T) {
		for name, tt := range map[string]struct {
			key  string
			r    client.Request
			want client.Code
		}{
			"no key":                     {"", request, client.CodeMissingKey},
			"a wrong key":                {"x", request, client.CodeInvalidKey},
			"a voice that the key lacks": {"raj", client.Request{Text: "a"}, client.CodeVoiceNotAllowed},
			"no text":                    {"all", client.Request{}, client.CodeTextEmpty},
			"too much text":              {"all", client.Request{Text: strings.Repeat("a", 4001)}, client.CodeTextTooLong},
			"nothing to say":             {"all", client.Request{Text: "..."}, client.CodeNothingToSay},
			"an unknown voice":           {"all", client.Request{Text: "a", Voice: "x"}, client.CodeUnknownVoice},
			"an unknown format":          {"all", client.Request{Text: "a", Format: "mp3"}, client.CodeBadFormat},
			"too lively":                 {"all", client.Request{Text: "a", Temperature: new(2.1)}, client.CodeBadTemperature},
			"an id that is not a header": {"all", client.Request{Text: "a", RequestID: "a b"}, client.CodeBadRequest},
		} {
			_, err := newClient(t, base, tt.key).Speak(t.Context(), tt.r)
			if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != tt.want || e.RequestID == "" ||
				e.Text == "" {
				t.Errorf("%s: error = %#v, want code %s", name, err, tt.want)
			}
		}
		_, err := newClient(t, base, "x").Stream(t.Context())
		if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.CodeInvalidKey ||
			e.Text != "invalid api key" {
			t.Errorf("Stream with a wrong key: %#v", err)
		}
	})
	t.Run("what it knows", func(t *testing.T) {
		if err := c.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		h, err := c.Health(t.Context())
		if err != nil || h.Workers != 1 || h.WorkersReady != 1 {
			t.Errorf("Health = %+v, %v", h, err)
		}
		if h.Version != "v0-test" || h.Model != "fake" {
			t.Errorf("Health = %+v", h)
		}
		if v, err := newClient(t, base, "raj").Voices(t.Context()); err != nil || v.Model != "fake" ||
			len(v.Voices) != 1 || v.Voices[0].Name != "raj" {
			t.Errorf("Voices = %+v, %v", v, err)
		}
		n, err := c.Normalize(t.Context(), "Total ₹499 hai", false)
		if err != nil || !strings.Contains(n.Text, "रुपये") {
			t.Errorf("Normalize = %+v, %v", n, err)
		}
		if len(n.Chunks) != 1 || n.InputChars != 14 || len(n.Spans) != 1 || n.Spans[0].Start != 6 {
			t.Errorf("Normalize = %+v", n)
		}
	})
	t.Run("a socket", func(t *testing.T) {
		conn, err := c.Stream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		want, _ := speak(t, request)
		for _, id := range []string{"a", "b"} {
			r := request
			r.RequestID = id
			if _, err := conn.Send(r); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{"a", "b"} {
			var kinds []string
			var audio []byte
			for ended := false; !ended; {
				e, err := conn.Next()
				if err != nil {
					t.Fatal(err)
				}
				if got := e.About().RequestID; got != id {
					t.Errorf("an event of %q during %q", got, id)
				}
				kind := ""
				switch e := e.(type) {
				case *client.StartEvent:
					kind = "start"
					if e.Format != client.PCM16 || e.Seed != 7 || e.Model != "fake" {
						t.Errorf("start = %+v", e)
					}
				case *client.ChunkEvent:
					kind = "chunk"
				case *client.AudioEvent:
					kind = "audio"
					audio = append(audio, e.Data...)
				case *client.FirstAudioEvent:
					kind = "first"
				case *client.ChunkEndEvent:
					kind = "chunk end"
				case *client.EndEvent:
					kind, ended = "end", true
					if e.Frames*client.FrameBytes != len(audio) ||
						e.Length != time.Duration(e.Frames)*client.FrameDuration {
						t.Errorf("end = %+v after %d bytes", e, len(audio))
					}
				}
				kinds = append(kinds, kind)
			}
			kinds = slices.Compact(kinds)
			if got := strings.Join(kinds, ", "); !strings.HasPrefix(got, "start, chunk, audio, first, audio") ||
				!strings.HasSuffix(got, "chunk end, end") {
				t.Errorf("events = %s", got)
			}
			if !bytes.Equal(audio, want) {
				t.Errorf("%d bytes, want the %d of REST", len(audio), len(want))
			}
		}
	})
}

func TestCancelOnTheRealServer(t *testing.T) {
	stuck := func(ctx context.Context, o synth.Options, frame int) error {
		if frame < 1 || o.Text != "Ruko zara" {
			return nil
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	base, _ := realServer(t, synthtest.Config{Before: stuck, BytesPerFrame: 1})
	conn, err := newClient(t, base, "all").Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, text := range []string{"Ruko zara", "Aage badho"} {
		if _, err := conn.Send(client.Request{Text: text, RequestID: text[:4], Raw: true}); err != nil {
			t.Fatal(err)
		}
	}
	for e, err := range conn.Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *client.AudioEvent:
			if e.RequestID == "Ruko" && len(e.Data) > client.FrameBytes {
				t.Error("audio of frames that were never decoded")
			}
		case *client.FirstAudioEvent:
			if e.RequestID != "Ruko" {
				continue
			}
			if err := conn.Cancel("Ruko"); err != nil {
				t.Fatal(err)
			}
		case *client.CancelledEvent:
			if e.RequestID != "Ruko" || e.Frames < 1 || e.BilledFrames < e.Frames {
				t.Errorf("cancelled = %+v", e)
			}
		case *client.EndEvent:
			if e.RequestID != "Aage" {
				t.Errorf("%s ended, want it cancelled", e.RequestID)
			}
			return
		case *client.ErrorEvent:
			t.Fatalf("error = %v", e.Err)
		}
	}
}

func TestTheRealServerIsBusyAndCutsOff(t *testing.T) {
	failing := errors.New("the engine breaks")
	goOn := make(chan struct{})
	base, _ := realServer(t, synthtest.Config{BytesPerFrame: 1,
		Before: func(_ context.Context, o synth.Options, frame int) error {
			if o.Text != "Ruko zara" || frame < 1 {
				return nil
			}
			<-goOn
			return failing
		}})
	c := newClient(t, base, "all")
	audio, err := c.Speak(t.Context(), client.Request{Text: "Ruko zara", Raw: true, Format: client.PCM16})
	if err != nil {
		t.Fatal(err)
	}
	defer audio.Close()
	_, err = c.Speak(t.Context(), client.Request{Text: "Main bhi"})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.CodeBusy || e.RetryAfter != time.Second {
		t.Errorf("error = %#v, want busy", err)
	}
	close(goOn)
	data, err := io.ReadAll(audio)
	cut, ok := errors.AsType[*client.CutError](err)
	if !ok || cut.Bytes != int64(len(data)) || len(data) != client.FrameBytes || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes, then %v; want one frame and a cut", len(data), err)
	}
}

func TestTheRealServerDrains(t *testing.T) {
	base, server := realServer(t, synthtest.Config{})
	conn, err := newClient(t, base, "all").Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	server.Drain()
	if _, err := conn.Next(); err == nil {
		t.Error("the connection lives on")
	} else if e, ok := errors.AsType[*client.ClosedError](err); !ok || e.Code != 1001 || e.Reason != "draining" {
		t.Errorf("Next = %v, want close code 1001, draining", err)
	}
}

// TestFedText feeds an utterance token by token, as a language model writes.
func TestFedText(t *testing.T) {
	base, _ := realServer(t, synthtest.Config{})
	conn, err := newClient(t, base, "all").Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	id, err := conn.Append(client.Request{Text: "Namaste", Voice: "raj", WordTimes: true})
	if err != nil || id == "" {
		t.Fatal(id, err)
	}
	for _, token := range []string{" ji", " kaise", " ho", "?", " नमस", "्ते", " दुनिया", "।"} {
		if _, err := conn.Append(client.Request{Text: token, RequestID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(conn.Flush(id), conn.Finish(id)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Append(client.Request{Text: "\xff"}); err == nil {
		t.Error("a broken text was sent")
	}
	var got []string
	for {
		e, err := conn.Next()
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *client.StartEvent:
			if !e.Fed || e.Voice != "raj" {
				t.Errorf("start %+v", e)
			}
		case *client.ChunkEvent:
			got = append(got, e.Text)
		case *client.FlushedEvent:
			got = append(got, "flushed")
			if e.Length == 0 || e.CharEnd != 35 {
				t.Errorf("flushed %+v", e)
			}
		case *client.ErrorEvent:
			t.Fatal(e.Err)
		case *client.EndEvent:
			if want := []string{"Namaste ji kaise ho?", "नमस्ते दुनिया।", "flushed"}; !slices.Equal(got, want) ||
				e.FinishedBy != "" {
				t.Errorf("got %q, want %q; end %+v", got, want, e)
			}
			return
		}
	}
}
