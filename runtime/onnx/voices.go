package onnx

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// voice is a voice that is loaded.
type voice struct {
	id string // in [synth.Options]: the name of one that was there when the bundle was opened
	bundle.Voice
}

// listed is the voice as the API knows it.
func (v *voice) listed() speech.Voice {
	return speech.Voice{Name: v.Name, Language: v.Language, SampleRate: speech.SampleRate, PromptFrames: v.PromptFrames}
}

// loaded returns the voices that are loaded, to be read only.
func (e *Engine) loaded() []voice { return *e.voices.Load() }

func (e *Engine) hasVoice(id string) bool {
	return slices.ContainsFunc(e.loaded(), func(v voice) bool { return v.id == id })
}

// ReadVoices implements [synth.VoiceReader]. Only the voices of the bundle may have changed since it was opened.
func (e *Engine) ReadVoices() (all []synth.LoadedVoice, err error) {
	e.reading.Lock()
	defer e.reading.Unlock()
	own, ok := e.model.(native)
	if !ok {
		return nil, errors.New("the voices of a model in a public layout are read when it is loaded: start the server again")
	}
	m, err := bundle.Open(e.dir)
	if err != nil {
		return nil, err
	}
	if !sameButVoices(m, e.manifest) {
		return nil, fmt.Errorf("%s holds another model than when it was loaded: start the server again", e.dir)
	}
	var fresh []voice
	defer func() {
		if err != nil {
			for _, v := range fresh {
				err = errors.Join(err, own.DropVoice(v.id))
			}
		}
	}()
	for _, v := range m.Voices {
		loaded, ok := e.find(v)
		if !ok {
			if loaded, err = e.loadVoice(own, v); err != nil {
				return nil, err
			}
			fresh = append(fresh, loaded)
		}
		loaded.Voice = v // a language or a consent may have changed
		all = append(all, synth.LoadedVoice{Voice: loaded.listed(), ID: loaded.id})
	}
	e.list(func(l []voice) []voice { return append(l, fresh...) })
	return all, nil
}

// find returns the loaded voice of the same name and content.
func (e *Engine) find(v bundle.Voice) (voice, bool) {
	i := slices.IndexFunc(e.loaded(), func(l voice) bool { return l.Name == v.Name && l.SHA256 == v.SHA256 })
	if i < 0 {
		return voice{}, false
	}
	return e.loaded()[i], true
}

// loadVoice reads a voice that was not there when the bundle was opened. Its id is one that no request can say, and
// that belongs to its content: what the prefill cache holds for a voice of the same name is not for this one.
func (e *Engine) loadVoice(own native, v bundle.Voice) (voice, error) {
	hash, err := bundle.HashFile(filepath.Join(e.dir, v.File.File))
	if err != nil {
		return voice{}, err
	}
	if hash != v.SHA256 {
		return voice{}, fmt.Errorf("voice %s: %s has SHA-256 %s, the manifest says %s: it was changed or is damaged",
			v.Name, v.File.File, hash, v.SHA256)
	}
	id := v.Name + "\x00" + v.SHA256
	return voice{id, v}, own.LoadVoice(e.dir, id, v)
}

// sameButVoices reports whether two manifests describe the same model.
func sameButVoices(a, b bundle.Manifest) bool {
	a.Voices, b.Voices = nil, nil
	return reflect.DeepEqual(a, b)
}

// FreeVoice implements [synth.VoiceReader].
func (e *Engine) FreeVoice(id string) error {
	own, ok := e.model.(native)
	if !ok {
		return nil
	}
	e.list(func(l []voice) []voice { return slices.DeleteFunc(l, func(v voice) bool { return v.id == id }) })
	return own.DropVoice(id)
}

// list changes the list of what is loaded. change is given one of its own.
func (e *Engine) list(change func([]voice) []voice) {
	e.listing.Lock()
	defer e.listing.Unlock()
	list := change(slices.Clone(e.loaded()))
	e.voices.Store(&list)
}
