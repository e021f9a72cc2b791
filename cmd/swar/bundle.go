package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (a *app) bundleCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Build, download, inspect and verify models of the neural engine",
		Long: `A bundle is a folder with a neural model in the engine's format: manifest.json, graphs, tokenizer and voices.

  swar bundle convert …               convert a published model
  swar bundle fetch URL …             download an archive
  swar bundle verify DIR              check it, and speak once with every voice
  swar serve --bundle DIR             serve it`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.convertCommand(), a.fetchCommand(), a.inspectCommand(), a.verifyCommand(), a.synthRandomCommand())
	return cmd
}

// nextSteps prints commands to try with a new bundle.
func (a *app) nextSteps(dir string) {
	name := shellWord(dir)
	t := tabwriter.NewWriter(a.Out, 0, 0, 3, ' ', 0)
	for _, step := range [][2]string{
		{"bundle verify " + name, "check it, and speak once with every voice"},
		{"say --bundle " + name + " " + quote("Namaste! Kya haal hai?"), "listen to it"},
		{"serve --bundle " + name, "serve it"},
	} {
		fmt.Fprintf(t, "  %s %s\t%s\n", a.Invocation, step[0], step[1])
	}
	_ = t.Flush() // a closed terminal loses nothing
}

// shellWord quotes s only where a shell would need it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return letter || '0' <= r && r <= '9' || strings.ContainsRune("._/-+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return quote(s)
}

// folderBytes is the size of all files below dir.
func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
