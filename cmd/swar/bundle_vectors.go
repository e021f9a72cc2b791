package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/onnx/parity"
)

// verifyVectors prints one line for each case and quantity, in a form that scripts rely on: case, quantity, difference,
// tolerance and verdict, two spaces in between, then remarks. A relative difference is in percent.
func (a *app) verifyVectors(ctx context.Context, dir, precision string, r engine.Runtime) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s", dir)
	}
	if err := r.Load(); err != nil {
		return err
	}
	c := parity.Config{Dir: dir, Library: r.Library, Precision: precision}
	shown := a.NewTask()
	if a.Err.Terminal { // elsewhere the lines themselves show how far it is
		c.Progress = shown.At
	}
	var cases, passed, failed, skipped int
	last := ""
	err := parity.Check(ctx, c, func(r parity.Result) {
		shown.Clear()
		if r.Case != last {
			cases, last = cases+1, r.Case
		}
		verdict, note := a.Out.Green("ok"), r.Note
		switch {
		case r.Skipped:
			skipped++
			verdict = "skipped"
		case r.OK:
			passed++
		default:
			failed++
			verdict = a.Out.Red("FAIL")
			if r.Run != "" {
				note = joined(": ", "run "+r.Run, note)
			}
		}
		note = strings.ReplaceAll(note, "\n", "; ") // an error may be several
		fmt.Fprintln(a.Out, joined("  ", r.Case, r.Quantity, difference(r), tolerance(r), verdict, note))
	})
	shown.Clear()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s: %d ok, %d failed, %d skipped\n", launch.Plural(cases, "case"), passed, failed, skipped)
	if failed > 0 {
		return fmt.Errorf("%d of %d comparisons with the reference failed; see the lines with FAIL", failed, passed+failed)
	}
	return nil
}

// joined leaves out what is empty.
func joined(with string, parts ...string) (all string) {
	for _, p := range parts {
		if p != "" && all != "" {
			all += with
		}
		all += p
	}
	return all
}

// difference is "-" where nothing could be compared.
func difference(r parity.Result) string {
	switch {
	case r.Skipped || r.Difference > 1e30:
		return "-"
	case r.Difference == 0:
		return "0"
	case r.Measure == parity.RelativeRMS:
		return fmt.Sprintf("%.2f %% rms", 100*r.Difference)
	case r.Tolerance == 0:
		return strconv.FormatFloat(r.Difference, 'g', -1, 64) // a count
	}
	return fmt.Sprintf("%.1e", r.Difference)
}

func tolerance(r parity.Result) string {
	if r.Skipped {
		return "-"
	}
	if r.Tolerance == 0 {
		return "0"
	}
	if r.Measure == parity.RelativeRMS {
		return fmt.Sprintf("%.3g %% rms", 100*r.Tolerance)
	}
	return strconv.FormatFloat(r.Tolerance, 'e', -1, 64)
}
