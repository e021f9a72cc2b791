package portal

import (
	"net"
	"os"
	"syscall"
)

// isOurs reports whether who is at the other end of a socket may run this server: the user that it runs as, or root.
func isOurs(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var peer *syscall.Ucred
	var asking error
	if err := raw.Control(func(fd uintptr) {
		peer, asking = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil || asking != nil {
		return false
	}
	return peer.Uid == 0 || int(peer.Uid) == os.Geteuid()
}
