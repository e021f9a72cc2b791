//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// messages are every fourth of the public messages, which makes 200, and texts in which code points, UTF-16 and what is
// seen differ.
func messages(t *testing.T) []string {
	t.Helper()
	file, err := os.Open("../../testdata/hinglish-reading/messages.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := []string{
		"😀 ₹499 👩‍👩‍👧 5:30 pm", "ज़रूर, OTP 482913 फ़ोन 98765 43210", "क्\u200dष ₹1,499 र\u200c 12/05/2026", "\u202e₹250\u202c کل 15 Aug", "ek\r\n₹99\r\n\tdo 5 kg", "é ₹1 𝟒𝟐 ４２", "  ₹20  ",
	}
	lines := bufio.NewScanner(file)
	for i := 0; lines.Scan(); i++ {
		var m struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if i%4 == 0 {
			all = append(all, m.Text)
		}
	}
	if len(all) < 200 {
		t.Fatalf("there are %d texts", len(all))
	}
	return all
}

// TestMarksAreThoseOfTheAPI: both sides of the playground mark, of every text, what /v1/normalize names, where it names
// it.
func TestMarksAreThoseOfTheAPI(t *testing.T) {
	if isFleet(t) {
		t.Skip("the page is the same")
	}
	_, b, _ := portalTab(t)
	b.do(chromedp.WaitVisible("textarea"))
	b.wait("a key", `Object.keys(sessionStorage).some((k) => k.startsWith('swar.play.'))`)
	texts, err := json.Marshal(messages(t))
	if err != nil {
		t.Fatal(err)
	}
	var wrong []string
	b.get(fmt.Sprintf(`(async () => {
	const key = JSON.parse(Object.entries(sessionStorage).find(([k]) => k.startsWith('swar.play.'))[1]).key, area = document.querySelector('textarea');
	const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set, wrong = [];
	let spans = 0;
	const marks = (where) => {
		const of = new Map();
		for (const m of document.querySelectorAll(where + ' [data-span]')) of.set(m.dataset.span, (of.get(m.dataset.span) ?? '') + m.textContent);
		return JSON.stringify([...of].sort((a, b) => a[0] - b[0]));
	};
	for (const text of %s) {
		set.call(area, text);
		area.dispatchEvent(new Event('input', {bubbles: true}));
		const typed = area.value, sent = typed.trim(), lead = [...typed.slice(0, typed.length - typed.trimStart().length)].length;
		const api = await (await fetch('/v1/normalize', {method: 'POST', headers: {'x-api-key': key}, body: JSON.stringify({text: sent})})).json();
		spans += api.spans.length;
		const points = [...typed], normalized = [...api.normalized];
		const want = {
			written: JSON.stringify(api.spans.map((s, i) => [String(i), points.slice(lead + s.start, lead + s.end).join('')])),
			spoken: JSON.stringify(api.spans.map((s, i) => [String(i), normalized.slice(s.out_start, s.out_end).join('')]).filter(([, said]) => said !== '')),
		};
		let got;
		for (let i = 0; i < 150; i++) {
			got = {written: marks('.play-layer'), spoken: marks('.play-chunks')};
			if (got.written === want.written && got.spoken.replace(/\s+/g, ' ') === want.spoken.replace(/\s+/g, ' ')) break;
			await new Promise((go) => setTimeout(go, 20));
		}
		if (got.written !== want.written) wrong.push(text + ': written ' + got.written + ', want ' + want.written);
		if (got.spoken.replace(/\s+/g, ' ') !== want.spoken.replace(/\s+/g, ' ')) wrong.push(text + ': spoken ' + got.spoken + ', want ' + want.spoken);
	}
	return spans < 200 ? [...wrong, 'there were only ' + spans + ' spans'] : wrong;
})()`, texts), &wrong)
	for _, w := range wrong {
		t.Error(w)
	}
}
