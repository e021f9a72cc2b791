package firestore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/portal/tenant"
)

// fault is the one place where an error of Firestore becomes one of the portal. ctx is that of [Store.begin]. Other
// errors stay as they are.
func (s *Store) fault(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	// A context that was ended by its owner or with the store has its cause; when the store's own limit was reached,
	// Firestore is the cause.
	if cause := context.Cause(ctx); cause != nil && cause != errTimeout { //nolint:errorlint // ours is never wrapped
		return cause
	}
	if s.closing.Err() != nil {
		return tenant.ErrClosed
	}
	said, ok := status.FromError(err)
	switch {
	case errors.Is(err, tenant.ErrUnavailable):
		return fmt.Errorf("firestore: %s: %w", doing, err)
	case !ok && errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("firestore: %s: no answer in time: %w: %w", doing, tenant.ErrUnavailable, err)
	case !ok:
		return err
	}
	switch said.Code() {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal, codes.Unknown,
		codes.Canceled:
		return fmt.Errorf("firestore: %s: %w: %w", doing, tenant.ErrUnavailable, err)
	case codes.Aborted:
		return fmt.Errorf("firestore: %s: too many concurrent changes: %w: %w", doing, tenant.ErrUnavailable, err)
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("firestore: %s: the server's credentials are refused; give its service account the role roles/datastore.user in project %s: %w", doing, s.cfg.Project, err)
	case codes.NotFound:
		return fmt.Errorf("firestore: %s: there is no database %s in project %s; create it in Native mode: %w", doing,
			s.cfg.Database, s.cfg.Project, err)
	case codes.FailedPrecondition:
		if strings.Contains(said.Message(), "index") {
			return fmt.Errorf("firestore: %s: an index is missing or still being built; deploy firestore.indexes.json: %w", doing, err)
		}
	}
	return fmt.Errorf("firestore: %s: %w", doing, err)
}

// passes reports whether it makes sense to try again after err: Firestore was out of reach or overloaded, or another
// was faster.
func passes(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal, codes.Unknown,
		codes.Aborted:
		_, ok := status.FromError(err) // other errors count as Unknown
		return ok
	}
	return false
}
