package bundle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swar-tts/swar/runtime/internal/folder"
)

// Check returns what is wrong with m, naming the first field that is.
func (m *Manifest) Check() error {
	if err := m.CheckValues(); err != nil {
		return err
	}
	return m.checkFiles()
}

// CheckValues checks all but the files and voices.
func (m *Manifest) CheckValues() error {
	for _, field := range []struct {
		name         string
		v, low, high int
	}{
		{"dims.width", m.Dims.Width, 1, 1 << 16}, {"dims.layers", m.Dims.Layers, 1, 1 << 10},
		{"dims.heads", m.Dims.Heads, 1, 1 << 10}, {"dims.head_dim", m.Dims.HeadDim, 2, 1 << 10},
		{"dims.ffn", m.Dims.FFN, 1, 1 << 18}, {"dims.latent", m.Dims.Latent, 1, 1 << 12},
		{"dims.vocab", m.Dims.Vocab, 1, 1 << 22}, {"dims.flow_width", m.Dims.FlowWidth, 1, 1 << 16},
		{"dims.codec_width", m.Dims.CodecWidth, 1, 1 << 16}, {"dims.codec_heads", m.Dims.CodecHeads, 1, 1 << 10},
		{"dims.codec_window", m.Dims.CodecWindow, 2, 1 << 14}, {"dims.upsample", m.Dims.Upsample, 1, 1920},
		{"flow.steps", m.Flow.Steps, 1, 64},
		{"sampling.min_frames", m.Sampling.MinFrames, 0, 1000}, {"sampling.short_words", m.Sampling.ShortWords, 0, 1000},
		{"sampling.frames_after_eos", m.Sampling.FramesAfterEOS, 0, 1000},
		{"sampling.frames_after_eos_short", m.Sampling.FramesAfterEOSShort, 0, 1000},
		{"limits.max_tokens", m.Limits.MaxTokens, 1, 1 << 12}, {"limits.positions", m.Limits.Positions, 2, 1 << 16},
		{"decode.fade_in_samples", m.Decode.FadeIn, 0, 1920},
	} {
		if field.v < field.low || field.v > field.high {
			return fmt.Errorf("%s is %d, want %d to %d", field.name, field.v, field.low, field.high)
		}
	}
	if err := m.checkModel(); err != nil {
		return err
	}
	if err := m.checkSpeech(); err != nil {
		return err
	}
	if err := m.Trained.Check(); err != nil {
		return fmt.Errorf("trained.%w", err)
	}
	for i, r := range m.Text.Replace {
		if r.From == "" {
			return fmt.Errorf("text.replace[%d].from is empty", i)
		}
	}
	for name, g := range map[string]Graph{"lm": m.LM, "flow_head": m.FlowHead, "codec": m.Codec} {
		for _, s := range g.States {
			if !reasonable(s.Shape) {
				return fmt.Errorf("%s: state %s has shape %v", name, s.Name, s.Shape)
			}
		}
	}
	return nil
}

func (m *Manifest) checkModel() error {
	switch {
	case m.Format != Format:
		return fmt.Errorf("format is %d, want %d", m.Format, Format)
	case m.Model.ID == "":
		return errors.New("model.id is empty")
	case !folder.IsHash(m.Model.Weights):
		return errors.New("model.weights_sha256 is not a SHA-256")
	case m.Model.Codec != "" && !folder.IsHash(m.Model.Codec):
		return errors.New("model.codec_sha256 is not a SHA-256")
	case m.Dims.Heads*m.Dims.HeadDim != m.Dims.Width:
		return fmt.Errorf("dims: %d heads of %d are not a width of %d", m.Dims.Heads, m.Dims.HeadDim, m.Dims.Width)
	case m.Dims.CodecWidth%(2*m.Dims.CodecHeads) != 0:
		return fmt.Errorf("dims: codec_width %d does not divide into pairs for %d heads", m.Dims.CodecWidth,
			m.Dims.CodecHeads)
	case !(m.Dims.RoPE > 1) || !(m.Dims.CodecRoPE > 1) || !isFinite(m.Dims.RoPE) || !isFinite(m.Dims.CodecRoPE):
		return fmt.Errorf("dims: rope periods %g and %g", m.Dims.RoPE, m.Dims.CodecRoPE)
	case m.GELU != "tanh" && m.GELU != "erf":
		return fmt.Errorf("gelu is %q, want tanh or erf", m.GELU)
	case m.Flow.Type != LSD && m.Flow.Type != Drifting:
		return fmt.Errorf("flow.type is %q, want lsd or drifting", m.Flow.Type)
	case m.Flow.Type == Drifting && m.Flow.Steps != 1:
		return fmt.Errorf("flow.steps is %d, want 1: drifting draws in one step", m.Flow.Steps)
	case m.Precision != FP32 && m.Precision != Int8:
		return fmt.Errorf("precision is %q, want fp32 or int8", m.Precision)
	case m.Tokenizer.Kind != SentencePiece && m.Tokenizer.Kind != TokenizerJSON:
		return fmt.Errorf("tokenizer.kind is %q, want sentencepiece or tokenizers", m.Tokenizer.Kind)
	}
	return nil
}

