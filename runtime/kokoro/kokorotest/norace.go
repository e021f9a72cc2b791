//go:build !race

package kokorotest

const raceDetector = false
