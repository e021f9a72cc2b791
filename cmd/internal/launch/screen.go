package launch

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Screen is where a command writes for people: coloured if it is a terminal that wants colours.
type Screen struct {
	io.Writer
	Terminal bool
	Coloured bool
}

func newScreen(f *os.File) *Screen {
	s := &Screen{Writer: f, Terminal: term.IsTerminal(int(f.Fd()))}
	s.Coloured = s.Terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

// Bold returns text in bold type.
func (s *Screen) Bold(text string) string { return s.colour("1", text) }

// Dim returns text in faint type.
func (s *Screen) Dim(text string) string { return s.colour("2", text) }

// Red returns text in red.
func (s *Screen) Red(text string) string { return s.colour("31", text) }

// Green returns text in green.
func (s *Screen) Green(text string) string { return s.colour("32", text) }

// Yellow returns text in yellow.
func (s *Screen) Yellow(text string) string { return s.colour("33", text) }

func (s *Screen) colour(code, text string) string {
	if !s.Coloured {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// IsTerminal reports whether r is a terminal.
func IsTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
