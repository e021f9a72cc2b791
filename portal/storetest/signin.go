package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/signin"
)

// Signin tests a store of sign-in. open returns an empty store for each test and closes it when the test ends.
func Signin(t *testing.T, open func(t *testing.T) signin.Store) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, s signin.Store)
	}{
		{"a record comes back as it was put, whatever its bytes", testRecordBytes},
		{"records up to 200,000 bytes come back whole", testRecordSizes},
		{"records are told apart by their whole id", testRecordIDs},
		{"fifty changes of one record at once are all made", testRecordContention},
		{"of fifty who take one thing, one gets it", testRecordSingleUse},
		{"an error of the change leaves the record, and is returned as it is", testRecordError},
		{"a change that panics leaves the record, and the store usable", testRecordPanic},
		{"no bytes delete the record", testRecordDeletion},
		{"what is put or read is copied", testRecordCopies},
		{"a record is swept from its expiry on, and not before", testRecordExpiry},
		{"a change moves the expiry", testRecordExpiryMoved},
		{"many records are swept, and those left are whole", testRecordSweep},
		{"an ended context ends the call and changes nothing", testRecordContext},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

// SigninShared tests two stores on one database, as two processes have it open. open returns both, empty, and closes
// them.
func SigninShared(t *testing.T, open func(t *testing.T) (a, b signin.Store)) {
	t.Run("what one writes the other reads", func(t *testing.T) {
		a, b := open(t)
		putRecord(t, a, "email:1", "from a", at(1))
		wantRecord(t, b, "email:1", "from a")
		putRecord(t, b, "email:1", "", at(1))
		wantRecord(t, a, "email:1", "")
	})
	t.Run("keys that one server replaces are gone for the other", func(t *testing.T) {
		a, b := open(t)
		testSharedSigningKeys(t, a, b)
	})
	t.Run("fifty changes of one record by both at once are all made", func(t *testing.T) {
		a, b := open(t)
		countUp(t, a, b)
	})
}

func testSharedSigningKeys(t *testing.T, a, b signin.Store) {
	server := func(s signin.Store) *signin.Issuer { // one that has read nothing yet
		log := slog.New(slog.DiscardHandler)
		cfg := signin.Config{URL: "https://tts.example.org", Log: log}
		issuer, err := signin.New(cfg, s, signin.NewOutbox("", nil, log))
		if err != nil {
			t.Fatal(err)
		}
		return issuer
	}
	ids := func(s signin.Store) (ids []string) {
		t.Helper()
		keys, err := server(s).SigningKeys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			ids = append(ids, k.ID)
		}
		return ids
	}
	first := ids(a)
	if got := ids(b); len(first) != 1 || !slices.Equal(got, first) {
		t.Fatalf("one server has the keys %v, the other %v; want the same one", first, got)
	}
	for _, step := range []struct {
		atOnce bool
		keys   int
	}{{false, 2}, {true, 1}} {
		made, err := server(b).RotateKeys(t.Context(), step.atOnce)
		if err != nil {
			t.Fatal(err)
		}
		got := ids(a)
		if len(made) != step.keys || len(got) != step.keys || got[step.keys-1] != made[step.keys-1].ID {
			t.Errorf("after a rotation (at once: %v) to %v the other server has %v", step.atOnce, made, got)
		}
	}
	if slices.Contains(ids(a), first[0]) {
		t.Error("the first key is there after all were replaced")
	}
}

var errStop = errors.New("stop here")

// readRecord returns a record, or "" where there is none, without changing it.
func readRecord(t *testing.T, s signin.Store, id string) string {
	t.Helper()
	var record []byte
	err := s.UpdateSignin(t.Context(), id, func(old []byte) ([]byte, time.Time, error) {
		if old != nil && len(old) == 0 {
			t.Errorf("record %q is empty and not nil", id)
		}
		record = old
		return nil, time.Time{}, errStop
	})
	if err != errStop { //nolint:errorlint // as it is
		t.Fatalf("reading %q: got error %v, want that of the change", id, err)
	}
	return string(record)
}

func wantRecord(t *testing.T, s signin.Store, id, want string) {
	t.Helper()
	if got := readRecord(t, s, id); got != want {
		t.Errorf("record %q: got %d bytes %.60q, want %d bytes %.60q", id, len(got), got, len(want), want)
	}
	got, err := s.ReadSignin(t.Context(), id)
	if err != nil || string(got) != want || (got == nil) != (want == "") {
		t.Errorf("record %q: read %d bytes %.60q (%v), want %d bytes %.60q", id, len(got), got, err, len(want), want)
	}
}

