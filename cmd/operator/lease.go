package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

const (
	leaseTimeout  = renewDeadline / 4 // of one request, so that a slow one does not lose the lease
	retryInterval = time.Second       // while the API server is away
)

// newLease returns the lease of a process, whose managers hold it under one identity: a manager takes it over
// from an earlier one at once, while another process waits until it expires. Elections are recorded as Events while
// the process runs.
func newLease(access *rest.Config, namespace string) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	access = rest.AddUserAgent(rest.CopyConfig(access), "leader-election")
	access.Timeout = leaseTimeout
	server, err := kubernetes.NewForConfig(access)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	id := host + "_" + string(uuid.NewUUID())
	told := record.NewBroadcaster()
	told.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: server.CoreV1().Events(namespace)})
	holder := resourcelock.ResourceLockConfig{
		Identity: id, EventRecorder: told.NewRecorder(scheme.Scheme, corev1.EventSource{Component: id}),
	}
	return resourcelock.New(
		resourcelock.LeasesResourceLock, namespace, name, server.CoreV1(), server.CoordinationV1(), holder)
}

// waitForAnswer returns when the API server answers, or ctx ends. A manager that is made while it does not answer tries
// for ten seconds to learn its kinds.
func waitForAnswer(ctx context.Context, lease resourcelock.Interface) {
	tick := time.NewTicker(retryInterval)
	defer tick.Stop()
	for {
		if _, _, err := lease.Get(ctx); err == nil || apierrors.ReasonForError(err) != "" {
			return // a refusal is an answer, which the next manager reports
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
