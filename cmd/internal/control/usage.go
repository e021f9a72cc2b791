package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/meter"
)

// figures are of usage. Numbers with a fraction are shown as they came: no float comes between.
type figures struct {
	Requests  int64       `json:"requests"`
	Errors    int64       `json:"errors"`
	Cancelled int64       `json:"cancelled"`
	Minutes   json.Number `json:"minutes"`
	Billed    int64       `json:"billed_frames"`
	AmountINR json.Number `json:"amount_inr"`
	TTFAP50   *float64    `json:"ttfa_p50_ms"`
	TTFAP95   *float64    `json:"ttfa_p95_ms"`
}

func (a *Commands) usageCommand() *cobra.Command {
	var c control
	var in scope
	var from, to string
	var csv, months bool
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Show usage and cost",
		Long: `Shows the usage of an organisation by day (India time), for the last 30 days or from --from to --to, both inclusive; with
--months its bills. A month is billed as a whole: 20 paise a minute, rounded once.`,
		Example: fmt.Sprintf(`  %[1]s usage --from 2026-11-01 --to 2026-11-30 --csv > november.csv
  %[1]s usage --months`, a.Name),
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.open(a, cmd); err != nil {
				return err
			}
			if months && (from != "" || to != "") {
				return launch.BadUsage(cmd, "--months shows all months; leave --from and --to out")
			}
			if csv && c.asJSON {
				return launch.BadUsage(cmd, "--csv and --json contradict each other; drop one of them")
			}
			q := url.Values{}
			for name, day := range map[string]string{"from": from, "to": to} {
				if day == "" {
					continue
				}
				t, err := time.ParseInLocation(time.DateOnly, day, meter.India)
				if err != nil {
					return launch.BadUsage(cmd, "--%s %q: want a day such as 2026-11-21", name, day)
				}
				if name == "to" {
					t = t.AddDate(0, 0, 1) // the portal wants the moment where it ends
				}
				q.Set(name, strconv.FormatInt(t.Unix(), 10))
			}
			org, err := in.findOrg(cmd.Context(), &c)
			if err != nil {
				return err
			}
			q.Set("org_id", org.ID)
			if in.project != "" {
				project, err := in.findProject(org)
				if err != nil {
					return err
				}
				q.Set("project_id", project.ID)
			}
			path := "/portal/v1/usage?"
			if months {
				path = "/portal/v1/billing?"
			}
			if csv {
				q.Set("format", "csv")
				answer, err := c.do(cmd.Context(), http.MethodGet, path+q.Encode(), nil, nil)
				if err == nil {
					_, err = a.Out.Write(answer)
				}
				return err
			}
			if months {
				return a.showMonths(cmd, &c, path+q.Encode())
			}
			return a.showUsage(cmd, &c, path+q.Encode())
		},
	}
	f := cmd.Flags()
	in.orgFlag(f)
	in.projectFlag(f, "all")
	f.StringVar(&from, "from", "", "first `day`, such as 2026-11-01 (default 30 days ago)")
	f.StringVar(&to, "to", "", "last `day` (default today)")
	f.BoolVar(&months, "months", false, "show the bills of all months")
	f.BoolVar(&csv, "csv", false, "print CSV")
	c.flags(f)
	launch.Complete(cmd, "org", a.offerOrgs(&c))
	return cmd
}

func (a *Commands) showUsage(cmd *cobra.Command, c *control, path string) error {
	var u struct {
		Totals  figures
		TTFAP50 *float64 `json:"ttfa_p50_ms"`
		TTFAP95 *float64 `json:"ttfa_p95_ms"`
		ByDay   []struct {
			Date string
			figures
		} `json:"by_day"`
		ByKey []struct {
			KeyID string `json:"key_id"`
			Name  string
			figures
		} `json:"by_key"`
	}
	answer, err := c.do(cmd.Context(), http.MethodGet, path, nil, &u)
	if err != nil {
		return err
	}
	return c.print(a, answer, func() error {
		t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "day\trequests\terrors\tcancelled\tminutes\trupees\tfirst audio p50\tp95\t")
		for _, d := range u.ByDay {
			if d.Requests > 0 || d.Billed != 0 {
				d.figures.line(t, d.Date)
			}
		}
		u.Totals.TTFAP50, u.Totals.TTFAP95 = u.TTFAP50, u.TTFAP95
		u.Totals.line(t, "all")
		if err := t.Flush(); err != nil || len(u.ByKey) == 0 {
			return err
		}
		fmt.Fprintln(a.Out)
		t = tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "key\tname\trequests\tminutes\trupees")
		for _, k := range u.ByKey {
			fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", k.KeyID, k.Name, k.Requests, k.Minutes, k.AmountINR)
		}
		return t.Flush()
	})
}

func (f figures) line(t *tabwriter.Writer, name string) {
	milliseconds := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return strconv.FormatFloat(*v, 'f', 1, 64) + " ms"
	}
	fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t\n", name, f.Requests, f.Errors, f.Cancelled, f.Minutes,
		f.AmountINR, milliseconds(f.TTFAP50), milliseconds(f.TTFAP95))
}

func (a *Commands) showMonths(cmd *cobra.Command, c *control, path string) error {
	var b struct {
		Months []struct {
			Month  string
			Status string
			figures
		}
	}
	answer, err := c.do(cmd.Context(), http.MethodGet, path, nil, &b)
	if err != nil {
		return err
	}
	return c.print(a, answer, func() error {
		t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "month\trequests\tminutes\trupees\tstate\t")
		for _, m := range b.Months {
			fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t\n", m.Month, m.Requests, m.Minutes, m.AmountINR, m.Status)
		}
		return t.Flush()
	})
}
