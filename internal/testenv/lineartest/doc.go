// Package lineartest tells linear from quadratic time on a busy machine.
package lineartest
