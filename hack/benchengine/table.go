package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/measure"
)

// The lines of docs/benchmarks.md that the table is put between: of each kernel, which stands for a kind of processor,
// one.
const (
	beginMarker = "<!-- make bench-engine writes from here, where the kernel is %s -->"
	endMarker   = "<!-- to here -->"
)

// figures are what one thing has cost, each time that it was measured.
type figures struct{ values []float64 }

// at returns the value that a part p of all lie below: 0.5 is the median.
func (f *figures) at(p float64) float64 {
	sorted := slices.Sorted(slices.Values(f.values))
	return sorted[int(p*float64(len(sorted)-1)+.5)]
}

// median returns the median of what was measured under a name, and false where nothing was.
func (b *bench) median(name string) (float64, bool) {
	f := b.figures[name]
	if f == nil {
		return 0, false
	}
	return f.at(.5), true
}

// A line of the table. It has a cell for each precision; the goal is for integers.
type line struct {
	what  string
	value func(precision string) (float64, bool)
	form  string // of fmt, for a value
	goal  float64
	least bool // whether the goal is the least, not the most
	docs  bool // whether docs/benchmarks.md has it
}

// inDocs returns the line for docs/benchmarks.md, too.
func (l line) inDocs() line {
	l.docs = true
	return l
}

// figure is a line for what was measured under a name, followed by the precision.
func (b *bench) figure(what, name, form string, goal float64) line {
	return line{what, func(precision string) (float64, bool) { return b.median(name + " " + precision) }, form, goal,
		false, false}
}

// ratio is a line for a relation of two other values.
func ratio(what string, goal float64, of func(precision string) (over, under float64, ok bool)) line {
	return line{what, func(precision string) (float64, bool) {
		over, under, ok := of(precision)
		if !ok || under == 0 {
			return 0, false
		}
		return over / under, true
	}, "%.1f×", goal, true, false}
}

// most is a line for a relation that should be small.
func most(what string, goal float64, of func(precision string) (over, under float64, ok bool)) line {
	l := ratio(what, goal, of)
	l.form, l.least = "%.2f×", false
	return l
}

// slowest relates what 95 of 100 measurements of one thing lie below to the median of another.
func (b *bench) slowest(over, under string) func(string) (float64, float64, bool) {
	return func(precision string) (float64, float64, bool) {
		x := b.figures[over+" "+precision]
		y, ok := b.median(under + " " + precision)
		if x == nil || !ok {
			return 0, 0, false
		}
		return x.at(.95), y, true
	}
}

func (b *bench) between(over, under string) func(string) (float64, float64, bool) {
	return func(precision string) (float64, float64, bool) {
		x, ok := b.median(over + " " + precision)
		y, too := b.median(under + " " + precision)
		return x, y, ok && too
	}
}

const (
	milliseconds = "%.1f ms"
	megabytes    = "%.0f MB"
)

// peerGoals are how many times as fast as the peer a frame should be, of one stream alone and of eight at once.
func peerGoals(kernel string) (alone, shared float64) {
	if strings.HasSuffix(kernel, "vnni") {
		return 2.7, 3.2
	}
	return 2.4, 3 // more instructions for each product
}

