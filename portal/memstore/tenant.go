package memstore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swar-tts/swar/portal/cursor"
	"github.com/swar-tts/swar/portal/tenant"
)

// tenancy implements [tenant.Store]. Transactions run one at a time, so that there are no conflicts; Again makes some.
type tenancy struct {
	again func() bool

	mu     sync.RWMutex
	tables tenantTables
	closed chan struct{} // closed by Close

	watching sync.Mutex // after mu
	watchers map[*watcher]struct{}
	lexicons chan struct{} // closed and replaced when lexicons change
}

type memberKey struct{ orgID, email string }

type answerKey struct{ scope, key string }

// tenantTables are the records. They are values: readers and writers copy records that hold a slice or a map.
type tenantTables struct {
	orgs     map[string]tenant.Org
	projects map[string]tenant.Project
	lexicons map[string]tenant.Lexicon // by project
	members  map[memberKey]tenant.Member
	keys     map[string]tenant.Key
	requests map[string]tenant.VoiceRequest
	audits   map[string][]tenant.Audit // by organisation
	answers  map[answerKey]tenant.Answer
}

func newTenancy() tenancy {
	return tenancy{
		closed:   make(chan struct{}),
		watchers: make(map[*watcher]struct{}),
		lexicons: make(chan struct{}),
		tables: tenantTables{
			orgs:     make(map[string]tenant.Org),
			projects: make(map[string]tenant.Project),
			lexicons: make(map[string]tenant.Lexicon),
			members:  make(map[memberKey]tenant.Member),
			keys:     make(map[string]tenant.Key),
			requests: make(map[string]tenant.VoiceRequest),
			audits:   make(map[string][]tenant.Audit),
			answers:  make(map[answerKey]tenant.Answer),
		},
	}
}

// RetryWhen makes transactions run twice when conflict returns true after a change. The first result is discarded. So
// tests see whether a change can bear what other stores do to it. It must be called before the store is used.
func (t *tenancy) RetryWhen(conflict func() bool) { t.again = conflict }

// View implements [tenant.Store].
func (t *tenancy) View(ctx context.Context, read func(tenant.Reader) error) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if err := t.usable(ctx); err != nil {
		return err
	}
	return read(&tenantReader{ctx: ctx, t: &t.tables})
}

// Update implements [tenant.Store].
func (t *tenancy) Update(ctx context.Context, change func(tenant.Tx) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		if err := t.usable(ctx); err != nil {
			return err
		}
		tx := &tenantTx{tenantReader: tenantReader{ctx: ctx, t: &t.tables}}
		tx.writing = &tx.begun
		if err := change(tx); err != nil {
			return err
		}
		if err := cmp.Or(tx.failed, tx.err, context.Cause(ctx)); err != nil {
			return err
		}
		if t.again != nil && t.again() {
			continue
		}
		for _, write := range tx.writes {
			write(&t.tables)
		}
		t.notify(tx.keys)
		if tx.lexicons {
			t.notifyLexicons()
		}
		return nil
	}
}

// Touch implements [tenant.Store].
func (t *tenancy) Touch(ctx context.Context, used map[string]time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(ctx); err != nil {
		return err
	}
	for id, at := range used {
		if k, ok := t.tables.keys[id]; ok && exact(at).After(k.LastUsedAt) {
			k.LastUsedAt = exact(at)
			t.tables.keys[id] = k
		}
	}
	return nil
}

// Sweep implements [tenant.Store].
func (t *tenancy) Sweep(ctx context.Context, now time.Time) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(ctx); err != nil {
		return 0, err
	}
	before := len(t.tables.keys) + len(t.tables.answers)
	dayAgo := now.Add(-24 * time.Hour)
	maps.DeleteFunc(t.tables.keys, func(_ string, k tenant.Key) bool {
		return !k.ExpiresAt.IsZero() && !dayAgo.Before(k.ExpiresAt)
	})
	maps.DeleteFunc(t.tables.answers, func(_ answerKey, a tenant.Answer) bool { return !now.Before(a.ExpiresAt) })
	return before - len(t.tables.keys) - len(t.tables.answers), nil
}

