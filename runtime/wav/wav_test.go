package wav

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

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
