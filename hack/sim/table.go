package main

import (
	"fmt"
	"strings"
	"time"
)

// table is one in Markdown.
type table struct{ b *strings.Builder }

func newTable(b *strings.Builder, columns ...string) table {
	t := table{b}
	b.WriteString("\n")
	t.row(columns...)
	b.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
	return t
}

func (t table) row(cells ...string) { t.b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

// How figures are printed.

func percent(v float64) string { return fmt.Sprintf("%.2f %%", v) }

func tenth(v float64) string { return fmt.Sprintf("%.1f %%", v) }

func thousandth(v float64) string { return fmt.Sprintf("%.3f", v) }

func whole[N int | int64](n N) string { return fmt.Sprint(n) }

func ms(d time.Duration) string { return fmt.Sprintf("%.0f ms", d.Seconds()*1000) }
