package serve

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// rawFrame is a frame as a client sends it, under a mask of zeros. size replaces the length of its payload in the
// header.
func rawFrame(first byte, size uint64, payload string) []byte {
	var frame []byte
	switch {
	case size < 126:
		frame = []byte{first, 0x80 | byte(size)}
	case size < 1<<16:
		frame = binary.BigEndian.AppendUint16([]byte{first, 0x80 | 126}, uint16(size))
	default:
		frame = binary.BigEndian.AppendUint64([]byte{first, 0x80 | 127}, size)
	}
	return append(append(frame, 0, 0, 0, 0), payload...)
}

func framed(first byte, payload string) []byte { return rawFrame(first, uint64(len(payload)), payload) }

const (
	text, textBegins = 0x81, 0x01 // a whole message, and its first fragment
	goesOn, ends     = 0x00, 0x80
	closes, pings    = 0x88, 0x89
)

func TestFramesThatMayNotPass(t *testing.T) {
	whole := string(make([]byte, maxMessage))
	empties := func(n int) []byte { return bytes.Repeat(framed(goesOn, ""), n) }
	tests := map[string]struct {
		frames [][]byte
		want   error
	}{
		"a message":       {[][]byte{framed(text, "hello")}, nil},
		"an empty one":    {[][]byte{framed(text, "")}, nil},
		"the largest one": {[][]byte{framed(text, whole)}, nil},
		"a byte more":     {[][]byte{rawFrame(text, maxMessage+1, "")}, errMessageTooBig},
		"the largest in fragments": {[][]byte{framed(textBegins, whole[:9]), framed(goesOn, whole[9:]),
			framed(ends, "")}, nil},
		"a byte more in fragments": {[][]byte{framed(textBegins, whole[:9]), framed(goesOn, whole[8:])},
			errMessageTooBig},
		"two large ones":                {[][]byte{framed(text, whole), framed(text, whole)}, nil},
		"a length with the top bit":     {[][]byte{rawFrame(text, 1<<63, "")}, errMessageTooBig},
		"a length with every bit":       {[][]byte{rawFrame(text, 1<<64-1, "")}, errMessageTooBig},
		"a binary one with the top bit": {[][]byte{rawFrame(0x82, 1<<63|5, "")}, errMessageTooBig},
		"fragments whose sum has the top bit": {[][]byte{framed(textBegins, "a"), rawFrame(goesOn, 1<<63, "")},
			errMessageTooBig},
		"a close without a code":           {[][]byte{framed(closes, "")}, nil},
		"a close with one byte":            {[][]byte{framed(closes, "\x03")}, errHalfCloseCode},
		"a close with a code":              {[][]byte{framed(closes, "\x03\xe8")}, nil},
		"a ping with one byte":             {[][]byte{framed(pings, "a")}, nil},
		"an empty fragment at the start":   {[][]byte{framed(textBegins, ""), framed(ends, "hello")}, nil},
		"1,024 empty fragments":            {[][]byte{framed(textBegins, ""), empties(1023), framed(ends, "")}, nil},
		"1,025 empty fragments":            {[][]byte{framed(textBegins, ""), empties(1024)}, errMessageTooBig},
		"1,024 empty fragments and a byte": {[][]byte{framed(textBegins, "a"), empties(1024)}, errMessageTooBig},
		"1,024 empty fragments, pings between": {[][]byte{framed(textBegins, ""), empties(500), framed(pings, ""),
			empties(523), framed(pings, "")}, nil},
		"as many empty fragments in each of two": {[][]byte{framed(textBegins, ""), empties(1023), framed(ends, ""),
			framed(textBegins, ""), empties(1023)}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			stream := slices.Concat(tt.frames...)
			// Headers come whole or in pieces.
			for _, piece := range []int{1 + len(stream)/1000, 7 + len(stream)/1000, len(stream)} {
				f := &frameReader{Conn: &pieces{left: stream, size: piece}}
				got, err := io.ReadAll(f)
				if !errors.Is(err, tt.want) || tt.want == nil && !bytes.Equal(got, stream) {
					t.Fatalf("in pieces of %d: %d of %d bytes passed, %v; want %v",
						piece, len(got), len(stream), err, tt.want)
				}
				if _, again := f.Read(make([]byte, 1)); tt.want != nil && !errors.Is(again, tt.want) {
					t.Errorf("reading on: %v, want %v again", again, tt.want)
				}
			}
		})
	}
}

