package firestore

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// deadlines gives every call to Firestore a deadline, so that a lost answer blocks no caller. Listening has none: it is
// meant to last, and the keep-alive of the connection detects a dead peer.
type deadlines struct{ limit time.Duration }

func (d deadlines) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	return invoke(ctx, method, req, reply, cc, opts...)
}

func (d deadlines) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if strings.HasSuffix(method, "/Listen") {
		return open(ctx, desc, cc, method, opts...)
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watchedStream{limit: d.limit, cancel: cancel}
	w.timer = time.AfterFunc(d.limit, func() {
		w.late.Store(true)
		cancel()
	})
	var err error
	if w.ClientStream, err = open(ctx, desc, cc, method, opts...); err != nil {
		return nil, w.end(err)
	}
	return w, nil
}

// watchedStream ends when one answer takes too long. A long list of documents is many answers.
type watchedStream struct {
	grpc.ClientStream
	limit  time.Duration
	timer  *time.Timer
	late   atomic.Bool
	cancel context.CancelFunc
}

func (w *watchedStream) RecvMsg(m any) error {
	w.timer.Reset(w.limit)
	err := w.ClientStream.RecvMsg(m)
	w.timer.Stop()
	if err != nil {
		err = w.end(err)
	}
	return err
}

func (w *watchedStream) end(err error) error {
	w.timer.Stop()
	w.cancel()
	if w.late.Load() {
		return status.Error(codes.DeadlineExceeded, "no answer in "+w.limit.String())
	}
	return err
}
