package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes, which scripts rely on. A program may have more.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// Program is a program of Swar and the terminal that it was called from.
type Program struct {
	Name       string // in messages
	Invocation string // the command as the user typed it, perhaps with a path
	In         io.Reader
	Out        *Screen
	Err        *Screen

	// ExitCode and Explain are asked about errors that not every program knows. Without them the code is [ExitFailure],
	// and the text that of the error.
	ExitCode func(error) int
	Explain  func(error) string

	lookup     func(string) (string, bool) // the environment
	typed      map[string]bool             // flags that are on the command line
	understood bool                        // the command line and the environment were
}

// NewProgram returns the program of this process.
func NewProgram(name string) *Program {
	return &Program{
		Name: name, Invocation: os.Args[0], In: os.Stdin, Out: newScreen(os.Stdout), Err: newScreen(os.Stderr),
		lookup: os.LookupEnv,
	}
}

// Main executes the command that the command line names and returns the exit code. A signal ends the context of the
// command. A second signal ends the process.
func (p *Program) Main(root *cobra.Command) int {
	ctx, stop := Signals(context.Background(), func(s os.Signal) {
		fmt.Fprintf(p.Err, "%s: stopped at once by a second signal (%v)\n", p.Name, s)
		os.Exit(ExitInterrupted)
	})
	defer stop()
	return p.run(ctx, root, os.Args[1:])
}

// run executes the command that args name, and returns its exit code after printing the error.
func (p *Program) run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := p.Settings(cmd)
		p.understood = err == nil
		return err
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !p.understood {
		err = &UsageError{cmd.CommandPath(), inWords(err)}
	}
	if err == nil {
		return ExitOK
	}
	fmt.Fprintln(p.Err, p.Err.Red(p.Name+":"), p.explain(err))
	return p.exitCode(err)
}

// Settings takes what the command line leaves out from the environment. Commands find that done; only what runs
// instead of one, such as a completion, has to call it.
func (p *Program) Settings(cmd *cobra.Command) error {
	p.typed = make(map[string]bool)
	cmd.Flags().Visit(func(f *pflag.Flag) { p.typed[f.Name] = true })
	return FromEnv(cmd.Flags(), p.lookup)
}

// OnCommandLine reports whether a flag was set on the command line, not by the environment.
func (p *Program) OnCommandLine(flag string) bool { return p.typed[flag] }

func (p *Program) exitCode(err error) int {
	if isInterrupt(err) || errors.Is(err, context.Canceled) {
		return ExitInterrupted
	}
	if _, ok := errors.AsType[*UsageError](err); ok {
		return ExitUsage
	}
	if p.ExitCode == nil {
		return ExitFailure
	}
	return p.ExitCode(err)
}

// explain says in a sentence what went wrong and what to do about it.
func (p *Program) explain(err error) string {
	if isInterrupt(err) {
		return "interrupted"
	}
	if e, ok := errors.AsType[*UsageError](err); ok {
		return fmt.Sprintf("%v; see `%s --help`", e.Err, e.Command)
	}
	if p.Explain == nil {
		return err.Error()
	}
	return p.Explain(err)
}

func isInterrupt(err error) bool {
	_, ok := errors.AsType[Interrupt](err)
	return ok
}

// UsageError is a command line that was not understood.
type UsageError struct {
	Command string // its path, such as swar serve
	Err     error
}

func (e *UsageError) Error() string { return e.Err.Error() }

// BadUsage returns an error about how the command line is used. It may be returned by a command that runs already.
func BadUsage(cmd *cobra.Command, format string, args ...any) error {
	return &UsageError{cmd.CommandPath(), fmt.Errorf(format, args...)}
}

// Interrupted makes err the reason why ctx ended, if it did.
func Interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// PrintJSON prints v for programs, and for people who look at it.
func (p *Program) PrintJSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
