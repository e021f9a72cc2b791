// Package e2ecluster tries a release on a real Kubernetes of two nodes: the chart and the images of make images,
// clients that count what they lose, and what happens to a cluster in its life. `make e2e-cluster` runs it.
package e2ecluster
