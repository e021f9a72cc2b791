package launch

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"
)

// LogFlags set level and format of the log.
type LogFlags struct {
	level  *string
	format *string
}

// Define defines --log-level and --log-format.
func (l *LogFlags) Define(f *pflag.FlagSet) {
	l.level = Choice(f, "log-level", "lowest logged level", logLevels...)
	l.format = Choice(f, "log-format", "how the log on standard error is written", logFormats...)
}

// Open returns the log of a program on its standard error.
func (l *LogFlags) Open(w io.Writer, terminal bool) (*slog.Logger, error) {
	return newLog(w, terminal, *l.level, *l.format)
}

// OnlyJSON reports whether every line must be JSON, so that nothing else may be printed between them.
func (l *LogFlags) OnlyJSON() bool { return *l.format == "json" }

// The values of the flags, the default first.
var (
	logLevels  = []string{"info", "debug", "warn", "error"}
	logFormats = []string{"auto", "text", "json"}
)

// newLog returns a log of the given level and format, which are among [logLevels] and [logFormats], on w. The format
// auto is text when w is a terminal and JSON otherwise: people read the one, programs the other.
func newLog(w io.Writer, terminal bool, level, format string) (*slog.Logger, error) {
	var o slog.HandlerOptions
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q: %w", level, err)
	}
	o.Level = l
	if format == "auto" {
		format = "json"
		if terminal {
			format = "text"
		}
	}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, &o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &o)), nil
	}
	return nil, fmt.Errorf("log format %q: want auto, text or json", format)
}
