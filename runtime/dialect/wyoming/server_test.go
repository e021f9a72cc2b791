package wyoming

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/swar-tts/swar/runtime/dialect/wyoming/internal/wire"
	"github.com/swar-tts/swar/runtime/dialect/wyoming/wyomingtest"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake speaks each text as samples that are its bytes, as soon as it is finished.
type fake struct {
	modelErr error
	speak    func(ctx context.Context, text string, audio func([]byte) error) error // nil: as above

	mu  sync.Mutex
	ran int // turns whose Speak has returned
}

func (f *fake) Model(context.Context) (speech.Model, error) {
	return speech.Model{ID: "fake", Voices: []speech.Voice{
		{Name: "anjura", Language: "hi-IN+en-IN"}, {Name: "raj", Language: "hi-IN+en-IN"}, {Name: "marta", Language: "de-DE"},
	}}, f.modelErr
}

func (f *fake) Say(ctx context.Context, voice string, text Text) (Turn, error) {
	t, _ := f.Feed(ctx, voice)
	if text.SSML {
		text.Text = "SSML " + text.Text
	}
	switch err := t.Append(text.Text); {
	case err != nil:
		return nil, err
	case text.Text == "":
		return nil, speech.ErrTextEmpty
	}
	t.Finish()
	return t, nil
}

func (f *fake) Feed(_ context.Context, voice string) (FedTurn, error) {
	return &fakeTurn{of: f, voice: voice, finished: make(chan struct{})}, nil
}

type fakeTurn struct {
	of          *fake
	voice, text string
	finished    chan struct{}
}

func (t *fakeTurn) Append(text string) error {
	if strings.Contains(text, "\x00") {
		return speech.ErrTextNUL
	}
	t.text += text
	return nil
}

func (t *fakeTurn) Finish() { close(t.finished) }

func (t *fakeTurn) Speak(ctx context.Context, audio func([]byte) error) error {
	defer func() {
		t.of.mu.Lock()
		t.of.ran++
		t.of.mu.Unlock()
	}()
	select {
	case <-t.finished:
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // even when both have happened
		return context.Cause(ctx)
	}
	if t.of.speak != nil {
		return t.of.speak(ctx, t.text, audio)
	}
	if strings.Trim(t.text, ".") == "" {
		return nil
	}
	return audio([]byte(t.voice + ": " + t.text))
}

// serve serves f until the test ends.
func serve(t *testing.T, f *fake) (s *Server, address string) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = New(Config{Speech: f, Version: "v1", Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

// wantClosed reads up to the end of the connection, which comes with an error of this code, or with none.
func wantClosed(t *testing.T, c *wyomingtest.Client, code string) {
	t.Helper()
	got := ""
	for {
		e, err := c.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("the connection ends with %v", err)
			}
			break
		}
		if e.Type == typeError {
			got, _ = e.Data["code"].(string)
			if e.Data["text"] == "" {
				t.Error("the error has no text")
			}
		}
	}
	if got != code {
		t.Errorf("the error is %q, want %q", got, code)
	}
}

type data = map[string]any

