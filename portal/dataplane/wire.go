package dataplane

import (
	"fmt"
	"time"

	"github.com/swar-tts/swar/portal/dataplane/internal/wire"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/meter"
)

// What is said over gRPC, and what is meant by it.

func keyToWire(e access.Entry) *wire.Key {
	return &wire.Key{
		Hash: e.Hash[:], OrgId: e.OrgID, ProjectId: e.ProjectID, Prefix: e.KeyPrefix, Playground: e.Playground, Voices: e.Voices,
		Origin: e.Origin, ExpiresAt: micros(e.ExpiresAt), Revoked: e.Revoked,
	}
}

func keyFromWire(k *wire.Key) (access.Entry, error) {
	e := access.Entry{
		OrgID: k.OrgId, ProjectID: k.ProjectId, KeyPrefix: k.Prefix, Playground: k.Playground, Voices: k.Voices,
		Origin: k.Origin, ExpiresAt: timeOf(k.ExpiresAt), Revoked: k.Revoked,
	}
	if len(k.Hash) != len(e.Hash) {
		return e, fmt.Errorf("the portal sent a hash of %d bytes, want %d: the versions do not fit together", len(k.Hash), len(e.Hash))
	}
	copy(e.Hash[:], k.Hash)
	return e, nil
}

func batchToWire(b meter.Batch) *wire.UsageBatch {
	w := &wire.UsageBatch{Source: b.Source, Events: make([]*wire.UsageEvent, len(b.Events))}
	for i := range b.Events {
		e := &b.Events[i]
		w.Events[i] = &wire.UsageEvent{
			Id: e.ID, Seq: e.Seq, Final: e.Kind == meter.Final, Start: micros(e.Start), At: micros(e.At), Date: e.Date,
			OrgId: e.OrgID, ProjectId: e.ProjectID, KeyId: e.KeyID, KeyPrefix: e.KeyPrefix, Playground: e.Playground,
			RequestId: e.RequestID, Endpoint: e.Endpoint, Voice: e.Voice, Format: e.Format, Status: string(e.Status), Error: e.Error,
			Frames: e.Frames, Billed: e.Billed, Chars: int64(e.Chars), Chunks: int64(e.Chunks),
			TtfaUs: e.TTFAus, QueueUs: e.Queueus, WallUs: e.Wallus, SynthUs: e.Synthus, PrefillCached: e.PrefillCached, Seed: e.Seed,
		}
	}
	return w
}

func batchFromWire(w *wire.UsageBatch) meter.Batch {
	b := meter.Batch{Source: w.Source, Events: make([]meter.Event, len(w.Events))}
	for i, e := range w.Events {
		kind := meter.Progress
		if e.Final {
			kind = meter.Final
		}
		b.Events[i] = meter.Event{
			ID: e.Id, Seq: e.Seq, Kind: kind, Start: timeOf(e.Start), At: timeOf(e.At), Date: e.Date,
			OrgID: e.OrgId, ProjectID: e.ProjectId, KeyID: e.KeyId, KeyPrefix: e.KeyPrefix, Playground: e.Playground,
			RequestID: e.RequestId, Endpoint: e.Endpoint, Voice: e.Voice, Format: e.Format, Status: meter.Status(e.Status), Error: e.Error,
			Frames: e.Frames, Billed: e.Billed, Chars: int(e.Chars), Chunks: int(e.Chunks),
			TTFAus: e.TtfaUs, Queueus: e.QueueUs, Wallus: e.WallUs, Synthus: e.SynthUs, PrefillCached: e.PrefillCached, Seed: e.Seed,
		}
	}
	return b
}

// micros writes a time as microseconds since 1970, and the zero time as 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
