package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/models"
)

func TestEspeakSpeaksWhereTheModelIsMissing(t *testing.T) {
	library := filepath.Join(t.TempDir(), "libonnxruntime.so")
	if err := os.WriteFile(library, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	noNetwork := errors.New("no network")
	for name, tt := range map[string]struct {
		args   []string
		voice  string // SWAR_VOICE
		pull   error
		want   string // folder of the bundle
		told   string
		fails  string
		ending bool
	}{
		"it is pulled":              {args: []string{"--pull", "--or-espeak"}, want: "pulled"},
		"no network":                {args: []string{"--pull", "--or-espeak"}, pull: noNetwork, told: "the model kokoro is not available: no network"},
		"no network, and no wish":   {args: []string{"--pull"}, pull: noNetwork, fails: "no network"},
		"it is not to be pulled":    {args: []string{"--or-espeak"}, told: "`swar model pull kokoro` downloads it"},
		"espeak is wished for":      {args: []string{"--pull", "--or-espeak"}, voice: "espeak", told: "because SWAR_VOICE is espeak"},
		"another voice is":          {args: []string{"--pull", "--or-espeak"}, voice: "raj", want: "pulled"},
		"espeak, without the flag":  {args: []string{"--pull"}, voice: "espeak", want: "pulled"},
		"no library":                {args: []string{"--pull", "--or-espeak", "--onnxruntime", "/nowhere"}, told: "there is no ONNX Runtime library at /nowhere"},
		"it is stopped meanwhile":   {args: []string{"--pull", "--or-espeak"}, pull: noNetwork, ending: true, fails: "no network"},
		"a flag without a model":    {args: []string{"--or-espeak", "--model", ""}, fails: "name it with --model"},
		"the other engine is named": {args: []string{"--or-espeak", "--engine", "espeak"}, fails: "--engine espeak and --model contradict each other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SWAR_MODELS", t.TempDir())
			t.Setenv("SWAR_VOICE", tt.voice)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var f Flags
			var told []string
			cmd := &cobra.Command{Use: "swar-test"}
			cmd.SetContext(ctx)
			f.Define(cmd.Flags())
			f.DefinePull(cmd.Flags(), func(context.Context, string) (models.Model, error) {
				if tt.ending {
					cancel(noNetwork)
				}
				return models.Model{Folder: "pulled"}, tt.pull
			}, func(line string) { told = append(told, line) })
			args := append([]string{"--onnxruntime", library, "--model", "kokoro"}, tt.args...)
			if err := cmd.ParseFlags(args); err != nil {
				t.Fatal(err)
			}
			err := f.Check(cmd)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) || len(told) > 0 {
					t.Errorf("error %v, want %q; told %q", err, tt.fails, told)
				}
				return
			}
			if err != nil || f.Folder() != tt.want || f.Neural() != (tt.want != "") {
				t.Errorf("the bundle is %q, %v; want %q", f.Folder(), err, tt.want)
			}
			if tt.told == "" && len(told) > 0 ||
				tt.told != "" && (len(told) != 1 || !strings.Contains(told[0], tt.told) ||
					strings.Contains(told[0], "\n")) {
				t.Errorf("told %q, want %q", told, tt.told)
			}
		})
	}
}
