package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

func measured(all map[string][]float64) *bench {
	b := &bench{rounds: 3, precisions: []string{bundle.Int8, bundle.FP32},
		stepBytes: map[string]int64{bundle.Int8: 100e6}}
	for name, values := range all {
		if b.figures == nil {
			b.figures = map[string]*figures{}
		}
		for _, v := range values {
			b.add(name, v)
		}
	}
	return b
}

func TestFiguresLieWhereTheyAreAskedFor(t *testing.T) {
	for what, c := range map[string]struct {
		values []float64
		part   float64
		want   float64
	}{
		"the median of three":         {[]float64{3, 1, 2}, .5, 2},
		"the median of four":          {[]float64{4, 3, 1, 2}, .5, 3},
		"the only one":                {[]float64{7}, .9, 7},
		"the lowest of ten but one":   {[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, .1, 1},
		"the highest of ten but one":  {[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, .9, 8},
		"the highest, when asked for": {[]float64{9, 8, 7}, 1, 9},
	} {
		if got := (&figures{c.values}).at(c.part); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

func TestTableSaysWhatIsMet(t *testing.T) {
	b := measured(map[string][]float64{
		"step 1 int8": {8.1, 8, 7.9}, "decode 4 int8": {24.4, 24.4, 20}, "step 4 int8": {20}, "step 1 fp32": {18.04},
		"frame swar int8": {10}, "frame sherpa int8": {26.9}, "shared 8 streams int8": {8}, "bandwidth": {20},
	})
	b.peer, b.kernel = &peer{version: "1.2.3"}, "avx512vnni"
	table := b.table("a machine", time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	for what, want := range map[string]string{
		"when and where":                  "2026-11-21, a machine, ONNX Runtime ",
		"beside whom":                     "sherpa-onnx 1.2.3 from npm",
		"a goal at its very limit is met": "| step of the language model with its flow | 8.0 ms | 18.0 ms | at most 8 ms: met |",
		"a goal that is missed by little": "| decoding, of a frame in a group of four | 6.1 ms |  | at most 6 ms: **missed** |",
		"a sum of two figures":            "| both together, for a frame of 80 ms | 14.1 ms |  | at most 14 ms: **missed** |",
		"a ratio that is just enough":     "| frames of 4 streams stepped together, for one alone | 1.6× |  | at least 1.6×: met |",
		"a ratio that is rounded up":      "| swar is faster by | 2.7× |  | at least 2.7×: **missed** |",
		"a ratio of streams together":     "| swar is faster by, with 8 streams at once | 3.4× |  | at least 3.2×: met |",
		"no goal":                         "| sherpa-onnx: a frame | 26.9 ms |  |  |",
		"the roofline":                    "Roofline, int8: a step reads 100 MB of weights, one core 20.0 GB/s: 5.0 ms at least. The step takes 1.6× that.",
		"the noise":                       "lie between step 1 int8 7.9 to 8.1 ms",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%s: no %q in\n%s", what, want, table)
		}
	}
	if strings.Contains(table, "prefill") || strings.Contains(table, "reading 30") ||
		strings.Contains(table, "Public layouts") {
		t.Errorf("what was not measured is in the table:\n%s", table)
	}
}

func TestSummaryIsOneTable(t *testing.T) {
	b := measured(map[string][]float64{"step 1 int8": {8}, "step 2 int8": {9}, "frame swar int8": {10},
		"frame sherpa int8": {27}})
	got := b.summary("a machine", time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{"2026-11-21, a machine", "| step of the language model with its flow | 8.0 ms |",
		"| swar is faster by | 2.7× |"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "step of 2 streams") || strings.Count(got, "\n|---|") != 1 {
		t.Errorf("not one table of the chosen lines:\n%s", got)
	}
}

func TestAProcessorWithoutVNNIHasOtherGoals(t *testing.T) {
	b := measured(map[string][]float64{"frame swar int8": {10}, "frame sherpa int8": {24},
		"shared 8 streams int8": {8}})
	b.kernel = "avx2"
	table := b.table("", time.Now())
	for _, want := range []string{"| 2.4× |  | at least 2.4×: met |", "| 3.0× |  | at least 3.0×: met |"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}

func TestTableSaysThatThePeerIsMissing(t *testing.T) {
	b := measured(map[string][]float64{"step 1 int8": {8}})
	b.skipped = "npm is not installed"
	if table := b.table("", time.Now()); !strings.Contains(table,
		"sherpa-onnx was not measured: npm is not installed") {
		t.Error(table)
	}
}

func TestTheTableTakesThePlaceOfTheOneBefore(t *testing.T) {
	begin, other := fmt.Sprintf(beginMarker, "avx2"), fmt.Sprintf(beginMarker, "plain")
	path := filepath.Join(t.TempDir(), "benchmarks.md")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(other + "\nbefore\n" + endMarker + "\n" + begin + "\nold\n" + endMarker + "\nafter\n")
	for range 2 { // the second time changes nothing
		if err := writeBetweenMarkers(path, "avx2", "new\n"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if want := other + "\nbefore\n" + endMarker + "\n" + begin + "\n\nnew\n\n" + endMarker +
			"\nafter\n"; err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	for _, text := range []string{"", begin + "\n", endMarker + "\n" + begin + "\n"} {
		write(text)
		if err := writeBetweenMarkers(path, "avx2", "new\n"); err == nil || !strings.Contains(err.Error(), begin) {
			t.Errorf("%q: error %v, want one that shows the markers", text, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestTheDocumentHasAPlaceForTheTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kernel := range []string{"avx512vnni", "avx512", "avx2"} {
		begin := fmt.Sprintf(beginMarker, kernel)
		if _, rest, ok := strings.Cut(string(text), begin+"\n"); !ok || !strings.Contains(rest, endMarker+"\n") {
			t.Errorf("docs/benchmarks.md has lost its markers for %s", kernel)
		}
	}
}

func TestProcessorIsNamed(t *testing.T) {
	for info, want := range map[string]string{
		"model name\t: Big Iron\nflags\t\t: fpu avx2 avx512_vnni\n\nmodel name\t: Big Iron\nflags\t\t: fpu avx2 avx512_vnni\n": "2 cores of an Big Iron (avx512_vnni)",
		"model name\t: Old\nflags\t\t: fpu avx2 avx512_vnni_not\n":                                                             "1 cores of an Old (avx2)",
		"model name\t: Older\nflags\t\t: fpu\n":                                                                                "1 cores of an Older",
	} {
		if got := processor(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSizesOfAProcess(t *testing.T) {
	const status = "Name:\tswar\nVmPeak:\t  900 kB\nVmHWM:\t   1234 kB\nVmRSS:\t  1000 kB\nThreads:\t8\n"
	for name, want := range map[string]int64{"VmHWM": 1234 << 10, "VmRSS": 1000 << 10, "VmSwap": 0,
		"Threads": 8 << 10} {
		if got := statusBytes(status, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if now, peak := memory(); now < 1<<20 || peak < now {
		t.Errorf("this process: %d bytes, at most %d", now, peak)
	}
}

func TestTextsAreNewAndAsLongAsAsked(t *testing.T) {
	a, b := newText(29, 1), newText(29, 2)
	if len(a) != 29 || a == b || a != newText(29, 1) || !strings.HasSuffix(a, ".") {
		t.Errorf("%q and %q", a, b)
	}
}

// TestTheLockPinsEverything holds that nothing is installed without a hash, and that no address stands in the file.
func TestTheLockPinsEverything(t *testing.T) {
	var lock struct {
		Packages map[string]struct {
			Version, Integrity, Resolved string
		}
	}
	if err := json.Unmarshal(lockFile, &lock); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{peerLibrary, "sherpa-onnx-node"} {
		if p := lock.Packages["node_modules/"+name]; p.Version == "" || !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%s is not pinned: %+v", name, p)
		}
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" {
			t.Errorf("%s names where it comes from", name)
		}
	}
}
