// Package e2e drives the real programs from outside with real clients. Its tests have the build tag e2e: run them with
// make e2e. They start swar serve, or, with SWAR_E2E=fleet, the processes of a fleet.
package e2e
