package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// wire is a client that costs next to nothing, so that what is measured is the server: a TCP connection, and a buffer
// once it reads.
type wire struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func (g *wsRig) wire(buffer int) *wire {
	g.t.Helper()
	addr := strings.TrimPrefix(g.url, "ws://")
	conn, err := g.dial(g.t.Context(), "tcp", addr)
	if err != nil {
		g.t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /v1/tts/stream HTTP/1.1\r\nHost: %s\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nX-Api-Key: %s\r\n\r\n", addr, testKey)
	// Nothing follows the answer of its own accord, so it can be read without a buffer that would swallow more.
	var end [4]byte
	for string(end[:]) != "\r\n\r\n" {
		copy(end[:], end[1:])
		if _, err := io.ReadFull(conn, end[3:]); err != nil {
			g.t.Fatal(err)
		}
	}
	w := &wire{t: g.t, conn: conn}
	if buffer > 0 {
		w.r = bufio.NewReaderSize(conn, buffer)
	}
	return w
}

// frameOf is a text message as a client sends it, under a mask of zeros.
func frameOf(text string) []byte {
	frame := []byte{0x81, 0x80 | 126, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint16(frame[2:], uint16(len(text)))
	return append(frame, text...)
}

func (w *wire) send(frame []byte) {
	if _, err := w.conn.Write(frame); err != nil {
		w.t.Error(err)
	}
}

// until reads up to the first event that begins like prefix, and returns how many bytes of audio came before it.
func (w *wire) until(prefix []byte) (audio int) {
	for {
		head, err := w.r.Peek(4)
		if err != nil {
			w.t.Error(err)
			return audio
		}
		text, skip, size := head[0]&0xf == 1, 2, int(head[1])
		if size == 126 {
			skip, size = 4, int(binary.BigEndian.Uint16(head[2:]))
		}
		if text {
			payload, err := w.r.Peek(skip + min(size, len(prefix)))
			if err != nil {
				w.t.Error(err)
				return audio
			}
			if bytes.Equal(payload[skip:], prefix) {
				w.r.Discard(skip + size)
				return audio
			}
		} else {
			audio += size
		}
		if _, err := w.r.Discard(skip + size); err != nil {
			w.t.Error(err)
			return audio
		}
	}
}

func quiet(c *Config) { c.Log = slog.New(slog.DiscardHandler) }

// TestWSIdleSocketsAreCheap: a thousand of them may cost 60 MB at most. What is measured holds the client's ends too.
func TestWSIdleSocketsAreCheap(t *testing.T) {
	const n = 1000
	g := newWSRig(t, &script{}, quiet, func(c *Config) {
		// what has to be watched costs more than what has not
		c.Keys = grants{KeyID: "key_1", Ended: make(chan struct{})}
	})
	settled := func() (uint64, int) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what pools hold survives the first
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse, runtime.NumGoroutine()
	}
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	pong := make([]byte, len(`xx{"type":"pong"}`))
	open := func(n int) {
		for range n {
			w := g.wire(0)
			conns = append(conns, w.conn)
			w.send(frameOf(`{"type":"ping"}`)) // so that the stacks have grown as they do
			if _, err := io.ReadFull(w.conn, pong); err != nil {
				t.Fatal(err)
			}
		}
	}
	open(1) // what is made once for all
	before, routines := settled()
	rss := residentBytes()
	open(n)
	after, routinesAfter := settled()
	each := float64(after-before) / n
	t.Logf("%.1f KB of heap and stacks a socket, %.1f KB resident", each/1000, float64(residentBytes()-rss)/n/1000)
	if each > 60_000 {
		t.Errorf("%.0f bytes a socket, want less than 60 KB", each)
	}
	if got := float64(routinesAfter-routines) / n; got > 2.01 {
		t.Errorf("%.2f goroutines a socket, want 2", got)
	}
}

// residentBytes is what the kernel has given this process; 0 where it does not tell.
func residentBytes() int {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int
	fmt.Sscan(string(statm), &size, &resident)
	return resident * os.Getpagesize()
}

// blocksUntil is a speaker whose first utterance has as many blocks of four frames as more says.
func blocksUntil(more func() bool) *script {
	data := frames(0, 4)
	return &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats,
		err error) {
		st.Started = true
		if err := sink.Start(startOf(u)); err != nil {
			return st, err
		}
		if err := sink.ChunkStart(speech.Chunk{Text: u.Text}); err != nil {
			return st, err
		}
		for ; more(); st.Frames += 4 {
			if err := sink.Audio(speech.Audio{Frames: 4, Data: data}); err != nil {
				return st, err
			}
		}
		return st, sink.ChunkEnd(speech.ChunkEnd{Frames: st.Frames})
	}}
}

