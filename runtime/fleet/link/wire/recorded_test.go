package wire

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
)

var update = flag.Bool("update", false, "record messages that have no file yet")

// recorded are messages as version 1 of the protocol writes them. A file is never written again: what it holds must
// keep its meaning for ever.
var recorded = map[string]proto.Message{
	"utterance": &SpeakRequest{Message: &SpeakRequest_Utterance{Utterance: &Utterance{
		RequestId: "req_1", Text: "Namaste!", Voice: "anjura", Format: "pcm16", Raw: true, EnDigits: true,
		Temperature: 0.3, Seed: 42,
		Router: 7, Number: 8, Grant: 9, Session: "s", Deadline: 120_000_000_000, Protocol: 1,
	}}},
	"utterance-disclosed": &SpeakRequest{Message: &SpeakRequest_Utterance{Utterance: &Utterance{Text: "t", Disclosure: "d"}}},
	"start-disclosed":     &SpeakReply{Message: &SpeakReply_Start{Start: &Start{Normalized: "d t", Disclosure: "d"}}},
	"normalize-disclosed": &NormalizeRequest{Text: "t", Disclosure: "d"},
	"normalized-disclosed": &NormalizeReply{
		Text: "d t", Disclosure: "d", Chunks: []*Chunk{{Text: "d"}, {Index: 1, Text: "t", CharStart: 2, CharEnd: 3}},
	},
	"utterance-words": &SpeakRequest{Message: &SpeakRequest_Utterance{Utterance: &Utterance{Text: "t", WordTimes: true}}},
	"start-words":     &SpeakReply{Message: &SpeakReply_Start{Start: &Start{Normalized: "t", WordTimes: true}}},
	"chunk-end-words": &SpeakReply{Message: &SpeakReply_ChunkEnd{ChunkEnd: &ChunkEnd{
		Frames: 2, Eos: true, Words: []*Word{{Text: "t", CharStart: 1, CharEnd: 2, Start: 3, End: 4}},
	}}},
	"chunk-end-exact": &SpeakReply{Message: &SpeakReply_ChunkEnd{ChunkEnd: &ChunkEnd{
		Frames: 2, Eos: true, Words: []*Word{{Text: "t", CharEnd: 1, End: 4}}, ExactWords: true,
	}}},
	"utterance-speed":    &SpeakRequest{Message: &SpeakRequest_Utterance{Utterance: &Utterance{Text: "t", Speed: 0.75}}},
	"description-speeds": &Description{Protocol: 1, Model: "m", MinSpeed: 0.5, MaxSpeed: 1.5},
	"utterance-service":  &SpeakRequest{Message: &SpeakRequest_Utterance{Utterance: &Utterance{Text: "t", Service: "s"}}},
	"taken":              &SpeakRequest{Message: &SpeakRequest_Taken{Taken: &Taken{More: true}}},
	"cancel":             &SpeakRequest{Message: &SpeakRequest_Cancel{Cancel: &Cancel{}}},
	"start": &SpeakReply{Message: &SpeakReply_Start{Start: &Start{
		Model: "m", Voice: "v", Format: "wav", Seed: 1, Chunks: 2, Normalized: "n", Unspoken: "u",
		Normalize: 3, Queue: 4,
	}}},
	"chunk": &SpeakReply{Message: &SpeakReply_Chunk{Chunk: &Chunk{Index: 1, Text: "t", Tokens: 2, CharStart: 3, CharEnd: 4}}},
	"audio": &SpeakReply{Message: &SpeakReply_Audio{Audio: &Audio{
		Chunk: 1, Frames: 4, Data: []byte{1, 2}, Prefill: 3, FirstFrame: 4,
	}}},
	"chunk-end": &SpeakReply{Message: &SpeakReply_ChunkEnd{ChunkEnd: &ChunkEnd{
		Chunk: 1, Frames: 2, Prefill: 3, PrefillCached: true, Eos: true,
	}}},
	"end": &SpeakReply{Message: &SpeakReply_End{End: &End{
		Stats: &Stats{
			Started: true, Chars: 1, Chunks: 2, Frames: 3, Normalize: 4, Queue: 5, Ttfa: 6, Synth: 7, Wall: 8,
			LeadingSilence: 9,
			PrefillCached:  true,
		},
		Failure: &Failure{Code: Failure_REFUSAL, RefusalCode: "bad_text", Text: "text"},
		State: &State{
			Epoch: 1, Sequence: 2, Workers: 3, Ready: 4, Busy: 5, Reserved: 6, Warm: true, Draining: true,
			Cordoned: true, Seen: 7,
			FirstFrame: 8,
		},
		Grant: &Grant{Number: 1, Session: "s"},
	}}},
	"description": &Description{Protocol: 1, Version: "v1", Model: "m", Workers: 2, Voices: []*Voice{
		{Name: "anjura", Language: "hi", SampleRate: 24000, PromptFrames: 102},
	}},
	"normalize": &NormalizeRequest{Text: "t", EnDigits: true, Utterance: &Utterance{Text: "t"}},
	"normalized": &NormalizeReply{
		Text: "t", Unspoken: "u", InputChars: 1, Chunks: []*Chunk{{Text: "t"}},
		Spans: []*Span{{Start: 1, End: 2, Kind: "date", Spoken: "s"}}, Failure: &Failure{Code: Failure_SLOT},
	},
	"hello":   &RouterMessage{Message: &RouterMessage_Hello{Hello: &Hello{Protocol: 1, Router: 2}}},
	"waiting": &RouterMessage{Message: &RouterMessage_Waiting{Waiting: &Waiting{Ages: []int64{3, 2, 1}, Granted: 4}}},
	"decline": &RouterMessage{Message: &RouterMessage_Decline{Decline: &Decline{Grant: 1}}},
	"cordon":  &RouterMessage{Message: &RouterMessage_Cordon{Cordon: &Cordon{Lease: 30_000_000_000}}},
	"state":   &PodMessage{Message: &PodMessage_State{State: &State{Epoch: 1, Sequence: 2}}},
	"grant":   &PodMessage{Message: &PodMessage_Grant{Grant: &Grant{Number: 3}}},
	"watch":   &WatchRequest{Cordons: []*PodCordon{{Address: "a:1", Lease: 2}}},
	"fleet": &FleetState{
		Epoch: 1, Busy: 2, Queued: 3, Arrived: 4, Served: 5, Refused: 6, Warming: 7, Failed: 8, Cut: 9, Attempts: 10,
		StreamTime: 11,
		Version:    "v1",
		Pods: []*PodState{{
			Address: "a:1", Zone: "z", Connected: true, InUse: true, Ejected: true, Suspect: true, Terminating: true,
			State: &State{Workers: 1},
		}},
	},
}

