//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	cdruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// countMade has the page count what each take could make anew: contexts, worklets, sockets.
const countMade = `
window.made = {AudioContext: 0, AudioWorkletNode: 0, WebSocket: 0};
for (const name of Object.keys(window.made)) window[name] = class extends window[name] {
	constructor(...given) {
		super(...given);
		window.made[name]++;
	}
};`

// tabUsage is what a tab uses after garbage was collected.
type tabUsage struct {
	bytes           float64 // of objects, of what stands behind them, and of array buffers
	nodes, handlers int64
}

func (b *tab) usage() tabUsage {
	b.t.Helper()
	for range 2 { // what the first sets free may hold others
		if _, err := chromedp.Call(b.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			b.t.Fatal(err)
		}
	}
	heap, err := chromedp.Call(b.ctx, cdruntime.GetHeapUsage, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	dom, err := chromedp.Call(b.ctx, memory.GetDOMCounters, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	return tabUsage{heap.UsedSize + heap.EmbedderHeapUsedSize + heap.BackingStorageSize, dom.Nodes,
		dom.JsEventListeners}
}

// speakOften presses Play so many times. Every tenth take is heard to its end, the others are stopped as soon as they
// sound.
func (b *tab) speakOften(takes int) {
	b.t.Helper()
	var done int
	b.get(fmt.Sprintf(`(async () => {
	const button = document.querySelector('.play-button'), is = async (state) => {
		for (let i = 0; i < 4000; i++, await new Promise((go) => setTimeout(go, 5))) if (button.dataset.state === state) return;
		throw new Error('not ' + state + ' but ' + button.dataset.state);
	};
	let done = 0;
	for (; done < %d; done++) {
		button.click();
		await is('playing');
		if (done %% 10 !== 0) button.click();
		await is('idle');
		window.taken.length = 0; // what this test's own watch has kept
	}
	return done;
})()`, takes), &done)
	if done != takes {
		b.t.Fatalf("%d takes of %d", done, takes)
	}
}

// TestManyTakesInOneTab: neither memory nor sockets nor parts of the page grow with the takes. The last twenty are kept
// with their audio, so that it is compared after those. 30 takes, or 500 with SWAR_E2E_WEB=full.
func TestManyTakesInOneTab(t *testing.T) {
	more := 30
	if os.Getenv("SWAR_E2E_WEB") == "full" {
		more = 500
	}
	p, b, org := portalTab(t)
	b.onNewDocument(countMade)
	b.open(org, "playground")
	b.write("textarea", "Namaste!")
	const warm = 25
	b.speakOften(warm)
	before := b.usage()
	b.speakOften(more)
	after := b.usage()
	t.Logf("%d takes after %d: %.1f MB after %.1f, %d nodes after %d, %d handlers after %d", more, warm,
		after.bytes/1e6, before.bytes/1e6, after.nodes, before.nodes, after.handlers, before.handlers)
	if grown := after.bytes - before.bytes; grown > 10e6 || grown < -10e6 {
		t.Errorf("the tab has %.1f MB more than before, want within 10", grown/1e6)
	}
	if after.nodes > before.nodes+100 || after.handlers > before.handlers+20 {
		t.Errorf("%d nodes and %d handlers, before %d and %d", after.nodes, after.handlers, before.nodes,
			before.handlers)
	}
	var made struct{ AudioContext, AudioWorkletNode, WebSocket int }
	if b.get(`window.made`, &made); made.AudioContext != 1 || made.AudioWorkletNode != 1 {
		t.Errorf("made %+v, want one context and one worklet", made)
	}
	if open := p.metric(t, "tts_websockets_open"); open > 1 {
		t.Errorf("%g sockets are open, want one at most", open)
	}
	b.do(chromedp.Navigate("about:blank"))
	for end := time.Now().Add(5 * time.Second); p.metric(t, "tts_websockets_open") != 0; {
		if time.Now().After(end) {
			t.Fatal("a socket outlives its page by five seconds")
		}
		time.Sleep(20 * time.Millisecond)
	}
}
