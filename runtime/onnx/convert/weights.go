package convert

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/safetensors"
)

// fileWeights is the weights of a published model, which lie in one file or two, under the names of the one-file
// form: flow_lm.* and mimi.*, and voice_prompts.* for voices. It implements [Weights] and is safe for concurrent use.
type fileWeights struct {
	entries map[string]stored
	files   []io.Closer
}

// stored is where a weight lies.
type stored struct {
	file *safetensors.Tensors
	name string
	gain string // of a weight that is stored as direction and length; empty otherwise

	turned bool // of a prompt of shape [1, width, frames], which is read as [frames, width]
}

// openWeights opens a model in one file, or in two if codec is not empty. The caller closes what it returns.
func openWeights(model, codec string) (w *fileWeights, err error) {
	w = &fileWeights{entries: map[string]stored{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	file, err := w.open(model)
	if err != nil {
		return w, err
	}
	if codec == "" {
		return w, w.addWhole(file)
	}
	if err := w.addLanguageModel(file); err != nil {
		return w, fmt.Errorf("%s: %w", model, err)
	}
	if file, err = w.open(codec); err != nil {
		return w, err
	}
	if err := w.addCodec(file); err != nil {
		return w, fmt.Errorf("%s: %w", codec, err)
	}
	return w, nil
}

// holdsCodec reports whether a file holds a whole model. One that cannot be read holds nothing; opening it again says
// why.
func holdsCodec(path string) bool {
	t, file, err := safetensors.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return slices.ContainsFunc(t.Names(), func(name string) bool { return strings.HasPrefix(name, "mimi.") })
}

func (w *fileWeights) open(path string) (*safetensors.Tensors, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".safetensors":
	case ".pt", ".pth", ".bin", ".ckpt", ".pkl", ".th":
		return nil, fmt.Errorf("%s is a pickle, which can run any program when it is read: export the model as safetensors first", path)
	default:
		return nil, fmt.Errorf("%s is not a .safetensors file: export the model as one first", path)
	}
	t, file, err := safetensors.Open(path)
	if err == nil {
		w.files = append(w.files, file)
	}
	return t, err
}

// Close closes the files.
func (w *fileWeights) Close() (err error) {
	for _, f := range w.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

func (w *fileWeights) add(name string, s stored) error {
	if first, twice := w.entries[name]; twice {
		return fmt.Errorf("tensors %s and %s are both %s", first.name, s.name, name)
	}
	w.entries[name] = s
	return nil
}

func (w *fileWeights) addWhole(file *safetensors.Tensors) error {
	for _, name := range file.Names() {
		if err := w.add(name, stored{file: file, name: name}); err != nil {
			return err
		}
	}
	return nil
}

// addLanguageModel adds the first file of two, with or without the prefix of the one-file form, under its names or
// under those of the library that such models are trained with.
func (w *fileWeights) addLanguageModel(file *safetensors.Tensors) error {
	for _, name := range file.Names() {
		as, drop := languageModelName(strings.TrimPrefix(name, "flow_lm."))
		switch {
		case drop:
			continue
		case strings.HasPrefix(name, "mimi."):
			return fmt.Errorf("tensor %s: this file has its own codec, so name no other", name)
		case strings.HasPrefix(name, storedPrompts):
			as = name
		default:
			as = "flow_lm." + as
		}
		if err := w.add(as, stored{file: file, name: name}); err != nil {
			return err
		}
	}
	return nil
}

// languageModelName returns what a weight is called in the one-file form, without the prefix. What only training
// needs is dropped.
func languageModelName(name string) (as string, drop bool) {
	const conditioners = "condition_provider.conditioners."
	switch name {
	case conditioners + "transcript_in_segment.learnt_padding", conditioners + "speaker_wavs.learnt_padding",
		"num_ema_updates":
		return "", true
	case conditioners + "transcript_in_segment.embed.weight":
		return "conditioner.embed.weight", false
	case conditioners + "speaker_wavs.output_proj.weight":
		return "speaker_proj_weight", false
	case "fuser.padding_value":
		return "bos_before_voice", false
	}
	return strings.Replace(name, ".self_attn.in_proj_weight", ".self_attn.in_proj.weight", 1),
		strings.HasPrefix(name, "flow.w_s_t.")
}

// addCodec adds the second file of two: a codec under its own names, or a whole model, of which only the codec is used.
func (w *fileWeights) addCodec(file *safetensors.Tensors) error {
	names := file.Names()
	inWhole := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "mimi.") })
	for _, name := range names {
		bare, isCodec := strings.CutPrefix(name, "mimi.")
		if inWhole && !isCodec {
			continue // documented: of a whole model
		}
		as, drop := codecName(bare)
		if drop {
			continue
		}
		s := stored{file: file, name: name}
		if fused, ok := strings.CutSuffix(as, ".weight_v"); ok {
			as, s.gain = fused+".weight", strings.TrimSuffix(name, "_v")+"_g"
			if _, ok := file.Shape(s.gain); !ok {
				return fmt.Errorf("tensor %s is missing: %s is of no use without it", s.gain, name)
			}
		} else if direction, ok := strings.CutSuffix(name, "weight_g"); ok {
			if _, ok := file.Shape(direction + "weight_v"); !ok {
				return fmt.Errorf("tensor %sweight_v is missing: %s is of no use without it", direction, name)
			}
			continue // added with its direction
		}
		if err := w.add("mimi."+as, s); err != nil {
			return err
		}
	}
	return nil
}

