// Command benchengine measures the neural engine beside its peer, sherpa-onnx, on random models of the same real sizes,
// and writes the table of docs/benchmarks.md.
//
// The machine may be busy: everything is time of the processor, on one thread; what is compared is measured in turns,
// several rounds of it, and the table holds medians. Without npm it measures the engine alone and says so.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/swar-tts/swar/runtime/onnx"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchengine:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	var (
		library = flag.String("library", "", "ONNX Runtime; empty means where `make onnxruntime` puts it")
		docs    = flag.String("docs", "", "file to write the table into, between its markers; empty means print only")
		cache   = flag.String("cache", ".cache/benchengine", "folder for sherpa-onnx")
		rounds  = flag.Int("rounds", 5, "how often everything is measured")
		quick   = flag.Bool("quick", false, "one short round of int8 alone, to see that it works")
		speaks  = flag.String("speak", "", "used by the program itself: speak with this model what the input says")
		streams = flag.Int("streams", 1, "used with -speak: so many streams at once")
	)
	flag.Parse()
	path, err := onnx.FindLibrary(*library)
	if err != nil {
		return err
	}
	if *speaks != "" {
		return serve(ctx, *speaks, path, *streams, os.Stdin, os.Stdout)
	}
	if *quick {
		*rounds = 1
	}
	tmp, err := os.MkdirTemp("", "benchengine")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	b := &bench{
		ctx: ctx, library: path, tmp: tmp, rounds: *rounds, quick: *quick, figures: map[string]*figures{},
		started: time.Now(),
		kernel:  onnx.Kernel(), precisions: []string{bundle.Int8, bundle.FP32},
	}
	if *quick {
		b.precisions = b.precisions[:1]
	}
	peer, err := installPeer(ctx, *cache)
	if err != nil {
		b.skipped = err.Error()
		fmt.Fprintf(os.Stderr, "\nSKIPPED: sherpa-onnx is not measured: %v\n\n", err)
	}
	b.peer = peer
	if err := b.measure(); err != nil {
		return err
	}
	host, now := hostName(), time.Now()
	fmt.Print(b.table(host, now))
	if *docs == "" {
		return nil
	}
	return writeBetweenMarkers(*docs, b.kernel, b.summary(host, now))
}

// bench measures. What it finds is in figures, by name.
type bench struct {
	ctx        context.Context // of the whole run, which is all this type is for
	library    string
	kernel     string // that multiplies integers
	tmp        string
	peer       *peer // nil without sherpa-onnx
	skipped    string
	rounds     int
	quick      bool
	precisions []string
	figures    map[string]*figures
	stepBytes  map[string]int64

	started     time.Time
	done, steps int
}

// add adds a figure.
func (b *bench) add(name string, value float64) {
	f := b.figures[name]
	if f == nil {
		f = &figures{}
		b.figures[name] = f
	}
	f.values = append(f.values, value)
}

// say shows what happens and how much is left.
func (b *bench) say(what string) {
	b.done++
	fmt.Fprintf(os.Stderr, "%3d of %d, %3.0f s: %s\n", b.done, b.steps, time.Since(b.started).Seconds(), what)
}

func (b *bench) native(precision string) string { return filepath.Join(b.tmp, "bundle-"+precision) }

func (b *bench) public(layout, precision string) string {
	return filepath.Join(b.tmp, layout+"-"+precision)
}

func (b *bench) measure() error {
	speakers := len(b.precisions) + 1
	writes := 2*len(b.precisions) + 1
	if b.peer != nil {
		speakers, writes = speakers+len(b.precisions), writes+len(b.precisions)
	}
	b.steps = writes + b.rounds*(len(b.precisions)+1+speakers) + 2*len(b.precisions)
	if err := b.writeModels(); err != nil {
		return err
	}
	for _, part := range []func() error{b.measureGraphs, b.measureProducts, b.measureSpeakers, b.measureMemory} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) writeModels() error {
	for _, precision := range b.precisions {
		r := convert.Full()
		r.Precision = precision
		b.say("making a random bundle of full size, " + precision)
		if _, err := convert.SynthRandom(b.native(precision), r); err != nil {
			return err
		}
		layouts := []string{}
		if precision == bundle.Int8 {
			layouts = append(layouts, layouttest.KevinAHMv2)
		}
		if b.peer != nil {
			layouts = append(layouts, layouttest.Sherpa)
		}
		for _, layout := range layouts {
			b.say("making the same model as " + layout + ", " + precision)
			if err := layouttest.Write(b.public(layout, precision), layout, r); err != nil {
				return err
			}
		}
	}
	return nil
}