// TestAConversation is what the client of Home Assistant sends, as it was recorded in November 2026: cut within
// syllables, with the whole text again for servers that are not fed.
func TestAConversation(t *testing.T) {
	_, address := serve(t, &fake{})
	c := wyomingtest.Dial(t, address)
	c.Send("describe", nil)
	e, err := c.Next()
	if err != nil || e.Type != "info" {
		t.Fatalf("%+v, %v", e, err)
	}
	programs, _ := e.Data["tts"].([]any)
	program, _ := programs[0].(data)
	voices, _ := program["voices"].([]any)
	voice, _ := voices[0].(data)
	if len(programs) != 1 || program["supports_synthesize_streaming"] != true || len(voices) != 3 ||
		voice["name"] != "anjura" ||
		fmt.Sprint(voice["languages"]) != "[hi-IN en-IN]" || voice["installed"] != true {
		t.Errorf("info is %v", e.Data)
	}
	for _, other := range []string{"asr", "handle", "intent", "wake", "mic", "snd"} {
		if all, ok := e.Data[other].([]any); !ok || len(all) > 0 {
			t.Errorf("info has %v for %s", e.Data[other], other)
		}
	}

	text := "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"
	c.Send("synthesize", data{"text": text, "voice": data{"name": "raj"}})
	types, audio, _ := c.Turn("audio-stop")
	if !slices.Equal(types, []string{"audio-start", "audio-chunk", "audio-stop"}) || string(audio) != "raj: "+text {
		t.Errorf("%v with %q", types, audio)
	}

	c.Send("synthesize-start", data{"voice": data{"name": "anjura"}})
	for _, piece := range []string{"नम", "स", "्", "ते", " जी", "।", " आप", "क", "ा ओट", "ी", "पी 4829", "13 है", "।",
		" Kal mil", "enge", "."} {
		c.Send("synthesize-chunk", data{"text": piece})
	}
	c.Send("synthesize", data{"text": "नमस्ते जी। आपका ओटीपी 482913 है। Kal milenge.", "voice": data{"name": "anjura"}})
	c.Send("ping", data{"text": "x"})
	if e, err := c.Next(); err != nil || e.Type != "pong" || e.Data["text"] != "x" {
		t.Errorf("%+v, %v", e, err)
	}
	c.Send("synthesize-stop", nil)
	types, audio, _ = c.Turn("synthesize-stopped")
	if !slices.Equal(types, []string{"audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"}) ||
		string(audio) != "anjura: नमस्ते जी। आपका ओटीपी 482913 है। Kal milenge." {
		t.Errorf("%v with %q", types, audio)
	}

	c.Send("synthesize-start", nil) // of which nothing is heard
	c.Send("synthesize-chunk", data{"text": "..."})
	c.Send("synthesize-stop", nil)
	if types, audio, _ := c.Turn("synthesize-stopped"); !slices.Equal(types,
		[]string{"audio-start", "audio-stop", "synthesize-stopped"}) || len(audio) > 0 {
		t.Errorf("%v with %q", types, audio)
	}

	c.Send("synthesize", data{"text": "<speak/>", "text_format": "ssml"})
	if _, audio, _ := c.Turn("audio-stop"); string(audio) != "anjura: SSML <speak/>" {
		t.Errorf("%q", audio)
	}

	c.Send("synthesize", data{"text": "ek"}) // turns come in their order
	c.Send("synthesize", data{"text": "do"})
	_, one, _ := c.Turn("audio-stop")
	_, two, _ := c.Turn("audio-stop")
	if string(one) != "anjura: ek" || string(two) != "anjura: do" {
		t.Errorf("%q and %q", one, two)
	}
}

func TestVoices(t *testing.T) {
	_, address := serve(t, &fake{})
	for name, tt := range map[string]struct {
		voice any
		by    string // "": refused
		code  string
	}{
		"none":                     {nil, "anjura", ""},
		"an object without a name": {data{}, "anjura", ""},
		"a null":                   {data{"name": nil, "language": nil}, "anjura", ""},
		"in capitals":              {data{"name": " RAJ "}, "raj", ""},
		"a name and a language":    {data{"name": "raj", "language": "de-DE"}, "raj", ""},
		"a language":               {data{"language": "de-DE"}, "marta", ""},
		"a language by its tongue": {data{"language": "de"}, "marta", ""},
		"a language, underscored":  {data{"language": "en_IN"}, "anjura", ""},
		"a language of nobody":     {data{"language": "fr"}, "", "unknown_voice"},
		"an unknown name":          {data{"name": "kaun"}, "", "unknown_voice"},
		"a name of numbers":        {data{"name": 1}, "", "bad_request"},
		"a voice of letters":       {"raj", "", "bad_request"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"synthesize", "synthesize-start"} {
				c := wyomingtest.Dial(t, address)
				c.Send(kind, data{"text": "Hi", "voice": tt.voice})
				if kind == "synthesize-start" {
					c.Send("synthesize-chunk", data{"text": "Hi"})
					c.Send("synthesize-stop", nil)
				}
				if tt.by == "" {
					wantClosed(t, c, tt.code)
					continue
				}
				if _, audio, _ := c.Turn("audio-stop"); string(audio) != tt.by+": Hi" {
					t.Errorf("%s: %q, want by %s", kind, audio, tt.by)
				}
			}
		})
	}
}

