package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/swar-tts/swar/runtime/onnx/measure"
)

// measureGraphs times the graphs alone, in turns.
func (b *bench) measureGraphs() (err error) {
	type timing struct {
		name string
		run  func() (time.Duration, error)
	}
	timings := map[string][]timing{}
	b.stepBytes = map[string]int64{}
	for _, precision := range b.precisions {
		g, e := measure.Open(b.native(precision), b.library)
		if e != nil {
			return e
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		b.stepBytes[precision] = g.StepBytes()
		add := func(name string, run func() (time.Duration, error), e error) {
			timings[precision] = append(timings[precision], timing{name + " " + precision, run})
			err = errors.Join(err, e)
		}
		for _, streams := range []int{1, 2, 4, 8} {
			run, e := g.Step(streams)
			add(fmt.Sprint("step ", streams), run, e)
		}
		run, e := g.Prefill(30)
		add("prefill", run, e)
		for _, frames := range []int{1, 4} {
			run, e := g.Decode(frames)
			add(fmt.Sprint("decode ", frames), run, e)
		}
		if err != nil {
			return err
		}
	}
	array := make([]uint64, 64<<20) // 512 MiB
	for i := range array {
		array[i] = uint64(i)
	}
	const warm, repeats = 2, 12
	for round := range b.rounds {
		for _, precision := range b.precisions {
			b.say(fmt.Sprintf("graphs, %s, round %d of %d", precision, round+1, b.rounds))
			b.add("bandwidth", measure.Bandwidth(array)/1e9)
			for _, t := range timings[precision] {
				for i := range warm + repeats {
					if e := b.ctx.Err(); e != nil {
						return e
					}
					took, e := t.run()
					if e != nil {
						return fmt.Errorf("%s: %w", t.name, e)
					}
					if i >= warm {
						b.add(t.name, took.Seconds()*1e3)
					}
				}
			}
		}
	}
	return nil
}

// productRows are how many rows products of integers are timed with.
var productRows = []int{1, 4, 8, 31}

// measureProducts times products of rows by integers, ours and those of ONNX Runtime in turns.
func (b *bench) measureProducts() (err error) {
	p, err := measure.OpenProducts()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for round := range b.rounds {
		b.say(fmt.Sprintf("products of integers, round %d of %d", round+1, b.rounds))
		for _, rows := range productRows {
			own, exact, err := p.Rows(rows)
			if err != nil {
				return err
			}
			for i := range 6 {
				if err := b.ctx.Err(); err != nil {
					return err
				}
				for name, run := range map[string]func() (time.Duration, error){"own": own, "exact": exact} {
					took, err := run()
					if err != nil {
						return err
					}
					if i > 0 { // the first touches memory
						b.add(fmt.Sprintf("products %d %s int8", rows, name), took.Seconds()*1e3)
					}
				}
			}
		}
	}
	return nil
}
