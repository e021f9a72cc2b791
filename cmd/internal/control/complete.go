package control

import (
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

// offerKeys completes the identifier of a key, the first argument, with the keys that are good.
func (a *Commands) offerKeys(c *control) cobra.CompletionFunc {
	keys := a.CompleteFrom(func(cmd *cobra.Command) (all []cobra.Completion, err error) {
		if err := c.open(a, cmd); err != nil {
			return nil, err
		}
		orgs, err := c.orgs(cmd.Context())
		if err != nil {
			return nil, err
		}
		for _, org := range orgs.Orgs {
			var list struct{ Keys []keyRow }
			q := url.Values{"org_id": {org.ID}}
			if _, err := c.do(cmd.Context(), http.MethodGet, "/portal/v1/keys?"+q.Encode(), nil, &list); err != nil {
				return all, err
			}
			for _, k := range list.Keys {
				if k.state(time.Now()) == "active" {
					all = append(all, cobra.CompletionWithDesc(k.ID, k.Name+" "+k.Prefix))
				}
			}
		}
		return all, nil
	})
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return keys(cmd, args, begun)
	}
}

// offerOrgs completes an organisation.
func (a *Commands) offerOrgs(c *control) cobra.CompletionFunc {
	return a.CompleteFrom(func(cmd *cobra.Command) (all []cobra.Completion, err error) {
		if err := c.open(a, cmd); err != nil {
			return nil, err
		}
		orgs, err := c.orgs(cmd.Context())
		for _, org := range orgs.Orgs {
			all = append(all, cobra.CompletionWithDesc(org.ID, org.Name))
		}
		return all, err
	})
}
