package layout

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/speech"
)

// description is bundle.json of version 2. Keys that it does not know are left alone: exporters add their own.
type description struct {
	Version        int              `json:"schema_version"`
	Name           string           `json:"bundle_name"`
	Language       string           `json:"language"`
	SampleRate     float64          `json:"sample_rate"`
	FrameRate      float64          `json:"frame_rate"`
	FrameSamples   float64          `json:"samples_per_frame"`
	Latent         int              `json:"latent_dim"`
	Width          int              `json:"conditioning_dim"`
	MaxTokens      int              `json:"max_token_per_chunk"`
	PadShort       bool             `json:"pad_with_spaces_for_short_inputs"`
	NoSemicolons   bool             `json:"remove_semicolons"`
	FramesAfterEOS *int             `json:"model_recommended_frames_after_eos"`
	BOS            bool             `json:"insert_bos_before_voice"`
	Tokenizer      string           `json:"tokenizer_file"`
	BOSFile        string           `json:"bos_before_voice_file"`
	LMStates       []describedState `json:"flow_lm_state_manifest"`
	CodecStates    []describedState `json:"mimi_state_manifest"`
}

type describedState struct {
	Index  int     `json:"index"`
	Input  string  `json:"input_name"`
	Output string  `json:"output_name"`
	Module string  `json:"module"`
	Key    string  `json:"key"`
	Path   string  `json:"path"` // module/key, where it stands
	Shape  []int64 `json:"shape"`
	Type   string  `json:"dtype"`
	Fill   string  `json:"fill"`
}

// readDescription reads bundle.json and checks that it can be followed.
func readDescription(data []byte) (*description, error) {
	var d description
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	if d.MaxTokens == 0 {
		d.MaxTokens = 50
	}
	if d.Tokenizer == "" {
		d.Tokenizer = "tokenizer.model"
	}
	if d.BOSFile == "" {
		d.BOSFile = "bos_before_voice.npy"
	}
	switch {
	case d.Version != 2:
		return nil, fmt.Errorf("schema_version is %d, this program reads 2", d.Version)
	case d.SampleRate != speech.SampleRate || d.FrameRate != 12.5 || d.FrameSamples != speech.FrameSamples:
		return nil, fmt.Errorf("%g Hz in %g frames a second of %g samples, want %d, 12.5 and %d",
			d.SampleRate, d.FrameRate, d.FrameSamples, speech.SampleRate, speech.FrameSamples)
	case d.Latent < 1 || d.Latent > 1<<12 || d.Width < 1 || d.Width > 1<<16:
		return nil, fmt.Errorf("latent_dim is %d and conditioning_dim is %d", d.Latent, d.Width)
	case d.MaxTokens < 1 || d.MaxTokens > 1<<12:
		return nil, fmt.Errorf("max_token_per_chunk is %d, want 1 to %d", d.MaxTokens, 1<<12)
	case d.FramesAfterEOS != nil && (*d.FramesAfterEOS < 0 || *d.FramesAfterEOS > 1000):
		return nil, fmt.Errorf("model_recommended_frames_after_eos is %d, want 0 to 1000", *d.FramesAfterEOS)
	}
	for key, file := range map[string]string{"tokenizer_file": d.Tokenizer, "bos_before_voice_file": d.BOSFile} {
		if !filepath.IsLocal(file) {
			return nil, fmt.Errorf("%s is %q, which is not a file of the folder", key, file)
		}
	}
	return &d, nil
}

// states returns what a manifest lists, in the order of its indexes.
func states(listed []describedState) ([]state, error) {
	if len(listed) == 0 || len(listed) > maxStates {
		return nil, fmt.Errorf("%d states, want 1 to %d", len(listed), maxStates)
	}
	listed = slices.Clone(listed)
	slices.SortStableFunc(listed, func(a, b describedState) int { return a.Index - b.Index })
	var list []state
	seen := map[string]bool{}
	for i, l := range listed {
		if l.Index != i {
			return nil, fmt.Errorf("state %d is missing or listed twice", i)
		}
		if l.Input == "" || l.Output == "" || seen[l.Input] || seen[l.Output] {
			return nil, fmt.Errorf("state %d: the names %q and %q are empty or duplicate", i, l.Input, l.Output)
		}
		seen[l.Input], seen[l.Output] = true, true
		s := state{input: l.Input, output: l.Output, path: l.Path, fill: l.Fill}
		if s.path == "" {
			s.path = l.Module + "/" + l.Key
		}
		switch l.Type {
		case "float32":
			s.typ = graph.F32
		case "int64":
			s.typ = graph.I64
		case "bool":
			s.typ = graph.Bool
		default:
			return nil, fmt.Errorf("state %s is %q, only float32, int64 and bool are supported", l.Input, l.Type)
		}
		if !slices.Contains([]string{"nan", "zeros", "ones", "empty"}, l.Fill) || l.Fill == "nan" &&
			s.typ != graph.F32 {
			return nil, fmt.Errorf("state %s of %v cannot be filled with %q", l.Input, s.typ, l.Fill)
		}
		count := int64(1)
		for _, n := range l.Shape {
			if n < 0 || n > math.MaxInt32 || n > 0 && count > maxStateBytes/n {
				return nil, fmt.Errorf("state %s has shape %v", l.Input, l.Shape)
			}
			count *= n
			s.shape = append(s.shape, int(n))
		}
		if len(l.Shape) == 0 || len(l.Shape) > 16 {
			return nil, fmt.Errorf("state %s has %d dimensions, want 1 to 16", l.Input, len(l.Shape))
		}
		list = append(list, s)
	}
	return list, nil
}

// tag returns the language tag of a name such as english_2026-04. What is no language that is known stays
// undetermined, which is a tag too.
func tag(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), "_")
	known := map[string]string{
		"english": "en", "french": "fr", "german": "de", "italian": "it", "portuguese": "pt", "spanish": "es", "basque": "eu",
		"hindi": "hi-IN", "hinglish": "hi-IN+en-IN",
	}
	if t, ok := known[name]; ok {
		return t
	}
	if len(name) == 2 || len(name) > 2 && name[2] == '-' {
		return name
	}
	return "und"
}
