//go:build race

package normalize

// raceDetector is true when the race detector is on, which makes everything ten times slower.
const raceDetector = true
