package espeak

import (
	"encoding/binary"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/translit"
)

// sentences are what a call centre, a delivery service and a chat say: Hindi, English and both.
var sentences = []string{
	"नमस्ते, आपका order कल सुबह तक पहुँच जाएगा।",
	"आपका ओ टी पी चार आठ दो नौ एक तीन है।",
	"कृपया थोड़ी देर प्रतीक्षा कीजिए, हम आपकी call जोड़ रहे हैं।",
	"Your payment of five hundred rupees was successful.",
	"क्या आप अपना account number बता सकते हैं?",
	"बहुत बहुत धन्यवाद! आपका दिन शुभ हो।",
	"मौसम विभाग के अनुसार, आज शाम मुंबई में तेज़ बारिश हो सकती है।",
	"aapka parcel raste mein hai, thoda sa intezaar karein.",
	"मीटिंग सोमवार को सुबह दस बजे है; समय पर आइए।",
	"हाँ।",
	"मैंने बचपन में जानवर और अदरक के बारे में बहुत कुछ पढ़ा था।",
	"Hello, main Priya bol rahi hoon, kya meri baat Rahul ji se ho sakti hai?",
}

func TestVoicesSoundLikeAWomanAndAMan(t *testing.T) {
	w := openWorker(t, installed(t))
	for _, tt := range []struct {
		voice    string
		min, max float64 // Hz
	}{
		{"anjura", 180, 225},
		{"raj", 88, 110},
	} {
		pcm := sayAll(t, w, synth.Options{Voice: tt.voice}, sentences[:4])
		got := medianPitch(pcm)
		t.Logf("%s: F0 %.0f Hz", tt.voice, got)
		if got < tt.min || got > tt.max {
			t.Errorf("%s: F0 %.0f Hz, want %.0f to %.0f", tt.voice, got, tt.min, tt.max)
		}
	}
}

func TestVoicesAreEquallyLoudAndDoNotClip(t *testing.T) {
	w := openWorker(t, installed(t))
	var loud []float64
	for _, v := range voices {
		pcm := sayAll(t, w, synth.Options{Voice: v.name}, sentences)
		got := 20 * math.Log10(rms(pcm)/32768)
		t.Logf("%s: RMS %.2f dBFS, peak %.3f", v.name, got, peak(pcm))
		loud = append(loud, got)
		if p := peak(pcm); p >= .99 {
			t.Errorf("%s: peak %.3f, want below 0.99", v.name, p)
		}
	}
	if d := math.Abs(loud[0] - loud[1]); d > 1.5 {
		t.Errorf("the voices are %.2f dB apart, want at most 1.5", d)
	}
}

func TestALivelyVoiceDoesNotClip(t *testing.T) {
	w := openWorker(t, installed(t))
	for _, v := range voices {
		pcm := sayAll(t, w, synth.Options{Voice: v.name, Temperature: speech.MaxTemperature}, sentences)
		if p := peak(pcm); p >= .99 {
			t.Errorf("%s: peak %.3f, want below 0.99", v.name, p)
		}
	}
}

func TestChunksLastAsLongAsTheProgramAloneSpeaks(t *testing.T) {
	w := openWorker(t, installed(t))
	for _, v := range voices {
		for _, text := range sentences {
			bare := bareSamples(t, w.engine, v, translit.Devanagari(text, translit.Options{KeepEnglish: true}))
			want := float64(len(bare)) / programRate
			for _, temperature := range []float64{0, speech.MaxTemperature} {
				got := float64(len(say(t, w, synth.Options{Voice: v.name, Text: text, Temperature: temperature,
					Seed: 5}))) / speech.SampleRate
				// The last frame is padded.
				if got < .9*want || got > 1.1*want+speech.FrameDuration.Seconds() {
					t.Errorf("%s, temperature %.1f: %q lasts %.2f s, alone %.2f s", v.name, temperature, text,
						got, want)
				}
			}
		}
	}
}

// TestFramesAreOneSound looks for clicks where frames and reads join: nothing may differ from the whole sound,
// resampled at once.
func TestFramesAreOneSound(t *testing.T) {
	w := openWorker(t, installed(t))
	for _, v := range voices {
		for _, text := range sentences {
			bare := bareSamples(t, w.engine, v, prepare(text).text)
			want := resampled(bare, len(bare), 2*len(bare))
			got := say(t, w, synth.Options{Voice: v.name, Text: text})
			frames := (len(want) + speech.FrameSamples - 1) / speech.FrameSamples
			want = append(want, make([]int16, frames*speech.FrameSamples-len(want))...)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q has %d samples that are not the %d of the program", v.name, text, len(got), len(want))
			}
		}
	}
}

