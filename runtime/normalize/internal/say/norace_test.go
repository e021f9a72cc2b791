//go:build !race

package say

// raceDetector is true when the race detector is on, which makes everything ten times slower.
const raceDetector = false
