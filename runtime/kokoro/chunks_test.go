package kokoro_test

import (
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/kokoro"
	"github.com/swar-tts/swar/runtime/pipeline/pipelinetest"
	"github.com/swar-tts/swar/runtime/speech"
)

// TestTextsFullOfNumbers: texts of 4,000 characters that are read with many more are spoken, not refused.
func TestTextsFullOfNumbers(t *testing.T) {
	s := pipelinetest.Open(t, kokoro.StandIn(nil), 1)
	for _, line := range []string{
		"Order #IN-40217 kal 5:30 PM tak, OTP 482913, call 98765 43210. ",
		"98765 43210, ",
	} {
		n, err := s.Normalize(t.Context(), speech.Utterance{Text: strings.Repeat(line,
			speech.MaxChars/len([]rune(line)))})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%q: %d chunks of %d characters", line, len(n.Chunks), len([]rune(n.Text)))
		if len(n.Chunks) > speech.MaxChunks {
			t.Errorf("%q again and again: %d chunks, of which %d are allowed", line, len(n.Chunks), speech.MaxChunks)
		}
	}
}
