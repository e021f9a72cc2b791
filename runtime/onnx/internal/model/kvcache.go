package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/swar-tts/swar/runtime/internal/ort"
)

// MaxBatch is the most streams that one run steps. A step of one stream waits for memory, that is for the weights;
// with eight most of its time is arithmetic, and more streams would only make each other wait.
const MaxBatch = 8

// KVCache holds the keys and values of several streams as neighbours in memory. One run of the graph can step any
// contiguous range of slots where they lie, and each stream comes out as if it were alone, because no operation looks
// from row to row.
//
// Slots in between that are not to be stepped run along as dummies: what a run writes lies behind what a slot holds,
// where nothing looks. A stream is assigned a slot when its chunk begins, the lowest one, so that those that speak
// lie together. Whoever reads or writes a slot, as its stream or as a run that takes it along, has it locked.
//
// It is safe for concurrent use, as long as the runs themselves keep to slots that they have locked.
type KVCache struct {
	model     *languageModel
	capacity  int         // positions of each slot
	kv        [][]float32 // K0, V0, K1, …: [slots, heads, capacity, head_dim]
	freePages func() error
	stepRange func(first, n int, members []*Stream) error // steps members, whose slots are among the locked ones

	mu       sync.Mutex
	unlocked sync.Cond // a slot is no longer locked
	attached int       // streams that may ask for a slot
	slots    []slot
	views    map[[2]int]*slotView // by first slot and number
}

type slot struct {
	stream *Stream // that it is assigned to; nil for none
	locked bool    // somebody reads or writes it
	length int     // of the positions to keep, while a run has it locked
}

func (l *languageModel) newKVCache(slots, capacity int) (*KVCache, error) {
	c := &KVCache{model: l, capacity: capacity, slots: make([]slot, slots), views: map[[2]int]*slotView{}}
	c.unlocked.L = &c.mu
	c.stepRange = c.stepGraph
	d := l.dims
	// All keys and values come straight from the system, which gives memory to pages only once they are written:
	// slots that nobody uses and positions that no text reaches cost nothing.
	size := slots * capacity * d.Width
	all, free, err := pages(2 * d.Layers * size)
	if err != nil {
		return nil, fmt.Errorf("keys and values of %d streams: %w", slots, err)
	}
	c.freePages = free
	for i := range 2 * d.Layers {
		c.kv = append(c.kv, all[i*size:(i+1)*size])
	}
	return c, nil
}

func (c *KVCache) close() error {
	var err error
	for _, v := range c.views {
		err = errors.Join(err, v.close())
	}
	c.views, c.kv = nil, nil
	return errors.Join(err, c.freePages())
}

// hasRoom reports whether there is a slot for one more stream.
func (c *KVCache) hasRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.attached < len(c.slots)
}

func (c *KVCache) attach() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attached++
}

func (c *KVCache) detach() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attached--
}

// assign gives s the lowest slot that is free, locked: unlock it. There is one for every stream, but it may be locked
// as a dummy, which is waited for: no longer than a step.
func (c *KVCache) assign(s *Stream) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for i := range c.slots {
			if slot := &c.slots[i]; slot.stream == nil && !slot.locked {
				slot.stream, slot.locked = s, true
				return i
			}
		}
		c.unlocked.Wait()
	}
}

// lock locks slot i for its stream, waiting while it runs along as a dummy.
func (c *KVCache) lock(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.slots[i].locked {
		c.unlocked.Wait()
	}
	c.slots[i].locked, c.slots[i].length = true, c.slots[i].stream.length
}

// unlock lets runs take slot i again, of its own stream or as a dummy.
func (c *KVCache) unlock(i int) { c.UnlockRange(i, 1) }

// unassign takes slot i from its stream.
func (c *KVCache) unassign(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots[i].stream = nil
}

// LockRange locks the slot wanted[0] and slots near it. It locks as many of the others in wanted as bring the range
// to at most most slots. Each may bring up to two dummies along: at full size a run of one stream takes 5.3 ms and
// every further row 0.9 ms. n is 0 where the slot of wanted[0] is locked. Call UnlockRange when the run is over.
func (c *KVCache) LockRange(wanted []*Stream, most int) (first, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[wanted[0].slot].locked {
		return 0, 0
	}
	low, high := wanted[0].slot, wanted[0].slot
	wants := func(i int) bool {
		return slices.ContainsFunc(wanted, func(s *Stream) bool { return s.slot == i })
	}
	for count := 1; count < most; {
		grown := false
		for _, next := range []int{high + 1, low - 1, high + 2, low - 2, high + 3,
			low - 3} { // the nearest on either side
			from, to := min(low, next), max(high, next)
			if next < 0 || next >= len(c.slots) || !wants(next) || !c.canRunLocked(from, to) {
				continue
			}
			low, high, grown = from, to, true
			break
		}
		if !grown {
			break
		}
		count++
	}
	for i := low; i <= high; i++ {
		slot := &c.slots[i]
		slot.locked, slot.length = true, 0
		if slot.stream != nil {
			slot.length = slot.stream.length
		}
	}
	return low, high - low + 1
}

