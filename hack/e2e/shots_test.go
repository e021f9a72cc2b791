//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// portalPages are the pages of an organisation.
var portalPages = []string{"playground", "overview", "keys", "requests", "usage", "members", "billing", "voices",
	"lexicon", "audit", "settings"}

// enter signs somebody in as the owner of the first organisation, with the printed link, and returns that organisation.
func (b *tab) enter() (org string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible("input[type=email]"))
	b.write("input[type=email]", "asha@example.org")
	b.do(chromedp.Click("form button[type=submit]"), chromedp.WaitVisible("textarea"))
	b.get(`location.pathname.split('/')[2]`, &org)
	return org
}

// inPortal is a script in which api(method, path, body) asks the portal as who has signed in.
const inPortal = `(async () => {
	const {id_token} = await (await fetch('/auth/v1/refresh', {method: 'POST', body: '{}', headers: {'content-type': 'application/json'}})).json();
	const api = async (method, path, body) => {
		const r = await fetch('/portal/v1' + path, {method, headers: {authorization: 'Bearer ' + id_token, 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID()}, body: body && JSON.stringify(body)});
		if (!r.ok) throw new Error(method + ' ' + path + ': ' + r.status + ' ' + await r.text());
		return r.json();
	};
	%s
})()`

// furnish fills an organisation with what pages show: projects, keys, members, voice requests, and spoken requests.
func (b *tab) furnish(org string) {
	b.t.Helper()
	var spoken int
	b.get(fmt.Sprintf(inPortal, fmt.Sprintf(`
	const org = %q, {orgs} = await api('GET', '/me'), project = orgs[0].projects[0].id;
	const phone = await api('POST', '/projects', {org_id: org, name: 'Phone'});
	const made = [];
	for (const [name, voices] of [['ivr-production', []], ['order-updates', ['anjura']], ['स्टोरी ऐप', ['anjura', 'raj']], ['<b onmouseover=alert(1)>old</b> website', []]])
		made.push(await api('POST', '/keys', {project_id: name === 'order-updates' ? phone.id : project, name, voices}));
	await api('DELETE', '/keys/' + made[3].row.id);
	for (const [email, role] of [['ravi@example.org', 'member'], ['meera@example.org', 'viewer']]) await api('POST', '/orgs/' + org + '/members', {email, role});
	await api('POST', '/voice-requests', {org_id: org, voice_name: 'Meera', language: 'Hinglish', use_case: 'Reads stories to children at bedtime.', hours: 3.5});
	let spoken = 0;
	for (const [i, text] of ['Namaste!', 'Aapka order ₹499 ka hai.', 'OTP 482913 hai.', 'Kal 5:30 pm pe milte hain.', 'Dhanyavaad.'].entries()) {
		const r = await fetch((document.documentElement.dataset.api || '') + '/v1/tts', {method: 'POST', headers: {'x-api-key': made[i %% 2].key}, body: JSON.stringify({text, voice: 'anjura'})});
		spoken += (await r.arrayBuffer()).byteLength > 44;
	}
	return spoken;`, org)), &spoken)
	if spoken != 5 {
		b.t.Fatalf("%d of 5 texts were spoken", spoken)
	}
	// Usage is written behind the answers, and pages do not ask again.
	b.wait("usage has come", fmt.Sprintf(`await `+inPortal,
		fmt.Sprintf(`return (await api('GET', '/usage?org_id=%s')).totals.requests >= 5;`, org)))
}

