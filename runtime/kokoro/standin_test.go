package kokoro

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"unicode"

	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/kokoro/internal/phoneme"
	"github.com/swar-tts/swar/runtime/kokoro/internal/prosody"
	"github.com/swar-tts/swar/runtime/kokoro/internal/vocoder"
	"github.com/swar-tts/swar/runtime/synth"
)

// StandIn returns an engine whose network is made up: letters are phonemes, each lasts three frames and is a hum that
// depends on the text, the voice and the noise. It takes next to no time, so that what is around the network is tried
// as often as it takes. each, if set, is called after every frame of the vocoder, 25 ms, with the number of its chunk's
// frames so far.
func StandIn(each func(frame int)) *Engine {
	e := &Engine{
		network: network{spelling{}, guess{}, &hum{each: each, pitch: map[*vocoder.Shape]float64{}}},
		cache:   synth.NewCache[*prefill](defaultCacheBytes), voices: map[string]*voice{}, threads: 1,
	}
	e.manifest.Model.ID = "kokoro-stand-in"
	for i, name := range []string{"anjura", "raj"} {
		v := bundle.Voice{Name: name, Language: "hi-IN+en-IN"}
		styles := make([]float32, bundle.StyleRows*bundle.StyleSize)
		for j := range styles {
			styles[j] = float32(i + 1)
		}
		e.manifest.Voices = append(e.manifest.Voices, v)
		e.voices[name] = &voice{v, bundle.Prompt{Styles: styles}, 1}
	}
	return e
}

// spelling reads each letter as a phoneme.
type spelling struct{}

func (spelling) Read(ctx context.Context, prepared string) (p phoneme.Phonemes, err error) {
	if err := context.Cause(ctx); err != nil {
		return p, err
	}
	at := 0
	for _, word := range strings.Fields(prepared) {
		from := at + strings.Index(prepared[at:], word)
		at = from + len(word)
		w := phoneme.Word{From: from, To: at, First: len(p.IDs)}
		for _, r := range word {
			if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) {
				p.IDs = append(p.IDs, 20+int64(r)%100)
			}
		}
		w.Last = len(p.IDs)
		p.Words = append(p.Words, w)
	}
	if len(p.IDs) > phoneme.MaxIDs {
		return phoneme.Phonemes{}, phoneme.ErrTooLong
	}
	return p, nil
}

// guess lets every phoneme last as long, and writes what the text was into what describes its tokens.
type guess struct{}

const padFrames = 12 // of silence at both ends, at speed 1

func (guess) Run(ctx context.Context, ids []int64, _ []float32, speed float64) (p prosody.Prosody, err error) {
	if err := context.Cause(ctx); err != nil {
		return p, err
	}
	var predicted []float32
	sum := fnv.New32()
	for i, id := range ids {
		frames := float32(3)
		if i == 0 || i == len(ids)-1 {
			frames = padFrames
		}
		predicted = append(predicted, frames)
		_, _ = sum.Write([]byte{byte(id)})
	}
	p.Durations, _ = prosody.Durations(predicted, speed)
	p.Text = []float32{float32(sum.Sum32() % 1000)}
	return p, nil
}

func (guess) Close() error { return nil }

// sweep is a tone that rises.
var sweep = func() (s [20000]float32) {
	for i := range s {
		s[i] = float32(.3 * math.Sin(float64(i)*(.02+float64(i)/1e6)))
	}
	return s
}()

// hum is a vocoder that begins somewhere else in the sweep for each text and voice.
type hum struct {
	each  func(frame int)
	mu    sync.Mutex
	pitch map[*vocoder.Shape]float64
}

func (h *hum) Shape(style []float32, _ func(string) vocoder.Statistics) (*vocoder.Shape, error) {
	shape := &vocoder.Shape{}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pitch[shape] = float64(style[0])
	return shape, nil
}

func (h *hum) Start(c vocoder.Chunk) (stream, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &humming{each: h.each, chunk: c, at: c.From, from: 100*int(h.pitch[c.Shape]) + 7*int(c.Text[0])}
	for _, d := range c.Durations {
		s.end += d * vocoder.FrameSamples
	}
	s.front, s.back = c.Durations[0]*vocoder.FrameSamples, s.end-c.Durations[len(c.Durations)-1]*vocoder.FrameSamples
	return s, nil
}

type humming struct {
	each      func(frame int)
	chunk     vocoder.Chunk
	from      int // of the sweep
	at, end   int
	front     int // samples of silence before the text
	back      int // sample at which it ends
	made, out []float32
}

func (s *humming) Samples() int { return s.end - s.chunk.From }

// Next makes frames one by one, and looks after each whether ctx has ended: what was made then is kept for the next
// call.
func (s *humming) Next(ctx context.Context, n int) ([]float32, error) {
	for len(s.made) < n && s.at < s.end {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		frame := make([]float32, min(vocoder.FrameSamples-s.at%vocoder.FrameSamples, s.end-s.at))
		if s.front <= s.at && s.at < s.back {
			copy(frame, sweep[(s.from+s.at)%(len(sweep)-vocoder.FrameSamples):])
			if s.chunk.Noise != nil {
				var few [8]float32 // each costs more than all else
				s.chunk.Noise(int64(s.at), few[:])
				for i, v := range few[:min(len(few), len(frame))] {
					frame[i] += .01 * v
				}
			}
		}
		s.made, s.at = append(s.made, frame...), s.at+len(frame)
		if s.each != nil {
			s.each(s.at / vocoder.FrameSamples)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	n = min(n, len(s.made))
	s.out = append(s.out[:0], s.made[:n]...)
	s.made = s.made[n:]
	return s.out, nil
}
