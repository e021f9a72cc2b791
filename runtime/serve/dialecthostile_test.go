package serve

import (
	"fmt"
	"io"
	"maps"
	"net"
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

// callClients are those of telephony, which are not told the end of a turn.
var callClients = map[string]vendorClient{
	"jambonz": {
		open: func(g *wsRig, _ ...string) *socket { return g.toJambonz() },
		turn: func(text string) []string {
			return []string{fmt.Sprintf(`{"type":"stream","text":%q}`, text), `{"type":"flush"}`}
		},
	},
	"Twilio": {
		open: func(g *wsRig, _ ...string) *socket { return g.to("/v1/bridge/twilio?text=Namaste+ji") },
		turn: func(string) []string { return []string{`{"event":"connected"}`, twilioStart} },
	},
	"Plivo": {
		open: func(g *wsRig, _ ...string) *socket { return g.to("/v1/bridge/plivo?text=Namaste+ji") },
		turn: func(string) []string { return []string{plivoStart} },
	},
	"Exotel": {
		open: func(g *wsRig, _ ...string) *socket { return g.to("/v1/bridge/exotel?text=Namaste+ji") },
		turn: func(string) []string { return []string{exotelStart} },
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
	forClients(t, vendorClients, test)
}

func forClients(t *testing.T, clients map[string]vendorClient, test func(t *testing.T, g *wsRig, v vendorClient)) {
	t.Helper()
	for name, v := range clients {
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

// TestVendorsThousandAborts: clients that are gone before, within and after their messages, or while they are spoken
// to, leave nothing. That no goroutine is left is checked by the bubble.
func TestVendorsThousandAborts(t *testing.T) {
	all := maps.Clone(vendorClients)
	maps.Copy(all, callClients)
	forClients(t, all, func(t *testing.T, g *wsRig, v vendorClient) {
		for i := range 1000 {
			s := v.open(g)
			messages := v.turn("Namaste ji kaise ho?")
			for _, m := range messages[:i%(len(messages)+1)] {
				s.send(m)
			}
			if i%(len(messages)+1) == len(messages) && i%2 == 0 {
				s.next()
			}
			s.conn.NetConn().Close()
		}
		time.Sleep(leaveGrace + time.Second)
		if busy := g.server.cfg.Speaker.(*sentences).speaking(); busy != 0 {
			t.Errorf("%d texts are still spoken", busy)
		}
		if got := metricOf(t, g.server, "tts_websockets_open"); got != 0 {
			t.Errorf("%v sockets are open", got)
		}
		if use := g.server.budget.use(); use.bytes != 0 || g.server.listening.Load() != 0 {
			t.Errorf("%d bytes stay in the spool, and %d listeners", use.bytes, g.server.listening.Load())
		}
	})
}

// TestVendorsThousandAbortedRequests is the same over HTTP: clients are gone before their body has ended, before they
// are answered, and within the audio.
func TestVendorsThousandAbortedRequests(t *testing.T) {
	for name, r := range requestsOfVendors {
		t.Run(name, func(t *testing.T) {
			inBubble(t, newSentences(), func(t *testing.T, g *rig, dial func() net.Conn) {
				body := fmt.Sprintf(r.body, "Namaste ji kaise ho?")
				request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
					r.path, testKey, len(body), body)
				for i := range 1000 {
					conn := dial()
					length := len(request)
					if i%3 == 0 {
						length -= 1 + i%len(body)
					}
					if _, err := conn.Write([]byte(request[:length])); err != nil {
						t.Fatal(err)
					}
					if i%3 == 2 {
						if _, err := io.ReadFull(conn, make([]byte, 1000)); err != nil {
							t.Fatal(err)
						}
					}
					conn.Close()
				}
				time.Sleep(time.Minute)
				if busy := g.server.cfg.Speaker.(*sentences).speaking(); busy != 0 {
					t.Errorf("%d texts are still spoken", busy)
				}
				if use := g.server.budget.use(); use.bytes != 0 || g.server.listening.Load() != 0 {
					t.Errorf("%d bytes stay in the spool, and %d listeners", use.bytes, g.server.listening.Load())
				}
			}, withVoices)
		})
	}
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
