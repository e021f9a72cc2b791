package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/control"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

//go:generate go test -count=1 -run ^TestReference$ . -update

var update = flag.Bool("update", false, "write docs/cli")

// referencePages are the files of docs/cli: a group of the help each.
var referencePages = []struct{ group, file, title, lead string }{
	{"serve", "server.md", "Server commands", "What starts a server. [The command line](../cli.md) says what holds for every command; [operations](../operations.md) what a server needs."},
	{"use", "speech.md", "Speech commands", "What speaks, or shows how a text is read. [The command line](../cli.md) says what holds for every command."},
	{"portal", "portal.md", "Portal commands", "Organisations, keys, usage and sign-in, of a server of this machine or of another one. [The command line](../cli.md) says what holds for every command."},
	{"model", "models.md", "Model commands", "Public models, bundles and voices: see [models](../models.md) and [voices](../voices.md). [The command line](../cli.md) says what holds for every command."},
	{"check", "machine.md", "Machine commands", "What looks at this machine, or at a server from outside. [The command line](../cli.md) says what holds for every command."},
}

// TestReference: docs/cli is what the help of the commands says, and docs/cli.md links each of them.
func TestReference(t *testing.T) {
	p := launch.NewProgram(name)
	a := &app{p, control.Commands{Program: p, Version: version, Start: serveCommand}}
	root := a.command()
	docs := filepath.Join("..", "..", "docs")
	overview := readFile(t, filepath.Join(docs, "cli.md"))
	for _, page := range referencePages {
		var commands []*cobra.Command
		for _, c := range root.Commands() {
			if c.GroupID != page.group || c.Hidden {
				continue
			}
			commands = append(commands, c)
			if link := "[`" + c.CommandPath() + "`](cli/" + page.file + "#" +
				strings.ReplaceAll(c.CommandPath(), " ", "-") + ")"; !strings.Contains(overview, link) {
				t.Errorf("docs/cli.md lacks %s", link)
			}
		}
		want := reference(page.title, page.lead, commands...)
		path := filepath.Join(docs, "cli", page.file)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if readFile(t, path) != want {
			t.Errorf("%s is not what the help says: run go generate ./cmd/swar ./portal/web", path)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// reference is the Markdown of commands: for each its help, its examples, and a table of its flags. Flags that
// several of them share stand once, above the first.
func reference(title, lead string, commands ...*cobra.Command) string {
	var all []*cobra.Command
	for _, c := range commands {
		all = append(all, available(c)...)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", title, lead)
	shared := sharedFlags(all)
	if len(shared) > 0 {
		b.WriteString("\n## Common flags\n\n")
		flagTable(&b, shared)
	}
	for _, c := range all {
		commandSection(&b, c, shared)
	}
	return b.String()
}

// available is c and what stands below it, in the order of its help.
func available(c *cobra.Command) []*cobra.Command {
	if c.Hidden {
		return nil
	}
	all := []*cobra.Command{c}
	for _, below := range c.Commands() {
		all = append(all, available(below)...)
	}
	return all
}

// sharedFlags are those that three commands and more have, with the same help.
func sharedFlags(all []*cobra.Command) (shared []*pflag.Flag) {
	count := map[string]int{}
	for _, c := range all {
		if c.HasSubCommands() {
			continue
		}
		for _, f := range flagsOf(c) {
			if count[identity(f)]++; count[identity(f)] == 3 {
				shared = append(shared, f)
			}
		}
	}
	return shared
}

func identity(f *pflag.Flag) string { return f.Name + "\x00" + f.Usage + "\x00" + f.DefValue }

// flagsOf are the flags of a command, in the order of its help, but for --help and --version.
func flagsOf(c *cobra.Command) (flags []*pflag.Flag) {
	c.InheritedFlags() // which adds them
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "version" {
			flags = append(flags, f)
		}
	})
	return flags
}

func commandSection(b *strings.Builder, c *cobra.Command, shared []*pflag.Flag) {
	fmt.Fprintf(b, "\n## %s\n\n", c.CommandPath())
	b.WriteString(prose(cmp.Or(c.Long, c.Short+".")))
	example := ""
	for line := range strings.Lines(c.Example) {
		example += strings.TrimPrefix(line, "  ")
	}
	if example == "" && !c.HasSubCommands() {
		example = strings.TrimSuffix(c.UseLine(), " [flags]")
	}
	if example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", example)
	}
	if c.HasSubCommands() {
		return
	}
	own, common := flagsOf(c), []string(nil)
	own = slices.DeleteFunc(own, func(f *pflag.Flag) bool {
		is := slices.ContainsFunc(shared, func(s *pflag.Flag) bool { return identity(s) == identity(f) })
		if is {
			common = append(common, "`--"+f.Name+"`")
		}
		return is
	})
	if len(own) > 0 {
		b.WriteString("\n")
		flagTable(b, own)
	}
	if len(common) > 0 {
		fmt.Fprintf(b, "\nCommon flags: %s.\n", strings.Join(common, ", "))
	}
}

func flagTable(b *strings.Builder, flags []*pflag.Flag) {
	b.WriteString("| flag | |\n|---|---|\n")
	for _, f := range flags {
		name, usage := pflag.UnquoteUsage(f)
		written := "--" + strings.TrimSpace(f.Name+" "+name)
		if f.Shorthand != "" {
			written += "`, `-" + f.Shorthand
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", written, marked(strings.ReplaceAll(usage, "|", `\|`)+defaultOf(f)))
	}
}

// defaultOf is what the help says behind a flag, unless its text says it.
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]", "<nil>":
		return ""
	}
	if strings.Contains(f.Usage, "(default ") {
		return ""
	}
	return fmt.Sprintf(" (default %s)", strings.Trim(f.DefValue, "[]"))
}

// prose turns a help text into Markdown: lines that are indented are code.
func prose(text string) string {
	var b strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		lines := strings.Split(strings.Trim(block, "\n"), "\n")
		if strings.HasPrefix(lines[0], "  ") {
			b.WriteString("```\n" + strings.Join(lines, "\n") + "\n```\n")
			continue
		}
		b.WriteString(marked(strings.Join(lines, "\n")) + "\n")
	}
	return b.String()
}

var (
	codeWords = regexp.MustCompile(`(^|[\s(])(--[a-z][a-z0-9-]*|-[a-z]|/[a-z][a-z/]*|SWAR_[A-Z_]+|[a-z]+\.json|swar(?:-[a-z]+)?(?: [a-z][a-z-]*)?)($|[\s,.;:)])`)
	lessThan  = regexp.MustCompile(`<`)
)

// marked marks flags, variables, paths and commands as code, and keeps a < from being HTML.
func marked(text string) string {
	for range 2 { // neighbours share the space between them
		text = codeWords.ReplaceAllString(text, "$1`$2`$3")
	}
	return lessThan.ReplaceAllString(text, "&lt;")
}
