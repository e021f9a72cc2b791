package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
)

func TestTheOperatorNeedsNoTokenAndMeetsNoLimit(t *testing.T) {
	store := memstore.New()
	reports, err := usage.NewReports(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	tenancy := tenant.New(tenant.Config{}, store)
	cfg := Config{Tenancy: tenancy, Reports: reports, Log: slog.New(slog.DiscardHandler), Operator: true}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	org, err := tenancy.CreateOrg(context.Background(), tenant.User{ID: "u", Email: owner}, "Somebody's",
		tenant.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * userBurst {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/portal/v1/orgs/"+org.Org.ID+"/members", nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), owner) {
			t.Fatalf("request %d is answered with %d %s", i, w.Code, w.Body)
		}
	}
	cfg.Verifier = verifier{}
	if _, err := New(cfg); err == nil {
		t.Error("a server for operators takes a verifier, which it would not ask")
	}
}