func TestChunksDoNotEndInALongSilence(t *testing.T) {
	w := openWorker(t, installed(t))
	for _, v := range voices {
		for _, text := range sentences {
			pcm := say(t, w, synth.Options{Voice: v.name, Text: text})
			loud := 0
			for i, s := range pcm {
				if s > 100 || s < -100 {
					loud = i + 1
				}
			}
			if got := float64(len(pcm)-loud) / speech.SampleRate; got > .6 {
				t.Errorf("%s: %q ends in %.2f s of silence, want at most 0.6", v.name, text, got)
			}
		}
	}
}

func TestSeeds(t *testing.T) {
	w := openWorker(t, installed(t))
	o := synth.Options{Voice: "raj", Text: sentences[9], Temperature: .3}
	heard := map[string]int64{}
	for o.Seed = range 20 {
		pcm := say(t, w, o)
		key := string(bytesOf(pcm))
		if before, ok := heard[key]; ok {
			t.Errorf("at temperature 0.3 seeds %d and %d give the same samples", before, o.Seed)
		}
		heard[key] = o.Seed
	}
	o.Temperature = 0
	want := say(t, w, o)
	o.Seed, o.Chunk = -1, 3
	if !slices.Equal(say(t, w, o), want) {
		t.Error("at temperature 0 the seed matters")
	}
}

// openWorker returns a worker that the test closes.
func openWorker(t testing.TB, e *Engine) *worker {
	t.Helper()
	w := newWorker(e)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// say speaks one chunk that must not fail.
func say(t testing.TB, w *worker, o synth.Options) []int16 {
	t.Helper()
	pcm, err := speak(t, w, o)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// speak speaks one chunk as the pipeline does: one frame, then groups.
func speak(t testing.TB, w *worker, o synth.Options) (pcm []int16, err error) {
	if _, err := w.Prefill(t.Context(), o); err != nil {
		return nil, err
	}
	dst := make([]int16, synth.GroupFrames*speech.FrameSamples)
	for n := synth.FirstFrames; ; n = synth.GroupFrames {
		frames, done, eos, err := w.Next(t.Context(), dst, n)
		pcm = append(pcm, dst[:frames*speech.FrameSamples]...)
		if err != nil || done {
			if done != eos {
				t.Errorf("done %v, eos %v, want both alike", done, eos)
			}
			return pcm, err
		}
	}
}

func sayAll(t testing.TB, w *worker, o synth.Options, texts []string) (pcm []int16) {
	t.Helper()
	for i, text := range texts {
		o.Text, o.Chunk = text, i
		pcm = append(pcm, say(t, w, o)...)
	}
	return pcm
}

// bareSamples is what the program gives for text in voice v when it is asked from a shell.
func bareSamples(t testing.TB, e *Engine, v *voice, text string) []int16 {
	t.Helper()
	cmd := exec.Command(e.program.Path, v.args(e.hindi)...)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, (len(out)-headerBytes)/2)
	if _, err := binary.Decode(out[headerBytes:], binary.LittleEndian, pcm); err != nil {
		t.Fatal(err)
	}
	return pcm
}

func bytesOf(pcm []int16) []byte {
	var out []byte
	for _, s := range pcm {
		out = binary.LittleEndian.AppendUint16(out, uint16(s))
	}
	return out
}

func rms(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(pcm)))
}

func peak(pcm []int16) float64 {
	m := 0
	for _, s := range pcm {
		m = max(m, int(s), -int(s))
	}
	return float64(m) / 32768
}

// medianPitch is the median of F0 over the voiced 40 ms windows: the first strong peak of the autocorrelation.
func medianPitch(pcm []int16) float64 {
	const window, minLag, maxLag = speech.SampleRate / 25, speech.SampleRate / 400, speech.SampleRate / 60
	var found []float64
	for start := 0; start+window+maxLag <= len(pcm); start += window {
		x := pcm[start : start+window+maxLag]
		corr := func(lag int) float64 {
			var xy, xx, yy float64
			for i := range window {
				a, b := float64(x[i]), float64(x[i+lag])
				xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
			}
			return xy / math.Sqrt(xx*yy+1)
		}
		if rms(x) < 500 {
			continue
		}
		var c [maxLag + 1]float64
		top := 0.0
		for lag := minLag; lag <= maxLag; lag++ {
			c[lag] = corr(lag)
			top = max(top, c[lag])
		}
		if top < .7 {
			continue
		}
		for lag := minLag + 1; lag < maxLag; lag++ {
			if c[lag] > .93*top && c[lag] >= c[lag-1] && c[lag] >= c[lag+1] {
				found = append(found, speech.SampleRate/float64(lag))
				break
			}
		}
	}
	if len(found) == 0 {
		return 0
	}
	slices.Sort(found)
	return found[len(found)/2]
}
