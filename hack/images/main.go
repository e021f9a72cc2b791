// Command images builds the container images of Swar without a daemon: for each image an archive of the OCI layout,
// a bill of materials for each platform, and digests.json, which names all of them.
//
//	images [build]      write the archives
//	images rootfs       write the files of one image into a folder, as the Dockerfiles do
//	images pin          pin the present versions of Debian's packages
//	images sources      download the sources of Debian's packages in the worker's image
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/swar-tts/swar/hack/images/internal/debian"
	"github.com/swar-tts/swar/hack/internal/oci"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("images: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// settings is the command line.
type settings struct {
	prefix    string
	version   string
	tag       string
	platforms string
	only      string
	out       string
	mirror    string
}

// localPrefix is of images that are loaded into nodes: a node asks no other machine for what is missing there.
const localPrefix = "localhost/swar/"

// commands is what can be done.
var commands = map[string]func(context.Context, *builder, settings) error{
	"build": buildAll, "rootfs": writeRootFS, "pin": pinPackages, "sources": downloadSources,
}

func run(ctx context.Context, args []string) error {
	name := "build"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	command, ok := commands[name]
	if !ok {
		return fmt.Errorf("there is no command %s: build, rootfs, pin or sources", name)
	}
	var s settings
	f := flag.NewFlagSet("images "+name, flag.ContinueOnError)
	prefix := cmp.Or(os.Getenv("IMAGE_PREFIX"), localPrefix)
	f.StringVar(&s.prefix, "prefix", prefix, "what the names of images begin with: a registry, a folder, a slash")
	f.StringVar(&s.version, "version", os.Getenv("VERSION"), "version of the programs")
	f.StringVar(&s.tag, "tag", os.Getenv("IMAGE_TAG"),
		"tag of the images (default the chart's appVersion, which the chart asks for)")
	f.StringVar(&s.platforms, "platforms", "linux/"+runtime.GOARCH, "platforms, separated by commas")
	f.StringVar(&s.only, "only", "", "images, separated by commas (default all)")
	f.StringVar(&s.out, "out", filepath.Join("dist", "images"), "folder to write to")
	f.StringVar(&s.mirror, "mirror", os.Getenv("DEBIAN_MIRROR"),
		"mirror with the folders debian and debian-security (default the one of this machine's apt)")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%q is not a flag", f.Arg(0))
	}
	if s.mirror = cmp.Or(s.mirror, debian.SystemMirror(ctx)); s.mirror == "" {
		return errors.New("apt here installs nothing from Debian: name a mirror with the folders debian and debian-security in DEBIAN_MIRROR or -mirror")
	}
	b, err := newBuilder(ctx, s)
	if err != nil {
		return err
	}
	defer b.close()
	return command(ctx, b, s)
}

// tag matches what the specification of registries allows as a tag.
var tag = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// tagOf returns the tag for a version; a plus, which versions may have and tags may not, becomes a dash.
func tagOf(version string) (string, error) {
	t := strings.ReplaceAll(version, "+", "-")
	switch {
	case version == "":
		return "", errors.New("which version? name it with -version")
	case t == "latest":
		return "", errors.New("latest says nothing: name a version")
	case !tag.MatchString(t):
		return "", fmt.Errorf("%q is not a tag: letters, digits, dots, dashes and underscores, 128 at most", version)
	}
	return t, nil
}

// appVersion matches that line of a chart.
var appVersion = regexp.MustCompile(`(?m)^appVersion: "?([^"\s]+)"?$`)

// chartVersion returns the version by which the chart asks for images.
func chartVersion(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "charts", "swar", "Chart.yaml"))
	if err != nil {
		return "", err
	}
	found := appVersion.FindSubmatch(text)
	if found == nil {
		return "", errors.New("charts/swar/Chart.yaml has no appVersion: name a tag with -tag")
	}
	return string(found[1]), nil
}

func parsePlatforms(list string) ([]oci.Platform, error) {
	var all []oci.Platform
	for name := range strings.SplitSeq(list, ",") {
		system, arch, _ := strings.Cut(strings.TrimSpace(name), "/")
		if _, known := architectures[arch]; system != "linux" || !known {
			return nil, fmt.Errorf("there are no images for %q, only for linux/amd64 and linux/arm64", name)
		}
		all = append(all, oci.Platform{OS: system, Architecture: arch})
	}
	return all, nil
}

// chosen returns the recipes of a list of names, all of them for an empty one.
func chosen(list string) ([]recipe, error) {
	if list == "" {
		return recipes, nil
	}
	var all []recipe
	for name := range strings.SplitSeq(list, ",") {
		r, err := findRecipe(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// pinsFile is where versions and hashes of Debian's packages are pinned.
const pinsFile = "images/debian.pins"

func pinPackages(ctx context.Context, b *builder, _ settings) error {
	var all debian.Pins
	for _, arch := range []string{"amd64", "arm64"} {
		pins, err := b.archive.Candidates(ctx, arch, packageNames())
		if err != nil {
			return err
		}
		all = append(all, pins...)
	}
	return all.Write(filepath.Join(b.root, pinsFile),
		"Packages of Debian "+debian.Release+" in the images, and what they are compiled with.\n"+
			"Architecture, package, version, SHA-256 of the file. Written by make image-pins.\n")
}

func packageNames() []string {
	names := append([]string{authorities.name}, buildPackages...)
	for _, p := range slices.Concat(codecPackages, speechPackages) {
		names = append(names, p.name)
	}
	return names
}
