// Package trace exports OpenTelemetry spans of requests to a collector, by OTLP over gRPC. It is off by default.
package trace

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/swar-tts/swar/cmd/internal/launch"
)

// flushLimit is for spans that are on their way when the program ends.
const flushLimit = 3 * time.Second

// Flags say where spans go.
type Flags struct {
	collector string
	share     float64
}

// Define defines --otlp and --otlp-share.
func (t *Flags) Define(f *pflag.FlagSet) {
	f.StringVar(&t.collector, "otlp", "", "send traces to the collector at this `URL`, such as http://collector:4317; "+
		"https:// uses TLS (default: no traces)")
	f.Float64Var(&t.share, "otlp-share", 1, "trace this share of the requests without a trace parent, 0 to 1")
}

// Check refuses an address that cannot be a collector.
func (t *Flags) Check(cmd *cobra.Command) error {
	if t.share < 0 || t.share > 1 {
		return launch.BadUsage(cmd, "--otlp-share %v: want 0 to 1", t.share)
	}
	if t.collector == "" {
		return nil
	}
	u, err := url.Parse(t.collector)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return launch.BadUsage(cmd, "--otlp %q: want a URL such as http://collector:4317", t.collector)
	}
	return nil
}

// Open lets the program's spans be sent. The returned function sends what is left, and must be called at the end. A
// collector that does not answer costs nothing but its spans.
func (t *Flags) Open(ctx context.Context, program, version string) (stop func(), err error) {
	if t.collector == "" {
		return func() {}, nil
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(t.collector))
	if err != nil {
		return nil, fmt.Errorf("--otlp %s: %w", t.collector, err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(exporter),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(t.share))),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", program), attribute.String("service.version", version))),
	)
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) // an unreachable collector would log every batch
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
		defer cancel()
		_ = provider.Shutdown(ctx) // the process ends anyway
	}, nil
}
