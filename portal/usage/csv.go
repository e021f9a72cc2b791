package usage

import (
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// WriteDays writes the days of u as CSV, with a head line.
func WriteDays(w io.Writer, u Usage) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"date", "requests", "errors", "cancelled", "audio_s", "minutes", "chars", "ttfa_p50_ms",
		"ttfa_p95_ms", "rtf_avg", "amount_paise", "amount_inr"})
	for _, d := range u.ByDay {
		_ = out.Write([]string{
			d.Date, whole(d.Requests), whole(d.Errors), whole(d.Cancelled), Seconds(d.Frames), Minutes(d.Frames),
			whole(d.Chars),
			optional(d.TTFAP50), optional(d.TTFAP95), optional(d.RTF), whole(d.Paise), Rupees(d.Paise),
		})
	}
	return finish(out)
}

// WriteBills writes bills as CSV, with a head line.
func WriteBills(w io.Writer, bills []Bill) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"month", "status", "requests", "audio_s", "minutes", "paise_per_minute", "amount_paise",
		"amount_inr"})
	for _, b := range bills {
		status := "open"
		if b.Closed {
			status = "closed"
		}
		_ = out.Write([]string{
			b.Month, status, whole(b.Requests), Seconds(b.Billed), Minutes(b.Billed), whole(b.Rate), whole(b.Paise),
			Rupees(b.Paise),
		})
	}
	return finish(out)
}

// WriteRequests writes every request that q selects as CSV, newest first, with a head line. It reads them page by
// page and ignores q.Limit. What was written before an error stands.
func (r *Reports) WriteRequests(ctx context.Context, w io.Writer, q RequestQuery) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{
		"ts", "request_id", "project_id", "key_id", "key_prefix", "endpoint", "voice", "format", "status", "error", "chars", "chunks", "frames",
		"audio_s", "billed_frames", "ttfa_ms", "queue_ms", "wall_ms", "rtf", "prefill_cached", "seed",
	})
	q.Limit = maxRequests
	for cursor := ""; ; {
		page, err := r.Requests(ctx, q, cursor)
		if err != nil {
			return err
		}
		for _, row := range page.Requests {
			_ = out.Write([]string{
				row.Start.UTC().Format("2006-01-02T15:04:05.000Z07:00"), text(row.RequestID), row.ProjectID,
				row.KeyID, row.KeyPrefix,
				row.Endpoint, text(row.Voice), row.Format, string(row.Status), text(row.Error),
				whole(int64(row.Chars)), whole(int64(row.Chunks)),
				whole(row.Frames), Seconds(row.Frames), whole(row.Billed), tenths(row.TTFAus), tenths(row.Queueus),
				tenths(row.Wallus),
				optional(row.RTF()), strconv.FormatBool(row.PrefillCached), whole(row.Seed),
			})
		}
		if cursor = page.Next; cursor == "" {
			return finish(out)
		}
		if err := finish(out); err != nil {
			return err
		}
	}
}

// text keeps spreadsheets from reading a client's text as a formula (OWASP, CSV injection): =1+1 → '=1+1. It applies to
// =, +, - and @, also in the wide form of East Asia, after white space or invisible characters.
func text(s string) string {
	first := strings.TrimLeftFunc(s,
		func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) })
	begins, _ := utf8.DecodeRuneInString(first)
	if strings.ContainsRune("=+-@＝＋－＠", begins) || s != "" && s[0] < ' ' {
		return "'" + s
	}
	return s
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// optional is empty where there is no figure.
func optional(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

// tenths writes microseconds as milliseconds with one decimal.
func tenths(us int64) string {
	return strconv.FormatFloat((time.Duration(us)*time.Microsecond).Round(100*time.Microsecond).Seconds()*1000, 'f',
		1, 64)
}

func finish(out *csv.Writer) error {
	out.Flush()
	return out.Error()
}
