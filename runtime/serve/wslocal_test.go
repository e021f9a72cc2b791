package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// The tests of this file speak through the whole local path, with the fake engine at its end.

// bubbleLocal runs test in a synctest bubble with warm workers.
func bubbleLocal(t *testing.T, workers int, cfg synthtest.Config, test func(t *testing.T, g *wsRig, l local)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := newWarmLocal(t, workers, cfg)
		g, closeRig := newBubbleRig(t, l)
		defer closeRig()
		test(t, g, l)
	})
}

// realTime makes every frame take as long as it sounds, but those of the warm-up.
func realTime(ctx context.Context, o synth.Options, frame int) error {
	if frame < 0 || o.Text == warmText {
		return nil
	}
	select {
	case <-time.After(speech.FrameDuration):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// audioOf joins the audio among messages.
func audioOf(all []got) (pcm []byte, sizes []int) {
	for _, m := range all {
		if m.audio != nil {
			pcm = append(pcm, m.audio...)
			sizes = append(sizes, len(m.audio))
		}
	}
	return pcm, sizes
}

func TestWSSpeaksWhatItAnnounces(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	s := g.connect()
	defer s.leave()
	for range 2 {
		s.send(fmt.Sprintf(`{"text":%q,"voice":"raj"}`, strings.Repeat(line+" ", 3)))
		all := s.until("end")
		var chunks []string
		for _, m := range all {
			if m.typ() == "chunk" {
				chunks = append(chunks, m.event["text"].(string))
			}
		}
		pcm, sizes := audioOf(all)
		text, voice := heard(t, pcm)
		if want := strings.Join(chunks, "|"); text != want || voice != "raj" || len(chunks) < 2 {
			t.Errorf("heard %q by %s, want %q by raj in several chunks", text, voice, want)
		}
		start, end := all[0].event, all[len(all)-1].event
		if got := strings.Join(chunks, " "); got != start["normalized"] {
			t.Errorf("chunks %q, want the normalised text %q", got, start["normalized"])
		}
		if start["chunks"] != float64(len(chunks)) || end["chunks"] != start["chunks"] {
			t.Errorf("%v chunks announced, %v ended, %d spoken", start["chunks"], end["chunks"], len(chunks))
		}
		if got := float64(len(pcm) / speech.FrameBytes); got != end["frames"] || end["billed_frames"] != got {
			t.Errorf("%v frames came, end tells %v and bills %v", got, end["frames"], end["billed_frames"])
		}
		if sizes[0] != speech.FrameBytes || slices.Max(sizes) != 4*speech.FrameBytes {
			t.Errorf("blocks of %v bytes, want 3840 and then up to 15360", sizes)
		}
	}
}

func TestWSAndRESTSpeakAlike(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	s := g.connect()
	defer s.leave()
	const message = `{"text":"Aapka order kal aayega.","seed":7,"temperature":1,"format":"pcm16"}`
	s.send(message)
	pcm, _ := audioOf(s.until("end"))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/tts", strings.NewReader(message))
	r.Header.Set("X-Api-Key", testKey)
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, r)
	if !bytes.Equal(pcm, w.Body.Bytes()) || len(pcm) == 0 {
		t.Errorf("%d bytes on the socket differ from %d over REST", len(pcm), w.Body.Len())
	}
}

func TestWSOpusUtterancesAreStreamsOfTheirOwn(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	s := g.connect()
	defer s.leave()
	serials := map[uint32]bool{}
	for range 3 {
		s.send(`{"text":"Aapka order kal aayega. Payment ho gaya hai, dhanyavaad!","format":"opus"}`)
		all := s.until("end")
		stream, _ := audioOf(all)
		var first []byte
		for _, m := range all {
			if m.audio != nil {
				first = m.audio
				break
			}
		}
		if !bytes.HasPrefix(first, []byte("OggS")) || !bytes.Contains(first, []byte("OpusHead")) ||
			!bytes.Contains(first, []byte("OpusTags")) {
			t.Fatalf("the first binary message begins %.60q, want the header pages", first)
		}
		for _, tag := range []string{
			"SYNTHETIC=1", "SERVICE=Swar Hinglish TTS", "MODEL=" + all[0].event["model"].(string), "REQUEST_ID=" + all[0].id(),
		} {
			if !bytes.Contains(first, []byte(tag)) {
				t.Errorf("the stream does not say %s", tag)
			}
		}
		pages := oggPages(t, stream)
		for i, p := range pages {
			if p.serial != pages[0].serial {
				t.Errorf("page %d has the serial %x, want %x", i, p.serial, pages[0].serial)
			}
			if last := i == len(pages)-1; p.eos != last || p.bos != (i == 0) {
				t.Errorf("page %d of %d: begins %v, ends %v", i, len(pages), p.bos, p.eos)
			}
		}
		serials[pages[0].serial] = true
		i := bytes.Index(stream, []byte("OpusHead"))
		preSkip := uint64(binary.LittleEndian.Uint16(stream[i+10:]))
		frames := uint64(all[len(all)-1].event["frames"].(float64))
		if got, want := pages[len(pages)-1].granule, preSkip+2*speech.FrameSamples*frames; got != want {
			t.Errorf("the last granule is %d, want %d: every sample and no more", got, want)
		}
	}
	if len(serials) != 3 {
		t.Errorf("%d serials for three utterances", len(serials))
	}
}

type oggPage struct {
	serial   uint32
	granule  uint64
	bos, eos bool
}

func oggPages(t *testing.T, stream []byte) (pages []oggPage) {
	t.Helper()
	for len(stream) > 0 {
		if len(stream) < 27 || string(stream[:4]) != "OggS" || len(stream) < 27+int(stream[26]) {
			t.Fatalf("page %d begins %.27q", len(pages), stream)
		}
		segments := stream[27 : 27+int(stream[26])]
		size := 27 + len(segments)
		for _, n := range segments {
			size += int(n)
		}
		pages = append(pages, oggPage{
			serial:  binary.LittleEndian.Uint32(stream[14:]),
			granule: binary.LittleEndian.Uint64(stream[6:]),
			bos:     stream[5]&2 != 0, eos: stream[5]&4 != 0,
		})
		stream = stream[size:]
	}
	return pages
}

// TestWSClosingFreesTheWorkerWithinAFrame: nothing is synthesised for somebody who has left.
func TestWSClosingFreesTheWorkerWithinAFrame(t *testing.T) {
	for name, leave := range map[string]func(*socket){
		"by closing":    (*socket).leave,
		"by vanishing":  func(s *socket) { s.conn.Close() },
		"by cancelling": func(s *socket) { s.send(`{"type":"cancel"}`); s.last("cancelled"); s.leave() },
	} {
		t.Run(name, func(t *testing.T) {
			bubbleLocal(t, 1, synthtest.Config{Before: realTime}, func(t *testing.T, g *wsRig, l local) {
				s := g.connect()
				s.speak("a", strings.Repeat(line, 20))
				s.speak("b", line)
				s.until("first_audio_ms")
				before, begin := l.engine.Frames(), time.Now()
				leave(s)
				synctest.Wait()
				if took := time.Since(begin); took > speech.FrameDuration {
					t.Errorf("leaving took %v, want at most a frame", took)
				}
				if c := l.Capacity(); c.Busy != 0 || c.Queued != 0 {
					t.Errorf("capacity = %+v, want an idle worker", c)
				}
				time.Sleep(time.Minute)
				if got := l.engine.Frames() - before; got > 1 {
					t.Errorf("%d frames were synthesised for nobody", got)
				}
			})
		})
	}
}

func TestWSQueueBudget(t *testing.T) {
	t.Run("two seconds from the turn of each utterance", func(t *testing.T) {
		gate := func(ctx context.Context, o synth.Options, frame int) error {
			if frame < 0 || o.Text == warmText {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		bubbleLocal(t, 1, synthtest.Config{Before: gate}, func(t *testing.T, g *wsRig, _ local) {
			hog, s := g.connect(), g.connect()
			defer hog.leave()
			defer s.leave()
			hog.speak("hog", "hello")
			hog.last("chunk")
			begin := time.Now()
			s.speak("a", "hello")
			s.speak("b", "hello")
			for i, id := range []string{"a", "b"} {
				s.wantError(id, http.StatusServiceUnavailable, "busy", "busy")
				if got, want := time.Since(begin), time.Duration(i+1)*queueWait; got != want {
					t.Errorf("%s was refused after %v, want %v", id, got, want)
				}
			}
			s.wantAlive()
		})
	})
	t.Run("a slot just in time is taken", func(t *testing.T) {
		slow := func(_ context.Context, o synth.Options, frame int) error {
			if frame != 0 || o.Text == warmText {
				return nil
			}
			time.Sleep(queueWait - time.Nanosecond)
			return nil
		}
		bubbleLocal(t, 1, synthtest.Config{Before: slow}, func(t *testing.T, g *wsRig, _ local) {
			hog, s := g.connect(), g.connect()
			defer hog.leave()
			defer s.leave()
			hog.speak("hog", "hello")
			hog.last("chunk")
			s.speak("a", "hello")
			hog.last("end")
			if m := s.last("start"); m.event["queue_ms"] != 1950.0 {
				t.Errorf("start %s, want a queue of 1950 ms", m.text)
			}
			s.last("end")
		})
	})
}

// TestWSTurnsAndStrangers: inside a turn the worker stays with its connection, unless somebody else is waiting for one.
func TestWSTurnsAndStrangers(t *testing.T) {
	bubbleLocal(t, 1, synthtest.Config{Before: realTime}, func(t *testing.T, g *wsRig, _ local) {
		s, stranger := g.connect(), g.connect()
		defer s.leave()
		defer stranger.leave()
		for _, id := range []string{"a1", "a2"} {
			s.speak(id, "hello")
		}
		s.last("end")
		if m := s.last("start"); m.id() != "a2" || m.event["queue_ms"] != 0.0 {
			t.Errorf("start %s, want a2 without a wait", m.text)
		}
		s.last("end")

		s.speak("a3", "hello")
		s.speak("a4", "hello")
		s.last("start")
		stranger.speak("b", "hello")
		synctest.Wait()
		ended := make(chan string, 3)
		var listeners sync.WaitGroup
		listeners.Go(func() { ended <- stranger.last("end").id() })
		listeners.Go(func() {
			ended <- s.last("end").id()
			ended <- s.last("end").id()
		})
		listeners.Wait()
		spoken := []string{<-ended, <-ended, <-ended}
		if got, want := strings.Join(spoken, " "), "a3 b a4"; got != want {
			t.Errorf("spoken %s, want %s", got, want)
		}
	})
}
