package serve

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// vendorClient is how one vendor's client has a text spoken on a socket of its own.
type vendorClient struct {
	open func(*wsRig, ...string) *socket
	turn func(text string) []string // messages, of which each %d is the number of the turn
	end  string                     // is part of the message behind the last audio
}

// headersOf adds a key to headers.
func headersOf(name, value string, more []string) []string {
	return append([]string{"Authorization", "", name, value}, more...)
}

var vendorClients = map[string]vendorClient{
	"Deepgram": {
		func(g *wsRig, more ...string) *socket { return g.toDeepgram(more...) },
		func(text string) []string {
			return []string{fmt.Sprintf(`{"type":"Speak","text":%q}`, text), `{"type":"Flush"}`}
		}, `"Flushed"`,
	},
	"ElevenLabs": {
		func(g *wsRig, more ...string) *socket { return g.toMulti("", more...) },
		func(text string) []string {
			return []string{
				`{"text":" ","context_id":"a"}`, fmt.Sprintf(`{"text":%q,"context_id":"a"}`, text+" "),
				`{"text":"","context_id":"a","flush":true}`, `{"context_id":"a","close_context":true}`,
			}
		}, `"isFinal":true`,
	},
	"Cartesia": {
		func(g *wsRig, more ...string) *socket {
			return g.to("/tts/websocket", headersOf("X-Api-Key", testKey, more)...)
		},
		func(text string) []string {
			return []string{fmt.Sprintf(
				`{"model_id":"m","voice":{"mode":"id","id":"raj"},"output_format":{"container":"raw"},"context_id":"a","transcript":%q,"continue":false}`, text)}
		}, `"type":"done"`,
	},
	"Sarvam": {
		func(g *wsRig, more ...string) *socket {
			s := g.to("/text-to-speech/ws?send_completion_event=true",
				headersOf("Api-Subscription-Key", testKey, more)...)
			s.configure("")
			return s
		},
		func(text string) []string {
			return []string{fmt.Sprintf(`{"type":"text","data":{"text":%q}}`, text), `{"type":"flush"}`}
		}, `"final"`,
	},
}

// through reads up to the end of a turn, and returns how many messages came before it.
func (s *socket) through(end string) (n int) {
	s.t.Helper()
	for {
		m := s.next()
		if strings.Contains(m.text, end) {
			return n
		}
		if strings.Contains(strings.ToLower(m.text), `"error"`) {
			s.t.Errorf("a turn is answered with %s", m.text)
		}
		n++
	}
}

// forVendors runs a test with a client of each vendor.
func forVendors(t *testing.T, test func(t *testing.T, g *wsRig, v vendorClient)) {
	t.Helper()
	for name, v := range vendorClients {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, closeRig := newBubbleRig(t, newSentences(), withDialects)
				defer closeRig()
				test(t, g, v)
			})
		})
	}
}

// write sends bytes as they are.
func (s *socket) write(b []byte) {
	s.t.Helper()
	if _, err := s.conn.NetConn().Write(b); err != nil {
		s.t.Fatal(err)
	}
}

// TestVendorsMessagesInFragmentsOfAByte: letters and marks are cut within, and pings come in between.
func TestVendorsMessagesInFragmentsOfAByte(t *testing.T) {
	forVendors(t, func(t *testing.T, g *wsRig, v vendorClient) {
		s := v.open(g)
		defer s.conn.Close()
		for _, m := range v.turn("नमस्ते जी, कैसे हैं? 👍🏽") {
			for i := range len(m) {
				first := byte(goesOn)
				if i == 0 {
					first = textBegins
				}
				if i == len(m)-1 {
					first |= ends
				}
				s.write(framed(first, m[i:i+1]))
				if i%16 == 0 {
					s.write(framed(ends|websocket.PingMessage, ""))
				}
			}
		}
		if n := s.through(v.end); n == 0 {
			t.Error("nothing is heard")
		}
	})
}

// TestVendorsFloodOfPings costs one pong at a time, and the next turn is spoken.
func TestVendorsFloodOfPings(t *testing.T) {
	forVendors(t, func(t *testing.T, g *wsRig, v vendorClient) {
		s := v.open(g)
		defer s.conn.Close()
		pongs := 0
		s.conn.SetPongHandler(func(string) error {
			pongs++
			return nil
		})
		for range 10_000 { // and nothing is read
			s.write(framed(ends|websocket.PingMessage, strings.Repeat("a", 125)))
		}
		for _, m := range v.turn("Namaste ji kaise ho?") {
			s.send(m)
		}
		s.through(v.end)
		if pongs > 3 {
			t.Errorf("%d pongs were kept for a client that does not read", pongs)
		}
	})
}