// pieces is a connection from which so many bytes come at a time.
type pieces struct {
	net.Conn
	left []byte
	size int
}

func (p *pieces) Read(to []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(to, p.left[:min(p.size, len(p.left))])
	p.left = p.left[n:]
	return n, nil
}

// FuzzFrames: however the bytes are cut into pieces, the same ones pass.
func FuzzFrames(f *testing.F) {
	seeds := [][]byte{framed(text, "hello"), rawFrame(text, 1<<63, "x"), framed(closes, "\x03"),
		slices.Concat(framed(textBegins, ""), framed(ends, "a"))}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		if size < 1 {
			t.Skip()
		}
		got, err := io.ReadAll(&frameReader{Conn: &pieces{left: stream, size: size}})
		want, wantErr := io.ReadAll(&frameReader{Conn: &pieces{left: stream, size: 1}})
		if !bytes.Equal(got, want) || !bytes.HasPrefix(stream, got) || !errors.Is(err, wantErr) {
			t.Errorf("%d bytes and %v in pieces of %d, %d and %v in pieces of 1",
				len(got), err, size, len(want), wantErr)
		}
	})
}

func TestWSFramesThatCloseTheSocket(t *testing.T) {
	for name, tt := range map[string]struct {
		sent    []byte
		code    int
		reason  string
		refused float64 // messages that are counted as too large
	}{
		"a length with the top bit": {rawFrame(text, 1<<63, "hello"), websocket.CloseMessageTooBig, "", 1},
		"a close with one byte":     {framed(closes, "\x03"), websocket.CloseProtocolError, "close with one byte", 0},
		"a flood of empty fragments": {
			slices.Concat(framed(textBegins, ""), bytes.Repeat(framed(goesOn, ""), 100_000)),
			websocket.CloseMessageTooBig, "", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			stage := newStage()
			g := newWSRig(t, stage)
			s := g.connect()
			defer s.conn.Close()
			s.speak("a", "hello")
			<-stage.spoke
			go func() { _, _ = s.conn.NetConn().Write(tt.sent) }() // the server may stop reading in the middle of it
			s.wantClose(tt.code, tt.reason)
			s.conn.Close()
			<-stage.ended
			g.logs.wait(t, int(tt.refused)+2) // the utterance and the socket
			if got := g.counted("ws", 413); got != tt.refused {
				t.Errorf("counted %v times as 413, want %v", got, tt.refused)
			}
		})
	}
}

// TestWSMessageThatCameWithTheHandshake is checked like every other.
func TestWSMessageThatCameWithTheHandshake(t *testing.T) {
	g := newWSRig(t, &script{})
	for name, tt := range map[string]struct {
		early []byte
		want  byte // the first byte of what the server sends then: an opcode
	}{
		"a good one": {framed(text, `{"type":"ping"}`), text},
		"a bad one":  {rawFrame(text, 1<<63, ""), closes},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := g.dial(t.Context(), "tcp", g.url[len("ws://"):])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			fmt.Fprintf(conn, "GET /v1/tts/stream HTTP/1.1\r\nHost: x\r\n"+
				"Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
				"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nX-Api-Key: %s\r\n\r\n%s", testKey, tt.early)
			got := make([]byte, 4<<10)
			var all []byte
			for !bytes.Contains(all, []byte("\r\n\r\n")) || bytes.HasSuffix(all, []byte("\r\n\r\n")) {
				n, err := conn.Read(got)
				if err != nil {
					t.Fatalf("%v after %q", err, all)
				}
				all = append(all, got[:n]...)
			}
			if _, frames, _ := bytes.Cut(all, []byte("\r\n\r\n")); frames[0] != tt.want {
				t.Errorf("the server answers with %x, want a frame that begins with %x", frames, tt.want)
			}
		})
	}
}
