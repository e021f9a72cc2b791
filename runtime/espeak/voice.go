package espeak

import (
	"math"
	"strconv"

	"github.com/swar-tts/swar/runtime/synth"
)

// voice says how the program is to sound.
type voice struct {
	name    string
	variant string // of the Hindi voice; empty for the plain one
	pitch   int    // 0 to 99
	speed   int    // words per minute
	volume  int    // 0 to 200
}

// voices are the voices of the model. The volumes were found by measuring the sentences of the tests: both voices
// come to -21.5 dB RMS and -21.2 LUFS and peak at 0.61 and 0.85 of full scale, at temperature 2 at most 0.90. The
// program's own volume of 100 clips.
var voices = []*voice{
	{name: "anjura", variant: "f2", pitch: 55, speed: 160, volume: 70},
	{name: "raj", pitch: 45, speed: 155, volume: 88},
}

// promptFrames is the length of a voice prompt. The program has none; the API promises this number.
const promptFrames = 102

func voiceNamed(name string) (*voice, bool) {
	for _, v := range voices {
		if v.name == name {
			return v, true
		}
	}
	return nil, false
}

// args are the program's arguments. The text comes later, through stdin, where no other user of the machine can see it.
func (v *voice) args(hindi string) []string {
	if v.variant != "" {
		hindi += "+" + v.variant
	}
	return []string{
		"-b", "1", // UTF-8
		"-v", hindi,
		"-p", strconv.Itoa(v.pitch),
		"-s", strconv.Itoa(v.speed),
		"-a", strconv.Itoa(v.volume),
		"--stdin", "--stdout",
	}
}

// What temperature 1 does to a clause at most. Speed is kept on a short lead, so that no text becomes more than a
// tenth longer or shorter even at temperature 2; pitch and its range carry the liveliness.
const (
	speedSwing = .045 // part of the speed
	pitchSwing = 10.0 // of 100
	rangeSwing = 20.0 // of 100: how far the pitch moves within the clause
	plainRange = 50
)

// input is s with what temperature does to its clauses. The program takes orders in the text itself: a control
// character, a number and a letter, which hold from there on.
func (v *voice) input(s *script, o synth.Options) []byte {
	if o.Temperature == 0 {
		return []byte(s.text)
	}
	out := make([]byte, 0, len(s.text)+16*(1+len(s.clauses)))
	start := 0
	for i := range len(s.clauses) + 1 {
		end := len(s.text)
		if i < len(s.clauses) {
			end = s.clauses[i]
		}
		n := noise{seed: uint64(o.Seed), chunk: uint64(o.Chunk), clause: uint64(i)}
		// The logarithm varies, so that slow and fast clauses make up for each other.
		out = order(out, 'S', float64(v.speed)*math.Exp(speedSwing*o.Temperature*n.swing(0)))
		out = order(out, 'P', float64(v.pitch)+pitchSwing*o.Temperature*n.swing(1))
		out = order(out, 'R', plainRange+rangeSwing*o.Temperature*n.swing(2))
		out = append(out, s.text[start:end]...)
		start = end
	}
	return out
}

func order(out []byte, what byte, value float64) []byte {
	out = append(out, 1)
	out = strconv.AppendInt(out, int64(math.Round(value)), 10)
	return append(out, what)
}

// noise is a place in the noise of an utterance. Counting instead of drawing in turn, a clause sounds the same
// whatever was spoken before it.
type noise struct{ seed, chunk, clause uint64 }

// swing is evenly distributed from -1 to 1 and independent for each i.
func (n noise) swing(i uint64) float64 {
	h := mix(n.seed)
	h = mix(h ^ n.chunk)
	h = mix(h ^ n.clause)
	h = mix(h ^ i)
	return float64(h>>11)/(1<<52) - 1
}

// mix is one step of splitmix64.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