func TestRecordedMessagesAreReadAsTheyWere(t *testing.T) {
	for name, want := range recorded {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "v1", name+".binpb")
			raw, err := os.ReadFile(file)
			if os.IsNotExist(err) && *update {
				if raw, err = proto.Marshal(want); err == nil {
					err = os.WriteFile(file, raw, 0o644)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			got := want.ProtoReflect().New().Interface()
			if err := proto.Unmarshal(raw, got); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(got, want) {
				t.Errorf("%s was read as %v, want %v", file, got, want)
			}
		})
	}
}

// FuzzMessages reads whatever comes as every message, and makes of it what the vocabulary has.
func FuzzMessages(f *testing.F) {
	seeds, err := filepath.Glob("testdata/v1/*.binpb")
	if err != nil || len(seeds) < len(recorded) {
		f.Fatalf("%d recorded messages, want %d (%v)", len(seeds), len(recorded), err)
	}
	for _, seed := range seeds {
		raw, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var request SpeakRequest
		if proto.Unmarshal(raw, &request) == nil {
			if u := request.GetUtterance(); u != nil {
				u.Value()
			}
		}
		var reply SpeakReply
		if proto.Unmarshal(raw, &reply) == nil {
			readReply(&reply)
		}
		var normalized NormalizeReply
		if proto.Unmarshal(raw, &normalized) == nil {
			normalized.Value()
			_ = normalized.Failure.Err()
		}
		var d Description
		if proto.Unmarshal(raw, &d) == nil {
			d.Value()
		}
		var m PodMessage
		if proto.Unmarshal(raw, &m) == nil && m.GetState() != nil {
			if s := m.GetState().Value(); s.Free() < 0 {
				t.Errorf("%+v has %d free slots", s, s.Free())
			}
		}
	})
}

func readReply(r *SpeakReply) {
	switch m := r.Message.(type) {
	case *SpeakReply_Start:
		m.Start.Value()
	case *SpeakReply_Chunk:
		m.Chunk.Value()
	case *SpeakReply_Audio:
		m.Audio.Value()
	case *SpeakReply_ChunkEnd:
		m.ChunkEnd.Value()
	case *SpeakReply_End:
		m.End.Stats.Value()
		_ = m.End.Failure.Err()
	}
}
