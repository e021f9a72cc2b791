package firestore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/portal/tenant"
)

// View implements [tenant.Store].
func (s *Store) View(ctx context.Context, view func(tenant.Reader) error) error {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return err
	}
	defer end()
	return s.snapshot(ctx, "reading", func(ctx context.Context, tx *firestore.Transaction) error {
		return view(&reader{s: s, ctx: ctx, tx: tx})
	})
}

// Update implements [tenant.Store]. In one process changes are made one at a time: they are few, and mostly of one
// organisation, so that they would meet in Firestore, which takes far longer to find that out. When the time runs out
// between a commit and its answer, the error leaves open whether the change was made; idempotency keys are for that.
func (s *Store) Update(ctx context.Context, change func(tenant.Tx) error) error {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return err
	}
	defer end()
	give, err := s.turns.take(ctx, "tenancy")
	if err != nil {
		return s.fault(ctx, "waiting for other changes", err)
	}
	defer give()
	return s.transact(ctx, "changing", func(ctx context.Context, tx *firestore.Transaction) error {
		t := &transaction{reader: reader{s: s, ctx: ctx, tx: tx}}
		if err := change(t); err != nil {
			return err
		}
		return cmp.Or(t.failed, t.late, context.Cause(ctx))
	})
}

// touchBatch is how many uses are written at once: Firestore takes 500 writes.
const touchBatch = 400

// Touch implements [tenant.Store]. Each use is a maximum that Firestore computes.
func (s *Store) Touch(ctx context.Context, used map[string]time.Time) error {
	ctx, end, err := s.begin(ctx, s.cfg.Timeout)
	if err != nil {
		return err
	}
	defer end()
	ids := make([]string, 0, len(used))
	for id := range used {
		ids = append(ids, id)
	}
	slices.Sort(ids) // so that two of these cannot wait for one another
	for part := range slices.Chunk(ids, touchBatch) {
		if err := s.touch(ctx, part, used); err != nil {
			return s.fault(ctx, "noting uses of keys", err)
		}
	}
	return nil
}

func (s *Store) touch(ctx context.Context, ids []string, used map[string]time.Time) error {
	refs := make([]*firestore.DocumentRef, len(ids))
	for i, id := range ids {
		refs[i] = s.doc("uses", id)
	}
	for attempt := 1; ; attempt++ {
		err := s.raise(ctx, refs, func(i int) int64 { return micros(exact(used[ids[i]])) })
		// NotFound: a key was swept since. What was written twice is still the same maximum.
		again := passes(err) || status.Code(err) == codes.NotFound
		if err == nil || !again || attempt == maxAttempts || pause(ctx, attempt) != nil {
			return err
		}
	}
}

// raise makes the uses that exist at least as late as at says.
func (s *Store) raise(ctx context.Context, uses []*firestore.DocumentRef, at func(i int) int64) error {
	docs, err := s.client.GetAll(ctx, uses)
	if err != nil {
		return err
	}
	batch, n := s.batch(), 0
	for i, doc := range docs {
		if !doc.Exists() { // a key that is not known
			continue
		}
		var use useDoc
		if err := doc.DataTo(&use); err != nil {
			return err
		}
		if at := at(i); at > use.LastUsed {
			batch.Update(doc.Ref,
				[]firestore.Update{{Path: "last_used_us", Value: firestore.FieldTransformMaximum(at)}})
			n++
		}
	}
	if n == 0 {
		return nil
	}
	_, err = batch.Commit(ctx)
	return err
}

// reader implements [tenant.Reader] in a transaction.
type reader struct {
	s       *Store
	ctx     context.Context
	tx      *firestore.Transaction
	writing bool  // the transaction has begun to write
	late    error // a read that came after that
}

// ready is the error with which a read has to fail.
func (r *reader) ready() error {
	if r.writing {
		r.late = tenant.ErrReadAfterWrite
		return r.late
	}
	return context.Cause(r.ctx)
}

