package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// everyFailure is one error for each answer that is not a success.
var everyFailure = []error{
	speech.ErrTextEmpty, speech.UnknownVoice("x"), speech.ErrBadFormat, speech.ErrBadSampleRate, speech.ErrBadSpeed,
	speech.ErrBadTemperature,
	speech.ErrNothingToSay, speech.ErrBadDisclosure, speech.ErrTextNotUTF8, speech.ErrTextNUL, errSeedRange,
	errRequestID, errTimestamps, invalidJSON("x"), errBodyBroken,
	speech.UnknownLexicon("lex_…"), errInputType, errRawSSML, errSSMLAppended,
	&speech.Refusal{Code: speech.CodeUnsupportedSSML, Text: "ssml: WHAT is not supported"},
	access.ErrMissingKey, access.ErrInvalidKey, speech.VoiceNotAllowed("x"), errNotFound, errMethodNotAllowed,
	errBodyTimeout,
	speech.ErrTextTooLong, speech.TooManyChunks(65), errBodyTooLarge, errEncodedBody, errUpgradeRequired,
	&speech.EngineError{}, speech.ErrWorkerGone, speech.ErrBusy, speech.ErrWarming, access.ErrUnavailable,
	speech.ErrTimeout, speech.ErrUnreadAudio,
}

// TestDocsListEveryFailure compares the errors table of docs/api.md with what is answered: status, text and code.
func TestDocsListEveryFailure(t *testing.T) {
	docs, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	row := regexp.MustCompile("(?m)^\\| (\\d{3}) \\| `([^`]+)` \\| `([^`]+)` \\|")
	for _, m := range row.FindAllStringSubmatch(string(docs), -1) {
		rows = append(rows, strings.Join(m[1:], " "))
	}
	var want []string
	malformed := errMalformed
	malformed.text += ": REASON"
	for _, f := range []failure{malformed, errExpectation, errHeaderSize, errTransferCode, errHTTPVersion} {
		want = append(want, fmt.Sprintf("%d %s %s", f.status, f.text, f.code))
	}
	for _, err := range everyFailure {
		f := failureOf(err)
		text := strings.NewReplacer("65", "N", "'x'", "'NAME'", "voice x ", "voice NAME ", "JSON: x",
			"JSON: REASON").Replace(f.text)
		want = append(want, fmt.Sprintf("%d %s %s", f.status, text, f.code))
	}
	for _, row := range want {
		if !slices.Contains(rows, row) {
			t.Errorf("docs/api.md has no row %q", row)
		}
	}
	for _, row := range rows {
		if !slices.Contains(want, row) && !strings.Contains(row, "draining") && !strings.Contains(row, "FIELD") {
			t.Errorf("docs/api.md has a row that nothing answers with: %q", row)
		}
	}
}

func TestFailuresAreFoundThroughWrapping(t *testing.T) {
	for _, err := range everyFailure {
		want := failureOf(err)
		if got := failureOf(fmt.Errorf("doing something: %w", err)); got != want {
			t.Errorf("%v wrapped: %+v, want %+v", err, got, want)
		}
		if want.text == "" || want.code == "" || want.status < 400 {
			t.Errorf("%v: %+v", err, want)
		}
		if want.retry != (want.status == 503) {
			t.Errorf("%v: retry %v with status %d", err, want.retry, want.status)
		}
	}
}

func TestWhatIsOurs(t *testing.T) {
	for _, err := range everyFailure {
		f := failureOf(err)
		want := f.status >= 500 && f.status != 503 && err != speech.ErrUnreadAudio
		if got := f.ours(); got != want {
			t.Errorf("%v is ours: %v, want %v", err, got, want)
		}
	}
}

func TestEndedByClient(t *testing.T) {
	tests := []struct {
		sentence string
		err      error
		want     bool
	}{
		{"the request's context ended", context.Canceled, true},
		{"a write failed", fmt.Errorf("%w: broken pipe", speech.ErrClientGone), true},
		{"a write took too long", speech.ErrClientSlow, true},
		{"time ran out", speech.ErrTimeout, false},
		{"an engine cancelled something of its own", &speech.EngineError{Err: context.Canceled}, false},
		{"an engine failed", errors.New("broken"), false},
		{"nothing happened", nil, false},
	}
	for _, tt := range tests {
		if got := endedByClient(tt.err); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.sentence, got, tt.want)
		}
	}
}
