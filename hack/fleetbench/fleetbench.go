// Package fleetbench measures what a fleet costs, with real processes on this machine: what routers add to the way from
// a pod to a client, what idle links cost, and whether batches survive the hop. `make bench-fleet` runs it.
package fleetbench