// TestShots writes what every page looks like into the folder that SWAR_SHOTS names, for people to look at.
func TestShots(t *testing.T) {
	folder := os.Getenv("SWAR_SHOTS")
	if folder == "" {
		t.Skip("SWAR_SHOTS names no folder (make shots)")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	p := startPortal(t, t.TempDir())
	b := openTab(t, setupLink.FindString(p.printed()))
	org := b.enter()
	b.furnish(org)
	b.wait("usage has come", fmt.Sprintf(`await `+inPortal,
		fmt.Sprintf(`return (await api('GET', '/usage?org_id=%s')).totals.requests === 5;`, org)))
	addresses := map[string]string{"landing": "/", "docs": "/docs/", "lost": "/app/" + org + "/nothing"}
	for _, page := range portalPages {
		addresses[page] = "/app/" + org + "/" + page
	}
	wanted := os.Getenv("SWAR_SHOTS_ONLY")
	for _, look := range []struct{ theme, language string }{{"light", "en"}, {"dark", "en"}, {"light", "hi"},
		{"dark", "hi"}} {
		var done string
		b.get(fmt.Sprintf(`(localStorage.setItem('swar.theme', %q), localStorage.setItem('swar.language', %q), '')`,
			look.theme, look.language), &done)
		for _, width := range []int64{1440, 390} {
			for name, address := range addresses {
				shot := fmt.Sprintf("%s-%s-%s-%d", name, look.theme, look.language, width)
				if wanted != "" && !strings.Contains(shot, wanted) {
					continue
				}
				b.shoot(p.portalBase+address, width, filepath.Join(folder, shot+".png"))
			}
		}
	}
	b.forgive("404") // the page that is not there
	out := openTab(t, p.portalBase+"/signin")
	for _, width := range []int64{1440, 390} {
		if name := "signin"; wanted == "" || strings.Contains(name, wanted) {
			out.shoot(p.portalBase+"/signin", width, filepath.Join(folder, fmt.Sprintf("signin-%d.png", width)))
		}
	}
}

// TestPicture writes the picture of the README into the file that SWAR_PICTURE names: the playground with a take that
// was just heard.
func TestPicture(t *testing.T) {
	file := os.Getenv("SWAR_PICTURE")
	if file == "" {
		t.Skip("SWAR_PICTURE names no file (make picture)")
	}
	_, b, org := portalTab(t)
	b.get(`(localStorage.setItem('swar.theme', 'light'), localStorage.setItem('swar.language', 'en'), '')`, new(string))
	size := emulation.SetDeviceMetricsOverrideParams{Width: 1440, Height: 1000, DeviceScaleFactor: 1}
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		t.Fatal(err)
	}
	b.open(org, "playground")
	b.write("textarea", "Namaste Priya! Aapka order #SW-4821 kal 5:30 pm tak deliver ho jayega, total ₹1,499 hai. OTP 482913 kisi ko mat batana. Koi dikkat ho to 98765 43210 par call karein.")
	b.wait("the preview", `document.querySelectorAll('.play-chunks li').length > 1`)
	b.play()
	b.play() // what was heard before is prepared
	b.do(chromedp.Click("#tab-events"))
	b.get(`(scrollTo(0, 0), document.activeElement.blur(), '')`, new(string))
	b.rest()
	b.wait("how many workers are free", workersAreKnown)
	got, err := chromedp.Call(b.ctx, cdpage.CaptureScreenshot, cdpage.CaptureScreenshotParams{})
	if err != nil {
		t.Fatal(err)
	}
	small, err := fewColours(got.Data)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, small, 0o644); err != nil {
		t.Fatal(err)
	}
}

// fewColours is a PNG with its 256 most frequent colours, the others being the nearest of these: a third of the bytes,
// and text looks the same.
func fewColours(file []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	often := map[color.Color]int{}
	area := from.Bounds()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			often[from.At(x, y)]++
		}
	}
	palette := slices.SortedFunc(maps.Keys(often), func(a, b color.Color) int { return often[b] - often[a] })
	to := image.NewPaletted(area, palette[:min(len(palette), 256)])
	draw.Draw(to, area, from, area.Min, draw.Src)
	var small bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, to)
	return small.Bytes(), err
}

func (b *tab) shoot(address string, width int64, file string) {
	b.t.Helper()
	size := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1,
		Mobile: width < 900}
	if _, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Navigate(address), chromedp.WaitVisible("h1, pre"))
	b.rest()
	b.wait("how many workers are free", workersAreKnown)
	got, err := chromedp.Call(b.ctx, cdpage.CaptureScreenshot, cdpage.CaptureScreenshotParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, got.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// workersAreKnown is what the playground asks last.
const workersAreKnown = `document.querySelector('.workers')?.textContent !== '…'`

// rest waits until nothing of the page is still being asked for: no skeleton, and half a second without a change.
func (b *tab) rest() {
	b.t.Helper()
	var rested bool
	b.get(`(async () => {
	let last = performance.now();
	const watch = new MutationObserver(() => (last = performance.now()));
	watch.observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
	const end = performance.now() + 8000;
	while (performance.now() < end && (document.querySelector('.sk') || performance.now() - last < 400)) await new Promise((go) => setTimeout(go, 50));
	watch.disconnect();
	return !document.querySelector('.sk');
})()`, &rested)
	if !rested {
		b.t.Errorf("a page still loads after eight seconds")
	}
}
