package link

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
)

// tracer records the outcome of utterances, if the program sends spans.
var tracer = otel.Tracer("github.com/swar-tts/swar/runtime/fleet/link")

// withTrace sends the trace of ctx to the pod.
func withTrace(ctx context.Context) context.Context {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return ctx
	}
	carrier := propagation.MapCarrier{}
	otel.GetTextMapPropagator().Inject(ctx, carrier)
	for key, value := range carrier {
		ctx = metadata.AppendToOutgoingContext(ctx, key, value)
	}
	return ctx
}

// fromTrace continues the trace of a router.
func fromTrace(ctx context.Context) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	carrier := propagation.MapCarrier{}
	for _, key := range otel.GetTextMapPropagator().Fields() {
		if values := md.Get(key); len(values) > 0 {
			carrier[key] = values[0]
		}
	}
	if len(carrier) == 0 {
		return ctx
	}
	return otel.GetTextMapPropagator().Extract(ctx, carrier)
}

// noteFrames adds a block to the span of a slot.
func noteFrames(ctx context.Context, frames int) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent("audio", trace.WithAttributes(attribute.Int("frames", frames)))
	}
}
