package control

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/portal/migrate"
	"github.com/swar-tts/swar/portal/sqlite"
	book "github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

func (a *Commands) migrateCommand() *cobra.Command {
	var p portal.StoreFlags
	var from, to *string
	var resume bool
	cmd := &cobra.Command{
		Use:   "migrate --from sqlite --to firestore --project PROJECT",
		Short: "Move the portal's records to another store",
		Long: `Copies organisations, members, keys, usage and bills from one store to another, empty one, and compares the counts. Stop
the servers of both first. Pending usage in --data is added to the source before. The source stays unchanged.

Users sign in again afterwards: sessions are not moved. --resume resumes an interrupted migration.`,
		Example: fmt.Sprintf(`  %s migrate --from sqlite --to firestore --project my-project
  %s --store firestore --project my-project`, a.Name, a.Start),
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case *from == *to:
				return launch.BadUsage(cmd, "--from and --to are the same; want sqlite and firestore")
			case p.Project == "":
				return launch.BadUsage(cmd, "name the Google Cloud project of the database with --project")
			}
			counts, err := a.migrate(cmd, &p, *from, resume)
			if err != nil {
				return launch.Interrupted(cmd.Context(), err)
			}
			_, err = fmt.Fprintf(a.Out, "moved %s, %s, %s, %s and %s; both stores have the same records\n",
				launch.Plural(counts.Orgs, "organisation"),
				launch.Plural(counts.Members, "member"), launch.Plural(counts.Keys, "key"),
				launch.Plural(counts.Requests, "request"), launch.Plural(counts.Audits, "line")+" of the audit log")
			return err
		},
	}
	f := cmd.Flags()
	from = launch.Choice(f, "from", "where the records are", "sqlite", "firestore")
	to = launch.Choice(f, "to", "the target store", "firestore", "sqlite")
	f.StringVar(&p.Project, "project", "", "Google Cloud `project` of the store firestore")
	portal.DataFlag(f, &p.Data)
	f.BoolVar(&resume, "resume", false, "resume an interrupted migration")
	return cmd
}

// migrate moves everything from the store that from names to the other one.
func (a *Commands) migrate(cmd *cobra.Command, p *portal.StoreFlags, from string,
	resume bool) (_ migrate.Counts, err error) {
	ctx, log := cmd.Context(), slog.New(slog.DiscardHandler)
	var file *sqlite.Store
	if from == "sqlite" {
		file, err = p.OpenFile(ctx, true)
	} else if err = p.MakeFolder(); err == nil {
		file, err = sqlite.Open(ctx, sqlite.Config{Path: p.Database(), Server: true})
	}
	if err != nil {
		return migrate.Counts{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	cloud, err := portal.OpenFirestore(ctx, p.Project, log)
	if err != nil {
		return migrate.Counts{}, err
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	type store interface {
		portal.Records
		migrate.Store
	}
	var source, target store = file, cloud
	if from == "firestore" {
		source, target = cloud, file
	}
	if err := a.shipAll(cmd, p, source); err != nil {
		return migrate.Counts{}, err
	}
	progress := a.NewTask()
	defer progress.Clear()
	return migrate.Move(ctx, migrate.Config{Resume: resume, Progress: func(c migrate.Counts) {
		progress.At(0, 0,
			fmt.Sprintf("moved %s, %s, %s", launch.Plural(c.Orgs, "organisation"), launch.Plural(c.Keys, "key"),
				launch.Plural(c.Requests, "request")))
	}}, source, target)
}

// shipAll writes the usage that is still in the folder to the store.
func (a *Commands) shipAll(cmd *cobra.Command, p *portal.StoreFlags, to portal.Records) error {
	if _, err := os.Stat(p.Events()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	log := slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	events, err := meter.OpenLog(meter.LogConfig{Folder: p.Events()}, log)
	if err != nil {
		return err
	}
	err = meter.NewShipper(meter.ShipperConfig{}, events, book.NewLedger(to), log).Drain(cmd.Context())
	return errors.Join(err, events.Close())
}
