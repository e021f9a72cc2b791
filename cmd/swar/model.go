package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/models/catalog"
)

func (a *app) modelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Download public models by name, and manage the installed ones",
		Long: `Models are kept in a store, the folder that SWAR_MODELS names (default swar/models where you keep data, ~/.local/share).

  swar model list                     installed models, and models that can be pulled
  swar model pull NAME                download one
  swar serve --model NAME             serve one`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.modelPullCommand(), a.modelListCommand(), a.modelShowCommand(), a.modelVerifyCommand(),
		a.modelPushCommand(), a.modelExportCommand(), a.modelImportCommand(), a.modelRemoveCommand())
	return cmd
}

// listedModel is a row of swar model list: a model of the store, of the catalogue, or of both.
type listedModel struct {
	Name      string   `json:"name"`
	Revision  string   `json:"revision,omitempty"` // that is here, or would be pulled
	Bytes     int64    `json:"bytes,omitempty"`    // of the bundle that is here
	Folder    string   `json:"folder,omitempty"`   // of that
	Languages []string `json:"languages,omitempty"`
	Licence   string   `json:"licence,omitempty"`
	Gated     bool     `json:"gated,omitempty"`
	Title     string   `json:"title,omitempty"`
}

// listModels returns what is here, and then what the catalogue has besides.
func listModels(here []models.Model) []listedModel {
	var all []listedModel
	for _, m := range here {
		e, _ := catalog.Find(m.Name)
		all = append(all, listedModel{
			Name: m.Name, Revision: m.Short(), Bytes: m.Bytes, Folder: m.Folder,
			Languages: strings.Split(m.Made.Language, "+"),
			Licence:   m.Licence, Gated: e.Gated, Title: e.Title,
		})
	}
	for _, e := range catalog.All() {
		if !slices.ContainsFunc(here, func(m models.Model) bool { return m.Name == e.Name }) {
			all = append(all, listedModel{
				Name: e.Name, Revision: models.ShortRevision(e.Pulled()), Languages: e.Languages, Licence: e.Licence,
				Gated: e.Gated,
				Title: e.Title,
			})
		}
	}
	return all
}

func (a *app) modelListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List installed models, and models that can be pulled",
		Args:    launch.Exactly(0),
		RunE: func(*cobra.Command, []string) error {
			store, err := models.OpenStore()
			if err != nil {
				return err
			}
			here, err := store.List()
			if err != nil {
				return err
			}
			if asJSON {
				return a.PrintJSON(listModels(here))
			}
			t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "model\trevision\there\tlanguages\tlicence\t")
			for _, m := range listModels(here) {
				size := "-"
				if m.Folder != "" {
					size = launch.Megabytes(m.Bytes)
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, cmp.Or(m.Revision, "newest"), size,
					strings.Join(m.Languages, " "), cmp.Or(m.Licence, "see its page"), m.Title)
			}
			return t.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

func (a *app) modelShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show NAME[@REVISION]",
		Short:   "Show details of a model, and the sources of the installed one",
		Example: "  swar model show saryps-hindi",
		Args:    launch.Exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name, revision, _ := strings.Cut(args[0], "@")
			store, err := models.OpenStore()
			if err != nil {
				return err
			}
			var shown struct {
				Catalog *catalog.Entry `json:"catalog,omitempty"`
				Here    *models.Lock   `json:"here,omitempty"`
				Folder  string         `json:"folder,omitempty"`
			}
			if e, ok := catalog.Find(name); ok {
				shown.Catalog = &e
			}
			m, err := store.Find(name, revision)
			_, missing := errors.AsType[*models.NotPulledError](err)
			switch {
			case err == nil:
				shown.Here, shown.Folder = &m.Lock, m.Folder
			case !missing || shown.Catalog == nil || revision != "":
				return err
			}
			if asJSON {
				return a.PrintJSON(shown)
			}
			return a.printModel(shown.Catalog, shown.Here, m)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the entry of the catalogue and the lock file as JSON")
	a.completeModels(cmd)
	return cmd
}

// printModel prints what the catalogue says of a model, and what the store has of it; either may be nil.
func (a *app) printModel(e *catalog.Entry, here *models.Lock, m models.Model) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, text)
		}
	}
	if e != nil {
		row("model", e.Name+": "+e.Title)
		row("page", "https://huggingface.co/"+e.Repository)
		row("licence", cmp.Or(e.Licence, "unknown"))
		if e.Gated {
			row("gate", "the owner of HF_TOKEN must accept its terms on its page")
		}
		row("languages", strings.Join(e.Languages, " "))
		row("script", e.Script)
		row("punctuation", e.Punctuation)
		more := []string{}
		for _, v := range e.Voices {
			if v.Optional {
				more = append(more, v.Name)
				continue
			}
			row("voice "+v.Name, fmt.Sprintf("%s, %s (%s)", v.Attribution, v.Licence, v.File))
			for _, n := range v.Notes {
				row("", n)
			}
		}
		if len(more) > 0 {
			row("more voices", strings.Join(more, ", ")+" (--voice)")
		}
		for _, n := range e.Notes {
			row("note", n)
		}
		row("checked", e.Checked.Format("2 January 2006"))
	}
	if here == nil {
		row("here", fmt.Sprintf("no; `%s model pull %s` downloads it", a.Invocation, e.Name))
		return t.Flush()
	}
	row("here", fmt.Sprintf("%s, %s, %s, pulled on %s", m.Folder, launch.Megabytes(m.Bytes), here.Made.Precision,
		here.Pulled.Format("2 January 2006")))
	row("revision", here.Revision)
	for _, f := range here.Files {
		row(f.Role, fmt.Sprintf("%s, %s", f.From, launch.Megabytes(f.Bytes)))
	}
	return t.Flush()
}

func (a *app) modelRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rm NAME[@REVISION]…",
		Short:   "Remove models from the store, with downloads that no other model uses",
		Example: "  swar model rm saryps-hindi",
		Args:    launch.Between(1, 100),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := models.OpenStore()
			if err != nil {
				return err
			}
			for _, arg := range args {
				name, revision, _ := strings.Cut(arg, "@")
				m, err := store.Find(name, revision)
				if err != nil {
					return err
				}
				freed, err := store.Remove(m)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.Out, "%s removed %s@%s: %s freed\n", a.Out.Green("✓"), m.Name, m.Short(),
					launch.Megabytes(freed))
			}
			return nil
		},
	}
	a.completeModels(cmd)
	return cmd
}

// completeModels completes names of models.
func (a *app) completeModels(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return modelNames(), cobra.ShellCompDirectiveNoFileComp
	}
}

// modelNames returns the names in the store and in the catalogue.
func modelNames() []string {
	store, err := models.OpenStore()
	if err != nil {
		return catalog.Names()
	}
	here, err := store.List()
	if err != nil {
		return catalog.Names()
	}
	var names []string
	for _, m := range listModels(here) {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
