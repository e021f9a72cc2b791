package rest

import (
	"bytes"
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// figuresShape is the sum of usage in every part of a report.
type figuresShape struct {
	Requests     int64          `json:"requests"`
	Errors       int64          `json:"errors"`
	Cancelled    int64          `json:"cancelled"`
	AudioS       jsontext.Value `json:"audio_s"`
	Minutes      jsontext.Value `json:"minutes"`
	Frames       int64          `json:"frames"`
	BilledFrames int64          `json:"billed_frames"`
	Chars        int64          `json:"chars"`
	AmountPaise  int64          `json:"amount_paise"`
	AmountINR    jsontext.Value `json:"amount_inr"`
}

// speedShape is how fast it went; null without a measurement.
type speedShape struct {
	TTFAP50 *float64 `json:"ttfa_p50_ms"`
	TTFAP95 *float64 `json:"ttfa_p95_ms"`
	RTF     *float64 `json:"rtf_avg"`
}

func shapeFigures(f usage.Figures) figuresShape {
	return figuresShape{
		f.Requests, f.Errors, f.Cancelled, exact(usage.Seconds(f.Frames)), exact(usage.Minutes(f.Frames)), f.Frames,
		f.Billed, f.Chars,
		f.Paise, exact(usage.Rupees(f.Paise)),
	}
}

func shapeSpeed(f usage.Figures) speedShape { return speedShape{f.TTFAP50, f.TTFAP95, f.RTF} }

type usageShape struct {
	OrgID     string       `json:"org_id"`
	ProjectID string       `json:"project_id,omitzero"`
	From      timestamp    `json:"from"`
	To        timestamp    `json:"to"`
	Timezone  string       `json:"timezone"`
	Totals    figuresShape `json:"totals"`
	speedShape
	ByDay      []dayShape      `json:"by_day"`
	ByKey      []keyUsageShape `json:"by_key"`
	ByVoice    []voiceShape    `json:"by_voice"`
	ByEndpoint []endpointShape `json:"by_endpoint"`
	Split      usage.Split     `json:"split,omitzero"`
	Series     []seriesShape   `json:"series,omitzero"`
}

// seriesShape is the usage of each of by_day with a part of the whole.
type seriesShape struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Frames []int64 `json:"frames"`
	Billed []int64 `json:"billed_frames"`
}

type dayShape struct {
	Date string `json:"date"`
	figuresShape
	speedShape
}

type keyUsageShape struct {
	KeyID     string `json:"key_id"`
	ProjectID string `json:"project_id"`
	Name      string `json:"name"`
	Prefix    string `json:"prefix"`
	figuresShape
	speedShape
}

type voiceShape struct {
	Voice string `json:"voice"`
	figuresShape
	speedShape
}

type endpointShape struct {
	Endpoint string `json:"endpoint"`
	figuresShape
	speedShape
}

func (s *Server) usage(c *call) error {
	q, csv, err := c.usageQuery()
	if err != nil {
		return err
	}
	if err := s.cfg.Tenancy.Authorize(c.ctx(), c.user, q.OrgID, q.ProjectID); err != nil {
		return err
	}
	u, err := s.cfg.Reports.Usage(c.ctx(), q)
	if err != nil {
		return err
	}
	if csv {
		var b bytes.Buffer
		if err := usage.WriteDays(&b, u); err != nil {
			return err
		}
		return c.csv("usage.csv", b.Bytes())
	}
	keys, err := s.cfg.Tenancy.Keys(c.ctx(), c.user, q.OrgID, q.ProjectID, tenant.Live)
	if err != nil {
		return err
	}
	shape := shapeUsage(u, keys)
	if shape.Split = q.Split; q.Split != "" {
		shape.Series = shapeSeries(u, keys)
	}
	return c.json(shape)
}

// shapeSeries names the series as by_key, by_voice and by_endpoint name their rows; a key without a name goes by its
// prefix.
func shapeSeries(u usage.Usage, keys []tenant.Key) []seriesShape {
	names := keyNames(keys)
	return list(u.Series, func(s usage.Series) seriesShape {
		return seriesShape{s.ID, cmp.Or(names[s.ID], s.Prefix, s.ID), s.Frames, s.Billed}
	})
}

func keyNames(keys []tenant.Key) map[string]string {
	names := map[string]string{usage.PlaygroundKey: "Playground"}
	for _, k := range keys {
		names[k.ID] = k.Name
	}
	return names
}

func (c *call) usageQuery() (q usage.Query, csv bool, err error) {
	if q.OrgID, err = c.orgID(); err != nil {
		return q, false, err
	}
	if q.ProjectID, err = c.projectID(); err != nil {
		return q, false, err
	}
	if q.From, q.To, err = c.span(); err != nil {
		return q, false, err
	}
	q.Split = usage.Split(c.text("split"))
	csv, err = c.wantsCSV()
	return q, csv, err
}

// shapeUsage adds the names of keys to a report. Names of keys that were revoked long ago are unknown.
func shapeUsage(u usage.Usage, keys []tenant.Key) usageShape {
	names := keyNames(keys)
	return usageShape{
		OrgID: u.OrgID, ProjectID: u.ProjectID, From: timestamp(u.From), To: timestamp(u.To),
		Timezone: meter.India.String(),
		Totals:   shapeFigures(u.Total), speedShape: shapeSpeed(u.Total),
		ByDay: list(u.ByDay, func(d usage.DayFigures) dayShape {
			return dayShape{d.Date, shapeFigures(d.Figures), shapeSpeed(d.Figures)}
		}),
		ByKey: list(u.ByKey, func(k usage.KeyFigures) keyUsageShape {
			return keyUsageShape{k.KeyID, k.ProjectID, names[k.KeyID], k.Prefix, shapeFigures(k.Figures),
				shapeSpeed(k.Figures)}
		}),
		ByVoice: list(u.ByVoice, func(v usage.NamedFigures) voiceShape {
			return voiceShape{v.Name, shapeFigures(v.Figures), shapeSpeed(v.Figures)}
		}),
		ByEndpoint: list(u.ByEndpoint, func(e usage.NamedFigures) endpointShape {
			return endpointShape{e.Name, shapeFigures(e.Figures), shapeSpeed(e.Figures)}
		}),
	}
}
