package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// ErrVoicesFixed is the error of [Speaker.ReadVoices] for an engine that has its voices from the start.
var ErrVoicesFixed = errors.New("the voices of this engine cannot change while it runs")

// VoiceChange is what [Speaker.ReadVoices] has changed, by name and in the order of the model.
type VoiceChange struct {
	Added    []string
	Replaced []string // same name, other content
	Removed  []string
}

// voices are those of the engine that utterances may use.
type voices struct {
	reading sync.Mutex // held while they change

	mu       sync.Mutex
	model    speech.Model
	listed   map[string]*voice // by name
	unlisted map[string]*voice // by id: listed no more, but spoken with
}

// voice is one that is loaded.
type voice struct {
	id         string // the engine's
	users      int    // utterances that speak with it
	isUnlisted bool   // new utterances may not use it: the last user frees it
}

func newVoices(m speech.Model) *voices {
	v := &voices{model: m, listed: make(map[string]*voice), unlisted: make(map[string]*voice)}
	for _, l := range m.Voices {
		v.listed[l.Name] = &voice{id: l.Name}
	}
	return v
}

// Model implements [speech.Speaker]. It has the voices that utterances may use now.
func (s *Speaker) Model() speech.Model {
	s.voices.mu.Lock()
	defer s.voices.mu.Unlock()
	return s.voices.model
}

// VoiceID distinguishes voices that have had one name since the engine was opened. It is empty for an unlisted one.
func (s *Speaker) VoiceID(name string) string {
	s.voices.mu.Lock()
	defer s.voices.mu.Unlock()
	if v, ok := s.voices.listed[name]; ok {
		return v.id
	}
	return ""
}

// takeVoice keeps a voice as it is for an utterance, which gives it back.
func (s *Speaker) takeVoice(name string) (*voice, error) {
	s.voices.mu.Lock()
	defer s.voices.mu.Unlock()
	v, ok := s.voices.listed[name]
	if !ok {
		return nil, speech.UnknownVoice(name)
	}
	v.users++
	return v, nil
}

// takeUnlisted keeps voices that are no longer listed, because they may return: their last utterance would free them
// meanwhile.
func (s *Speaker) takeUnlisted() []*voice {
	s.voices.mu.Lock()
	defer s.voices.mu.Unlock()
	gone := slices.Collect(maps.Values(s.voices.unlisted))
	for _, v := range gone {
		v.users++
	}
	return gone
}

func (s *Speaker) returnVoice(v *voice) {
	s.voices.mu.Lock()
	v.users--
	isOver := v.isUnlisted && v.users == 0
	if isOver {
		delete(s.voices.unlisted, v.id)
	}
	s.voices.mu.Unlock()
	if isOver {
		s.freeVoice(v.id)
	}
}

// freeVoice frees the memory of an unused voice. It fails only for memory of another owner.
func (s *Speaker) freeVoice(id string) {
	if r, ok := s.engine.(synth.VoiceReader); ok {
		_ = r.FreeVoice(id)
	}
}

// ReadVoices loads the voices of the engine as they are on the disk now. New ones are warmed by a worker between two
// utterances before they are listed; removed ones are unlisted at once. An utterance keeps the voice that it began
// with. An error changes nothing. Calls wait for one another, and for the workers of the start.
func (s *Speaker) ReadVoices(ctx context.Context) (c VoiceChange, err error) {
	r, ok := s.engine.(synth.VoiceReader)
	if !ok {
		return c, ErrVoicesFixed
	}
	s.voices.reading.Lock()
	defer s.voices.reading.Unlock()
	if err := s.pool.WaitStarted(ctx); err != nil {
		return c, err
	}
	for _, v := range s.takeUnlisted() {
		defer s.returnVoice(v)
	}
	loaded, err := r.ReadVoices()
	if err != nil {
		return c, err
	}
	next, fresh := s.nextVoices(loaded, &c)
	for _, l := range fresh {
		if err := s.pool.WarmVoice(ctx, l.ID); err != nil {
			for _, l := range fresh {
				s.freeVoice(l.ID)
			}
			return VoiceChange{}, fmt.Errorf("warming voice %s: %w", l.Name, err)
		}
	}
	model := s.Model()
	model.Voices = nil
	var ids []string
	for _, l := range loaded {
		model.Voices, ids = append(model.Voices, l.Voice), append(ids, l.ID)
	}
	s.pool.SetVoices(ids)
	for _, id := range s.listVoices(model, next) {
		s.freeVoice(id)
	}
	return c, nil
}

// nextVoices returns what is to be listed, and what of it has to be warmed first.
func (s *Speaker) nextVoices(loaded []synth.LoadedVoice,
	c *VoiceChange) (next map[string]*voice, fresh []synth.LoadedVoice) {
	s.voices.mu.Lock()
	defer s.voices.mu.Unlock()
	next = make(map[string]*voice, len(loaded))
	for _, l := range loaded {
		now, ok := s.voices.listed[l.Name]
		switch {
		case ok && now.id == l.ID:
			next[l.Name] = now
			continue
		case ok:
			c.Replaced = append(c.Replaced, l.Name)
		default:
			c.Added = append(c.Added, l.Name)
		}
		if back, ok := s.voices.unlisted[l.ID]; ok { // it has returned before its last user left
			next[l.Name] = back
			continue
		}
		next[l.Name] = &voice{id: l.ID}
		fresh = append(fresh, l)
	}
	for _, v := range s.voices.model.Voices {
		if next[v.Name] == nil {
			c.Removed = append(c.Removed, v.Name)
		}
	}
	return next, fresh
}

// listVoices sets the voices of new utterances, and returns the ids of voices without a user.
func (s *Speaker) listVoices(m speech.Model, next map[string]*voice) (unused []string) {
	s.voices.mu.Lock()
	defer s.voices.mu.Unlock()
	for name, v := range s.voices.listed {
		if next[name] == v {
			continue
		}
		if v.isUnlisted = true; v.users == 0 {
			unused = append(unused, v.id)
		} else {
			s.voices.unlisted[v.id] = v
		}
	}
	for _, v := range next {
		v.isUnlisted = false
		delete(s.voices.unlisted, v.id)
	}
	s.voices.model, s.voices.listed = m, next
	slices.Sort(unused)
	return unused
}
