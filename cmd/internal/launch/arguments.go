package launch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exactly wants n arguments, which the command's usage names.
func Exactly(n int) cobra.PositionalArgs { return Between(n, n) }

// Between requires at least least and at most most arguments.
func Between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, names, _ := strings.Cut(cmd.Use, " ")
		switch n := len(args); {
		case least <= n && n <= most:
			return nil
		case most == 0:
			return fmt.Errorf("%s takes no argument, but there is %q", cmd.CommandPath(), args[0])
		case n == 0:
			return fmt.Errorf("%s wants %s", cmd.CommandPath(), names)
		case n > most && most == 1:
			return fmt.Errorf("%s wants %s, and got %s (quote arguments with spaces)", cmd.CommandPath(), names,
				Plural(n, "argument"))
		default:
			return fmt.Errorf("%s wants %s, and got %s", cmd.CommandPath(), names, Plural(n, "argument"))
		}
	}
}

// OneOf checks an argument that is one of a few words.
func OneOf(cmd *cobra.Command, what, word string, words []string) error {
	if !slices.Contains(words, word) {
		return BadUsage(cmd, "%s %q: want one of %s", what, word, strings.Join(words, ", "))
	}
	return nil
}

// inWords rewrites errors of pflag and cobra: "unknown flag: --x" → "there is no flag --x"
func inWords(err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s %q: %w", e.GetFlag().Name, e.GetValue(), FlagError(e.GetFlag(), e.Unwrap()))
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s wants a value", e.GetFlag().Name)
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedShortnames() == "" {
		return fmt.Errorf("there is no flag --%s", e.GetSpecifiedName())
	}
	text, names, found := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	if !found {
		return err
	}
	return fmt.Errorf("%s (perhaps %s)", text, strings.Join(strings.Fields(names), " or "))
}

// Plural counts what has a regular plural: 1 worker, 2 workers.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
