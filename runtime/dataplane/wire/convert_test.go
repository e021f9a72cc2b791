package wire

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// fill sets every field of an entry to something that no other field has, so that a later field cannot be forgotten.
func fill(t *testing.T, e *access.Entry) {
	t.Helper()
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case access.Hash:
			f.Set(reflect.ValueOf(access.HashOf(fmt.Sprint("key ", i))))
		case string:
			f.SetString(fmt.Sprint("text ", i))
		case []string:
			f.Set(reflect.ValueOf([]string{"raj", "anjura"}))
		case speech.Disclosure:
			f.Set(reflect.ValueOf(speech.Disclosure{Set: true, Text: "disclosure"}))
		case bool:
			f.SetBool(true)
		case time.Time:
			f.Set(reflect.ValueOf(time.UnixMicro(1_900_000_000_000_001).UTC()))
		default:
			t.Fatalf("%s of an entry has a type that this test does not know: %v", v.Type().Field(i).Name, f.Type())
		}
	}
}

func TestKeysArriveAsTheyAre(t *testing.T) {
	var full access.Entry
	fill(t, &full)
	for name, want := range map[string]access.Entry{
		"every field":   full,
		"the end":       {Hash: full.Hash, Revoked: true},
		"no disclosure": {Hash: full.Hash, Disclosure: speech.Disclosure{Set: true}},
		"no limits":     {Hash: full.Hash, OrgID: "org_1"},
	} {
		if got, err := NewKey(want).Entry(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, want)
		}
	}
	for _, n := range []int{0, len(full.Hash) - 1, len(full.Hash) + 1} {
		k := NewKey(full)
		k.Hash = make([]byte, n)
		if _, err := k.Entry(); err == nil {
			t.Errorf("a hash of %d bytes was taken", n)
		}
	}
}

func TestWhatAnUpdateDoesToACache(t *testing.T) {
	_, a := access.New(access.LivePrefix)
	_, b := access.New(access.LivePrefix)
	cache := access.NewKeyCache(access.KeyCacheConfig{})
	for _, step := range []struct {
		name    string
		update  Update
		keys    int
		current bool
	}{
		{"everything", Update{Full: true, Keys: []access.Entry{{Hash: a}, {Hash: b}}}, 2, true},
		{"nothing new", Update{}, 2, true},
		{"the end of a key, without the store", Update{Stale: true, Keys: []access.Entry{{Hash: a, Revoked: true}}}, 1, false},
		{"the store is heard again", Update{}, 1, true},
		{"everything, which is nothing", Update{Full: true}, 0, true},
	} {
		step.update.ApplyTo(cache)
		if keys, current := cache.Size(); keys != step.keys || current != step.current {
			t.Errorf("%s: %d keys, current %v, want %d, %v", step.name, keys, current, step.keys, step.current)
		}
	}
}
