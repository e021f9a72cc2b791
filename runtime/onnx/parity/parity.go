// Package parity compares what models compute with golden vectors that the reference implementation has recorded.
package parity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

// Config says which golden vectors to check.
type Config struct {
	Dir     string // of cases: it, or each folder in it, that has a case.json; required
	Library string // path of the ONNX Runtime library, see onnx.FindLibrary; required

	Precision string // to convert the cases to, bundle.FP32 or bundle.Int8; empty means bundle.FP32

	// Progress, if not nil, hears how many cases are done and what is being done. It is called from the goroutine of
	// Check.
	Progress func(done, total int64, what string)
}

// Result is how one quantity of a case compares with the reference.
type Result struct {
	Case     string
	Run      string // the one that is worst; empty where the quantity belongs to the whole case
	Quantity string

	// Difference is infinite where a value is not a number. Of what must be equal, whose Tolerance is 0, it is the
	// difference of two counts, or how many values are others. It means nothing where values could not be compared.
	Difference, Tolerance float64
	Measure               Measure // of both

	OK      bool
	Skipped bool   // not compared, for the reason in Note, and OK
	Note    string // what was found, in one line; empty where the figures say it all
}

// Check runs every case of golden vectors in c.Dir. It converts the checkpoint of the case to a bundle, lets the
// engine's language model, flow, codec and rules work on the stored noise, each step on its own latent of the step
// before, and compares.
//
// In int8 that is how steps, frames and endings are found, which must be equal. Values are compared by the bounds of
// [integerBounds].
//
// Each quantity of each case is reported once, by the run that is worst. What a case does not hold is not reported. A
// case that is broken, or of which nothing could be compared, is a result that is not OK, and the others still run.
// An error says that nothing more could be run: no case, no library, a precision that is unknown, or ctx ended.
func Check(ctx context.Context, c Config, report func(Result)) error {
	if c.Progress == nil {
		c.Progress = func(int64, int64, string) {}
	}
	if c.Precision == "" {
		c.Precision = bundle.FP32
	}
	if c.Precision != bundle.FP32 && c.Precision != bundle.Int8 {
		return fmt.Errorf("golden vectors: precision %q, want %s or %s", c.Precision, bundle.FP32, bundle.Int8)
	}
	cases, err := findCases(c.Dir)
	if err != nil {
		return err
	}
	if err := ort.Load(c.Library); err != nil {
		return err
	}
	for i, dir := range cases {
		name := filepath.Base(dir)
		step := func(what string) { c.Progress(int64(i), int64(len(cases)), name+": "+what) }
		k := &goldenCase{dir: dir, precision: c.Precision, step: step}
		k.check(ctx)
		if err := context.Cause(ctx); err != nil {
			return err
		}
		for _, r := range k.worst() {
			r.Case = name
			report(r)
		}
	}
	c.Progress(int64(len(cases)), int64(len(cases)), "done")
	return nil
}

const caseFile = "case.json"

// findCases returns the folders of the cases, sorted.
func findCases(dir string) (cases []string, err error) {
	dir, err = filepath.Abs(dir) // so that a case has a name where dir is "."
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("golden vectors: %w", err)
	}
	folders := []string{dir}
	for _, e := range entries {
		folders = append(folders, filepath.Join(dir, e.Name()))
	}
	for _, folder := range folders {
		_, err := os.Lstat(filepath.Join(folder, caseFile))
		switch {
		case err == nil:
			cases = append(cases, folder)
		case !errors.Is(err, fs.ErrNotExist) && !isNotFolder(folder):
			return nil, fmt.Errorf("golden vectors: %w", err)
		}
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("golden vectors: no folder in %s has a %s", dir, caseFile)
	}
	return cases, nil
}

func isNotFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// goldenCase is a case while it is checked.
type goldenCase struct {
	dir       string
	precision string
	step      func(what string)
	results   []Result

	description
	config convert.Config
	text   bundle.Text // upstream's rules: those of the bundle avoid marks that the tokenizer does not know
}

// description is case.json.
type description struct {
	Format int `json:"format"`
	Model  struct {
		GELU         string `json:"gelu"`
		EncoderWidth int    `json:"encoder_latent"`
	} `json:"model"`
	Voice struct {
		Positions int               `json:"positions"`
		Files     map[string]string `json:"files"` // what is special about each
	} `json:"voice"`
	Tolerance json.RawMessage `json:"tolerance"` // numbers by quantity, and a remark
	Runs      []goldenRun     `json:"runs"`

	Input   string `json:"input"` // of the codec alone
	Outputs map[string]struct {
		Plan []int `json:"plan"`
	} `json:"outputs"`
	Traces  map[string]any `json:"traces"`
	Encoder struct {
		Audio   string `json:"audio"`
		Latents string `json:"latents"`
	} `json:"encoder"`

	Tokenizers map[string]goldenTokenizer `json:"tokenizers"`
}

