package label

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/runtime/serve"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestFlags(t *testing.T) {
	longest := strings.Repeat("क", speech.MaxDisclosure)
	for name, tt := range map[string]struct {
		args []string
		want serve.Config
		says string // empty: they are good
	}{
		"none":                         {nil, serve.Config{}, ""},
		"a disclosure":                 {[]string{"--disclosure= AI hai. "}, serve.Config{Disclosure: "AI hai."}, ""},
		"the longest one":              {[]string{"--disclosure", longest}, serve.Config{Disclosure: longest}, ""},
		"a longer one":                 {[]string{"--disclosure", longest + "क"}, serve.Config{}, "--disclosure: must be at most 400 characters"},
		"one that is not heard":        {[]string{"--disclosure=..."}, serve.Config{}, "--disclosure: must have a letter or a digit"},
		"one that nobody switches off": {[]string{"--disclosure=AI", "--disclosure-required"}, serve.Config{Disclosure: "AI", DisclosureRequired: true}, ""},
		"a name":                       {[]string{"--service-name= Asha Bank "}, serve.Config{Service: "Asha Bank"}, ""},
		"the longest name":             {[]string{"--service-name", strings.Repeat("n", 80)}, serve.Config{Service: strings.Repeat("n", 80)}, ""},
		"a longer name":                {[]string{"--service-name", strings.Repeat("n", 81)}, serve.Config{}, "1 to 80 characters of ASCII"},
		"no name":                      {[]string{"--service-name="}, serve.Config{}, "1 to 80 characters of ASCII"},
		"a name in another script":     {[]string{"--service-name=आवाज़"}, serve.Config{}, "1 to 80 characters of ASCII"},
		"a name of two lines":          {[]string{"--service-name=a\r\nb"}, serve.Config{}, "1 to 80 characters of ASCII"},
		"required, and there is none":  {[]string{"--disclosure-required"}, serve.Config{}, "--disclosure-required needs --disclosure"},
	} {
		var l Flags
		cmd := &cobra.Command{Use: "test"}
		l.Define(cmd.Flags())
		err := cmd.ParseFlags(tt.args)
		if err == nil {
			err = l.Check(cmd)
		}
		if tt.says != "" {
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v, want it to say %q", name, err, tt.says)
			}
			continue
		}
		if tt.want.Service == "" {
			tt.want.Service = "Swar Hinglish TTS"
		}
		var got serve.Config
		l.Apply(&got)
		same := got.Service == tt.want.Service && got.Disclosure == tt.want.Disclosure &&
			got.DisclosureRequired == tt.want.DisclosureRequired
		if err != nil || !same {
			t.Errorf("%s: %q, required %v, %v", name, got.Disclosure, got.DisclosureRequired, err)
		}
	}
}
