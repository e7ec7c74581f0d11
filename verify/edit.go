package verify

import (
	"fmt"
	"slices"

	"optcheck/ir"
)

// edit is a change of a program that may mend it.
type edit struct {
	kind editKind
	at   int // instruction
	// scope is that of a fence, or of an access.
	scope ir.Scope
}

type editKind uint8

const (
	fenceBefore editKind = iota
	fenceAfter
	warpBefore
	warpAfter
	blockBefore
	blockAfter
	proxyBefore
	proxyAfter
	strong // the access is relaxed, with the scope at least
)

// inserts reports whether an edit adds an instruction, and whether in front.
func (k editKind) inserts() (inserts, before bool) {
	return k != strong, k == fenceBefore || k == warpBefore || k == blockBefore || k == proxyBefore
}

// inst is the instruction that an edit adds.
func (e edit) inst(beside *ir.Inst) ir.Inst {
	out := ir.Inst{Guard: ir.None, Source: beside.Source, Text: e.what()}
	switch e.kind {
	case fenceBefore, fenceAfter:
		out.Do = &ir.Fence{Sem: ir.AcqRel, Scope: e.scope}
	case proxyBefore, proxyAfter:
		out.Do = &ir.Fence{Sem: ir.AcqRel, Scope: ir.Sys, Proxy: "async"}
	case warpBefore, warpAfter:
		out.Do = &ir.Barrier{Kind: ir.BarrierWarp, ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None}
	default:
		out.Do = &ir.Barrier{Kind: ir.BarrierSync, Aligned: true, ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None}
	}
	return out
}

// what names an edit as PTX and CUDA do.
func (e edit) what() string {
	switch e.kind {
	case fenceBefore, fenceAfter:
		cuda := map[ir.Scope]string{ir.CTA: " (__threadfence_block())", ir.GPU: " (__threadfence())", ir.Sys: " (__threadfence_system())"}[e.scope]
		return "fence.acq_rel." + e.scope.String() + cuda
	case proxyBefore, proxyAfter:
		return "fence.proxy.async"
	case warpBefore, warpAfter:
		return "bar.warp.sync (__syncwarp())"
	case blockBefore, blockAfter:
		return "bar.sync 0 (__syncthreads())"
	}
	return "a strong access"
}

// strengthening says what becomes of an access.
func (e edit) strengthening(in *ir.Inst) string {
	if a, ok := in.Do.(*ir.Access); ok && a.Sem != ir.Weak {
		return "with scope " + e.scope.String()
	}
	return "made relaxed." + e.scope.String()
}

// text is an edit with its place.
func (e edit) text(p *ir.Program, lines Lines) string {
	in := &p.Insts[e.at]
	place := lines.at(in.Source).String()
	if place != "" {
		place += ", "
	}
	if e.kind == strong {
		return fmt.Sprintf("%sthe access %s %s", place, in.Text, e.strengthening(in))
	}
	side := "behind"
	if _, before := e.kind.inserts(); before {
		side = "in front of"
	}
	return fmt.Sprintf("%s %s %s%s", e.what(), side, place, in.Text)
}

// apply makes the program with edits. A jump to an instruction goes to what stands in front of it; what stands behind one is
// reached through it alone.
func apply(p *ir.Program, edits []edit) *ir.Program {
	before, after, changed := map[int][]edit{}, map[int][]edit{}, map[int]edit{}
	for _, e := range edits {
		switch inserts, front := e.kind.inserts(); {
		case !inserts:
			changed[e.at] = e
		case front:
			before[e.at] = append(before[e.at], e)
		default:
			after[e.at] = append(after[e.at], e)
		}
	}
	out := *p
	out.Insts = nil
	at := make([]int32, len(p.Insts)+1)
	for i := range p.Insts {
		at[i] = int32(len(out.Insts))
		for _, e := range before[i] {
			out.Insts = append(out.Insts, e.inst(&p.Insts[i]))
		}
		in := p.Insts[i]
		if a, ok := in.Do.(*ir.Access); ok {
			if e, ok := changed[i]; ok {
				in.Do = strengthened(a, e.scope)
			}
		}
		out.Insts = append(out.Insts, in)
		for _, e := range after[i] {
			out.Insts = append(out.Insts, e.inst(&p.Insts[i]))
		}
	}
	at[len(p.Insts)] = int32(len(out.Insts))
	for i := range out.Insts {
		if f, ok := out.Insts[i].Do.(*ir.Flow); ok {
			c := *f
			c.Target, c.Targets = at[f.Target], slices.Clone(f.Targets)
			for k := range c.Targets {
				c.Targets[k] = at[c.Targets[k]]
			}
			out.Insts[i].Do = &c
		}
	}
	out.Funcs = slices.Clone(p.Funcs)
	for i := range out.Funcs {
		out.Funcs[i].First, out.Funcs[i].End = at[p.Funcs[i].First], at[p.Funcs[i].End]
	}
	return &out
}

// strengthened is an access that is strong, with at least a scope.
func strengthened(a *ir.Access, scope ir.Scope) *ir.Access {
	c := *a
	if c.Sem == ir.Weak {
		c.Sem = ir.Relaxed
	}
	c.Scope = max(c.Scope, scope)
	return &c
}
