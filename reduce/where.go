package reduce

import (
	"context"
	"slices"
	"strings"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/litmus"
	"optcheck/spec"
	"optcheck/toolchain"
)

// Place is one place of a matrix that was examined for a finding.
type Place struct {
	Toolchain string   `json:"toolchain"`
	Target    string   `json:"target"`
	Level     string   `json:"level"`
	There     bool     `json:"there"` // the finding is there, with the same class
	Class     string   `json:"class"`
	Rules     []string `json:"rules,omitempty"`
	Reason    string   `json:"reason,omitempty"`
}

// Range says which releases have a finding, seen from the release in which it was found, for
// one target and level. Releases that lack the target are skipped.
type Range struct {
	FirstBad string `json:"first_bad"`           // the oldest release of an unbroken row that has the finding
	LastGood string `json:"last_good,omitempty"` // the release before that, without it
	LastBad  string `json:"last_bad"`            // the newest release of the row
	NextGood string `json:"next_good,omitempty"` // the release after that, without it
}

// Where says which of the examined toolchains have a finding, and where.
type Where struct {
	Releases []string `json:"releases"` // IDs, oldest first
	Places   []Place  `json:"places"`
	Range    Range    `json:"range"`
}

// Locate audits a finding's test with all of the vendor's toolchains: on all targets at the
// finding's level, and at all levels on the finding's target. Of toolchains of llc and ptxas it
// takes those that share one of the two with the finding's; the range is that of the compiler
// in which the finding arose.
func Locate(ctx context.Context, f *Finding, all []*toolchain.Toolchain, base audit.Options) (*Where, error) {
	w := &Where{}
	var same, kin []*toolchain.Toolchain
	for _, tc := range all {
		if tc.Vendor() != f.Toolchain.Vendor() || !akin(tc, f.Toolchain) {
			continue
		}
		kin = append(kin, tc)
		w.Releases = append(w.Releases, tc.ID)
		if tc.HasTarget(f.Target) {
			same = append(same, tc)
		}
	}
	o := base
	o.Tests, o.Layouts, o.Flags, o.Progress = []*litmus.Test{f.Test}, []spec.Layout{f.Layout}, f.Flags, nil
	o.Toolchains, o.Targets, o.Levels = kin, nil, []string{f.Level}
	run, err := matrix(ctx, o)
	if err != nil {
		return nil, err
	}
	cells := run.Cells
	o.Toolchains, o.Targets = same, []string{f.Target}
	o.Levels = slices.DeleteFunc(slices.Clone(audit.Levels), func(l string) bool { return l == f.Level })
	if run, err = matrix(ctx, o); err != nil {
		return nil, err
	}
	cells = append(cells, run.Cells...)
	for i := range cells {
		c := &cells[i]
		w.Places = append(w.Places, Place{Toolchain: c.Toolchain, Target: c.Target, Level: c.Level,
			There: f.Signature.Holds(c), Class: c.Class, Rules: Rules(c), Reason: c.Reason})
	}
	w.Range = (&Where{Releases: row(f, kin, cells), Places: w.Places}).rangeOf(f.Toolchain.ID, f.Target, f.Level)
	return w, nil
}

// akin reports whether two toolchains consist of the same kinds of compilers and, if there are
// several, share one.
func akin(a, b *toolchain.Toolchain) bool {
	x, y := a.Compilers(), b.Compilers()
	if len(x) != len(y) {
		return false
	}
	shared := len(x) == 1
	for i := range x {
		if x[i].Tool != y[i].Tool {
			return false
		}
		shared = shared || x[i].Path == y[i].Path
	}
	return shared
}

// row lists the toolchains over which a finding's range is determined, oldest first: of pairs,
// those that differ in the compiler in which the finding arose.
func row(f *Finding, kin []*toolchain.Toolchain, cells []event.Cell) (ids []string) {
	stage := f.Toolchain.Compilers()[0].Tool
	for i := range cells {
		c := &cells[i]
		if c.Toolchain != f.Toolchain.ID || c.Target != f.Target || c.Level != f.Level {
			continue
		}
		for _, x := range c.Findings {
			if f.Signature.Is(x) {
				stage = x.Stage
			}
		}
	}
	for _, tc := range kin {
		same, own := true, f.Toolchain.Compilers()
		for i, c := range tc.Compilers() {
			same = same && (len(own) == 1 || c.Tool == stage || c.Path == own[i].Path)
		}
		if same {
			ids = append(ids, tc.ID)
		}
	}
	return ids
}

// rangeOf determines the range for a target and level from the places.
func (w *Where) rangeOf(id, target, level string) Range {
	var row []*Place
	at := -1
	for _, rel := range w.Releases {
		for i := range w.Places {
			p := &w.Places[i]
			if p.Toolchain != rel || p.Target != target || p.Level != level || p.Class == event.Unsupported {
				continue
			}
			if rel == id {
				at = len(row)
			}
			row = append(row, p)
		}
	}
	if at < 0 || !row[at].There {
		return Range{}
	}
	first, last := at, at
	for first > 0 && row[first-1].There {
		first--
	}
	for last+1 < len(row) && row[last+1].There {
		last++
	}
	r := Range{FirstBad: row[first].Toolchain, LastBad: row[last].Toolchain}
	// A release in which the cell could not be decided is neither good nor bad.
	if first > 0 && row[first-1].Class != event.Unknown {
		r.LastGood = row[first-1].Toolchain
	}
	if last+1 < len(row) && row[last+1].Class != event.Unknown {
		r.NextGood = row[last+1].Toolchain
	}
	return r
}

// At returns the place of a toolchain, target and level, or nil.
func (w *Where) At(toolchain, target, level string) *Place {
	for i := range w.Places {
		if p := &w.Places[i]; p.Toolchain == toolchain && p.Target == target && p.Level == level {
			return p
		}
	}
	return nil
}

// Group is a set of targets of one toolchain and level on which a finding's test has the same
// result.
type Group struct {
	Toolchain, Level string
	What             string // "found", or the class and the rules broken instead
	There            bool
	Targets          []string
}

// Groups groups places with the same outcome, in the order of toolchains and levels.
func (w *Where) Groups() []Group {
	var list []Group
	for _, rel := range w.Releases {
		for _, level := range audit.Levels {
			first := len(list)
			for _, p := range w.Places {
				if p.Toolchain != rel || p.Level != level {
					continue
				}
				what := p.Class
				if len(p.Rules) > 0 {
					what += " (" + strings.Join(p.Rules, ", ") + ")"
				}
				if p.There {
					what = "found"
				}
				at := slices.IndexFunc(list[first:], func(g Group) bool { return g.What == what })
				if at < 0 {
					list = append(list, Group{Toolchain: rel, Level: level, What: what, There: p.There})
					at = len(list) - 1 - first
				}
				list[first+at].Targets = append(list[first+at].Targets, p.Target)
			}
		}
	}
	return list
}
