package wire

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestErrorsArriveAsTheyWere(t *testing.T) {
	for name, tt := range map[string]struct{ err, want error }{
		"busy":                     {speech.ErrBusy, speech.ErrBusy},
		"busy, with what was done": {fmt.Errorf("taking a slot: %w", speech.ErrBusy), speech.ErrBusy},
		"warming":                  {speech.ErrWarming, speech.ErrWarming},
		"draining":                 {speech.ErrDraining, speech.ErrDraining},
		"cordoned":                 {ErrCordoned, ErrCordoned},
		"timeout":                  {speech.ErrTimeout, speech.ErrTimeout},
		"a deadline":               {context.DeadlineExceeded, speech.ErrTimeout},
		"unheard":                  {speech.ErrUnreadAudio, speech.ErrUnreadAudio},
		"worker gone":              {speech.ErrWorkerGone, speech.ErrWorkerGone},
		"cancelled":                {ErrCancelled, ErrCancelled},
		"a context that ended":     {context.Canceled, ErrCancelled},
		"client slow":              {speech.ErrClientSlow, speech.ErrClientSlow},
		"client gone":              {speech.ErrClientGone, speech.ErrClientGone},
		"a refusal":                {speech.ErrNothingToSay, speech.ErrNothingToSay},
		"an unknown voice":         {speech.UnknownVoice("meera"), speech.UnknownVoice("meera")},
	} {
		t.Run(name, func(t *testing.T) {
			got := travel(t, NewFailure(tt.err)).Err()
			if !errors.Is(got, tt.want) || got.Error() != tt.want.Error() {
				t.Errorf("arrived as %v, want %v", got, tt.want)
			}
		})
	}
	if NewFailure(nil) != nil || (*Failure)(nil).Err() != nil {
		t.Error("no error arrived as one")
	}
}

func TestTheCauseOfAnEngineErrorStaysInThePod(t *testing.T) {
	secret := errors.New("/models/secret: no such file")
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"with a text for the client": {&speech.EngineError{Text: "the voice is broken", Err: secret}, "the voice is broken"},
		"any other error":            {fmt.Errorf("loading: %w", secret), "engine error"},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := errors.AsType[*speech.EngineError](travel(t, NewFailure(tt.err)).Err())
			if !ok || got.Error() != tt.want || got.Err != nil {
				t.Errorf("arrived as %v, want %q and nothing of the cause", got, tt.want)
			}
		})
	}
}

func TestACodeOfANewerPodIsAnEngineError(t *testing.T) {
	for _, f := range []*Failure{{Code: 99, Text: "meant for a newer router"}, {}} {
		if got := f.Err(); got == nil || got.Error() != "engine error" {
			t.Errorf("code %d arrived as %v", f.Code, got)
		}
	}
}

func TestANewerProtocolIsRefusedByName(t *testing.T) {
	got := travel(t, NewFailure(NewerProtocol("the router", 7))).Err()
	if _, ok := errors.AsType[*ProtocolError](got); !ok ||
		!strings.Contains(got.Error(), "the router speaks protocol 7") {
		t.Errorf("arrived as %v", got)
	}
}

// TestEveryErrorOfTheVocabularyHasACode reads the vocabulary, so that a later error cannot be forgotten.
func TestEveryErrorOfTheVocabularyHasACode(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../speech/refusal.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]error{
		"ErrBusy": speech.ErrBusy, "ErrWarming": speech.ErrWarming, "ErrDraining": speech.ErrDraining, "ErrTimeout": speech.ErrTimeout,
		"ErrWorkerGone": speech.ErrWorkerGone, "ErrClientSlow": speech.ErrClientSlow, "ErrClientGone": speech.ErrClientGone,
		"ErrUnreadAudio": speech.ErrUnreadAudio,
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(v.Names[0].Name, "Err") {
			return true
		}
		if _, isRefusal := v.Values[0].(*ast.UnaryExpr); isRefusal {
			return true // travels as code and text
		}
		found++
		err := known[v.Names[0].Name]
		if err == nil || NewFailure(err).Code == Failure_ENGINE {
			t.Errorf("%s has no code", v.Names[0].Name)
		}
		return true
	})
	if found != len(known) {
		t.Errorf("the vocabulary has %d errors, this test knows %d", found, len(known))
	}
}
