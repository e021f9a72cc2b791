package launch

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Build is what the program was built from.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the version control system
	Modified bool   `json:"modified"`           // the tree held changes that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Development is the version of a program that was linked without one.
const Development = "dev"

// ThisBuild describes this program. version is what the linker has set.
func ThisBuild(version string) Build {
	b := Build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == Development && info.Main.Version != "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version // go install …@version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b Build) String() string {
	text := fmt.Sprintf("%s, %s, %s", b.Version, b.Go, b.Platform)
	if b.Revision != "" {
		text += ", revision " + b.Revision
	}
	if b.Modified {
		text += " with changes"
	}
	return text
}
