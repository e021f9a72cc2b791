package control

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
)

func (a *Commands) setupLinkCommand() *cobra.Command {
	var c control
	cmd := &cobra.Command{
		Use:   "setup-link",
		Short: "Show a link with which the first owner sets the server up",
		Long: `Makes a link for the page on which somebody types their e-mail address and becomes the owner of
the first organisation. It works once, for a day, and ends every older one. Who has it needs no
mail: give it to nobody else. Once there is an owner, they invite others.`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			var made portal.SetupLink
			answer, err := c.do(cmd.Context(), http.MethodPost, "/operator/v1/setup-link", nil, &made)
			if err != nil {
				return err
			}
			return c.print(a, answer, func() error {
				_, err := fmt.Fprintln(a.Out, made.Link)
				return err
			})
		},
	}
	c.localFlags(cmd.Flags())
	return cmd
}
