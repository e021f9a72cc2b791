package main

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

// A shell that completes a value must not hang, and has nowhere to show an error: what cannot be had in time is not
// offered.

// completeFor is how long a completion may ask a server.
const completeFor = 2 * time.Second

// completeChoices completes every flag below cmd that takes one of a few words, or a folder.
func completeChoices(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		kind, _ := pflag.UnquoteUsage(f)
		switch words := launch.Choices(f); {
		case words != nil:
			complete(cmd, f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		case kind == "folder":
			complete(cmd, f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
		}
	})
	for _, c := range cmd.Commands() {
		completeChoices(c)
	}
}

// complete completes a flag, which must exist and have no other completion.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// offer makes list, which asks for what there is, a completion. The command line is read as for running the command.
func (a *app) offer(list func(cmd *cobra.Command) ([]cobra.Completion, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithTimeout(parent, completeFor)
		defer cancel()
		cmd.SetContext(ctx)
		if err := a.Settings(cmd); err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, _ := list(cmd) // the part that is known helps too
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// offerVoices completes a voice with those that where lets its key use.
func (a *app) offerVoices(where *remote) cobra.CompletionFunc {
	return a.offer(func(cmd *cobra.Command) ([]cobra.Completion, error) {
		v, err := where.voices(cmd)
		return named(v), err
	})
}

// offerVoicesHere is offerVoices for a command that may speak in this process.
func (a *app) offerVoicesHere(where *remote, own *engine.Flags, local *bool) cobra.CompletionFunc {
	return a.offer(func(cmd *cobra.Command) ([]cobra.Completion, error) {
		here, err := a.here(cmd, own, *local)
		if err != nil {
			return nil, err
		}
		if !here {
			v, err := where.voices(cmd)
			return named(v), err
		}
		v, err := voicesHere(cmd.Context(), own)
		return named(v), err
	})
}

func named(v client.Voices) (all []cobra.Completion) {
	for _, voice := range v.Voices {
		all = append(all, cobra.CompletionWithDesc(voice.Name, voice.Language))
	}
	return all
}

// offerKeys completes the identifier of a key, the first argument, with the keys that are good.
func (a *app) offerKeys(c *control) cobra.CompletionFunc {
	keys := a.offer(func(cmd *cobra.Command) (all []cobra.Completion, err error) {
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
func (a *app) offerOrgs(c *control) cobra.CompletionFunc {
	return a.offer(func(cmd *cobra.Command) (all []cobra.Completion, err error) {
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
