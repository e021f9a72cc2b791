package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/models/archive"
	"github.com/swar-tts/swar/models/oci"
	"github.com/swar-tts/swar/runtime/manifest"
)

// findStored returns the model of the store that NAME[@REVISION] names.
func findStored(reference string) (models.Store, models.Model, error) {
	store, err := models.OpenStore()
	if err != nil {
		return store, models.Model{}, err
	}
	name, revision, _ := strings.Cut(reference, "@")
	m, err := store.Find(name, revision)
	return store, m, err
}

func (a *app) modelVerifyCommand() *cobra.Command {
	var r engine.Runtime
	cmd := &cobra.Command{
		Use:   "verify NAME[@REVISION]",
		Short: "Check an installed model against its lock file, and speak once with every voice",
		Args:  launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, m, err := findStored(args[0])
			if err != nil {
				return err
			}
			sum, err := manifest.Digest(m.Folder)
			if err != nil {
				return err
			}
			if sum != m.Bundle {
				return fmt.Errorf("the manifest of %s was changed since it was pulled: its SHA-256 is %s, and the lock file says %s; "+
					"`%s model rm %s` and pull it again", m.Name, sum, m.Bundle, a.Invocation, args[0])
			}
			return launch.Interrupted(cmd.Context(), a.verifyBundle(cmd.Context(), m.Folder, r))
		},
	}
	r.Define(cmd.Flags())
	a.completeModels(cmd)
	return cmd
}

func (a *app) modelExportCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "export NAME[@REVISION]",
		Short: "Write a model into an archive, for a machine without the internet",
		Long: `Writes a tar archive of an installed model, and prints its SHA-256. The same model gives the same bytes. The other machine
reads it by import, or from your own address by pull with that hash, or by bundle fetch.`,
		Example: `  swar model export saryps-hindi -o saryps-hindi.tar
  swar model export saryps-hindi -o - | ssh offline swar model import -`,
		Args: launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return launch.BadUsage(cmd, "-o is missing; name the archive, or - for standard output")
			}
			store, m, err := findStored(args[0])
			if err != nil {
				return err
			}
			return launch.Interrupted(cmd.Context(), a.exportModel(cmd.Context(), store, m, output))
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the archive, a `file`, or - for standard output")
	a.completeModels(cmd)
	return cmd
}

func (a *app) exportModel(ctx context.Context, store models.Store, m models.Model, output string) (err error) {
	shown, sum := a.NewTask(), sha256.New()
	defer shown.Clear()
	if output == "-" {
		return store.Export(ctx, m, a.Out, shown.At)
	}
	file, err := os.CreateTemp(filepath.Dir(output), ".exporting-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // unless it has got its name
	err = store.Export(ctx, m, io.MultiWriter(file, sum), shown.At)
	if err := errors.Join(err, file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), output); err != nil {
		return err
	}
	shown.Clear()
	fmt.Fprintf(a.Out, "%s %s  %s\n\n  %s model import %s\n", a.Out.Green("✓"), hex.EncodeToString(sum.Sum(nil)),
		output, a.Invocation, quote(output))
	return nil
}

func (a *app) modelImportCommand() *cobra.Command {
	p := pulling{app: a}
	var limit *int64
	cmd := &cobra.Command{
		Use:   "import FILE | -",
		Short: "Read a model from an archive that export wrote, or with any bundle",
		Long: `Unpacks a .tar, .tar.gz or .tar.zst archive with a model or a bundle, speaks once with every voice, and puts it into the
store. The archive may have files and folders, but no links and no names outside of the folder.`,
		Args: launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.limit = *limit
			m, err := p.importFile(cmd.Context(), args[0])
			if err != nil {
				return launch.Interrupted(cmd.Context(), err)
			}
			p.done(m, true)
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&p.request.Name, "name", "", "`name` in the local store (default its own)")
	limit = launch.Size(f, "limit", defaultArchiveLimit,
		"limit for the archive and its contents together")
	f.BoolVar(&p.quiet, "quiet", false, "print only the folder of the bundle")
	p.runtime.Define(f)
	return cmd
}

const defaultArchiveLimit = 4 << 30 // of a model, twice: packed and unpacked

// importing is a model that comes as an archive.
func (p *pulling) importing(shown *pace, reference string) models.ImportRequest {
	return models.ImportRequest{Reference: reference, Name: p.request.Name, Limit: p.limit, Progress: shown.at,
		Verify: p.verify}
}

// importFile imports a model from an archive on this machine, or on standard input.
func (p *pulling) importFile(ctx context.Context, name string) (m models.Model, err error) {
	store, err := models.OpenStore()
	if err != nil {
		return m, err
	}
	shown := p.newPace()
	defer shown.task.Clear()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return m, err
		}
		defer func() { _ = file.Close() }()
		return store.ImportArchive(ctx, file, p.importing(shown, "file:"+name))
	}
	if err := os.MkdirAll(store.Dir, 0o755); err != nil {
		return m, err
	}
	file, err := os.CreateTemp(store.Dir, ".standard-input-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	n, err := io.Copy(file, io.LimitReader(p.app.In, p.limit+1))
	if err == nil && n > p.limit {
		err = fmt.Errorf("the download exceeds --limit (%d bytes)", p.limit)
	}
	if err != nil {
		return m, err
	}
	return store.ImportArchive(ctx, file, p.importing(shown, "-"))
}

// pullElsewhere imports a model that no hub has: a folder or an archive on this machine, a bundle of a registry, or an
// archive at an address with a known hash.
func (p *pulling) pullElsewhere(ctx context.Context) (m models.Model, err error) {
	reference := p.request.Reference
	if path, isFile := strings.CutPrefix(reference, "file:"); isFile {
		path = strings.TrimPrefix(path, "//")
		info, err := os.Stat(path)
		if err != nil {
			return m, err
		}
		if !info.IsDir() {
			return p.importFile(ctx, path)
		}
		store, err := models.OpenStore()
		if err != nil {
			return m, err
		}
		shown := p.newPace()
		defer shown.task.Clear()
		return store.ImportFolder(ctx, path, p.importing(shown, reference))
	}
	if strings.HasPrefix(reference, oci.Scheme) {
		store, err := models.OpenStore()
		if err != nil {
			return m, err
		}
		shown := p.newPace()
		defer shown.task.Clear()
		return p.pullImage(ctx, store, shown)
	}
	address, sum, _ := strings.Cut(reference, "#sha256=")
	if len(sum) != 64 || strings.Trim(strings.ToLower(sum), "0123456789abcdef") != "" {
		return m, fmt.Errorf("%s: add #sha256= and the 64 hexadecimal digits of the archive's hash, to verify the download", address)
	}
	store, err := models.OpenStore()
	if err != nil {
		return m, err
	}
	// An interrupted download stays there until the next pull. The name is the hash: two concurrent pulls download the
	// same content.
	folder := filepath.Join(store.Dir, ".fetching-"+strings.ToLower(sum))
	shown := p.newPace()
	defer shown.task.Clear()
	if _, err := archive.Fetch(ctx,
		archive.Config{URL: address, SHA256: sum, To: folder, Limit: p.limit, Progress: shown.at}); err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder), os.Remove(folder+".sha256")) }()
	return store.ImportFetched(ctx, folder, p.importing(shown, reference))
}

// isElsewhere reports whether a reference names something that is on no hub.
func isElsewhere(reference string) bool {
	return slices.ContainsFunc([]string{"file:", "https://", "http://", oci.Scheme}, func(prefix string) bool {
		return strings.HasPrefix(reference, prefix)
	})
}
