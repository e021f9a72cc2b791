//go:build chaos

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// deepgram is the endpoint of the rows of its sockets, whose turns have identifiers that no client sees.
const deepgram = "deepgram"

// killByTurns kills a worker, a router and the portal, one after the other.
func killByTurns(f *fleet, times int) (l loss) {
	for i := range times {
		f.moment()
		w, r := f.workers[i%len(f.workers)], f.routers[i%len(f.routers)]
		w.kill()
		w.restart(f.t)
		f.waitAll()
		f.moment()
		l.killed(f.t, r, true)
		f.waitFreed(r)
		r.restart(f.t)
		f.waitAll()
		f.moment()
		f.portal.kill()
		f.portal.restart(f.t)
	}
	return l
}

// speakByDialects speaks by the API of OpenAI and by Deepgram's socket, in turns.
func (f *fleet) speakByDialects(ctx context.Context, r *rand.Rand) {
	client := f.restClient()
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		if all := texts(); r.IntN(2) == 0 {
			f.ledger.add(f.postOpenAI(context.WithoutCancel(ctx), client, all[r.IntN(len(all))], manners(r)))
		} else {
			f.turnsOfDeepgram(ctx, r, 1+r.IntN(3))
		}
		pause(ctx, r)
	}
}

// postOpenAI speaks by POST /v1/audio/speech.
func (f *fleet) postOpenAI(ctx context.Context, client *http.Client, text string, m manner) outcome {
	o := outcome{id: f.ledger.id(), text: text, billed: -1}
	body, err := json.Marshal(map[string]string{"model": "tts-1", "voice": "alloy", "input": text,
		"response_format": "pcm"})
	if err != nil {
		panic(err)
	}
	return f.stream(ctx, client, m, o, call{
		path: "/v1/audio/speech", body: body,
		header: http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + f.key},
			"X-Request-Id": {o.id}},
		refused: refused,
		ended: func(o outcome, _ http.Header, heard []byte) outcome {
			if o.end == complete {
				return whole(o, len(heard), len(f.audio[text]))
			}
			return o
		},
	})
}

// refused is what a refusal before any audio means in the words of a dialect.
func refused(status int, text string) end {
	switch {
	case status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests:
		return failed
	case strings.Contains(text, "warming up"), strings.Contains(text, "portal unavailable"):
		return unready
	case strings.Contains(text, "busy"):
		return busy
	}
	return failed
}

// whole checks that all of a text was heard. A dialect chooses the seed itself, so that the length is what can be
// compared; where text is fed, its sentences are spoken one by one, and the first turn that was complete says how long
// that is.
func whole(o outcome, heard, want int) outcome {
	if heard != want {
		o.end, o.detail = wrong, fmt.Sprintf("complete with %d bytes, not %d", heard, want)
	}
	return o
}

// fed is how many bytes a text has whose sentences are spoken one by one.
func (l *ledger) fed(text string, heard int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lengths == nil {
		l.lengths = make(map[string]int)
	}
	if l.lengths[text] == 0 {
		l.lengths[text] = heard
	}
	return l.lengths[text]
}

// turnsOfDeepgram speaks n turns on one socket, one after the other.
func (f *fleet) turnsOfDeepgram(ctx context.Context, r *rand.Rand, n int) {
	dialer := websocket.Dialer{NetDialContext: f.dial, HandshakeTimeout: 10 * time.Second}
	conn, _, err := dialer.DialContext(ctx, "ws://fleet/v1/speak?encoding=linear16&sample_rate=24000",
		http.Header{"Authorization": {"Token " + f.key}})
	if err != nil {
		return // no turn has begun
	}
	defer conn.Close()
	all := texts()
	for open := true; open && n > 0 && ctx.Err() == nil; n-- {
		var o outcome
		o, open = f.turnOfDeepgram(context.WithoutCancel(ctx), conn, all[r.IntN(len(all))], manners(r))
		f.ledger.addTurn(o)
	}
}

// turnOfDeepgram speaks one. It reports whether the socket can be used further.
func (f *fleet) turnOfDeepgram(
	ctx context.Context, conn *websocket.Conn, text string, m manner,
) (o outcome, open bool) {
	o = outcome{text: text, billed: -1}
	_ = conn.WriteJSON(map[string]string{"type": "Speak", "text": text}) // what came of it is read
	_ = conn.WriteJSON(map[string]string{"type": "Flush"})
	heard, cleared := 0, false
	for {
		_ = conn.SetReadDeadline(time.Now().Add(150 * time.Second))
		kind, data, err := conn.ReadMessage()
		o.frames = heard / frameBytes
		switch {
		case err != nil:
			if o.end, o.detail = gone, err.Error(); heard > 0 {
				o.end = cut
			}
			return o, false
		case kind == websocket.BinaryMessage:
			heard += len(data)
			o.frames = heard / frameBytes
			m.wait(ctx, len(data))
			switch {
			case m.leaveAt == 0 || heard < m.leaveAt || cleared:
			case m.cancel:
				cleared = true
				_ = conn.WriteJSON(map[string]string{"type": "Clear"})
			default:
				o.end = left
				return o, false
			}
		default:
			var e struct{ Type, Description string }
			_ = json.Unmarshal(data, &e) // any other message is passed over
			switch e.Type {
			case "Flushed":
				if cleared { // the end crossed with Clear, whose answer is still to come
					continue
				}
				o.end = complete
				return whole(o, heard, f.ledger.fed(text, heard)), true
			case "Cleared":
				o.end = cancelled
				return o, true
			case "Error":
				if o.end, o.detail = refused(http.StatusServiceUnavailable, string(data)), string(data); heard > 0 {
					o.end = cut
				}
				return o, false
			}
		}
	}
}

// addTurn adds an utterance whose identifier the client was not told.
func (l *ledger) addTurn(o outcome) {
	o.at = time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turns = append(l.turns, o)
}

// compareTurns checks the rows of Deepgram's sockets, which it removes, against the turns that clients saw: each that
// was complete has one row of its length, and there are no more rows than turns that had begun.
func (f *fleet) compareTurns(l *loss, rows map[string][]row) (billed int, wrongs []string) {
	var of []row
	for id, all := range rows {
		if all[0].Endpoint == deepgram {
			of = append(of, all...)
			delete(rows, id)
		}
	}
	for _, r := range of {
		billed += r.BilledFrames
	}
	may := 0 // turns that may have a row
	f.ledger.mu.Lock()
	turns := slices.Clone(f.ledger.turns)
	f.ledger.mu.Unlock()
	for _, o := range turns {
		switch o.end {
		case complete:
			i := slices.IndexFunc(of, func(r row) bool {
				return r.Status == "ok" && r.Frames == o.frames &&
					r.BilledFrames == o.frames
			})
			switch {
			case i >= 0:
				of = slices.Delete(of, i, i+1)
			case l.mayLack(o):
				l.frames += o.frames
			default:
				wrongs = append(wrongs, fmt.Sprintf("a turn of %d frames at %s has no row", o.frames,
					o.at.Format("15:04:05.000")))
			}
		case busy, unready:
		default:
			may++
		}
	}
	if len(of) > may {
		wrongs = append(wrongs, fmt.Sprintf("%d rows are left for %d turns that were not complete: %+v", len(of),
			may, of))
	}
	for _, r := range of {
		if r.BilledFrames > r.Frames || r.Status == "error" && r.BilledFrames > progressFrames*8 {
			wrongs = append(wrongs, fmt.Sprintf("more than was decoded is billed: %+v", r))
		}
	}
	return billed, wrongs
}
