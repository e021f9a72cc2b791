package dataplane

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/runtime/access"
)

// BenchmarkResync times a front end that begins with nothing until it knows 10,000 keys:
// go test -run - -bench Resync ./portal/dataplane
func BenchmarkResync(b *testing.B) {
	store := memstore.New()
	put(b, store, newKeys(10_000)...)
	p := newPortal(b, store)
	<-newFront(b, p.addr).cache.Ready() // the portal knows them
	b.ReportAllocs()
	for b.Loop() {
		f := newFront(b, p.addr)
		<-f.cache.Ready()
		if n, _ := f.cache.Size(); n != 10_000 {
			b.Fatalf("%d keys", n)
		}
		b.StopTimer()
		f.stop()
		b.StartTimer()
	}
}

// BenchmarkPush times a change from the store's commit until a front end knows it, over loopback.
func BenchmarkPush(b *testing.B) {
	store := memstore.New()
	_, k := newKey()
	put(b, store, k)
	p := newPortal(b, store)
	f := newFront(b, p.addr)
	<-f.cache.Ready()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		secret, k := newKey()
		put(b, store, k)
		f.await("the new key", func() bool {
			_, err := f.cache.Grant(b.Context(), access.Credentials{Key: secret})
			return err == nil
		})
		g, err := f.cache.Grant(b.Context(), access.Credentials{Key: secret})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		put(b, store, revoked(k))
		<-g.Ended
	}
}

// BenchmarkAcknowledged times a revocation from the store's commit until every front end has acknowledged it, over
// loopback. All of them know 10,000 keys.
func BenchmarkAcknowledged(b *testing.B) {
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprint("fronts=", n), func(b *testing.B) {
			store := memstore.New()
			put(b, store, newKeys(10_000)...)
			p := newPortal(b, store)
			for range n {
				<-newFront(b, p.addr).cache.Ready()
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				_, k := newKey()
				put(b, store, k)
				p.feed.AwaitKey(b.Context(), k)
				k = revoked(k)
				b.StartTimer()
				put(b, store, k)
				p.feed.AwaitKey(b.Context(), k)
			}
		})
	}
}

func TestMoreKeysThanOneMessageHolds(t *testing.T) {
	for _, n := range []int{0, 1, keysAtOnce - 1, keysAtOnce, keysAtOnce + 1, 10_000} {
		store := memstore.New()
		put(t, store, newKeys(n)...)
		p := newPortal(t, store)
		f := newFront(t, p.addr)
		f.await("every key", f.current(n))
		if got, want := p.told.all(), []told{{fulls: 1, keys: n}}; !slices.Equal(got, want) {
			t.Errorf("told %+v, want %+v", got, want)
		}
		f.stop()
		p.stop()
	}
}
