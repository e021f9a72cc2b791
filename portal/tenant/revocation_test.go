package tenant_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

// diskStore takes no changes while its disk is full, and counts the tries.
type diskStore struct {
	tenant.Store

	mu    sync.Mutex
	full  error // of a change
	asked int   // for a change
}

func (d *diskStore) set(full error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *diskStore) tries() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

func (d *diskStore) Update(ctx context.Context, change func(tenant.Tx) error) error {
	d.mu.Lock()
	d.asked++
	full := d.full
	d.mu.Unlock()
	if full == nil {
		return d.Store.Update(ctx, change)
	}
	// What the change says of what it reads comes before the failure to write it.
	if err := d.Store.View(ctx, func(r tenant.Reader) error { return change(readOnly{r}) }); err != nil {
		return err
	}
	return full
}

// readOnly forgets what is written.
type readOnly struct{ tenant.Reader }

func (readOnly) PutOrg(tenant.Org)                   {}
func (readOnly) PutProject(tenant.Project)           {}
func (readOnly) PutLexicon(tenant.Lexicon)           {}
func (readOnly) PutMember(tenant.Member)             {}
func (readOnly) DeleteMember(string, string)         {}
func (readOnly) PutKey(tenant.Key)                   {}
func (readOnly) PutVoiceRequest(tenant.VoiceRequest) {}
func (readOnly) AppendAudit(tenant.Audit)            {}
func (readOnly) PutAnswer(tenant.Answer)             {}

var errDiskFull = fmt.Errorf("the disk is full: %w", tenant.ErrUnavailable)

// full is a world on a disk that can be full, and what those who check keys were told to refuse.
type full struct {
	*world
	disk    *diskStore
	refused []string
	log     bytes.Buffer
	stop    func() // ends Run, which has returned then
}

func onFullDisk(t *testing.T, test func(t *testing.T, w *full)) {
	t.Helper()
	inWorld(t, tenant.Config{}, func(t *testing.T, inner *world) {
		w := &full{world: inner, disk: &diskStore{Store: inner.store}}
		w.Service = tenant.New(tenant.Config{
			Voices: func() []string { return []string{"anjura", "raj"} },
			Refuse: func(k tenant.Key) { w.refused = append(w.refused, k.ID) },
			Log:    slog.New(slog.NewTextHandler(&w.log, nil)),
		}, w.disk)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := w.Run(ctx); err != nil {
				t.Errorf("Run = %v", err)
			}
		})
		w.stop = sync.OnceFunc(func() { stop(); running.Wait() })
		defer w.stop()
		test(t, w)
	})
}

func TestARevocationOnAFullDisk(t *testing.T) {
	onFullDisk(t, func(t *testing.T, w *full) {
		k := w.liveKey(t)
		w.disk.set(errDiskFull)
		time.Sleep(time.Second)
		asked := time.Now()
		for range 2 { // repeating it changes nothing
			got, err := w.RevokeKey(t.Context(), member, k.ID)
			if !errors.Is(err, tenant.ErrNotStored) || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("RevokeKey = %v, want %v and why", err, tenant.ErrNotStored)
			}
			if got.ID != k.ID || !got.Revoked() {
				t.Errorf("the key is %+v, want it as it will be", got)
			}
		}
		if !slices.Equal(slices.Compact(w.refused), []string{k.ID}) {
			t.Errorf("refused are %v, want %s", w.refused, k.ID)
		}
		if stored := must(w.Keys(t.Context(), owner, w.org.ID, "", ""))(t); len(stored) != 1 || stored[0].Revoked() {
			t.Errorf("stored are %+v", stored)
		}
		time.Sleep(time.Hour)
		if tries := w.disk.tries(); tries > 3600/10+10 {
			t.Errorf("within an hour the store was asked %d times, want about every 10 s", tries)
		}
		w.disk.set(nil)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		stored := must(w.Keys(t.Context(), owner, w.org.ID, "", ""))(t)
		if len(stored) != 1 || !stored[0].RevokedAt.Equal(asked) {
			t.Errorf("stored are %+v, want it revoked at %v", stored, asked)
		}
		if org := must(w.Org(t.Context(), owner, w.org.ID))(t).Org; org.ActiveKeys != 0 {
			t.Errorf("the organisation counts %d keys, want none", org.ActiveKeys)
		}
		last := w.world.log(t)[0]
		if last.Action != tenant.KeyRevoked || last.Actor != member.Email || !last.At.Equal(asked) {
			t.Errorf("the audit log says %+v", last)
		}
		again := must(w.RevokeKey(t.Context(), member, k.ID))(t)
		if !again.RevokedAt.Equal(asked) {
			t.Errorf("then it is answered with %+v", again)
		}
		tries := w.disk.tries()
		time.Sleep(time.Hour)
		if more := w.disk.tries() - tries; more != 0 {
			t.Errorf("the store is asked again when nothing waits: %d times", more)
		}
	})
}

