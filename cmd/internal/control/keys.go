package control

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
)

func (a *Commands) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "List, create, change and revoke API keys",
		Long: `Manages API keys of the local server in --data, as its operator, or with --token those of another server.

A key is shown once, when it is created. Changes apply at once: revoking a key closes its WebSockets within a second.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.keysListCommand(), a.keysCreateCommand(), a.keysRenameCommand(), a.keysRestrictCommand(),
		a.keysDiscloseCommand(), a.keysRevokeCommand())
	return cmd
}

// keyRow is what the portal answers of a key, as far as commands show it.
type keyRow struct {
	ID         string    `json:"id"`
	OrgID      string    `json:"org_id"`
	ProjectID  string    `json:"project_id"`
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	Prefix     string    `json:"prefix"`
	Voices     []string  `json:"voices"`
	CreatedAt  time.Time `json:"created_at"`
	CreatedBy  string    `json:"created_by"`
	RevokedAt  time.Time `json:"revoked_at,omitzero"`
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"`
	Disclosure *string   `json:"disclosure,omitzero"` // nil: the organisation's
}

// keyKinds are the values of --kind.
var keyKinds = []string{"live", "playground"}

func (a *Commands) keysListCommand() *cobra.Command {
	var c control
	var in scope
	var kind string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List keys, newest first",
		Example: "  " + a.Name + ` keys list --json | jq -r '.keys[] | select(.revoked_at == null) | .id'`,
		Args:    launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if kind != "" {
				if err := launch.OneOf(cmd, "--kind", kind, keyKinds); err != nil {
					return err
				}
			}
			if err := c.open(a, cmd); err != nil {
				return err
			}
			org, err := in.findOrg(cmd.Context(), &c)
			if err != nil {
				return err
			}
			q := url.Values{"org_id": {org.ID}}
			if in.project != "" {
				project, err := in.findProject(org)
				if err != nil {
					return err
				}
				q.Set("project_id", project.ID)
			}
			if kind != "" {
				q.Set("kind", kind)
			}
			var list struct{ Keys []keyRow }
			answer, err := c.do(cmd.Context(), http.MethodGet, "/portal/v1/keys?"+q.Encode(), nil, &list)
			if err != nil {
				return err
			}
			return c.print(a, answer, func() error { return a.printKeys(list.Keys) })
		},
	}
	in.orgFlag(cmd.Flags())
	in.projectFlag(cmd.Flags(), "all")
	cmd.Flags().StringVar(&kind, "kind", "", "`kind` of keys: live or playground (default live)")
	c.flags(cmd.Flags())
	launch.Complete(cmd, "kind", cobra.FixedCompletions(keyKinds, cobra.ShellCompDirectiveNoFileComp))
	launch.Complete(cmd, "org", a.offerOrgs(&c))
	return cmd
}

func (a *Commands) printKeys(keys []keyRow) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "id\tname\tprefix\tvoices\tcreated\tlast used\tstate")
	for _, k := range keys {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			k.ID, k.Name, k.Prefix, k.voices(), when(k.CreatedAt, "-"), when(k.LastUsedAt, "never"),
			k.state(time.Now()))
	}
	return t.Flush()
}

func (k keyRow) voices() string {
	if len(k.Voices) == 0 {
		return "all"
	}
	return strings.Join(k.Voices, ",")
}

func (k keyRow) state(now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(now):
		return "expired"
	}
	return "active"
}

func (a *Commands) keysCreateCommand() *cobra.Command {
	var c control
	var in scope
	voices := []string{}
	cmd := &cobra.Command{
		Use:   "create [NAME]",
		Short: "Create a key and show it once",
		Long:  "Creates a key and shows it once: only its hash is stored. Standard output has the key alone.",
		Example: fmt.Sprintf(`  %[1]s keys create 'call centre'
  export SWAR_KEY=$(%[1]s keys create laptop --voice raj)`, a.Name),
		Args: launch.Between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			org, err := in.findOrMakeOrg(cmd.Context(), a, &c)
			if err != nil {
				return err
			}
			project, err := in.findProject(org)
			if err != nil {
				return err
			}
			name := "Key of " + time.Now().Format("2006-01-02 15:04")
			if len(args) > 0 {
				name = args[0]
			}
			var made struct {
				Key string
				Row keyRow
			}
			body := map[string]any{"project_id": project.ID, "name": name, "voices": voices}
			answer, err := c.do(cmd.Context(), http.MethodPost, "/portal/v1/keys", body, &made)
			if err != nil {
				return err
			}
			return c.print(a, answer, func() error {
				fmt.Fprintf(a.Err, "%s %q of project %s; it is shown only now:\n", made.Row.ID, made.Row.Name,
					project.Name)
				_, err := fmt.Fprintln(a.Out, made.Key)
				return err
			})
		},
	}
	in.orgFlag(cmd.Flags())
	in.projectFlag(cmd.Flags(), "the only one")
	cmd.Flags().StringArrayVar(&voices, "voice", nil,
		"`voice` that the key may use, default every voice; can be repeated")
	c.flags(cmd.Flags())
	launch.Complete(cmd, "org", a.offerOrgs(&c))
	return cmd
}

