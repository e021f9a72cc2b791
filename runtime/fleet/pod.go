package fleet

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/link"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
)

const (
	minRetry        = 50 * time.Millisecond // wait before a pod is linked again; doubled after each failure
	maxRetry        = time.Second
	minLink         = time.Second      // a link that ended sooner has failed
	describeTimeout = 20 * time.Second // for a connection, and the description of a pod
	againLimit      = time.Second      // for the same of one that has ended its link
	syncTimeout     = time.Second      // for the first pods to be met before clients come
	removeTimeout   = speech.UtteranceTimeout
)

// pod is the connections to one, for as long as it is listed or kept, or something runs there.
type pod struct {
	speaker     *Speaker
	address     string
	client      *link.Client
	following   link.RouterUpdates
	removed     chan struct{} // closed when it is neither listed nor kept
	zone        string        // where it was listed; guarded by the speaker's mutex
	missing     time.Time     // since when it is not listed; zero while it is; likewise
	model       speech.Model  // likewise
	running     int           // attempts, likewise
	idle        chan struct{} // closed when it has left and nothing runs; likewise
	unreachable bool          // and it was logged; of the goroutine that runs, as is ending
	ending      bool          // it had said so when its link broke
	markSynced  func()        // notes that its state is known, or that it does not answer
	synced      chan struct{} // closed by that
}

func newPod(s *Speaker, address string, client *link.Client) *pod {
	asked := make(chan struct{})
	return &pod{
		speaker: s, address: address, client: client, removed: make(chan struct{}), idle: make(chan struct{}),
		markSynced: sync.OnceFunc(func() { close(asked) }), synced: asked,
	}
}

// withdraw ends the pod when what runs there has ended. The speaker's mutex is held.
func (p *pod) remove() {
	close(p.removed)
	if p.running == 0 {
		close(p.idle)
	}
}

// isIdle reports whether the pod has left and nothing runs there any more. The speaker's mutex is held.
func (p *pod) isIdle() bool {
	select {
	case <-p.idle:
		return true
	default:
		return false
	}
}

func (p *pod) isRemoved() bool {
	select {
	case <-p.removed:
		return true
	default:
		return false
	}
}

// run keeps a link to the pod until it leaves or ctx ends, and closes the connections when nothing runs on
// them any more.
func (p *pod) run(ctx context.Context) {
	linking, stop := context.WithCancel(ctx)
	unlink := make(chan struct{})
	go func() {
		defer close(unlink)
		select {
		case <-p.removed:
			stop()
		case <-linking.Done():
		}
	}()
	p.maintainLink(linking)
	stop()
	<-unlink
	select {
	case <-p.idle:
	case <-time.After(removeTimeout):
	case <-ctx.Done():
	}
	if err := p.client.Close(); err != nil {
		p.speaker.log.Debug("closing the connections to a pod", "pod", p.address, "error", err)
	}
}

func (p *pod) maintainLink(ctx context.Context) {
	for wait := minRetry; ctx.Err() == nil; wait = min(2*wait, maxRetry) {
		begun := time.Now()
		err := p.link(ctx)
		p.markSynced()
		if ctx.Err() != nil || p.isRemoved() {
			return
		}
		if time.Since(begun) > maxRetry {
			wait = minRetry
		}
		p.logUnreachable(err)
		select {
		case <-time.After(wait/2 + rand.N(wait/2+1)):
		case <-ctx.Done():
		}
	}
}

// link follows the pod until that fails. Where the pod has the connection made anew, what is known of it stays as it
// is meanwhile.
func (p *pod) link(ctx context.Context) error {
	model, err := p.describe(ctx, describeTimeout)
	if err != nil {
		return err
	}
	defer p.unlinked()
	s := p.speaker
	for again := false; ; again = true {
		begun := time.Now()
		err := p.client.Follow(ctx, s.epoch, &p.following, func() { s.podConnected(p, model, again) }, p)
		if !errors.Is(err, io.EOF) || time.Since(begun) < minLink || p.isDraining() {
			return err
		}
		if model, err = p.describe(ctx, againLimit); err != nil {
			return err
		}
	}
}

// describe asks the pod what it speaks with.
func (p *pod) describe(ctx context.Context, limit time.Duration) (speech.Model, error) {
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return p.client.Describe(asking)
}

func (p *pod) isDraining() bool {
	s := p.speaker
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.router.IsDraining(p.address)
}