// codecName returns what a weight of the codec is called in the one-file form, without the prefix. What only training
// and the discrete codec need is dropped.
func codecName(name string) (as string, drop bool) {
	name = strings.TrimPrefix(name, "model.")
	isDiscrete := strings.HasPrefix(name, "quantizer.vq.") || strings.Contains(name, "_codebook")
	isVariance := name == "quantizer.logvar_proj.weight" || name == "quantizer.logvar_param"
	if isDiscrete || isVariance || strings.HasPrefix(name, "wavlm") {
		return "", true
	}
	name = strings.Replace(name, ".conv.conv.", ".conv.", 1)
	name = strings.Replace(name, ".convtr.convtr.", ".convtr.", 1)
	// These two stay double. Some files hold them so, others with one more.
	for prefix, full := range map[string]string{"downsample.": "downsample.conv.conv.",
		"upsample.": "upsample.convtr.convtr."} {
		if strings.HasPrefix(name, prefix) {
			name = full + name[strings.LastIndexByte(name, '.')+1:]
		}
	}
	return strings.Replace(name, ".in_proj_weight", ".in_proj.weight", 1), false
}

func (w *fileWeights) names() []string { return slices.Sorted(maps.Keys(w.entries)) }

func (w *fileWeights) shape(name string) ([]int, bool) {
	s, ok := w.entries[name]
	if !ok {
		return nil, false
	}
	shape, ok := s.file.Shape(s.name)
	if s.turned {
		shape = []int{shape[2], shape[1]}
	}
	return shape, ok
}

// Floats implements [Weights]. A value that is not a finite number is an error.
func (w *fileWeights) Floats(name string, shape ...int) ([]float32, error) {
	s, ok := w.entries[name]
	if !ok {
		return nil, fmt.Errorf("tensor %s is missing", name)
	}
	values, err := s.floats(shape)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if v-v != 0 {
			return nil, fmt.Errorf("tensor %s holds %v: the checkpoint is damaged or was saved by a training that had failed", s.name, v)
		}
	}
	return values, nil
}

func (s *stored) floats(shape []int) ([]float32, error) {
	if !s.turned {
		values, err := s.file.Floats(s.name, shape...)
		if err == nil && s.gain != "" {
			err = s.fuse(values)
		}
		return values, err
	}
	frames, width := shape[0], shape[1]
	columns, err := s.file.Floats(s.name, 1, width, frames)
	if err != nil {
		return nil, err
	}
	rows := make([]float32, len(columns))
	for i, v := range columns {
		rows[i%frames*width+i/frames] = v
	}
	return rows, nil
}

// countedWeights tells how many values were read, and ends where it is told to stop.
type countedWeights struct {
	Weights
	read    func(values int)
	stopped func() error
}

// Floats implements [Weights].
func (w countedWeights) Floats(name string, shape ...int) ([]float32, error) {
	if err := w.stopped(); err != nil { // a graph has many weights, and building it takes seconds
		return nil, err
	}
	values, err := w.Weights.Floats(name, shape...)
	w.read(len(values))
	return values, err
}

// fuse gives each slice of the first dimension the length that is stored beside it.
func (s *stored) fuse(values []float32) error {
	shape, _ := s.file.Shape(s.name)
	lengths := make([]int, len(shape))
	for i := range lengths {
		lengths[i] = 1
	}
	if len(shape) > 0 {
		lengths[0] = shape[0]
	}
	gains, err := s.file.Floats(s.gain, lengths...)
	if err != nil {
		return err
	}
	for i, gain := range gains {
		row := values[i*len(values)/len(gains) : (i+1)*len(values)/len(gains)]
		sum := 0.0
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		for j, v := range row {
			// a direction of zeros gives no number, which is refused
			row[j] = float32(float64(v) * float64(gain) / math.Sqrt(sum))
		}
	}
	return nil
}
