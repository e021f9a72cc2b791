package layout

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var moduleLine = regexp.MustCompile(`(?m)^    (\S+/\S+) +\S+(?: AND \S+)*$`)

// TestNoticeListsWhatIsLinked compares NOTICE with the modules that the programs are built from.
func TestNoticeListsWhatIsLinked(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}",
		"./cmd/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	slices.Sort(linked)
	linked = slices.Compact(linked)

	notice, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range moduleLine.FindAllStringSubmatch(string(notice), -1) {
		listed = append(listed, m[1])
	}
	if len(linked) == 0 || len(listed) == 0 {
		t.Fatalf("%d modules linked, %d listed", len(linked), len(listed))
	}
	for _, m := range linked {
		if !slices.Contains(listed, m) {
			t.Errorf("NOTICE does not list %s, which the programs contain: add it with its licence", m)
		}
	}
	for _, m := range listed {
		if !slices.Contains(linked, m) {
			t.Errorf("NOTICE lists %s, which the programs do not contain", m)
		}
	}
}
