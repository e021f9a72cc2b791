package control

import (
	"fmt"
	"net/http"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
)

func (a *Commands) signingKeysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "signing-keys",
		Short: "List and replace the keys that ID tokens are signed with",
		Long: `Manages the signing keys of the local server in --data, as its operator.
They are not API keys: they sign the ID tokens of users who sign in to the portal by e-mail.

A new key is created automatically every 90 days, and published for a week before and after its use.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.signingKeysListCommand(), a.signingKeysRotateCommand())
	return cmd
}

func (a *Commands) signingKeysListCommand() *cobra.Command {
	var c control
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys, oldest first",
		Args:  launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.signingKeys(cmd, &c, http.MethodGet, "/operator/v1/signing-keys")
		},
	}
	c.localFlags(cmd.Flags())
	return cmd
}

func (a *Commands) signingKeysRotateCommand() *cobra.Command {
	var c control
	var now bool
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Create a new key",
		Long: `Publishes a new key, which signs in a week; the old one is removed a week after that. Users do not notice.

With --now the new key replaces all others at once, for example after a leaked backup. Within five seconds every server
that shares the store refuses earlier ID tokens. Signed-in users get a new one by their refresh token. Other programs that
verify these tokens may cache the list of keys for an hour.`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := "/operator/v1/signing-keys/rotate"
			if now {
				path += "?now=true"
			}
			return a.signingKeys(cmd, &c, http.MethodPost, path)
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "replace all keys at once")
	c.localFlags(cmd.Flags())
	return cmd
}

// signingKeys asks the server for its keys, or to change them, and shows what there is then.
func (a *Commands) signingKeys(cmd *cobra.Command, c *control, method, path string) error {
	if err := c.open(a, cmd); err != nil {
		return err
	}
	var list portal.SigningKeyList
	answer, err := c.do(cmd.Context(), method, path, nil, &list)
	if err != nil {
		return err
	}
	return c.print(a, answer, func() error {
		t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "id\tstate\tcreated\tsigns from\tends")
		for _, k := range list.Keys {
			created, from, end := when(k.CreatedAt, "-"), when(k.SignsFrom, "-"), when(k.EndsAt, "-")
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", k.ID, k.State, created, from, end)
		}
		return t.Flush()
	})
}
