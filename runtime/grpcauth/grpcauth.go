// Package grpcauth authenticates the processes of Swar over gRPC. It uses certificates that name roles, a shared
// token, or both; with TLS where others could listen.
package grpcauth

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
)

// Credentials are what a process shows to others of ours, and what it wants to see of them. With certificates and a
// token both are checked.
type Credentials struct {
	Certificates *Certificates // of mutual TLS; nil without
	Token        *Token        // nil: none, which needs certificates
	Plaintext    bool          // allow plain text to and from other machines, where something else protects it
}

// Check refuses credentials that let everybody in.
func (c Credentials) Check() error {
	switch {
	case c.Certificates == nil && c.Token == nil:
		return errors.New("processes must authenticate to one another; give them a token, or certificates")
	case c.Certificates != nil && c.Plaintext:
		return errors.New("plain text and certificates contradict each other; drop one of them")
	}
	return nil
}

// ServerOptions are for a server that processes of some roles may call. Without certificates there are no roles: who
// has the token may. Its connections end with the certificates that they were made with. They are made anew every ten
// minutes, which cuts no call that ends within three more, so that what was replaced or taken away is good no longer
// than that.
func (c Credentials) ServerOptions(onLoopback bool, log *slog.Logger, s Service) ([]grpc.ServerOption, error) {
	transport, err := c.transport(onLoopback, log, func() *tls.Config { return c.Certificates.ServerTLS(s.Accepts...) })
	if err != nil {
		return nil, err
	}
	admit := func(ctx context.Context, method string) error {
		if c.Token == nil {
			return nil
		}
		err := c.Token.Authorize(ctx)
		if err != nil {
			log.Warn("a client was refused: its token is missing or wrong", "from", callerOf(ctx), "method", method)
		}
		return err
	}
	return append(s.options(),
		grpc.Creds(transport),
		grpc.ChainUnaryInterceptor(func(
			ctx context.Context, req any, info *grpc.UnaryServerInfo, h grpc.UnaryHandler,
		) (any, error) {
			if err := admit(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return h(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(
			srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, h grpc.StreamHandler,
		) error {
			if err := admit(stream.Context(), info.FullMethod); err != nil {
				return err
			}
			if slices.Contains(s.Endless, info.FullMethod) {
				return s.moving(srv, stream, h)
			}
			return h(srv, stream)
		}),
	), nil
}

// DialOptions are for a client of a server on host that has a role.
func (c Credentials) DialOptions(host string, expects Role) ([]grpc.DialOption, error) {
	transport, err := c.transport(IsLoopback(host), nil,
		func() *tls.Config { return c.Certificates.ClientTLS(expects) })
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(transport)}
	if c.Token != nil {
		options = append(options, grpc.WithPerRPCCredentials(bearer{c.Token, c.Certificates != nil}))
	}
	return options, nil
}

// transport returns TLS where there are certificates, and plain text where that may be. log is told of connections
// whose certificate has ended; nil for nobody.
func (c Credentials) transport(
	onLoopback bool, log *slog.Logger, secure func() *tls.Config,
) (credentials.TransportCredentials, error) {
	err := c.Check()
	switch {
	case err != nil:
		return nil, err
	case c.Certificates != nil:
		return expiring{credentials.NewTLS(secure()), log}, nil
	case onLoopback || c.Plaintext:
		return expiring{insecure.NewCredentials(), log}, nil
	default:
		return nil, errors.New("other machines could read tokens and change keys; " +
			"configure TLS, use a loopback address, or allow plain text on a protected network")
	}
}

// IsCertificateRefused reports whether a call failed because the server did not accept the certificate of this process.
// The server's log says why; here there is only the alert, in the text of an error, and not even that where the
// connection was reset before it was read.
func IsCertificateRefused(err error) bool {
	return err != nil && strings.Contains(err.Error(), "remote error: tls: ")
}

// IsLoopback reports whether only this machine reaches host. Names other than localhost do not count, since what they
// mean may change.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// callerOf is the address that a call comes from.
func callerOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return "unknown"
}