func putRecord(t *testing.T, s signin.Store, id, record string, expires time.Time) {
	t.Helper()
	err := s.UpdateSignin(t.Context(), id,
		func([]byte) ([]byte, time.Time, error) { return []byte(record), expires, nil })
	if err != nil {
		t.Fatalf("putting %q: %v", id, err)
	}
}

func testRecordBytes(t *testing.T, s signin.Store) {
	wantRecord(t, s, "keys", "")
	for _, record := range []string{"\x00", "{}", "\x00\x01\xff\xfe", "नमस्ते", "' or 1=1; --",
		strings.Repeat("\x00", 1000)} {
		putRecord(t, s, "keys", record, at(1))
		wantRecord(t, s, "keys", record)
	}
}

func testRecordSizes(t *testing.T, s signin.Store) {
	for _, size := range []int{1, 1023, 1024, 65535, 65536, 199_999, 200_000} {
		record := make([]byte, size)
		for i := range record {
			record[i] = byte(i * i >> 3)
		}
		id := "size:" + strconv.Itoa(size)
		putRecord(t, s, id, string(record), at(1))
		wantRecord(t, s, id, string(record))
	}
}

func testRecordIDs(t *testing.T, s signin.Store) {
	ids := []string{"a", "b", "a:b", "a-b", ":", "-", "0", "00", strings.Repeat("a", 99), strings.Repeat("a", 100),
		strings.Repeat("a", 99) + "b"}
	for _, id := range ids {
		putRecord(t, s, id, "record of "+id, at(1))
	}
	for _, id := range ids {
		wantRecord(t, s, id, "record of "+id)
	}
}

func testRecordContention(t *testing.T, s signin.Store) { countUp(t, s, s) }

