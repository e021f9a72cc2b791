package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/swar-tts/swar/hack/images/internal/debian"
	"github.com/swar-tts/swar/hack/images/internal/spdx"
	"github.com/swar-tts/swar/hack/internal/oci"
)

// noticeLine is a line of NOTICE: a module and its licence.
var noticeLine = regexp.MustCompile(`(?m)^    (\S+/\S+) +(\S+(?: AND \S+)*)$`)

// moduleLicences reads from NOTICE which module is under which licence; a test keeps that list whole.
func (b *builder) moduleLicences() (map[string]string, error) {
	notice, err := os.ReadFile(filepath.Join(b.root, "NOTICE"))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, m := range noticeLine.FindAllStringSubmatch(string(notice), -1) {
		all[m[1]] = m[2]
	}
	return all, nil
}

// billOfMaterials lists what an image for one platform contains, as SPDX.
func (b *builder) billOfMaterials(r recipe, c *contents, w oci.Written) ([]byte, error) {
	licences, err := b.moduleLicences()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%s-%s", r.name, w.Platform.OS, w.Platform.Architecture)
	_, hash, _ := strings.Cut(w.Manifest.Digest, ":")
	d := spdx.New(name, "https://github.com/swar-tts/swar/sbom/"+name+"-"+hash, b.created)
	image := d.Add(spdx.Package{
		Name: "swar-tts-" + r.name, Version: b.version, Licence: r.licences, Purpose: "CONTAINER",
		URL: "pkg:oci/" + r.name + "@" + url.QueryEscape(w.Manifest.Digest) + "?arch=" + w.Platform.Architecture,
	}, "")
	for _, p := range c.programs {
		program := d.Add(spdx.Package{
			Name: p.name, Version: b.version, Licence: "Apache-2.0", SHA256: p.sha256(), Purpose: "APPLICATION",
		}, image)
		compiler := strings.TrimPrefix(p.info.GoVersion, "go")
		d.Add(spdx.Package{
			Name: "go-stdlib", Version: compiler, Licence: "BSD-3-Clause", Purpose: "LIBRARY",
			URL: "pkg:golang/stdlib@" + compiler,
		}, program)
		for _, m := range linked([]executable{p}) {
			if licences[m.path] == "" {
				return nil, fmt.Errorf("NOTICE does not say under which licence %s is", m.path)
			}
			d.Add(spdx.Package{
				Name: m.path, Version: m.version, Licence: licences[m.path], Purpose: "LIBRARY",
				URL: "pkg:golang/" + m.path + "@" + m.version,
			}, program)
		}
	}
	for _, p := range c.packages {
		qualifiers := "?arch=" + p.Architecture + "&distro=debian-" + debian.Release
		d.Add(spdx.Package{
			Name: p.Name, Version: p.Version, Licence: c.licences[p.Name], Supplier: "Organization: Debian",
			URL:    "pkg:deb/debian/" + url.PathEscape(p.Name) + "@" + url.QueryEscape(p.Version) + qualifiers,
			Source: fmt.Sprintf("built by Debian %s from the sources %s %s", debian.Release, p.Source, p.SourceVersion),
		}, image)
	}
	if r.speaks {
		d.Add(spdx.Package{
			Name: "onnxruntime", Version: c.onnx, Licence: "MIT", SHA256: c.onnxSHA, Purpose: "LIBRARY",
			URL:    "pkg:pypi/onnxruntime@" + c.onnx,
			Source: "the library in that package; what it contains of others is in /" + docFolder + "/onnxruntime",
		}, image)
		d.Add(spdx.Package{
			Name: "libpcaudio.so.0", Version: b.version, Licence: "Apache-2.0", Purpose: "LIBRARY",
			Source: "images/noaudio.c of Swar, in the place of Debian's libpcaudio0",
		}, image)
	}
	var out bytes.Buffer
	err = d.Write(&out)
	return out.Bytes(), err
}
