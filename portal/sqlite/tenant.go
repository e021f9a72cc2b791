package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

// View implements [tenant.Store].
func (s *Store) View(ctx context.Context, read func(tenant.Reader) error) error {
	return s.read(ctx, func(c *conn) error { return read(&tenantReader{ctx: ctx, s: s, c: c}) })
}

// Update implements [tenant.Store]. Transactions take turns, so that there are no conflicts and change is called once.
func (s *Store) Update(ctx context.Context, change func(tenant.Tx) error) error {
	watched := false
	err := s.write(ctx, func(c *conn) error {
		tx := &tenantTx{tenantReader: tenantReader{ctx: ctx, s: s, c: c}}
		err := change(tx)
		watched = tx.watched
		if errors.Is(tx.err, tenant.ErrReadAfterWrite) {
			return tx.err
		}
		return cmp.Or(err, tx.err)
	})
	if err == nil && watched {
		s.notifyWatchers()
	}
	return err
}

// Touch implements [tenant.Store].
func (s *Store) Touch(ctx context.Context, used map[string]time.Time) error {
	if len(used) == 0 {
		return s.usable(ctx)
	}
	return s.write(ctx, func(c *conn) error {
		for id, at := range used {
			const touch = `UPDATE keys SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)`
			if _, err := c.exec(touch, id, at.UnixMicro()); err != nil {
				return s.fault(err)
			}
		}
		return nil
	})
}

// sweepStep is how many rows a transaction deletes, so that other writers do not wait long.
const sweepStep = 500

// Sweep implements [tenant.Store].
func (s *Store) Sweep(ctx context.Context, now time.Time) (int, error) {
	answers, err := s.sweep(ctx,
		`DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers WHERE expires_at <= ? LIMIT ?)`, now.UnixMicro())
	if err != nil {
		return answers, err
	}
	keys, err := s.sweep(ctx,
		`DELETE FROM keys WHERE id IN (SELECT id FROM keys WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT ?)`,
		now.Add(-24*time.Hour).UnixMicro())
	return answers + keys, err
}

// sweep runs a statement that deletes what came before some end, up to a number of rows, until there are no more.
func (s *Store) sweep(ctx context.Context, query string, end any) (swept int, err error) {
	for more := true; more; {
		err := s.write(ctx, func(c *conn) error {
			n, err := c.exec(query, end, sweepStep)
			swept += int(n)
			more = n == sweepStep
			return s.fault(err)
		})
		if err != nil {
			return swept, err
		}
	}
	return swept, nil
}

// tenantReader implements [tenant.Reader] inside a transaction.
type tenantReader struct {
	ctx     context.Context //nolint:containedctx // lives as long as the call that it was given to
	s       *Store
	c       *conn
	writing bool  // so that nothing may be read any more
	err     error // the first failure, which makes the transaction fail also when change hides it
}

const orgColumns = `id, name, created_at, created_by, active_keys, owners, disclosure`

func scanOrg(rows scanner, o *tenant.Org) error {
	return rows.Scan(&o.ID, &o.Name, instant{&o.CreatedAt}, &o.CreatedBy, &o.ActiveKeys, &o.Owners,
		setting{&o.Disclosure.Set, &o.Disclosure.Text})
}

func (r *tenantReader) Org(id string) (tenant.Org, error) {
	return one(r, scanOrg, `SELECT `+orgColumns+` FROM orgs WHERE id = ?`, id)
}