// countUp counts one record up to 50 by as many goroutines, and each of 25 others up to 2, through both stores.
func countUp(t *testing.T, stores ...signin.Store) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range 50 {
		s := stores[i%len(stores)]
		wg.Go(func() {
			for _, id := range []string{"shared", fmt.Sprint("own:", i/2)} {
				err := s.UpdateSignin(t.Context(), id, func(old []byte) ([]byte, time.Time, error) {
					n, _ := strconv.Atoi(string(old)) // nil is 0
					return strconv.AppendInt(nil, int64(n+1), 10), at(1), nil
				})
				if err != nil {
					t.Errorf("counting up %q: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	wantRecord(t, stores[0], "shared", "50")
	for i := range 25 {
		wantRecord(t, stores[0], fmt.Sprint("own:", i), "2")
	}
}

func testRecordSingleUse(t *testing.T, s signin.Store) {
	putRecord(t, s, "email:1", "unused", at(1))
	took := make([]bool, 50)
	var wg sync.WaitGroup
	for i := range took {
		wg.Go(func() {
			err := s.UpdateSignin(t.Context(), "email:1", func(old []byte) ([]byte, time.Time, error) {
				took[i] = string(old) == "unused"
				if !took[i] {
					return nil, time.Time{}, errStop
				}
				return []byte("used"), at(1), nil
			})
			if took[i] != (err == nil) {
				t.Errorf("the change said %v and the store %v", took[i], err)
			}
		})
	}
	wg.Wait()
	won := 0
	for _, ok := range took {
		if ok {
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d took it, want 1", won)
	}
	wantRecord(t, s, "email:1", "used")
}

func testRecordError(t *testing.T, s signin.Store) {
	for _, before := range []string{"", "kept"} {
		putRecord(t, s, "email:1", before, at(1))
		want := fmt.Errorf("wrapped: %w", errStop)
		err := s.UpdateSignin(t.Context(), "email:1",
			func([]byte) ([]byte, time.Time, error) { return []byte("changed"), at(2), want })
		if err != want { //nolint:errorlint // as it is
			t.Errorf("got error %v, want %v itself", err, want)
		}
		wantRecord(t, s, "email:1", before)
	}
	if n, err := s.SweepSignin(t.Context(), at(1)); n != 1 || err != nil {
		t.Errorf("swept %d (%v), want the one record with its old expiry", n, err)
	}
}

func testRecordPanic(t *testing.T, s signin.Store) {
	putRecord(t, s, "email:1", "kept", at(1))
	func() {
		defer func() {
			if got := recover(); got != errStop { //nolint:errorlint // as it is
				t.Errorf("recovered %v, want what the change panicked with", got)
			}
		}()
		err := s.UpdateSignin(t.Context(), "email:1", func([]byte) ([]byte, time.Time, error) { panic(errStop) })
		t.Errorf("the panic was swallowed, with error %v", err)
	}()
	wantRecord(t, s, "email:1", "kept")
	putRecord(t, s, "email:1", "changed", at(1))
	wantRecord(t, s, "email:1", "changed")
}

func testRecordDeletion(t *testing.T, s signin.Store) {
	putRecord(t, s, "other", "other", at(1))
	for _, nothing := range [][]byte{nil, {}} {
		putRecord(t, s, "email:1", "here", at(1))
		for range 2 { // deleting what is not there is no error
			err := s.UpdateSignin(t.Context(), "email:1",
				func([]byte) ([]byte, time.Time, error) { return nothing, at(1), nil })
			if err != nil {
				t.Fatal(err)
			}
			wantRecord(t, s, "email:1", "")
		}
	}
	wantRecord(t, s, "other", "other")
	if n, err := s.SweepSignin(t.Context(), at(1)); n != 1 || err != nil {
		t.Errorf("swept %d (%v), want 1: what was deleted is gone", n, err)
	}
}

func testRecordCopies(t *testing.T, s signin.Store) {
	record := []byte("as put")
	err := s.UpdateSignin(t.Context(), "email:1", func([]byte) ([]byte, time.Time, error) { return record, at(1), nil })
	if err != nil {
		t.Fatal(err)
	}
	clear(record)
	err = s.UpdateSignin(t.Context(), "email:1", func(old []byte) ([]byte, time.Time, error) {
		if !bytes.Equal(old, []byte("as put")) {
			t.Errorf("got %q, want what was put", old)
		}
		clear(old)
		return nil, time.Time{}, errStop
	})
	if err != errStop { //nolint:errorlint // as it is
		t.Fatal(err)
	}
	read, err := s.ReadSignin(t.Context(), "email:1")
	if err != nil {
		t.Fatal(err)
	}
	clear(read)
	wantRecord(t, s, "email:1", "as put")
}

func testRecordExpiry(t *testing.T, s signin.Store) {
	putRecord(t, s, "email:1", "here", at(10))
	for _, tt := range []struct {
		name  string
		now   time.Time
		swept int
		left  string
	}{
		{"a microsecond before", at(10).Add(-time.Microsecond), 0, "here"},
		{"at its expiry", at(10).In(time.FixedZone("IST", 19800)), 1, ""},
		{"again", at(11), 0, ""},
	} {
		if n, err := s.SweepSignin(t.Context(), tt.now); n != tt.swept || err != nil {
			t.Errorf("%s: swept %d (%v), want %d", tt.name, n, err, tt.swept)
		}
		wantRecord(t, s, "email:1", tt.left)
	}
}

func testRecordExpiryMoved(t *testing.T, s signin.Store) {
	putRecord(t, s, "longer", "1", at(1))
	putRecord(t, s, "longer", "2", at(3).In(time.FixedZone("IST", 19800)))
	putRecord(t, s, "shorter", "1", at(3))
	putRecord(t, s, "shorter", "2", at(1))
	if n, err := s.SweepSignin(t.Context(), at(2)); n != 1 || err != nil {
		t.Errorf("swept %d (%v), want 1", n, err)
	}
	wantRecord(t, s, "longer", "2")
	wantRecord(t, s, "shorter", "")
}

func testRecordSweep(t *testing.T, s signin.Store) {
	if n, err := s.SweepSignin(t.Context(), at(9999)); n != 0 || err != nil {
		t.Errorf("swept %d (%v) of an empty store", n, err)
	}
	const records, expired = 700, 650 // more than databases delete in one step
	for i := range records {
		putRecord(t, s, fmt.Sprint("email:", i), strconv.Itoa(i), at(i))
	}
	if n, err := s.SweepSignin(t.Context(), at(expired-1)); n != expired || err != nil {
		t.Errorf("swept %d (%v), want %d", n, err, expired)
	}
	for i := range records {
		want := ""
		if i >= expired {
			want = strconv.Itoa(i)
		}
		wantRecord(t, s, fmt.Sprint("email:", i), want)
	}
}

func testRecordContext(t *testing.T, s signin.Store) {
	putRecord(t, s, "email:1", "kept", at(1))
	ended, end := context.WithCancel(t.Context())
	end()
	err := s.UpdateSignin(ended, "email:1",
		func([]byte) ([]byte, time.Time, error) { return []byte("changed"), at(1), nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v before the change, want %v", err, context.Canceled)
	}
	if _, err := s.ReadSignin(ended, "email:1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v of reading, want %v", err, context.Canceled)
	}
	if _, err := s.SweepSignin(ended, at(9)); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v of the sweep, want %v", err, context.Canceled)
	}

	ending, end := context.WithCancel(t.Context())
	defer end()
	err = s.UpdateSignin(ending, "email:1", func([]byte) ([]byte, time.Time, error) {
		end()
		return []byte("changed"), at(1), nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v when the change outlived its context, want %v", err, context.Canceled)
	}
	wantRecord(t, s, "email:1", "kept")
}
