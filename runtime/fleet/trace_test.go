package fleet_test

import (
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// traced begins to keep spans, for as long as the process lives: who has asked for a tracer keeps the first provider.
var traced = sync.OnceValue(func() *tracetest.InMemoryExporter {
	spans := tracetest.NewInMemoryExporter()
	otel.SetTracerProvider(sdk.NewTracerProvider(sdk.WithSyncer(spans)))
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return spans
})

// TestOneTraceFromTheClientToTheFrames follows an utterance that waits, over the network into the pod.
func TestOneTraceFromTheClientToTheFrames(t *testing.T) {
	spans := traced()
	spans.Reset()
	held := newGate(0)
	w := newWorker(t, 1, synthtest.Config{Before: held.before})
	s, _ := newRouter(t, fleet.Config{}, w)
	first := make(chan error)
	go func() {
		_, err := s.Speak(t.Context(), utterance("Hi."), speech.Turn{}, &speechtest.Recorder{})
		first <- err
	}()
	<-held.reached
	ctx, client := otel.Tracer("test").Start(t.Context(), "client")
	second := make(chan error)
	go func() {
		_, err := s.Speak(ctx, utterance("Namaste."), speech.Turn{}, &speechtest.Recorder{})
		second <- err
	}()
	waitUntil(t, "the second one waits", func() bool { return s.Streams().Queued == 1 })
	close(held.open)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	client.End()
	waitUntil(t, "the pod has ended its span", func() bool { return len(ofTrace(spans, client)) == 5 })
	byName := make(map[string]tracetest.SpanStub)
	for _, span := range ofTrace(spans, client) {
		byName[span.Name] = span
	}
	for name, parent := range map[string]string{"speak": "client", "queue": "speak", "attempt": "speak",
		"slot": "attempt"} {
		if got, want := byName[name].Parent.SpanID(), byName[parent].SpanContext.SpanID(); !got.IsValid() ||
			got != want {
			t.Errorf("the parent of %s is %v, want that of %s, %v", name, got, parent, want)
		}
	}
	if len(byName["slot"].Events) == 0 || byName["slot"].Events[0].Name != "audio" {
		t.Errorf("the slot notes %v, want its frames", byName["slot"].Events)
	}
}

func ofTrace(spans *tracetest.InMemoryExporter, of trace.Span) (all tracetest.SpanStubs) {
	for _, span := range spans.GetSpans() {
		if span.SpanContext.TraceID() == of.SpanContext().TraceID() {
			all = append(all, span)
		}
	}
	return all
}
