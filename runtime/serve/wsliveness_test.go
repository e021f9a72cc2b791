package serve

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// deadlines is a connection that only remembers its read deadline.
type deadlines struct{ last time.Time }

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.last = t
	return nil
}

func TestPingsDoNotProlongTheWaitForAPong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := &deadlines{}
		l := liveness{conn: conn}
		pinged := time.Now()
		l.pinging()
		want := pinged.Add(pongWait)
		if conn.last != want {
			t.Errorf("deadline %v after the ping, want %v", conn.last.Sub(pinged), pongWait)
		}
		time.Sleep(pongWait) // virtual: the next ping comes just before the wait is over
		l.pinging()
		if conn.last != want {
			t.Errorf("deadline %v after a second ping, want %v as before", conn.last.Sub(pinged), pongWait)
		}
		l.touch()
		if !conn.last.IsZero() {
			t.Errorf("deadline %v after an answer, want none", conn.last)
		}
		l.pinging()
		if want := time.Now().Add(pongWait); conn.last != want {
			t.Errorf("deadline %v for a new ping, want %v", conn.last, want)
		}
	})
}

// TestAPongMayComeWhenTheAudioBeforeItHasSounded: a client that plays while it reads finds a ping behind it.
func TestAPongMayComeWhenTheAudioBeforeItHasSounded(t *testing.T) {
	const twoSeconds = 25 // frames
	tests := map[string]struct {
		sent []int         // frames, two seconds apart
		want time.Duration // from the ping on, which comes with the last of them
	}{
		"nothing was sent":               {[]int{0}, pongWait},
		"two seconds":                    {[]int{twoSeconds}, pongWait + 2*time.Second},
		"two seconds, as they sound":     {[]int{twoSeconds, twoSeconds, twoSeconds}, pongWait + 2*time.Second},
		"six seconds, four seconds ago":  {[]int{3 * twoSeconds, 0, 0}, pongWait + 2*time.Second},
		"two seconds, four seconds ago":  {[]int{twoSeconds, 0, 0}, pongWait},
		"100 s, as buffers hold of Opus": {[]int{1250}, pongWait + 100*time.Second},
		"that and a frame, a while ago":  {[]int{1251, 0}, pongWait + 98*time.Second + speech.FrameDuration},
		"five utterances of 100 s":       {[]int{1250, 1250, 1250, 1250, 1250}, pongWait + 492*time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := &deadlines{}
				l := liveness{conn: conn}
				for i, frames := range tt.sent {
					if i > 0 {
						time.Sleep(2 * time.Second)
					}
					l.took(message{of: &utterance{}, frames: frames}, time.Now())
				}
				l.pinging()
				if got := time.Until(conn.last); got != tt.want {
					t.Errorf("it is waited for %v, want %v", got, tt.want)
				}
			})
		})
	}
}