// changeKey is a command that changes keys and shows their rows.
func (a *Commands) changeKey(use, short string, args cobra.PositionalArgs,
	change func(c *control, cmd *cobra.Command, args []string) ([]byte, []keyRow, error)) *cobra.Command {
	var c control
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			answer, rows, err := change(&c, cmd, args)
			if err != nil {
				return err
			}
			return c.print(a, answer, func() error { return a.printKeys(rows) })
		},
	}
	c.flags(cmd.Flags())
	cmd.ValidArgsFunction = a.offerKeys(&c)
	return cmd
}

func (a *Commands) keysRenameCommand() *cobra.Command {
	return a.changeKey("rename KEY NAME", "Rename a key", launch.Exactly(2),
		func(c *control, cmd *cobra.Command, args []string) ([]byte, []keyRow, error) {
			return c.patchKey(cmd, args[0], map[string]any{"name": args[1]})
		})
}

func (a *Commands) keysRestrictCommand() *cobra.Command {
	cmd := a.changeKey("restrict KEY [VOICE]...",
		"Limit a key to some voices, or allow every voice if none is named", launch.Between(1, math.MaxInt),
		func(c *control, cmd *cobra.Command, args []string) ([]byte, []keyRow, error) {
			return c.patchKey(cmd, args[0], map[string]any{"voices": args[1:]})
		})
	return cmd
}

func (a *Commands) keysDiscloseCommand() *cobra.Command {
	var c control
	var inherit bool
	cmd := &cobra.Command{
		Use:   "disclose KEY [TEXT]",
		Short: "Set the disclosure of a key",
		Long: "Sets the disclosure that is spoken before every text of a key, and billed. Without it the organisation's " +
			"applies, or the server's (--disclosure). An empty TEXT disables it, unless the server requires one.",
		Example: "  " + a.Name + " keys disclose key_7q… 'Yeh Asha Bank ki AI awaaz hai.'",
		Args:    launch.Between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			change, err := disclosureChange(cmd, args, 1, inherit)
			if err != nil {
				return err
			}
			if err := c.open(a, cmd); err != nil {
				return err
			}
			answer, rows, err := c.patchKey(cmd, args[0], change)
			if err != nil {
				return err
			}
			return c.print(a, answer, func() error {
				return a.printDisclosure(rows[0].ID, rows[0].Disclosure, "the organisation")
			})
		},
	}
	cmd.Flags().BoolVar(&inherit, "inherit", false, fmt.Sprintf(inheritUsage, "the organisation"))
	c.flags(cmd.Flags())
	cmd.ValidArgsFunction = a.offerKeys(&c)
	return cmd
}

func (c *control) patchKey(cmd *cobra.Command, id string, change map[string]any) ([]byte, []keyRow, error) {
	var row keyRow
	answer, err := c.do(cmd.Context(), http.MethodPatch, "/portal/v1/keys/"+url.PathEscape(id), change, &row)
	return answer, []keyRow{row}, err
}

func (a *Commands) keysRevokeCommand() *cobra.Command {
	return a.changeKey("revoke KEY", "Revoke a key at once and permanently", launch.Exactly(1),
		func(c *control, cmd *cobra.Command, args []string) ([]byte, []keyRow, error) {
			var row keyRow
			answer, err := c.do(cmd.Context(), http.MethodDelete, "/portal/v1/keys/"+url.PathEscape(args[0]), nil, &row)
			return answer, []keyRow{row}, err
		})
}
