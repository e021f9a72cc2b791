package serve

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestNewWantsWhatItNeeds(t *testing.T) {
	var full Config
	newServer(t, &script{}, func(c *Config) { full = *c })
	for sentence, forget := range map[string]func(*Config){
		"no speaker": func(c *Config) { c.Speaker = nil },
		"no metrics": func(c *Config) { c.Metrics = nil },
		"no log":     func(c *Config) { c.Log = nil },
	} {
		cfg := full
		forget(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", sentence)
		}
	}
}

func TestRoot(t *testing.T) {
	for service, want := range map[string]string{"": "Swar Hinglish TTS", "Our voices": "Our voices"} {
		g := newRig(t, &script{}, func(c *Config) { c.Service = service })
		got := g.do(http.MethodGet, "/", "", "X-Api-Key", "")
		wantJSON(t, got, 200, `{"service":"`+want+`","model":"fake","endpoints":["POST /v1/tts","WS /v1/tts/stream","GET /v1/voices",
			"POST /v1/normalize","GET /healthz","GET /readyz","GET /metrics"]}`)
	}
}

func TestVoices(t *testing.T) {
	const anjura = `{"name":"anjura","language":"hi-IN+en-IN","sample_rate":24000,"prompt_frames":102}`
	const raj = `{"name":"raj","language":"hi-IN+en-IN","sample_rate":24000,"prompt_frames":102}`
	tests := []struct{ sentence, key, want string }{
		{"a key without a list sees all", testKey, anjura + "," + raj},
		{"a key with a list sees those", "raj-key", raj},
	}
	g := newRig(t, &script{})
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			got := g.do(http.MethodGet, "/v1/voices", "", "X-Api-Key", tt.key)
			wantJSON(t, got, 200, `{"voices":[`+tt.want+`],"model":"fake"}`)
		})
	}
	none := newRig(t, &script{ModelFunc: func() speech.Model { return speech.Model{ID: "mute"} }})
	wantJSON(t, none.do(http.MethodGet, "/v1/voices", ""), 200, `{"voices":[],"model":"mute"}`)
}

func TestHealthz(t *testing.T) {
	capacity := speech.Capacity{Workers: 4, Ready: 3, Busy: 1, Queued: 2, QueueLimit: 8}
	g := newRig(t, &script{CapacityFunc: func() speech.Capacity { return capacity }})
	g.server.started = time.Now().Add(-time.Hour)
	for range 2 { // it stays 200 while draining
		got := g.do(http.MethodGet, "/healthz", "", "X-Api-Key", "")
		var health map[string]any
		if err := json.Unmarshal(got.body, &health); err != nil || got.StatusCode != http.StatusOK {
			t.Fatalf("%d %s: %v", got.StatusCode, got.body, err)
		}
		if up, _ := health["uptime_s"].(float64); up < 3600 || up > 4000 {
			t.Errorf("uptime_s = %v, want an hour", health["uptime_s"])
		}
		delete(health, "uptime_s")
		want := map[string]any{"status": "ok", "workers": 4.0, "workers_ready": 3.0, "workers_busy": 1.0,
			"queue_depth": 2.0,
			"queue_limit": 8.0, "listeners": 0.0, "spool_bytes": 0.0, "spool_limit_bytes": 268435456.0,
			"model": "fake", "version": "v0-test"}
		if !maps.Equal(health, want) {
			t.Errorf("got %v, want %v", health, want)
		}
		capacity.Draining = true
	}
}

func TestReadyz(t *testing.T) {
	tests := []struct {
		sentence string
		capacity speech.Capacity
		text     string
		code     string
	}{
		{"every worker is warm", speech.Capacity{Workers: 2, Ready: 2, Busy: 2, Queued: 8, QueueLimit: 8}, "", ""},
		{"one worker is cold", speech.Capacity{Workers: 2, Ready: 1}, "workers warming up", "warming_up"},
		{"all workers are cold", speech.Capacity{Workers: 2}, "workers warming up", "warming_up"},
		{"there is no worker", speech.Capacity{}, "workers warming up", "warming_up"},
		{"the speaker is draining", speech.Capacity{Workers: 2, Ready: 2, Draining: true}, "draining", "busy"},
		{"draining says more than warming", speech.Capacity{Workers: 2, Ready: 1, Draining: true}, "draining", "busy"},
	}
	for _, tt := range tests {
		t.Run(tt.sentence, func(t *testing.T) {
			g := newRig(t, &script{CapacityFunc: func() speech.Capacity { return tt.capacity }})
			got := g.do(http.MethodGet, "/readyz", "", "X-Api-Key", "")
			if tt.text == "" {
				wantJSON(t, got, 200, `{"status":"ready"}`)
				return
			}
			got.wantError(t, 503, tt.text, tt.code)
		})
	}
}

func TestReadyzWhileNoKeyCanBeChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, entry := newKey()
		keys := ringOf(entry)
		server, _ := newServer(t, &script{}, func(c *Config) { c.Keys, c.Ready = keys, keys.Check })
		want := func(status int, body string) {
			t.Helper()
			w := httptest.NewRecorder()
			server.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
			if w.Code != status || w.Body.String() != body {
				t.Errorf("/readyz = %d %s, want %d %s", w.Code, w.Body, status, body)
			}
		}
		want(200, `{"status":"ready"}`)
		keys.PortalLost()
		time.Sleep(time.Minute - time.Nanosecond)
		want(200, `{"status":"ready"}`)
		time.Sleep(time.Nanosecond)
		want(503, `{"error":"portal unavailable"}`)
		keys.PortalBack()
		want(200, `{"status":"ready"}`)
		keys.PortalLost()
		time.Sleep(time.Hour)
		server.Drain()
		want(503, `{"error":"draining"}`)
	})
}

func TestReadyzWhileTheServerDrains(t *testing.T) {
	g := newRig(t, &script{})
	g.server.Drain()
	g.do(http.MethodGet, "/readyz", "", "X-Api-Key", "").wantError(t, 503, "draining", "busy")
	if got := g.do(http.MethodGet, "/healthz", ""); got.StatusCode != http.StatusOK {
		t.Errorf("/healthz = %d while draining, want 200", got.StatusCode)
	}
	if got := g.speak(`{"text":"Hi"}`); got.StatusCode != http.StatusOK {
		t.Errorf("POST /v1/tts = %d while balancers still send requests, want 200", got.StatusCode)
	}
}

func TestMetricsNames(t *testing.T) {
	g := newRig(t, &script{})
	g.speak(`{"text":"Hi"}`)
	got := g.do(http.MethodGet, "/metrics", "", "X-Api-Key", "")
	if contentType := got.Header.Get("Content-Type"); !strings.HasPrefix(contentType, "text/plain; version=0.0.4") {
		t.Errorf("Content-Type = %q", contentType)
	}
	for _, name := range []string{
		"tts_streams_active 1", "tts_queue_depth 0", "tts_ttfa_seconds_count 1", "tts_rtf_count 1", "tts_audio_seconds_total 0.4",
		`tts_requests_total{endpoint="rest",status="200"} 1`, `tts_errors_total{kind="busy"} 0`,
	} {
		if !slices.Contains(strings.Split(string(got.body), "\n"), name) {
			t.Errorf("%q is missing", name)
		}
	}
	open := g.do(http.MethodGet, "/metrics", "", "Accept", "application/openmetrics-text; version=1.0.0")
	if contentType := open.Header.Get("Content-Type"); !strings.HasPrefix(contentType, "application/openmetrics-text") {
		t.Errorf("Content-Type = %q for a scraper of OpenMetrics", contentType)
	}
}

func wantJSON(t *testing.T, got answered, status int, want string) {
	t.Helper()
	if got.StatusCode != status {
		t.Errorf("status = %d, want %d", got.StatusCode, status)
	}
	if contentType := got.Header.Get("Content-Type"); contentType != "application/json" {
		t.Errorf("Content-Type = %q", contentType)
	}
	if got.ContentLength != int64(len(got.body)) {
		t.Errorf("Content-Length = %d of %d bytes", got.ContentLength, len(got.body))
	}
	var a, b any
	if err := json.Unmarshal(got.body, &a); err != nil {
		t.Fatalf("%s: %v", got.body, err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got %s\nwant %s", got.body, want)
	}
}
