package tenant

import (
	"fmt"

	"github.com/swar-tts/swar/portal/emailaddr"
	"github.com/swar-tts/swar/runtime/speech"
)

// Kind is the kind of a refusal.
type Kind int

// The kinds of refusals, with the status that the API gives them.
const (
	Invalid   Kind = iota // 400: the request cannot be granted as it is
	Forbidden             // 403: not to this actor
	Missing               // 404: it does not exist, or the actor has no access to it
	Outdated              // 412: it is not any more what the request was made for
)

// Refusal is the answer to a request that a rule forbids. Its text is part of the API.
type Refusal struct {
	Kind Kind
	Code string // for machines, as in the header x-error-code
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// Is reports whether target is a Refusal with the same code, so that errors.Is works with the values below.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}

// The refusals whose text never changes.
var (
	ErrNotFound = &Refusal{Missing, "not_found", "not found"}

	ErrNotMember     = &Refusal{Forbidden, "not_member", "not a member"}
	ErrOwnersOnly    = &Refusal{Forbidden, "owners_only", "owners only"}
	ErrViewer        = &Refusal{Forbidden, "viewer", "viewers may only read"}
	ErrNotInvited    = &Refusal{Forbidden, "not_invited", "this e-mail is not invited; ask for an invitation"}
	ErrOtherIdentity = &Refusal{Forbidden, "other_identity",
		"this e-mail has joined with another sign-in; ask an owner to remove it and invite it again"}
	ErrNotRequester = &Refusal{Forbidden, "not_requester",
		"only the requester or an owner may withdraw a voice request"}
	ErrOperatorsOnly = &Refusal{Forbidden, "operators_only", "operators only"}

	ErrBadEmail         = &Refusal{Invalid, "bad_email", emailaddr.ErrInvalid.Error()}
	ErrBadRole          = &Refusal{Invalid, "bad_role", "role must be owner, member or viewer"}
	ErrLastOwner        = &Refusal{Invalid, "last_owner", "the last owner cannot be removed"}
	ErrLastOwnerDemoted = &Refusal{Invalid, "last_owner_demoted", "the last owner cannot be demoted"}
	ErrBadKind          = &Refusal{Invalid, "bad_kind", "kind must be live or playground"}
	ErrTooManyOrgs      = &Refusal{Invalid, "too_many_orgs",
		fmt.Sprintf("you have created %d organisations, which is the limit", MaxCreatedOrgs)}
	ErrTooManyProjects = &Refusal{Invalid, "too_many_projects",
		fmt.Sprintf("organisation has %d projects, which is the limit", MaxProjects)}
	ErrTooManyMembers = &Refusal{Invalid, "too_many_members",
		fmt.Sprintf("organisation has %d members; remove one first", MaxMembers)}
	ErrTooManyVoiceRequests = &Refusal{Invalid, "too_many_voice_requests",
		fmt.Sprintf("organisation has %d voice requests, which is the limit", MaxVoiceRequests)}
	ErrTooManyKeys = &Refusal{Invalid, "too_many_keys",
		fmt.Sprintf("organisation has %d active keys; revoke one first", MaxActiveKeys)}
	ErrLexiconChanged = &Refusal{Outdated, "lexicon_changed", "the lexicon was changed meanwhile; read it again"}
	ErrKeyRevoked     = &Refusal{Invalid, "key_revoked", "key is revoked"}
	ErrPlaygroundKey  = &Refusal{Invalid, "playground_key", "a playground key cannot be changed"}
	ErrBadOrigin      = &Refusal{Invalid, "bad_origin", "origin: not a valid web origin"}
	ErrBadHours       = &Refusal{Invalid, "bad_hours", fmt.Sprintf("hours: must be in [0, %d]", MaxHours)}
	ErrBadStatus      = &Refusal{Invalid, "bad_status",
		"status must be reviewing, approved, training, ready or declined"}
	ErrBadLimit     = &Refusal{Invalid, "bad_limit", "limit must be at least 1"}
	ErrLimitTooHigh = &Refusal{Invalid, "limit_too_high",
		fmt.Sprintf("limit must be at most %d", MaxAuditLimit)}
	ErrBadIdempotencyKey = &Refusal{Invalid, "bad_idempotency_key",
		fmt.Sprintf("idempotency-key: must be 1 to %d visible ASCII characters", MaxIdempotencyKey)}
	ErrIdempotencyReused = &Refusal{Invalid, "idempotency_key_reused",
		"idempotency-key: was used with a different request"}
)

// BadField refuses a text field. The code is bad_ and the field.
func BadField(field, why string) *Refusal {
	return &Refusal{Invalid, "bad_" + field, field + ": " + why}
}

// UnknownVoice refuses a voice that the model does not have, in the words of the synthesis API.
func UnknownVoice(name string) *Refusal {
	r := speech.UnknownVoice(name)
	return &Refusal{Invalid, string(r.Code), r.Text}
}

// BadMove refuses a change of a voice request that does not lead on from where it is.
func BadMove(from, to VoiceStatus) *Refusal {
	return &Refusal{Invalid, "bad_move", fmt.Sprintf("a voice request cannot move from %s to %s", from, to)}
}
