package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Mailer sends one mail. It is safe for concurrent use.
type Mailer interface {
	// Send returns when the mail was handed over, or could not be; ErrMailRefused means that it never will be. An error
	// must not contain the text of the mail.
	Send(ctx context.Context, m Mail) error
}

// ErrMailRefused is a mail that the mail server does not take and never will.
var ErrMailRefused = errors.New("the mail is refused")

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

// quotaHolder is a sender with a limit of waiting mails, so that none takes all places.
type quotaHolder struct {
	name string
	most int
}

// The places that a part of the internet may take, and invitations, which members send.
const (
	placesOfNetwork     = outboxSize / 10
	placesOfProvider    = outboxSize / 4
	placesOfInvitations = outboxSize / 4
)

// holdersOf are who answers for a mail that ip asks for.
func holdersOf(ip netip.Addr) []quotaHolder {
	return []quotaHolder{{"network " + network(ip), placesOfNetwork}, {"provider " + provider(ip), placesOfProvider}}
}

// Outbox sends mails in the background. So the time of a response does not reveal whether a mail was sent.
type Outbox struct {
	mailer  Mailer
	name    string // of the service, as mails call it
	log     *slog.Logger
	queue   chan queuedMail // whose turn it is; it has a place for every letter
	retries sync.WaitGroup  // letters that wait for another try

	sent, failed atomic.Int64 // mails that the mail server has taken, and that were given up

	mu     sync.Mutex
	places int            // taken by letters that wait or are about to
	heldBy map[string]int // of them, by the name of a holder
}

// queuedMail is a waiting mail. wanted decides in the background whether to send it.
type queuedMail struct {
	mail       Mail
	kind       string // for the log
	shouldSend func(context.Context) (bool, error)
	holders    []quotaHolder
	failed     int // tries
}

// NewOutbox returns an outbox that sends nothing until it is run. service is what mails call the service; empty means
// Swar.
func NewOutbox(service string, mailer Mailer, log *slog.Logger) *Outbox {
	if service == "" {
		service = "Swar"
	}
	return &Outbox{
		mailer: mailer, name: service, log: log, queue: make(chan queuedMail, outboxSize), heldBy: make(map[string]int),
	}
}

// reserve takes a place for one letter, which must be queued or released. So a caller is refused before any work.
func (o *Outbox) reserve(holders []quotaHolder) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.places == outboxSize {
		return errOutboxFull
	}
	for _, h := range holders {
		if o.heldBy[h.name] >= h.most {
			return errOutboxFull
		}
	}
	o.places++
	for _, h := range holders {
		o.heldBy[h.name]++
	}
	return nil
}

func (o *Outbox) release(holders []quotaHolder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.places--
	for _, h := range holders {
		if o.heldBy[h.name]--; o.heldBy[h.name] == 0 {
			delete(o.heldBy, h.name)
		}
	}
}

// Counts returns how many mails the mail server has taken, and how many were given up.
func (o *Outbox) Counts() (sent, failed int64) { return o.sent.Load(), o.failed.Load() }

// Run sends mails until ctx ends, and then what still waits, once and for a few seconds.
func (o *Outbox) Run(ctx context.Context) error {
	var working sync.WaitGroup
	for range outboxWorkers {
		working.Go(func() { o.work(ctx) })
	}
	working.Wait()
	o.retries.Wait() // what waited for another try is in the queue now
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	for range outboxWorkers {
		working.Go(func() { o.drain(last) })
	}
	working.Wait()
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
}

// drain sends what is in the queue.
func (o *Outbox) drain(ctx context.Context) {
	for {
		select {
		case l := <-o.queue:
			if err := o.attempt(ctx, l); err != nil {
				o.failed.Add(1)
				o.log.Warn("a mail was lost in stopping", "kind", l.kind, "error", err)
			}
			o.release(l.holders)
		default:
			return
		}
	}
}

// deliver tries once, and schedules a retry if that fails: failing mails must not delay those of others. Its log lines
// name no person and no secret.
func (o *Outbox) deliver(ctx context.Context, l queuedMail) {
	err := o.attempt(context.WithoutCancel(ctx), l) // a mail that is being sent when the server stops is sent
	if err == nil {
		o.release(l.holders)
		return
	}
	l.failed++
	_, domain, _ := strings.Cut(l.mail.To, "@")
	log := o.log.With("kind", l.kind, "domain", domain, "attempt", l.failed, "error", err)
	if errors.Is(err, ErrMailRefused) || l.failed > len(sendPauses) {
		o.failed.Add(1)
		log.Error("a mail could not be sent")
		o.release(l.holders)
		return
	}
	log.Warn("a mail could not be sent yet")
	o.retries.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(sendPauses[l.failed-1]):
		}
		o.queue <- l
	})
}

func (o *Outbox) attempt(ctx context.Context, l queuedMail) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	if l.shouldSend != nil {
		if wanted, err := l.shouldSend(ctx); err != nil {
			return fmt.Errorf("checking who may sign in: %w", err)
		} else if !wanted {
			return nil
		}
	}
	err := o.mailer.Send(ctx, l.mail)
	if err == nil {
		o.sent.Add(1)
	}
	return err
}
