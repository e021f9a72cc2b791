package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/portal/sqlite"
)

func (a *Commands) backupCommand() *cobra.Command {
	var p portal.StoreFlags
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write the portal's records to a file, also while the server works",
		Long: `Copies the portal's records in --data as of one moment, and verifies the copy. The server keeps running.

Firestore makes its own backups: gcloud firestore backups schedules create, or gcloud firestore export.`,
		Example: "  " + a.Name + ` backup "swar-$(date +%F).db"`,
		Args:    launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			store, err := p.OpenFile(cmd.Context(), false)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, store.Close()) }()
			progress := a.NewTask()
			progress.At(0, 0, "copying "+p.Database())
			err = store.Backup(cmd.Context(), args[0])
			progress.Clear()
			if err != nil {
				return launch.Interrupted(cmd.Context(), err)
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Out, "%s holds %s, verified\n", args[0], launch.Megabytes(info.Size()))
			return err
		},
	}
	portal.DataFlag(cmd.Flags(), &p.Data)
	return cmd
}

func (a *Commands) restoreCommand() *cobra.Command {
	var p portal.StoreFlags
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore a backup of the portal's records",
		Long: `Replaces the records in --data by a file of ` + a.Name + ` backup. Stop the server first. The file is verified before,
and the current records are kept under another name. Changes since the backup are lost: keys that were revoked since are
valid again, and their usage is missing in bills.`,
		Example: fmt.Sprintf(`  %[1]s restore swar-2026-11-20.db
  %[1]s restore --data /var/lib/swar-new swar-2026-11-20.db`, a.Name),
		Args: launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("there is no file %s", args[0])
			}
			if err := p.MakeFolder(); err != nil {
				return err
			}
			progress := a.NewTask()
			progress.At(0, 0, "reading "+args[0])
			aside, err := sqlite.Restore(cmd.Context(), p.Database(), args[0])
			progress.Clear()
			if err != nil {
				return launch.Interrupted(cmd.Context(), err)
			}
			if aside != "" {
				fmt.Fprintf(a.Err, "the previous records are now %s\n", aside)
			}
			_, err = fmt.Fprintf(a.Out, "%s restored from %s\n", p.Database(), args[0])
			return err
		},
	}
	portal.DataFlag(cmd.Flags(), &p.Data)
	return cmd
}
