package launch

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

func TestWhatAProgramSaysOfErrors(t *testing.T) {
	own := errors.New("an error of its own")
	for name, tt := range map[string]struct {
		args []string
		env  string // of SWAR_WORKERS
		err  error  // of the command
		code int
		says string
	}{
		"nothing":          {nil, "", nil, ExitOK, ""},
		"a failure":        {nil, "", errors.New("it failed"), ExitFailure, "swar-test: it failed\n"},
		"one of its own":   {nil, "", own, 7, "swar-test: explained\n"},
		"an interrupt":     {nil, "", errors.Join(Interrupt{syscall.SIGINT}, own), ExitInterrupted, "swar-test: interrupted\n"},
		"a context's end":  {nil, "", context.Canceled, ExitInterrupted, "swar-test: context canceled\n"},
		"a setting it has": {[]string{"--workers", "2"}, "many", nil, ExitOK, ""},
		"wrong use, seen by the command": {
			nil, "", &UsageError{"swar-test run", own}, ExitUsage,
			"swar-test: an error of its own; see `swar-test run --help`\n",
		},
		"an unknown flag": {
			[]string{"--no"}, "", nil, ExitUsage, "swar-test: there is no flag --no; see `swar-test --help`\n",
		},
		"a flag without its value": {
			[]string{"--workers"}, "", nil, ExitUsage, "swar-test: --workers wants a value; see `swar-test --help`\n",
		},
		"a value that is none": {
			[]string{"--workers", "many"}, "", nil, ExitUsage,
			"swar-test: --workers \"many\": want a whole number; see `swar-test --help`\n",
		},
		"a variable that is none": {
			nil, "many", nil, ExitUsage, "swar-test: SWAR_WORKERS: \"many\": want a whole number; see `swar-test --help`\n",
		},
		"an argument too many": {
			[]string{"more"}, "", nil, ExitUsage,
			"swar-test: swar-test takes no argument, but there is \"more\"; see `swar-test --help`\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out, said bytes.Buffer
			p := &Program{
				Name: "swar-test", Out: &Screen{Writer: &out}, Err: &Screen{Writer: &said},
				lookup: func(name string) (string, bool) { return tt.env, name == "SWAR_WORKERS" },
			}
			p.ExitCode = func(err error) int {
				if errors.Is(err, own) {
					return 7
				}
				return ExitFailure
			}
			p.Explain = func(err error) string {
				if errors.Is(err, own) {
					return "explained"
				}
				return err.Error()
			}
			root := &cobra.Command{Use: "swar-test", Args: Exactly(0),
				RunE: func(*cobra.Command, []string) error { return tt.err }}
			root.Flags().Int("workers", 1, "")
			code := p.run(t.Context(), root, tt.args)
			if code != tt.code || said.String() != tt.says || out.Len() > 0 {
				t.Errorf("exit code %d, says %q, writes %q; want %d and %q", code, said.String(), out.String(),
					tt.code, tt.says)
			}
			if wrote := len(tt.args) > 0; code == ExitOK && p.OnCommandLine("workers") != wrote {
				t.Errorf("typed %v, want %v", p.OnCommandLine("workers"), wrote)
			}
		})
	}
}