// Close implements [tenant.Store].
func (t *tenancy) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.closed:
	default:
		close(t.closed)
	}
	return nil
}

func (t *tenancy) usable(ctx context.Context) error {
	select {
	case <-t.closed:
		return tenant.ErrClosed
	default:
		return context.Cause(ctx)
	}
}

// tenantReader reads the tables under the lock of its creator.
type tenantReader struct {
	ctx     context.Context
	t       *tenantTables
	writing *bool // whether the transaction has begun to write; nil outside of one
	err     error
}

// ready is the error with which a read has to fail.
func (r *tenantReader) ready() error {
	if r.writing != nil && *r.writing {
		r.err = tenant.ErrReadAfterWrite
		return r.err
	}
	return context.Cause(r.ctx)
}

func (r *tenantReader) Org(id string) (tenant.Org, error) { return get(r, r.t.orgs, id) }

func (r *tenantReader) Orgs(after string, limit int) ([]tenant.Org, error) {
	orgs, err := list(r, r.t.orgs,
		func(o tenant.Org) bool { return o.ID > after },
		func(a, b tenant.Org) int { return cmp.Compare(a.ID, b.ID) })
	return orgs[:min(len(orgs), limit)], err
}

func (r *tenantReader) Project(id string) (tenant.Project, error) { return get(r, r.t.projects, id) }

func (r *tenantReader) Lexicon(projectID string) (tenant.Lexicon, error) {
	l, err := get(r, r.t.lexicons, projectID)
	l.Entries = slices.Clone(l.Entries)
	return l, err
}

