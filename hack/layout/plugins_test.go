package layout

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPluginsAreTestedWithWhatTheySay: the version that a plugin's README names is the one that hack/compat tries it
// with.
func TestPluginsAreTestedWithWhatTheySay(t *testing.T) {
	tried, err := os.ReadFile("../compat/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	for readme, framework := range map[string]struct{ named, pinned string }{
		"sdk/livekit/README.md": {`Tested with livekit-agents ([0-9.]+[0-9])`, "livekit-agents=="},
		"sdk/pipecat/README.md": {`Tested with Pipecat v([0-9.]+[0-9])`, "pipecat-ai=="},
	} {
		text, err := os.ReadFile("../../" + readme)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(framework.named).FindSubmatch(text)
		if found == nil {
			t.Errorf("%s does not say what it was tested with", readme)
		} else if pin := framework.pinned + string(found[1]); !strings.Contains(string(tried), pin) {
			t.Errorf("%s was tested with %s, hack/compat/run.sh tries another version", readme, pin)
		}
	}
}
