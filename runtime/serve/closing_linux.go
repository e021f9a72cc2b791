package serve

import (
	"net"

	"golang.org/x/sys/unix"
)

// States of a connection after its end was acknowledged, with all that came before: RFC 9293, section 3.3.2, by the
// numbers of Linux' include/net/tcp_states.h.
const (
	finWait2 = 5
	timeWait = 6
	closed   = 7
)

// unacknowledged reports whether written data waits for the client, and how many bytes the client has acknowledged in
// all.
func unacknowledged(conn *net.TCPConn) (taken uint64, waits bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	var info *unix.TCPInfo
	if control := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}); control != nil || err != nil {
		return 0, false
	}
	switch info.State {
	case finWait2, timeWait, closed:
		return info.Bytes_acked, false
	}
	return info.Bytes_acked, info.Unacked > 0 || info.Notsent_bytes > 0
}
