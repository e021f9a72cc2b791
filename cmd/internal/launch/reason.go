package launch

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
)

// Reason explains to users why a server was not reached. It is the innermost cause of a network error, without the
// addresses around it.
func Reason(err error) string {
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "it does not speak https; write its address with http://"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it closed the connection"
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted: " + strings.TrimPrefix(e.Err.Error(), "x509: ")
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "it did not answer in time"
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return "unknown host name: " + e.Name
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
