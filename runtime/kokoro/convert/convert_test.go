package convert

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/kokoro/internal/prosody"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// statistics are those of a made-up voice.
func statistics(z sizes) map[string]bundle.Norm {
	norms := map[string]bundle.Norm{}
	for _, n := range z.norms() {
		norms[n.Name] = bundle.Norm{Mean: slices.Repeat([]float32{.5}, n.Channels),
			Variance: slices.Repeat([]float32{2}, n.Channels)}
	}
	return norms
}

// conversion writes an export and a voice, and returns the conversion of them.
func conversion(t testing.TB, export []byte) Conversion {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var styles []byte
	for i := range bundle.StyleRows * bundle.StyleSize {
		styles = binary.LittleEndian.AppendUint32(styles, math.Float32bits(value(i)))
	}
	return Conversion{
		Model: write("model.onnx", export), ID: "kokoro-82m", Revision: "1", Licence: "Apache-2.0",
		Languages: []string{"hi", "en"},
		Voices: []Voice{{
			Name: "anjura", Source: "hf_beta", Language: "hi-IN+en-IN", GainDB: -4.6,
			File: write("hf_beta.bin", styles), Norms: statistics(tiny),
		}},
		sizes: tiny,
	}
}

func TestConvert(t *testing.T) {
	for name, integers := range map[string]bool{"integers": true, "floats": false} {
		t.Run(name, func(t *testing.T) {
			c := conversion(t, madeUp(tiny, integers, nil))
			last := int64(-1)
			var total int64
			c.Progress = func(done, of int64, _ string) {
				if done < last || done > of {
					t.Errorf("progress goes from %d to %d of %d", last, done, of)
				}
				last, total = done, of
			}
			dir := filepath.Join(t.TempDir(), "made", "bundle")
			m, err := Convert(t.Context(), dir, c)
			if err != nil {
				t.Fatal(err)
			}
			if last != total {
				t.Errorf("progress ends at %d of %d", last, total)
			}
			read, err := bundle.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := bundle.Verify(dir, read); err != nil {
				t.Error(err)
			}
			if read.Bytes() != m.Bytes() || read.Model.Weights != m.Model.Weights || len(read.Voices) != 1 {
				t.Errorf("read %+v, made %+v", read, m)
			}
			checkWeights(t, filepath.Join(dir, m.Vocoder.File), integers)
			checkVoice(t, dir, m)
			runs(t, dir, m, integers)
			if again := hashes(t, c); !slices.Equal(again, hashes(t, c)) ||
				!strings.Contains(strings.Join(again, " "), m.Text.SHA256) {
				t.Error("the same files make other bytes")
			}
		})
	}
}

