package externalmetrics_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/external_metrics/v1beta1"

	"github.com/swar-tts/swar/controllers/externalmetrics"
)

var (
	quiet = slog.New(slog.DiscardHandler)
	noon  = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
)

const version = "/apis/external.metrics.k8s.io/v1beta1"

func admit(context.Context, *tls.ConnectionState) error { return nil }

// ask returns what a handler answers to a request, of which the path may have a query.
func ask(t *testing.T, c externalmetrics.Config, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	if c.Check == nil {
		c.Check = admit
	}
	c.Now = func() time.Time { return noon }
	w := httptest.NewRecorder()
	q := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	q.Header.Set("Accept", "application/vnd.kubernetes.protobuf")
	externalmetrics.New(c, quiet).ServeHTTP(w, q)
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("%s is answered as %q", path, got)
	}
	return w
}

// decode reads an answer, which must have no other fields than the type.
func decode[T any](t *testing.T, w *httptest.ResponseRecorder) (v T) {
	t.Helper()
	d := json.NewDecoder(w.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func pathOf(namespace, metric, selector string) string {
	return version + "/namespaces/" + namespace + "/" + metric + "?labelSelector=" + url.QueryEscape(selector)
}

func answering(value float64, err error) func(context.Context, externalmetrics.Query) (float64, error) {
	return func(context.Context, externalmetrics.Query) (float64, error) { return value, err }
}

func TestWhatIsAnswered(t *testing.T) {
	var asked externalmetrics.Query
	c := externalmetrics.Config{Value: func(_ context.Context, q externalmetrics.Query) (float64, error) {
		asked = q
		return 12.5, nil
	}}
	for name, tt := range map[string]struct {
		path string
		want externalmetrics.Query
	}{
		"the demand":             {pathOf("speech", "tts_demand_slots", "ttsdeployment=a"), externalmetrics.Query{Namespace: "speech", Name: "a", Metric: "tts_demand_slots"}},
		"who waits":              {pathOf("speech", "tts_queue_depth", "ttsdeployment=a"), externalmetrics.Query{Namespace: "speech", Name: "a", Metric: "tts_queue_depth"}},
		"two signs of equality":  {pathOf("speech", "tts_queue_depth", "ttsdeployment==a"), externalmetrics.Query{Namespace: "speech", Name: "a", Metric: "tts_queue_depth"}},
		"a set of one":           {pathOf("speech", "tts_queue_depth", "ttsdeployment in (a)"), externalmetrics.Query{Namespace: "speech", Name: "a", Metric: "tts_queue_depth"}},
		"the longest namespace":  {pathOf(strings.Repeat("n", 63), "tts_queue_depth", "ttsdeployment=a"), externalmetrics.Query{Namespace: strings.Repeat("n", 63), Name: "a", Metric: "tts_queue_depth"}},
		"what is not to be seen": {pathOf("speech", "tts_queue_depth", "ttsdeployment=a") + "&watch=false", externalmetrics.Query{Namespace: "speech", Name: "a", Metric: "tts_queue_depth"}},
	} {
		w := ask(t, c, http.MethodGet, tt.path)
		list := decode[v1beta1.ExternalMetricValueList](t, w)
		if w.Code != http.StatusOK || len(list.Items) != 1 || list.Kind != "ExternalMetricValueList" ||
			list.APIVersion != "external.metrics.k8s.io/v1beta1" {
			t.Fatalf("%s: %d %+v", name, w.Code, list)
		}
		item := list.Items[0]
		isRight := item.MetricName == tt.want.Metric && item.MetricLabels["ttsdeployment"] == tt.want.Name &&
			item.Value.MilliValue() == 12500 && item.Timestamp.Time.Equal(noon)
		if !isRight || asked != tt.want {
			t.Errorf("%s: %+v of %+v, want it of %+v", name, item, asked, tt.want)
		}
	}
}

// TestValues are rounded to thousandths, and refused where they cannot be meant.
func TestValues(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 0.0004: "0", 0.0005: "1m", 6.4: "6400m", 7: "7", 1e12: "1T",
		-0.001: "", 1e12 + 1: "", math.Inf(1): "", math.NaN(): "",
	} {
		w := ask(t, externalmetrics.Config{Value: answering(value, nil)}, http.MethodGet,
			pathOf("a", "tts_demand_slots", "ttsdeployment=a"))
		if want == "" {
			if got := decode[metav1.Status](t, w); got.Code != http.StatusInternalServerError {
				t.Errorf("%v is answered %+v", value, got)
			}
			continue
		}
		if got := decode[v1beta1.ExternalMetricValueList](t, w).Items[0].Value.String(); got != want {
			t.Errorf("%v is answered as %s, want %s", value, got, want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	good := answering(1, nil)
	metric := pathOf("speech", "tts_demand_slots", "ttsdeployment=a")
	fails := func(code codes.Code, text string) externalmetrics.Config {
		return externalmetrics.Config{Value: answering(0, status.Error(code, text))}
	}
	for name, tt := range map[string]struct {
		config externalmetrics.Config
		method string // empty means GET
		path   string
		code   int32
		want   string
	}{
		"a stranger": {
			config: externalmetrics.Config{Check: func(context.Context,
				*tls.ConnectionState) error {
				return errors.New("who are you?")
			}},
			path: "/apis", code: http.StatusUnauthorized, want: "who are you?",
		},
		"something to write":       {method: http.MethodPost, path: metric, code: http.StatusMethodNotAllowed, want: "by GET"},
		"something to delete":      {method: http.MethodDelete, path: metric, code: http.StatusMethodNotAllowed, want: "by GET"},
		"a watch":                  {path: metric + "&watch=true", code: http.StatusMethodNotAllowed, want: "by GET"},
		"a watch of no value":      {path: metric + "&watch", code: http.StatusMethodNotAllowed, want: "by GET"},
		"another group":            {path: "/apis/metrics.k8s.io", code: http.StatusNotFound, want: "want /apis/external.metrics.k8s.io/v1beta1/namespaces/NAMESPACE/METRIC"},
		"the root":                 {path: "/", code: http.StatusNotFound, want: "NAMESPACE/METRIC"},
		"OpenAPI":                  {path: "/openapi/v2", code: http.StatusNotFound, want: "NAMESPACE/METRIC"},
		"no metric":                {path: version + "/namespaces/speech", code: http.StatusNotFound, want: "NAMESPACE/METRIC"},
		"no namespace":             {path: version + "/tts_demand_slots", code: http.StatusNotFound, want: "NAMESPACE/METRIC"},
		"another metric":           {path: pathOf("speech", "tts_slots", "ttsdeployment=a"), code: http.StatusNotFound, want: "take tts_demand_slots or tts_queue_depth"},
		"below a metric":           {path: version + "/namespaces/speech/tts_demand_slots/a?labelSelector=ttsdeployment=a", code: http.StatusNotFound, want: "take tts_demand_slots"},
		"an empty namespace":       {path: pathOf("", "tts_demand_slots", "ttsdeployment=a"), code: http.StatusBadRequest, want: "not a name of a namespace"},
		"all namespaces":           {path: pathOf("*", "tts_demand_slots", "ttsdeployment=a"), code: http.StatusBadRequest, want: "not a name of a namespace"},
		"a namespace of 64":        {path: pathOf(strings.Repeat("n", 64), "tts_demand_slots", "ttsdeployment=a"), code: http.StatusBadRequest, want: "not a name of a namespace"},
		"a namespace of no text":   {path: pathOf("%ff", "tts_demand_slots", "ttsdeployment=a"), code: http.StatusBadRequest, want: "not a name of a namespace"},
		"no selector":              {path: pathOf("speech", "tts_demand_slots", ""), code: http.StatusBadRequest, want: "{matchLabels: {ttsdeployment: NAME}}"},
		"another label":            {path: pathOf("speech", "tts_demand_slots", "app=a"), code: http.StatusBadRequest, want: "does not name one"},
		"two labels":               {path: pathOf("speech", "tts_demand_slots", "ttsdeployment=a,app=a"), code: http.StatusBadRequest, want: "does not name one"},
		"a set of two":             {path: pathOf("speech", "tts_demand_slots", "ttsdeployment in (a,b)"), code: http.StatusBadRequest, want: "does not name one"},
		"all but one":              {path: pathOf("speech", "tts_demand_slots", "ttsdeployment!=a"), code: http.StatusBadRequest, want: "does not name one"},
		"all that have one":        {path: pathOf("speech", "tts_demand_slots", "ttsdeployment"), code: http.StatusBadRequest, want: "does not name one"},
		"a name of nothing":        {path: pathOf("speech", "tts_demand_slots", "ttsdeployment="), code: http.StatusBadRequest, want: "does not name one"},
		"a selector that is none":  {path: pathOf("speech", "tts_demand_slots", "=("), code: http.StatusBadRequest, want: "does not name one"},
		"a name of 64":             {path: pathOf("speech", "tts_demand_slots", "ttsdeployment="+strings.Repeat("n", 64)), code: http.StatusBadRequest, want: "does not name one"},
		"a fleet that is not":      {config: fails(codes.NotFound, "x"), path: metric, code: http.StatusNotFound, want: `no TTSDeployment "a" in the namespace "speech"`},
		"one that is scaled":       {config: fails(codes.FailedPrecondition, "x"), path: metric, code: http.StatusConflict, want: "spec.scaling.mode to External"},
		"routers that are silent":  {config: fails(codes.Unavailable, "no router"), path: metric, code: http.StatusServiceUnavailable, want: "no router; the size stays"},
		"an operator that is away": {config: fails(codes.DeadlineExceeded, "away"), path: metric, code: http.StatusServiceUnavailable, want: "away; the size stays"},
		"a caller that has gone":   {config: fails(codes.Canceled, "gone"), path: metric, code: http.StatusServiceUnavailable, want: "gone"},
		"an operator of another age": {
			config: fails(codes.Unimplemented, "unknown service"), path: metric, code: http.StatusInternalServerError,
			want: "unknown service",
		},
	} {
		if tt.config.Value == nil {
			tt.config.Value = good
		}
		if tt.method == "" {
			tt.method = http.MethodGet
		}
		w := ask(t, tt.config, tt.method, tt.path)
		got := decode[metav1.Status](t, w)
		isStatus := got.Kind == "Status" && got.APIVersion == "v1" && got.Status == metav1.StatusFailure &&
			got.Reason != ""
		if int32(w.Code) != tt.code || got.Code != tt.code || !isStatus || !strings.Contains(got.Message, tt.want) {
			t.Errorf("%s: %d %+v, want %d with %q", name, w.Code, got, tt.code, tt.want)
		}
	}
}

// TestDiscovery needs no operator: what cannot be discovered blocks the deletion of every namespace.
func TestDiscovery(t *testing.T) {
	c := externalmetrics.Config{Value: answering(0, errors.New("asked"))}
	if got := decode[metav1.APIGroupList](t, ask(t, c, http.MethodGet, "/apis")); len(got.Groups) != 1 ||
		got.Groups[0].PreferredVersion.GroupVersion != "external.metrics.k8s.io/v1beta1" {
		t.Errorf("got the groups %+v", got)
	}
	if got := decode[metav1.APIGroup](t, ask(t, c, http.MethodGet,
		"/apis/external.metrics.k8s.io/")); got.Name != "external.metrics.k8s.io" {
		t.Errorf("got the group %+v", got)
	}
	got := decode[metav1.APIResourceList](t, ask(t, c, http.MethodGet, version))
	if len(got.APIResources) != 2 {
		t.Fatalf("got %+v", got)
	}
	for _, r := range got.APIResources {
		if !r.Namespaced || r.Kind != "ExternalMetricValueList" || len(r.Verbs) != 1 || r.Verbs[0] != "get" {
			t.Errorf("got %+v", r)
		}
	}
}

// TestPretty is as the API server has it.
func TestPretty(t *testing.T) {
	for query, want := range map[string]bool{"": false, "?pretty": true, "?pretty=true": true, "?pretty=1": true,
		"?pretty=0": false, "?pretty=false": false} {
		body := ask(t, externalmetrics.Config{Value: answering(1, nil)}, http.MethodGet, version+query).Body.String()
		if got := strings.Contains(body, "\n  "); got != want {
			t.Errorf("%q is indented: %v, want %v", query, got, want)
		}
	}
}
