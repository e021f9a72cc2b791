package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// chart is lines over a common axis.
type chart struct {
	title, x, y string
	maxY        float64
	xs          []float64
	lines       []line
	steps       int // between marks on the axis of x; 0 means 7
}

type line struct {
	name string
	ys   []float64
}

const (
	chartWidth, chartHeight                 = 720, 360
	chartLeft, chartTop, plotWide, plotHigh = 60, 40, 500, 260
)

// style is readable on light and on dark ground.
const style = `<style>
text{font:13px sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}
.axis{stroke:#777}.grid{stroke:#999;stroke-opacity:.3}
polyline{fill:none;stroke-width:2}.c0{stroke:#1a66b3}.c1{stroke:#b34700}.c2{stroke:#3d8033}.c3{stroke:#8a3dab}.c4{stroke:#a8842c}
@media(prefers-color-scheme:dark){text{fill:#ddd}
.c0{stroke:#6cb2ff}.c1{stroke:#ff9d57}.c2{stroke:#86cf7a}.c3{stroke:#d394f0}.c4{stroke:#e5c76b}}
</style>
`

// svg draws the chart. Lines differ by colour and by their dashes.
func (c chart) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`, chartWidth, chartHeight)
	fmt.Fprintf(&b, "\n<title>%s</title>\n%s", c.title, style)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="22">%s</text>`+"\n", chartLeft, c.title)
	first, last := c.xs[0], c.xs[len(c.xs)-1]
	px := func(x float64) float64 { return chartLeft + (x-first)/(last-first)*plotWide }
	py := func(y float64) float64 { return chartTop + plotHigh - min(y/c.maxY, 1)*plotHigh }
	for i := range 6 {
		y := c.maxY * float64(i) / 5
		fmt.Fprintf(&b, `<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`,
			chartLeft, py(y), chartLeft+plotWide, py(y))
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", chartLeft-8, py(y)+4, number(y))
	}
	steps := cmp.Or(c.steps, 7)
	for i := range steps + 1 {
		x := first + (last-first)*float64(i)/float64(steps)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", px(x),
			chartTop+plotHigh+20, number(x))
	}
	fmt.Fprintf(&b, `<line class="axis" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n",
		chartLeft, chartTop+plotHigh, chartLeft+plotWide, chartTop+plotHigh)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n",
		chartLeft+plotWide/2, chartTop+plotHigh+44, c.x)
	fmt.Fprintf(&b, `<text x="16" y="%d" text-anchor="middle" transform="rotate(-90 16 %d)">%s</text>`+"\n",
		chartTop+plotHigh/2, chartTop+plotHigh/2, c.y)
	for i, l := range c.lines {
		dashes := []string{"", "7 3", "2 3", "10 3 2 3", "1 2"}[i%5]
		var points []string
		for j, y := range l.ys {
			points = append(points, fmt.Sprintf("%.1f,%.1f", px(c.xs[j]), py(y)))
		}
		fmt.Fprintf(&b, `<polyline class="c%d" stroke-dasharray="%s" points="%s"/>`+"\n",
			i%5, dashes, strings.Join(points, " "))
		y := chartTop + 14 + 22*i
		fmt.Fprintf(&b, `<line class="c%d" stroke-width="2" stroke-dasharray="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`,
			i%5, dashes, chartLeft+plotWide+14, y-4, chartLeft+plotWide+44, y-4)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", chartLeft+plotWide+50, y, l.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// number prints with at most two digits after the point.
func number(v float64) string {
	text := fmt.Sprintf("%.2f", math.Round(v*100)/100)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
