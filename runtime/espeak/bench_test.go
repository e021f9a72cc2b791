package espeak

import (
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

var benchOptions = synth.Options{
	Voice: "anjura", Text: "नमस्ते, आपका order कल सुबह तक पहुँच जाएगा। धन्यवाद!",
	Temperature: speech.DefaultTemperature,
}

// BenchmarkFirstFrame is the time from Prefill to the first frame: of a worker whose spare process is ready, as between
// two utterances, and of one that must start the program first, as after a change of voice.
func BenchmarkFirstFrame(b *testing.B) {
	for _, tt := range []struct {
		name  string
		ready func(*worker)
	}{
		{"spare", func(w *worker) {
			<-w.spare.ready
			time.Sleep(20 * time.Millisecond) // the program says nowhere that it has read its data
		}},
		{"cold", (*worker).dismiss},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := openWorker(b, installed(b))
			dst := make([]int16, speech.FrameSamples)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				w.drop()
				w.prepare(voices[0])
				tt.ready(w)
				b.StartTimer()
				if _, err := w.Prefill(b.Context(), benchOptions); err != nil {
					b.Fatal(err)
				}
				if n, _, _, err := w.Next(b.Context(), dst, synth.FirstFrames); n != 1 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}

// BenchmarkRTF speaks chunks one after another, so that no spare process has time to get ready, and reports the time
// for each second of audio.
func BenchmarkRTF(b *testing.B) {
	w := openWorker(b, installed(b))
	dst := make([]int16, synth.GroupFrames*speech.FrameSamples)
	frames := 0
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Prefill(b.Context(), benchOptions); err != nil {
			b.Fatal(err)
		}
		for done := false; !done; {
			var n int
			var err error
			if n, done, _, err = w.Next(b.Context(), dst, synth.GroupFrames); err != nil {
				b.Fatal(err)
			}
			frames += n
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/speech.Seconds(frames), "RTF")
}

func BenchmarkTokens(b *testing.B) {
	e := &Engine{}
	b.ReportAllocs()
	for b.Loop() {
		e.Tokens(benchOptions.Text)
	}
}
