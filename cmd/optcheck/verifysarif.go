package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/ptx"
	"optcheck/report"
	"optcheck/report/html"
	"optcheck/verify"
)

// faults are the findings of a kernel.
func faults(r *verify.Result) (out []report.Fault) {
	titles := map[verify.Rule]string{}
	for _, r := range verify.Rules() {
		titles[r.Rule] = r.Says
	}
	for _, f := range r.Found {
		x := report.Fault{Rule: string(f.Rule), Title: titles[f.Rule], Kernel: r.Name, Message: f.Says(), Minor: f.Minor()}
		for _, s := range []*verify.Side{&f.First, f.Second} {
			if s != nil {
				x.Places = append(x.Places, faultPlace(r.File, s))
			}
		}
		out = append(out, x)
	}
	return out
}

// writeSARIF writes what was found to the file of --sarif.
func (v *verification) writeSARIF(env *environment) error {
	var list []report.Fault
	var why []string
	for _, r := range v.results {
		list = append(list, faults(r)...)
		for _, u := range r.Unknown {
			why = append(why, r.Name+": "+u)
		}
	}
	out, err := input.Create(v.sarif)
	if err != nil {
		return err
	}
	return cmp.Or(report.WriteFaultsSARIF(out, version(), list, why), out.Close())
}

// faultPlace is where an operation stands: in the source that the PTX was made of, if it tells that, else in the PTX.
func faultPlace(file string, s *verify.Side) report.FaultPlace {
	p := report.FaultPlace{File: file, Line: s.Line, Text: s.Text, Says: s.Thread.String()}
	switch {
	case s.Source > 0:
		if p.Line, p.Col = s.Source, s.Col; filepath.Base(s.File) != filepath.Base(file) { // a compiler may leave out the folder
			p.File = s.File
		}
	case isCUDA(file): // lines of PTX that nobody keeps
		p.Line = 0
	}
	return p
}

// writeHTML writes a page of what was found to the folder of --html.
func (v *verification) writeHTML(ctx context.Context) error {
	var out []report.FaultKernel
	for _, r := range v.results {
		k := report.FaultKernel{Name: r.Name, File: plain.Line(r.File), Verdict: r.Verdict(),
			Launch: fmt.Sprintf("grid %d,%d,%d, block %d,%d,%d", r.Grid[0], r.Grid[1], r.Grid[2], r.Block[0], r.Block[1], r.Block[2]), Faults: faults(r)}
		if len(r.Chose) > 0 {
			k.Launch += "; chosen: " + strings.Join(r.Chose, ", ")
		}
		for _, u := range r.Unknown {
			k.Notes = append(k.Notes, "Not known: "+u+".")
		}
		for i, f := range r.Found {
			x := &k.Faults[i]
			for at := range x.Places {
				x.Places[at].Around = v.sources.around(r.File, &x.Places[at])
			}
			x.Message = strings.Trim(f.Where+": "+f.Why, ": ")
			x.Notes = append(f.Notes(), f.Mends()...)
			svg, err := picture(f)
			if err != nil {
				return err
			}
			if svg != nil {
				x.Picture, x.Record = string(svg), f.Record
			}
		}
		out = append(out, k)
	}
	return html.WriteFaults(ctx, v.html, version(), out)
}

// sourceFiles are the lines of files, each read once.
type sourceFiles map[string][]string

// lines are those of a file, none if it cannot be read.
func (s sourceFiles) lines(file string) []string {
	lines, read := s[file]
	if !read {
		if data, err := input.ReadFile(file, ptx.MaxInput); err == nil {
			lines = strings.Split(string(data), "\n")
		}
		s[file] = lines
	}
	return lines
}

// repeat puts the lines of what a PTX was made of into a result, where they are in the file that was verified.
func (s sourceFiles) repeat(r *verify.Result) {
	for _, f := range r.Found {
		for _, side := range []*verify.Side{&f.First, f.Second} {
			if side == nil || side.Source == 0 {
				continue
			}
			p := faultPlace(r.File, side)
			if lines := s.lines(r.File); p.File == r.File && p.Line <= len(lines) {
				side.Written = strings.TrimSpace(lines[p.Line-1])
			}
		}
	}
}

// aroundLines is how many lines are shown on either side of one.
const aroundLines = 3

// around are the lines near a place of the file that was verified; none if the place is elsewhere, or the file cannot be read any more.
func (s sourceFiles) around(file string, p *report.FaultPlace) (out []report.SourceLine) {
	if p.File != file || p.Line == 0 {
		return nil
	}
	lines := s.lines(file)
	for n := max(1, p.Line-aroundLines); n <= min(len(lines), p.Line+aroundLines); n++ {
		out = append(out, report.SourceLine{Number: n, Text: lines[n-1], Here: n == p.Line})
	}
	return out
}
