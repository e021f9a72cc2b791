package engine

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
)

// WorkerFlags set how many utterances are spoken at the same time.
type WorkerFlags struct {
	count         int
	oversubscribe bool
}

// Define defines --workers and --oversubscribe.
func (w *WorkerFlags) Define(f *pflag.FlagSet) {
	f.IntVar(&w.count, "workers", 0, "speak `n` utterances at the same time (default the whole CPUs of this process)")
	f.BoolVar(&w.oversubscribe, "oversubscribe", false, "allow more workers than whole CPUs")
}

// Check refuses more workers than the process has CPUs, unless a flag allows it. The default is the number of whole
// CPUs.
func (w *WorkerFlags) Check(cmd *cobra.Command, cpus launch.CPUs) error {
	whole := cpus.Whole()
	switch {
	case cmd.Flags().Changed("workers") && w.count < 1:
		return launch.BadUsage(cmd, "--workers %d: want at least 1", w.count)
	case w.count > whole && !w.oversubscribe:
		return launch.BadUsage(cmd,
			"--workers %d exceeds the %s of this process (%v), and streams would slow one another down; "+
				"use --workers %d, or allow it with --oversubscribe", w.count, launch.Plural(whole, "whole CPU"), cpus, whole)
	}
	if w.count == 0 {
		w.count = whole
	}
	return nil
}

// Count returns how many workers there shall be, after [WorkerFlags.Check].
func (w *WorkerFlags) Count() int { return w.count }
