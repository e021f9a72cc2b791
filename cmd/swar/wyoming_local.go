package main

import (
	"context"
	"net"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/wyoming"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/serve"
	"github.com/swar-tts/swar/runtime/speech"
)

// wyomingSite is Wyoming beside the API. Nil where it is not served.
type wyomingSite struct {
	server   *wyoming.Server
	listener net.Listener
}

func (s *site) openWyoming(ctx context.Context, m *metrics.API) (*wyomingSite, error) {
	o := s.options.wyoming
	if o.address == "" {
		return nil, nil
	}
	l, err := launch.Listen(ctx, serveCommand, "--wyoming", o.address)
	if err != nil {
		return nil, err
	}
	m.Expect(metrics.Endpoint(dialect.Wyoming))
	s.log.Info("serving Wyoming: every client that reaches the address may speak", "address", l.Addr().String(),
		"key", o.key != "")
	c := wyoming.Config{Speech: localSpeech{s.api, o.key}, Version: thisBuild().Version, Log: s.log}
	return &wyomingSite{wyoming.New(c), l}, nil
}

// close closes the listener of a server that was never started.
func (w *wyomingSite) close() {
	if w != nil {
		_ = w.listener.Close()
	}
}

// start serves until the returned function is called, which waits until ctx ends for what is still spoken.
func (w *wyomingSite) start(ctx context.Context) (drain func(ctx context.Context)) {
	if w == nil {
		return func(context.Context) {}
	}
	ctx, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = w.server.Serve(ctx, w.listener)
	}()
	return func(limit context.Context) {
		_ = w.listener.Close()
		w.server.Drain()
		defer context.AfterFunc(limit, func() { cut(context.Cause(limit)) })()
		<-ended
		cut(nil)
	}
}

// localSpeech has the API in this process speak.
type localSpeech struct {
	api *serve.Server
	key string
}

// Model implements [wyoming.Speech].
func (s localSpeech) Model(ctx context.Context) (speech.Model, error) {
	m, err := s.api.LocalModel(ctx, s.key)
	return m, localError(err)
}

// Say implements [wyoming.Speech].
func (s localSpeech) Say(ctx context.Context, voice string, text wyoming.Text) (wyoming.Turn, error) {
	return s.begin(ctx, serve.LocalOrder{Voice: voice, Text: text.Text, SSML: text.SSML})
}

// Feed implements [wyoming.Speech].
func (s localSpeech) Feed(ctx context.Context, voice string) (wyoming.FedTurn, error) {
	return s.begin(ctx, serve.LocalOrder{Voice: voice, Fed: true})
}

func (s localSpeech) begin(ctx context.Context, o serve.LocalOrder) (wyoming.FedTurn, error) {
	o.Endpoint, o.Key = dialect.Wyoming, s.key
	t, err := s.api.NewLocalTurn(ctx, o)
	if err != nil {
		return nil, localError(err)
	}
	return localTurn{t}, nil
}

// localTurn maps the errors of a turn to Wyoming's.
type localTurn struct{ *serve.LocalTurn }

// Append implements [wyoming.FedTurn].
func (t localTurn) Append(text string) error { return localError(t.LocalTurn.Append(text)) }

// Speak implements [wyoming.Turn].
func (t localTurn) Speak(ctx context.Context, audio func([]byte) error) error {
	return localError(t.LocalTurn.Speak(ctx, audio))
}

func localError(err error) error {
	if err == nil {
		return nil
	}
	f, isHeard := serve.FaultOf(err)
	if !isHeard {
		return err
	}
	return &wyoming.Error{Code: f.Code, Text: f.Text}
}
