// Package grpcauth is how processes of ours know one another over gRPC: by a token that they share, and TLS where
// others could listen.
package grpcauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// minToken is how many characters a token has at least: 16 of base 64 are 96 bits.
const minToken = 16

// CheckToken refuses a token that is empty, easy to guess, or no header.
func CheckToken(token string) error {
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("the token must have at least %d characters of visible ASCII, without spaces", minToken)
	}
	return nil
}

// Transport is TLS, or without it plain text for what does not leave the machine.
func Transport(t *tls.Config, onLoopback bool) (credentials.TransportCredentials, error) {
	switch {
	case t != nil:
		return credentials.NewTLS(t), nil
	case onLoopback:
		return insecure.NewCredentials(), nil
	default:
		return nil, errors.New("other machines could read tokens and change keys; configure TLS, or use a loopback address")
	}
}

// IsLoopback reports whether only this machine reaches host. Names other than localhost do not count, since what they
// mean may change.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Bearer puts the token on every call.
type Bearer struct {
	Token  string
	Secure bool // the transport has to be
}

// GetRequestMetadata implements [credentials.PerRPCCredentials].
func (b Bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.Token}, nil
}

// RequireTransportSecurity implements [credentials.PerRPCCredentials].
func (b Bearer) RequireTransportSecurity() bool { return b.Secure }

// Authorize checks the token of a call. Hashes are compared, in constant time: neither the token nor its length shows
// in how long that takes. The error is a status for the caller.
func Authorize(ctx context.Context, token string) error {
	md, _ := metadata.FromIncomingContext(ctx)
	want := sha256.Sum256([]byte("Bearer " + token))
	for _, value := range md.Get("authorization") {
		got := sha256.Sum256([]byte(value))
		if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			return nil
		}
	}
	return status.Error(codes.Unauthenticated, "the token is missing or wrong")
}