func (b *bench) lines() [][]line {
	alone, shared := peerGoals(b.kernel)
	frame := func(precision string) (float64, bool) {
		step, ok := b.median("step 1 " + precision)
		group, too := b.median("decode 4 " + precision)
		return step + group/4, ok && too
	}
	perFrame := func(precision string) (float64, bool) {
		group, ok := b.median("decode 4 " + precision)
		return group / 4, ok
	}
	batch := func(streams int) line {
		return ratio(fmt.Sprintf("frames of %d streams stepped together, for one alone", streams),
			map[int]float64{4: 1.6}[streams], func(precision string) (float64, float64, bool) {
				one, ok := b.median("step 1 " + precision)
				all, too := b.median(fmt.Sprintf("step %d %s", streams, precision))
				return float64(streams) * one, all, ok && too
			})
	}
	return [][]line{
		{
			b.figure("step of the language model with its flow", "step 1", milliseconds, 8).inDocs(),
			b.figure("decoding one frame", "decode 1", milliseconds, 0),
			{"decoding, of a frame in a group of four", perFrame, milliseconds, 6, false, true},
			{"both together, for a frame of 80 ms", frame, milliseconds, 14, false, false},
			b.figure("reading 30 tokens", "prefill", milliseconds, 22).inDocs(),
			b.figure("step of 2 streams", "step 2", milliseconds, 0),
			b.figure("step of 4 streams", "step 4", milliseconds, 0),
			b.figure("step of 8 streams", "step 8", milliseconds, 0),
			batch(2), batch(4), batch(8),
		},
		b.productLines(),
		{
			b.figure("a frame, all in", "frame swar", milliseconds, 14).inDocs(),
			b.figure("a frame of a whole utterance, its text included", "utterance swar", milliseconds, 0),
			b.figure("first audio of a new text of 30 tokens", "first swar", milliseconds, 32).inDocs(),
			b.figure("first audio of a text read before", "again swar", milliseconds, 14).inDocs(),
			b.figure("first audio of a new text whose first 15 tokens were read before", "alike swar", milliseconds, 0),
			most("of that of a text that is all new", 0.6, b.between("alike swar", "first swar")),
			b.figure("first audio beside 7 streams that never pause", "beside 8 streams", milliseconds, 0),
			most("the slowest of twenty, of that alone", 3, b.slowest("beside 8 streams", "alone 8 streams")),
			b.figure("a frame with 8 streams at once", "shared 8 streams", milliseconds, 0).inDocs(),
			b.figure("memory with 1 stream", "memory 1 streams", megabytes, 0).inDocs(),
			b.figure("memory with 8 streams at once", "memory 8 streams", megabytes, 400),
			b.figure("the same, at most since the start", "memory peak 8 streams", megabytes, 0),
			b.figure("memory with 8 streams at once and a full prefill cache", "full memory 8 streams", megabytes,
				400).inDocs(),
			b.figure("the same, at most since the start", "full memory peak 8 streams", megabytes, 0),
		},
		{
			b.figure("KevinAHM's layout in our reader: a frame", "frame layout", milliseconds, 0),
			ratio("a bundle is faster by", 0, b.between("frame layout", "frame swar")),
			b.figure("KevinAHM's layout in our reader: memory", "resident layout", megabytes, 0),
		},
		{
			b.figure("sherpa-onnx: a frame", "frame sherpa", milliseconds, 0).inDocs(),
			ratio("swar is faster by", alone, b.between("frame sherpa", "frame swar")).inDocs(),
			ratio("swar is faster by, with 8 streams at once", shared,
				b.between("frame sherpa", "shared 8 streams")).inDocs(),
			b.figure("sherpa-onnx: a frame of a whole utterance, text and voice included", "utterance sherpa",
				milliseconds, 0),
			ratio("swar is faster by", 0, b.between("utterance sherpa", "utterance swar")),
			b.figure("sherpa-onnx: first audio of an utterance of 90 frames", "first sherpa", milliseconds, 0).inDocs(),
			ratio("swar is earlier by", 0, b.between("first sherpa", "first swar")),
			b.figure("sherpa-onnx: memory", "resident sherpa", megabytes, 0).inDocs(),
		},
	}
}

// productLines compare our products of integers with ONNX Runtime's exact ones.
func (b *bench) productLines() (lines []line) {
	for _, rows := range productRows {
		name := fmt.Sprintf("products %d ", rows)
		part := ratio(fmt.Sprintf("%d, as a part of that", rows), 1, b.between(name+"own", name+"exact"))
		part.form, part.least = "%.2f", false
		lines = append(lines, b.figure(strconv.Itoa(rows), name+"own", milliseconds, 0),
			b.figure(fmt.Sprintf("%d, ONNX Runtime's own, exact", rows), name+"exact", milliseconds, 0), part)
	}
	return lines
}

// summary returns the lines of docs/benchmarks.md as one table.
func (b *bench) summary(host string, now time.Time) string {
	var t strings.Builder
	b.circumstances(&t, host, now)
	var lines []line
	for _, group := range b.lines() {
		for _, l := range group {
			if l.docs {
				lines = append(lines, l)
			}
		}
	}
	b.group(&t, "The engine, one thread", lines)
	return strings.TrimSpace(t.String()) + "\n"
}

// circumstances writes when, where and with what was measured.
func (b *bench) circumstances(t *strings.Builder, host string, now time.Time) {
	peerText := "sherpa-onnx was not measured: " + b.skipped
	if b.peer != nil {
		peerText = "sherpa-onnx " + b.peer.version + " from npm, one thread"
	}
	fmt.Fprintf(t, "%s, %s, ONNX Runtime %s, %s. %s.\n\n",
		now.Format("2006-01-02"), host, measure.RuntimeVersion, runtime.Version(), peerText)
}

