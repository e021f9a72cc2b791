package engine

import (
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
)

func TestTheSizeOfTheCache(t *testing.T) {
	const mega = 1 << 20
	for name, tt := range map[string]struct {
		args    []string
		refused bool
		want    int64
	}{
		"nothing is said":           {nil, false, 8 * mega},
		"nothing is said, a bundle": {[]string{"--bundle", "b"}, false, 64 * mega},
		"less than none":            {[]string{"--prefill-cache-mb", "-1"}, true, 0},
		"none":                      {[]string{"--prefill-cache-mb", "0"}, false, -1},
		"a megabyte, a bundle":      {[]string{"--prefill-cache-mb", "1", "--bundle", "b"}, false, mega},
	} {
		var f Flags
		cmd := &cobra.Command{Use: "swar-test"}
		f.DefineCache(cmd.Flags())
		f.Define(cmd.Flags())
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		err := f.Check(cmd)
		if (err != nil) != tt.refused || err == nil && f.cacheBytes() != tt.want {
			t.Errorf("%s: %d bytes, %v; want %d", name, f.cacheBytes(), err, tt.want)
		}
	}
	var f Flags
	cmd := &cobra.Command{Use: "swar-test"}
	f.Define(cmd.Flags())
	if err := f.Check(cmd); err != nil || f.cacheBytes() != 0 {
		t.Errorf("without the flag: %d bytes, %v; want 0, the engine's default", f.cacheBytes(), err)
	}
}

func TestWorkersNeedWholeCPUs(t *testing.T) {
	cpus := launch.CPUs{Cores: 4, Quota: 2.9}
	for name, tt := range map[string]struct {
		args []string
		want int // 0: refused
	}{
		"the default":            {nil, 2},
		"none":                   {[]string{"--workers", "0"}, 0},
		"one":                    {[]string{"--workers", "1"}, 1},
		"one for each":           {[]string{"--workers", "2"}, 2},
		"one more":               {[]string{"--workers", "3"}, 0},
		"one more, as is wanted": {[]string{"--workers", "3", "--oversubscribe"}, 3},
	} {
		var w WorkerFlags
		cmd := &cobra.Command{Use: "swar-test"}
		w.Define(cmd.Flags())
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		err := w.Check(cmd, cpus)
		if (err != nil) != (tt.want == 0) || err == nil && w.Count() != tt.want {
			t.Errorf("%s: %d workers, %v; want %d", name, w.Count(), err, tt.want)
		}
		if want := fmt.Sprintf("--workers %d", w.count); err != nil && err.Error()[:len(want)] != want {
			t.Errorf("%s: it says %v", name, err)
		}
	}
}
