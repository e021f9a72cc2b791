package wire

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
)

// fill sets every field that v has to something that it is not by itself, so that one that does not travel is found.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{1, 2, 3})
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.String:
		v.SetString("wörd " + string(rune('a'+rand.IntN(26))))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		// What is shared travels in part; see TestOfALexiconTheWordsOfTheTextTravel.
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + rand.Int64N(1<<40))
	case reflect.Uint64:
		v.SetUint(1 + rand.Uint64N(1<<63))
	case reflect.Float64:
		v.SetFloat(rand.Float64() + .1)
	default:
		t.Fatalf("a field of kind %v: teach this test to fill it, and the protocol to carry it", v.Kind())
	}
}

// travel sends a message through its bytes.
func travel[M proto.Message](t *testing.T, m M) M {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	got := m.ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(raw, got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestEveryFieldTravels fails for a field that is added to the vocabulary and not to the protocol.
func TestEveryFieldTravels(t *testing.T) {
	check(t, func(v speech.Utterance) speech.Utterance { return travel(t, NewUtterance(v)).Value() })
	check(t, func(v speech.Start) speech.Start { return travel(t, NewStart(v)).Value() })
	check(t, func(v speech.Chunk) speech.Chunk { return travel(t, NewChunk(v)).Value() })
	check(t, func(v speech.Audio) speech.Audio { return travel(t, NewAudio(v)).Value() })
	check(t, func(v speech.ChunkEnd) speech.ChunkEnd { return travel(t, NewChunkEnd(v)).Value() })
	check(t, func(v speech.Stats) speech.Stats { return travel(t, NewStats(v)).Value() })
	check(t, func(v speech.Normalized) speech.Normalized { return travel(t, NewNormalized(v)).Value() })
	check(t, func(v speech.Model) speech.Model { return travel(t, NewDescription(v, 3, "v1")).Value() })
	check(t, func(v route.State) route.State { return travel(t, NewState(v)).Value() })
}

func check[V any](t *testing.T, there func(V) V) {
	t.Helper()
	var v V
	fill(t, reflect.ValueOf(&v).Elem())
	if got := there(v); !reflect.DeepEqual(got, v) {
		t.Errorf("%T arrived as\n%+v, want\n%+v", v, got, v)
	}
	var zero V
	if got := there(zero); !reflect.DeepEqual(got, zero) {
		t.Errorf("the zero %T arrived as %+v", v, got)
	}
}

// TestEveryEventHasAMessage fails when speech.Sink gets an event that Speak cannot carry.
func TestEveryEventHasAMessage(t *testing.T) {
	events := map[string]any{
		"Start": &SpeakReply_Start{}, "ChunkStart": &SpeakReply_Chunk{}, "Audio": &SpeakReply_Audio{}, "ChunkEnd": &SpeakReply_ChunkEnd{},
	}
	sink := reflect.TypeFor[speech.Sink]()
	for i := range sink.NumMethod() {
		if name := sink.Method(i).Name; events[name] == nil {
			t.Errorf("no message carries the event %s", name)
		}
	}
	if sink.NumMethod() != len(events) {
		t.Errorf("a sink has %d events, the protocol %d", sink.NumMethod(), len(events))
	}
}

func TestStatsOfNobody(t *testing.T) {
	if got := (*Stats)(nil).Value(); got != (speech.Stats{}) {
		t.Errorf("stats that did not come are %+v", got)
	}
}
