package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
)

// maxBatch is the most streams that one run steps. A step of one stream waits for memory, that is for the weights; with eight most of
// its time is arithmetic, and more streams would only make each other wait.
const maxBatch = 8

// bank holds the keys and values of several streams as neighbours in memory. One run of the graph can step any contiguous row of slots
// where they lie, and each stream comes out as if it were alone, because no operation looks from row to row.
//
// Slots in between that are not to be stepped run along as dummies: what a run writes lies behind what a slot holds, where nothing
// looks. A stream takes a slot when its chunk begins, the lowest one, so that those that speak lie together.
//
// It is safe for concurrent use, as long as the runs themselves keep to slots that they have reserved.
type bank struct {
	lm       *lm
	capacity int         // positions of each slot
	kv       [][]float32 // K0, V0, K1, …: [slots, heads, capacity, head_dim]
	free     func() error
	run      func(first, n int, members []*stream) error // steps members, which lie in the reserved slots

	mu      sync.Mutex
	quiet   sync.Cond // a slot is no longer busy
	streams int       // that may ask for a slot
	slots   []slot
	views   map[[2]int]*view // by first slot and number
}

type slot struct {
	holder *stream
	busy   bool // somebody reads or writes it
	length int  // of the positions to keep, while it is busy in a run
}

func (l *lm) newBank(slots, capacity int) (*bank, error) {
	b := &bank{lm: l, capacity: capacity, slots: make([]slot, slots), views: map[[2]int]*view{}}
	b.quiet.L = &b.mu
	b.run = b.step
	d := l.dims
	// All keys and values come straight from the system, which gives memory to pages only once they are written: slots that nobody
	// uses and positions that no text reaches cost nothing.
	size := slots * capacity * d.Width
	all, free, err := pages(2 * d.Layers * size)
	if err != nil {
		return nil, fmt.Errorf("keys and values of %d streams: %w", slots, err)
	}
	b.free = free
	for i := range 2 * d.Layers {
		b.kv = append(b.kv, all[i*size:(i+1)*size])
	}
	return b, nil
}

func (b *bank) close() error {
	var err error
	for _, v := range b.views {
		err = errors.Join(err, v.close())
	}
	b.views, b.kv = nil, nil
	return errors.Join(err, b.free())
}

// room reports whether there is a slot for one more stream.
func (b *bank) room() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.streams < len(b.slots)
}

func (b *bank) join() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams++
}

func (b *bank) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams--
}

// hold gives s the lowest slot that is free, busy until settle. There is one for every stream, but it may be busy as a dummy, which is
// waited for: no longer than a step.
func (b *bank) hold(s *stream) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for i := range b.slots {
			if slot := &b.slots[i]; slot.holder == nil && !slot.busy {
				slot.holder, slot.busy = s, true
				return i
			}
		}
		b.quiet.Wait()
	}
}

// claim makes slot i busy for its holder, waiting while it runs along as a dummy.
func (b *bank) claim(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.slots[i].busy {
		b.quiet.Wait()
	}
	b.slots[i].busy, b.slots[i].length = true, b.slots[i].holder.length
}

// settle says that the holder of slot i is between two runs.
func (b *bank) settle(i int) { b.release(i, 1) }

// rest takes slot i from its holder.
func (b *bank) rest(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.slots[i].holder = nil
}

