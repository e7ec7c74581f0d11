package main

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"optcheck/internal/plain"
	"optcheck/program"
	"optcheck/realcode"
	"optcheck/report/html"
)

// programsPage makes the page of what the commands for programs wrote.
func programsPage(files []string) (template.HTML, error) {
	byName := map[string]*html.Program{}
	var order []string
	at := func(name string) *html.Program {
		if byName[name] == nil {
			byName[name] = &html.Program{Name: name}
			order = append(order, name)
			if p, err := program.Load(name); err == nil { // one that the binary has
				byName[name].About = strings.Join(strings.Fields(p.About), " ")
			}
		}
		return byName[name]
	}
	base := map[string]*program.Cost{}
	for _, file := range files {
		lines, err := readTableFile(file, func(name string, r io.Reader) ([]program.Line, error) { return program.ReadLines(name, r) })
		if err != nil {
			return "", err
		}
		for _, l := range lines {
			if r := l.Test; r != nil {
				p := at(r.Program)
				p.Tests = append(p.Tests, testRow(r))
			}
			if h := l.Hardened; h != nil {
				p := at(h.Program)
				p.Hardened = append(p.Hardened, hardenedRows(h))
			}
			if c := l.Cost; c != nil {
				if key := c.Program + " " + c.Target; base[key] == nil || c.Variant == "as it is" {
					base[key] = c
				}
				p := at(c.Program)
				p.Costs = append(p.Costs, costRow(base[c.Program+" "+c.Target], c))
			}
		}
	}
	if len(order) == 0 {
		return "", errors.New("nothing of a program in these files")
	}
	var list []html.Program
	for _, name := range order {
		list = append(list, *byName[name])
	}
	return html.ProgramsBody(list)
}

func testRow(r *program.Result) html.ProgramTest {
	var fences []string
	for _, n := range slices.Sorted(maps.Keys(r.Fences)) {
		fences = append(fences, fmt.Sprintf("%d %s", n, r.Fences[n]))
	}
	out := html.ProgramTest{Environment: r.Environment, Stress: r.Stress, Where: r.Device + ", " + r.Compiler,
		Fences: strings.Join(fences, ", "),
		First:  r.First, Runs: r.Runs, Errors: r.Errors(), Timeouts: r.Timeouts, Rate: r.Rate, Low: r.Low, High: r.High, Effective: r.Effective}
	if r.Class != realcode.Preserved {
		out.Class = r.Class
	}
	return out
}

func hardenedRows(h *program.HardenedProgram) html.ProgramHardened {
	out := html.ProgramHardened{Where: h.Device + ", " + h.Compiler, Environment: h.Environment,
		Summary: fmt.Sprintf("%s of %d sites, after %s in %s; the result without an error in %d runs.", plain.Count(len(h.Fences), "fence"),
			len(h.Sites),
			plain.Count(h.Rounds, "round"), stressed(h), h.StableRuns)}
	sites, fenced := map[int]int{}, map[int]bool{}
	for _, s := range h.Sites {
		sites[s.Pos.Line] = s.N
		for _, at := range []int{-s.N, s.N} {
			if !slices.Contains(h.Fences, at) {
				continue
			}
			fenced[s.N] = true
			n := h.Needed[at]
			out.Fences = append(out.Fences, html.ProgramFence{Site: at, Access: s.Text, Line: s.Pos.Line, Verdict: h.Verdicts[at],
				Without: fmt.Sprintf("%d of %d runs are wrong", n.Errors, n.Runs)})
		}
	}
	for _, n := range h.Narrower {
		out.Narrower = append(out.Narrower, html.ProgramNote{What: fmt.Sprintf("%d as %s", n.Site, n.Form),
			Result: fmt.Sprintf("%d of %d runs are wrong", n.Errors, n.Runs), Detail: n.Refuse + n.First})
	}
	for _, v := range h.Verified {
		var list []string
		for _, n := range slices.Sorted(maps.Keys(v.Fences)) {
			list = append(list, fmt.Sprintf("%d %s", n, v.Fences[n]))
		}
		out.Machine = append(out.Machine, html.ProgramNote{What: v.Toolchain + " " + v.Target + " " + v.Level, Result: v.Class,
			Detail: strings.Join(list, ", ") + v.Reason})
	}
	for _, d := range h.Demands {
		by := program.Unordered
		if d.Site != 0 {
			by = fmt.Sprintf("ordered by fence %d", d.Site)
		}
		out.Demands = append(out.Demands, html.ProgramNote{What: fmt.Sprintf("line %d: %s, then line %d: %s", d.First.Pos.Line, d.First.Text,
			d.Second.Pos.Line, d.Second.Text), Result: by, Detail: d.Pattern})
	}
	out.Code = html.Code(h.Code, sites, fenced)
	return out
}

func costRow(base, c *program.Cost) html.ProgramCost {
	more := func(x, y float64) float64 {
		if y == 0 {
			return 0
		}
		return 100 * (x/y - 1)
	}
	out := html.ProgramCost{Where: c.Target, Variant: c.Variant, Fences: len(c.Fences), Median: c.Median, Low: c.Low, High: c.High,
		MoreTime: more(c.Median, base.Median), Energy: c.Millijoules(), MoreEnergy: more(c.Millijoules(), base.Millijoules()), Wrong: c.Wrong}
	if c.Energy != nil {
		out.Watts = c.Energy.Watts
	}
	return out
}
