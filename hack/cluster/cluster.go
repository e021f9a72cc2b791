// Package cluster holds no code, only the test of the scripts beside it, which run a real Kubernetes on one machine:
// build.sh makes its programs from Go modules, up.sh starts a cluster in network namespaces, in.sh runs a command in
// it, load-image.sh gives it images, program.sh stops one of its programs for a while, and down.sh removes it.
//
// The modules below this folder are not the project's: their dependencies never meet its own.
package cluster
