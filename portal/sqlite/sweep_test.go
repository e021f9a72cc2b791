package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
)

// Rows are deleted in steps; none may be forgotten or counted twice where one step ends.
func TestSweepInSteps(t *testing.T) {
	now := time.Now()
	for _, n := range []int{0, 1, sweepStep - 1, sweepStep, sweepStep + 1, 2*sweepStep + 1} {
		s := open(t, Config{})
		var transactions int
		s.step = func(step string) error {
			if step == "committed" {
				transactions++
			}
			return nil
		}
		err := s.Update(t.Context(), func(tx tenant.Tx) error {
			for i := range n {
				tx.PutAnswer(tenant.Answer{Scope: "s", Key: fmt.Sprint(i), ExpiresAt: now})
				tx.PutKey(tenant.Key{ID: fmt.Sprint("key_", i), OrgID: "org_a", ExpiresAt: now.Add(-24 * time.Hour)})
			}
			tx.PutAnswer(tenant.Answer{Scope: "s", Key: "kept", ExpiresAt: now.Add(time.Second)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		rows := usage.Dump{Requests: []usage.Request{{ID: "kept", OrgID: "org_a", Date: "2026-11-21"}}}
		for i := range n {
			rows.Requests = append(rows.Requests,
				usage.Request{ID: fmt.Sprint("evt_", i), OrgID: "org_a", Date: "2026-10-01"})
		}
		if err := s.ImportUsage(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		transactions = 0
		swept, err := s.Sweep(t.Context(), now)
		if err != nil || swept != 2*n {
			t.Errorf("Sweep of %d answers and %d keys = %d, %v", n, n, swept, err)
		}
		requests, err := s.SweepRequests(t.Context(), "2026-11-01")
		if err != nil || requests != n {
			t.Errorf("SweepRequests of %d rows = %d, %v", n, requests, err)
		}
		if want := 3 * (n/sweepStep + 1); transactions != want {
			t.Errorf("%d rows of each took %d transactions, want %d", n, transactions, want)
		}
		left, err := s.Requests(t.Context(), usage.RequestQuery{OrgID: "org_a", Limit: 10})
		if err != nil || len(left) != 1 || left[0].ID != "kept" {
			t.Errorf("after sweeping %d rows %v is left, %v; want one", n, left, err)
		}
	}
}
