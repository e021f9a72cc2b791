package access

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

const copyGrace = 15 * time.Minute

// kept is a process with a cache and its copy.
type kept struct {
	*KeyCache
	log  *bytes.Buffer
	stop func()
}

// begin starts a process on file.
func begin(t *testing.T, file string) kept {
	t.Helper()
	k := kept{KeyCache: NewKeyCache(KeyCacheConfig{Grace: copyGrace}), log: new(bytes.Buffer)}
	c := NewKeySnapshot(k.KeyCache, file, slog.New(slog.NewTextHandler(k.log, nil)))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
	k.stop = sync.OnceFunc(func() {
		stop()
		running.Wait()
	})
	t.Cleanup(k.stop)
	return k
}

func (k kept) isReady() bool {
	select {
	case <-k.Ready():
		return true
	default:
		return false
	}
}

func TestKeysAreKnownAfterARestart(t *testing.T) {
	for name, tt := range map[string]struct {
		before, between time.Duration // with the portal away, before and after the end of the first process
		ready           bool
	}{
		"at once":                                           {0, 0, true},
		"the portal is away for long":                       {10 * time.Minute, 0, true},
		"a moment before the grace is over":                 {0, copyGrace - time.Millisecond, true},
		"the grace is over":                                 {0, copyGrace, false},
		"the grace is over, for both together, in a moment": {10 * time.Minute, 5*time.Minute - time.Millisecond, true},
		"the grace is over, for both together":              {10 * time.Minute, 5 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "keys")
				key, e := entry()
				first := begin(t, file)
				first.Replace([]Entry{e})
				first.PortalBack()
				time.Sleep(time.Hour)
				first.PortalLost()
				heard := time.Now()
				time.Sleep(tt.before)
				first.stop()
				time.Sleep(tt.between)

				second := begin(t, file)
				if got := second.isReady(); got != tt.ready {
					t.Fatalf("ready: %v, want %v: %s", got, tt.ready, second.log)
				}
				if !tt.ready {
					wantGrant(t, second, key, ErrUnavailable)
					if _, err := os.Stat(file); err == nil ||
						!strings.Contains(second.log.String(), "the key snapshot is unusable") {
						t.Errorf("a copy that is too old is still there, or nobody is told: %s", second.log)
					}
					return
				}
				wantGrant(t, second, key, nil)
				other, _ := entry()
				wantGrant(t, second, other, ErrUnavailable) // it may be new
				time.Sleep(time.Until(heard.Add(copyGrace)) - time.Nanosecond)
				wantGrant(t, second, key, nil)
				time.Sleep(time.Nanosecond)
				wantGrant(t, second, key, ErrUnavailable)
				second.Replace([]Entry{e})
				second.PortalBack()
				wantGrant(t, second, key, nil)
				wantGrant(t, second, other, ErrInvalidKey)
			})
		})
	}
}

// TestAKilledProcessLosesATenthOfTheGrace at most: nothing is written at its end.
func TestAKilledProcessLosesATenthOfTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		file := filepath.Join(folder, "keys")
		key, e := entry()
		first := begin(t, file)
		first.PortalBack()
		first.Apply([]Entry{e})
		time.Sleep(time.Second + time.Millisecond)
		wantGrant(t, begin(t, duplicate(t, file)), key, nil)

		time.Sleep(3 * time.Hour)
		file = duplicate(t, file)
		time.Sleep(copyGrace - copyGrace/10 - time.Second)
		wantGrant(t, begin(t, file), key, nil)
	})
}

// duplicate is what another process would find after this one was killed.
func duplicate(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestWhatIsNotAllowedAnyMoreDoesNotComeBack: it is gone from the disk before anybody is told that it is.
func TestWhatIsNotAllowedAnyMoreDoesNotComeBack(t *testing.T) {
	for name, change := range map[string]func(k kept, e, other Entry){
		"revoked":               func(k kept, e, _ Entry) { k.Apply([]Entry{{Hash: e.Hash, Revoked: true}}) },
		"not among all":         func(k kept, _, other Entry) { k.Replace([]Entry{other}) },
		"told of as expired":    func(k kept, e, _ Entry) { e.ExpiresAt = time.Now(); k.Apply([]Entry{e}) },
		"restricted to a voice": func(k kept, e, _ Entry) { e.Voices = []string{"raj"}; k.Apply([]Entry{e}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "keys")
				key, e := entry()
				otherKey, other := entry()
				first := begin(t, file)
				first.Replace([]Entry{e, other})
				first.PortalBack()
				time.Sleep(time.Minute)
				wantGrant(t, begin(t, duplicate(t, file)), key, nil)
				change(first, e, other)
				if _, err := os.Stat(file); err == nil {
					t.Fatal("the copy is still there")
				}
				time.Sleep(time.Second)
				synctest.Wait()
				second := begin(t, duplicate(t, file))
				wantGrant(t, second, otherKey, nil)
				if g, err := second.Grant(t.Context(), Credentials{Key: key}); err == nil && g.Allows("anjura") {
					t.Errorf("the key allows %+v after a restart", g)
				}
			})
		})
	}
}

func TestExpiredKeysDoNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "keys")
		key, e := playground(10 * time.Minute)
		first := begin(t, file)
		first.Replace([]Entry{e})
		first.PortalBack()
		first.PortalLost()
		first.stop()
		time.Sleep(10*time.Minute - time.Millisecond)
		second := begin(t, file)
		g := wantGrant(t, second, key, nil)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if !ended(g) {
			t.Error("what runs on the key goes on")
		}
		second.stop()
		third := begin(t, file)
		wantGrant(t, third, key, ErrUnavailable)
	})
}

// TestWhatWouldChangeNothingIsNotWritten: the same keys once more leave the file as it is, and so does every heartbeat.
func TestWhatWouldChangeNothingIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "keys")
		_, e := entry()
		_, p := playground(time.Hour)
		e.Voices = []string{"raj"}
		k := begin(t, file)
		k.Replace([]Entry{e, p})
		k.PortalBack()
		time.Sleep(2 * time.Second)
		before, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := before.Mode().Perm(); got != 0o600 {
			t.Errorf("the mode of the file is %o, want 600", got)
		}
		for range 60 {
			k.Replace([]Entry{e, p})
			k.Apply([]Entry{e})
			k.PortalBack()
			time.Sleep(time.Second)
		}
		after, err := os.Stat(file)
		if err != nil || !os.SameFile(before, after) {
			t.Errorf("it was written again (%v)", err)
		}
	})
}

func TestACopyThatCannotBeUsed(t *testing.T) {
	for name, change := range map[string]func(whole []byte) []byte{
		"empty":              func([]byte) []byte { return nil },
		"half":               func(b []byte) []byte { return b[:len(b)/2] },
		"one bit is another": func(b []byte) []byte { b[len(b)-3] ^= 1; return b },
		"of another version": func(b []byte) []byte { return bytes.Replace(b, []byte("swar-keys 1"), []byte("swar-keys 2"), 1) },
		"garbage":            func([]byte) []byte { return bytes.Repeat([]byte{0xff, '\n'}, 1000) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "keys")
				key, e := entry()
				first := begin(t, file)
				first.Replace([]Entry{e})
				first.PortalBack()
				first.stop()
				whole, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(whole), key) {
					t.Error("the copy holds a key")
				}
				if err := os.WriteFile(file, change(whole), 0o600); err != nil {
					t.Fatal(err)
				}
				second := begin(t, file)
				if second.isReady() || strings.Count(second.log.String(), "level=WARN") != 1 {
					t.Errorf("it is used, or there is not one warning: %s", second.log)
				}
				wantGrant(t, second, key, ErrUnavailable)
				if _, err := os.Stat(file); err == nil {
					t.Error("it is still there")
				}
			})
		})
	}
}

// TestTheClockIsPutBack: a copy from the future is as old as anything.
func TestTheClockIsPutBack(t *testing.T) {
	for ahead, want := range map[time.Duration]bool{
		clockLeeway: true, clockLeeway + time.Millisecond: false, time.Hour: false, -time.Minute: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "keys")
			key, e := entry()
			c := savedKeys{LastContact: time.Now().Add(ahead).UnixMicro(), Keys: []savedKey{newSavedKey(e)}}
			if err := writeCopy(file, c); err != nil {
				t.Fatal(err)
			}
			k := begin(t, file)
			if got := k.isReady(); got != want {
				t.Errorf("%v ahead: ready: %v, want %v", ahead, got, want)
			}
			time.Sleep(copyGrace)
			wantGrant(t, k, key, ErrUnavailable)
		})
	}
}

// TestACopyThatCannotBeWritten is told of once, and written when it can be.
func TestACopyThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "later")
		file := filepath.Join(folder, "keys")
		key, e := entry()
		k := begin(t, file)
		k.Replace([]Entry{e})
		k.PortalBack()
		time.Sleep(time.Minute)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		k.stop()
		if n := strings.Count(k.log.String(), "level=ERROR"); n != 1 {
			t.Errorf("it is told %d times, want once: %s", n, k.log)
		}
		wantGrant(t, begin(t, file), key, nil)
	})
}

// TestEveryFieldIsKept: each one comes back from a copy, and a change of it is noticed.
func TestEveryFieldIsKept(t *testing.T) {
	var full Entry
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case Hash:
			f.Set(reflect.ValueOf(HashOf("key")))
		case string:
			f.SetString(fmt.Sprint("text ", i))
		case []string:
			f.Set(reflect.ValueOf([]string{"raj", "anjura"}))
		case bool:
			f.SetBool(v.Type().Field(i).Name != "Revoked") // those are not held
		case time.Time:
			f.Set(reflect.ValueOf(time.UnixMicro(1_900_000_000_000_001).UTC()))
		case speech.Disclosure:
			f.Set(reflect.ValueOf(speech.Disclosure{Set: true, Text: "disclosure"}))
		default:
			t.Fatalf("%s has a type that this test does not know", v.Type().Field(i).Name)
		}
	}
	k := newSavedKey(full)
	if got := k.entry(); !reflect.DeepEqual(got, full) {
		t.Errorf("got %+v\nwant %+v", got, full)
	}
	if !full.equal(&full) {
		t.Error("an entry is not equal to itself")
	}
	for i := range v.NumField() {
		other := full
		field := reflect.ValueOf(&other).Elem().Field(i)
		field.SetZero()
		if v.Type().Field(i).Name == "Revoked" {
			field.SetBool(true)
		}
		if full.equal(&other) {
			t.Errorf("another %s is not noticed", v.Type().Field(i).Name)
		}
	}
}
