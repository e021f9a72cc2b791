package rest

import (
	"bytes"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/meter"
)

type billingShape struct {
	OrgID          string       `json:"org_id"`
	Currency       string       `json:"currency"`
	PaisePerMinute int64        `json:"paise_per_minute"`
	Timezone       string       `json:"timezone"`
	Months         []monthShape `json:"months"`
}

type monthShape struct {
	Month          string         `json:"month"`
	Status         string         `json:"status"`
	Requests       int64          `json:"requests"`
	BilledFrames   int64          `json:"billed_frames"`
	AudioS         jsontext.Value `json:"audio_s"`
	Minutes        jsontext.Value `json:"minutes"`
	PaisePerMinute int64          `json:"paise_per_minute"`
	AmountPaise    int64          `json:"amount_paise"`
	AmountINR      jsontext.Value `json:"amount_inr"`
}

func shapeMonth(b usage.Bill) monthShape {
	status := "open"
	if b.Closed {
		status = "closed"
	}
	return monthShape{
		b.Month, status, b.Requests, b.Billed, exact(usage.Seconds(b.Billed)), exact(usage.Minutes(b.Billed)), b.Rate,
		b.Paise,
		exact(usage.Rupees(b.Paise)),
	}
}

func (s *Server) billing(c *call) error {
	org, err := c.orgID()
	if err != nil {
		return err
	}
	csv, err := c.wantsCSV()
	if err != nil {
		return err
	}
	if err := s.cfg.Tenancy.Authorize(c.ctx(), c.user, org, ""); err != nil {
		return err
	}
	bills, err := s.cfg.Reports.Bills(c.ctx(), org)
	if err != nil {
		return err
	}
	if csv {
		var b bytes.Buffer
		if err := usage.WriteBills(&b, bills); err != nil {
			return err
		}
		return c.csv("billing.csv", b.Bytes())
	}
	return c.json(billingShape{org, "INR", s.cfg.Reports.Rate(), meter.India.String(), list(bills, shapeMonth)})
}

// csv answers with a table that browsers save under a name.
func (c *call) csv(name string, table []byte) error {
	c.csvHeaders(name)
	answer.Body(c.w, http.StatusOK, csvType, table)
	return nil
}

const csvType = "text/csv; charset=utf-8"

func (c *call) csvHeaders(name string) {
	c.w.Header().Set("Content-Type", csvType)
	c.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}