// TestWhatIsRefused ends the connection, with an error if the client broke a rule.
func TestWhatIsRefused(t *testing.T) {
	_, address := serve(t, &fake{})
	for name, tt := range map[string]struct{ sent, code string }{
		"no JSON":                   {"hello\n", "bad_request"},
		"binary":                    {"\x00\xff\xfe\n", "bad_request"},
		"a list":                    {"[]\n", "bad_request"},
		"no type":                   {"{}\n", "bad_request"},
		"a type of numbers":         {`{"type":1}` + "\n", "bad_request"},
		"data of letters":           {`{"type":"ping","data":"x"}` + "\n", "bad_request"},
		"data that is not JSON":     {`{"type":"ping","data_length":3}` + "\nabc", "bad_request"},
		"a negative length":         {`{"type":"ping","data_length":-1}` + "\n", "bad_request"},
		"half a byte":               {`{"type":"ping","data_length":0.5}` + "\n", "bad_request"},
		"a length in words":         {`{"type":"ping","payload_length":"3"}` + "\n", "bad_request"},
		"more than a megabyte":      {`{"type":"ping","data_length":1048577}` + "\n", "bad_request"},
		"a payload of two":          {`{"type":"ping","payload_length":2097152}` + "\n", "bad_request"},
		"a long line":               {strings.Repeat("x", wire.MaxPart+(8<<10)), "bad_request"},
		"a chunk of nothing":        {`{"type":"synthesize-chunk","data":{"text":"Hi"}}` + "\n", "bad_request"},
		"a stop of nothing":         {`{"type":"synthesize-stop"}` + "\n", "bad_request"},
		"a start in a start":        {strings.Repeat(`{"type":"synthesize-start"}`+"\n", 2), "bad_request"},
		"a text of numbers":         {`{"type":"synthesize","data":{"text":7}}` + "\n", "bad_request"},
		"half a surrogate":          {`{"type":"synthesize","data":{"text":"\ud800"}}` + "\n", "bad_request"},
		"a chunk with a NUL":        {`{"type":"synthesize-start"}` + "\n" + `{"type":"synthesize-chunk","data":{"text":"\u0000"}}` + "\n", "bad_text"},
		"no text":                   {`{"type":"synthesize"}` + "\n", "text_empty"},
		"ssml that is fed":          {`{"type":"synthesize-start","data":{"text_format":"ssml"}}` + "\n", "bad_request"},
		"another format":            {`{"type":"synthesize","data":{"text":"x","text_format":"html"}}` + "\n", "bad_request"},
		"an end within a line":      {`{"type":`, ""},
		"an end within data":        {`{"type":"ping","data_length":5}` + "\n{", ""},
		"an end within its payload": {`{"type":"audio-chunk","payload_length":5}` + "\nx", ""},
		"nothing":                   {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := wyomingtest.Dial(t, address)
			if _, err := c.Write([]byte(tt.sent)); err != nil {
				t.Fatal(err)
			}
			if tcp, ok := c.Conn.(*net.TCPConn); ok && tt.code == "" {
				_ = tcp.CloseWrite()
			}
			wantClosed(t, c, tt.code)
		})
	}
}

// TestWhatIsIgnored: events of other services, and the sound of a microphone.
func TestWhatIsIgnored(t *testing.T) {
	_, address := serve(t, &fake{})
	c := wyomingtest.Dial(t, address)
	sent := `{"type":"transcribe","data":{"language":"en"}}` + "\n" + `{"type":"audio-chunk","payload_length":4}` +
		"\n\x00\n\n\x01" +
		`{"type":"ping","data":{"text":"first"},"data_length":17}` + "\n" + `{"text":"second"}` + `{"type":"ping","data":null,"data_length":null}` + "\n" +
		strings.Repeat(" ", wire.MaxPart-len(`{"type":"describe"}`)) + `{"type":"describe"}` + "\n"
	if _, err := c.Write([]byte(sent)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"second", ""} {
		if e, err := c.Next(); err != nil || e.Type != "pong" || e.Data["text"] != want {
			t.Errorf("%+v, %v; want %q", e, err, want)
		}
	}
	if e, err := c.Next(); err != nil || e.Type != "info" {
		t.Errorf("%s, %v", e.Type, err)
	}
}

// TestFailures end the connection behind their error, so that a client that waits for audio does not wait for ever.
func TestFailures(t *testing.T) {
	isFollowed := make(chan struct{})
	f := &fake{speak: func(_ context.Context, text string, audio func([]byte) error) error {
		<-isFollowed
		if err := audio([]byte("au")); err != nil || text != "fail" {
			return err
		}
		return &Error{"busy", "busy"}
	}}
	_, address := serve(t, f)
	c := wyomingtest.Dial(t, address)
	c.Send("synthesize", data{"text": "fail"})
	c.Send("synthesize", data{"text": "later"})
	c.Send("ping", nil)
	c.Turn("pong")
	close(isFollowed)
	types, audio, e := c.Turn("error")
	if !slices.Equal(types, []string{"audio-start", "audio-chunk", "error"}) || string(audio) != "au" ||
		e.Data["code"] != "busy" {
		t.Errorf("%v with %q: %v", types, audio, e)
	}
	wantClosed(t, c, "")
	f.mu.Lock()
	ran := f.ran
	f.mu.Unlock()
	if ran != 2 {
		t.Errorf("%d turns were freed, want 2", ran)
	}
	_, address = serve(t, &fake{modelErr: &Error{"server_unreachable", "no server"}})
	c = wyomingtest.Dial(t, address)
	c.Send("describe", nil)
	wantClosed(t, c, "server_unreachable")
}

