//go:build chaos

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// end is what a client saw of its utterance at last.
type end string

const (
	complete   end = "complete"   // with its proof: trailers, or the event
	busy       end = "busy"       // 503 before anything
	left       end = "left"       // the client has gone away in the middle
	cancelled  end = "cancelled"  // the client has asked for that
	cut        end = "cut"        // after its start: the body was aborted, or an error event
	unready    end = "unready"    // 503 before anything, because the router knows no pod or no key
	failed     end = "failed"     // another error, before the first frame
	gone       end = "gone"       // the connection broke before an answer
	unanswered end = "unanswered" // it crossed the close of a socket in good order; nothing was begun
	wrong      end = "wrong"      // what must not be whatever happens
)

// outcome is one utterance as its client saw it.
type outcome struct {
	id     string
	text   string
	end    end
	frames int // that came
	billed int // as the client was told; -1 where it was not
	at     time.Time
	detail string
}

// ledger is what all clients saw. It is safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	all     []outcome
	turns   []outcome      // of sockets that name none
	lengths map[string]int // of texts that are fed, in bytes
	next    int
}

func (l *ledger) id() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return fmt.Sprintf("chaos-%d", l.next)
}

func (l *ledger) add(o outcome) {
	o.at = time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, o)
}

func (l *ledger) outcomes() []outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// count returns how many utterances have ended like this.
func (l *ledger) count(e end) (n int) {
	for _, o := range l.outcomes() {
		if o.end == e {
			n++
		}
	}
	return n
}

// row is an utterance as the portal has it.
type row struct {
	RequestID    string `json:"request_id"`
	Status       string
	Endpoint     string
	Frames       int
	BilledFrames int `json:"billed_frames"`
}

// asked gets a page of the portal's API, as its operator.
func (f *fleet) asked(path string, query url.Values, to any) error {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(f.folder, "portal", "admin.sock"))
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	client := &http.Client{Timeout: 20 * time.Second, Transport: transport}
	if f.org != "" {
		query.Set("org_id", f.org)
	}
	resp, err := client.Get("http://portal" + path + "?" + query.Encode())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(to)
}

// rows returns all utterances that the portal has, by identifier, and checks them against the bill.
func (f *fleet) rows() (map[string][]row, error) {
	if f.org == "" {
		var list struct{ Orgs []struct{ ID string } }
		if err := f.asked("/operator/v1/orgs", url.Values{}, &list); err != nil || len(list.Orgs) != 1 {
			return nil, fmt.Errorf("organisations %v: %w", list, err)
		}
		f.org = list.Orgs[0].ID
	}
	all := make(map[string][]row)
	sum := figures{}
	for query := (url.Values{"limit": {"500"}}); ; {
		var page struct {
			Requests []row
			Next     string `json:"next_cursor"`
		}
		if err := f.asked("/portal/v1/requests", query, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Requests {
			all[r.RequestID] = append(all[r.RequestID], r)
			sum.Frames += r.Frames
			sum.BilledFrames += r.BilledFrames
			if r.Status != "running" { // which a stream stays whose router is gone with its folder
				sum.Requests++
			}
		}
		if page.Next == "" {
			break
		}
		query.Set("cursor", page.Next)
	}
	var usage struct{ Totals figures }
	if err := f.asked("/portal/v1/usage", url.Values{}, &usage); err != nil {
		return nil, err
	}
	if usage.Totals != sum {
		return nil, fmt.Errorf("the bill says %+v, its rows %+v", usage.Totals, sum)
	}
	return all, nil
}

type figures struct {
	Requests     int
	Frames       int
	BilledFrames int `json:"billed_frames"`
}

// loss says what of the usage may be missing, because routers were killed.
type loss struct {
	deaths []death
	frames int // that were found to be missing
}

type death struct {
	at   time.Time
	kept bool // the folder
}

// progressFrames is how much of a stream that still ran may be unknown: ten seconds of audio.
const progressFrames = 125

// mayLack reports whether an utterance may be unknown: it ran when its router died and was not long yet; or it had
// ended in the last second before, and the folder is gone.
func (l *loss) mayLack(o outcome) bool {
	return slices.ContainsFunc(l.deaths, func(d death) bool {
		since := o.at.Sub(d.at) // slow clients hear later what was on its way
		if since > 3*time.Second {
			return false
		}
		if o.end == complete || o.end == cancelled {
			return !d.kept && since > -1200*time.Millisecond
		}
		return since > -200*time.Millisecond && o.frames <= progressFrames || !d.kept && since > -1200*time.Millisecond
	})
}

// bill checks what the portal has against what clients saw, for as long as usage may be on its way, and returns how
// many frames are billed.
func (f *fleet) bill(l *loss) (billed int) {
	f.t.Helper()
	var err error
	within(30*time.Second, func() bool { billed, err = f.compare(l); return err == nil })
	if err != nil {
		f.t.Errorf("usage: %v", err)
	}
	return billed
}

func (f *fleet) compare(l *loss) (billed int, err error) {
	rows, err := f.rows()
	if err != nil {
		return 0, err
	}
	l.frames = 0
	var wrongs []string
	for _, o := range f.ledger.outcomes() {
		of := rows[o.id]
		delete(rows, o.id)
		for _, r := range of {
			billed += r.BilledFrames
		}
		missing := len(of) == 0 && l.mayLack(o)
		if missing {
			l.frames += o.frames
			continue
		}
		if err := o.compare(of, len(f.audio[o.text])/frameBytes); err != nil {
			wrongs = append(wrongs, fmt.Sprintf("%s was %s at %s after %d frames (%s): %v",
				o.id, o.end, o.at.Format("15:04:05.000"), o.frames, o.detail, err))
		}
	}
	ofTurns, wrongTurns := f.compareTurns(l, rows)
	billed, wrongs = billed+ofTurns, append(wrongs, wrongTurns...)
	for id, of := range rows {
		wrongs = append(wrongs, fmt.Sprintf("%s is known to nobody: %+v", id, of))
	}
	if len(wrongs) > 0 {
		some := strings.Join(wrongs[:min(len(wrongs), 8)], "\n")
		return billed, fmt.Errorf("%d utterances, such as\n%s", len(wrongs), some)
	}
	return billed, nil
}

// compare checks the rows of one utterance, which has full frames when nothing happens to it.
func (o outcome) compare(rows []row, full int) error {
	switch {
	case len(rows) > 1:
		return fmt.Errorf("it is there twice: %+v", rows)
	case len(rows) == 0 && (o.end == complete || o.frames > 0):
		return errors.New("it is missing")
	case len(rows) == 0:
		return nil
	}
	r := rows[0]
	if told := o.billed >= 0; told && r.BilledFrames != o.billed {
		return fmt.Errorf("the client was told of %d billed frames, the bill says %+v", o.billed, r)
	}
	switch {
	case o.end == busy || o.end == unready || o.end == unanswered:
		return fmt.Errorf("it is known: %+v", r)
	case o.end == complete && (r.Status != "ok" || r.Frames != o.frames || r.BilledFrames != o.frames):
		return fmt.Errorf("it is %+v", r)
	case (r.Status == "ok" || r.Status == "cancelled") && (r.BilledFrames < o.frames || r.BilledFrames > full):
		return fmt.Errorf("of %d frames it is %+v", full, r)
	case o.end == cut || o.end == failed || r.Status == "error" || r.Status == "running":
		// Our failure is not billed, but for what progress had billed of a router that was killed.
		if r.BilledFrames > o.frames {
			return fmt.Errorf("a failure is billed: %+v", r)
		}
	}
	return nil
}
