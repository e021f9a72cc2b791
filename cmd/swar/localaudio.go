package main

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/swar-tts/swar/runtime/speech"
)

// localAudio is what is spoken here.
type localAudio struct {
	*spool
	cancel  context.CancelCauseFunc
	running sync.WaitGroup
}

func (l *localAudio) Close() error {
	l.cancel(nil)
	l.running.Wait()
	return nil
}

// spool keeps audio until it is read, all of it if need be: a worker must not wait for a player, or a long text would
// take longer than an utterance may. The longest is some 20 MB.
type spool struct {
	unspoken string // known once there is audio

	mu      sync.Mutex
	changed sync.Cond
	kept    bytes.Buffer
	ended   error // io.EOF when all was spoken
}

func newSpool() *spool {
	s := new(spool)
	s.changed.L = &s.mu
	return s
}

func (s *spool) put(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Write(p)
	s.changed.Broadcast()
}

// end marks the end of the audio; err is nil if the utterance is complete.
func (s *spool) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = err; err == nil {
		s.ended = io.EOF
	}
	s.changed.Broadcast()
}

// begun waits for the first audio and returns why there is none.
func (s *spool) begun() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waitLocked()
}

func (s *spool) waitLocked() error {
	for s.kept.Len() == 0 {
		if s.ended != nil {
			return s.ended
		}
		s.changed.Wait()
	}
	return nil
}

func (s *spool) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.waitLocked(); err != nil {
		return 0, err
	}
	return s.kept.Read(p)
}

// spoolSink hands audio on and forgets nearly everything else.
type spoolSink struct{ *spool }

func (s spoolSink) Start(st speech.Start) error {
	s.unspoken = st.Unspoken
	return nil
}
func (s spoolSink) ChunkStart(speech.Chunk) error  { return nil }
func (s spoolSink) ChunkEnd(speech.ChunkEnd) error { return nil }
func (s spoolSink) Audio(a speech.Audio) error {
	s.put(a.Data)
	return nil
}