// reserve makes a row of slots busy: that of wanted[0], and with it as many of the others as lie near it and bring the number up to
// at most most. Each may bring up to two dummies along: at full size a run of one stream takes 5.3 ms and every further row 0.9 ms.
// n is 0 where wanted[0] itself is busy. Call release when the run is over.
func (b *bank) reserve(wanted []*stream, most int) (first, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.slots[wanted[0].slot].busy {
		return 0, 0
	}
	low, high := wanted[0].slot, wanted[0].slot
	wants := func(i int) bool {
		return slices.ContainsFunc(wanted, func(s *stream) bool { return s.slot == i })
	}
	for count := 1; count < most; {
		grown := false
		for _, next := range []int{high + 1, low - 1, high + 2, low - 2, high + 3, low - 3} { // the nearest on either side
			from, to := min(low, next), max(high, next)
			if next < 0 || next >= len(b.slots) || !wants(next) || !b.canRunLocked(from, to) {
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
		slot := &b.slots[i]
		slot.busy, slot.length = true, 0
		if slot.holder != nil {
			slot.length = slot.holder.length
		}
	}
	return low, high - low + 1
}

func (b *bank) canRunLocked(from, to int) bool {
	for i := from; i <= to; i++ {
		if s := &b.slots[i]; s.busy || s.holder != nil && s.holder.length == b.capacity {
			return false
		}
	}
	return true
}

// release makes a row of slots usable again.
func (b *bank) release(first, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range n {
		b.slots[first+i].busy = false
	}
	b.quiet.Broadcast()
}

// step steps the members among the reserved slots first to first+n.
func (b *bank) step(first, n int, members []*stream) error {
	for _, s := range members {
		if err := s.room(1); err != nil {
			return err
		}
	}
	v, err := b.view(first, n)
	if err != nil {
		return err
	}
	d := b.lm.dims
	v.total[0] = 0
	for i := range n {
		length := int32(b.slots[first+i].length)
		v.lengths[i], v.total[0] = length, max(v.total[0], length+1)
	}
	for _, s := range members {
		i := s.slot - first
		row := v.rows[i*d.Width : (i+1)*d.Width]
		b.lm.host.Row(row, s.latent)
		s.addTerm(row)
		copy(v.noise[i*d.Latent:], s.noise)
	}
	if err := b.lm.lm.Run(context.Background(), v.inputs, v.outputs); err != nil {
		return err
	}
	if err := v.draw(b.lm); err != nil {
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

// view is a row of slots as the graph reads and writes it.
type view struct {
	rows, noise, h, eos, latent []float32
	lengths, total              []int32
	own                         []*ort.Tensor // to close
	inputs                      []*ort.Tensor // rows first
	outputs                     []*ort.Tensor
	flow                        []*ort.Tensor // h, noise, latent
}

func (b *bank) view(first, n int) (*view, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v, ok := b.views[[2]int{first, n}]; ok {
		return v, nil
	}
	d := b.lm.dims
	v := &view{
		rows: make([]float32, n*d.Width), noise: make([]float32, n*d.Latent), h: make([]float32, n*d.Width), eos: make([]float32, n),
		latent: make([]float32, n*d.Latent), lengths: make([]int32, n), total: make([]int32, 1),
	}
	var err error
	keep := func(t *ort.Tensor, e error) *ort.Tensor {
		err = errors.Join(err, e)
		v.own = append(v.own, t)
		return t
	}
	rows, noise := keep(ort.Floats(v.rows, n, 1, d.Width)), keep(ort.Floats(v.noise, n, d.Latent))
	h, eos, latent := keep(ort.Floats(v.h, n, d.Width)), keep(ort.Floats(v.eos, n, 1)), keep(ort.Floats(v.latent, n, d.Latent))
	lengths, total := keep(ort.Int32s(v.lengths, n)), keep(ort.Int32s(v.total, 1))
	v.flow = []*ort.Tensor{h, noise, latent}
	v.inputs = []*ort.Tensor{rows}
	if b.lm.steps == 1 {
		v.inputs = append(v.inputs, noise)
	}
	v.inputs = append(v.inputs, lengths, total)
	size := b.capacity * d.Width
	for _, values := range b.kv {
		t := keep(ort.Floats(values[first*size:(first+n)*size], n, d.Heads, b.capacity, d.HeadDim))
		v.inputs, v.outputs = append(v.inputs, t), append(v.outputs, t)
	}
	if b.lm.steps == 1 {
		v.outputs = append(v.outputs, latent)
	}
	v.outputs = append(v.outputs, h, eos)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("tensors of slots "+strconv.Itoa(first)+" and on: %w", err), v.close())
	}
	b.views[[2]int{first, n}] = v
	return v, nil
}

// draw moves the noise along the flow, where the language model has not done so already.
func (v *view) draw(l *lm) error {
	if l.steps == 1 {
		return nil
	}
	return l.draw(v.flow, v.noise, v.latent)
}

func (v *view) close() error {
	var err error
	for _, t := range v.own {
		err = errors.Join(err, t.Close())
	}
	return err
}
