package control

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/portal/tenant"
)

func (a *Commands) orgsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "orgs",
		Short: "List, create and change organisations and members",
		Long: `Manages organisations of the local server in --data, as its operator, or with --token your own on another server.

A new organisation has no members. This invites its owner, who then signs in:

  ` + a.Name + ` orgs invite me@example.org --role owner`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.orgsListCommand(),
		a.orgCommand("create NAME", "Create an organisation with one project", launch.Exactly(1), a.createOrg),
		a.orgCommand("rename NAME", "Rename an organisation", launch.Exactly(1), a.renameOrg),
		a.orgDiscloseCommand(),
		a.orgCommand("members", "List members, joined and invited", launch.Exactly(0), a.listMembers),
		a.inviteCommand(),
		a.orgCommand("role E-MAIL ROLE", "Change a member's role", launch.Exactly(2), a.setRole),
		a.orgCommand("remove E-MAIL", "Remove a member and revoke their playground keys", launch.Exactly(1),
			a.removeMember),
		a.orgCommand("unbind E-MAIL", "Allow a member another sign-in; for operators", launch.Exactly(1),
			a.unbindMember),
	)
	return cmd
}

// orgCommand is a command about one organisation, for do.
func (a *Commands) orgCommand(use, short string, args cobra.PositionalArgs,
	do func(*cobra.Command, *control, *scope, []string) error) *cobra.Command {
	var c control
	var in scope
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			return do(cmd, &c, &in, args)
		},
	}
	if cmd.Name() != "create" {
		in.orgFlag(cmd.Flags())
	}
	c.flags(cmd.Flags())
	if cmd.Name() != "create" {
		launch.Complete(cmd, "org", a.offerOrgs(&c))
	}
	return cmd
}

func (a *Commands) orgsListCommand() *cobra.Command {
	var c control
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List organisations and their projects",
		Args:  launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			all, err := c.orgs(cmd.Context())
			if err != nil {
				return err
			}
			if c.asJSON {
				return a.PrintJSON(all)
			}
			t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "organisation\tproject\tname")
			for _, o := range all.Orgs {
				fmt.Fprintf(t, "%s\t\t%s\n", o.ID, o.Name)
				for _, p := range o.Projects {
					fmt.Fprintf(t, "\t%s\t%s\n", p.ID, p.Name)
				}
			}
			return t.Flush()
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

func (a *Commands) createOrg(cmd *cobra.Command, c *control, _ *scope, args []string) error {
	return a.putOrg(cmd, c, http.MethodPost, "/portal/v1/orgs", args[0])
}

func (a *Commands) renameOrg(cmd *cobra.Command, c *control, in *scope, args []string) error {
	org, err := in.findOrg(cmd.Context(), c)
	if err != nil {
		return err
	}
	return a.putOrg(cmd, c, http.MethodPatch, "/portal/v1/orgs/"+org.ID, args[0])
}

func (a *Commands) orgDiscloseCommand() *cobra.Command {
	var inherit bool
	const short = "Have a text spoken before everything that an organisation speaks"
	cmd := a.orgCommand("disclose [TEXT]", short, launch.Between(0, 1),
		func(cmd *cobra.Command, c *control, in *scope, args []string) error {
			change, err := disclosureChange(cmd, args, 0, inherit)
			if err != nil {
				return err
			}
			org, err := in.findOrg(cmd.Context(), c)
			if err != nil {
				return err
			}
			var row portal.OrgRow
			answer, err := c.do(cmd.Context(), http.MethodPatch, "/portal/v1/orgs/"+org.ID, change, &row)
			if err != nil {
				return err
			}
			return c.print(a, answer, func() error { return a.printDisclosure(row.ID, row.Disclosure, "the server") })
		})
	cmd.Flags().BoolVar(&inherit, "inherit", false, fmt.Sprintf(inheritUsage, "the server"))
	return cmd
}

func (a *Commands) putOrg(cmd *cobra.Command, c *control, method, path, name string) error {
	var row portal.OrgRow
	answer, err := c.do(cmd.Context(), method, path, map[string]any{"name": name}, &row)
	if err != nil {
		return err
	}
	return c.print(a, answer, func() error {
		_, err := fmt.Fprintf(a.Out, "%s  %s\n", row.ID, row.Name)
		return err
	})
}

