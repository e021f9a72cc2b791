//go:build race

package kokorotest

const raceDetector = true
