// Package e2e drives the real binary from outside with real clients. Its tests have the build tag e2e: run them with make e2e.
package e2e
