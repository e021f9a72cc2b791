//go:build unix

package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// What the test tells the process that it starts and kills.
const (
	killPath = "SWAR_TEST_KILL_PATH"
	killStep = "SWAR_TEST_KILL_STEP"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(killPath); path != "" {
		if err := writeUntilKilled(path, os.Getenv(killStep)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeUntilKilled books a batch of ten events, merges shards, and adds an organisation and its project, in turn, and
// says so once each is committed. At the step so numbered it kills itself.
func writeUntilKilled(path, step string) error {
	last, err := strconv.Atoi(step)
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := Open(ctx, Config{Path: path, Server: true})
	if err != nil {
		return err
	}
	s.step = func(string) error {
		if last--; last < 0 {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return nil
	}
	position, orgs, err := stored(ctx, s)
	if err != nil {
		return err
	}
	for {
		if err := s.Apply(ctx, killBatch(position+1)); err != nil {
			return err
		}
		position += 10
		fmt.Println("events", position)
		if _, err := s.MergeShards(ctx, killBatch(1).Today); err != nil { // which must change no sum
			return err
		}
		err := s.Update(ctx, func(tx tenant.Tx) error {
			tx.PutOrg(tenant.Org{ID: fmt.Sprintf("org_%06d", orgs)})
			tx.PutProject(tenant.Project{ID: fmt.Sprintf("prj_%06d", orgs), OrgID: "org"})
			return nil
		})
		if err != nil {
			return err
		}
		orgs++
		fmt.Println("orgs", orgs)
	}
}

func killBatch(first int64) usage.Batch {
	at := time.Unix(1_800_000_000, 0).UTC()
	events := makeBatch(first, 10, func(int64) time.Time { return at })
	return usage.Batch{Batch: meter.Batch{Source: "src_1", Events: events}, Today: meter.DateOf(at)}
}

// stored returns what is there, and fails if any of it is there by half.
func stored(ctx context.Context, s *Store) (events int64, orgs int, err error) {
	err = s.View(ctx, func(r tenant.Reader) error {
		o, err := r.Orgs("", 1_000_000)
		if err != nil {
			return err
		}
		p, err := r.Projects("org")
		if len(o) != len(p) {
			return fmt.Errorf("%d organisations and %d projects, want as many", len(o), len(p))
		}
		orgs = len(o)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if err := s.read(ctx, func(c *conn) error {
		return c.row(`SELECT coalesce(max(position), 0) FROM sources`, nil, &events)
	}); err != nil {
		return 0, 0, err
	}
	days, err := s.Compare(ctx, killBatch(1).Today)
	if err != nil || events == 0 {
		return events, orgs, err
	}
	if len(days) != 1 || days[0].Shards != days[0].Requests || days[0].Shards.Requests != events {
		return 0, 0, fmt.Errorf("%d events are booked as %+v", events, days)
	}
	return events, orgs, nil
}

// Fifty times a process is killed, each time at another step of a transaction, and the next one goes on with what is
// there.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts fifty processes")
	}
	path := filepath.Join(t.TempDir(), "portal.db")
	var events int64
	var orgs int
	for step := range 50 {
		toldEvents, toldOrgs := killAt(t, path, step)
		s, err := Open(t.Context(), Config{Path: path, Server: true, Check: true})
		if err != nil {
			t.Fatalf("after a kill at step %d: %v", step, err)
		}
		haveEvents, haveOrgs, err := stored(t.Context(), s)
		s.Close()
		if err != nil {
			t.Fatalf("after a kill at step %d: %v", step, err)
		}
		if least := max(toldEvents, events); haveEvents < least || haveEvents > least+10 {
			t.Errorf("after a kill at step %d %d events are booked; %d were committed, and one batch may have been",
				step, haveEvents, least)
		}
		if least := max(toldOrgs, orgs); haveOrgs < least || haveOrgs > least+1 {
			t.Errorf("after a kill at step %d there are %d organisations; %d were committed, and one may have been",
				step, haveOrgs, least)
		}
		events, orgs = haveEvents, haveOrgs
	}
	if events < 400 || orgs < 30 {
		t.Errorf("50 processes booked %d events and added %d organisations: too few to show anything", events, orgs)
	}
}

// killAt runs a process to its end and returns the last that it has said to be committed.
func killAt(t *testing.T, path string, step int) (events int64, orgs int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), killPath+"="+path, killStep+"="+strconv.Itoa(step))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var n int64
		if _, err := fmt.Sscanf(lines.Text(), "events %d", &n); err == nil {
			events = n
		} else if _, err := fmt.Sscanf(lines.Text(), "orgs %d", &n); err == nil {
			orgs = int(n)
		}
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("the process ended by itself: %v\n%s", err, stderr.String())
	}
	return events, orgs
}