func TestTheInputOfIDsMayHaveEitherName(t *testing.T) {
	weights := ""
	for _, ids := range []string{tokensInput, otherTokensInput} {
		e := newExport(ids, tiny, true, nil)
		e.vocoder(tiny)
		dir := filepath.Join(t.TempDir(), "bundle")
		m, err := Convert(t.Context(), dir, conversion(t, e.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", ids, err)
		}
		runs(t, dir, m, true)
		if weights == "" {
			weights = m.Vocoder.SHA256
		}
		if m.Vocoder.SHA256 != weights {
			t.Errorf("%s: the vocoder is another one", ids)
		}
	}
}

// hashes converts and returns the hashes of all files.
func hashes(t *testing.T, c Conversion) (all []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bundle")
	c.Progress = nil
	if _, err := Convert(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(data)
		all = append(all, hex.EncodeToString(sum[:]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func checkWeights(t *testing.T, path string, integers bool) {
	t.Helper()
	f, file, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	const out, in, taps = 4, 4, 7 // of generator.resblocks.1.convs1.2
	name := "generator.resblocks.1.convs1.2"
	weights, err := f.Int8s(name+".weight", out, taps, in)
	if err != nil {
		t.Fatal(err)
	}
	scales, err := f.Floats(name+".scale", out)
	if err != nil {
		t.Fatal(err)
	}
	for o := range out {
		for i := range in {
			for k := range taps {
				at, got := (o*in+i)*taps+k, weights[(o*taps+k)*in+i]
				if integers && (int(got) != madeUpByte(at) || scales[o] != weightScale) {
					t.Fatalf("the weight of %d from %d at %d is %d times %g, want %d times %g", o, i, k, got, scales[o],
						madeUpByte(at), weightScale)
				}
				if want := value(at); !integers &&
					math.Abs(float64(float32(got)*scales[o]-want)) > .5*float64(scales[o])+1e-7 {
					t.Fatalf("the weight of %d from %d at %d is %g, want %g", o, i, k, float32(got)*scales[o], want)
				}
			}
		}
	}
	if _, err := f.Floats(name+".bias", out); err != nil {
		t.Error(err)
	}
	if _, ok := f.Shape("encode.conv1x1.bias"); ok {
		t.Error("encode.conv1x1 has a bias")
	}
	fc, err := f.Int8s("encode.norm2.fc.weight", 2*tiny.wide, tiny.style)
	if err != nil {
		t.Fatal(err)
	}
	if want := madeUpByte(3*2*tiny.wide + 5); integers && int(fc[5*tiny.style+3]) != want {
		t.Errorf("the weight of the norm is %d, want %d", fc[5*tiny.style+3], want)
	}
	for name, shape := range map[string][]int{
		"generator.ups.0.weight": {4, 4, 20}, "generator.ups.1.weight": {4, 2, 12}, "generator.ups.1.bias": {2},
		"generator.noise_convs.0.weight": {4, 12, 22}, "generator.conv_post.weight": {22, 7, 2}, "generator.conv_post.bias": {22},
		"F0_conv.weight": {3}, "N_conv.bias": {1}, "decode.3.pool.weight": {10, 3}, "decode.3.pool.bias": {10},
		"generator.m_source.l_linear.weight": {9}, "generator.m_source.l_linear.bias": {1},
		"generator.noise_res.1.alpha2.0": {2}, "generator.resblocks.5.alpha1.2": {2},
	} {
		if _, err := f.Floats(name, shape...); err != nil {
			t.Error(err)
		}
	}
	post, err := f.Floats("generator.conv_post.weight", 22, 7, 2)
	if want := value((3*2+1)*7 + 4); err != nil || post[(3*7+4)*2+1] != want { // of output 3, input 1, tap 4
		t.Errorf("a weight of conv_post is %g, %v; want %g", post[(3*7+4)*2+1], err, want)
	}
}

func checkVoice(t *testing.T, dir string, m bundle.Manifest) {
	t.Helper()
	v, ok := m.Voice("anjura")
	p, err := bundle.ReadVoice(filepath.Join(dir, v.File.File))
	if err != nil || !ok {
		t.Fatal(err)
	}
	if len(p.Norms) != len(tiny.norms()) || p.Norms["encode.norm1"].Variance[0] != 2 {
		t.Errorf("the statistics of %d norms, want %d", len(p.Norms), len(tiny.norms()))
	}
	for ids, row := range map[int]int{0: 0, 2: 0, 3: 0, 4: 1, 512: 509, 513: 509} {
		if got, want := p.Style(ids)[1], value(row*bundle.StyleSize+1); got != want {
			t.Errorf("the style of %d ids is %g, want that of row %d", ids, got, row)
		}
	}
}

// runs runs the two graphs, where there is ONNX Runtime, and compares the text with what it is made of.
func runs(t *testing.T, dir string, m bundle.Manifest, integers bool) {
	t.Run("runs", func(t *testing.T) {
		orttest.Need(t)
		p, err := prosody.Open(dir, m)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}()
		ids := []int64{0, 7, 100, 177, 0}
		got, err := p.Run(t.Context(), ids, make([]float32, bundle.StyleSize), 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Durations) != len(ids) || len(got.F0) == 0 || len(got.F0) != len(got.N) {
			t.Errorf("%d durations, %d values of pitch and %d of energy", len(got.Durations), len(got.F0), len(got.N))
		}
		weight := value
		if integers {
			weight = func(i int) float32 { return float32(madeUpByte(i)) * weightScale }
		}
		width := tiny.text
		for i, id := range ids {
			for o := range width {
				want := value(o) // the bias
				for k := range width {
					want += weight(int(id)*width+k) * weight(o*width+k)
				}
				if x := got.Text[i*width+o]; math.Abs(float64(x-want)) > 1e-5 {
					t.Errorf("the text of id %d is %g at %d, want %g", id, x, o, want)
				}
			}
		}
	})
}

func TestConvertRefuses(t *testing.T) {
	drop := func(name string) func(*graph.Node) bool { return func(n *graph.Node) bool { return n.Name != name } }
	with := func(name string, change func(n *graph.Node)) func(*graph.Node) bool {
		return func(n *graph.Node) bool {
			if n.Name == name {
				change(n)
			}
			return true
		}
	}
	wider := tiny
	wider.wide++
	good := madeUp(tiny, true, nil)
	b := graph.New("other")
	b.Output("y", b.Op("Abs", []graph.Value{b.Input("x", graph.F32, 1)}), graph.F32, 1)
	other := b.Bytes()
	for name, tt := range map[string]struct {
		export []byte
		want   string
	}{
		"an empty file":         {nil, "truncated or not an ONNX graph"},
		"a text":                {[]byte("<html>not found</html>"), "truncated or not an ONNX graph"},
		"half a file":           {good[:len(good)/2], "truncated or not an ONNX graph"},
		"all but a byte":        {good[:len(good)-1], "truncated or not an ONNX graph"},
		"another model":         {other, "no input tokens"},
		"a model of other size": {madeUp(wider, true, nil), "other sizes than Kokoro-82M"},
		"without durations":     {madeUp(tiny, true, drop("/encoder/Div")), "no value /encoder/Div_output_0"},
		"without a layer": {
			madeUp(tiny, true, drop("/decoder/decoder/decode.1/conv1/Conv_quant")),
			"no node /decoder/decoder/decode.1/conv1/Conv",
		},
		"a layer in floats missing": {
			madeUp(tiny, true, drop("/decoder/decoder/generator/ups.1/ConvTranspose")),
			"generator.ups.1: the graph has no node",
		},
		"a value nothing makes": {madeUp(tiny, true, drop("/encoder/Sigmoid")), "nothing makes the value"},
		"a bias that is rounded to the nearest": {
			madeUp(tiny, true, with("/decoder/decoder/encode/conv1/floor", func(n *graph.Node) { n.Op = "Round" })),
			"not rounded by Floor",
		},
		"rows with a scale of their own": {
			madeUp(tiny, true, with(textValue+"_QuantizeLinear", func(n *graph.Node) { n.Op = "QuantizeLinear" })),
			"DynamicQuantizeLinear",
		},
		"a ring": {
			madeUp(tiny, true, with("/encoder/Sigmoid", func(n *graph.Node) { n.Inputs = []string{durationsValue} })),
			"made of itself",
		},
		"weights that are computed": {
			madeUp(tiny, false, with("/decoder/decoder/generator/conv_post/Conv",
				func(n *graph.Node) { n.Inputs[1] = textValue })), "computed in the graph",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := conversion(t, tt.export)
			parent := t.TempDir()
			_, err := Convert(t.Context(), filepath.Join(parent, "bundle"), c)
			says := func(what string) bool { return err != nil && strings.Contains(err.Error(), what) }
			if !says(tt.want) || !says("kokoro-v1.0.int8.onnx") && !says("download it again") {
				t.Errorf("error %v, want one with %q and what to do", err, tt.want)
			}
			if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
				t.Errorf("%v, %v are left", left, err)
			}
		})
	}
}

func TestVoicesAreChecked(t *testing.T) {
	export := madeUp(tiny, true, nil)
	for name, tt := range map[string]struct {
		change func(t *testing.T, c *Conversion)
		want   string
	}{
		"none":          {func(_ *testing.T, c *Conversion) { c.Voices = nil }, "no voices"},
		"not measured":  {func(_ *testing.T, c *Conversion) { c.Voices[0].Norms = nil }, "nothing measures them"},
		"a norm less":   {func(_ *testing.T, c *Conversion) { delete(c.Voices[0].Norms, "encode.norm1") }, "encode.norm1"},
		"an extra norm": {func(_ *testing.T, c *Conversion) { c.Voices[0].Norms["x"] = bundle.Norm{} }, "59 norms"},
		"a channel less": {func(_ *testing.T, c *Conversion) {
			c.Voices[0].Norms["encode.norm1"] = bundle.Norm{Mean: make([]float32, 5), Variance: make([]float32, 5)}
		}, "5 channels, want 6"},
		"a negative variance": {func(_ *testing.T, c *Conversion) { c.Voices[0].Norms["encode.norm1"].Variance[0] = -1 }, "variance"},
		"no name":             {func(_ *testing.T, c *Conversion) { c.Voices[0].Name = "" }, "its name or language is missing"},
		"twice":               {func(_ *testing.T, c *Conversion) { c.Voices = append(c.Voices, c.Voices[0]) }, "listed twice"},
		"too loud":            {func(_ *testing.T, c *Conversion) { c.Voices[0].GainDB = 20.1 }, "gain_db is 20.1"},
		"a missing file":      {func(_ *testing.T, c *Conversion) { c.Voices[0].File += ".no" }, "no such file"},
		"a file too short": {func(t *testing.T, c *Conversion) {
			if err := os.Truncate(c.Voices[0].File, 4*bundle.StyleRows*bundle.StyleSize-4); err != nil {
				t.Fatal(err)
			}
		}, "522236 bytes"},
		"measuring fails": {func(_ *testing.T, c *Conversion) {
			c.Voices[0].Norms, c.Measure = nil, measured(errors.New("no sound"))
		}, "measuring: no sound"},
	} {
		t.Run(name, func(t *testing.T) {
			c := conversion(t, export)
			tt.change(t, &c)
			_, err := Convert(t.Context(), filepath.Join(t.TempDir(), "bundle"), c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

type measuring = func(ctx context.Context, dir string, m bundle.Manifest, v Voice, styles []float32,
	progress func(done, total int)) (map[string]bundle.Norm, error)

// measured returns a function that measures what is made up, or fails.
func measured(fails error) measuring {
	return func(
		_ context.Context, dir string, m bundle.Manifest, _ Voice, styles []float32, report func(done, total int),
	) (map[string]bundle.Norm, error) {
		for _, f := range []bundle.File{m.Text, m.Prosody, m.Vocoder} {
			if _, err := os.Stat(filepath.Join(dir, f.File)); err != nil {
				return nil, err
			}
		}
		if len(styles) != bundle.StyleRows*bundle.StyleSize {
			return nil, errors.New("no styles")
		}
		report(1, 2)
		report(2, 2)
		return statistics(tiny), fails
	}
}

func TestVoicesAreMeasured(t *testing.T) {
	c := conversion(t, madeUp(tiny, true, nil))
	given := hashes(t, c)
	c.Voices[0].Norms, c.Measure = nil, measured(nil)
	if got := hashes(t, c); !slices.Equal(got, given) {
		t.Error("a voice that is measured is another than one whose statistics are given")
	}
}

func TestConvertIsCancelled(t *testing.T) {
	gone := errors.New("stopped")
	steps := 0
	c := conversion(t, madeUp(tiny, true, nil))
	c.Progress = func(int64, int64, string) { steps++ }
	if _, err := Convert(t.Context(), filepath.Join(t.TempDir(), "bundle"), c); err != nil {
		t.Fatal(err)
	}
	for step := 0; step < steps-1; step += 1 + step/8 { // with the last one it is done
		at := step
		ctx, cancel := context.WithCancelCause(t.Context())
		c.Progress = func(int64, int64, string) {
			if at--; at < 0 {
				cancel(gone)
			}
		}
		parent := t.TempDir()
		if _, err := Convert(ctx, filepath.Join(parent, "bundle"), c); !errors.Is(err, gone) {
			t.Fatalf("at step %d: %v, want %v", step, err, gone)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
			t.Fatalf("%v, %v are left", left, err)
		}
	}
}

func FuzzReadSource(f *testing.F) {
	small := tiny // with one layer of the vocoder's 122, so that there are many tries
	small.style = 2
	layer := small.convolutions()[0]
	for _, integers := range []bool{true, false} {
		e := newExport(tokensInput, small, integers, nil)
		e.convolution(module(layer.name), textValue, layer.out, layer.in, layer.taps, parameter(layer.name+".bias"))
		good := e.Bytes()
		f.Add(good)
		f.Add(good[:len(good)-100])
	}
	f.Fuzz(func(_ *testing.T, file []byte) {
		s, err := readSource(file)
		if err != nil {
			return
		}
		ctx, did := context.Background(), func(int) {}
		_, _ = textGraph(ctx, s, small, did)
		_, _ = prosodyGraph(ctx, s, small, did)
		_, _ = vocoderWeights(ctx, s, small, did)
	})
}