// TestVendorsWordsBehindTheClose are neither spoken nor billed.
func TestVendorsWordsBehindTheClose(t *testing.T) {
	forVendors(t, func(t *testing.T, g *wsRig, v vendorClient) {
		s := v.open(g)
		defer s.conn.Close()
		go func() { // until the server has closed
			for {
				if _, err := s.try(); err != nil {
					return
				}
			}
		}()
		s.write(framed(ends|websocket.CloseMessage, "\x03\xe8"))
		for _, m := range v.turn("Namaste ji kaise ho?") {
			if _, err := s.conn.NetConn().Write(framed(text, m)); err != nil {
				break // it is closed already
			}
		}
		time.Sleep(leaveGrace + closeGrace)
		if got := metricOf(t, g.server, "tts_websockets_open"); got != 0 {
			t.Errorf("%v sockets are open", got)
		}
		if got := metricOf(t, g.server, "tts_audio_seconds_total"); got != 0 {
			t.Errorf("%v s are billed", got)
		}
	})
}

// TestVendorsIdleForAnHour: the socket stays, and speaks.
func TestVendorsIdleForAnHour(t *testing.T) {
	forVendors(t, func(t *testing.T, g *wsRig, v vendorClient) {
		s := v.open(g)
		defer s.conn.Close()
		heard := make(chan int)
		go func() { heard <- s.through(v.end) }() // and answers pings
		time.Sleep(time.Hour)
		for _, m := range v.turn("Namaste ji kaise ho?") {
			s.send(m)
		}
		if <-heard == 0 {
			t.Error("nothing is heard")
		}
	})
}

// TestVendorsStormOfConnections: 200 that come, begin a turn and are gone leave nothing.
func TestVendorsStormOfConnections(t *testing.T) {
	forVendors(t, func(t *testing.T, g *wsRig, v vendorClient) {
		for range 200 {
			s := v.open(g)
			for _, m := range v.turn("Namaste ji kaise ho?")[:1] {
				s.send(m)
			}
			s.conn.NetConn().Close()
		}
		time.Sleep(leaveGrace + time.Second)
		if got := metricOf(t, g.server, "tts_websockets_open"); got != 0 {
			t.Errorf("%v sockets are open", got)
		}
		if use := g.server.budget.use(); use.bytes != 0 || g.server.listening.Load() != 0 {
			t.Errorf("%d bytes stay in the spool, and %d listeners", use.bytes, g.server.listening.Load())
		}
	})
}

// TestVendorsHandshakesOfBrowsers: pages of any origin, compression on offer, and subprotocols that mean nothing here.
func TestVendorsHandshakesOfBrowsers(t *testing.T) {
	forVendors(t, func(t *testing.T, g *wsRig, v vendorClient) {
		s := v.open(g, "Origin", "https://shop.example.org", "Sec-Websocket-Protocol", "graphql-ws, chat")
		defer s.conn.Close()
		if p := s.conn.Subprotocol(); p != "" {
			t.Errorf("the subprotocol %q is selected, which the server does not speak", p)
		}
		for _, m := range v.turn("Namaste ji kaise ho?") {
			s.send(m)
		}
		s.through(v.end)
	})
}

// TestVendorsTextsOfTenScripts are taken by every dialect as they are.
func TestVendorsTextsOfTenScripts(t *testing.T) {
	forVendors(t, func(_ *testing.T, g *wsRig, v vendorClient) {
		for _, text := range []string{
			"नमस्ते जी।", "நலமா இருக்கிறீர்களா?", "మీరు ఎలా ఉన్నారు?", "আপনি কেমন আছেন?", "તમે કેમ છો?", "ನೀವು ಹೇಗಿದ್ದೀರಾ?", "ਤੁਸੀਂ ਕਿਵੇਂ ਹੋ?",
			"آپ کیسے ہیں؟", "你好吗？", "Как дела? \u202eabc\u202c 👩‍👩‍👧‍👦",
		} {
			s := v.open(g)
			for _, m := range v.turn(text) {
				s.send(m)
			}
			s.through(v.end)
			s.conn.Close()
		}
	})
}
