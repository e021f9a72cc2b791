package espeak

import (
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

const benchText = "नमस्ते, आपका order कल सुबह तक पहुँच जाएगा। धन्यवाद!"

// BenchmarkFirstFrame is the time from Prefill to the first frame of a worker that was idle.
func BenchmarkFirstFrame(b *testing.B) {
	w := benchWorker(b)
	dst := make([]int16, speech.FrameSamples)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		time.Sleep(15 * time.Millisecond)
		b.StartTimer()
		if _, err := w.Prefill(b.Context(), synth.Options{Voice: "anjura", Text: benchText, Temperature: .3}); err != nil {
			b.Fatal(err)
		}
		if n, _, _, err := w.Next(b.Context(), dst, 1); n != 1 || err != nil {
			b.Fatal(n, err)
		}
		b.StopTimer()
		w.drop()
		b.StartTimer()
	}
}

// BenchmarkRTF speaks whole chunks one after another and reports the time for each second of audio.
func BenchmarkRTF(b *testing.B) {
	w := benchWorker(b)
	dst := make([]int16, synth.GroupFrames*speech.FrameSamples)
	b.ReportAllocs()
	frames := 0
	for b.Loop() {
		if _, err := w.Prefill(b.Context(), synth.Options{Voice: "anjura", Text: benchText, Temperature: .3}); err != nil {
			b.Fatal(err)
		}
		for done := false; !done; {
			n, d, _, err := w.Next(b.Context(), dst, synth.GroupFrames)
			if err != nil {
				b.Fatal(err)
			}
			frames, done = frames+n, d
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/speech.Seconds(frames), "RTF")
}

func benchWorker(b *testing.B) *worker {
	w, err := installed(b).NewWorker(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return w.(*worker)
}