// TestALostClientStopsItsTurns.
func TestALostClientStopsItsTurns(t *testing.T) {
	speaking, stopped := make(chan struct{}), make(chan error, 1)
	_, address := serve(t, &fake{speak: func(ctx context.Context, _ string, _ func([]byte) error) error {
		close(speaking)
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return context.Cause(ctx)
	}})
	c := wyomingtest.Dial(t, address)
	c.Send("synthesize", data{"text": "Hi"})
	<-speaking
	_ = c.Close()
	if err := <-stopped; !errors.Is(err, speech.ErrClientGone) {
		t.Errorf("stopped for %v", err)
	}
}

func TestLimits(t *testing.T) {
	_, address := serve(t, &fake{speak: func(ctx context.Context, _ string, _ func([]byte) error) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}})
	all := make([]*wyomingtest.Client, maxConns)
	for i := range all {
		all[i] = wyomingtest.Dial(t, address)
		all[i].Send("ping", data{"text": "x"})
		if e, err := all[i].Next(); err != nil || e.Type != "pong" {
			t.Fatalf("connection %d: %+v, %v", i, e, err)
		}
	}
	wantClosed(t, wyomingtest.Dial(t, address), "busy")
	c := all[0]
	for range maxTurns {
		c.Send("synthesize", data{"text": "Hi"})
	}
	c.Send("ping", data{"text": "y"})
	if e, err := c.Next(); err != nil || e.Type != "pong" {
		t.Fatalf("%+v, %v", e, err)
	}
	c.Send("synthesize", data{"text": "one more"})
	wantClosed(t, c, "busy")
}

// TestDrain: an idle connection ends at once, and a busy one when it has been spoken to.
func TestDrain(t *testing.T) {
	release, speaking := make(chan struct{}), make(chan struct{}, 1)
	s, address := serve(t, &fake{speak: func(_ context.Context, text string, audio func([]byte) error) error {
		speaking <- struct{}{}
		<-release
		return audio([]byte(text))
	}})
	idle, busy := wyomingtest.Dial(t, address), wyomingtest.Dial(t, address)
	idle.Send("ping", nil)
	if _, err := idle.Next(); err != nil {
		t.Fatal(err)
	}
	busy.Send("synthesize", data{"text": "Hi"})
	<-speaking
	s.Drain()
	wantClosed(t, idle, "")
	wantClosed(t, wyomingtest.Dial(t, address), "")
	close(release)
	if _, audio, _ := busy.Turn("audio-stop"); string(audio) != "Hi" {
		t.Errorf("%q", audio)
	}
	wantClosed(t, busy, "")
}

// TestAThousandAborts leave nothing: TestMain looks for goroutines.
func TestAThousandAborts(t *testing.T) {
	f := &fake{}
	_, address := serve(t, f)
	for i := range 1000 {
		var d net.Dialer
		conn, err := d.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		sent := `{"type":"synthesize-start"}` + "\n" + `{"type":"synthesize-chunk","data":{"text":"Namaste ji"}}` +
			"\n" + `{"type":"synthesize-stop"}` + "\n"
		_, _ = conn.Write([]byte(sent[:i%len(sent)]))
		_ = conn.Close()
	}
}

// FuzzEvents: whatever comes is an event, an error or the end, and costs no more than its parts may have.
func FuzzEvents(f *testing.F) {
	for _, sent := range []string{
		`{"type":"synthesize","data_length":15}` + "\n" + `{"text":"Namas"}`, `{"type":"ping","data":{"text":"a"},"payload_length":2}` + "\nab",
		`{"type":"x","data_length":1e9}` + "\n", "\n\n", "{\"type\":\"\xff\"}\n", `{"type":"describe"}`,
	} {
		f.Add([]byte(sent))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		r := bufio.NewReader(bytes.NewReader(sent))
		for {
			e, err := wire.Read(r)
			if err != nil {
				_, refused := shownOf(err)
				if !refused && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatal(err)
				}
				return
			}
			if request, err := readRequest(e); err == nil {
				_, _ = request.voice(speech.Model{Voices: []speech.Voice{{Name: "a", Language: "b+c"}}})
			}
		}
	})
}

// TestAudioLeavesAsItComes: the client has each block before the next one is made.
func TestAudioLeavesAsItComes(t *testing.T) {
	taken := make(chan struct{})
	_, address := serve(t, &fake{speak: func(ctx context.Context, _ string, audio func([]byte) error) error {
		for range 3 {
			if err := audio(make([]byte, speech.FrameBytes)); err != nil {
				return err
			}
			select {
			case <-taken:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	}})
	c := wyomingtest.Dial(t, address)
	c.Send("synthesize", data{"text": "Hi"})
	for blocks := 0; blocks < 3; {
		e, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "audio-chunk" {
			blocks++
			taken <- struct{}{}
		}
	}
	if e, err := c.Next(); err != nil || e.Type != "audio-stop" {
		t.Errorf("the turn ends with %+v, %v", e, err)
	}
}
