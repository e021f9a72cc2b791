package kokoro_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/kokoro"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/wordtime"
)

// hissing are sentences of which many words begin with an s or a sh, whose hiss shows where it begins.
var hissing = []string{
	"वे सब लोग समय पर शाम को स्कूल से सीधे शहर गए।",
	"राम ने सुबह सात बजे सारा सामान सँभाला, और शाम को सो गया।",
	"The new system will save some money for several small shops.",
	"मेरी सहेली शनिवार को शादी में शामिल होगी।",
	"Your order will ship on Sunday, and the support team will send you a short summary.",
	"आपकी सेवा में सुधार के लिए सुझाव दीजिए, हम शुरू से सुनेंगे।",
	"Haan ji, main subah se shaam tak wahi sab samajh raha hoon, sunte hi samajh aaya.",
	"Four seven zero six, then send me the same serial number.",
}

// testWordTimesAgainstTheSound compares words with where the hiss of their first sound begins. docs/websocket.md has
// the figures.
func testWordTimesAgainstTheSound(t *testing.T, e *kokoro.Engine) {
	w, err := e.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	texts := hissing
	if !testing.Verbose() { // fewer do where no figures are shown
		texts = texts[:3]
	}
	var known, estimated []time.Duration
	for i, text := range texts {
		pcm := say(t, w, synth.Options{Voice: []string{"hf_beta", "hm_omega"}[i%2], Text: text,
			Temperature: .3, Seed: 7})
		times, ok := synth.WordTimes(w)
		if !ok {
			t.Fatalf("%q: no words", text)
		}
		parts := make([]wordtime.Part, len(times))
		for i, w := range times {
			parts[i] = wordtime.Part{From: w.From, To: w.To, Start: ofSamples(w.Start), End: ofSamples(w.End)}
		}
		var l wordtime.Levels
		l.Add(pcm)
		words, guessed := wordtime.Known(speech.Chunk{Text: text}, parts, &l),
			wordtime.Estimate(speech.Chunk{Text: text}, &l)
		hiss := hissOf(pcm)
		for i := 1; i < len(words); i++ {
			if at, ok := hissNear(hiss, words[i-1], words[i]); ok {
				known = append(known, (words[i].Start - at).Abs())
				estimated = append(estimated, (guessed[i].Start - at).Abs())
			}
		}
	}
	slices.Sort(known)
	slices.Sort(estimated)
	n := len(known)
	if n < 5*len(texts) {
		t.Fatalf("only %d words could be compared", n)
	}
	t.Logf("%d words: off by %v (median), %v (nine of ten below), %v (worst); estimated %v, %v, %v",
		n, known[n/2], known[n*9/10], known[n-1], estimated[n/2], estimated[n*9/10], estimated[n-1])
	if known[n/2] > 40*time.Millisecond || known[n-1] > 150*time.Millisecond {
		t.Errorf("the median is %v and the worst %v, want at most 40ms and 150ms", known[n/2], known[n-1])
	}
}

func ofSamples(n int) time.Duration { return time.Duration(n) * time.Second / speech.SampleRate }

const hissWindow = 120 // 5 ms

// hissOf is the energy of high frequencies from window to window.
func hissOf(pcm []int16) (energy []float64) {
	for part := range slices.Chunk(pcm, hissWindow) {
		sum := 0.
		for i := 2; i < len(part); i++ {
			d := float64(part[i]) - 2*float64(part[i-1]) + float64(part[i-2])
			sum += d * d
		}
		energy = append(energy, sum)
	}
	return energy
}

// hissNear is where the hiss begins with which a word does, if it is heard clearly.
func hissNear(hiss []float64, before, w speech.Word) (at time.Duration, ok bool) {
	hisses := func(r rune) bool { return strings.ContainsRune("sSसशष", r) }
	r := []rune(before.Text)
	if !hisses([]rune(w.Text)[0]) || hisses(r[len(r)-1]) ||
		strings.ContainsAny(before.Text[len(before.Text)-1:], "cxtzhj") {
		return 0, false
	}
	const reach, window = 40, 5 * time.Millisecond
	middle := int(w.Start / window)
	from := max(middle-reach, int((before.Start+before.End)/2/window)) // before that another word may hiss
	near := hiss[from:min(len(hiss), middle+reach)]
	peak := slices.Index(near, slices.Max(near))
	quiet := slices.Clone(near)
	slices.Sort(quiet)
	if near[peak] < 20*math.Max(quiet[len(quiet)/10], 1) {
		return 0, false
	}
	for loud := near[peak]; peak > 0 && near[peak-1] > .1*loud; {
		peak--
	}
	return time.Duration(from+peak) * window, true
}
