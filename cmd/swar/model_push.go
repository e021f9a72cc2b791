package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/models/oci"
	"github.com/swar-tts/swar/runtime/manifest"
)

func (a *app) modelPushCommand() *cobra.Command {
	var format *string
	cmd := &cobra.Command{
		Use:   "push NAME[@REVISION] | FOLDER oci://REGISTRY/NAME:TAG",
		Short: "Write a model into a registry of container images, for Kubernetes to mount",
		Long: `Pushes an installed model, or a bundle folder, to a registry: as an image that Kubernetes mounts as a volume, as a
ModelPack artefact of the CNCF, or as both, with the same layers. The same bundle has the same digest on every machine, and
layers that the registry has are not sent again. Credentials are those of docker login; a registry on this machine is called
in plain text.`,
		Example: `  swar model push saryps-hindi oci://registry.example.org/speech/saryps-hindi:1
  swar model push ./hindi-int8 oci://localhost:5000/hindi-int8:2026-11 --format both`,
		Args: launch.Exactly(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.HasPrefix(args[1], oci.Scheme) {
				return launch.BadUsage(cmd, "%s: want oci://REGISTRY/NAME:TAG", args[1])
			}
			folder, d, err := describe(args[0])
			if err != nil {
				return err
			}
			return launch.Interrupted(cmd.Context(), a.push(cmd.Context(), folder, args[1], d, oci.Format(*format)))
		},
	}
	format = launch.Choice(cmd.Flags(), "format", "form in the registry", string(oci.Image),
		string(oci.ModelPack), string(oci.Both))
	a.completeModels(cmd)
	return cmd
}

// describe finds the bundle of a name or folder, and describes it.
func describe(reference string) (folder string, d oci.Description, err error) {
	if info, err := os.Stat(reference); err == nil && info.IsDir() {
		folder = filepath.Clean(reference)
		d.Name = filepath.Base(folder)
		if folder, err = filepath.Abs(folder); err == nil {
			d.Name = filepath.Base(folder)
		}
	} else {
		_, m, err := findStored(reference)
		if err != nil {
			return "", d, err
		}
		folder, d.Name = m.Folder, m.Name
		if m.Repository != "" {
			d.Source = "https://huggingface.co/" + m.Repository
		}
	}
	b, err := manifest.Open(folder)
	if err != nil {
		return "", d, err
	}
	d.Revision, d.Licence, d.Languages, d.Precision, d.Family = b.Revision, b.Licence, b.Languages, b.Precision,
		b.Family()
	return folder, d, nil
}

func (a *app) push(ctx context.Context, folder, reference string, d oci.Description, format oci.Format) error {
	digest, err := manifest.Digest(folder)
	if err != nil {
		return err
	}
	shown := &pace{task: a.NewTask()}
	p, err := oci.Push(ctx, reference, folder, d, format, oci.Config{Agent: name + "/" + version, Progress: shown.at})
	shown.task.Clear()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s %s: %s, %s of them sent\n\n", a.Out.Green("✓"), reference, launch.Megabytes(p.Bytes),
		launch.Megabytes(p.Sent))
	if p.Image != "" {
		fmt.Fprintf(a.Out, "  spec.model.source.oci.reference  %s\n  spec.model.source.oci.subPath    %s\n", p.Image,
			d.Name)
	}
	if p.ModelPack != "" {
		fmt.Fprintf(a.Out, "  ModelPack                        %s\n", p.ModelPack)
	}
	fmt.Fprintf(a.Out, "  spec.model.sha256                %s  (--bundle-digest)\n", digest)
	return nil
}

// pullImage downloads a bundle from a registry.
func (p *pulling) pullImage(ctx context.Context, store models.Store, shown *pace) (m models.Model, err error) {
	c := oci.Config{Agent: name + "/" + version, Progress: shown.at, Limit: p.limit}
	found, err := oci.Find(ctx, p.request.Reference, c)
	if err != nil {
		return m, err
	}
	shown.task.Clear()
	p.printf("%s\n  from     %s\n  size     %s to download", p.request.Reference, found.Digest,
		launch.Megabytes(found.Bytes))
	downloads := filepath.Join(store.Dir, ".fetching-"+strings.TrimPrefix(found.Digest, "sha256:"))
	m, err = store.Import(ctx, p.importing(shown, p.request.Reference), func(folder string) error {
		return found.Pull(ctx, folder, downloads, c)
	})
	if err != nil {
		return m, err // the download is used further
	}
	return m, os.RemoveAll(downloads)
}
