package session

import (
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// lead is how far a session is ahead of its client.
type lead struct {
	limit    time.Duration
	realTime bool
	speed    float64 // speed of the playback

	waiting int       // frames that were spoken and that the client has not taken
	sounds  time.Time // until when what it has taken can sound
}

func (l *lead) addSpoken(frames int) { l.waiting += frames }

func (l *lead) took(frames int, now time.Time) {
	l.waiting = max(l.waiting-frames, 0)
	if l.sounds.Before(now) {
		l.sounds = now
	}
	l.sounds = l.sounds.Add(l.playTime(frames))
}

// drop notes that the client gets nothing more of what was spoken.
func (l *lead) drop() { l.waiting, l.sounds = 0, time.Time{} }

// timesOf is how long frames sound at the client.
func (l *lead) playTime(frames int) time.Duration {
	return time.Duration(float64(frames) * float64(speech.FrameDuration) / l.speed)
}

// isFull reports whether no further sentence should be started, and when that changes without an event; zero: it does
// not.
func (l *lead) isFull(now time.Time) (full bool, until time.Time) {
	ahead := l.playTime(l.waiting)
	if ahead >= l.limit {
		return true, time.Time{}
	}
	if l.realTime {
		if at := l.sounds.Add(ahead - l.limit); now.Before(at) {
			return true, at
		}
	}
	return false, time.Time{}
}
