package serve

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"

	"github.com/gorilla/websocket"
)

// frameReader is a connection that parses the headers of the client's WebSocket frames, and stops reading where
// gorilla/websocket would accept a fault: a length beyond 63 bits, a close with half a code, and fragments without a
// byte, which could continue forever without completing a message. It also enforces the size limit of a message.
// gorilla checks everything else.
type frameReader struct {
	net.Conn
	early []byte // came with the handshake and is read first
	fault error  // what reading has ended with

	header [10]byte // of the frame that begins, without its mask; its first have bytes have come
	have   int
	left   uint64 // bytes of mask and payload that are still to come
	size   uint64 // of the message so far, see emptyFragment
}

// emptyFragment is what a fragment without a byte adds to the size of its message, so that a flood of them ends as a
// large message does. Clients that write in pieces may send one or two.
const emptyFragment = 1 << 10

// frameFault is why frames are read no further: what the socket is closed with.
type frameFault struct {
	code   int
	reason string
}

func (e *frameFault) Error() string { return fmt.Sprintf("close %d %s", e.code, e.reason) }

var (
	errMessageTooBig = &frameFault{websocket.CloseMessageTooBig, ""}
	errHalfCloseCode = &frameFault{websocket.CloseProtocolError, "close with one byte"}
)

// Read implements [net.Conn].
func (f *frameReader) Read(p []byte) (n int, err error) {
	switch {
	case f.fault != nil:
		return 0, f.fault
	case len(f.early) > 0:
		n = copy(p, f.early)
		f.early = f.early[n:]
	default:
		n, err = f.Conn.Read(p)
	}
	good, fault := f.check(p[:n])
	if fault == nil {
		return n, err
	}
	f.fault = fault
	if good == 0 {
		return 0, fault
	}
	return good, nil
}

// check follows the frames of p and returns how many bytes may pass. The last byte of a header that is not good does
// not, so that gorilla never gets to judge it.
func (f *frameReader) check(p []byte) (good int, fault error) {
	for good < len(p) {
		if f.left > 0 {
			n := min(f.left, uint64(len(p)-good))
			f.left -= n
			good += int(n)
			continue
		}
		f.header[f.have] = p[good]
		f.have++
		if f.have < 2 || f.have < f.headerSize() {
			good++
			continue
		}
		if err := f.begin(); err != nil {
			return good, err
		}
		good++
		f.have = 0
	}
	return good, nil
}

// headerSize returns the length of a header, without its mask, from its first two bytes.
func (f *frameReader) headerSize() int {
	switch f.header[1] & 0x7f {
	case 126:
		return 2 + 2
	case 127:
		return 2 + 8
	default:
		return 2
	}
}

// begin judges the frame whose header is complete.
func (f *frameReader) begin() error {
	final, opcode := f.header[0]&0x80 != 0, int(f.header[0]&0xf)
	payload := uint64(f.header[1] & 0x7f)
	switch payload {
	case 126:
		payload = uint64(binary.BigEndian.Uint16(f.header[2:]))
	case 127:
		payload = binary.BigEndian.Uint64(f.header[2:])
	}
	isControl := opcode&8 != 0
	switch {
	case opcode == websocket.CloseMessage && payload == 1:
		return errHalfCloseCode
	case payload > maxMessage:
		return errMessageTooBig
	}
	f.left = payload
	if masked := f.header[1]&0x80 != 0; masked {
		f.left += 4
	}
	if isControl {
		return nil
	}
	if isContinuation := opcode == 0; !isContinuation {
		f.size = 0
	}
	f.size += payload
	if payload == 0 && !final {
		f.size += emptyFragment
	}
	if f.size > maxMessage {
		return errMessageTooBig
	}
	return nil
}

// frameHijacker gives the connection to gorilla/websocket as a frameReader.
type frameHijacker struct{ http.ResponseWriter }

// Hijack implements [http.Hijacker].
func (h frameHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	f := &frameReader{Conn: conn}
	if n := buf.Reader.Buffered(); n > 0 {
		early, _ := buf.Reader.Peek(n) // it is there
		f.early = append(f.early, early...)
		_, _ = buf.Reader.Discard(n)
	}
	return f, buf, nil
}
