package signin

import (
	"context"
	"encoding/hex"
	"net/netip"
	"time"

	"github.com/swar-tts/swar/portal/emailaddr"
	"github.com/swar-tts/swar/runtime/answer"
)

// Invitations mails invitations, within the limits of sign-in mails. Its counters are separate, so that invitations
// cannot use up a person's sign-in mails; only the hourly total is shared.
type Invitations struct {
	store  Store
	outbox *Outbox
	limit  int
}

// NewInvitations returns a sender of invitations. limit is the total number of mails in an hour, as
// [Config.TotalLimit].
func NewInvitations(store Store, outbox *Outbox, limit int) *Invitations {
	if limit == 0 {
		limit = totalLimit
	}
	return &Invitations{store, outbox, limit}
}

// Invitation is a plain link to the sign-in page. It contains no secret and does not sign in.
type Invitation struct {
	Email     string
	OrgName   string
	InvitedBy string
	Page      string
	From      netip.Addr // of the inviting user; invalid for an operator, who has no such limit
}

// Mail queues an invitation. It fails at once where a limit is reached or too many mails are waiting: see [Postponed].
func (v *Invitations) Mail(ctx context.Context, i Invitation) error {
	email, err := emailaddr.Clean(i.Email)
	if err != nil {
		return err
	}
	holders := []quotaHolder{{"invitations", placesOfInvitations}}
	if i.From.IsValid() {
		holders = append(holders, holdersOf(i.From)...)
	}
	if err := v.outbox.reserve(holders); err != nil {
		return err
	}
	if err := v.take(ctx, email, i.From, time.Now()); err != nil {
		v.outbox.release(holders)
		return err
	}
	v.outbox.queue <- queuedMail{
		kind: "invitation", mail: inviteMail(v.outbox.name, email, i.OrgName, i.InvitedBy, i.Page), holders: holders,
	}
	return nil
}

// take counts an invitation against its address, which removing a member does not reset, and against its sender.
func (v *Invitations) take(ctx context.Context, email string, from netip.Addr, now time.Time) error {
	box := emailHash(email)
	id := hex.EncodeToString(box[:])
	if err := take(ctx, v.store, "invited:"+id, now, shortWindow, shortLimit, tooManyInvitations); err != nil {
		return err
	}
	if err := take(ctx, v.store, "invited-day:"+id, now, dayWindow, dayLimit, tooManyInvitations); err != nil {
		return err
	}
	if !from.IsValid() {
		return nil
	}
	if err := take(ctx, v.store, "inviter:"+subscriber(from), now, mailWindow, mailLimit,
		tooManyInvitations); err != nil {
		return err
	}
	return takeQuota(ctx, v.store, from, v.limit, now)
}

func tooManyInvitations(retry time.Duration) error {
	return &limitError{"too_many_mails",
		"too many invitations were mailed to this address or from here; try again later", retry}
}

// Postponed returns the response to a request for a mail that is refused for now. A limit was reached, or too many
// mails are queued.
func Postponed(err error) (f answer.Failure, ok bool) {
	f, isFault := failureOf(err)
	return f, !isFault && f.Retry > 0
}
