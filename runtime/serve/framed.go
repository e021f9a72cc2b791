package serve

import (
	"bytes"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	feed "github.com/swar-tts/swar/runtime/session"
	"github.com/swar-tts/swar/runtime/speech"
)

// framedSink puts audio into a framing. The audio before the first frame waits for it, as [restSink] lets it wait. Of
// an answer that is sent as a whole, the audio is framed when it is sent.
type framedSink struct {
	*restSink
	framing *dialect.Framing
	head    []byte
	began   bool

	// Of the words.
	words  wordsMaker
	source *feed.Source // nil: words were not requested, or are unknown
	base   int          // code points that are spoken before the text
	frames int
	ends   [][]byte // what words have become that are sent behind all audio
}

// frame makes d an answer in the framing of an order for u, and returns what is to be spoken into.
func (d *delivery) frame(name dialect.Name, o dialect.Order, u speech.Utterance) *framedSink {
	f := o.Framing
	k := &framedSink{restSink: &d.sink, framing: f, words: wordsMaker{speed: o.Audio.Speed}}
	if f.Words != nil {
		k.source = feed.NewSource(u)
	}
	if o.Buffered {
		d.frameAll = f.Audio
	}
	d.contentType, d.trailers = f.ContentType, false // the last line has the same values
	d.lastLine = func(st speech.Stats) []byte { return append(bytes.Join(k.ends, nil), f.End(st.Frames)...) }
	d.failLine = func(err error) []byte {
		_, body := name.FaultBody(faultOf(err, d.w.Header().Get("X-Request-Id")))
		return f.Failed(body)
	}
	return k
}

// Start implements [speech.Sink].
func (k *framedSink) Start(s speech.Start) error {
	if !s.WordTimes {
		k.source = nil
	}
	if k.base = utf8.RuneCountInString(s.Disclosure); k.base > 0 {
		k.base++ // the space behind it
	}
	return k.restSink.Start(s)
}

// ChunkStart implements [speech.Sink].
func (k *framedSink) ChunkStart(c speech.Chunk) error {
	k.words.begin(c, k.frames)
	return k.restSink.ChunkStart(c)
}

// Audio implements [speech.Sink].
func (k *framedSink) Audio(a speech.Audio) error {
	k.frames += a.Frames
	if k.frameAll != nil {
		return k.restSink.Audio(a)
	}
	if !k.began && a.Frames == 0 {
		k.head = append(k.head, a.Data...)
		return nil
	}
	data := a.Data
	if !k.began && len(k.head) > 0 {
		data = append(k.head, data...)
	}
	k.began = true
	a.Data = nil
	if len(data) > 0 {
		a.Data = k.framing.Audio(data)
	}
	return k.restSink.Audio(a)
}

// ChunkEnd implements [speech.Sink].
func (k *framedSink) ChunkEnd(e speech.ChunkEnd) error {
	if err := k.restSink.ChunkEnd(e); err != nil || k.source == nil {
		return err
	}
	source := k.source.WrittenWords(e.Words, k.base, k.words.chunk.CharEnd)
	data := k.framing.Words(k.words.end(e.Words, source, k.frames))
	if k.frameAll != nil {
		k.ends = append(k.ends, data)
		return nil
	}
	if len(data) == 0 {
		return nil
	}
	return k.restSink.Audio(speech.Audio{Chunk: e.Chunk, Data: data})
}
