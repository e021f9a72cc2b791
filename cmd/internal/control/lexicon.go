package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/lexfile"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/lexicon"
)

func (a *Commands) lexiconCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lexicon",
		Short: "Manage the pronunciations of a project",
		Long: `Manages lexicons of the local server in --data, as its operator, or with --token those of another server.

A project has one list for all of its keys: words and their pronunciations. Changes apply within a second. Files are CSV
(word, spoken, optional language hi or en) or PLS 1.0 (.pls; aliases, not phonemes).

For keys of --api-key a server reads such a file: swar serve --lexicon names.csv.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.lexiconListCommand(), a.lexiconGetCommand(), a.lexiconPutCommand(), a.lexiconRemoveCommand(),
		a.lexiconImportCommand(), a.lexiconExportCommand(), a.lexiconCheckCommand())
	return cmd
}

// lexiconRow is what the portal answers of a lexicon.
type lexiconRow struct {
	ID        string          `json:"id"`
	ProjectID string          `json:"project_id"`
	Version   int64           `json:"version"`
	Entries   []lexicon.Entry `json:"entries"`
	UpdatedAt time.Time       `json:"updated_at,omitzero"`
	UpdatedBy string          `json:"updated_by,omitzero"`
}

func lexiconPath(project string) string {
	return "/portal/v1/projects/" + url.PathEscape(project) + "/lexicon"
}

// lexiconOf reads the lexicon of a project.
func (c *control) lexiconOf(ctx context.Context, project string) (answer []byte, l lexiconRow, err error) {
	answer, err = c.do(ctx, http.MethodGet, lexiconPath(project), nil, &l)
	return answer, l, err
}

// changeLexicon changes the entries of a project, and starts again when another client changed them meanwhile. Of ten
// commands at once the last one retries nine times; random pauses keep them from colliding again.
func (c *control) changeLexicon(ctx context.Context, project string,
	change func([]lexicon.Entry) ([]lexicon.Entry, error)) (answer []byte, l lexiconRow, err error) {
	const tries = 40
	for try := range tries {
		if err = pauseBefore(ctx, try); err != nil {
			return nil, l, err
		}
		if _, l, err = c.lexiconOf(ctx, project); err != nil {
			return nil, l, err
		}
		entries, err := change(l.Entries)
		if err != nil {
			return nil, l, err
		}
		header := http.Header{"If-Match": {strconv.Quote(strconv.FormatInt(l.Version, 10))}}
		answer, err = c.doWith(ctx, header, http.MethodPut, lexiconPath(project), map[string]any{"entries": entries},
			&l)
		if refused, ok := errors.AsType[*client.Error](err); !ok ||
			string(refused.Code) != tenant.ErrLexiconChanged.Code {
			return answer, l, err
		}
	}
	return nil, l, tenant.ErrLexiconChanged
}

// pauseBefore waits before another try: longer with each, 200 ms at most.
func pauseBefore(ctx context.Context, try int) error {
	if try == 0 {
		return nil
	}
	select {
	case <-time.After(rand.N(time.Duration(min(try, 10)) * 20 * time.Millisecond)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lexiconUse is a command about the lexicon of one project, for do.
func (a *Commands) lexiconUse(cmd *cobra.Command,
	do func(cmd *cobra.Command, c *control, project string, args []string) error) *cobra.Command {
	var c control
	var in scope
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.open(a, cmd); err != nil {
			return err
		}
		org, err := in.findOrg(cmd.Context(), &c)
		if err != nil {
			return err
		}
		project, err := in.findProject(org)
		if err != nil {
			return err
		}
		return do(cmd, &c, project.ID, args)
	}
	in.orgFlag(cmd.Flags())
	in.projectFlag(cmd.Flags(), "the only one")
	c.flags(cmd.Flags())
	launch.Complete(cmd, "org", a.offerOrgs(&c))
	return cmd
}

func (a *Commands) lexiconListCommand() *cobra.Command {
	var c control
	var in scope
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the lexicons of an organisation, one for each project",
		Args:  launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			org, err := in.findOrg(cmd.Context(), &c)
			if err != nil {
				return err
			}
			all := struct {
				Lexicons []lexiconRow `json:"lexicons"`
			}{[]lexiconRow{}}
			t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "id\tproject\tentries\tversion\tchanged\tby")
			for _, p := range org.Projects {
				_, l, err := c.lexiconOf(cmd.Context(), p.ID)
				if err != nil {
					return err
				}
				all.Lexicons = append(all.Lexicons, l)
				fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\n", l.ID, p.Name, len(l.Entries), l.Version,
					when(l.UpdatedAt, "never"), l.UpdatedBy)
			}
			if c.asJSON {
				return a.PrintJSON(all)
			}
			return t.Flush()
		},
	}
	in.orgFlag(cmd.Flags())
	c.flags(cmd.Flags())
	launch.Complete(cmd, "org", a.offerOrgs(&c))
	return cmd
}

func (a *Commands) lexiconGetCommand() *cobra.Command {
	return a.lexiconUse(&cobra.Command{
		Use:     "get [WORD]...",
		Short:   "Show the entries of a project, or those of some words",
		Example: "  " + a.Name + " lexicon get Zepto",
		Args:    launch.Between(0, math.MaxInt),
	}, func(cmd *cobra.Command, c *control, project string, words []string) error {
		answer, l, err := c.lexiconOf(cmd.Context(), project)
		if err != nil {
			return err
		}
		if len(words) == 0 {
			return c.print(a, answer, func() error { return a.printEntries(l.Entries) })
		}
		found := make([]lexicon.Entry, 0, len(words))
		for _, word := range words {
			at := indexOf(l.Entries, word)
			if at < 0 {
				return unknownWord(word)
			}
			found = append(found, l.Entries[at])
		}
		if c.asJSON {
			return a.PrintJSON(map[string]any{"entries": found})
		}
		return a.printEntries(found)
	})
}

func (a *Commands) printEntries(entries []lexicon.Entry) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "word\tlang\tspoken")
	for _, e := range entries {
		fmt.Fprintf(t, "%s\t%s\t%s\n", e.Word, cmp.Or(e.Lang, "-"), e.Spoken)
	}
	return t.Flush()
}

func indexOf(entries []lexicon.Entry, word string) int {
	return slices.IndexFunc(entries, func(e lexicon.Entry) bool { return lexicon.Key(e.Word) == lexicon.Key(word) })
}

func unknownWord(word string) error {
	return &choiceError{fmt.Sprintf("the lexicon has no word %q", word)}
}

func (a *Commands) lexiconPutCommand() *cobra.Command {
	var lang string
	cmd := a.lexiconUse(&cobra.Command{
		Use:     "put WORD SPOKEN",
		Short:   "Add a word, or change its pronunciation",
		Example: "  " + a.Name + " lexicon put Zepto ज़ेप्टो",
		Args:    launch.Exactly(2),
	}, func(cmd *cobra.Command, c *control, project string, args []string) error {
		if lang != "" {
			if err := launch.OneOf(cmd, "--lang", lang, langs); err != nil {
				return err
			}
		}
		put := []lexicon.Entry{{Word: args[0], Spoken: args[1], Lang: lang}}
		answer, l, err := c.changeLexicon(cmd.Context(), project, func(all []lexicon.Entry) ([]lexicon.Entry, error) {
			all, _, _ = merged(all, put)
			return all, nil
		})
		if err != nil {
			return err
		}
		return c.print(a, answer, func() error { return a.printEntries(l.Entries[indexOf(l.Entries, args[0]):][:1]) })
	})
	cmd.Flags().StringVar(&lang, "lang", "",
		"`language` in which numbers and signs of SPOKEN are read, hi or en (default that of the sentence)")
	launch.Complete(cmd, "lang", cobra.FixedCompletions(langs, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// langs are the languages of entries.
var langs = []string{lexicon.Hindi, lexicon.English}

// merged returns all with more, which take the place of those for the same words.
func merged(all, more []lexicon.Entry) (_ []lexicon.Entry, added, changed int) {
	all = slices.Clone(all)
	at := make(map[string]int, len(all))
	for i, e := range all {
		at[lexicon.Key(e.Word)] = i
	}
	for _, e := range more {
		i, known := at[lexicon.Key(e.Word)]
		switch {
		case !known:
			at[lexicon.Key(e.Word)] = len(all)
			all = append(all, e)
			added++
		case all[i] != e:
			all[i] = e
			changed++
		}
	}
	return all, added, changed
}

func (a *Commands) lexiconRemoveCommand() *cobra.Command {
	return a.lexiconUse(&cobra.Command{
		Use:   "remove WORD...",
		Short: "Remove words",
		Args:  launch.Between(1, math.MaxInt),
	}, func(cmd *cobra.Command, c *control, project string, words []string) error {
		answer, l, err := c.changeLexicon(cmd.Context(), project, func(all []lexicon.Entry) ([]lexicon.Entry, error) {
			for _, word := range words {
				at := indexOf(all, word)
				if at < 0 {
					return nil, unknownWord(word)
				}
				all = slices.Delete(all, at, at+1)
			}
			return all, nil
		})
		if err != nil {
			return err
		}
		return c.print(a, answer, func() error {
			_, err := fmt.Fprintf(a.Out, "%d entries are left\n", len(l.Entries))
			return err
		})
	})
}

func (a *Commands) lexiconImportCommand() *cobra.Command {
	var replace bool
	cmd := a.lexiconUse(&cobra.Command{
		Use:   "import FILE",
		Short: "Import a CSV or PLS file",
		Long: "Adds the words of a file, and changes existing ones. With --replace all other words are removed. " +
			"Unsupported entries, such as phonemes, are reported and skipped. An invalid file changes nothing.",
		Example: "  " + a.Name + " lexicon import names.csv",
		Args:    launch.Exactly(1),
	}, func(cmd *cobra.Command, c *control, project string, args []string) error {
		f, err := lexfile.Read(args[0])
		if err != nil {
			return err
		}
		a.printDropped(f.Dropped)
		var added, changed, removed int
		answer, l, err := c.changeLexicon(cmd.Context(), project, func(all []lexicon.Entry) ([]lexicon.Entry, error) {
			with, more, other := merged(all, f.Entries)
			added, changed, removed = more, other, 0
			if !replace {
				return with, nil
			}
			removed = len(with) - len(f.Entries)
			return f.Entries, nil
		})
		if err != nil {
			return err
		}
		return c.print(a, answer, func() error {
			_, err := fmt.Fprintf(a.Out, "%d added, %d changed, %d removed; there are %d entries\n", added, changed,
				removed, len(l.Entries))
			return err
		})
	})
	cmd.Flags().BoolVar(&replace, "replace", false, "remove words that are not in the file")
	cmd.ValidArgsFunction = cobra.FixedCompletions(lexfile.Extensions, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}

// printDropped says on standard error what of a file was left out.
func (a *Commands) printDropped(all []lexicon.Dropped) {
	for _, d := range all {
		fmt.Fprintf(a.Err, "line %d, %s: skipped, %s\n", d.Line, strconv.Quote(d.Word), d.Reason)
	}
}

func (a *Commands) lexiconExportCommand() *cobra.Command {
	cmd := a.lexiconUse(&cobra.Command{
		Use:     "export [FILE]",
		Short:   "Write the entries of a project to a CSV or PLS file, or as CSV to standard output",
		Example: "  " + a.Name + " lexicon export names.pls",
		Args:    launch.Between(0, 1),
	}, func(cmd *cobra.Command, c *control, project string, args []string) error {
		format := lexicon.CSV
		if len(args) > 0 {
			var err error
			if format, err = lexfile.FormatOf(args[0]); err != nil {
				return launch.BadUsage(cmd, "%v", err)
			}
		}
		_, l, err := c.lexiconOf(cmd.Context(), project)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			return lexfile.Write(a.Out, format, l.Entries)
		}
		if err := lexfile.Save(args[0], format, l.Entries); err != nil {
			return err
		}
		fmt.Fprintf(a.Err, "%d entries are in %s\n", len(l.Entries), args[0])
		return nil
	})
	cmd.ValidArgsFunction = cobra.FixedCompletions(lexfile.Extensions, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}

func (a *Commands) lexiconCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a CSV or PLS file",
		Long: "Reads a file as import and swar serve --lexicon do, and changes nothing. The exit code is 1 if the file is invalid, or if a part of " +
			"it would be skipped.",
		Example: "  " + a.Name + " lexicon check names.pls",
		Args:    launch.Exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := lexfile.Read(args[0])
			if err != nil {
				return err
			}
			a.printDropped(f.Dropped)
			if n := len(f.Dropped); n > 0 {
				return fmt.Errorf("%s: %d of %d entries would be skipped", args[0], n, n+len(f.Entries))
			}
			_, err = fmt.Fprintf(a.Out, "%s: %d entries\n", args[0], len(f.Entries))
			return err
		},
	}
	cmd.ValidArgsFunction = cobra.FixedCompletions(lexfile.Extensions, cobra.ShellCompDirectiveFilterFileExt)
	return cmd
}
