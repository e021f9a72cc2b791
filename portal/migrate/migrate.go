// Package migrate moves what a portal has stored from one store to another, such as from SQLite to Firestore.
//
// It moves organisations, projects, members, keys, voice requests and audit logs, and of usage the shards, the closed
// months, the rows of the request log and the positions of its sources, so that each source continues where it was.
// Records that live for a day at most stay: idempotency keys, and sign-ins, which people repeat. Servers must be
// stopped meanwhile.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
)

// Store is what a store must be able to do.
type Store interface {
	View(ctx context.Context, read func(tenant.Reader) error) error
	Update(ctx context.Context, change func(tenant.Tx) error) error
	usage.Dumper
}

// Config configures a move.
type Config struct {
	// Resume continues an interrupted move. Without it the target must be empty. With it the target must hold nothing
	// that the source lacks: existing records are written again as they are in the source.
	Resume bool

	Progress func(Counts) // called with the counts so far, every few hundred records; may be nil
}

// Counts is how much a store holds, or how much of it has been moved.
type Counts struct {
	Orgs, Projects, Members, Keys, VoiceRequests, Audits int
	Sources, Months, Shards, Requests                    int

	InShards usage.Totals // what the shards add up to
	// Sums over the rows of the request log; running requests do not count
	InRequests usage.Totals
}

// Errors of a move that does not begin.
var (
	ErrNotEmpty = errors.New("the target is not empty; choose an empty one, or resume an interrupted migration")
	ErrForeign  = errors.New("the target has records that are missing in the source, so it is not an interrupted migration; choose an empty one")
)

// Move copies everything from one store to another and then counts both. It returns what was counted in the source.
// The source is only read. When Move fails the target is not fit for use, until a move with Resume has succeeded.
func Move(ctx context.Context, cfg Config, from, to Store) (Counts, error) {
	m := mover{ctx: ctx, cfg: cfg, from: from, to: to}
	if err := m.checkTarget(); err != nil {
		return Counts{}, err
	}
	if err := eachOrg(ctx, from, m.org); err != nil {
		return m.moved, fmt.Errorf("moving organisations: %w", err)
	}
	if err := from.ExportUsage(ctx, m.usage); err != nil {
		return m.moved, fmt.Errorf("moving usage: %w", err)
	}
	want, err := Count(ctx, from)
	if err != nil {
		return m.moved, fmt.Errorf("counting the source: %w", err)
	}
	got, err := Count(ctx, to)
	if err != nil {
		return want, fmt.Errorf("counting the target: %w", err)
	}
	if diff := want.differences(got); len(diff) > 0 {
		return want,
			fmt.Errorf("the target differs from the source: %s; stop every server that uses one of them and resume the migration", strings.Join(diff, ", "))
	}
	return want, nil
}

// Count adds up what a store holds.
func Count(ctx context.Context, s Store) (c Counts, err error) {
	err = eachOrg(ctx, s, func(o org) error {
		c.addOrg(o)
		return eachAudit(ctx, s, o.ID, func(page []tenant.Audit) error {
			c.Audits += len(page)
			return nil
		})
	})
	if err != nil {
		return c, err
	}
	return c, s.ExportUsage(ctx, func(d usage.Dump) error {
		c.addUsage(d)
		return nil
	})
}

// org is an organisation with all that is read at once.
type org struct {
	tenant.Org
	projects []tenant.Project
	lexicons []tenant.Lexicon
	members  []tenant.Member
	keys     []tenant.Key
	requests []tenant.VoiceRequest
}

func eachOrg(ctx context.Context, s Store, do func(org) error) error {
	const page = 100
	for after := ""; ; {
		var orgs []tenant.Org
		err := s.View(ctx, func(r tenant.Reader) (err error) {
			orgs, err = r.Orgs(after, page)
			return err
		})
		if err != nil {
			return err
		}
		for _, o := range orgs {
			whole, err := readOrg(ctx, s, o.ID)
			if err != nil {
				return fmt.Errorf("organisation %s: %w", o.ID, err)
			}
			if err := do(whole); err != nil {
				return fmt.Errorf("organisation %s: %w", o.ID, err)
			}
			after = o.ID
		}
		if len(orgs) < page {
			return nil
		}
	}
}

