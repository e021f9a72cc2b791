package main

import (
	"fmt"
	"slices"
	"strings"
)

// A recipe says what an image is made of.
type recipe struct {
	name        string   // the last part of its name
	title       string   // in a few words
	description string   // in a sentence
	programs    []string // folders below cmd; the first one is started
	ports       []int
	data        bool // has a folder /data that the program writes to
	encodes     bool // has libopus, libmp3lame and the C library, and not only programs
	speaks      bool // has espeak-ng and ONNX Runtime as well
	licences    string
}

// recipes has an image for every program of a fleet. A program under cmd that has none must stand in inNoImage.
var recipes = []recipe{
	{
		name: "router", title: "Swar router",
		description: "Answers clients of the speech API and sends utterances to worker pods.",
		programs:    []string{"router"}, ports: []int{8080, 8090, 8091}, data: true, encodes: true,
		licences: "Apache-2.0 AND LGPL-2.1-or-later AND LGPL-2.0-or-later AND BSD-3-Clause AND MPL-2.0",
	},
	{
		name: "portal", title: "Swar portal",
		description: "Organisations, API keys and usage for routers, in SQLite or Firestore.",
		programs:    []string{"portal"}, ports: []int{8081, 8082, 8083}, data: true, licences: "Apache-2.0",
	},
	{
		name: "operator", title: "Swar operator", description: "Keeps fleets as their TTSDeployments want them.",
		programs: []string{"operator"}, ports: []int{6443, 8081, 8443, 9443}, licences: "Apache-2.0",
	},
	{
		name: "worker", title: "Swar worker", description: "Speaks for routers, with espeak-ng or a neural model.",
		programs: []string{"worker", "swar"}, ports: []int{9090, 9091}, encodes: true, speaks: true,
		licences: "Apache-2.0 AND GPL-3.0-or-later AND LGPL-2.1-or-later AND LGPL-2.0-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1" +
			" AND BSD-3-Clause AND MIT AND MPL-2.0",
	},
}

// inNoImage are programs that need no image of their own.
var inNoImage = map[string]string{"swar": "the worker's image has it, for its commands on bundles"}

// program is what the program of a folder of cmd is called.
func program(folder string) string {
	if folder == "swar" {
		return folder
	}
	return "swar-" + folder
}

func findRecipe(name string) (recipe, error) {
	i := slices.IndexFunc(recipes, func(r recipe) bool { return r.name == name })
	if i < 0 {
		var names []string
		for _, r := range recipes {
			names = append(names, r.name)
		}
		return recipe{}, fmt.Errorf("there is no image %s, only %s", name, strings.Join(names, ", "))
	}
	return recipes[i], nil
}

// A package of Debian, and what is taken of it besides its licence. TRIPLET stands for x86_64-linux-gnu or its like.
type debianPackage struct {
	name    string
	licence string // as its copyright file has it
	files   []string
}

// authorities is what every image takes from Debian: the certificates of public authorities, see trust.
var authorities = debianPackage{"ca-certificates", "MPL-2.0 AND GPL-2.0-or-later", nil}

// codecPackages is what an image that encodes takes from Debian. That all libraries are there that another one needs is
// checked.
var codecPackages = []debianPackage{
	{"base-files", "GPL-2.0-or-later", []string{
		"usr/lib/os-release", "etc/os-release", "etc/debian_version", "usr/share/common-licenses/*",
	}},
	{"libmp3lame0", "LGPL-2.0-or-later", []string{"usr/lib/TRIPLET/libmp3lame.so.0*"}},
	{"libopus0", "BSD-3-Clause", []string{"usr/lib/TRIPLET/libopus.so.0*"}},
	{"libc6", "LGPL-2.1-or-later AND BSD-3-Clause", []string{
		"usr/lib/TRIPLET/ld-linux-*", "usr/lib*/ld-linux-*", "usr/lib/TRIPLET/libc.so.6", "usr/lib/TRIPLET/libm.so.6",
		"usr/lib/TRIPLET/libdl.so.2", "usr/lib/TRIPLET/libpthread.so.0", "usr/lib/TRIPLET/librt.so.1",
	}},
}

// speechPackages is what an image that speaks takes besides.
var speechPackages = []debianPackage{
	{"espeak-ng", "GPL-3.0-or-later AND BSD-2-Clause", []string{"usr/bin/espeak-ng"}},
	{"espeak-ng-data", "GPL-3.0-or-later", []string{"usr/lib/TRIPLET/espeak-ng-data/**"}},
	{"libespeak-ng1", "GPL-3.0-or-later AND BSD-2-Clause", []string{"usr/lib/TRIPLET/libespeak-ng.so.1*"}},
	{"libsonic0", "Apache-2.0", []string{"usr/lib/TRIPLET/libsonic.so.0*"}},
	{"gcc-12-base", "GPL-3.0-or-later WITH GCC-exception-3.1", nil}, // the licence of the next two lies here
	{"libgcc-s1", "GPL-3.0-or-later WITH GCC-exception-3.1", []string{"usr/lib/TRIPLET/libgcc_s.so.1"}},
	{"libstdc++6", "GPL-3.0-or-later WITH GCC-exception-3.1", []string{"usr/lib/TRIPLET/libstdc++.so.6*"}},
}

// packages is what an image takes from Debian, besides the authorities.
func (r recipe) packages() []debianPackage {
	var all []debianPackage
	if r.encodes {
		all = append(all, codecPackages...)
	}
	if r.speaks {
		all = append(all, speechPackages...)
	}
	return all
}

// buildPackages is what programs that encode are compiled with beside the libraries, whatever this machine has.
var buildPackages = []string{"libmp3lame-dev", "libopus-dev"}

// An architecture is what differs between machines.
type architecture struct {
	triplet  string // of Debian
	compiler string // of Debian, on machines of another architecture
}

// architectures is by Go's names, which are Debian's too.
var architectures = map[string]architecture{
	"amd64": {"x86_64-linux-gnu", "x86_64-linux-gnu-gcc"},
	"arm64": {"aarch64-linux-gnu", "aarch64-linux-gnu-gcc"},
}
