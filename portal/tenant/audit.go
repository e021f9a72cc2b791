package tenant

import "time"

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

// Action names what was done.
type Action string

// The actions.
const (
	OrgCreated            Action = "org.created"
	OrgRenamed            Action = "org.renamed"
	ProjectCreated        Action = "project.created"
	ProjectRenamed        Action = "project.renamed"
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
