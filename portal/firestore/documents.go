package firestore

import (
	"encoding/json"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/speech"
)

// The documents of tenancy. Times that may be absent are pointers, because a zero time would expire at once.

type orgDoc struct {
	ID         string     `firestore:"id"`
	Name       string     `firestore:"name"`
	Created    *time.Time `firestore:"created"`
	CreatedBy  string     `firestore:"created_by"`
	ActiveKeys int        `firestore:"active_keys"`
	Owners     int        `firestore:"owners"`
	Disclosure *string    `firestore:"disclosure"` // nil sets nothing
}

func newOrgDoc(o tenant.Org) orgDoc {
	return orgDoc{o.ID, o.Name, stored(o.CreatedAt), o.CreatedBy, o.ActiveKeys, o.Owners, setting(o.Disclosure)}
}

func (d orgDoc) org() tenant.Org {
	return tenant.Org{
		ID: d.ID, Name: d.Name, CreatedAt: timeOf(d.Created), CreatedBy: d.CreatedBy, ActiveKeys: d.ActiveKeys,
		Owners:     d.Owners,
		Disclosure: settingOf(d.Disclosure),
	}
}

// setting is nil for a disclosure that sets nothing.
func setting(d speech.Disclosure) *string {
	if !d.Set {
		return nil
	}
	return &d.Text
}

func settingOf(text *string) speech.Disclosure {
	if text == nil {
		return speech.Disclosure{}
	}
	return speech.Disclosure{Set: true, Text: *text}
}

type projectDoc struct {
	ID        string     `firestore:"id"`
	OrgID     string     `firestore:"org_id"`
	Name      string     `firestore:"name"`
	Created   *time.Time `firestore:"created"`
	CreatedBy string     `firestore:"created_by"`
}

func newProjectDoc(p tenant.Project) projectDoc {
	return projectDoc{p.ID, p.OrgID, p.Name, stored(p.CreatedAt), p.CreatedBy}
}

func (d projectDoc) project() tenant.Project {
	return tenant.Project{ID: d.ID, OrgID: d.OrgID, Name: d.Name, CreatedAt: timeOf(d.Created), CreatedBy: d.CreatedBy}
}

type memberDoc struct {
	OrgID     string     `firestore:"org_id"`
	Email     string     `firestore:"email"`
	Role      string     `firestore:"role"`
	State     string     `firestore:"state"`
	InvitedAt *time.Time `firestore:"invited_at"`
	InvitedBy string     `firestore:"invited_by"`
	JoinedAt  *time.Time `firestore:"joined_at"`
	UserID    string     `firestore:"user_id"`
	MailedAt  *time.Time `firestore:"mailed_at"`
}

func newMemberDoc(m tenant.Member) memberDoc {
	return memberDoc{m.OrgID, m.Email, string(m.Role), string(m.State), stored(m.InvitedAt), m.InvitedBy,
		stored(m.JoinedAt), m.UserID, stored(m.MailedAt)}
}

func (d memberDoc) member() tenant.Member {
	return tenant.Member{
		OrgID: d.OrgID, Email: d.Email, Role: tenant.Role(d.Role), State: tenant.MemberState(d.State),
		InvitedAt: timeOf(d.InvitedAt),
		InvitedBy: d.InvitedBy, JoinedAt: timeOf(d.JoinedAt), UserID: d.UserID, MailedAt: timeOf(d.MailedAt),
	}
}

type keyDoc struct {
	ID        string     `firestore:"id"`
	OrgID     string     `firestore:"org_id"`
	ProjectID string     `firestore:"project_id"`
	Kind      string     `firestore:"kind"`
	Name      string     `firestore:"name"`
	Prefix    string     `firestore:"prefix"`
	Hash      []byte     `firestore:"hash"`
	Voices    []string   `firestore:"voices"`
	Origin    string     `firestore:"origin"`
	Created   *time.Time `firestore:"created"`
	CreatedBy string     `firestore:"created_by"`
	Revoked   bool       `firestore:"revoked"`
	RevokedAt *time.Time `firestore:"revoked_at"`
	ExpiresAt *time.Time `firestore:"expires_at"`
	ExpireAt  *time.Time `firestore:"expire_at"` // when the document may be deleted: a day after the key's end

	Disclosure    *string `firestore:"disclosure"` // nil sets nothing
	OrgDisclosure *string `firestore:"org_disclosure"`
}

func newKeyDoc(k tenant.Key) keyDoc {
	d := keyDoc{
		ID: k.ID, OrgID: k.OrgID, ProjectID: k.ProjectID, Kind: string(k.Kind), Name: k.Name, Prefix: k.Prefix,
		Hash:   k.Hash[:],
		Voices: append([]string(nil), k.Voices...), Origin: k.Origin, Created: stored(k.CreatedAt),
		CreatedBy: k.CreatedBy,
		Revoked:   k.Revoked(), RevokedAt: stored(k.RevokedAt), ExpiresAt: stored(k.ExpiresAt),
		Disclosure: setting(k.Disclosure), OrgDisclosure: setting(k.OrgDisclosure),
	}
	if d.ExpiresAt != nil {
		d.ExpireAt = stored(d.ExpiresAt.Add(keyRest))
	}
	return d
}

// keyRest is how long keys are kept after their end.
const keyRest = 24 * time.Hour

