package usage

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/meter"
)

// PlaygroundKey stands for all playground keys of a project. There can be hundreds a day, with equal names.
const PlaygroundKey = "playground"

// cellKey is the key of usage within a shard.
type cellKey struct {
	project, key, voice, endpoint string
}

func (k cellKey) compare(o cellKey) int {
	return cmp.Or(
		strings.Compare(k.project, o.project), strings.Compare(k.key, o.key),
		strings.Compare(k.voice, o.voice), strings.Compare(k.endpoint, o.endpoint))
}

// cell is the usage of one project with one key, voice and endpoint.
type cell struct {
	cellKey
	prefix string // of the key, for recognition
	counts
}

// counts is what is added up. Adding is commutative, so that no order of batches, shards and days gives another sum.
type counts struct {
	sums
	ttfa, queue sketch
}

type sums struct {
	requests, errors, cancelled int64 // that have ended; errors and cancelled are among the requests
	frames, billed, chars       int64
	synthUS                     int64
}

// add counts e. What is known only of a whole stream is counted with its end.
func (c *counts) add(e *meter.Event) {
	c.frames += e.Frames
	c.billed += e.Billed
	if e.Kind != meter.Final {
		return
	}
	c.requests++
	switch e.Status {
	case meter.OK:
	case meter.Cancelled:
		c.cancelled++
	default:
		c.errors++
	}
	c.chars += int64(e.Chars)
	c.synthUS += e.Synthus
	if e.TTFAus > 0 { // else there was no frame
		c.ttfa.add(e.TTFAus)
	}
	c.queue.add(e.Queueus)
}

func (c *counts) merge(o *counts) {
	c.sums.add(&o.sums)
	c.ttfa.merge(&o.ttfa)
	c.queue.merge(&o.queue)
}

func (s *sums) add(o *sums) {
	s.requests += o.requests
	s.errors += o.errors
	s.cancelled += o.cancelled
	s.frames += o.frames
	s.billed += o.billed
	s.chars += o.chars
	s.synthUS += o.synthUS
}

// cells is the inside of a shard, in order of key.
type cells []*cell

// at returns the cell of k, which it makes if there is none.
func (s *cells) at(k cellKey) *cell {
	i, ok := slices.BinarySearchFunc(*s, k, func(c *cell, k cellKey) int { return c.compare(k) })
	if !ok {
		*s = slices.Insert(*s, i, &cell{cellKey: k})
	}
	return (*s)[i]
}

func (s *cells) add(e *meter.Event, to *Totals) {
	k, prefix := cellKey{e.ProjectID, e.KeyID, e.Voice, e.Endpoint}, e.KeyPrefix
	if e.Playground {
		k.key, prefix = PlaygroundKey, ""
	}
	c := s.at(k)
	c.prefix = max(c.prefix, prefix) // a key has one prefix; the rule only makes the order of events not matter
	c.counts.add(e)
	to.Frames += e.Frames
	to.Billed += e.Billed
	if e.Kind == meter.Final {
		to.Requests++
	}
}

// merge adds o.
func (s *cells) merge(o cells) {
	for _, c := range o {
		to := s.at(c.cellKey)
		to.prefix = max(to.prefix, c.prefix)
		to.counts.merge(&c.counts)
	}
}

// The layout of encoded cells. Whole numbers are varints as in encoding/binary; signed ones are zigzag.
//
//	byte     version, 1
//	uvarint  number of strings, then each: uvarint length, bytes. Sorted, without repeats
//	uvarint  number of cells, then each in order of key:
//	  5 × uvarint  index of project, key, voice, endpoint, prefix among the strings
//	  7 × varint   requests, errors, cancelled, frames, billed, chars, synthesis µs
//	  2 × sketch   TTFA, queue
const cellsVersion = 1

// encode gives the same bytes for the same usage, in whatever order it was added up. No usage is no bytes.
func (s cells) encode() []byte {
	if len(s) == 0 {
		return nil
	}
	var names []string
	for _, c := range s {
		names = append(names, c.project, c.key, c.voice, c.endpoint, c.prefix)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	b := make([]byte, 0, 64*len(names)+128*len(s))
	b = append(b, cellsVersion)
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, n := range names {
		b = binary.AppendUvarint(b, uint64(len(n)))
		b = append(b, n...)
	}
	b = binary.AppendUvarint(b, uint64(len(s)))
	for _, c := range s {
		for _, n := range [...]string{c.project, c.key, c.voice, c.endpoint, c.prefix} {
			i, _ := slices.BinarySearch(names, n)
			b = binary.AppendUvarint(b, uint64(i))
		}
		for _, n := range [...]int64{c.requests, c.errors, c.cancelled, c.frames, c.billed, c.chars, c.synthUS} {
			b = binary.AppendVarint(b, n)
		}
		b = c.queue.append(c.ttfa.append(b))
	}
	return b
}

// decodeCells reads what encode wrote. Anything else is an error.
func decodeCells(b []byte) (cells, error) {
	var r cellReader
	if err := r.open(b, map[string]string{}); err != nil {
		return nil, err
	}
	s := make(cells, 0, r.left)
	for {
		c := &cell{}
		if !r.next(c) {
			break
		}
		c.ttfa.read(&r.reader)
		c.queue.read(&r.reader)
		s = append(s, c)
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	return s, nil
}
