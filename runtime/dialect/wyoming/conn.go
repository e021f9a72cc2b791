package wyoming

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/dialect/wyoming/internal/wire"
	"github.com/swar-tts/swar/runtime/speech"
)

// conn is a client. One goroutine reads its events and feeds turns, another one has them spoken in their order.
type conn struct {
	server *Server
	net    net.Conn
	in     *bufio.Reader

	// Of the goroutine that reads.
	turns chan spoken
	fed   FedTurn // between synthesize-start and synthesize-stop

	writing sync.Mutex // one event at a time

	mu     sync.Mutex
	open   int  // turns that have not ended
	ending bool // the connection closes when no turn is left
}

// spoken is a turn, and whether the client feeds it.
type spoken struct {
	Turn

	fed bool
}

func newConn(s *Server, n net.Conn) *conn {
	return &conn{server: s, net: n, in: bufio.NewReader(n), turns: make(chan spoken, maxTurns)}
}

// run answers the client until it leaves, something fails, or the server goes away.
func (c *conn) run(server context.Context) {
	ctx, stop := context.WithCancelCause(server)
	defer stop(nil)
	defer context.AfterFunc(server, c.stopReading)()
	var speaking sync.WaitGroup
	var failed error
	speaking.Go(func() {
		failed = c.speakAll(ctx, func() {
			stop(speech.ErrClientGone) // which is what the other turns may think
			c.stopReading()
		})
	})
	err := c.read(ctx)
	stop(speech.ErrClientGone)
	close(c.turns)
	speaking.Wait()
	c.refuse(errors.Join(failed, err))
}

// stopReading makes the goroutine that reads return.
func (c *conn) stopReading() { _ = c.net.SetReadDeadline(time.Unix(1, 0)) }

// drain closes the connection as soon as no turn is left.
func (c *conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending = true; c.open == 0 {
		c.stopReading()
	}
}

// read reads events until there are no more, and returns why.
func (c *conn) read(ctx context.Context) error {
	for {
		e, err := wire.Read(c.in)
		if err != nil {
			return err
		}
		if err := c.handle(ctx, e); err != nil {
			return err
		}
	}
}

// handle does what an event asks for. Events of other services are ignored.
func (c *conn) handle(ctx context.Context, e wire.Event) error {
	switch e.Kind {
	case typeDescribe:
		m, err := c.server.cfg.Speech.Model(ctx)
		if err != nil {
			return err
		}
		return c.write(typeInfo, infoOf(m, c.server.cfg.Version), nil)
	case typePing:
		var text string
		if err := e.Texts(map[string]*string{"text": &text}); err != nil {
			return err
		}
		return c.write(typePong, messageData{Text: text}, nil)
	case typeSynthesize:
		if c.fed != nil {
			return nil // for servers that are not fed
		}
		return c.begin(ctx, e, false)
	case typeStart:
		if c.fed != nil {
			return wire.BadRequest("synthesize-start: the one before has no synthesize-stop")
		}
		return c.begin(ctx, e, true)
	case typeChunk, typeStop:
		return c.feed(e)
	}
	return nil
}

// begin begins a turn.
func (c *conn) begin(ctx context.Context, e wire.Event, fed bool) error {
	r, err := readRequest(e)
	if err != nil {
		return err
	}
	isSSML, err := r.isSSML()
	switch {
	case err != nil:
		return err
	case fed && isSSML:
		return wire.BadRequest("text_format: ssml cannot be fed; send the document in one synthesize")
	}
	m, err := c.server.cfg.Speech.Model(ctx)
	if err != nil {
		return err
	}
	voice, err := r.voice(m)
	if err != nil {
		return err
	}
	if err := c.more(); err != nil {
		return err
	}
	t := spoken{fed: fed}
	if fed {
		c.fed, err = c.server.cfg.Speech.Feed(ctx, voice)
		t.Turn = c.fed
	} else {
		t.Turn, err = c.server.cfg.Speech.Say(ctx, voice, Text{r.text, isSSML})
	}
	if err != nil {
		c.less()
		return err
	}
	c.turns <- t // has room: more has counted it
	return nil
}

// feed feeds the present turn.
func (c *conn) feed(e wire.Event) error {
	if c.fed == nil {
		return wire.BadRequest(e.Kind + ": there was no synthesize-start")
	}
	if e.Kind == typeStop {
		c.fed.Finish()
		c.fed = nil
		return nil
	}
	var text string
	if err := e.Texts(map[string]*string{"text": &text}); err != nil {
		return err
	}
	return c.fed.Append(text)
}

// more counts a turn in, unless there are too many or the connection is about to be closed.
func (c *conn) more() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.open == 0 && c.ending:
		return errDraining
	case c.open == maxTurns:
		return &Error{"busy", speech.ErrBusy.Error() + ": too many texts wait"}
	}
	c.open++
	return nil
}

// less counts a turn out.
func (c *conn) less() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open == 0 && c.ending {
		c.stopReading()
	}
}

// speakAll has turns spoken until there are no more. The first one that fails ends the connection, because a client
// that waits for audio does not look for errors; the others are then only freed. It returns how that one failed.
func (c *conn) speakAll(ctx context.Context, leave func()) (failed error) {
	for t := range c.turns {
		if err := c.speak(ctx, t); err != nil && failed == nil {
			failed = err
			leave()
		}
		c.less()
	}
	return failed
}

func (c *conn) speak(ctx context.Context, t spoken) error {
	began := false
	begin := func() error {
		if began {
			return nil
		}
		began = true
		return c.write(typeAudioStart, ours, nil)
	}
	err := t.Speak(ctx, func(samples []byte) error {
		if err := begin(); err != nil {
			return err
		}
		return c.write(typeAudio, ours, samples)
	})
	if err == nil {
		err = begin() // nothing of the text has been sent
	}
	if err == nil {
		err = c.write(typeAudioStop, nil, nil)
	}
	if err == nil && t.fed {
		err = c.write(typeStopped, nil, nil)
	}
	return err
}

// write sends an event.
func (c *conn) write(kind string, data any, payload []byte) error {
	all := wire.Encode(kind, data, payload)
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.net.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	_, err := c.net.Write(all)
	return err
}

// How long, and for how many bytes, a connection that we close waits for its client to close it, too: one that is
// closed with something unread in it is reset, and the client may lose the error.
const (
	lingerTime = time.Second
	lingerSize = 4 << 20
)

// refuse closes the connection, and sends the reason if it can.
func (c *conn) refuse(why error) {
	defer func() { _ = c.net.Close() }()
	shown, ok := shownOf(why)
	if !ok {
		return
	}
	if c.write(typeError, messageData{shown.Text, shown.Code}, nil) != nil {
		return
	}
	if n, ok := c.net.(interface{ CloseWrite() error }); ok && n.CloseWrite() == nil {
		_ = c.net.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, c.net, lingerSize)
	}
}
