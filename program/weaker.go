package program

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/target"
	"optcheck/toolchain"
)

// Form is a way to order accesses at a site that is narrower than a full fence.
type Form struct {
	Name   string
	Fences Fences // in the place of the site's full one
}

// Forms lists what is narrower than a full fence at a site, the narrowest last: fences of
// less strength and scope, and accesses that acquire or release themselves: the one in
// front of the fence, and the one behind it, of the same function.
func (r *PTXRoad) Forms(site int) (list []Form) {
	if toolchain.CompareVersions(r.module.Version, "6.0") < 0 {
		return nil // no fences but membar
	}
	list = append(list, Form{"fence.acq_rel.gpu", Fences{site: "fence.acq_rel.gpu"}})
	sites := r.Sites()
	at := slices.IndexFunc(sites, func(s Site) bool { return s.N == max(site, -site) })
	first, second := at, at+1
	if site < 0 {
		first, second = at-1, at
	}
	if first >= 0 {
		if e := sites[first].inst.Effect(); e.Kind == ptx.Load && e.Width <= 8 || e.Kind == ptx.Atomic {
			list = append(list, Form{fmt.Sprintf("access %d acquires", sites[first].N), Fences{sites[first].N: ".acquire.gpu"}})
		}
	}
	if second < len(sites) && (first < 0 || sites[first].Func == sites[second].Func) {
		e := sites[second].inst.Effect()
		if e.Kind == ptx.Store && e.Width <= 8 || e.Kind == ptx.Atomic || e.Kind == ptx.Reduction {
			list = append(list, Form{fmt.Sprintf("access %d releases", sites[second].N), Fences{sites[second].N: ".release.gpu"}})
		}
	}
	return append(list, Form{"fence.acq_rel.cta", Fences{site: "fence.acq_rel.cta"}})
}

// Narrower is what became of a form.
type Narrower struct {
	Site   int    `json:"site"`
	Form   string `json:"form"`
	Fences Fences `json:"fences"` // of the whole program
	Runs   uint64 `json:"runs"`
	Errors uint64 `json:"errors"`
	First  string `json:"first,omitempty"`
	Refuse string `json:"refused,omitempty"` // why it could not be tried
}

