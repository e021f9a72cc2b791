package dialects

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/serve"
)

func TestFlags(t *testing.T) {
	for _, tt := range []struct{ value, served, refused string }{
		{"", "openai,deepgram,elevenlabs,sarvam,cartesia,vapi,jambonz,bridge", ""}, {"none", "", ""}, {"OpenAI", "openai", ""}, {"openai,none", "", `"none"`}, {"azure", "", `"azure"`},
	} {
		var o Flags
		cmd := &cobra.Command{Use: "serve"}
		o.Define(cmd.Flags())
		if tt.value != "" {
			if err := cmd.Flags().Set("dialects", tt.value); err != nil {
				t.Fatal(err)
			}
		}
		err := o.Check(cmd)
		if (err != nil) != (tt.refused != "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("--dialects %s: %v", tt.value, err)
		}
		if err != nil {
			continue
		}
		var c serve.Config
		o.Apply(&c)
		var served []string
		for _, d := range c.Dialects {
			served = append(served, string(d.Name))
		}
		if got := strings.Join(served, ","); got != tt.served || c.Encoders == nil {
			t.Errorf("--dialects %s serves %q, want %q", tt.value, got, tt.served)
		}
	}
}

// TestFleetsCanNameThem reads the definition of a TTSDeployment.
func TestFleetsCanNameThem(t *testing.T) {
	crd, err := os.ReadFile("../../../config/crd/swar.dev_ttsdeployments.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)\n +dialects:.*?\n +enum:\n((?: +- \w+\n)+)`).FindSubmatch(crd)
	if list == nil {
		t.Fatal("there is no list of dialects")
	}
	known := strings.Fields(strings.ReplaceAll(string(list[1]), "- ", ""))
	for _, name := range append(names(), none) {
		if !slices.Contains(known, name) {
			t.Errorf("spec.router.dialects cannot name %s: it takes %q", name, known)
		}
	}
}

// TestTwilioToken: with one, streams that Twilio has not signed are refused.
func TestTwilioToken(t *testing.T) {
	for _, token := range []string{"", "secret", "secret\n"} {
		var o Flags
		cmd := &cobra.Command{Use: "serve"}
		o.Define(cmd.Flags())
		if err := cmd.Flags().Set("twilio-token", token); err != nil {
			t.Fatal(err)
		}
		if err := o.Check(cmd); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(o.served, func(d *dialect.Dialect) bool { return d.Name == dialect.Bridge })
		_, err := o.served[i].Routes[0].Socket(dialect.Call{
			Header: func(string) string { return "" }, Encodes: func(dialect.Audio) bool { return true },
		})
		if (err != nil) != (token != "") {
			t.Errorf("with the token %q: %v", token, err)
		}
	}
	var o Flags
	cmd := &cobra.Command{Use: "serve"}
	o.Define(cmd.Flags())
	if err := errors.Join(cmd.Flags().Set("twilio-token", " \n"), o.Check(cmd)); err == nil {
		t.Error("a blank token, with which everything would be answered, is accepted")
	}
}