// unlinked notes that the link to the pod has ended.
func (p *pod) unlinked() {
	s := p.speaker
	s.mu.Lock()
	defer s.mu.Unlock()
	p.model = speech.Model{}
	s.compareSpeedsLocked()
	if s.pods[p.address] == p { // else there is another one at that address, or none
		now := time.Now()
		p.ending = s.router.IsDraining(p.address)
		s.applyLocked(s.router.Disconnect(now, p.address))
		p.removeIfGoneLocked(now)
	}
}

// logUnreachable says once that the pod does not answer; what had said that it ends is nothing to warn of.
func (p *pod) logUnreachable(err error) {
	if p.unreachable {
		return
	}
	p.unreachable = true
	if p.ending {
		p.speaker.log.Info("a pod has ended, as it said", "pod", p.address)
	} else {
		p.speaker.log.Warn("a pod is away; trying again", "pod", p.address, "error", err)
	}
}

// podConnected records that a pod is connected, and whether its model is the fleet's. The first pod decides that model,
// and the next one when no pod has it any more. again is a link that follows another one at once.
func (s *Speaker) podConnected(p *pod, model speech.Model, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods[p.address] != p {
		return
	}
	p.unreachable, p.ending = false, false
	p.model = model
	now := time.Now()
	if !s.isFitLocked(model) && s.cfg.Model.ID == "" && !s.anyFitLocked() {
		s.log.Info("speaking with the model of the first pod", "model", model.ID, "voices", len(model.Voices), "pod",
			p.address)
		s.model = model
	}
	s.compareSpeedsLocked()
	fit := s.isFitLocked(model)
	switch missing := s.missingVoicesLocked(model); {
	case fit:
		s.model.Voices = known(s.model.Voices, model)
		if !again {
			s.log.Info("pod met", "pod", p.address)
		}
	case len(missing) > 0:
		s.log.Error("a pod is not used: voices are missing", "pod", p.address, "model", model.ID, "missing", missing)
	default:
		s.log.Error("a pod is not used: it speaks with another model", "pod", p.address, "its", model.ID, "ours",
			s.model.ID)
	}
	s.applyLocked(s.router.Connect(now, p.address, fit))
	if len(s.router.Waiting()) > 0 {
		s.publishWaitingLocked()
	}
}

// isFitLocked reports whether model is the one that is spoken with, and has all of its voices.
func (s *Speaker) isFitLocked(model speech.Model) bool {
	return s.model.ID != "" && model.ID == s.model.ID && len(s.missingVoicesLocked(model)) == 0
}

// missingVoicesLocked returns the names of the fleet's voices that model lacks, none if it is another model.
func (s *Speaker) missingVoicesLocked(model speech.Model) (names []string) {
	if model.ID != s.model.ID {
		return nil
	}
	for _, v := range s.model.Voices {
		if _, ok := model.Voice(v.Name); !ok {
			names = append(names, v.Name)
		}
	}
	return names
}

// compareSpeedsLocked sets the fleet's speeds to those that all pods in use have, because any of them may get an
// utterance. Older pods have none.
func (s *Speaker) compareSpeedsLocked() {
	found := false
	for _, p := range s.pods {
		switch {
		case !s.isFitLocked(p.model):
		case !found:
			s.model.Speeds, found = p.model.Speeds, true
		default:
			s.model.Speeds = s.model.Speeds.And(p.model.Speeds)
		}
	}
}

// known returns the voices of model with the names of wanted, all if wanted is empty.
func known(wanted []speech.Voice, model speech.Model) []speech.Voice {
	if len(wanted) == 0 {
		return model.Voices
	}
	voices := make([]speech.Voice, len(wanted))
	for i, v := range wanted {
		voices[i], _ = model.Voice(v.Name)
	}
	return voices
}

func (s *Speaker) anyFitLocked() bool {
	for _, p := range s.pods {
		if s.isFitLocked(p.model) {
			return true
		}
	}
	return false
}

// State implements [link.Events].
func (p *pod) State(state route.State) {
	s := p.speaker
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods[p.address] == p {
		now := time.Now()
		s.applyLocked(s.router.State(now, p.address, state))
		p.removeIfGoneLocked(now)
	}
	p.markSynced()
}

// removeIfGoneLocked drops the pod if it is gone by what is known now.
func (p *pod) removeIfGoneLocked(now time.Time) {
	if p.speaker.isRemovedLocked(now, p) {
		p.speaker.updateRouterLocked(now)
	}
}

// Granted implements [link.Events].
func (p *pod) Granted(number uint64, session string) {
	s := p.speaker
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods[p.address] == p {
		s.applyLocked(s.router.Granted(time.Now(), p.address, number, session))
	}
}

// errNoPod is a pod that has gone between being chosen and being asked.
var errNoPod = errors.New("it is not listed any more")