// The first retries come soon: a store that is busy for a moment shall not take long.
func TestARevocationIsRetriedSoon(t *testing.T) {
	onFullDisk(t, func(t *testing.T, w *full) {
		first, second := w.liveKey(t), w.liveKey(t)
		w.disk.set(errDiskFull)
		_, err := w.RevokeKey(t.Context(), member, first.ID)
		if !errors.Is(err, tenant.ErrNotStored) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		_, _ = w.RevokeKey(t.Context(), member, second.ID) // with a new one the waits are short again
		w.disk.set(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		for _, k := range must(w.Keys(t.Context(), owner, w.org.ID, "", ""))(t) {
			if !k.Revoked() {
				t.Errorf("key %s is not revoked after a second", k.ID)
			}
		}
	})
}

func TestWhoMayRevokeOnAFullDisk(t *testing.T) {
	for name, tt := range map[string]struct {
		by          tenant.User
		full, blind error
		want        error
		refused     bool
	}{
		"a member":                              {member, errDiskFull, nil, tenant.ErrNotStored, true},
		"the operator":                          {operator, errDiskFull, nil, tenant.ErrNotStored, true},
		"a viewer":                              {viewer, errDiskFull, nil, tenant.ErrViewer, false},
		"a stranger":                            {stranger, errDiskFull, nil, tenant.ErrNotFound, false},
		"somebody with the same address":        {impostor, errDiskFull, nil, tenant.ErrNotFound, false},
		"a store that is slow":                  {member, context.DeadlineExceeded, nil, tenant.ErrNotStored, true},
		"a store that is broken":                {member, errors.New("damaged"), nil, tenant.ErrNotStored, true},
		"a store that cannot even be read":      {member, errDiskFull, errDiskFull, errDiskFull, false},
		"a store that is closed":                {member, tenant.ErrClosed, nil, tenant.ErrClosed, false},
		"a client who has left in the meantime": {member, context.Canceled, nil, context.Canceled, false},
	} {
		t.Run(name, func(t *testing.T) {
			onFullDisk(t, func(t *testing.T, w *full) {
				k := w.liveKey(t)
				w.disk.set(tt.full)
				if tt.blind != nil {
					w.disk.Store = blindStore{w.disk.Store, tt.blind}
				}
				_, err := w.RevokeKey(t.Context(), tt.by, k.ID)
				if !errors.Is(err, tt.want) || !tt.refused && errors.Is(err, tenant.ErrNotStored) {
					t.Errorf("RevokeKey = %v, want %v", err, tt.want)
				}
				if refused := len(w.refused) > 0; refused != tt.refused {
					t.Errorf("refused are %v", w.refused)
				}
			})
		})
	}
}

// blindStore can be neither read nor written.
type blindStore struct {
	tenant.Store
	err error
}

func (b blindStore) View(context.Context, func(tenant.Reader) error) error { return b.err }

func TestAKeyThatThereIsNotIsNotRefused(t *testing.T) {
	onFullDisk(t, func(t *testing.T, w *full) {
		w.disk.set(errDiskFull)
		_, err := w.RevokeKey(t.Context(), operator, "key_nobody")
		want(t, "revoking what there is not", err, tenant.ErrNotFound)
		if len(w.refused) != 0 {
			t.Errorf("refused are %v", w.refused)
		}
	})
}

// What waits when the server stops is tried once more, and what is not stored then is said.
func TestRevocationsThatWaitAtTheEnd(t *testing.T) {
	for name, stays := range map[string]bool{"the disk has room again": false, "it is still full": true} {
		t.Run(name, func(t *testing.T) {
			onFullDisk(t, func(t *testing.T, w *full) {
				k := w.liveKey(t)
				w.disk.set(errDiskFull)
				_, _ = w.RevokeKey(t.Context(), member, k.ID)
				if !stays {
					w.disk.set(nil)
				}
				w.stop()
				w.disk.set(nil)
				if stored := must(w.Keys(t.Context(), owner, w.org.ID, "", ""))(t); stored[0].Revoked() == stays {
					t.Errorf("stored is %+v", stored[0])
				}
				log := w.log.String()
				isSaid := strings.Contains(log, "valid again after the next start") &&
					strings.Contains(log, "keys=["+k.ID+"]")
				if isSaid != stays {
					t.Errorf("the log says\n%s", log)
				}
			})
		})
	}
}

// Without anybody to tell, a revocation that is not stored is none.
func TestARevocationThatNobodyCanRefuse(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		k := w.liveKey(t)
		rules := tenant.New(tenant.Config{}, &diskStore{Store: w.store, full: errDiskFull})
		_, err := rules.RevokeKey(t.Context(), member, k.ID)
		if !errors.Is(err, errDiskFull) || errors.Is(err, tenant.ErrNotStored) {
			t.Errorf("RevokeKey = %v, want %v", err, errDiskFull)
		}
	})
}
