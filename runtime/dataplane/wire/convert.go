package wire

import (
	"fmt"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/meter"
)

// NewKey is the message for e.
func NewKey(e access.Entry) *Key {
	k := &Key{
		Hash: e.Hash[:], OrgId: e.OrgID, ProjectId: e.ProjectID, Prefix: e.KeyPrefix, Playground: e.Playground,
		Voices: e.Voices, Origin: e.Origin, ExpiresAt: Micros(e.ExpiresAt), Revoked: e.Revoked,
	}
	if e.Disclosure.Set {
		k.Disclosure = &e.Disclosure.Text
	}
	return k
}

// Entry is the argument of NewKey. It fails for an invalid hash.
func (k *Key) Entry() (access.Entry, error) {
	e := access.Entry{
		OrgID: k.OrgId, ProjectID: k.ProjectId, KeyPrefix: k.Prefix, Playground: k.Playground, Voices: k.Voices,
		Origin: k.Origin, ExpiresAt: TimeOf(k.ExpiresAt), Revoked: k.Revoked,
	}
	if len(k.Hash) != len(e.Hash) {
		return e, fmt.Errorf("the portal sent a hash of %d bytes, want %d: the versions are incompatible",
			len(k.Hash), len(e.Hash))
	}
	e.Disclosure.Set, e.Disclosure.Text = k.Disclosure != nil, k.GetDisclosure()
	copy(e.Hash[:], k.Hash)
	return e, nil
}

// NewLexicon is the message for l.
func NewLexicon(l access.ProjectLexicon) *Lexicon {
	m := &Lexicon{ProjectId: l.ProjectID, Version: l.Version, Entries: make([]*LexiconEntry, len(l.Entries))}
	for i, e := range l.Entries {
		m.Entries[i] = &LexiconEntry{Word: e.Word, Spoken: e.Spoken, Lang: e.Lang}
	}
	return m
}

// Value is what NewLexicon was given.
func (m *Lexicon) Value() access.ProjectLexicon {
	l := access.ProjectLexicon{ProjectID: m.ProjectId, Version: m.Version,
		Entries: make([]lexicon.Entry, len(m.Entries))}
	for i, e := range m.Entries {
		l.Entries[i] = lexicon.Entry{Word: e.Word, Spoken: e.Spoken, Lang: e.Lang}
	}
	return l
}

// NewBatch is the message for b.
func NewBatch(b meter.Batch) *UsageBatch {
	w := &UsageBatch{Source: b.Source, Copied: b.Copied, Events: make([]*UsageEvent, len(b.Events))}
	for i := range b.Events {
		e := &b.Events[i]
		w.Events[i] = &UsageEvent{
			Id: e.ID, Seq: e.Seq, Final: e.Kind == meter.Final, Start: Micros(e.Start), At: Micros(e.At), Date: e.Date,
			OrgId: e.OrgID, ProjectId: e.ProjectID, KeyId: e.KeyID, KeyPrefix: e.KeyPrefix, Playground: e.Playground,
			RequestId: e.RequestID, Endpoint: e.Endpoint, Voice: e.Voice, Format: e.Format, Status: string(e.Status),
			Error:  e.Error,
			Frames: e.Frames, Billed: e.Billed, Chars: int64(e.Chars), Chunks: int64(e.Chunks),
			TtfaUs: e.TTFAus, QueueUs: e.Queueus, WallUs: e.Wallus, SynthUs: e.Synthus,
			PrefillCached: e.PrefillCached, Seed: e.Seed,
		}
	}
	return w
}

// Batch is what NewBatch was given.
func (w *UsageBatch) Batch() meter.Batch {
	b := meter.Batch{Source: w.Source, Copied: w.Copied, Events: make([]meter.Event, len(w.Events))}
	for i, e := range w.Events {
		kind := meter.Progress
		if e.Final {
			kind = meter.Final
		}
		b.Events[i] = meter.Event{
			ID: e.Id, Seq: e.Seq, Kind: kind, Start: TimeOf(e.Start), At: TimeOf(e.At), Date: e.Date,
			OrgID: e.OrgId, ProjectID: e.ProjectId, KeyID: e.KeyId, KeyPrefix: e.KeyPrefix, Playground: e.Playground,
			RequestID: e.RequestId, Endpoint: e.Endpoint, Voice: e.Voice, Format: e.Format,
			Status: meter.Status(e.Status), Error: e.Error,
			Frames: e.Frames, Billed: e.Billed, Chars: int(e.Chars), Chunks: int(e.Chunks),
			TTFAus: e.TtfaUs, Queueus: e.QueueUs, Wallus: e.WallUs, Synthus: e.SynthUs,
			PrefillCached: e.PrefillCached, Seed: e.Seed,
		}
	}
	return b
}

// Micros writes a time as microseconds since 1970, and the zero time as 0.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// TimeOf reads what Micros writes.
func TimeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
