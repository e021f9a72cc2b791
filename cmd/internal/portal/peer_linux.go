package portal

import (
	"net"
	"os"
	"syscall"
)

// isOurs reports whether the process at the other end of a socket runs as this server's user, or as root.
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