// checkSpeech checks how the model is made to speak.
func (m *Manifest) checkSpeech() error {
	switch {
	case !(m.Sampling.Temperature >= 0 && m.Sampling.Temperature <= 2):
		return fmt.Errorf("sampling.temperature is %g, want 0 to 2", m.Sampling.Temperature)
	case !(m.Sampling.NoiseClamp >= 0) || !isFinite(m.Sampling.NoiseClamp):
		return fmt.Errorf("sampling.noise_clamp is %g", m.Sampling.NoiseClamp)
	case !isFinite(m.Sampling.EOSThreshold):
		return fmt.Errorf("sampling.eos_threshold is %g", m.Sampling.EOSThreshold)
	case !(m.Limits.TokensPerSecond >= 0.1 && m.Limits.TokensPerSecond <= 100):
		return fmt.Errorf("limits.tokens_per_second is %g, want 0.1 to 100", m.Limits.TokensPerSecond)
	case !(m.Limits.PaddingSeconds >= 0.08 && m.Limits.PaddingSeconds <= 60):
		return fmt.Errorf("limits.padding_seconds is %g, want 0.08 to 60", m.Limits.PaddingSeconds)
	case !slices.Equal(m.Decode.Plan, DecodePlan()):
		return fmt.Errorf("decode.plan is %v, want %v", m.Decode.Plan, DecodePlan())
	}
	return nil
}

func isFinite(v float64) bool { return v-v == 0 }

// reasonable bounds what a state makes the engine allocate. The largest of a released model has 128,000 values.
func reasonable(shape []int) bool {
	const most = 1 << 24
	n := 1
	for _, d := range shape {
		if d < 1 || d > most/n {
			return false
		}
		n *= d
	}
	return len(shape) > 0
}

func (m *Manifest) checkFiles() error {
	if len(m.Voices) == 0 {
		return errors.New("voices is empty")
	}
	for _, f := range m.Files() {
		if err := f.Check(ManifestFile); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, v := range m.Voices {
		if v.Name == "" || v.Language == "" || seen[v.Name] {
			return fmt.Errorf("voice %q is listed twice, or its name or language is missing", v.Name)
		}
		seen[v.Name] = true
		if v.Weights != m.Model.Weights {
			return fmt.Errorf("voice %s was made with other weights (SHA-256 %q): make it again with those of the model", v.Name, v.Weights)
		}
		if need := m.Limits.Longest(v.PromptFrames); v.PromptFrames < 1 || need > m.Limits.Positions {
			return fmt.Errorf("voice %s has %d positions; with text and frames that is %d, and limits.positions is %d",
				v.Name, v.PromptFrames, need, m.Limits.Positions)
		}
		if err := v.checkOrigin(); err != nil {
			return fmt.Errorf("voice %s: %w", v.Name, err)
		}
	}
	return nil
}

// checkOrigin checks what is said of where a voice comes from.
func (v *Voice) checkOrigin() error {
	if r := v.Recording; r != (Recording{}) && (!folder.IsHash(r.SHA256) || !(r.Seconds > 0) || !isFinite(r.Seconds)) {
		return fmt.Errorf("its recording has %g s and SHA-256 %q", r.Seconds, r.SHA256)
	}
	if v.Consent != (Consent{}) {
		return v.Consent.Check()
	}
	return nil
}
