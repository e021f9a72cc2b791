package externalmetrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// queryError is the outcome of a failed query.
type queryError struct {
	query Query
	err   error
}

func (e *queryError) Error() string { return e.err.Error() }

// refuse returns an error with the status that is answered.
func refuse(code int32, reason metav1.StatusReason, format string, args ...any) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: fmt.Sprintf(format, args...),
	}}
}

// statusOf is the one place where an error becomes a status.
func statusOf(err error) metav1.Status {
	if e, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return e.ErrStatus
	}
	if e, ok := errors.AsType[*queryError](err); ok {
		return e.status().ErrStatus
	}
	return refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, "%v", err).ErrStatus
}

// status translates what the operator has said to KEDA's protocol.
func (e *queryError) status() *apierrors.StatusError {
	q := e.query
	switch s := status.Convert(e.err); s.Code() {
	case codes.NotFound:
		return refuse(http.StatusNotFound, metav1.StatusReasonNotFound,
			"no TTSDeployment %q in the namespace %q is looked after: check the selector's label %s, that it is not "+
				"paused, and that the operator looks after the namespace", q.Name, q.Namespace, Label)
	case codes.FailedPrecondition:
		return refuse(http.StatusConflict, metav1.StatusReasonConflict,
			"the TTSDeployment %s/%s is not scaled by others: set its spec.scaling.mode to External",
			q.Namespace, q.Name)
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable,
			"%s; the size stays meanwhile", s.Message())
	default:
		return refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError,
			"asking the operator: %s", s.Message())
	}
}

// levelOf returns the log level of an error: failures of the cluster are logged, mistakes of a caller are not.
func levelOf(code int) slog.Level {
	if code >= http.StatusInternalServerError {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// write answers in JSON, whatever is accepted: clients of the API server read that besides protobuf.
func write(w http.ResponseWriter, r *http.Request, code int, answer any) {
	e := json.NewEncoder(w)
	if r.URL.Query().Has("pretty") && isTrue(r.URL.Query().Get("pretty")) {
		e.SetIndent("", "  ")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache, private")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_ = e.Encode(answer) // a client that has gone needs no answer
}

// isTrue reads a switch of a query as the API server does: without a value it is on.
func isTrue(value string) bool { return value != "false" && value != "0" }
