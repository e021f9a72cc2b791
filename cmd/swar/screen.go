package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// screen is where a command writes for people: coloured if it is a terminal that wants colours.
type screen struct {
	io.Writer
	terminal bool
	coloured bool
}

func newScreen(f *os.File) *screen {
	s := &screen{Writer: f, terminal: term.IsTerminal(int(f.Fd()))}
	s.coloured = s.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

func (s *screen) bold(text string) string   { return s.colour("1", text) }
func (s *screen) dim(text string) string    { return s.colour("2", text) }
func (s *screen) red(text string) string    { return s.colour("31", text) }
func (s *screen) green(text string) string  { return s.colour("32", text) }
func (s *screen) yellow(text string) string { return s.colour("33", text) }

func (s *screen) colour(code, text string) string {
	if !s.coloured {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// isTerminal reports whether somebody types into r.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