func readOrg(ctx context.Context, s Store, id string) (o org, err error) {
	return o, s.View(ctx, func(r tenant.Reader) error {
		var errs [5]error
		o.Org, errs[0] = r.Org(id)
		o.projects, errs[1] = r.Projects(id)
		o.members, errs[2] = r.Members(id)
		o.keys, errs[3] = r.Keys(tenant.KeyQuery{OrgID: id})
		o.requests, errs[4] = r.VoiceRequests(id)
		for _, p := range o.projects {
			switch l, err := r.Lexicon(p.ID); {
			case err == nil:
				o.lexicons = append(o.lexicons, l)
			case !errors.Is(err, tenant.ErrNotFound):
				return err
			}
		}
		return errors.Join(errs[:]...)
	})
}

// eachAudit reads an audit log page by page, newest first.
func eachAudit(ctx context.Context, s Store, orgID string, do func([]tenant.Audit) error) error {
	q := tenant.AuditQuery{OrgID: orgID, Limit: batch}
	for {
		var page []tenant.Audit
		err := s.View(ctx, func(r tenant.Reader) (err error) {
			page, err = r.Audit(q)
			return err
		})
		if err != nil {
			return err
		}
		if len(page) > 0 {
			if err := do(page); err != nil {
				return err
			}
			last := page[len(page)-1]
			q.Before = last.Place()
		}
		if len(page) < q.Limit {
			return nil
		}
	}
}

// batch is how many records of tenancy are written at once. Every store takes that many: Firestore counts three
// writes for a key.
const batch = 100

type mover struct {
	ctx      context.Context
	cfg      Config
	from, to Store
	moved    Counts
}

func (m *mover) checkTarget() error {
	if m.cfg.Resume {
		return m.checkResumable()
	}
	if err := eachOrg(m.ctx, m.to, func(org) error { return ErrNotEmpty }); err != nil {
		return fmt.Errorf("looking into the target: %w", err)
	}
	if err := m.to.ExportUsage(m.ctx, func(usage.Dump) error { return ErrNotEmpty }); err != nil {
		return fmt.Errorf("looking into the target: %w", err)
	}
	return nil
}