// Narrow tries the forms of each fence, one fence at a time.
func (l *Lab) Narrow(ctx context.Context, e *Environment, fences []int, limit Limit) (list []Narrower, err error) {
	road, ok := l.Road.(interface{ Forms(int) []Form })
	if !ok {
		return nil, nil
	}
	for _, n := range fences {
		for _, form := range road.Forms(n) {
			all := l.full(without(fences, []int{n}))
			if all == nil {
				all = Fences{}
			}
			for k, text := range form.Fences {
				if all[k] == "" {
					all[k] = text
				}
			}
			one := Narrower{Site: n, Form: form.Name, Fences: all}
			r, err := l.Measure(ctx, e, all, fmt.Sprintf("narrow %d: %s", n, form.Name), limit)
			switch {
			case ctx.Err() != nil:
				return list, ctx.Err()
			case err != nil && r == nil:
				one.Refuse = firstLine(err)
			case err != nil:
				return list, err
			default:
				one.Runs, one.Errors, one.First = r.Runs, r.Errors(), r.First
			}
			list = append(list, one)
		}
	}
	return list, nil
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

// Verified is what is in the machine code of a release of each fence.
type Verified struct {
	Toolchain string `json:"toolchain"`
	Target    string `json:"target"`
	Level     string `json:"level"`
	Class     string `json:"class"`
	Reason    string `json:"reason,omitempty"`
	// Fences are, by site: there, no instruction (none is needed for it), missing,
	// changed, unknown.
	Fences map[int]string `json:"fences,omitempty"`
}

// Verify looks for fences in the machine code of releases, for each level.
func (r *PTXRoad) Verify(ctx context.Context, tools []*toolchain.Toolchain, levels []string, fences Fences) (list []Verified, err error) {
	m, err := r.Rewritten(fences, false)
	if err != nil {
		return nil, err
	}
	at := r.fencePlaces(m, fences)
	list = make([]Verified, len(tools)*len(levels))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range list {
		group.Go(func() error {
			list[i] = r.verify(ctx, tools[i/len(levels)], levels[i%len(levels)], m, at)
			return ctx.Err()
		})
	}
	return list, group.Wait()
}

// verify looks for fences at their places in the machine code of a release.
func (r *PTXRoad) verify(ctx context.Context, tc *toolchain.Toolchain, level string, m *ptx.Module, at map[int]ptx.Pos) Verified {
	gpu := r.Target
	if !slices.Contains(tc.Targets, gpu) { // its newest
		gpu = slices.MaxFunc(tc.Targets, target.Compare)
	}
	v := Verified{Toolchain: tc.ID, Target: gpu, Level: level}
	code, _, err := realcode.Cubin(ctx, tc, m, gpu, level)
	if err != nil {
		v.Class, v.Reason = realcode.Unsupported, firstLine(err)
		return v
	}
	sm, _ := target.SM(gpu)
	res := realcode.Check(m, code.Program, sm)
	v.Class, v.Reason = res.Class()
	v.Fences = placed(res, at)
	return v
}

// fencePlaces are the places of fences, and of accesses that order, in a rewritten module.
func (r *PTXRoad) fencePlaces(m *ptx.Module, fences Fences) map[int]ptx.Pos {
	out := map[int]ptx.Pos{}
	sites := Sites(m, r.kernels)
	for _, s := range sites {
		switch text := fences[s.N]; {
		case strings.HasPrefix(text, "."):
			out[s.N] = s.Pos
		case text != "":
			out[s.N] = m.Neighbour(s.inst, 1).Pos
		}
		if fences[-s.N] != "" {
			out[-s.N] = m.Neighbour(s.inst, -1).Pos
		}
	}
	return out
}

// placed says of each fence what a comparison says of it.
func placed(res *realcode.Result, at map[int]ptx.Pos) map[int]string {
	out := map[int]string{}
	for _, n := range slices.Sorted(maps.Keys(at)) {
		about := func(list []realcode.Finding) (f *realcode.Finding) {
			for i := range list {
				if p := list[i].First; p != nil && p.Pos == at[n] {
					return &list[i]
				}
			}
			return nil
		}
		out[n] = "there"
		if f := about(res.Notes); f != nil && f.Rule == realcode.Missing {
			out[n] = "no instruction"
		}
		if about(res.Unknown) != nil {
			out[n] = "unknown"
		}
		if f := about(res.Findings); f != nil {
			out[n] = string(f.Rule)
		}
	}
	return out
}

// Demand is an order that the model demands.
type Demand struct {
	Site int `json:"site"` // 0: no fence of the result orders the two
	// By are the sites of which one with a fence behind it is enough.
	By []int `json:"by,omitempty"`
	realcode.Demand
}

// The verdicts on a fence.
const (
	Demanded  = "demanded by the model"
	OnlySeen  = "seen to matter on this chip only"
	NotShown  = "not shown to matter"
	Unordered = "demanded by the model, and ordered by no fence"
)

// Judge asks the model which orders of the program's accesses, as it is without fences,
// nothing gives; for each the first of the fences that stands between the two.
func (r *PTXRoad) Judge(ctx context.Context, fences []int) (list []Demand, open int, err error) {
	d, err := realcode.Demanded(ctx, r.module, r.kernels)
	if err != nil {
		return nil, 0, err
	}
	sites, place := r.Sites(), map[int]int{}
	for _, s := range sites {
		place[s.N], place[-s.N] = s.inst.N, s.inst.N-1
	}
	for _, x := range d.List {
		one := Demand{Demand: x}
		for _, n := range fences {
			if one.Site == 0 && x.Between(place[n]) {
				one.Site = n
			}
		}
		for _, s := range sites {
			if x.Between(place[s.N]) {
				one.By = append(one.By, s.N)
			}
		}
		list = append(list, one)
	}
	return list, d.Open, nil
}
