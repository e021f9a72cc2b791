package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/hack/images/internal/debian"
)

const root = "../.."

// TestEveryProgramHasAnImage fails for a program under cmd that no image has and that inNoImage does not explain.
func TestEveryProgramHasAnImage(t *testing.T) {
	started := map[string]bool{}
	for _, r := range recipes {
		started[r.programs[0]] = true
		for _, p := range r.programs {
			if _, err := os.Stat(filepath.Join(root, "cmd", p, "main.go")); err != nil {
				t.Errorf("image %s has the program %s: %v", r.name, p, err)
			}
		}
	}
	mains, err := filepath.Glob(filepath.Join(root, "cmd", "*", "main.go"))
	if err != nil || len(mains) < 4 {
		t.Fatalf("found %d programs (%v)", len(mains), err)
	}
	for _, path := range mains {
		folder := filepath.Base(filepath.Dir(path))
		if !started[folder] && inNoImage[folder] == "" {
			t.Errorf("cmd/%s has no image: add a recipe and images/%s.Dockerfile, or say in inNoImage why not",
				folder, folder)
		}
	}
}

// TestDockerfilesAreAsRecipesSay compares what can be compared without a daemon.
func TestDockerfilesAreAsRecipesSay(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(root, "images", "*.Dockerfile"))
	if err != nil || len(found) != len(recipes) {
		t.Errorf("there are %d Dockerfiles and %d images (%v)", len(found), len(recipes), err)
	}
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(root, "images", r.name+".Dockerfile"))
			if err != nil {
				t.Fatal(err)
			}
			compareDockerfile(t, r, string(content))
		})
	}
}

var (
	continued = regexp.MustCompile(`\\\n\s*`)
	base      = regexp.MustCompile(`(?m)^FROM (?:--platform=\$BUILDPLATFORM )?(\S+)`)
	label     = regexp.MustCompile(`(org\.opencontainers\.image\.\w+)="([^"]*)"`)
	dockerGo  = regexp.MustCompile(`golang:(\d+\.\d+)\.\d+-` + debian.Codename)
)

