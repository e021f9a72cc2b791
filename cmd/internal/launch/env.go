// Package launch is what all programs of Swar share. It has the command line, settings from the environment, exit
// codes, errors, the log, signals, listening, and the CPUs and memory of the process.
package launch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Variable is the name of the environment variable of a flag: SWAR_LOG_LEVEL for log-level.
func Variable(flag string) string {
	return "SWAR_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// FromEnv gives every flag that the command line left out the value of its environment variable. An empty variable
// counts as absent. Flags that can be repeated take a list that is separated by white space, because their values may
// hold commas.
//
// An error names the variable. It shows the value too, but never that of a list, which may hold keys.
func FromEnv(flags *pflag.FlagSet, lookup func(string) (string, bool)) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		isSetting := f.Name != "help" && f.Name != "version"
		if err != nil || f.Changed || !isSetting {
			return
		}
		value, ok := lookup(Variable(f.Name))
		if !ok || strings.TrimSpace(value) == "" {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			err = list.Replace(strings.Fields(value))
		} else if err = f.Value.Set(value); err != nil {
			err = fmt.Errorf("%q: %w", value, FlagError(f, err))
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", Variable(f.Name), err)
			return
		}
		f.Changed = true
	})
	return err
}

// FlagError adds the accepted values of a flag to err.
func FlagError(f *pflag.Flag, err error) error {
	switch kind := f.Value.Type(); {
	case errors.Is(err, strconv.ErrRange):
		return errors.New("the number is too large")
	case kind == "int" || kind == "int64":
		return errors.New("want a whole number")
	case kind == "float64":
		return errors.New("want a number such as 0.5")
	case kind == "bool":
		return errors.New("want true or false")
	case kind == "duration":
		return errors.New("want a time such as 30s or 5m")
	}
	return err
}

// Choices are the values that a flag of [Choice] takes, nil for another one.
func Choices(f *pflag.Flag) []string {
	c, ok := f.Value.(*choice)
	if !ok {
		return nil
	}
	return c.values
}

// Choice defines a flag that takes one of a few values; the first is its default.
func Choice(flags *pflag.FlagSet, name, usage string, values ...string) *string {
	c := &choice{values[0], values}
	flags.Var(c, name, usage+": "+strings.Join(values, ", "))
	return &c.value
}

type choice struct {
	value  string
	values []string
}

func (c *choice) Set(s string) error {
	if !slices.Contains(c.values, s) {
		return fmt.Errorf("want one of %s", strings.Join(c.values, ", "))
	}
	c.value = s
	return nil
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "word" }