// table writes what was measured.
func (b *bench) table(host string, now time.Time) string {
	var t strings.Builder
	b.circumstances(&t, host, now)
	headings := []string{
		"The graphs alone, behind 200 positions", "Twenty products of 2048 by 2048, 84 MB, by rows", "The engine, one thread", "Public layouts", "The peer",
	}
	for i, group := range b.lines() {
		b.group(&t, headings[i], group)
	}
	for _, precision := range b.precisions {
		t.WriteString(b.roofline(precision))
	}
	t.WriteString("\n" + b.noise() + "\n")
	return t.String()
}

func (b *bench) group(t *strings.Builder, heading string, lines []line) {
	var rows []string
	for _, l := range lines {
		if row, ok := b.row(l); ok {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(t, "| %s | %s | goal for int8 |\n|---|%s---|\n%s\n", heading, strings.Join(b.precisions, " | "),
		strings.Repeat("---|", len(b.precisions)), strings.Join(rows, "\n"))
	t.WriteString("\n")
}

// row is false for a line that nothing is known of.
func (b *bench) row(l line) (string, bool) {
	var cells []string
	known := false
	for _, precision := range b.precisions {
		v, ok := l.value(precision)
		known = known || ok
		if ok {
			cells = append(cells, fmt.Sprintf(l.form, v))
		} else {
			cells = append(cells, "")
		}
	}
	goal := ""
	if v, ok := l.value(bundle.Int8); l.goal > 0 && ok {
		word, met := "at most ", v <= l.goal
		if l.least {
			word, met = "at least ", v >= l.goal
		}
		goal = word + strings.Replace(fmt.Sprintf(l.form, l.goal), ".0 ", " ", 1) +
			map[bool]string{true: ": met", false: ": **missed**"}[met]
	}
	return "| " + l.what + " | " + strings.Join(cells, " | ") + " | " + goal + " |", known
}

// roofline says how far a step is from reading its weights as fast as memory allows.
func (b *bench) roofline(precision string) string {
	step, ok := b.median("step 1 " + precision)
	speed, too := b.median("bandwidth")
	if !ok || !too || speed == 0 {
		return ""
	}
	bytes := float64(b.stepBytes[precision]) / 1e6
	least := bytes / speed
	return fmt.Sprintf("Roofline, %s: a step reads %.0f MB of weights, one core %.1f GB/s: %.1f ms at least. The step takes %.1f× that.\n",
		precision, bytes, speed, least, step/least)
}

// noise says how far the middle of what was measured lies apart.
func (b *bench) noise() string {
	spread := func(name string) string {
		f := b.figures[name]
		if f == nil {
			return ""
		}
		return fmt.Sprintf(", %s %.1f to %.1f ms", name, f.at(.1), f.at(.9))
	}
	return fmt.Sprintf("Medians of %d rounds in turns; four fifths of what was measured lie between%s%s%s%s.", b.rounds,
		strings.TrimPrefix(spread("step 1 int8"), ","), spread("decode 4 int8"), spread("frame swar int8"),
		spread("frame sherpa int8"))
}

// hostName says which processor this is.
func hostName() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	return processor(string(info))
}

// processor finds the name of the processor, and what it has for integers, in the text of /proc/cpuinfo.
func processor(info string) string {
	name, count, flags := runtime.GOARCH, 0, ""
	for line := range strings.Lines(info) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "model name":
			name = strings.TrimSpace(value)
			count++
		case "flags":
			flags = value
		}
	}
	best := ""
	for _, flag := range []string{"avx512_vnni", "avx_vnni", "avx2"} {
		if slices.Contains(strings.Fields(flags), flag) {
			best = " (" + flag + ")"
			break
		}
	}
	if mask := os.Getenv("CPUMASK"); mask != "" {
		best = fmt.Sprintf(" (%s, what came after it hidden by hack/cpumask.sh)", mask)
	}
	return fmt.Sprintf("%d cores of an %s%s", max(count, 1), name, best)
}

// writeBetweenMarkers puts the table into a file, in place of the one before.
func writeBetweenMarkers(path, kernel, table string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	beginMarker := fmt.Sprintf(beginMarker, kernel)
	before, rest, ok := strings.Cut(string(data), beginMarker+"\n")
	_, after, closed := strings.Cut(rest, endMarker+"\n")
	if !ok || !closed {
		return errors.New(path + " has no place for the table: it needs the lines\n" + beginMarker + "\n" + endMarker)
	}
	return os.WriteFile(path, []byte(before+beginMarker+"\n\n"+table+"\n"+endMarker+"\n"+after), 0o644)
}
