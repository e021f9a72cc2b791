package espeak

import (
	"github.com/swar-tts/swar/runtime/resample"
	"github.com/swar-tts/swar/runtime/speech"
)

// programRate is what the program speaks at, in Hz. Of the service's 24,000 one frame is exactly 1,764 samples of it.
const programRate = 22050

// toService looks ahead by 24 samples (1.1 ms), which the first frame waits for. It is flat to 9 kHz, where the
// program's voices end, and puts images more than 80 dB down. [resample.Recorded] keeps more, and would wait for
// 72.
var toService = func() *resample.Filter {
	f, err := resample.New(programRate, speech.SampleRate, resample.Shape{Half: 24, Cutoff: .94, Beta: 9})
	if err != nil {
		panic(err)
	}
	return f
}()
