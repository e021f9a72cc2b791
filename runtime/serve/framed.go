package serve

import (
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// framedSink puts audio into a framing. The audio before the first frame waits for it, as [restSink] lets it wait.
type framedSink struct {
	*restSink
	framing *dialect.Framing
	head    []byte
	began   bool
}

// frame makes d an answer in a framing, and returns what is to be spoken into.
func (d *delivery) frame(name dialect.Name, f *dialect.Framing) *framedSink {
	d.contentType, d.trailers = f.ContentType, false // the last line tells more
	d.lastLine = func(st speech.Stats) []byte { return f.End(st.Frames) }
	d.failLine = func(err error) []byte {
		_, body := name.Answer(faultOf(err, d.w.Header().Get("X-Request-Id")))
		return f.Failed(body)
	}
	return &framedSink{restSink: &d.sink, framing: f}
}

// Audio implements [speech.Sink].
func (k *framedSink) Audio(a speech.Audio) error {
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