func (a *Commands) listMembers(cmd *cobra.Command, c *control, in *scope, _ []string) error {
	org, err := in.findOrg(cmd.Context(), c)
	if err != nil {
		return err
	}
	var list struct{ Members []portal.MemberRow }
	answer, err := c.do(cmd.Context(), http.MethodGet, "/portal/v1/orgs/"+org.ID+"/members", nil, &list)
	if err != nil {
		return err
	}
	return c.print(a, answer, func() error { return a.printMembers(list.Members...) })
}

func (a *Commands) printMembers(members ...portal.MemberRow) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "e-mail\trole\tstate\tinvited\tjoined")
	for _, m := range members {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.Email, m.Role, m.State, when(m.InvitedAt, "-"), when(m.JoinedAt, "-"))
	}
	return t.Flush()
}

// roles of members.
var roles = []string{string(tenant.RoleOwner), string(tenant.RoleMember), string(tenant.RoleViewer)}

func (a *Commands) inviteCommand() *cobra.Command {
	var role string
	var link bool
	cmd := a.orgCommand("invite E-MAIL", "Invite a person, who joins at the first sign-in", launch.Exactly(1),
		func(cmd *cobra.Command, c *control, in *scope, args []string) error {
			email, err := Email(cmd, args[0])
			if err != nil {
				return err
			}
			body := map[string]any{"email": email}
			if role != "" {
				if err := launch.OneOf(cmd, "--role", role, roles); err != nil {
					return err
				}
				body["role"] = role
			}
			if err := a.member(cmd, c, in, http.MethodPost, "/portal/v1/orgs/%s/members", "", body); err != nil ||
				!c.local() || c.asJSON {
				return err
			}
			return a.handOver(cmd, c, email, link)
		})
	cmd.Flags().BoolVar(&link, "link", false, "also show a sign-in link to hand over when the invitation is mailed")
	cmd.Flags().StringVar(&role, "role", "", "`role`: owner, member or viewer (default member)")
	launch.Complete(cmd, "role", cobra.FixedCompletions(roles, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// handOver prints a sign-in link for an invited member when no mail is sent, or when --link asks for it.
func (a *Commands) handOver(cmd *cobra.Command, c *control, email string, wanted bool) error {
	made, _, err := c.signInLink(cmd, email)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == "no_issuer" && !wanted {
		return nil // they sign in with another issuer
	}
	if err != nil || made.Mail == "smtp" && !wanted {
		return err
	}
	fmt.Fprintf(a.Out,
		"\nHand this link to %s. It signs in the person who opens it. Single use; expires in 24 hours:\n\n", email)
	return a.printLinks(made)
}

func (a *Commands) setRole(cmd *cobra.Command, c *control, in *scope, args []string) error {
	if err := launch.OneOf(cmd, "role", args[1], roles); err != nil {
		return err
	}
	return a.member(cmd, c, in, http.MethodPatch, "/portal/v1/orgs/%s/members/%s", args[0],
		map[string]any{"role": args[1]})
}

func (a *Commands) removeMember(cmd *cobra.Command, c *control, in *scope, args []string) error {
	return a.member(cmd, c, in, http.MethodDelete, "/portal/v1/orgs/%s/members/%s", args[0], nil)
}

func (a *Commands) unbindMember(cmd *cobra.Command, c *control, in *scope, args []string) error {
	if !c.local() {
		return launch.BadUsage(cmd, "only the operator may do that, on the server's machine; leave --token out")
	}
	return a.member(cmd, c, in, http.MethodPost, "/operator/v1/orgs/%s/members/%s/unbind", args[0], nil)
}

// member does something to one member, and shows the row that it made. path has a place for the organisation, and one
// for the e-mail if that is not empty.
func (a *Commands) member(cmd *cobra.Command, c *control, in *scope, method, path, email string, body any) error {
	org, err := in.findOrg(cmd.Context(), c)
	if err != nil {
		return err
	}
	places := []any{org.ID}
	if email != "" {
		places = append(places, url.PathEscape(email))
	}
	var row portal.MemberRow
	answer, err := c.do(cmd.Context(), method, fmt.Sprintf(path, places...), body, &row)
	if err != nil {
		return err
	}
	return c.print(a, answer, func() error { return a.printMembers(row) })
}
