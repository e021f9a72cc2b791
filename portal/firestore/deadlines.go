package firestore

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
)

// deadlines gives every call to Firestore an end, so that an answer that is lost on the way holds nobody up. Listening has none: it is
// meant to last, and the keep-alive of the connection finds out when the other side is gone.
type deadlines struct{ limit time.Duration }

func (d deadlines) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	return invoke(ctx, method, req, reply, cc, opts...)
}

func (d deadlines) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if strings.HasSuffix(method, "/Listen") {
		return open(ctx, desc, cc, method, opts...)
	}
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	stream, err := open(ctx, desc, cc, method, opts...)
	if err != nil {
		cancel()
		return nil, err
	}
	return &endingStream{stream, cancel}, nil
}

// endingStream gives its timer back when it has ended; one that is left early does so when the time is over.
type endingStream struct {
	grpc.ClientStream
	cancel context.CancelFunc
}

func (s *endingStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil {
		s.cancel()
	}
	return err
}
