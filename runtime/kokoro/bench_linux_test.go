package kokoro

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/kokoro/internal/phoneme"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// BenchmarkFirstAudio says what the first frame of a sentence of nine words costs, in milliseconds of one thread, part
// by part: the least of all turns. SWAR_BUNDLE names the bundle, SWAR_ONNXRUNTIME the library, SWAR_KERNEL the
// instructions.
func BenchmarkFirstAudio(b *testing.B) {
	dir, library := os.Getenv("SWAR_BUNDLE"), os.Getenv("SWAR_ONNXRUNTIME")
	if dir == "" || library == "" {
		b.Skip("SWAR_BUNDLE names no bundle, or SWAR_ONNXRUNTIME no library")
	}
	if name := os.Getenv("SWAR_KERNEL"); name != "" {
		if err := ort.UseKernel(name); err != nil {
			b.Fatal(err)
		}
	}
	e, err := New(Config{Bundle: dir, Library: library, CacheBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	made, err := e.NewWorker(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	w := made.(*worker)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const text = "आपका नया ऑर्डर कल सुबह दस बजे घर पहुँचेगा।"
	v := e.voices[e.manifest.Voices[0].Name]
	least := map[string]float64{}
	part := func(name string, do func() error) {
		before := threadTime()
		if err := do(); err != nil {
			b.Fatal(err)
		}
		if took := float64(threadTime()-before) / 1e6; least[name] == 0 || took < least[name] {
			least[name] = took
		}
	}
	dst := make([]int16, speech.FrameSamples)
	for b.Loop() {
		var read phoneme.Phonemes
		prepared, _ := espeak.PreparedWords(text)
		if read, err = e.reader.Read(b.Context(), prepared); err != nil {
			b.Fatal(err)
		}
		fed := phoneme.Fed(read.IDs)
		part("prosody-ms", func() (err error) {
			_, err = e.network.prosody.Run(b.Context(), fed, v.prompt.Style(len(fed)), 1)
			return err
		})
		if _, err := w.Prefill(b.Context(), synth.Options{Voice: v.Name, Text: text}); err != nil {
			b.Fatal(err)
		}
		p := w.prefilled
		w.drop()
		part("begin-ms", func() error { return w.begin(p, synth.Options{Voice: v.Name, Text: text}) })
		part("frame-ms", func() error { _, _, _, err := w.Next(b.Context(), dst, 1); return err })
		b.ReportMetric(float64(w.cut)/speech.SampleRate*1e3, "silence-ms")
	}
	for name, took := range least {
		b.ReportMetric(took, name)
	}
}

func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}
