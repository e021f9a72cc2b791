package control

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
)

func (a *Commands) setupLinkCommand() *cobra.Command {
	var c control
	cmd := &cobra.Command{
		Use:   "setup-link",
		Short: "Show a link with which the first owner sets the server up",
		Long: `Creates a link to the page on which the first owner enters an e-mail address. Single use; expires in 24 hours; older
links become invalid. The link needs no mail: give it to one person only. The owner then invites others.`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			var made portal.Links
			answer, err := c.do(cmd.Context(), http.MethodPost, "/operator/v1/setup-link", nil, &made)
			if err != nil {
				return err
			}
			return c.print(a, answer, func() error { return a.printLinks(made) })
		},
	}
	c.localFlags(cmd.Flags())
	return cmd
}

func (a *Commands) signInLinkCommand() *cobra.Command {
	var c control
	cmd := &cobra.Command{
		Use:   "signin-link E-MAIL",
		Short: "Show a link for signing in without a mail",
		Long: `Creates a sign-in link for this address; anyone who opens it is signed in. Single use; expires in 24 hours; older links
of the address become invalid. Give it to that person only, and only if you know that the address is theirs.
Use it on servers that send no mails. A server that listens on all addresses of its machine prints the link for each of
them, one per line.`,
		Example: "  " + a.Name + " signin-link asha@example.org",
		Args:    launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			email, err := Email(cmd, args[0])
			if err != nil {
				return err
			}
			if err := c.open(a, cmd); err != nil {
				return err
			}
			made, answer, err := c.signInLink(cmd, email)
			if err != nil {
				return err
			}
			return c.print(a, answer, func() error { return a.printLinks(made) })
		},
	}
	c.localFlags(cmd.Flags())
	return cmd
}

func (c *control) signInLink(cmd *cobra.Command, email string) (made portal.Links, answer []byte, err error) {
	answer, err = c.do(cmd.Context(), http.MethodPost, "/operator/v1/signin-link/"+url.PathEscape(email), nil, &made)
	return made, answer, err
}

// printLinks prints a link under each address of the server, one a line.
func (a *Commands) printLinks(l portal.Links) error {
	_, err := fmt.Fprintln(a.Out, strings.Join(l.Links, "\n"))
	return err
}