func (c *KVCache) canRunLocked(from, to int) bool {
	for i := from; i <= to; i++ {
		if s := &c.slots[i]; s.locked || s.stream != nil && s.stream.length == c.capacity {
			return false
		}
	}
	return true
}

// UnlockRange unlocks n slots from first on.
func (c *KVCache) UnlockRange(first, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range n {
		c.slots[first+i].locked = false
	}
	c.unlocked.Broadcast()
}

// Slots returns how many there are.
func (c *KVCache) Slots() int { return len(c.slots) }

// Step steps the members among the slots first to first+n, which are locked.
func (c *KVCache) Step(first, n int, members []*Stream) error { return c.stepRange(first, n, members) }

// stepGraph steps the members among the locked slots first to first+n.
func (c *KVCache) stepGraph(first, n int, members []*Stream) error {
	for _, s := range members {
		if err := s.checkRoom(1); err != nil {
			return err
		}
	}
	v, err := c.slotView(first, n)
	if err != nil {
		return err
	}
	d := c.model.dims
	v.total[0] = 0
	for i := range n {
		length := int32(c.slots[first+i].length)
		v.lengths[i], v.total[0] = length, max(v.total[0], length+1)
	}
	for _, s := range members {
		i := s.slot - first
		row := v.rows[i*d.Width : (i+1)*d.Width]
		c.model.host.Row(row, s.latent)
		s.addVoiceEmbedding(row)
		copy(v.noise[i*d.Latent:], s.noise)
	}
	if err := c.model.graph.Run(context.Background(), v.inputs, v.outputs); err != nil {
		return err
	}
	if err := v.drawLatent(c.model); err != nil {
		return err
	}
	for _, s := range members {
		i := s.slot - first
		copy(s.latent, v.latent[i*d.Latent:])
		copy(s.h, v.h[i*d.Width:])
		s.eos[0] = v.eos[i]
		s.length++
	}
	return nil
}

// Warm runs a step of the first n slots, none of which is assigned.
func (c *KVCache) Warm(n int) error {
	c.mu.Lock()
	for i := range n {
		for c.slots[i].locked {
			c.unlocked.Wait()
		}
		c.slots[i].locked, c.slots[i].length = true, 0
	}
	c.mu.Unlock()
	defer c.UnlockRange(0, n)
	return c.stepRange(0, n, nil)
}

// slotView is a range of slots as the graph reads and writes it.
type slotView struct {
	rows, noise, h, eos, latent []float32
	lengths, total              []int32
	owned                       []*ort.Tensor // to close
	inputs                      []*ort.Tensor // rows first
	outputs                     []*ort.Tensor
	flow                        []*ort.Tensor // h, noise, latent
}

func (c *KVCache) slotView(first, n int) (*slotView, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.views[[2]int{first, n}]; ok {
		return v, nil
	}
	d := c.model.dims
	v := &slotView{
		rows: make([]float32, n*d.Width), noise: make([]float32, n*d.Latent), h: make([]float32, n*d.Width),
		eos:    make([]float32, n),
		latent: make([]float32, n*d.Latent), lengths: make([]int32, n), total: make([]int32, 1),
	}
	var err error
	keep := func(t *ort.Tensor, e error) *ort.Tensor {
		err = errors.Join(err, e)
		v.owned = append(v.owned, t)
		return t
	}
	rows, noise := keep(ort.Floats(v.rows, n, 1, d.Width)), keep(ort.Floats(v.noise, n, d.Latent))
	h, eos, latent := keep(ort.Floats(v.h, n, d.Width)), keep(ort.Floats(v.eos, n, 1)),
		keep(ort.Floats(v.latent, n, d.Latent))
	lengths, total := keep(ort.Int32s(v.lengths, n)), keep(ort.Int32s(v.total, 1))
	v.flow = []*ort.Tensor{h, noise, latent}
	v.inputs = []*ort.Tensor{rows}
	if c.model.steps == 1 {
		v.inputs = append(v.inputs, noise)
	}
	v.inputs = append(v.inputs, lengths, total)
	size := c.capacity * d.Width
	for _, values := range c.kv {
		t := keep(ort.Floats(values[first*size:(first+n)*size], n, d.Heads, c.capacity, d.HeadDim))
		v.inputs, v.outputs = append(v.inputs, t), append(v.outputs, t)
	}
	if c.model.steps == 1 {
		v.outputs = append(v.outputs, latent)
	}
	v.outputs = append(v.outputs, h, eos)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("tensors of slots "+strconv.Itoa(first)+" and on: %w", err), v.close())
	}
	c.views[[2]int{first, n}] = v
	return v, nil
}

// drawLatent moves the noise along the flow, where the language model has not done so already.
func (v *slotView) drawLatent(l *languageModel) error {
	if l.steps == 1 {
		return nil
	}
	return l.drawLatent(v.flow, v.noise, v.latent)
}

func (v *slotView) close() error {
	var err error
	for _, t := range v.owned {
		err = errors.Join(err, t.Close())
	}
	return err
}
