package rest

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

type requestShape struct {
	RequestID     string         `json:"request_id"`
	TS            timestamp      `json:"ts"`
	OrgID         string         `json:"org_id"`
	ProjectID     string         `json:"project_id"`
	KeyID         string         `json:"key_id"`
	KeyPrefix     string         `json:"key_prefix"`
	Endpoint      string         `json:"endpoint"`
	Voice         string         `json:"voice"`
	Format        string         `json:"format"`
	Status        meter.Status   `json:"status"`
	Error         string         `json:"error,omitzero"`
	Chars         int            `json:"chars"`
	Chunks        int            `json:"chunks"`
	AudioS        jsontext.Value `json:"audio_s"`
	Frames        int64          `json:"frames"`
	TTFA          *float64       `json:"ttfa_ms"` // null without a frame
	Queue         float64        `json:"queue_ms"`
	Wall          float64        `json:"wall_ms"`
	RTF           *float64       `json:"rtf"` // null without audio
	PrefillCached bool           `json:"prefill_cached"`
	Seed          int64          `json:"seed"`
	Billed        bool           `json:"billed"`
	BilledFrames  int64          `json:"billed_frames"`
	Pod           string         `json:"pod"`
}

func shapeRequest(r usage.Request) requestShape {
	var ttfa *float64
	if r.TTFAus > 0 {
		ttfa = new(float64)
		*ttfa = millis(r.TTFAus)
	}
	return requestShape{
		RequestID: r.RequestID, TS: timestamp(r.Start), OrgID: r.OrgID, ProjectID: r.ProjectID, KeyID: r.KeyID,
		KeyPrefix: r.KeyPrefix,
		Endpoint:  r.Endpoint, Voice: r.Voice, Format: r.Format, Status: r.Status, Error: r.Error, Chars: r.Chars,
		Chunks: r.Chunks,
		AudioS: exact(usage.Seconds(r.Frames)), Frames: r.Frames, TTFA: ttfa, Queue: millis(r.Queueus),
		Wall: millis(r.Wallus), RTF: r.RTF(),
		PrefillCached: r.PrefillCached, Seed: r.Seed, Billed: r.Billed > 0, BilledFrames: r.Billed, Pod: r.Source,
	}
}

func (s *Server) requests(c *call) error {
	q, csv, err := c.requestQuery()
	if err != nil {
		return err
	}
	if err := s.cfg.Tenancy.Authorize(c.ctx(), c.user, q.OrgID, q.ProjectID); err != nil {
		return err
	}
	if csv {
		return s.export(c.user.ID, func() error { return s.exportRequests(c, q) })
	}
	page, err := s.cfg.Reports.Requests(c.ctx(), q, c.text("cursor"))
	if err != nil {
		return err
	}
	return c.json(struct {
		Requests []requestShape `json:"requests"`
		Next     string         `json:"next_cursor,omitzero"`
	}{list(page.Requests, shapeRequest), page.Next})
}

var (
	errBadStatus = &tenant.Refusal{Kind: tenant.Invalid, Code: "bad_status",
		Text: "status must be ok, cancelled, error, timeout or running"}
	statuses = []meter.Status{"", meter.OK, meter.Cancelled, meter.Failed, meter.TimedOut, usage.Running}
)

// requestQuery reads the filters. What they name need not exist: then nothing is found.
func (c *call) requestQuery() (q usage.RequestQuery, csv bool, err error) {
	if q.OrgID, err = c.orgID(); err != nil {
		return q, false, err
	}
	if q.ProjectID, err = c.projectID(); err != nil {
		return q, false, err
	}
	q.KeyID, q.Voice, q.Endpoint, q.Status = c.text("key_id"), c.text("voice"), c.text("endpoint"),
		meter.Status(c.text("status"))
	q.RequestID = c.text("request_id")
	if !slices.Contains(statuses, q.Status) {
		return q, false, errBadStatus
	}
	if s := c.text("min_ttfa_ms"); s != "" {
		us, ok := parseDecimal(s, 3)
		if !ok {
			return q, false, tenant.BadField("min_ttfa_ms", "must be milliseconds")
		}
		q.MinTTFAus = us
	}
	if q.From, q.To, err = c.span(); err != nil {
		return q, false, err
	}
	if q.Limit, err = c.limit(); err != nil {
		return q, false, err
	}
	csv, err = c.wantsCSV()
	return q, csv, err
}

// exportRequests streams every row that q selects, page by page.
func (s *Server) exportRequests(c *call, q usage.RequestQuery) error {
	ctx, cancel := context.WithTimeout(c.unbounded.Context(), exportTime)
	defer cancel()
	c.csvHeaders("requests.csv")
	return s.cfg.Reports.WriteRequests(ctx, &block{c.w, http.NewResponseController(c.w)}, q)
}

// block gives every block of a long answer its own time to leave.
type block struct {
	w    http.ResponseWriter
	ctrl *http.ResponseController
}

func (b *block) Write(p []byte) (int, error) {
	_ = b.ctrl.SetWriteDeadline(time.Now().Add(bodyTime + writeTime))
	return b.w.Write(p)
}
