package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/swar-tts/swar/portal/emailaddr"
)

// Mailer sends one mail. It is safe for concurrent use.
type Mailer interface {
	// Send returns when the mail was handed over, or could not be. An error must not hold the text of the mail.
	Send(ctx context.Context, m Mail) error
}

// Mail is a mail to one person.
type Mail struct {
	To      string
	Subject string
	Text    string
	HTML    string // the same
}

// Sizes and times of the outbox.
const (
	outboxSize    = 200 // mails that wait
	outboxWorkers = 4   // mails that are sent at once
	sendTime      = 30 * time.Second
	drainTime     = 10 * time.Second
)

// sendPauses are waited for between attempts. A link lives for 15 minutes.
var sendPauses = []time.Duration{2 * time.Second, 15 * time.Second, time.Minute}

// errOutboxFull refuses a mail.
var errOutboxFull = errors.New("too many mails are waiting; try again in a minute")

// Outbox sends mails in the background, so that nobody can tell from the time of an answer whether there was one.
type Outbox struct {
	mailer Mailer
	name   string // of the service, as mails call it
	log    *slog.Logger
	places chan struct{} // taken by mails that wait or are about to
	queue  chan letter
}

// letter is a mail that waits. wanted decides in the background whether it is sent at all.
type letter struct {
	mail   Mail
	kind   string // for the log
	wanted func(context.Context) (bool, error)
}

// NewOutbox returns an outbox that sends nothing until it is run. service is what mails call the service; empty means Swar.
func NewOutbox(service string, mailer Mailer, log *slog.Logger) *Outbox {
	if service == "" {
		service = "Swar"
	}
	return &Outbox{mailer: mailer, name: service, log: log, places: make(chan struct{}, outboxSize), queue: make(chan letter, outboxSize)}
}

// Invite mails an invitation, which is a plain link to the page where everybody signs in. It holds no secret and does not sign in. It
// fails at once when too many mails are waiting.
func (o *Outbox) Invite(email, orgName, invitedBy, page string) error {
	email, err := emailaddr.Clean(email)
	if err != nil {
		return err
	}
	post, err := o.reserve()
	if err != nil {
		return err
	}
	post(letter{kind: "invitation", mail: inviteMail(o.name, email, orgName, invitedBy, page)})
	return nil
}

// reserve takes a place for one mail, which must be posted. So whoever gets none is refused before anything was done for it.
func (o *Outbox) reserve() (post func(letter), err error) {
	select {
	case o.places <- struct{}{}:
		return func(l letter) { o.queue <- l }, nil
	default:
		return nil, errOutboxFull
	}
}

func (o *Outbox) release() { <-o.places }

// Run sends mails until ctx ends, and then what still waits, once and for a few seconds.
func (o *Outbox) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for range outboxWorkers {
		wg.Go(func() { o.work(ctx) })
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (o *Outbox) work(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case l := <-o.queue:
			o.deliver(ctx, l)
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	for {
		select {
		case l := <-o.queue:
			if err := o.attempt(last, l); err != nil {
				o.log.Warn("a mail was lost in stopping", "kind", l.kind, "error", err)
			}
			o.release()
		default:
			return
		}
	}
}

// deliver tries several times. What it logs names no person and no secret.
func (o *Outbox) deliver(ctx context.Context, l letter) {
	defer o.release()
	for n := 0; ; n++ {
		err := o.attempt(context.WithoutCancel(ctx), l) // a mail that is being sent when the server stops is sent
		if err == nil {
			return
		}
		_, domain, _ := strings.Cut(l.mail.To, "@")
		log := o.log.With("kind", l.kind, "domain", domain, "attempt", n+1, "error", err)
		if n == len(sendPauses) || ctx.Err() != nil {
			log.Error("a mail could not be sent")
			return
		}
		log.Warn("a mail could not be sent yet")
		select {
		case <-ctx.Done():
		case <-time.After(sendPauses[n]):
		}
	}
}

func (o *Outbox) attempt(ctx context.Context, l letter) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	if l.wanted != nil {
		if wanted, err := l.wanted(ctx); err != nil {
			return fmt.Errorf("asking who may sign in: %w", err)
		} else if !wanted {
			return nil
		}
	}
	return o.mailer.Send(ctx, l.mail)
}