// check compares everything that the case holds.
func (k *goldenCase) check(ctx context.Context) {
	if err := k.describe(); err != nil {
		k.fail("", "case", err)
		return
	}
	k.checkTokenizers()
	if k.has("config.yaml") || len(k.Runs) > 0 || k.Input != "" {
		if err := k.checkModel(ctx); err != nil {
			k.fail("", "case", err)
		}
	}
	if !slices.ContainsFunc(k.results, func(r Result) bool { return !r.Skipped }) {
		k.fail("", "case", errors.New("it holds nothing that can be compared"))
	}
}

func (k *goldenCase) describe() error {
	data, err := k.file(caseFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &k.description); err != nil {
		return fmt.Errorf("%s: %w", caseFile, err)
	}
	if k.Format != 1 {
		return fmt.Errorf("%s: format %d, want 1", caseFile, k.Format)
	}
	return nil
}

// has reports whether the case has a file of that name, readable or not.
func (k *goldenCase) has(name string) bool {
	_, err := os.Lstat(filepath.Join(k.dir, name))
	return err == nil
}

// path returns the path of a file that case.json names, which must lie in the folder of the case.
func (k *goldenCase) path(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%q is not the name of a file of the case", name)
	}
	return filepath.Join(k.dir, name), nil
}

func (k *goldenCase) file(name string) ([]byte, error) {
	path, err := k.path(name)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
		return nil, fmt.Errorf("%s: %w", name, cause.Err)
	}
	return data, err
}

// tolerance returns the limit of a quantity. That of latents and audio is at most 1e-4, whatever the case says.
func (k *goldenCase) tolerance(quantity string) float64 {
	const most = 1e-4
	var all map[string]json.RawMessage
	var limit float64
	if json.Unmarshal(k.Tolerance, &all) != nil || json.Unmarshal(all[quantity], &limit) != nil || !(limit >= 0) {
		return most
	}
	if quantity == "latent" || quantity == "audio" {
		return min(limit, most)
	}
	return limit
}

// fail says why a quantity could not be compared, in one line: of several errors the first.
func (k *goldenCase) fail(run, quantity string, err error) {
	note, others, _ := strings.Cut(err.Error(), "\n")
	if others != "" {
		note += fmt.Sprintf(" (and %d more like it)", strings.Count(others, "\n")+1)
	}
	k.results = append(k.results, Result{Run: run, Quantity: quantity, Difference: math.Inf(1), Note: note})
}

func (k *goldenCase) skip(quantity, why string) {
	k.results = append(k.results, Result{Quantity: quantity, OK: true, Skipped: true, Note: why})
}

// exact compares two counts, or what else must be equal.
func exact[T int | bool | string](k *goldenCase, run, quantity string, got, want T) {
	r := Result{Run: run, Quantity: quantity, OK: got == want}
	if !r.OK {
		r.Difference, r.Note = 1, fmt.Sprintf("got %v, want %v", got, want)
	}
	k.results = append(k.results, r)
}

// exactIf compares two counts where the case names one.
func exactIf[T int | bool | string](k *goldenCase, named bool, run, quantity string, got, want T) {
	if named {
		exact(k, run, quantity, got, want)
	}
}

// near compares two arrays: by the largest difference, or by the bound of integers where there is one.
func (k *goldenCase) near(run, quantity string, got, want []float32, tolerance float64) {
	if len(got) != len(want) {
		k.fail(run, quantity, fmt.Errorf("%d values, want %d", len(got), len(want)))
		return
	}
	measure := Largest
	if bound, ok := integerBounds[quantity]; ok && k.precision == bundle.Int8 {
		measure, tolerance = RelativeRMS, bound
	}
	d := measure.distance(got, want)
	k.results = append(k.results,
		Result{Run: run, Quantity: quantity, Difference: d, Tolerance: tolerance, Measure: measure, OK: d <= tolerance})
}

// worst returns one result for each quantity, in the order in which they were first seen.
func (k *goldenCase) worst() (list []Result) {
	badness := func(r Result) float64 {
		switch {
		case r.Skipped:
			return -1
		case !r.OK:
			return math.Inf(1)
		default:
			return r.Difference
		}
	}
	for _, r := range k.results {
		at := slices.IndexFunc(list, func(other Result) bool { return other.Quantity == r.Quantity })
		switch {
		case at < 0:
			list = append(list, r)
		case badness(r) > badness(list[at]):
			list[at] = r
		}
	}
	return list
}
