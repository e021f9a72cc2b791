package client

import (
	"bytes"
	"encoding/json"
	"testing"
)

// events are seeds for the fuzzer: one of each type, and what a broken server may send.
var events = []string{
	`{"type":"start","request_id":"r","voice":"raj","format":"pcm16","chunks":2,"normalized":"n","seed":-9007199254740993,"queue_ms":0.5}`,
	`{"type":"chunk","request_id":"r","chunk":1,"text":"t","tokens":7,"audio_start_s":1.52,"char_start":3,"char_end":4}`,
	`{"type":"first_audio_ms","request_id":"r","chunk":0,"ms":31.4}`,
	`{"type":"chunk_end","request_id":"r","chunk":1,"frames":19,"audio_s":1e300,"prefill_ms":-2.5,"prefill_cached":true,"eos":true}`,
	`{"type":"end","request_id":"r","audio_s":1.52,"frames":19,"chunks":1,"ttfa_ms":31.4,"wall_ms":100,"rtf":0.066}`,
	`{"type":"cancelled","request_id":"r","frames":5,"audio_s":0.4,"chunk":0,"chars_spoken":12}`,
	`{"type":"error","request_id":"r","error":"busy","status":503,"code":"busy","retry_after":1}`,
	`{"type":"words","words":[{"word":"w","char_start":1,"char_end":2,"start_s":0.5,"end_s":1e300}]}`,
	`{"type":"audio","audio":"AAA="}`, `{"type":"visemes"}`, `{"type":3}`, `{"chunk":1.5}`, `[]`, `null`, `{`, ``, "\xff",
}

func FuzzParseEvent(f *testing.F) {
	for _, text := range events {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		e, err := parseEvent(text)
		if (e == nil) == (err == nil) {
			t.Fatalf("event %v and error %v", e, err)
		}
		if e == nil {
			return
		}
		if !json.Valid(text) || !bytes.Equal(e.About().JSON, before) {
			t.Errorf("%q became %q", before, e.About().JSON)
		}
	})
}

func TestSeedsAreThere(t *testing.T) {
	good := 0
	for _, text := range events {
		if _, err := parseEvent([]byte(text)); err == nil {
			good++
		}
	}
	if good < 8 || good == len(events) {
		t.Errorf("%d of %d seeds are events; want one of each type, and some that are none", good, len(events))
	}
}
