package tenant

import (
	"context"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/ident"
)

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
	Hours     *float64 // of existing recordings; nil when unknown
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

// MaxHours is the largest number of hours in a voice request.
const MaxHours = 10000

// VoiceRequestInput is the form of a voice request.
type VoiceRequestInput struct {
	VoiceName string   // 1 to MaxName characters
	Language  string   // 1 to MaxLanguage
	UseCase   string   // 1 to MaxUseCase
	Hours     *float64 // 0 to MaxHours; nil when unknown
	Notes     string   // up to MaxNotes
}

// next says how a voice request may move. Only the requester withdraws; the operator makes all other moves.
var next = map[VoiceStatus][]VoiceStatus{
	Submitted: {Reviewing, Declined, Withdrawn},
	Reviewing: {Approved, Declined, Withdrawn},
	Approved:  {Training},
	Training:  {Ready},
}

// VoiceRequests returns the voice requests of an organisation, newest first. When orgID is empty it returns the
// newest MaxVoiceRequests of all organisations of actor.
func (s *Service) VoiceRequests(ctx context.Context, actor User, orgID string) ([]VoiceRequest, error) {
	return view(ctx, s, func(r Reader) ([]VoiceRequest, error) {
		if orgID != "" {
			if err := mayRead(r, actor, orgID); err != nil {
				return nil, err
			}
			return r.VoiceRequests(orgID)
		}
		members, err := r.Memberships(actor.Email)
		if err != nil {
			return nil, err
		}
		var all []VoiceRequest
		for _, m := range members {
			if m.UserID != actor.ID {
				continue
			}
			requests, err := r.VoiceRequests(m.OrgID)
			if err != nil {
				return nil, err
			}
			all = append(all, requests...)
			slices.SortStableFunc(all, func(a, b VoiceRequest) int { return b.CreatedAt.Compare(a.CreatedAt) })
			all = all[:min(len(all), MaxVoiceRequests)] // in every turn, so that at most two lists are in memory
		}
		return all, nil
	})
}

// CreateVoiceRequest asks for a voice.
func (s *Service) CreateVoiceRequest(ctx context.Context, actor User, orgID string, wish VoiceRequestInput,
	once Idempotency) (VoiceRequest, error) {
	wish, err := wish.clean()
	if err != nil {
		return VoiceRequest{}, err
	}
	if err := once.check(); err != nil {
		return VoiceRequest{}, err
	}
	now := s.now()
	return update(ctx, s, func(tx Tx) (VoiceRequest, error) {
		if err := mayWrite(tx, actor, orgID); err != nil {
			return VoiceRequest{}, err
		}
		if first, done, err := replay[VoiceRequest](tx, now, actor, once); done || err != nil {
			return first, err
		}
		requests, err := tx.VoiceRequests(orgID)
		if err != nil {
			return VoiceRequest{}, err
		}
		if len(requests) >= MaxVoiceRequests {
			return VoiceRequest{}, ErrTooManyVoiceRequests
		}
		made := VoiceRequest{
			ID: ident.New("vr_"), OrgID: orgID,
			VoiceName: wish.VoiceName, Language: wish.Language, UseCase: wish.UseCase, Hours: wish.Hours,
			Notes:  wish.Notes,
			Status: Submitted, CreatedAt: now, CreatedBy: actor.Email, UpdatedAt: now,
		}
		tx.PutVoiceRequest(made)
		log(tx, now, actor, VoiceRequestCreated, orgID, made.ID, "voice_name", made.VoiceName)
		return remember(tx, now, actor, once, made)
	})
}

// WithdrawVoiceRequest ends a request that was neither approved nor declined. The requester may do that, or an owner
// when the requester has left.
func (s *Service) WithdrawVoiceRequest(ctx context.Context, actor User, id string) (VoiceRequest, error) {
	return s.moveVoiceRequest(ctx, actor, id, Withdrawn, VoiceRequestWithdrawn, func(r Reader, v VoiceRequest) error {
		role, err := roleIn(r, actor, v.OrgID)
		switch {
		case err != nil:
			return ofObject(err)
		case role == RoleViewer:
			return ErrViewer
		case role != RoleOwner && v.CreatedBy != actor.Email:
			return ErrNotRequester
		}
		return nil
	})
}

// MoveVoiceRequest takes a request one step on, or declines it; for operators.
func (s *Service) MoveVoiceRequest(ctx context.Context, actor User, id string, to VoiceStatus) (VoiceRequest, error) {
	if !actor.operator {
		return VoiceRequest{}, ErrOperatorsOnly
	}
	if !slices.Contains([]VoiceStatus{Reviewing, Approved, Training, Ready, Declined}, to) {
		return VoiceRequest{}, ErrBadStatus
	}
	return s.moveVoiceRequest(ctx, actor, id, to, VoiceRequestMoved, func(Reader, VoiceRequest) error { return nil })
}

func (s *Service) moveVoiceRequest(
	ctx context.Context, actor User, id string, to VoiceStatus, action Action, allowed func(Reader, VoiceRequest) error,
) (VoiceRequest, error) {
	now := s.now()
	return update(ctx, s, func(tx Tx) (VoiceRequest, error) {
		v, err := tx.VoiceRequest(id)
		if err != nil {
			return VoiceRequest{}, err
		}
		if err := allowed(tx, v); err != nil {
			return VoiceRequest{}, err
		}
		if !slices.Contains(next[v.Status], to) {
			return VoiceRequest{}, BadMove(v.Status, to)
		}
		v.Status, v.UpdatedAt = to, now
		v.Moves = append(v.Moves, Move{At: now, By: actor.Email, To: to})
		tx.PutVoiceRequest(v)
		log(tx, now, actor, action, v.OrgID, id, "status", string(to))
		return v, nil
	})
}

func (w VoiceRequestInput) clean() (VoiceRequestInput, error) {
	var err error
	if w.VoiceName, err = cleanName("voice_name", w.VoiceName); err != nil {
		return w, err
	}
	if w.Language, err = cleanText("language", w.Language, 1, MaxLanguage, ""); err != nil {
		return w, err
	}
	if w.UseCase, err = cleanText("use_case", w.UseCase, 1, MaxUseCase, "\t\r\n"); err != nil {
		return w, err
	}
	if w.Hours != nil {
		hours := *w.Hours
		if !(0 <= hours && hours <= MaxHours) { // so that NaN is refused as well
			return w, ErrBadHours
		}
		w.Hours = &hours
	}
	w.Notes, err = cleanText("notes", w.Notes, 0, MaxNotes, "\t\r\n")
	return w, err
}
