package report

import (
	"bufio"
	"fmt"
	"strings"
	"text/tabwriter"

	"optcheck/event"
	"optcheck/internal/plain"
)

// writeHistograms prints one line per test and setting, then the outcomes that
// a model forbids or cannot decide.
func writeHistograms(b *bufio.Writer, r *event.Run) {
	if len(r.Histograms) == 0 {
		return
	}
	fmt.Fprintln(b)
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "test\tdevice\tsetting\tinstances\tweak\tper 100k\t95 % interval\tseen again")
	for i := range r.Histograms {
		h := &r.Histograms[i]
		name := plain.Label(h.Test)
		if !h.Validated && h.Instances > 0 {
			name += " (not validated)"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", name, h.Device.Name, h.Setting, histogramLine(h))
	}
	tw.Flush()
	for i := range r.Histograms {
		h := &r.Histograms[i]
		for _, o := range h.Outcomes {
			if strings.Contains(o.Effect, "forbidden") || strings.Contains(o.Effect, "undecided") {
				fmt.Fprintf(b, "%s: %s, %s: %s\n", plain.Label(h.Test), h.StateText(o), plain.Count(o.Count, "time"), o.Effect)
			}
		}
	}
}

// line returns the counted part of a histogram's line in tables.
func histogramLine(h *event.Histogram) string {
	status := ""
	if h.Status != event.StatusDone {
		status = "\t" + strings.TrimSuffix(h.Status+": "+firstOf(h.Detail), ": ")
	}
	if h.Rate == nil {
		return fmt.Sprintf("%d\t\t\t\t%s", h.Instances, status)
	}
	const scale = 1e5
	interval := fmt.Sprintf("%s–%s", short(scale*h.Rate.Low), short(scale*h.Rate.High))
	again := fmt.Sprintf("%.1f %%", 100*h.Rate.Reproducibility)
	if h.Weak == 0 {
		again = ""
		if h.Rate.Excluded > 0 {
			again = fmt.Sprintf("rate above %.2g excluded at 95 %%", h.Rate.Excluded)
		}
	}
	return fmt.Sprintf("%d\t%d\t%s\t%s\t%s%s", h.Instances, h.Weak, short(scale*h.Rate.Rate), interval, again, status)
}

// short prints three significant digits, without an exponent where that is
// shorter.
func short(x float64) string {
	if x == 0 {
		return "0"
	}
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func firstOf(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
