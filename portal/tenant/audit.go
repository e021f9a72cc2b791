package tenant

import (
	"context"
	"time"

	"github.com/swar-tts/swar/portal/cursor"
	"github.com/swar-tts/swar/runtime/ident"
)

// Audit is an entry of the audit log: one change, written together with it.
type Audit struct {
	ID     string // "aud_" and 26 random characters
	OrgID  string
	At     time.Time
	Actor  string // e-mail, or "operator"
	Action Action
	Target string            // what was changed: an identifier or an e-mail
	Detail map[string]string // what it was changed to; never a secret
}

// Place is the position of a in the log.
func (a Audit) Place() cursor.Cursor { return cursor.Cursor{At: a.At, ID: a.ID} }

// Action names what was done.
type Action string

// The actions.
const (
	OrgCreated            Action = "org.created"
	OrgRenamed            Action = "org.renamed"
	OrgDisclosureChanged  Action = "org.disclosure_changed"
	ProjectCreated        Action = "project.created"
	ProjectRenamed        Action = "project.renamed"
	LexiconChanged        Action = "lexicon.changed"
	MemberInvited         Action = "member.invited"
	MemberJoined          Action = "member.joined"
	MemberRoleChanged     Action = "member.role_changed"
	MemberUnbound         Action = "member.unbound"
	MemberRemoved         Action = "member.removed"
	KeyCreated            Action = "key.created"
	KeyUpdated            Action = "key.updated"
	KeyRevoked            Action = "key.revoked"
	VoiceRequestCreated   Action = "voice_request.created"
	VoiceRequestMoved     Action = "voice_request.moved"
	VoiceRequestWithdrawn Action = "voice_request.withdrawn"
)

// How many entries AuditLog returns.
const (
	DefaultAuditLimit = 50
	MaxAuditLimit     = 500
)

// AuditLog returns a page of the audit log of an organisation, newest first; owners only. Limit 0 means
// DefaultAuditLimit. The next page comes Before the Place of the last entry.
func (s *Service) AuditLog(ctx context.Context, actor User, q AuditQuery) ([]Audit, error) {
	switch {
	case q.Limit < 0:
		return nil, ErrBadLimit
	case q.Limit > MaxAuditLimit:
		return nil, ErrLimitTooHigh
	case q.Limit == 0:
		q.Limit = DefaultAuditLimit
	}
	return view(ctx, s, func(r Reader) ([]Audit, error) {
		if err := mayOwn(r, actor, q.OrgID); err != nil {
			return nil, err
		}
		return r.Audit(q)
	})
}

// log writes down a change with what it changed to, given as names and values.
func log(tx Tx, now time.Time, actor User, action Action, orgID, target string, detail ...string) {
	a := Audit{ID: ident.New("aud_"), OrgID: orgID, At: now, Actor: actor.Email, Action: action, Target: target}
	for i := 0; i < len(detail); i += 2 {
		if a.Detail == nil {
			a.Detail = make(map[string]string)
		}
		a.Detail[detail[i]] = detail[i+1]
	}
	tx.AppendAudit(a)
}