// get reads one document.
func get[D any](r *reader, ref *firestore.DocumentRef) (d D, err error) {
	if err := r.ready(); err != nil {
		return d, err
	}
	var doc *firestore.DocumentSnapshot
	err = retry(r.ctx, func() (err error) {
		doc, err = r.tx.Get(ref)
		return err
	})
	if status.Code(err) == codes.NotFound && doc != nil { // without a document it is the database that is missing
		return d, tenant.ErrNotFound
	}
	if err != nil {
		return d, r.s.fault(r.ctx, "reading", err)
	}
	return d, doc.DataTo(&d)
}

// list reads the documents that a query finds.
func list[D, V any](r *reader, q *query, value func(D) V) ([]V, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	docs, err := q.collect(r.ctx, r.tx)
	if err != nil {
		return nil, r.s.fault(r.ctx, "reading "+q.shape.name, err)
	}
	found, err := read[D](docs)
	if err != nil {
		return nil, err
	}
	values := make([]V, len(found))
	for i, d := range found {
		values[i] = value(d)
	}
	return values, nil
}

func (r *reader) Org(id string) (tenant.Org, error) {
	d, err := get[orgDoc](r, r.s.org(id))
	return d.org(), err
}

func (r *reader) Orgs(after string, limit int) ([]tenant.Org, error) {
	return list(r, r.s.in(orgsByID, "").within(">", after).limit(limit), orgDoc.org)
}

func (r *reader) Project(id string) (tenant.Project, error) {
	d, err := get[projectDoc](r, r.s.doc("projects", id))
	return d.project(), err
}

func (r *reader) Projects(orgID string) ([]tenant.Project, error) {
	all, err := list(r, r.s.in(projectsOfOrg, "").with("org_id", orgID), projectDoc.project)
	slices.SortFunc(all, func(a, b tenant.Project) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, err
}

func (r *reader) Member(orgID, email string) (tenant.Member, error) {
	d, err := get[memberDoc](r, r.s.member(orgID, email))
	return d.member(), err
}

func (r *reader) Members(orgID string) ([]tenant.Member, error) {
	all, err := list(r, r.s.in(membersOfOrg, orgID), memberDoc.member)
	slices.SortFunc(all, func(a, b tenant.Member) int { return strings.Compare(a.Email, b.Email) })
	return all, err
}

func (r *reader) Memberships(email string) ([]tenant.Member, error) {
	all, err := list(r, r.s.in(memberships, "").with("email", email), memberDoc.member)
	slices.SortFunc(all, func(a, b tenant.Member) int { return strings.Compare(a.OrgID, b.OrgID) })
	return all, err
}

func (r *reader) Key(id string) (tenant.Key, error) {
	d, err := get[keyDoc](r, r.s.doc("keys", id))
	if err != nil {
		return tenant.Key{}, err
	}
	keys := []tenant.Key{d.key()}
	return keys[0], r.addUses(keys)
}

func (r *reader) Keys(q tenant.KeyQuery) ([]tenant.Key, error) {
	find := r.s.in(keysOfOrg, "").with("org_id", q.OrgID).limit(q.Limit).
		like("project_id", q.ProjectID).like("kind", string(q.Kind)).like("created_by", q.CreatedBy)
	if q.Active {
		find = find.with("revoked", false)
	}
	keys, err := list(r, find, keyDoc.key)
	if err != nil {
		return nil, err
	}
	return keys, r.addUses(keys)
}

// addUses adds to keys when they were last used. It reads beside the transaction, because uses move beside
// transactions.
func (r *reader) addUses(keys []tenant.Key) error {
	if len(keys) == 0 {
		return nil
	}
	refs := make([]*firestore.DocumentRef, len(keys))
	for i, k := range keys {
		refs[i] = r.s.doc("uses", k.ID)
	}
	var docs []*firestore.DocumentSnapshot
	err := retry(r.ctx, func() (err error) {
		docs, err = r.s.client.GetAll(r.ctx, refs)
		return err
	})
	if err != nil {
		return r.s.fault(r.ctx, "reading uses of keys", err)
	}
	for i, doc := range docs {
		if !doc.Exists() { // deleted since
			continue
		}
		var use useDoc
		if err := doc.DataTo(&use); err != nil {
			return err
		}
		keys[i].LastUsedAt = use.time()
	}
	return nil
}

func (r *reader) VoiceRequest(id string) (tenant.VoiceRequest, error) {
	d, err := get[voiceDoc](r, r.s.doc("voice_requests", id))
	return d.request(), err
}

func (r *reader) VoiceRequests(orgID string) ([]tenant.VoiceRequest, error) {
	all, err := list(r, r.s.in(voicesOfOrg, "").with("org_id", orgID), voiceDoc.request)
	slices.SortFunc(all, func(a, b tenant.VoiceRequest) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(b.ID, a.ID))
	})
	return all, err
}