// checkResumable looks for signs that the target was used: organisations or months of its own, or sources that are
// ahead.
func (m *mover) checkResumable() error {
	positions, months := map[string]int64{}, map[string]usage.ClosedMonth{}
	err := m.from.ExportUsage(m.ctx, func(d usage.Dump) error {
		for _, p := range d.Positions {
			positions[p.Source] = p.Seq
		}
		for _, c := range d.Months {
			months[c.Month] = c
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("looking into the source: %w", err)
	}
	err = eachOrg(m.ctx, m.to, func(o org) error {
		_, err := readOrg(m.ctx, m.from, o.ID)
		if errors.Is(err, tenant.ErrNotFound) {
			return ErrForeign
		}
		return err
	})
	if err == nil {
		err = m.to.ExportUsage(m.ctx, func(d usage.Dump) error {
			for _, p := range d.Positions {
				if seq, ok := positions[p.Source]; !ok || p.Seq > seq {
					return fmt.Errorf("source %s of usage: %w", p.Source, ErrForeign)
				}
			}
			for _, c := range d.Months {
				if known, ok := months[c.Month]; !ok || known.Rate != c.Rate {
					return fmt.Errorf("month %s: %w", c.Month, ErrForeign)
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("looking into the target: %w", err)
	}
	return nil
}

// org moves an organisation. Its own record comes last but for the audit log, whose pages are only added where they
// are missing.
func (m *mover) org(o org) error {
	var puts []func(tenant.Tx)
	for _, v := range o.projects {
		puts = append(puts, func(tx tenant.Tx) { tx.PutProject(v) })
	}
	for _, v := range o.lexicons {
		puts = append(puts, func(tx tenant.Tx) { tx.PutLexicon(v) })
	}
	for _, v := range o.members {
		puts = append(puts, func(tx tenant.Tx) { tx.PutMember(v) })
	}
	for _, v := range o.keys {
		puts = append(puts, func(tx tenant.Tx) { tx.PutKey(v) })
	}
	for _, v := range o.requests {
		puts = append(puts, func(tx tenant.Tx) { tx.PutVoiceRequest(v) })
	}
	puts = append(puts, func(tx tenant.Tx) { tx.PutOrg(o.Org) })
	if err := m.put(puts); err != nil {
		return err
	}
	m.moved.addOrg(o)
	m.reportProgress()
	return m.audits(o.ID)
}

func (m *mover) audits(orgID string) error {
	there := map[string]bool{}
	if m.cfg.Resume {
		err := eachAudit(m.ctx, m.to, orgID, func(page []tenant.Audit) error {
			for _, a := range page {
				there[a.ID] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return eachAudit(m.ctx, m.from, orgID, func(page []tenant.Audit) error {
		var puts []func(tenant.Tx)
		for _, a := range page {
			if !there[a.ID] {
				puts = append(puts, func(tx tenant.Tx) { tx.AppendAudit(a) })
			}
		}
		if err := m.put(puts); err != nil {
			return err
		}
		m.moved.Audits += len(page)
		m.reportProgress()
		return nil
	})
}

func (m *mover) put(puts []func(tenant.Tx)) error {
	for part := range slices.Chunk(puts, batch) {
		err := m.to.Update(m.ctx, func(tx tenant.Tx) error {
			for _, put := range part {
				put(tx)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *mover) usage(d usage.Dump) error {
	if err := m.to.ImportUsage(m.ctx, d); err != nil {
		return err
	}
	m.moved.addUsage(d)
	m.reportProgress()
	return nil
}

func (m *mover) reportProgress() {
	if m.cfg.Progress != nil {
		m.cfg.Progress(m.moved)
	}
}

func (c *Counts) addOrg(o org) {
	c.Orgs++
	c.Projects += len(o.projects)
	c.Members += len(o.members)
	c.Keys += len(o.keys)
	c.VoiceRequests += len(o.requests)
}

func (c *Counts) addUsage(d usage.Dump) {
	c.Sources += len(d.Positions)
	c.Months += len(d.Months)
	c.Shards += len(d.Shards)
	c.Requests += len(d.Requests)
	for _, s := range d.Shards {
		c.InShards.Add(s.Totals)
	}
	for _, r := range d.Requests {
		sum := usage.Totals{Frames: r.Frames, Billed: r.Billed}
		if r.Status != usage.Running {
			sum.Requests = 1
		}
		c.InRequests.Add(sum)
	}
}

// Kinds are the numbers of c with their names, in the order in which they are moved.
func (c Counts) Kinds() []Kind {
	return []Kind{
		{"organisations", int64(c.Orgs)}, {"projects", int64(c.Projects)}, {"members", int64(c.Members)}, {"keys", int64(c.Keys)},
		{"voice requests", int64(c.VoiceRequests)}, {"audit entries", int64(c.Audits)}, {"sources of usage", int64(c.Sources)},
		{"closed months", int64(c.Months)}, {"shards", int64(c.Shards)}, {"requests", int64(c.Requests)},
		{"requests in shards", c.InShards.Requests}, {"frames in shards", c.InShards.Frames}, {"billed frames in shards", c.InShards.Billed},
		{"ended requests", c.InRequests.Requests}, {"frames in requests", c.InRequests.Frames}, {"billed frames in requests", c.InRequests.Billed},
	}
}

// Kind is a number with the name of what was counted.
type Kind struct {
	Name  string
	Count int64
}

// differences says where got is not as c.
func (c Counts) differences(got Counts) (all []string) {
	kinds := got.Kinds()
	for i, want := range c.Kinds() {
		if kinds[i] != want {
			all = append(all, fmt.Sprintf("%d of %d %s", kinds[i].Count, want.Count, want.Name))
		}
	}
	return all
}
