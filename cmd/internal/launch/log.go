package launch

import (
	"fmt"
	"io"
	"log/slog"
)

// LogLevels and LogFormats are the values of --log-level and --log-format, the default first.
var (
	LogLevels  = []string{"info", "debug", "warn", "error"}
	LogFormats = []string{"auto", "text", "json"}
)

// NewLog returns a log of the given level and format, which are among [LogLevels] and [LogFormats], on w. The format auto is text when
// w is a terminal and JSON otherwise: people read the one, programs the other.
func NewLog(w io.Writer, terminal bool, level, format string) (*slog.Logger, error) {
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