func (r *tenantReader) Projects(orgID string) ([]tenant.Project, error) {
	return list(r, r.t.projects,
		func(p tenant.Project) bool { return p.OrgID == orgID },
		func(a, b tenant.Project) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
}

func (r *tenantReader) Member(orgID, email string) (tenant.Member, error) {
	return get(r, r.t.members, memberKey{orgID, email})
}

func (r *tenantReader) Members(orgID string) ([]tenant.Member, error) {
	return list(r, r.t.members,
		func(m tenant.Member) bool { return m.OrgID == orgID },
		func(a, b tenant.Member) int { return cmp.Compare(a.Email, b.Email) })
}

func (r *tenantReader) Memberships(email string) ([]tenant.Member, error) {
	return list(r, r.t.members,
		func(m tenant.Member) bool { return m.Email == email },
		func(a, b tenant.Member) int { return cmp.Compare(a.OrgID, b.OrgID) })
}

func (r *tenantReader) Key(id string) (tenant.Key, error) {
	k, err := get(r, r.t.keys, id)
	return copyKey(k), err
}

func (r *tenantReader) Keys(q tenant.KeyQuery) ([]tenant.Key, error) {
	keys, err := list(r, r.t.keys,
		func(k tenant.Key) bool {
			isThere := k.OrgID == q.OrgID && (q.ProjectID == "" || k.ProjectID == q.ProjectID)
			isKind := q.Kind == "" || k.Kind == q.Kind
			isMade := q.CreatedBy == "" || k.CreatedBy == q.CreatedBy
			isActive := !q.Active || !k.Revoked()
			return isThere && isKind && isMade && isActive
		},
		func(a, b tenant.Key) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
	if q.Limit > 0 {
		keys = keys[:min(len(keys), q.Limit)]
	}
	for i := range keys {
		keys[i] = copyKey(keys[i])
	}
	return keys, err
}

func (r *tenantReader) VoiceRequest(id string) (tenant.VoiceRequest, error) {
	v, err := get(r, r.t.requests, id)
	return copyVoiceRequest(v), err
}

func (r *tenantReader) VoiceRequests(orgID string) ([]tenant.VoiceRequest, error) {
	requests, err := list(r, r.t.requests,
		func(v tenant.VoiceRequest) bool { return v.OrgID == orgID },
		func(a, b tenant.VoiceRequest) int {
			return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
		})
	for i := range requests {
		requests[i] = copyVoiceRequest(requests[i])
	}
	return requests, err
}

func (r *tenantReader) Audit(q tenant.AuditQuery) ([]tenant.Audit, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	var page []tenant.Audit
	for _, a := range r.t.audits[q.OrgID] {
		if q.Before.IsZero() || a.Place().Compare(cursor.Cursor{At: exact(q.Before.At), ID: q.Before.ID}) < 0 {
			a.Detail = maps.Clone(a.Detail)
			page = append(page, a)
		}
	}
	slices.SortFunc(page, func(a, b tenant.Audit) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	return page[:min(len(page), q.Limit)], nil
}

func (r *tenantReader) Answer(scope, key string) (tenant.Answer, error) {
	a, err := get(r, r.t.answers, answerKey{scope, key})
	a.JSON = slices.Clone(a.JSON)
	return a, err
}

func get[K comparable, V any](r *tenantReader, table map[K]V, key K) (v V, err error) {
	if err := r.ready(); err != nil {
		return v, err
	}
	v, ok := table[key]
	if !ok {
		return v, tenant.ErrNotFound
	}
	return v, nil
}

func list[K comparable, V any](r *tenantReader, table map[K]V, wanted func(V) bool,
	order func(a, b V) int) ([]V, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	var all []V
	for _, v := range table {
		if wanted(v) {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, order)
	return all, nil
}

// tenantTx collects writes until the transaction has come to its end.
type tenantTx struct {
	tenantReader
	begun    bool
	writes   []func(*tenantTables)
	keys     []string // that are among the writes
	lexicons bool     // are among the writes
	failed   error    // the first write that cannot be
}

func (tx *tenantTx) write(what string, ids []string, write func(*tenantTables)) {
	tx.begun = true
	if slices.Contains(ids, "") {
		tx.failed = cmp.Or(tx.failed, errors.New("memstore: "+what+" without identifier"))
		return
	}
	tx.writes = append(tx.writes, write)
}

func (tx *tenantTx) PutOrg(o tenant.Org) {
	o.CreatedAt = exact(o.CreatedAt)
	tx.write("an organisation", []string{o.ID}, func(t *tenantTables) { t.orgs[o.ID] = o })
}

func (tx *tenantTx) PutProject(p tenant.Project) {
	p.CreatedAt = exact(p.CreatedAt)
	tx.write("a project", []string{p.ID, p.OrgID}, func(t *tenantTables) { t.projects[p.ID] = p })
}

func (tx *tenantTx) PutLexicon(l tenant.Lexicon) {
	l.Entries, l.UpdatedAt = slices.Clone(l.Entries), exact(l.UpdatedAt)
	tx.lexicons = true
	tx.write("a lexicon", []string{l.ProjectID, l.OrgID}, func(t *tenantTables) { t.lexicons[l.ProjectID] = l })
}

func (tx *tenantTx) PutMember(m tenant.Member) {
	m.InvitedAt, m.JoinedAt, m.MailedAt = exact(m.InvitedAt), exact(m.JoinedAt), exact(m.MailedAt)
	tx.write("a member", []string{m.OrgID, m.Email},
		func(t *tenantTables) { t.members[memberKey{m.OrgID, m.Email}] = m })
}

func (tx *tenantTx) DeleteMember(orgID, email string) {
	tx.write("a member", []string{orgID, email}, func(t *tenantTables) { delete(t.members, memberKey{orgID, email}) })
}

func (tx *tenantTx) PutKey(k tenant.Key) {
	k = copyKey(k)
	k.CreatedAt, k.RevokedAt, k.LastUsedAt, k.ExpiresAt = exact(k.CreatedAt), exact(k.RevokedAt), exact(k.LastUsedAt),
		exact(k.ExpiresAt)
	tx.keys = append(tx.keys, k.ID)
	tx.write("a key", []string{k.ID, k.OrgID}, func(t *tenantTables) {
		if old := t.keys[k.ID]; old.LastUsedAt.After(k.LastUsedAt) {
			k.LastUsedAt = old.LastUsedAt
		}
		t.keys[k.ID] = k
	})
}

func (tx *tenantTx) PutVoiceRequest(v tenant.VoiceRequest) {
	v = copyVoiceRequest(v)
	v.CreatedAt, v.UpdatedAt = exact(v.CreatedAt), exact(v.UpdatedAt)
	for i := range v.Moves {
		v.Moves[i].At = exact(v.Moves[i].At)
	}
	tx.write("a voice request", []string{v.ID, v.OrgID}, func(t *tenantTables) { t.requests[v.ID] = v })
}

func (tx *tenantTx) AppendAudit(a tenant.Audit) {
	a.At, a.Detail = exact(a.At), maps.Clone(a.Detail)
	tx.write("an audit entry", []string{a.ID, a.OrgID},
		func(t *tenantTables) { t.audits[a.OrgID] = append(t.audits[a.OrgID], a) })
}

func (tx *tenantTx) PutAnswer(a tenant.Answer) {
	a.ExpiresAt, a.JSON = exact(a.ExpiresAt), slices.Clone(a.JSON)
	tx.write("an answer", []string{a.Scope, a.Key}, func(t *tenantTables) { t.answers[answerKey{a.Scope, a.Key}] = a })
}

func copyKey(k tenant.Key) tenant.Key {
	k.Voices = slices.Clone(k.Voices)
	return k
}

func copyVoiceRequest(v tenant.VoiceRequest) tenant.VoiceRequest {
	v.Moves = slices.Clone(v.Moves)
	if v.Hours != nil {
		hours := *v.Hours
		v.Hours = &hours
	}
	return v
}

// exact is a time as stores keep it.
func exact(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// watcher is one call of WatchKeys: the newest state of every key that it has not sent yet.
type watcher struct {
	pending map[string]tenant.Key
	wake    chan struct{} // holds one token while pending is not empty
}

// WatchKeys implements [tenant.Store].
func (t *tenancy) WatchKeys(ctx context.Context, update func(keys []tenant.Key, full bool) error) error {
	w := &watcher{pending: make(map[string]tenant.Key), wake: make(chan struct{}, 1)}
	all, err := t.watch(ctx, w)
	if err != nil {
		return err
	}
	defer t.unwatch(w)
	for full := true; ; full = false {
		if err := update(all, full); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.closed:
			return tenant.ErrClosed
		case <-w.wake:
		}
		if ctx.Err() != nil { // when both came at once
			return context.Cause(ctx)
		}
		all = t.take(w)
	}
}

// watch begins to collect changes for w and returns what there is before them.
func (t *tenancy) watch(ctx context.Context, w *watcher) ([]tenant.Key, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if err := t.usable(ctx); err != nil {
		return nil, err
	}
	t.watching.Lock()
	defer t.watching.Unlock()
	t.watchers[w] = struct{}{}
	all := make([]tenant.Key, 0, len(t.tables.keys))
	for _, k := range t.tables.keys {
		if !k.Revoked() {
			all = append(all, copyKey(k))
		}
	}
	slices.SortFunc(all, func(a, b tenant.Key) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

func (t *tenancy) unwatch(w *watcher) {
	t.watching.Lock()
	defer t.watching.Unlock()
	delete(t.watchers, w)
}

func (t *tenancy) take(w *watcher) []tenant.Key {
	t.watching.Lock()
	defer t.watching.Unlock()
	keys := slices.SortedFunc(maps.Values(w.pending), func(a, b tenant.Key) int { return strings.Compare(a.ID, b.ID) })
	clear(w.pending)
	return keys
}

// notify hands changed keys to every watcher. It needs mu.
func (t *tenancy) notify(ids []string) {
	if len(ids) == 0 {
		return
	}
	t.watching.Lock()
	defer t.watching.Unlock()
	for w := range t.watchers {
		for _, id := range ids {
			w.pending[id] = copyKey(t.tables.keys[id])
		}
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}