// key is the key without its last use.
func (d keyDoc) key() tenant.Key {
	k := tenant.Key{
		ID: d.ID, OrgID: d.OrgID, ProjectID: d.ProjectID, Kind: tenant.KeyKind(d.Kind), Name: d.Name,
		Prefix: d.Prefix, Voices: d.Voices,
		Origin: d.Origin, CreatedAt: timeOf(d.Created), CreatedBy: d.CreatedBy, RevokedAt: timeOf(d.RevokedAt),
		ExpiresAt:  timeOf(d.ExpiresAt),
		Disclosure: settingOf(d.Disclosure), OrgDisclosure: settingOf(d.OrgDisclosure),
	}
	copy(k.Hash[:], d.Hash)
	return k
}

type useDoc struct {
	// microseconds since 1970; 0 while not used. A number, because Firestore has no maximum of times
	LastUsed int64 `firestore:"last_used_us"`
}

func (d useDoc) time() time.Time {
	if d.LastUsed == 0 {
		return time.Time{}
	}
	return time.UnixMicro(d.LastUsed).UTC()
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

type voiceDoc struct {
	ID        string     `firestore:"id"`
	OrgID     string     `firestore:"org_id"`
	VoiceName string     `firestore:"voice_name"`
	Language  string     `firestore:"language"`
	UseCase   string     `firestore:"use_case"`
	Hours     *float64   `firestore:"hours"`
	Notes     string     `firestore:"notes"`
	Status    string     `firestore:"status"`
	Created   *time.Time `firestore:"created"`
	CreatedBy string     `firestore:"created_by"`
	UpdatedAt *time.Time `firestore:"updated_at"`
	Moves     []moveDoc  `firestore:"moves"`
}

type moveDoc struct {
	At *time.Time `firestore:"at"`
	By string     `firestore:"by"`
	To string     `firestore:"to"`
}

func newVoiceDoc(v tenant.VoiceRequest) voiceDoc {
	d := voiceDoc{
		ID: v.ID, OrgID: v.OrgID, VoiceName: v.VoiceName, Language: v.Language, UseCase: v.UseCase, Notes: v.Notes,
		Status:  string(v.Status),
		Created: stored(v.CreatedAt), CreatedBy: v.CreatedBy, UpdatedAt: stored(v.UpdatedAt),
	}
	if v.Hours != nil {
		hours := *v.Hours
		d.Hours = &hours
	}
	for _, m := range v.Moves {
		d.Moves = append(d.Moves, moveDoc{stored(m.At), m.By, string(m.To)})
	}
	return d
}

func (d voiceDoc) request() tenant.VoiceRequest {
	v := tenant.VoiceRequest{
		ID: d.ID, OrgID: d.OrgID, VoiceName: d.VoiceName, Language: d.Language, UseCase: d.UseCase, Hours: d.Hours,
		Notes:  d.Notes,
		Status: tenant.VoiceStatus(d.Status), CreatedAt: timeOf(d.Created), CreatedBy: d.CreatedBy,
		UpdatedAt: timeOf(d.UpdatedAt),
	}
	for _, m := range d.Moves {
		v.Moves = append(v.Moves, tenant.Move{At: timeOf(m.At), By: m.By, To: tenant.VoiceStatus(m.To)})
	}
	return v
}

type auditDoc struct {
	ID     string    `firestore:"id"`
	OrgID  string    `firestore:"org_id"`
	At     time.Time `firestore:"at"` // always there, because the log goes by it
	Actor  string    `firestore:"actor"`
	Action string    `firestore:"action"`
	Target string    `firestore:"target"`
	Detail []byte    `firestore:"detail"` // JSON: Firestore limits names of fields, and those of a detail are free
}

func newAuditDoc(a tenant.Audit) (auditDoc, error) {
	d := auditDoc{ID: a.ID, OrgID: a.OrgID, At: exact(a.At), Actor: a.Actor, Action: string(a.Action), Target: a.Target}
	if len(a.Detail) == 0 {
		return d, nil
	}
	var err error
	d.Detail, err = json.Marshal(a.Detail)
	return d, err
}

func (d auditDoc) audit() (tenant.Audit, error) {
	a := tenant.Audit{ID: d.ID, OrgID: d.OrgID, At: exact(d.At), Actor: d.Actor, Action: tenant.Action(d.Action),
		Target: d.Target}
	if len(d.Detail) == 0 {
		return a, nil
	}
	return a, json.Unmarshal(d.Detail, &a.Detail)
}

type answerDoc struct {
	Scope    string    `firestore:"scope"`
	Key      string    `firestore:"key"`
	Body     []byte    `firestore:"body"`
	JSON     []byte    `firestore:"json"`
	ExpireAt time.Time `firestore:"expire_at"`
}

func newAnswerDoc(a tenant.Answer) answerDoc {
	return answerDoc{a.Scope, a.Key, a.Body[:], append([]byte(nil), a.JSON...), exact(a.ExpiresAt)}
}

func (d answerDoc) answer() tenant.Answer {
	a := tenant.Answer{Scope: d.Scope, Key: d.Key, JSON: d.JSON, ExpiresAt: exact(d.ExpireAt)}
	copy(a.Body[:], d.Body)
	return a
}

// exact is a time as stores keep it.
func exact(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// stored is a time in a document, nil when there is none.
func stored(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = exact(t)
	return &t
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return exact(*t)
}
