package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/portal/emailaddr"
)

// exactly wants n arguments, which the command's usage names.
func exactly(n int) cobra.PositionalArgs { return between(n, n) }

// between wants at least and at most so many arguments.
func between(least, most int) cobra.PositionalArgs {
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
			return fmt.Errorf("%s wants %s, and got %s (what has spaces wants quotes)", cmd.CommandPath(), names, plural(n, "argument"))
		default:
			return fmt.Errorf("%s wants %s, and got %s", cmd.CommandPath(), names, plural(n, "argument"))
		}
	}
}

// emailOf checks an argument that is an e-mail address.
func emailOf(cmd *cobra.Command, text string) (string, error) {
	email, err := emailaddr.Clean(text)
	if err != nil {
		return "", usage(cmd, "%q is no e-mail address", text)
	}
	return email, nil
}

// oneOf checks an argument that is one of a few words.
func oneOf(cmd *cobra.Command, what, word string, words []string) error {
	if !slices.Contains(words, word) {
		return usage(cmd, "%s %q: want one of %s", what, word, strings.Join(words, ", "))
	}
	return nil
}

// inWords says what was wrong with a command line as somebody would who does not know which library reads it.
func inWords(err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s %q: %w", e.GetFlag().Name, e.GetValue(), launch.Wanted(e.GetFlag(), e.Unwrap()))
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