// BenchmarkWSBlock is what a block of four frames costs, with the kernel and a client that reads, on one machine.
func BenchmarkWSBlock(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(4 * speech.FrameBytes)
	g := newWSRig(b, blocksUntil(b.Loop), quiet)
	w := g.wire(64 << 10)
	defer w.conn.Close()
	w.send(frameOf(`{"text":"hello"}`))
	w.until([]byte(`{"type":"end"`))
}

// BenchmarkWSUtterance is what an utterance of eight frames costs beside its speaker: two blocks and five events.
func BenchmarkWSUtterance(b *testing.B) {
	blocks := 0
	g := newWSRig(b, blocksUntil(func() bool { blocks++; return blocks%3 != 0 }), quiet)
	w := g.wire(64 << 10)
	defer w.conn.Close()
	message, end := frameOf(`{"text":"Aapka order kal tak aa jayega.","voice":"raj","request_id":"a"}`),
		[]byte(`{"type":"end"`)
	b.ReportAllocs()
	for b.Loop() {
		w.send(message)
		if w.until(end) == 0 {
			b.Fatal("no audio")
		}
	}
}

// BenchmarkWSRefusal is an answer that needs no worker.
func BenchmarkWSRefusal(b *testing.B) {
	g := newWSRig(b, &script{}, quiet)
	w := g.wire(64 << 10)
	defer w.conn.Close()
	message, end := frameOf(`{"text":"","request_id":"a"}`), []byte(`{"type":"error"`)
	b.ReportAllocs()
	for b.Loop() {
		w.send(message)
		w.until(end)
	}
}

// BenchmarkWSStreams has 200 connections speak at once through the local path with the fake engine, one worker each. An
// operation is one utterance on each of them.
func BenchmarkWSStreams(b *testing.B) {
	const n = 200
	for _, format := range []string{"pcm16", "opus"} {
		b.Run(format, func(b *testing.B) {
			g := newWSRig(b, newWarmLocal(b, n, synthtest.Config{}), quiet)
			var wires []*wire
			for range n {
				w := g.wire(64 << 10)
				defer w.conn.Close()
				wires = append(wires, w)
			}
			message := frameOf(`{"text":"Aapka order kal tak aa jayega, aur payment ho gaya hai. Dhanyavaad!","format":"` + format + `"}`)
			first, end := []byte(`{"type":"first_audio_ms"`), []byte(`{"type":"end"`)
			var mu sync.Mutex
			var ttfa []time.Duration
			audio := metricOf(b, g.server, "tts_audio_seconds_total")
			b.ReportAllocs()
			for b.Loop() {
				var all sync.WaitGroup
				for _, w := range wires {
					all.Go(func() {
						begin := time.Now()
						w.send(message)
						w.until(first)
						took := time.Since(begin)
						w.until(end)
						mu.Lock()
						ttfa = append(ttfa, took)
						mu.Unlock()
					})
				}
				all.Wait()
			}
			audio = metricOf(b, g.server, "tts_audio_seconds_total") - audio
			slices.Sort(ttfa)
			frames := audio / speech.FrameDuration.Seconds()
			b.ReportMetric(audio/b.Elapsed().Seconds(), "audio-s/s")
			b.ReportMetric(frames/float64(b.N)/n, "frames/utterance")
			b.ReportMetric(float64(ttfa[len(ttfa)/2].Microseconds())/1000, "first-p50-ms")
			b.ReportMetric(float64(ttfa[len(ttfa)*99/100].Microseconds())/1000, "first-p99-ms")
		})
	}
}
