package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/swar-tts/swar/portal/usage"
)

// tornLog is a store whose request log fails from the second page on, or waits there for its client to leave.
type tornLog struct {
	usage.Store
	wait bool
	here chan struct{} // a page waits
	left chan error    // how it ended
}

func (s *tornLog) Requests(ctx context.Context, q usage.RequestQuery) ([]usage.Request, error) {
	switch {
	case q.After.IsZero():
		return s.Store.Requests(ctx, q)
	case s.wait:
		close(s.here)
		<-ctx.Done()
		s.left <- ctx.Err()
		return nil, ctx.Err()
	default:
		return nil, errors.New("the disk is on fire")
	}
}

// TestExportsThatEndEarly: a table that is not whole must not look so, and nobody works for a client who has gone.
func TestExportsThatEndEarly(t *testing.T) {
	for what, wait := range map[string]bool{"the store fails": false, "the client goes": true} {
		t.Run(what, func(t *testing.T) {
			g := newRig(t)
			store := &tornLog{Store: g.store, wait: wait, here: make(chan struct{}), left: make(chan error, 1)}
			reports, err := usage.NewReports(store, nil)
			if err != nil {
				t.Fatal(err)
			}
			g.server.cfg.Reports = reports
			org, prj := g.world()
			for range 501 {
				g.book(org, prj, "key_x", nil)
			}
			listener := httptest.NewServer(g.server)
			defer listener.Close()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
				listener.URL+"/portal/v1/requests?format=csv&org_id="+org, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer token-of-"+owner)
			res, err := listener.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if wait {
				<-store.here
				res.Body.Close()
				if err := <-store.left; !errors.Is(err, context.Canceled) {
					t.Errorf("the page ended with %v, want it cancelled", err)
				}
				return
			}
			b, err := io.ReadAll(res.Body)
			if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Count(string(b), "\n") < 400 {
				t.Errorf("%d lines came, and then %v; want the first page and an unexpected end",
					strings.Count(string(b), "\n"), err)
			}
			if strings.Contains(string(b), "fire") || !g.logs.has("level=ERROR", "the disk is on fire") {
				t.Error("the fault was told to the client, or not to the log")
			}
		})
	}
}
