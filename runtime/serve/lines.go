package serve

import (
	"net/http"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// ttsWords answers POST /v1/tts/words: the events of a socket and the audio between them, a line of JSON for each.
func (s *Server) ttsWords(w http.ResponseWriter, r *http.Request, grant access.Grant, o *outcome) error {
	return s.answerSpeech(w, r, grant, o, fromWords)
}

// audioLine is a piece of audio among the lines. All together are the body that POST /v1/tts streams.
type audioLine struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Chunk     int    `json:"chunk"`
	Frames    int    `json:"frames"` // that the piece adds
	Audio     []byte `json:"audio"`  // base64
}

// lineSink makes lines of what is spoken, and puts them into the queue of a delivery as if they were audio.
type lineSink struct {
	to     *restSink
	of     speech.Utterance
	words  bool   // the end of a chunk has them
	frames int    // spoken so far
	head   []byte // what the container put ahead of the first frame
}

// inLines makes d an answer in lines, and returns what u is to be spoken into.
func (d *delivery) inLines(u speech.Utterance) *lineSink {
	d.contentType, d.trailers = "application/x-ndjson", false // the last line has the same values
	d.lastLine = func(st speech.Stats) []byte { return lineOf(endEventOf(u.RequestID, u.Seed, st)) }
	return &lineSink{to: &d.sink, of: u}
}

func lineOf(event any) []byte { return append(encodeEvent(event), '\n') }

// put adds a line. Those before the first frame wait for it: until then an error is still a status.
func (l *lineSink) put(event any) error { return l.to.Audio(speech.Audio{Data: lineOf(event)}) }

// Start implements [speech.Sink].
func (l *lineSink) Start(s speech.Start) error {
	if err := l.to.Start(s); err != nil {
		return err
	}
	l.words = s.WordTimes
	return l.put(startEventOf(l.of.RequestID, s, true))
}

// ChunkStart implements [speech.Sink].
func (l *lineSink) ChunkStart(c speech.Chunk) error {
	return l.put(chunkEventOf(l.of.RequestID, c, l.frames))
}

// Audio implements [speech.Sink].
func (l *lineSink) Audio(a speech.Audio) error {
	if l.frames == 0 && a.Frames == 0 {
		l.head = append(l.head, a.Data...)
		return nil
	}
	if l.frames == 0 && len(l.head) > 0 {
		a.Data = append(l.head, a.Data...)
	}
	l.frames += a.Frames
	a.Data = lineOf(audioLine{
		Type: "audio", RequestID: l.of.RequestID, Chunk: a.Chunk, Frames: a.Frames, Audio: a.Data,
	})
	return l.to.Audio(a)
}

// ChunkEnd implements [speech.Sink].
func (l *lineSink) ChunkEnd(e speech.ChunkEnd) error {
	if err := l.to.ChunkEnd(e); err != nil {
		return err
	}
	if l.words {
		if err := l.put(wordsEventOf(l.of.RequestID, e)); err != nil {
			return err
		}
	}
	return l.put(chunkEndEventOf(l.of.RequestID, e))
}
