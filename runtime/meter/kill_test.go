//go:build unix

package meter_test

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
)

// This test is outside of the package, and knows the portal, because it is about the whole way: from the end of a
// stream to the store.

// killEnv makes the test binary a server that is going to be killed: folder, steps to kill at, seed, streams to speak.
const killEnv = "SWAR_METER_KILL"

func TestMain(m *testing.M) {
	if order := os.Getenv(killEnv); order != "" {
		if err := speakUntilKilled(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// message is what the server that is killed tells the test: a stream that begins or has ended, or a batch, to which the
// test answers.
type message struct {
	Begun, Ended *spoken
	Batch        *meter.Batch
}

// spoken is a stream as its client knows it.
type spoken struct {
	ID     string
	Frames int // decoded
	Status meter.Status
}

// answer is what the sink says to a batch.
type answer struct {
	Error string
	Want  int64 // of a gap
}

// ---- the server ----

// wire is the sink of the server: the test is at the other end of its standard input and output.
type wire struct {
	mu  sync.Mutex
	out *gob.Encoder
	in  *gob.Decoder
}

func (w *wire) tell(m message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Encode(m)
}

func (w *wire) Send(_ context.Context, b meter.Batch) error {
	if err := w.tell(message{Batch: &b}); err != nil {
		return err
	}
	var a answer
	switch err := w.in.Decode(&a); {
	case err != nil:
		return err
	case a.Want != 0:
		return &meter.GapError{Want: a.Want}
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

type silence struct{}

func (silence) Start(speech.Start) error       { return nil }
func (silence) ChunkStart(speech.Chunk) error  { return nil }
func (silence) Audio(speech.Audio) error       { return nil }
func (silence) ChunkEnd(speech.ChunkEnd) error { return nil }

func speakUntilKilled(order string) error {
	fields := strings.Split(order, "|")
	folder, point, round := fields[0], fields[1], fields[3]
	after, _ := strconv.Atoi(fields[2])
	streams, _ := strconv.Atoi(fields[4])
	w := &wire{out: gob.NewEncoder(os.Stdout), in: gob.NewDecoder(os.Stdin)}

	var mu sync.Mutex
	meter.OnStep(func(name string) {
		mu.Lock()
		defer mu.Unlock()
		if point != "any" && point != name {
			return
		}
		if after--; after == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	l, err := meter.OpenLog(meter.LogConfig{Folder: folder, SegmentBytes: 4000, SyncEvery: 2 * time.Millisecond},
		slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	if point == "torn" {
		l.Tear()
	}
	ctx, stop := context.WithCancel(context.Background())
	shipper := meter.NewShipper(meter.ShipperConfig{MaxBatch: 6, Gather: time.Millisecond, MinRetry: time.Millisecond,
		MaxRetry: 4 * time.Millisecond}, l, w, slog.New(slog.DiscardHandler))
	var running, speaking sync.WaitGroup
	running.Go(func() { _ = l.Run(ctx) })
	running.Go(func() { _ = shipper.Run(ctx) })
	recorder := meter.NewRecorder(l)
	failed := make([]error, 2)
	for voice := range failed {
		speaking.Go(func() {
			for i := range streams {
				if err := speakOne(w, recorder, fmt.Sprintf("%s-%d-%d", round, voice, i)); err != nil {
					failed[voice] = err
					return
				}
			}
		})
	}
	speaking.Wait()
	stop()
	running.Wait()
	drain, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(failed[0], failed[1], shipper.Drain(drain), l.Close())
}

// speakOne speaks a stream that follows from its id.
func speakOne(w *wire, r *meter.Recorder, id string) error {
	rng := rand.New(rand.NewPCG(hash(id), 1))
	frames := rng.IntN(400)
	end := []error{nil, nil, context.Canceled, speech.ErrTimeout, speech.ErrWorkerGone}[rng.IntN(5)]
	s := &spoken{ID: id, Frames: frames, Status: meter.StatusOf(end)}
	if err := w.tell(message{Begun: s}); err != nil {
		return err
	}
	grant := access.Grant{OrgID: "org_" + strconv.Itoa(rng.IntN(3)), ProjectID: "prj_a",
		KeyID: "key_" + strconv.Itoa(rng.IntN(4)), KeyPrefix: "swar_live_aaaaaa"}
	stream := r.Begin(grant, "ws", speech.Utterance{RequestID: id, Voice: "raj", Format: speech.PCM16}, silence{})
	_ = stream.Start(speech.Start{})
	for n := 0; n < frames; n += 4 {
		_ = stream.Audio(speech.Audio{Frames: min(4, frames-n), FirstFrame: time.Millisecond})
		stream.Taken(min(4, frames-n))
		if n%100 == 0 {
			time.Sleep(50 * time.Microsecond) // lets syncs and batches come in between
		}
	}
	stream.End(speech.Stats{Started: true, Frames: frames, TTFA: time.Millisecond}, end)
	return w.tell(message{Ended: s})
}

// progressOf returns what a stream of so many frames may have reported when it was cut off.
func progressOf(frames int64) (reports []int64) {
	reported := int64(0)
	for n := int64(4); n < frames+4; n += 4 {
		if made := min(n, frames); made-reported >= meter.ProgressFrames {
			reported = made
			reports = append(reports, made)
		}
	}
	return reports
}

func hash(s string) uint64 {
	var h uint64 = 14695981039346656037
	for _, c := range []byte(s) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// ---- the test ----

// points are the steps at which the server is killed. The first two are the test's own: it kills between two steps of
// the server.
var points = []string{
	"before booking", "before the answer",
	"append", "torn", "written", "segment", "sync", "synced", "send", "sent", "acked", "removed", "any",
}

func TestKilledAnywhereEveryFrameCountsOnce(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 2 * len(points)
	}
	k := &killing{
		t: t, folder: memoryFolder(t), store: memstore.New(),
		rng:   rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)),
		begun: map[string]spoken{}, ended: map[string]bool{}, killed: map[string]int{},
	}
	round := 0
	for ; round-k.survived < kills && round < 2*kills; round++ {
		point := points[round%len(points)]
		after := 1 + k.rng.IntN(4)
		if round < len(points) {
			after = 1
		} else if point == "any" {
			after = 1 + k.rng.IntN(100)
		}
		k.serve(round, point, after, 6)
	}
	k.serve(round, "never", 1, 0)
	k.check(kills)
	for _, point := range points {
		if k.killed[point] == 0 {
			t.Errorf("the server was never killed at %q", point)
		}
	}
	total := 0
	for _, n := range k.killed {
		total += n
	}
	if total < kills {
		t.Errorf("killed only %d times, want %d", total, kills)
	}
	t.Logf("killed %d times: %v", total, k.killed)
	t.Logf("%d streams of which %d were seen to end; %d batches, %d of them repeated or out of order", len(k.begun),
		len(k.ended), k.sent, k.disturbed)
}

// memoryFolder returns a folder in memory where there is such a thing: what a killed process has written survives there
// as well, and 200 servers need not wait for a disk.
func memoryFolder(t *testing.T) string {
	folder, err := os.MkdirTemp("/dev/shm", "swar-meter-") //nolint:usetesting // TempDir is on the disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// killing is the world around the servers: their clients and the portal, which both outlive them.
type killing struct {
	t      *testing.T
	folder string
	store  *memstore.Store
	rng    *rand.Rand

	begun     map[string]spoken
	ended     map[string]bool
	old       []meter.Batch
	sent      int
	disturbed int
	killed    map[string]int
	survived  int
}

// serve runs a server until it is killed or has spoken all its streams.
func (k *killing) serve(round int, point string, after, streams int) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d|%d|%d", killEnv, k.folder, point, after, round, streams))
	var report strings.Builder
	cmd.Stderr = &report
	in, err := cmd.StdinPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	kill := func(here string) bool {
		if point != here {
			return false
		}
		if after--; after != 0 {
			return false
		}
		_ = cmd.Process.Kill()
		return true
	}
	answers := gob.NewEncoder(in)
	for messages := gob.NewDecoder(out); ; {
		var m message
		if err := messages.Decode(&m); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				k.t.Errorf("round %d, %s: %v", round, point, err)
			}
			break // the server is gone
		}
		switch {
		case m.Begun != nil:
			k.begun[m.Begun.ID] = *m.Begun
		case m.Ended != nil:
			k.ended[m.Ended.ID] = true
		case m.Batch != nil:
			if kill("before booking") {
				break
			}
			a := k.book(*m.Batch)
			if kill("before the answer") {
				break
			}
			_ = answers.Encode(a) // may find nobody
		}
	}
	_, _ = io.Copy(io.Discard, out)
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL &&
		ctx.Err() == nil {
		// Signal is -1 without one
		k.killed[point]++
		if strings.Contains(report.String(), "level=ERROR") {
			k.t.Errorf("round %d, %s: %s", round, point, report.String())
		}
		return
	}
	k.survived++
	if err != nil || strings.Contains(report.String(), "level=ERROR") {
		k.t.Fatalf("round %d, %s: %v\n%s", round, point, err, report.String())
	}
}

// book books a batch on a bad day: some batches fail, come twice, come late, or come after a piece of what follows.
func (k *killing) book(b meter.Batch) answer {
	ledger := usage.NewLedger(k.store)
	send := func(b meter.Batch) error { return ledger.Send(k.t.Context(), b) }
	k.sent++
	k.old = append(k.old, b)
	switch k.rng.IntN(8) {
	case 0: // a copy of an old one comes late
		k.disturbed++
		old := k.old[k.rng.IntN(len(k.old))]
		if _, gap := errors.AsType[*meter.GapError](send(old)); !gap &&
			old.Events[len(old.Events)-1].Seq != b.Events[len(b.Events)-1].Seq &&
			old.Events[len(old.Events)-1].Seq < b.Events[0].Seq-1 {
			k.t.Errorf("an old batch was not refused")
		}
	case 1: // its end overtakes its beginning
		if n := len(b.Events); n > 1 {
			k.disturbed++
			_ = send(meter.Batch{Source: b.Source, Events: b.Events[1+k.rng.IntN(n-1):]})
		}
	case 2: // it comes twice
		k.disturbed++
		_ = send(b)
	case 3: // it comes, but the answer is lost
		k.disturbed++
		_ = send(b)
		return answer{Error: "connection reset"}
	case 4: // it does not come
		k.disturbed++
		return answer{Error: "portal unavailable"}
	}
	err := send(b)
	if gap, ok := errors.AsType[*meter.GapError](err); ok {
		return answer{Want: gap.Want}
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{}
}

// check compares what the clients saw with what the store has, to the frame.
func (k *killing) check(kills int) {
	rows := map[string]usage.Request{}
	var served, ofRows, ofDays usage.Totals
	for org := range 3 {
		orgID := "org_" + strconv.Itoa(org)
		for q := (usage.RequestQuery{OrgID: orgID, Limit: 500}); ; {
			page, err := k.store.Requests(k.t.Context(), q)
			if err != nil {
				k.t.Fatal(err)
			}
			for _, r := range page {
				if _, twice := rows[r.RequestID]; twice {
					k.t.Errorf("stream %s is there twice", r.RequestID)
				}
				rows[r.RequestID] = r
				ofRows.Add(usage.Totals{Requests: 1, Frames: r.Frames, Billed: r.Billed})
			}
			if len(page) < q.Limit {
				break
			}
			q.After = page[len(page)-1].Place()
		}
		days, err := k.store.Days(k.t.Context(), orgID, "0000-01-01", "9999-12-31")
		if err != nil {
			k.t.Fatal(err)
		}
		for _, d := range days {
			ofDays.Add(d.Totals)
		}
	}
	for id, s := range k.begun {
		r, found := rows[id]
		frames, billed := int64(s.Frames), int64(s.Frames)
		if !s.Status.Billed() {
			billed = 0
		}
		whole := found && r.Status == s.Status && r.Frames == frames && r.Billed == billed
		stopped := found && r.Status == meter.Failed && r.Error == "server stopped"
		cut := stopped && r.Billed == r.Frames && slices.Contains(progressOf(frames), r.Frames)
		switch {
		case whole:
			served.Add(usage.Totals{Requests: 1, Frames: frames, Billed: billed})
		case k.ended[id]:
			k.t.Errorf("stream %+v was seen to end, but the store has %+v", s, r)
		case cut:
			served.Add(usage.Totals{Requests: 1, Frames: r.Frames, Billed: r.Frames})
		case found:
			k.t.Errorf("stream %+v was cut off, but the store has %+v", s, r)
		}
	}
	if served != ofRows || ofRows != ofDays {
		k.t.Errorf("served %+v, requests %+v, days %+v", served, ofRows, ofDays)
	}
	if want := 2 * kills; len(k.ended) < want {
		k.t.Errorf("only %d streams were seen to end, want at least %d", len(k.ended), want)
	}
}
