package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/models/archive"
)

func (a *app) fetchCommand() *cobra.Command {
	var (
		c     archive.Config
		limit *int64
	)
	cmd := &cobra.Command{
		Use:   "fetch URL",
		Short: "Fetch a bundle in an archive",
		Long: `Downloads a .tar, .tar.gz or .tar.zst file, checks its SHA-256, and unpacks it into the folder --to, which appears when it
is complete. If the archive has one top folder, --to becomes that folder.

An interrupted download is retried five times and resumes where it stopped, also from DIR.part of an earlier run.
DIR.sha256 records the archive of the folder: fetching it again does nothing.

The archive may have files and folders, but no links and no names outside of the folder.`,
		Example: `  swar bundle fetch https://models.example.org/hindi-int8.tar.zst --sha256 9f2c… --to hindi-int8`,
		Args:    launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.URL, c.Limit = args[0], *limit
			if err := checkFetch(cmd, c); err != nil {
				return err
			}
			return a.fetchBundle(cmd.Context(), c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.SHA256, "sha256", "", "SHA-256 of the archive, in `hex`")
	f.StringVar(&c.To, "to", "", "`folder` of the bundle")
	limit = launch.Size(f, "limit", 2<<30, "limit for the archive and its contents together")
	return cmd
}

// checkFetch refuses settings that cannot be meant.
func checkFetch(cmd *cobra.Command, c archive.Config) error {
	u, err := url.Parse(c.URL)
	sum, hexErr := hex.DecodeString(c.SHA256)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return launch.BadUsage(cmd, "the address must begin with http:// or https:// and name a server")
	case c.SHA256 == "":
		return launch.BadUsage(cmd, "--sha256 is missing: take it from the publisher, or compute it with `sha256sum`")
	case hexErr != nil || len(sum) != 32:
		return launch.BadUsage(cmd, "--sha256 %q: want the 64 hexadecimal digits of a SHA-256", c.SHA256)
	case c.To == "":
		return launch.BadUsage(cmd, "--to is missing; name the folder of the bundle")
	case c.Limit < 1:
		return launch.BadUsage(cmd, "--limit %d: want a size such as 2GiB", c.Limit)
	}
	return nil
}

func (a *app) fetchBundle(ctx context.Context, c archive.Config) error {
	shown := a.NewTask()
	c.Progress = shown.At
	r, err := archive.Fetch(ctx, c)
	shown.Clear()
	if err != nil {
		return launch.Interrupted(ctx, err)
	}
	if r.Known {
		fmt.Fprintf(a.Out, "%s %s already has this archive\n", a.Out.Green("✓"), c.To)
		return nil
	}
	fmt.Fprintf(a.Out, "%s %s: %s, %s\n\n", a.Out.Green("✓"), c.To, launch.Plural(r.Files, "file"),
		launch.Megabytes(r.Bytes))
	a.nextSteps(c.To)
	return nil
}
