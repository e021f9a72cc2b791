package tenant

import "time"

// VoiceStatus is how far a voice request has come.
type VoiceStatus string

// The statuses, in the order in which a request that goes well takes them.
const (
	Submitted VoiceStatus = "submitted"
	Reviewing VoiceStatus = "reviewing"
	Approved  VoiceStatus = "approved"
	Training  VoiceStatus = "training"
	Ready     VoiceStatus = "ready"
	Declined  VoiceStatus = "declined"  // by an operator, instead of an approval
	Withdrawn VoiceStatus = "withdrawn" // by the requester, before an approval
)

// VoiceRequest asks for a voice of one's own to be trained.
type VoiceRequest struct {
	ID        string // "vr_" and 26 random characters
	OrgID     string
	VoiceName string
	Language  string
	UseCase   string
	Hours     *float64 // of recordings that there are; nil when not told
	Notes     string
	Status    VoiceStatus
	CreatedAt time.Time
	CreatedBy string // e-mail of the requester
	UpdatedAt time.Time
	Moves     []Move // oldest first
}

// Move is one change of a voice request's status.
type Move struct {
	At time.Time   `json:"at"`
	By string      `json:"by"` // e-mail, or "operator"
	To VoiceStatus `json:"to"`
}
