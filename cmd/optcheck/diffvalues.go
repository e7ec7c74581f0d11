package main

import (
	"errors"
	"fmt"

	"optcheck/audit/values"
	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/toolname"
	"optcheck/report"
)

// compareHunts compares the causes of two hunts for values, or of two toolchains of one; nil
// if the first file is not of a hunt.
func compareHunts(args []string, left, right string) (*report.Comparison, error) {
	a, err := readHunt(args[0])
	if errors.Is(err, values.ErrNoHunt) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b := a
	if len(args) == 2 {
		if b, err = readHunt(args[1]); err != nil {
			return nil, err
		}
	} else if left == "" || right == "" {
		return nil, errors.New("with one hunt, --left and --right must name two of its toolchains")
	}
	x := &report.Comparison{Instructions: report.NewCodeChanges()}
	if x.Left, a, err = onlyHunt(a, left); err != nil {
		return nil, fmt.Errorf("--left: %w", err)
	}
	if x.Right, b, err = onlyHunt(b, right); err != nil {
		return nil, fmt.Errorf("--right: %w", err)
	}
	if a.Seed != b.Seed || a.Kernels != b.Kernels {
		x.Notes = append(x.Notes, fmt.Sprintf("The hunts tried different kernels (%d of seed %d, %d of seed %d): what only one side has, the other may not have met.",
			a.Kernels, a.Seed, b.Kernels, b.Seed))
	}
	x.Both = min(a.Kernels, b.Kernels)
	for _, s := range []struct {
		change      string
		have, other []*values.Cause
	}{{report.FindingNew, b.Causes, a.Causes}, {report.FindingGone, a.Causes, b.Causes}} {
		for _, c := range values.Lacking(s.have, s.other) {
			f := &report.FindingChange{Change: s.change, From: event.Preserved, To: event.Preserved, Class: event.Miscompiled,
				Rule: string(c.Example.Finding.Rule), What: c.Signature + ": " + c.Example.Finding.Why, Cells: len(c.Kernels), Where: c.Where}
			if s.change == report.FindingNew {
				f.To = event.Miscompiled
			} else {
				f.From = event.Miscompiled
			}
			for _, k := range c.Kernels {
				f.Tests = append(f.Tests, fmt.Sprintf("kernel %d", k))
			}
			x.Findings = append(x.Findings, f)
		}
	}
	return x, nil
}

func readHunt(file string) (*values.Report, error) {
	fh, err := input.Open(file)
	if err != nil {
		return nil, err
	}
	defer fh.Close()
	r, err := values.ReadReport(fh)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// onlyHunt is the part of a hunt that belongs to a toolchain; all of it for "".
func onlyHunt(r *values.Report, name string) (string, *values.Report, error) {
	if name == "" {
		return "", r, nil
	}
	return r.Only(func(id string) bool { return id == name || toolname.ID(name, id) })
}