func (r *tenantReader) Orgs(after string, limit int) ([]tenant.Org, error) {
	return list(r, scanOrg, `SELECT `+orgColumns+` FROM orgs WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
}

const projectColumns = `id, org_id, name, created_at, created_by`

func scanProject(rows scanner, p *tenant.Project) error {
	return rows.Scan(&p.ID, &p.OrgID, &p.Name, instant{&p.CreatedAt}, &p.CreatedBy)
}

func (r *tenantReader) Project(id string) (tenant.Project, error) {
	return one(r, scanProject, `SELECT `+projectColumns+` FROM projects WHERE id = ?`, id)
}

func (r *tenantReader) Projects(orgID string) ([]tenant.Project, error) {
	return list(r, scanProject, `SELECT `+projectColumns+` FROM projects WHERE org_id = ? ORDER BY created_at, id`,
		orgID)
}

const memberColumns = `org_id, email, role, state, invited_at, invited_by, joined_at, user_id, mailed_at`

func scanMember(rows scanner, m *tenant.Member) error {
	return rows.Scan(&m.OrgID, &m.Email, &m.Role, &m.State, instant{&m.InvitedAt}, &m.InvitedBy, instant{&m.JoinedAt},
		&m.UserID, instant{&m.MailedAt})
}

func (r *tenantReader) Member(orgID, email string) (tenant.Member, error) {
	return one(r, scanMember, `SELECT `+memberColumns+` FROM members WHERE org_id = ? AND email = ?`, orgID, email)
}

func (r *tenantReader) Members(orgID string) ([]tenant.Member, error) {
	return list(r, scanMember, `SELECT `+memberColumns+` FROM members WHERE org_id = ? ORDER BY email`, orgID)
}

func (r *tenantReader) Memberships(email string) ([]tenant.Member, error) {
	return list(r, scanMember, `SELECT `+memberColumns+` FROM members WHERE email = ? ORDER BY org_id`, email)
}

const keyColumns = `id, org_id, project_id, kind, name, prefix, hash, voices, origin, created_at, created_by, revoked_at, last_used_at, expires_at, ` +
	`disclosure, org_disclosure`

func scanKey(rows scanner, k *tenant.Key) error {
	return rows.Scan(&k.ID, &k.OrgID, &k.ProjectID, &k.Kind, &k.Name, &k.Prefix, hash{(*[32]byte)(&k.Hash)},
		inJSON{&k.Voices}, &k.Origin,
		instant{&k.CreatedAt}, &k.CreatedBy, instant{&k.RevokedAt}, instant{&k.LastUsedAt}, instant{&k.ExpiresAt},
		setting{&k.Disclosure.Set, &k.Disclosure.Text}, setting{&k.OrgDisclosure.Set, &k.OrgDisclosure.Text})
}

func (r *tenantReader) Key(id string) (tenant.Key, error) {
	return one(r, scanKey, `SELECT `+keyColumns+` FROM keys WHERE id = ?`, id)
}

func (r *tenantReader) Keys(q tenant.KeyQuery) ([]tenant.Key, error) {
	limit := q.Limit
	if limit == 0 {
		limit = math.MaxInt32
	}
	return list(r, scanKey, `SELECT `+keyColumns+` FROM keys
		WHERE org_id = ?1 AND (?2 = '' OR project_id = ?2) AND (?3 = '' OR kind = ?3) AND (?4 = '' OR created_by = ?4)
			AND (NOT ?5 OR revoked_at IS NULL)
		ORDER BY created_at DESC, id DESC LIMIT ?6`,
		q.OrgID, q.ProjectID, string(q.Kind), q.CreatedBy, q.Active, limit)
}

const voiceRequestColumns = `id, org_id, voice_name, language, use_case, hours, notes, status, created_at, created_by, updated_at, moves`

func scanVoiceRequest(rows scanner, v *tenant.VoiceRequest) error {
	return rows.Scan(&v.ID, &v.OrgID, &v.VoiceName, &v.Language, &v.UseCase, &v.Hours, &v.Notes, &v.Status,
		instant{&v.CreatedAt}, &v.CreatedBy, instant{&v.UpdatedAt}, inJSON{&v.Moves})
}

func (r *tenantReader) VoiceRequest(id string) (tenant.VoiceRequest, error) {
	return one(r, scanVoiceRequest, `SELECT `+voiceRequestColumns+` FROM voice_requests WHERE id = ?`, id)
}

func (r *tenantReader) VoiceRequests(orgID string) ([]tenant.VoiceRequest, error) {
	return list(r, scanVoiceRequest,
		`SELECT `+voiceRequestColumns+` FROM voice_requests WHERE org_id = ? ORDER BY created_at DESC, id DESC`, orgID)
}

func (r *tenantReader) Audit(q tenant.AuditQuery) ([]tenant.Audit, error) {
	at, id := int64(math.MaxInt64), ""
	if !q.Before.IsZero() {
		at, id = q.Before.At.UnixMicro(), q.Before.ID
	}
	scan := func(rows scanner, a *tenant.Audit) error {
		return rows.Scan(&a.ID, &a.OrgID, instant{&a.At}, &a.Actor, &a.Action, &a.Target, inJSON{&a.Detail})
	}
	return list(r, scan, `SELECT id, org_id, at, actor, action, target, detail FROM audits
		WHERE org_id = ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?`, q.OrgID, at, id, q.Limit)
}

func (r *tenantReader) Answer(scope, key string) (tenant.Answer, error) {
	scan := func(rows scanner, a *tenant.Answer) error {
		return rows.Scan(&a.Scope, &a.Key, hash{&a.Body}, &a.JSON, instant{&a.ExpiresAt})
	}
	return one(r, scan, `SELECT scope, key, body, json, expires_at FROM answers WHERE scope = ? AND key = ?`, scope,
		key)
}

// scanner is a row that is being read.
type scanner interface{ Scan(dest ...any) error }

func one[T any](r *tenantReader, scan func(scanner, *T) error, query string, args ...any) (T, error) {
	found, err := list(r, scan, query, args...)
	if err == nil && len(found) == 0 {
		err = tenant.ErrNotFound
	}
	if err != nil {
		var none T
		return none, err
	}
	return found[0], nil
}

func list[T any](r *tenantReader, scan func(scanner, *T) error, query string, args ...any) ([]T, error) {
	if r.writing {
		r.err = tenant.ErrReadAfterWrite
		return nil, r.err
	}
	if err := context.Cause(r.ctx); err != nil {
		return nil, err
	}
	var all []T
	// Lists are short, so they are not interrupted.
	err := r.c.rows(context.Background(), query, args, func(rows *sql.Rows) error {
		var v T
		err := scan(rows, &v)
		all = append(all, v)
		return err
	})
	if err != nil {
		r.err = r.s.fault(err)
		return nil, r.err
	}
	return all, nil
}

// tenantTx implements [tenant.Tx].
type tenantTx struct {
	tenantReader
	watched bool // keys or lexicons were put
}

// write runs a statement, if all before have succeeded and the record has its identifiers.
func (tx *tenantTx) write(what string, ids [2]string, query string, args ...any) {
	tx.writing = true
	switch {
	case tx.err != nil:
	case ids[0] == "" || ids[1] == "":
		tx.err = errors.New("sqlite: " + what + " without identifier")
	default:
		if tx.err = tx.s.at(what); tx.err == nil {
			_, err := tx.c.exec(query, args...)
			tx.err = tx.s.fault(err)
		}
	}
}

// encode returns v as JSON.
func (tx *tenantTx) encode(v any) string {
	b, err := json.Marshal(v)
	tx.err = cmp.Or(tx.err, err)
	return string(b)
}

func (tx *tenantTx) PutOrg(o tenant.Org) {
	tx.write("an organisation", [2]string{o.ID, o.ID},
		`INSERT OR REPLACE INTO orgs (`+orgColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		o.ID, o.Name, o.CreatedAt.UnixMicro(), o.CreatedBy, o.ActiveKeys, o.Owners,
		orNull(o.Disclosure.Set, o.Disclosure.Text))
}

func (tx *tenantTx) PutProject(p tenant.Project) {
	tx.write("a project", [2]string{p.ID, p.OrgID},
		`INSERT OR REPLACE INTO projects (`+projectColumns+`) VALUES (?, ?, ?, ?, ?)`,
		p.ID, p.OrgID, p.Name, p.CreatedAt.UnixMicro(), p.CreatedBy)
}

func (tx *tenantTx) PutMember(m tenant.Member) {
	tx.write("a member", [2]string{m.OrgID, m.Email},
		`INSERT OR REPLACE INTO members (`+memberColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.OrgID, m.Email, string(m.Role), string(m.State), moment(m.InvitedAt), m.InvitedBy, moment(m.JoinedAt),
		m.UserID, moment(m.MailedAt))
}

func (tx *tenantTx) DeleteMember(orgID, email string) {
	tx.write("a member", [2]string{orgID, email}, `DELETE FROM members WHERE org_id = ? AND email = ?`, orgID, email)
}

func (tx *tenantTx) PutKey(k tenant.Key) {
	ids := [2]string{k.ID, k.OrgID}
	tx.watched = true
	tx.write("a change of a key", ids, `UPDATE key_changes SET last = last + 1 WHERE only = 1`)
	tx.write("a key", ids, `INSERT INTO keys (`+keyColumns+`, changed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT last FROM key_changes WHERE only = 1))
		ON CONFLICT (id) DO UPDATE SET org_id = excluded.org_id, project_id = excluded.project_id, kind = excluded.kind, name = excluded.name,
			prefix = excluded.prefix, hash = excluded.hash, voices = excluded.voices, origin = excluded.origin,
			created_at = excluded.created_at, created_by = excluded.created_by, revoked_at = excluded.revoked_at,
			last_used_at = max(coalesce(last_used_at, excluded.last_used_at), coalesce(excluded.last_used_at, last_used_at)),
			expires_at = excluded.expires_at, disclosure = excluded.disclosure, org_disclosure = excluded.org_disclosure,
			changed = excluded.changed`,
		k.ID, k.OrgID, k.ProjectID, string(k.Kind), k.Name, k.Prefix, k.Hash[:], tx.encode(k.Voices), k.Origin,
		k.CreatedAt.UnixMicro(), k.CreatedBy, moment(k.RevokedAt), moment(k.LastUsedAt), moment(k.ExpiresAt),
		orNull(k.Disclosure.Set, k.Disclosure.Text), orNull(k.OrgDisclosure.Set, k.OrgDisclosure.Text))
}

func (tx *tenantTx) PutVoiceRequest(v tenant.VoiceRequest) {
	moves := make([]tenant.Move, len(v.Moves))
	for i, m := range v.Moves {
		m.At = m.At.UTC().Truncate(time.Microsecond)
		moves[i] = m
	}
	tx.write("a voice request", [2]string{v.ID, v.OrgID}, `INSERT OR REPLACE INTO voice_requests (`+voiceRequestColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.ID, v.OrgID, v.VoiceName, v.Language, v.UseCase, v.Hours, v.Notes, string(v.Status),
		v.CreatedAt.UnixMicro(), v.CreatedBy,
		v.UpdatedAt.UnixMicro(), tx.encode(moves))
}

func (tx *tenantTx) AppendAudit(a tenant.Audit) {
	tx.write("an audit entry", [2]string{a.ID, a.OrgID}, `INSERT OR REPLACE INTO audits (id, org_id, at, actor, action, target, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		a.ID, a.OrgID, a.At.UnixMicro(), a.Actor, string(a.Action), a.Target, tx.encode(a.Detail))
}

func (tx *tenantTx) PutAnswer(a tenant.Answer) {
	body := a.JSON
	if body == nil {
		body = []byte{}
	}
	tx.write("an answer", [2]string{a.Scope, a.Key},
		`INSERT OR REPLACE INTO answers (scope, key, body, json, expires_at) VALUES (?, ?, ?, ?, ?)`,
		a.Scope, a.Key, a.Body[:], body, a.ExpiresAt.UnixMicro())
}

// setting scans a text that may be unset.
type setting struct {
	isSet *bool
	text  *string
}

// Scan implements [sql.Scanner].
func (s setting) Scan(v any) error {
	*s.text, *s.isSet = v.(string)
	return nil
}

// orNull returns SQL's NULL for an unset text.
func orNull(isSet bool, text string) sql.NullString {
	return sql.NullString{String: text, Valid: isSet}
}

// hash scans the 32 bytes of a hash.
type hash struct{ to *[32]byte }

var errNotHash = errors.New("a hash is stored with another size")

// Scan implements [sql.Scanner].
func (h hash) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != len(h.to) {
		return errNotHash
	}
	*h.to = [32]byte(b)
	return nil
}

// inJSON scans what is stored as JSON.
type inJSON struct{ to any }

// Scan implements [sql.Scanner].
func (j inJSON) Scan(v any) error {
	text, _ := v.(string)
	return json.Unmarshal([]byte(text), j.to)
}
