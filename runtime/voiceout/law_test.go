package voiceout

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// every is all samples that there are.
func every() []int16 {
	all := make([]int16, 0, 1<<16)
	for s := math.MinInt16; s <= math.MaxInt16; s++ {
		all = append(all, int16(s))
	}
	return all
}

// decodeMuLaw and decodeALaw are the decoders of G.711, table 2a and 1a, in 16 bits.
func decodeMuLaw(b byte) int {
	b = ^b
	v := (int(b&15)<<3+132)<<(b>>4&7) - 132
	if b&0x80 != 0 {
		return -v
	}
	return v
}

// TestLawsFollowTheirDecisionValues compares both encoders with the tables of G.711: a sample belongs to the last code
// whose decision value it reaches.
func TestLawsFollowTheirDecisionValues(t *testing.T) {
	var mu, a [128]int // decision values in 14 bits (table 2a) and 13 bits (table 1a)
	for code := range 128 {
		segment, step := code>>4, code&15
		mu[code] = max(0, (2*step+33)<<segment-33-1<<segment) // half a step below what it decodes to
		if a[code] = 2 * step; segment > 0 {
			a[code] = (2*step + 32) << (segment - 1)
		}
	}
	last := func(values [128]int, magnitude int) byte {
		code := 127
		for values[code] > magnitude {
			code--
		}
		return byte(code)
	}
	for _, s := range every() {
		wantMu, wantA := byte(0x80), byte(0x80) // which stands for positive
		m, n := int(s)>>2, int(s)>>3
		if s < 0 {
			wantMu, wantA = 0, 0
			m, n = -m, -n-1 // the steps of A-law are as wide on both sides of zero, and no code is for zero alone
		}
		wantMu = ^(wantMu ^ 0x80 | last(mu, m))
		wantA = (wantA | last(a, n)) ^ 0x55
		if got := muLaw(s); got != wantMu {
			t.Fatalf("µ-law of %d is %#x, want %#x", s, got, wantMu)
		}
		if got := aLaw(s); got != wantA {
			t.Fatalf("A-law of %d is %#x, want %#x", s, got, wantA)
		}
	}
}

func TestLawsAreThoseOfPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: python3 is not installed: the laws are compared with the tables only")
	}
	in := filepath.Join(t.TempDir(), "all.s16")
	if err := os.WriteFile(in, encoders[S16](nil, every()), 0o600); err != nil {
		t.Fatal(err)
	}
	for e, name := range map[Encoding]string{MuLaw: "lin2ulaw", ALaw: "lin2alaw"} {
		script := "import sys, audioop; sys.stdout.buffer.write(audioop." + name + "(open(sys.argv[1],'rb').read(), 2))"
		cmd := exec.CommandContext(t.Context(), python, "-W", "ignore", "-c", script, in)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		want, err := cmd.Output()
		if strings.Contains(stderr.String(), "No module named") {
			t.Skip("SKIPPED: this python3 has no audioop: the laws are compared with the tables only")
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		if got := encoders[e](nil, every()); !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than %s of Python", e, name)
		}
	}
}

func TestLawsOfAFewSamples(t *testing.T) {
	for _, tt := range []struct {
		sample   int16
		mu, alaw byte
	}{
		{0, 0xFF, 0xD5}, {-1, 0x7E, 0x55}, {4, 0xFE, 0xD5}, {-4, 0x7E, 0x55}, {16, 0xFD, 0xD4}, {1000, 0xCE, 0xFA}, {-1000, 0x4E, 0x7A},
		{math.MaxInt16, 0x80, 0xAA}, {math.MinInt16, 0x00, 0x2A},
	} {
		if mu, a := muLaw(tt.sample), aLaw(tt.sample); mu != tt.mu || a != tt.alaw {
			t.Errorf("%d is %#x in µ-law and %#x in A-law, want %#x and %#x", tt.sample, mu, a, tt.mu, tt.alaw)
		}
	}
	if muLaw(0) != MuLawSilence || aLaw(0) != ALawSilence {
		t.Error("silence is not what a sample of 0 becomes")
	}
}

func TestOtherEncodings(t *testing.T) {
	samples := []int16{0, 1, -1, 16384, math.MaxInt16, math.MinInt16}
	if got, want := encoders[S16]([]byte{9}, samples),
		[]byte{9, 0, 0, 1, 0, 0xff, 0xff, 0, 0x40, 0xff, 0x7f, 0, 0x80}; !bytes.Equal(got, want) {
		t.Errorf("s16le: %x, want %x", got, want)
	}
	got := encoders[F32](nil, samples)
	for i, want := range []float32{0, 1. / 32768, -1. / 32768, .5, 32767. / 32768, -1} {
		if f := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])); f != want {
			t.Errorf("%d is the float %v, want %v", samples[i], f, want)
		}
	}
}
