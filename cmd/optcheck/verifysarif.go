package main

import (
	"cmp"
	"path/filepath"

	"optcheck/internal/input"
	"optcheck/report"
	"optcheck/verify"
)

// writeSARIF writes what was found to the file of --sarif.
func (v *verification) writeSARIF(env *environment) error {
	titles := map[verify.Rule]string{}
	for _, r := range verify.Rules() {
		titles[r.Rule] = r.Says
	}
	var faults []report.Fault
	var why []string
	for _, r := range v.results {
		for _, f := range r.Found {
			x := report.Fault{Rule: string(f.Rule), Title: titles[f.Rule], Kernel: r.Name, Message: f.Says(), Minor: f.Possible()}
			for _, s := range []*verify.Side{&f.First, f.Second} {
				if s != nil {
					x.Places = append(x.Places, faultPlace(r.File, s))
				}
			}
			faults = append(faults, x)
		}
		for _, u := range r.Unknown {
			why = append(why, r.Name+": "+u)
		}
	}
	out, err := input.Create(v.sarif)
	if err != nil {
		return err
	}
	return cmp.Or(report.WriteFaultsSARIF(out, version(), faults, why), out.Close())
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
