package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

func scrape(t *testing.T, r *Registry, accept string) (body, contentType string) {
	t.Helper()
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	req.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, req)
	b, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), w.Header().Get("Content-Type")
}

func TestEveryMetricIsCountedUnderItsName(t *testing.T) {
	r := New()
	r.RegisterWorkers(func() speech.Capacity { return speech.Capacity{Workers: 4, Ready: 3, Busy: 7, Queued: 8} })
	m := r.RegisterAPI(func() StreamCounts { return StreamCounts{Active: 2, Queued: 5} })
	m.Request(REST, 200)
	m.Request(REST, 503)
	m.Error(Busy)
	m.Cancelled(WS)
	m.Prefill(true)
	m.Prefill(false)
	m.Prefill(false)
	closed := m.SocketOpened()
	m.SocketOpened()
	closed()
	m.RecordUtterance(speech.Stats{Started: true, Frames: 25, TTFA: 7 * time.Millisecond, Queue: 3 * time.Millisecond,
		Synth: time.Second})
	m.RecordUtterance(speech.Stats{Started: true, Queue: time.Second}) // cancelled before its first frame
	m.RegisterDelivery(func() DeliveryCounts {
		return DeliveryCounts{Listeners: 9, SpoolBytes: 8, SpoolLimit: 7, SpoolWaits: 6}
	})

	body, contentType := scrape(t, r, "")
	if !strings.HasPrefix(contentType, "text/plain; version=0.0.4") {
		t.Errorf("Content-Type = %q", contentType)
	}
	for _, want := range []string{
		"tts_streams_active 2",
		"tts_queue_depth 5",
		"tts_workers 4",
		"tts_workers_ready 3",
		`tts_requests_total{endpoint="rest",status="200"} 1`,
		`tts_requests_total{endpoint="rest",status="503"} 1`,
		`tts_requests_total{endpoint="ws",status="cancelled"} 1`,
		`tts_requests_total{endpoint="normalize",status="200"} 0`,
		`tts_errors_total{kind="busy"} 1`,
		`tts_errors_total{kind="client_gone"} 0`,
		`tts_errors_total{kind="engine"} 0`,
		`tts_prefills_total{cached="true"} 1`,
		`tts_prefills_total{cached="false"} 2`,
		"tts_websockets_open 1",
		"tts_listeners 9",
		"tts_spool_bytes 8",
		"tts_spool_limit_bytes 7",
		"tts_spool_waits_total 6",
		"tts_audio_seconds_total 2",
		`tts_ttfa_seconds_bucket{le="0.005"} 0`,
		`tts_ttfa_seconds_bucket{le="0.0075"} 1`,
		"tts_ttfa_seconds_count 1",
		`tts_rtf_bucket{le="0.5"} 1`,
		"tts_rtf_count 1",
		`tts_queue_seconds_bucket{le="0.005"} 1`,
		"tts_queue_seconds_count 2",
	} {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("the scrape lacks %q", want)
		}
	}
	if !strings.Contains(body, "\ngo_goroutines ") {
		t.Error("the scrape lacks the metrics of the Go runtime")
	}
}

func TestOpenMetricsIsServedToThoseWhoAccept(t *testing.T) {
	m := New()
	body, contentType := scrape(t, m, "application/openmetrics-text;version=1.0.0")
	if !strings.HasPrefix(contentType, "application/openmetrics-text") || !strings.HasSuffix(body, "# EOF\n") {
		t.Errorf("Content-Type = %q, end %q", contentType, body[max(0, len(body)-10):])
	}
}
