package serve

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/voiceout"
)

const jambonzPath = "/v1/jambonz?voice=raj&language=hi-IN"

// toJambonz opens a socket and reads what it opens with.
func (g *wsRig) toJambonz() *socket {
	g.t.Helper()
	s := g.to(jambonzPath)
	if m := s.next(); m.text != `{"data":{"base64_encoding":false,"sample_rate":16000},"type":"connect"}` {
		g.t.Fatalf("it opens with %s", m.text)
	}
	return s
}

func (s *socket) stream(text string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"type":"stream","text":%q}`, text))
}

// TestJambonzStreams: turns end with a flush, and a stop ends the bill within a frame.
func TestJambonzStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks(t)
		key, entry := newKey()
		g, closeRig := newBubbleRig(t, newSentences(), withDialects,
			func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
		defer closeRig()
		s := g.to(jambonzPath, "Authorization", "Bearer "+key)
		defer s.conn.Close()
		s.last("connect")
		for _, piece := range []string{"नम", "स्", "ते जी", " कैसे हैं? ", "मैं"} {
			s.stream(piece)
		}
		s.last("audio") // of the sentence that is whole
		faults := make(chan string, 1)
		go func() {
			for m, err := s.try(); err == nil; m, err = s.try() {
				if m.typ() == "error" {
					faults <- m.text
				}
			}
		}()
		s.send(`{"type":"flush"}`)
		time.Sleep(3 * time.Second)
		b.want("jambonz raj l16/16000 20/20 ok")

		s.stream("Aap kaise hain ji? Main theek hoon ji. ")
		s.send(`{"type":"flush"}`)
		time.Sleep(450 * time.Millisecond)
		s.send(`{"type":"stop"}`)
		time.Sleep(3 * time.Second)
		b.want("jambonz raj l16/16000 5/5 cancelled")

		s.send(`{"type":"stream","text":7}`)
		if got, want := <-faults, `{"error":"text: must be a string","type":"error"}`; got != want {
			t.Errorf("a text of 7: %s", got)
		}
		s.stream("Namaste ji kaise ho? ") // it goes on
		s.send(`{"type":"flush"}`)
		time.Sleep(3 * time.Second)
		b.want("jambonz raj l16/16000 10/10 ok")
	})
}

func TestJambonzFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		text string
		code int
	}{
		"busy":   {speech.ErrBusy, "busy", 1013},
		"engine": {errors.New("boom"), "engine error", 1011},
	} {
		t.Run(name, func(t *testing.T) {
			g := newWSRig(t, failing(tt.err), withDialects)
			s := g.toJambonz()
			defer s.conn.Close()
			s.stream("Namaste ji kaise ho? ")
			if m := s.last("error"); m.event["error"] != tt.text {
				t.Errorf("%s", m.text)
			}
			s.wantClose(tt.code, "")
		})
	}
	g := newWSRig(t, &script{}, withDialects)
	for path, status := range map[string]int{"/v1/jambonz?voice=kaun": 400, "/v1/bridge/twilio?voice=kaun": 400,
		"/v1/bridge/plivo?text=" + strings.Repeat("a", 4001): 413} {
		if _, res, err := g.tryTo(path); err == nil || res.StatusCode != status {
			t.Errorf("%.40s: %v, %v, want %d", path, err, res, status)
		}
	}
	for _, path := range []string{"/v1/jambonz", "/v1/bridge/exotel?voice=anjura"} { // which the key may not use
		if _, res, err := g.tryTo(path, "Authorization", "Bearer raj-key"); err == nil ||
			res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %v, %v", path, err, res)
		}
	}
	if _, res, err := g.tryTo(jambonzPath, "Authorization", "Bearer wrong"); err == nil ||
		res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong key: %v, %v", err, res)
	}
}

const (
	twilioStart = `{"event":"start","start":{"streamSid":"MZ1","callSid":"CA1"},"streamSid":"MZ1"}`
	twilioMark  = `{"event":"mark","streamSid":"MZ1","mark":{"name":"swar-end"}}`
)

// payloads reads frames of a media stream up to our mark.
func (s *socket) payloads() (all [][]byte) {
	s.t.Helper()
	for {
		m := s.next()
		if m.event["event"] != "media" {
			return all
		}
		media, _ := m.event["media"].(map[string]any)
		text, _ := media["payload"].(string)
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil || m.event["streamSid"] != "MZ1" {
			s.t.Fatalf("%s: %v", m.text, err)
		}
		all = append(all, data)
	}
}

// TestTheBridgeHangsUp when its mark comes back, and 5 s after its audio must have ended where none does.
func TestTheBridgeHangsUp(t *testing.T) {
	for name, tt := range map[string]struct {
		isMarked bool
		want     time.Duration // behind the mark
	}{
		"when it was heard":         {true, 300 * time.Millisecond},
		"when no mark has returned": {false, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBooks(t)
				key, entry := newKey()
				g, closeRig := newBubbleRig(t, quick(100), withVoices,
					func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
				defer closeRig()
				s := g.to("/v1/bridge/twilio?api_key="+key+"&voice=raj&text=Namaste", "Authorization", "")
				defer s.conn.Close()
				s.send(`{"event":"connected","protocol":"Call","version":"1.0.0"}`)
				begin := time.Now()
				s.send(twilioStart)
				s.send(`{"event":"media","media":{"payload":"fn5+"},"streamSid":"MZ1"}`)
				s.send(`{"event":"dtmf","streamSid":"MZ1","dtmf":{"digit":"7"}}`)
				frames := s.payloads()
				if len(frames) != 400 || len(frames[399]) != 160 {
					t.Errorf("%d frames are sent, want 400 of 160 bytes", len(frames))
				}
				if took := time.Since(begin); took < 6*time.Second-speech.FrameDuration*4 || took > 6*time.Second {
					t.Errorf("8 s of audio are sent in %v, want 2 s ahead of real time", took)
				}
				b.want("bridge raj mulaw/8000 100/100 ok")
				end := time.Now()
				if tt.isMarked {
					time.Sleep(tt.want)
					s.send(twilioMark)
				}
				s.wantClose(1000, "")
				if took := time.Since(end); took != tt.want {
					t.Errorf("it hangs up after %v, want %v", took, tt.want)
				}
				line := g.logs.wait(t, 2)
				if !slices.ContainsFunc(line,
					func(l map[string]any) bool { return l["dtmf"] == "7" && l["endpoint"] == "bridge" }) {
					t.Errorf("no line has the key that was pressed: %v", line)
				}
			})
		})
	}
}

// TestACallThatEndsEarlyCostsLittle: at most the two seconds that were sent ahead, and what the session was ahead of
// that.
func TestACallThatEndsEarlyCostsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks(t)
		key, entry := newKey()
		g, closeRig := newBubbleRig(t, newSentences(), withDialects,
			func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
		defer closeRig()
		text := url.QueryEscape(strings.Repeat("Aap kaise hain ji? ", 60))
		s := g.to("/v1/bridge/twilio?text="+text, "Authorization", "Bearer "+key)
		s.send(twilioStart)
		time.Sleep(2500 * time.Millisecond)
		s.send(`{"event":"stop","stop":{"callSid":"CA1"}}`)
		s.wantClose(1000, "")
		s.conn.Close()
		<-g.server.sockets.idle()
		if e := b.want("bridge anjura mulaw/8000 26/26 cancelled client disconnected"); e.Billed > 30 {
			t.Errorf("%d frames are billed", e.Billed)
		}
	})
}

// TestAHostileStream: the text is spoken once, and what is wrong ends nothing but where there is nothing to speak.
func TestAHostileStream(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	s := g.to("/v1/bridge/twilio?text=Namaste")
	defer s.conn.Close()
	for _, text := range []string{`{`, `[]`, `{"event":1}`, `{"event":"start","start":[]}`, twilioStart, twilioStart,
		`{"event":"mark"}`} {
		s.send(text)
	}
	if err := s.conn.WriteMessage(websocket.BinaryMessage, []byte{0, 1}); err != nil {
		t.Fatal(err)
	}
	for m := s.next(); m.event["event"] != "mark"; m = s.next() {
	}
	s.send(twilioMark)
	s.wantClose(1000, "")
	s = g.to("/v1/bridge/twilio")
	defer s.conn.Close()
	s.send(twilioStart)
	s.wantClose(1008, "text is empty")
}

// TestAbortedCallsLeaveNothing: the bubble fails if a goroutine is left.
func TestAbortedCallsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaker := newSentences()
		g, closeRig := newBubbleRig(t, speaker, withDialects)
		defer closeRig()
		for i := range 1000 {
			var s *socket
			if i%2 == 0 {
				s = g.toJambonz()
				s.stream("Aap kaise hain ji? Main theek")
			} else {
				s = g.to("/v1/bridge/twilio?text=Aap+kaise+hain+ji?+Main+theek")
				s.send(twilioStart)
			}
			if i%4 < 3 {
				s.next()
			}
			s.conn.Close()
		}
		<-g.server.sockets.idle()
		synctest.Wait()
		if n := speaker.speaking(); n != 0 || g.server.Listeners() != 0 || g.server.budget.use().bytes != 0 {
			t.Errorf("%d workers, %d listeners and %d bytes are left", n, g.server.Listeners(),
				g.server.budget.use().bytes)
		}
	})
}

// TestTheLevelOnACall: the loudest 100 ms of what is heard on a telephone are within 1 dB of those at 24 kHz.
func TestTheLevelOnACall(t *testing.T) {
	tone := make([]int16, 25*speech.FrameSamples)
	for i := range tone {
		at := float64(i) / speech.SampleRate
		loud := 3000 + 9000*math.Sin(math.Pi*at/2) // loudest in the middle
		tone[i] = int16(loud * (math.Sin(2*math.Pi*220*at) + .5*math.Sin(2*math.Pi*1800*at)) / 1.5)
	}
	g := newWSRig(t, toneOf(tone), withVoices)
	s := g.to("/v1/bridge/twilio?text=Namaste")
	defer s.conn.Close()
	s.send(twilioStart)
	var heard []int16
	for _, frame := range s.payloads() {
		for _, b := range frame {
			heard = append(heard, fromMuLaw(b))
		}
	}
	want, got := loudest(tone, 2400), loudest(heard, 800)
	if difference := 20 * math.Log10(got/want); math.Abs(difference) > 1 {
		t.Errorf("the loudest 100 ms are %.2f dB off", difference)
	}
}

// loudest is the root mean square of the loudest n samples.
func loudest(samples []int16, n int) (most float64) {
	for at := 0; at+n <= len(samples); at += n / 4 {
		sum := 0.
		for _, s := range samples[at : at+n] {
			sum += float64(s) * float64(s)
		}
		most = max(most, math.Sqrt(sum/float64(n)))
	}
	return most
}

// fromMuLaw decodes G.711.
func fromMuLaw(b byte) int16 {
	b = ^b
	magnitude := (int16(b&15)<<3+0x84)<<(b>>4&7) - 0x84
	if b&0x80 != 0 {
		return -magnitude
	}
	return magnitude
}

// quick speaks so many frames at once.
func quick(n int) *script { return toneOf(make([]int16, n*speech.FrameSamples)) }

// toneOf speaks samples, whole frames of them, in blocks of four frames.
func toneOf(samples []int16) *script {
	return &script{SpeakFunc: speakSamples(samples)}
}

// withVoices is a server with all dialects, and the encoders of voiceout.
func withVoices(c *Config) {
	withDialects(c)
	c.Encoders = realEncoders{}
}

type realEncoders struct{}

func (realEncoders) Encodes(dialect.Audio) bool { return true }
func (realEncoders) NewEncoder(a dialect.Audio, tags []string) (dialect.Encoder, error) {
	return voiceout.New(voiceout.Format{
		Container: voiceout.Container(a.Container), Encoding: voiceout.Encoding(a.Encoding), Rate: a.Rate,
		Speed: a.Speed,
	}, tags...)
}

// speakSamples speaks samples as [toneOf] says.
func speakSamples(samples []int16) func(context.Context, speech.Utterance, speech.Sink) (speech.Stats, error) {
	return func(_ context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats, err error) {
		st.Started = true
		if err := errors.Join(sink.Start(startOf(u)),
			sink.ChunkStart(speech.Chunk{Text: u.Text, Tokens: 1})); err != nil {
			return st, err
		}
		for block := range slices.Chunk(samples, 4*speech.FrameSamples) {
			data, err := binary.Append(nil, binary.LittleEndian, block)
			if err != nil {
				return st, err
			}
			n := len(block) / speech.FrameSamples
			st.Frames += n
			if err := sink.Audio(speech.Audio{Frames: n, Data: data}); err != nil {
				return st, err
			}
		}
		st.Chunks = 1
		return st, sink.ChunkEnd(speech.ChunkEnd{Frames: st.Frames, EOS: true})
	}
}
