package wav

import (
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
