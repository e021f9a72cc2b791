//go:build e2e

package e2e

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// clocks has the page tell when Play and Stop were pressed, when the worklet gave out its first sample, by the clock of
// its thread in whole milliseconds, when the page heard of that, and when the worklet fell silent.
const clocks = `
window.marks = {};
addEventListener('click', (e) => { if (e.target.closest?.('.play-button')) window.marks.pressed = performance.now(); }, true);
window.AudioWorkletNode = class extends AudioWorkletNode {
	constructor(...given) {
		super(...given);
		this.port.addEventListener('message', (e) => {
			if (e.data.type === 'first') Object.assign(window.marks, {first: e.data.clock - performance.timeOrigin, heard: performance.now()});
			if (e.data.type === 'stopped' || e.data.type === 'done') window.marks.silent = performance.now();
		});
	}
};`

// TestBenchWeb measures what people wait for in the playground, and prints medians. It is no test of limits: machines
// differ.
func TestBenchWeb(t *testing.T) {
	if os.Getenv("SWAR_BENCH_WEB") == "" {
		t.Skip("SWAR_BENCH_WEB is not set (make bench-web)")
	}
	_, b, org := portalTab(t)
	b.onNewDocument(clocks)
	b.open(org, "playground")
	b.write("textarea", sentence)
	const takes = 30
	var first, heard, shown, apart, underruns, silence, cancelled []float64
	for i := range takes + 1 {
		var got struct{ First, Heard, Shown, Output, Underruns float64 }
		b.do(chromedp.Click(".play-button"))
		b.get(`(async () => {
	const idle = () => document.querySelector('.play-button').dataset.state === 'idle', figure = document.querySelector('[data-figure=first] b');
	for (let i = 0; i < 3000 && (!(window.marks.heard > window.marks.pressed) || !idle()); i++) await new Promise((go) => setTimeout(go, 10));
	return {First: window.marks.first - window.marks.pressed, Heard: window.marks.heard - window.marks.pressed, Shown: Number(figure.textContent), Output: Number(document.querySelector('[data-output]').dataset.output), Underruns: Number(document.querySelector('[data-underruns]').dataset.underruns)};
})()`, &got)
		if i > 0 { // the first warms up
			first, heard, shown, underruns = append(first, got.First), append(heard, got.Heard),
				append(shown, got.Shown), append(underruns, got.Underruns)
			apart = append(apart, math.Abs(got.Shown-got.Output-got.First))
		}
	}
	for range takes {
		var got struct{ Silence, Cancelled float64 }
		b.do(chromedp.Click(".play-button"))
		b.wait("it plays", `document.querySelector('.play-button').dataset.state === 'playing'`)
		b.do(chromedp.Click(".play-button"))
		b.get(`(async () => {
	const from = window.marks.pressed, button = document.querySelector('.play-button');
	for (let i = 0; i < 500 && button.dataset.state !== 'idle'; i++) await new Promise((go) => setTimeout(go, 1));
	const cancelled = performance.now() - from;
	for (let i = 0; i < 100 && !(window.marks.silent > from); i++) await new Promise((go) => setTimeout(go, 1));
	return {Silence: window.marks.silent - from, Cancelled: cancelled};
})()`, &got)
		silence, cancelled = append(silence, got.Silence), append(cancelled, got.Cancelled)
	}
	var typing struct{ Preview, Own, Key []float64 }
	b.get(fmt.Sprintf(`(async () => {
	const area = document.querySelector('textarea'), set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set, text = %q.repeat(80).slice(0, 3990);
	const out = {Preview: [], Own: [], Key: []}, spoken = () => document.querySelector('.play-chunks')?.lastElementChild?.textContent ?? '';
	for (let i = 0; i < 30; i++) {
		set.call(area, text + ' ' + (1000 + i));
		const before = spoken(), from = performance.now();
		area.dispatchEvent(new Event('input', {bubbles: true}));
		await Promise.resolve();
		area.getBoundingClientRect(); // has style and layout done
		out.Own.push(performance.now() - from);
		await new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)));
		out.Key.push(performance.now() - from);
		for (let j = 0; j < 400 && spoken() === before; j++) await new Promise((go) => setTimeout(go, 5));
		out.Preview.push(performance.now() - from);
	}
	return out;
})()`, sentence+" "), &typing)
	scrolled, jumped := b.scrollMany(org)
	fast, slow := b.untilInteractive(org, 1), b.untilInteractive(org, 4)
	var s strings.Builder
	fmt.Fprintf(&s, "\n| %s | median | most |\n|---|---:|---:|\n", processor())
	for _, row := range []struct {
		what   string
		values []float64
	}{
		{"Play pressed, first sample out of the worklet", first}, {"the same when the page hears of it", heard}, {"the same as the page shows it, with the output's latency", shown}, {"what is shown without that latency, beside the first line", apart}, {"underruns of a take", underruns},
		{"Stop pressed, silence", silence}, {"Stop pressed, cancelled", cancelled}, {"last key of 4,000 characters, preview shown", typing.Preview}, {"a key in 4,000 characters: script, style and layout", typing.Own},
		{"the same until the next frame", typing.Key},
		{"a frame while 50,000 requests are scrolled", scrolled}, {"a frame while their scroll bar is dragged", jumped},
		{"playground opened with an empty cache, Play can be pressed", fast}, {"the same on a processor slowed to a quarter", slow},
	} {
		slices.Sort(row.values)
		fmt.Fprintf(&s, "| %s | %.1f | %.1f |\n", row.what, row.values[len(row.values)/2],
			row.values[len(row.values)-1])
	}
	t.Log(s.String())
}

