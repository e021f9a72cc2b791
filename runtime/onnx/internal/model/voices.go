package model

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/speech"
)

// voices holds the prompts of a model, which come and go while streams begin with them. It is safe for concurrent use.
type voices struct {
	mu      sync.RWMutex
	prompts map[string]keptPrompt
}

// keptPrompt is a prompt whose keys and values lie in pages of their own.
type keptPrompt struct {
	*bundle.Prompt
	free []func() error
}

// use lets f read the prompt of a voice, which stays as long as f runs.
func (v *voices) use(voice string, f func(*bundle.Prompt) error) error {
	v.mu.RLock()
	defer v.mu.RUnlock()
	p, ok := v.prompts[voice]
	if !ok {
		return speech.UnknownVoice(voice)
	}
	return f(p.Prompt)
}

// positions returns those of all prompts together, and of the longest.
func (v *voices) positions() (all, longest int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, p := range v.prompts {
		all, longest = all+p.Positions, max(longest, p.Positions)
	}
	return all, longest
}

// add keeps a prompt, under a name that is free.
func (v *voices) add(name string, p *bundle.Prompt) (err error) {
	kept := keptPrompt{Prompt: p}
	for _, arrays := range [][][]float32{p.K, p.V} {
		for i := range arrays {
			var free func() error
			if arrays[i], free, err = moveOut(arrays[i]); err != nil {
				return errors.Join(err, kept.close())
			}
			kept.free = append(kept.free, free)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, taken := v.prompts[name]; taken {
		return errors.Join(fmt.Errorf("the voice %s is loaded already", name), kept.close())
	}
	if v.prompts == nil {
		v.prompts = make(map[string]keptPrompt)
	}
	v.prompts[name] = kept
	return nil
}

// drop gives the memory of a prompt back, if there is one of that name.
func (v *voices) drop(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.prompts[name]
	delete(v.prompts, name)
	return p.close()
}

func (v *voices) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var err error
	for _, p := range v.prompts {
		err = errors.Join(err, p.close())
	}
	v.prompts = nil
	return err
}

func (p keptPrompt) close() error {
	var err error
	for _, free := range p.free {
		err = errors.Join(err, free())
	}
	return err
}

// LoadVoice loads a voice of the bundle in dir. Streams may then Begin with it by the given name. A prompt that is
// longer than streams have room for is an error.
func (m *Model) LoadVoice(dir, name string, v bundle.Voice) error {
	p, err := bundle.OpenPrompt(filepath.Join(dir, v.File.File), m.Manifest.Dims)
	if err != nil {
		return fmt.Errorf("voice %s: %w", v.Name, err)
	}
	if p.Positions != v.PromptFrames {
		return fmt.Errorf("voice %s: %d positions, the manifest says %d", v.Name, p.Positions, v.PromptFrames)
	}
	if need := m.Manifest.Limits.Longest(p.Positions); need > m.capacity {
		return fmt.Errorf("voice %s: its prompt of %d positions does not fit what was made ready when the model was loaded, for %d",
			v.Name, p.Positions, m.capacity-m.Manifest.Limits.Longest(0))
	}
	return m.voices.add(name, p)
}

// DropVoice forgets a voice and gives its memory back. Streams that have begun with it go on.
func (m *Model) DropVoice(name string) error { return m.voices.drop(name) }
