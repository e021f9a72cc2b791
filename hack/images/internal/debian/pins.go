// Package debian fetches pinned packages of Debian 12 and unpacks them, for any architecture and whatever this
// machine has installed.
package debian

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Release is the release of Debian that packages are of.
const Release = "12"

// Codename is what Debian calls that release.
const Codename = "bookworm"

// A Pin names one file of Debian's archive.
type Pin struct {
	Architecture string // for which it was looked up; the package may be for all
	Package      string
	Version      string
	SHA256       string // in hex
}

func (p Pin) String() string {
	return strings.Join([]string{p.Architecture, p.Package, p.Version, p.SHA256}, " ")
}

// Pins is the content of a file of pins.
type Pins []Pin

// ReadPins reads a file with a pin on each line; # begins a comment.
func ReadPins(path string) (Pins, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var all Pins
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return all, lines.Err()
		}
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		switch {
		case len(fields) == 0:
		case len(fields) == 4 && len(fields[3]) == 64:
			all = append(all, Pin{fields[0], fields[1], fields[2], fields[3]})
		default:
			return nil, fmt.Errorf("%s: %q is not an architecture, a package, a version and a SHA-256", path,
				lines.Text())
		}
	}
}

// Write writes the pins to a file, below a comment.
func (p Pins) Write(path, comment string) error {
	p = slices.Clone(p)
	slices.SortFunc(p, func(a, b Pin) int {
		return cmp.Or(strings.Compare(a.Architecture, b.Architecture), strings.Compare(a.Package, b.Package))
	})
	var out strings.Builder
	for line := range strings.Lines(comment) {
		out.WriteString("# " + line)
	}
	for _, pin := range p {
		out.WriteString(pin.String() + "\n")
	}
	return os.WriteFile(path, []byte(out.String()), 0o644)
}

// Find returns the pin of a package.
func (p Pins) Find(architecture, name string) (Pin, error) {
	i := slices.IndexFunc(p, func(pin Pin) bool { return pin.Architecture == architecture && pin.Package == name })
	if i < 0 {
		return Pin{}, fmt.Errorf("no version of %s is pinned for %s: run make image-pins", name, architecture)
	}
	return p[i], nil
}