// scrollMany scrolls through 50,000 requests, by a little each frame and then to anywhere, and returns how long the
// frames took.
func (b *tab) scrollMany(org string) (scrolled, jumped []float64) {
	b.t.Helper()
	b.onNewDocument(manyRequests)
	b.open(org, "requests?paused=1")
	var got struct{ Scrolled, Jumped []float64 }
	b.get(`(async () => {
	const box = document.querySelector('.rows'), frame = () => new Promise((go) => requestAnimationFrame(go));
	const timed = async (n, step) => {
		const took = [];
		for (let i = 0, last = await frame(); i < n; i++) {
			step(i);
			const now = await frame();
			took.push(now - last);
			last = now;
		}
		return took;
	};
	for (let stuck = 0, before = 0; stuck < 20; stuck = box.scrollHeight === before ? stuck + 1 : 0) { // all of them are fetched first
		before = box.scrollHeight;
		box.scrollTop = box.scrollHeight;
		await frame();
	}
	box.scrollTop = 0;
	const scrolled = await timed(300, () => { box.scrollTop += 400; });
	return {Scrolled: scrolled, Jumped: await timed(300, (i) => { box.scrollTop = (i * 7919 % 300) / 300 * box.scrollHeight; })};
})()`, &got)
	return got.Scrolled, got.Jumped
}

// untilInteractive opens the playground ten times with an empty cache on a processor slowed by a factor, and returns
// the times until Play can be pressed.
func (b *tab) untilInteractive(org string, slowed float64) (took []float64) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, network.SetCacheDisabled,
		network.SetCacheDisabledParams{CacheDisabled: true}); err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetCPUThrottlingRate,
		emulation.SetCPUThrottlingRateParams{Rate: slowed}); err != nil {
		b.t.Fatal(err)
	}
	b.onNewDocument(`new MutationObserver((_, o) => {
	if (!document.querySelector('.play-button:enabled')) return;
	window.interactive = performance.now();
	o.disconnect();
}).observe(document, {subtree: true, childList: true, attributes: true});`)
	for range 10 {
		b.do(chromedp.Navigate("about:blank"))
		b.open(org, "playground")
		b.wait("Play can be pressed", `window.interactive`)
		var ms float64
		b.get(`window.interactive`, &ms)
		took = append(took, ms)
	}
	return took
}

// processor is the name of that of this machine.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	_, after, _ := strings.Cut(string(text), "model name")
	line, _, _ := strings.Cut(after, "\n")
	return strings.Trim(line, "\t :") + ", ms"
}
