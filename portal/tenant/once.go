package tenant

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// How long an idempotency key may be, and how long its answer is kept.
const (
	MaxIdempotencyKey = 255 // visible ASCII characters
	AnswerLife        = 24 * time.Hour
)

// Idempotency makes a create request safe to send again. Within a day the same Key and Body get the first response,
// and nothing is created twice. Another Body is refused with ErrIdempotencyReused. Refused requests are not
// remembered. The zero Once remembers nothing.
type Idempotency struct {
	Key  string   // of the client; each user has their own
	Body [32]byte // hash of method, path and body of the request
}

func (o Idempotency) check() error {
	if o == (Idempotency{}) {
		return nil
	}
	if o.Key == "" || len(o.Key) > MaxIdempotencyKey ||
		strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ErrBadIdempotencyKey
	}
	return nil
}

// replay returns the answer to the same earlier request, if there was one. It comes after the check of actor's rights,
// so that a user who has left an organisation does not get its answers.
func replay[T any](tx Tx, now time.Time, actor User, o Idempotency) (first T, replayed bool, err error) {
	if o.Key == "" {
		return first, false, nil
	}
	a, err := tx.Answer(actor.ID, o.Key)
	switch {
	case errors.Is(err, ErrNotFound):
		return first, false, nil
	case err != nil:
		return first, false, err
	case !now.Before(a.ExpiresAt):
		return first, false, nil
	case a.Body != o.Body:
		return first, false, ErrIdempotencyReused
	}
	if err := json.Unmarshal(a.JSON, &first); err != nil {
		return first, false, fmt.Errorf("reading the answer to an idempotency key: %w", err)
	}
	return first, true, nil
}

// remember keeps answer for replay, and returns it. It must not hold a secret.
func remember[T any](tx Tx, now time.Time, actor User, o Idempotency, answer T) (T, error) {
	if o.Key == "" {
		return answer, nil
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return answer, fmt.Errorf("writing the answer to an idempotency key: %w", err)
	}
	tx.PutAnswer(Answer{Scope: actor.ID, Key: o.Key, Body: o.Body, JSON: b, ExpiresAt: now.Add(AnswerLife)})
	return answer, nil
}