func compareDockerfile(t *testing.T, r recipe, content string) {
	content = continued.ReplaceAllString(content, "")
	if strings.Contains(content, "latest") {
		t.Error("it says latest")
	}
	bases := base.FindAllStringSubmatch(content, -1)
	if len(bases) < 2 || bases[len(bases)-1][1] != "scratch" {
		t.Errorf("its stages are %v, and the last one is not scratch", bases)
	}
	for _, b := range bases[:len(bases)-1] {
		if _, tag, ok := strings.Cut(b[1], ":"); !ok || tag == "" {
			t.Errorf("the stage from %s has no tag", b[1])
		}
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if m := dockerGo.FindStringSubmatch(content); m == nil || !strings.Contains(string(mod), "\ngo "+m[1]+".") {
		t.Errorf("it builds with %v, which is not the Go of go.mod", m)
	}
	_, last, _ := strings.Cut(content, "\nFROM scratch\n")
	want := (&builder{version: "$VERSION", revision: "$REVISION"}).execution(r)
	entrypoint, err := json.Marshal(want.Entrypoint)
	if err != nil {
		t.Fatal(err)
	}
	var ports []string
	for _, p := range r.ports {
		ports = append(ports, strconv.Itoa(p))
	}
	lines := []string{
		"COPY --from=build /image/ /", "USER " + want.User, "WORKDIR " + want.WorkingDir, "STOPSIGNAL " + want.StopSignal,
		"ENTRYPOINT " + string(entrypoint), "ENV " + strings.Join(want.Env, " "), "EXPOSE " + strings.Join(ports, " "),
	}
	if r.data {
		lines = append(lines, fmt.Sprintf("COPY --from=build --chown=%d:0 /image/data/ /data/", user))
	}
	for _, line := range lines {
		if !slices.Contains(strings.Split(last, "\n"), line) {
			t.Errorf("its last stage has no line %s", line)
		}
	}
	got := map[string]string{}
	for _, m := range label.FindAllStringSubmatch(last, -1) {
		got[m[1]] = m[2]
	}
	delete(want.Labels, "org.opencontainers.image.created") // which only the daemon knows
	for name, value := range want.Labels {
		if got[name] != value {
			t.Errorf("label %s is %q, want %q", name, got[name], value)
		}
	}
	if run := "-only " + r.name + " -platforms linux/$TARGETARCH -version"; !strings.Contains(content, run) {
		t.Errorf("it does not run hack/images rootfs %s", run)
	}
}

func TestPinsAreComplete(t *testing.T) {
	pins, err := debian.ReadPins(filepath.Join(root, pinsFile))
	if err != nil {
		t.Fatal(err)
	}
	for arch := range architectures {
		for _, name := range packageNames() {
			if _, err := pins.Find(arch, name); err != nil {
				t.Error(err)
			}
		}
	}
	if want := len(architectures) * len(packageNames()); len(pins) != want {
		t.Errorf("%d pins, want %d: run make image-pins", len(pins), want)
	}
}

// TestTheLicenceOfAnImageNamesThoseOfItsPackages: whoever reads the label sees every strong licence in it.
func TestTheLicenceOfAnImageNamesThoseOfItsPackages(t *testing.T) {
	for _, r := range recipes {
		for _, p := range r.packages() {
			for part := range strings.SplitSeq(p.licence, " AND ") {
				if (strings.Contains(part, "GPL-3.0") || strings.Contains(part, "LGPL")) &&
					!strings.Contains(r.licences, part) {
					t.Errorf("%s is under %s, which the label of %s does not name", p.name, part, r.name)
				}
			}
		}
	}
}

func TestTagOf(t *testing.T) {
	for name, c := range map[string]struct{ version, want string }{
		"a release":                 {"v1.2.3", "v1.2.3"},
		"a commit":                  {"9a4214b-dirty", "9a4214b-dirty"},
		"a plus becomes a dash":     {"v1.2.3+build", "v1.2.3-build"},
		"no version":                {"", ""},
		"latest":                    {"latest", ""},
		"a space":                   {"v1 2", ""},
		"a slash":                   {"a/b", ""},
		"a dot in front":            {".v1", ""},
		"127 characters":            {strings.Repeat("a", 127), strings.Repeat("a", 127)},
		"128 characters, the limit": {strings.Repeat("a", 128), strings.Repeat("a", 128)},
		"129 characters":            {strings.Repeat("a", 129), ""},
	} {
		got, err := tagOf(c.version)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// TestTheChartAsksForTheseImages: what the chart wants where images are loaded into nodes is what is made without
// flags.
func TestTheChartAsksForTheseImages(t *testing.T) {
	rendered, err := os.ReadFile(filepath.Join(root, "hack/chart/testdata/default.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ set, want string }{
		"the chart's":       {"", "0.1.0"},
		"another":           {"v1.0.0", "v1.0.0"},
		"one with a plus":   {"1.0+k8s", "1.0-k8s"},
		"latest":            {"latest", ""},
		"what is not a tag": {"a b", ""},
	} {
		got, err := (&builder{root: root}).tag(settings{tag: tt.set})
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, tt.want)
		}
		for _, r := range recipes {
			if tt.set == "" && !strings.Contains(string(rendered), localPrefix+r.name+":"+got) {
				t.Errorf("the chart does not ask for %s%s:%s", localPrefix, r.name, got)
			}
		}
	}
}

func TestParsePlatforms(t *testing.T) {
	got, err := parsePlatforms("linux/amd64, linux/arm64")
	if err != nil || len(got) != 2 || got[1].String() != "linux/arm64" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []string{"", "linux", "amd64", "windows/amd64", "linux/riscv64", "linux/amd64,"} {
		if _, err := parsePlatforms(bad); err == nil || !strings.Contains(err.Error(), "linux/amd64 and linux/arm64") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestCreation(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1763846808": 1763846808, "-1": -1, "soon": -1} {
		t.Setenv("SOURCE_DATE_EPOCH", text)
		got, err := creation(context.Background(), root)
		if (err == nil) != (want >= 0) || err == nil && !got.Equal(time.Unix(want, 0)) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// TestEveryModuleHasALicence: an image has the licences of what its programs link, and is not made where one is
// missing.
func TestEveryModuleHasALicence(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "./cmd/...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, folder, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			folders[path] = folder
		}
	}
	if len(folders) < 20 {
		t.Fatalf("only %d modules", len(folders))
	}
	for path, folder := range folders {
		if _, err := licenceFiles(folder); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
