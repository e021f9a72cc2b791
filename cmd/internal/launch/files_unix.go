//go:build unix

package launch

import "syscall"

// maxFiles is how many files this process may have open, up to a million.
func maxFiles() int {
	const most = 1 << 20
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil ||
		uint64(limit.Cur) > most { //nolint:unconvert // it is signed on FreeBSD
		return most
	}
	return int(limit.Cur)
}