func (r *reader) Audit(q tenant.AuditQuery) ([]tenant.Audit, error) {
	find := r.s.in(auditOfOrg, q.OrgID).limit(q.Limit)
	if !q.Before.IsZero() {
		find = find.behind(exact(q.Before.At), q.Before.ID)
	}
	var broken error
	entries, err := list(r, find, func(d auditDoc) tenant.Audit {
		a, err := d.audit()
		broken = cmp.Or(broken, err)
		return a
	})
	return entries, cmp.Or(err, broken)
}

func (r *reader) Answer(scope, key string) (tenant.Answer, error) {
	d, err := get[answerDoc](r, r.s.answer(scope, key))
	return d.answer(), err
}

// transaction implements [tenant.Tx].
type transaction struct {
	reader
	failed error // the first write that cannot be
}

// put writes a document that has all its identifiers.
func (t *transaction) put(what string, ids []string, ref func() *firestore.DocumentRef, d any) {
	t.write(what, ids, func() error { return t.tx.Set(ref(), d) })
}

func (t *transaction) write(what string, ids []string, write func() error) {
	t.writing = true
	switch {
	case t.failed != nil:
	case slices.Contains(ids, ""):
		t.failed = errors.New("firestore: " + what + " without identifier")
	default:
		t.failed = write()
	}
}

func (t *transaction) PutOrg(o tenant.Org) {
	t.put("an organisation", []string{o.ID}, func() *firestore.DocumentRef { return t.s.org(o.ID) }, newOrgDoc(o))
}

func (t *transaction) PutProject(p tenant.Project) {
	t.put("a project", []string{p.ID, p.OrgID}, func() *firestore.DocumentRef { return t.s.doc("projects", p.ID) },
		newProjectDoc(p))
}

func (t *transaction) PutMember(m tenant.Member) {
	t.put("a member", []string{m.OrgID, m.Email},
		func() *firestore.DocumentRef { return t.s.member(m.OrgID, m.Email) }, newMemberDoc(m))
}

func (t *transaction) DeleteMember(orgID, email string) {
	t.write("a member", []string{orgID, email}, func() error { return t.tx.Delete(t.s.member(orgID, email)) })
}

func (t *transaction) PutKey(k tenant.Key) {
	ids := []string{k.ID, k.OrgID}
	t.put("a key", ids, func() *firestore.DocumentRef { return t.s.doc("keys", k.ID) }, newKeyDoc(k))
	t.write("a key", ids, func() error {
		used := firestore.FieldTransformMaximum(micros(exact(k.LastUsedAt)))
		return t.tx.Set(t.s.doc("uses", k.ID),
			map[string]any{"last_used_us": used, "expire_at": newKeyDoc(k).ExpireAt}, firestore.MergeAll)
	})
}

func (t *transaction) PutVoiceRequest(v tenant.VoiceRequest) {
	t.put("a voice request", []string{v.ID, v.OrgID},
		func() *firestore.DocumentRef { return t.s.doc("voice_requests", v.ID) }, newVoiceDoc(v))
}

func (t *transaction) AppendAudit(a tenant.Audit) {
	t.write("an audit entry", []string{a.ID, a.OrgID}, func() error {
		d, err := newAuditDoc(a)
		if err != nil {
			return err
		}
		return t.tx.Set(t.s.org(a.OrgID).Collection("audit").Doc(name(a.ID)), d)
	})
}

func (t *transaction) PutAnswer(a tenant.Answer) {
	t.put("an answer", []string{a.Scope, a.Key}, func() *firestore.DocumentRef { return t.s.answer(a.Scope, a.Key) },
		newAnswerDoc(a))
}
