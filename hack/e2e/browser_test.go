//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// page is served from another origin than the API, as in life.
const page = `<!doctype html><meta charset=utf-8><title>swar</title><script>
const base = %q, text = %q;
const speak = (format) => fetch(base + '/v1/tts', {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify({text, seed: 7, format})});
async function decoded(format) {
	const response = await speak(format);
	const buffer = await new AudioContext({sampleRate: 24000}).decodeAudioData(await response.arrayBuffer());
	return buffer.length + ' ' + buffer.numberOfChannels + ' ' + !!response.headers.get('x-request-id');
}
function played() {
	return new Promise((resolve, reject) => {
		const audio = new Audio('/stream.wav');
		audio.muted = true;
		audio.onerror = () => reject(new Error('audio: ' + audio.error.message));
		audio.ontimeupdate = () => { if (audio.currentTime > 0.3) resolve('played'); };
		audio.play().catch(reject);
	});
}
function socket() {
	return new Promise((resolve, reject) => {
		const ws = new WebSocket(base.replace('http', 'ws') + '/v1/tts/stream', ['tts.v1']);
		ws.binaryType = 'arraybuffer';
		let bytes = 0;
		const types = [];
		ws.onopen = () => ws.send(JSON.stringify({text, seed: 7, format: 'pcm16', request_id: 'from-a-browser'}));
		ws.onmessage = ({data}) => {
			if (typeof data !== 'string') { bytes += data.byteLength; return; }
			const event = JSON.parse(data);
			types.push(event.type);
			if (event.type === 'end') { ws.close(); resolve(bytes / 2 + ' ' + types[0] + ' ' + types.at(-1)); }
		};
		ws.onerror = () => reject(new Error('socket'));
	});
}
async function refused() {
	const response = await fetch(base + '/v1/tts', {method: 'POST', body: '{"text":""}'});
	return response.status + ' ' + (await response.json()).error + ' ' + response.headers.get('x-error-code');
}
</script>`

func TestChromium(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed")
	}
	s := start(t)
	resp, err := s.post(t.Context(), "/v1/tts", body(t, map[string]any{"text": sentence, "seed": 7, "format": "pcm16"}))
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	samples := len(pcm) / 2

	// An <audio> element can only GET, so the page's own server passes the stream on as it comes.
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, page, s.base, sentence)
	})
	mux.HandleFunc("GET /stream.wav", func(w http.ResponseWriter, r *http.Request) {
		resp, err := s.post(r.Context(), "/v1/tts", body(t, map[string]any{"text": sentence, "seed": 7}))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		for buf := make([]byte, 4096); ; {
			n, err := resp.Body.Read(buf)
			if _, werr := w.Write(buf[:n]); werr != nil || err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	})
	site := httptest.NewServer(mux)
	defer site.Close()

	ctx := browser(t)
	if err := openPage(ctx, site.URL); err != nil {
		t.Fatalf("opening the page: %v", err)
	}
	tests := []struct{ name, script, want string }{
		{"decodeAudioData opens a streamed WAV", "decoded('wav')", fmt.Sprintf("%d 1 true", samples)},
		{"decodeAudioData opens a streamed Opus", "decoded('opus')", fmt.Sprintf("%d 1 true", samples)},
		{"an audio element plays a streamed WAV", "played()", "played"},
		{"a WebSocket speaks", "socket()", fmt.Sprintf("%d start end", samples)},
		{"a refusal can be read across origins", "refused()", "400 text is empty text_empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := evaluate(ctx, tt.script)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// browserLife is far above what a test takes; TestShots takes longest.
const browserLife = 10 * time.Minute

// browser starts Chromium, which ends with the test.
func browser(t testing.TB, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("autoplay-policy", "no-user-gesture-required"), chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(1440, 1200),
	)
	options = append(options, more...)
	ctx, cancel := context.WithTimeout(t.Context(), browserLife)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

func openPage(ctx context.Context, url string) error {
	_, err := chromedp.Run(ctx, chromedp.Navigate(url))
	return err
}

func evaluate(ctx context.Context, script string) (string, error) {
	return chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
}
