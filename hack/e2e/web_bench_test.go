//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// clocks has the page tell when Play and Stop were pressed, and when the worklet gave out its first sample and fell silent.
const clocks = `
window.marks = {};
addEventListener('click', (e) => { if (e.target.closest?.('.play-button')) window.marks.pressed = performance.now(); }, true);
window.AudioWorkletNode = class extends AudioWorkletNode {
	constructor(...given) {
		super(...given);
		this.port.addEventListener('message', (e) => {
			if (e.data.type === 'first') window.marks.first = performance.now();
			if (e.data.type === 'stopped' || e.data.type === 'done') window.marks.silent = performance.now();
		});
	}
};`

// TestBenchWeb measures what people wait for in the playground, and prints medians. It is no test of limits: machines differ.
func TestBenchWeb(t *testing.T) {
	if os.Getenv("SWAR_BENCH_WEB") == "" {
		t.Skip("SWAR_BENCH_WEB is not set (make bench-web)")
	}
	_, b, org := portalTab(t)
	b.onNewDocument(clocks)
	b.open(org, "playground")
	b.write("textarea", sentence)
	const takes = 30
	var first, shown, underruns, silence, cancelled []float64
	for i := range takes + 1 {
		var got struct{ First, Shown, Underruns float64 }
		b.do(chromedp.Click(".play-button"))
		b.get(`(async () => {
	const idle = () => document.querySelector('.play-button').dataset.state === 'idle', figure = document.querySelector('[data-figure=first] b');
	for (let i = 0; i < 3000 && (!(window.marks.first > window.marks.pressed) || !idle()); i++) await new Promise((go) => setTimeout(go, 10));
	return {First: window.marks.first - window.marks.pressed, Shown: Number(figure.textContent), Underruns: Number(document.querySelector('[data-underruns]').dataset.underruns)};
})()`, &got)
		if i > 0 { // the first warms up
			first, shown, underruns = append(first, got.First), append(shown, got.Shown), append(underruns, got.Underruns)
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
	var typing struct{ Preview, Key []float64 }
	b.get(fmt.Sprintf(`(async () => {
	const area = document.querySelector('textarea'), set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set, text = %q.repeat(80).slice(0, 3990);
	const out = {Preview: [], Key: []}, spoken = () => document.querySelector('.play-chunks')?.lastElementChild?.textContent ?? '';
	for (let i = 0; i < 30; i++) {
		set.call(area, text + ' ' + (1000 + i));
		const before = spoken(), from = performance.now();
		area.dispatchEvent(new Event('input', {bubbles: true}));
		await new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)));
		out.Key.push(performance.now() - from);
		for (let j = 0; j < 400 && spoken() === before; j++) await new Promise((go) => setTimeout(go, 5));
		out.Preview.push(performance.now() - from);
	}
	return out;
})()`, sentence+" "), &typing)
	var s strings.Builder
	fmt.Fprintf(&s, "\n| %s | median | most |\n|---|---:|---:|\n", processor())
	for _, row := range []struct {
		what   string
		values []float64
	}{
		{"Play pressed, first sample out of the worklet", first}, {"the same as the page shows it, with the output's latency", shown}, {"underruns of a take", underruns},
		{"Stop pressed, silence", silence}, {"Stop pressed, cancelled", cancelled}, {"last key of 4,000 characters, preview shown", typing.Preview}, {"a key in 4,000 characters, next frame", typing.Key},
	} {
		slices.Sort(row.values)
		fmt.Fprintf(&s, "| %s | %.1f | %.1f |\n", row.what, row.values[len(row.values)/2], row.values[len(row.values)-1])
	}
	t.Log(s.String())
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
