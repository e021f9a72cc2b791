package wav

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestHeaderWithTags(t *testing.T) {
	const format = "57415645666d74201000000001000100c05d000080bb000002001000"
	for name, tt := range map[string]struct {
		bytes uint32
		tags  []string
		want  string
	}{
		"streaming": {
			Streaming, []string{"A=1", "B=2"},
			"52494646ffffffff" + format + "4c495354" + "24000000" + "494e464f" +
				"49534654" + "05000000" + "737761720000" + "49434d54" + "09000000" + "413d313b20423d320000" + "64617461ffffffff",
		},
		"of known length, and a tag of odd length": {
			3840, []string{"A=1"},
			"524946464a0f0000" + format + "4c495354" + "1e000000" + "494e464f" +
				"49534654" + "05000000" + "737761720000" + "49434d54" + "04000000" + "413d3100" + "64617461000f0000",
		},
	} {
		if got := HeaderWithTags(tt.bytes, tt.tags); hex.EncodeToString(got) != tt.want {
			t.Errorf("%s: %x, want %s", name, got, tt.want)
		}
	}
}

func TestHeader(t *testing.T) {
	tests := map[string]struct {
		bytes uint32
		want  string
	}{
		"streaming": {Streaming, "52494646ffffffff57415645666d7420100000000100010" + "0c05d000080bb00000200100064617461ffffffff"},
		"empty":     {0, "524946462400000057415645666d7420100000000100010" + "0c05d000080bb0000020010006461746100000000"},
		"one frame": {speech.FrameBytes, "52494646240f000057415645666d7420100000000100010" + "0c05d000080bb00000200100064617461000f0000"},
		"the most":  {math.MaxUint32 - 37, "52494646feffffff57415645666d7420100000000100010" + "0c05d000080bb00000200100064617461daffffff"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Header(tt.bytes); hex.EncodeToString(got[:]) != tt.want {
				t.Errorf("Header(%d) = %x, want %s", tt.bytes, got, tt.want)
			}
		})
	}
}

func TestHeaderOfOtherSounds(t *testing.T) {
	tests := map[string]struct {
		sound Sound
		bytes uint32
		want  string
	}{
		"PCM at 8 kHz": {
			Sound{PCM, 16, 8000}, 1280,
			"5249464624050000" + "57415645666d7420" + "10000000" + "01000100401f0000803e000002001000" + "6461746100050000",
		},
		"µ-law, streaming": {
			Sound{MuLaw, 8, 8000}, Streaming,
			"52494646ffffffff" + "57415645666d7420" + "12000000" + "07000100401f0000401f0000010008000000" +
				"6661637404000000ffffffff" + "64617461ffffffff",
		},
		"A-law of known length": {
			Sound{ALaw, 8, 16000}, 640,
			"52494646b2020000" + "57415645666d7420" + "12000000" + "06000100803e0000803e0000010008000000" +
				"666163740400000080020000" + "6461746180020000",
		},
		"floats of known length": {
			Sound{Float, 32, 44100}, 8,
			"524946463a000000" + "57415645666d7420" + "12000000" + "0300010044ac000010b1020004002000" + "0000" +
				"666163740400000002000000" + "6461746108000000",
		},
	}
	for name, tt := range tests {
		if got := hex.EncodeToString(tt.sound.AppendHeader(nil, tt.bytes)); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestSetLengths(t *testing.T) {
	audio := make([]byte, 640)
	for _, s := range []Sound{native, {ALaw, 8, 8000}, {MuLaw, 8, 8000}, {Float, 32, 8000}} {
		file := append(s.AppendHeader(nil, Streaming), audio...)
		if want := append(s.AppendHeader(nil, 640), audio...); !SetLengths(file, len(file)) ||
			!bytes.Equal(file, want) {
			t.Errorf("tag %d: the header is %x, want %x", s.Tag, file[:58], want[:58])
		}
	}
	tagged := append(HeaderWithTags(Streaming, []string{"A=1"}), audio...)
	if want := append(HeaderWithTags(640, []string{"A=1"}), audio...); !SetLengths(tagged, len(tagged)) ||
		!bytes.Equal(tagged, want) {
		t.Error("with tags: the lengths are wrong")
	}
	for name, file := range map[string][]byte{
		"nothing":            nil,
		"no WAV":             make([]byte, 100),
		"a header cut short": native.AppendHeader(nil, 0)[:43],
		"no data":            append(native.AppendHeader(nil, 0)[:36], "junk\xff\xff\xff\xffabcdefgh"...),
		"a chunk of no end":  append(native.AppendHeader(nil, 0)[:36], "junk\x01\x00\x00\x00"...),
		"chunks to the end":  append(native.AppendHeader(nil, 0)[:36], "junk\x00\x00\x00\x00"...),
		"a format cut short": append(append(native.AppendHeader(nil, 0)[:12], "LIST\x10\x00\x00\x00"...), append(make([]byte, 16), "fmt \x10\x00\x00\x00"...)...),
		"a length near 2^32": append(native.AppendHeader(nil, 0)[:36], "junk\xfe\xff\xff\xffabcdefgh"...),
	} {
		before := bytes.Clone(file)
		if SetLengths(file, len(file)) || !bytes.Equal(file, before) {
			t.Errorf("%s: taken for a WAV", name)
		}
	}
}

func TestTheNativeHeaderAllocatesNothing(t *testing.T) {
	var h [HeaderBytes]byte
	if got := testing.AllocsPerRun(100, func() { h = Header(Streaming) }); got != 0 {
		t.Errorf("%v allocations for %x, want none", got, h[:4])
	}
}
