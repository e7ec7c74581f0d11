package realcode

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/ptx"
)

// Demand is an order of two accesses of a kernel that the memory model does not give,
// and that another pair of the kernel's accesses, in another block, could rely on: with
// a fence between the two an outcome is forbidden that is allowed without.
type Demand struct {
	First  Place `json:"first"`
	Second Place `json:"second"`
	// Partner are the accesses of the other block, in their order, taken to have a fence
	// between them.
	Partner [2]Place `json:"partner"`
	Pattern string   `json:"pattern"`
	// Test is the litmus test without the fence, Fenced with it. Outcome is allowed by
	// the first only.
	Test    string `json:"test"`
	Fenced  string `json:"fenced"`
	Outcome string `json:"outcome"`

	first, second int // of Inst.N
}

// Between reports whether an instruction that stands behind the access N is between
// the two: a fence at that place gives the order.
func (d *Demand) Between(n int) bool { return d.first <= n && n < d.second }

// Demands are those of a module's kernels, and of how many accesses it is not known to
// which memory they go.
type Demands struct {
	List []Demand
	Open int
}

// maxDemandPairs bounds the pairs of accesses of a kernel that are looked at.
const maxDemandPairs = 20000

// Demanded finds what the model demands of kernels: for each two accesses, in the order
// of the text, to two buffers (by the parameters or variables from which their
// addresses come), between which fewer than a full fence stands, and each pair of the
// same kernel that goes to the two the other way round, the litmus test of both is
// judged with and without a fence. Patterns are message passing, load buffering and
// store buffering. Accesses of one buffer are a pair if their places are known to be
// different; what jumps back in the text makes no pair.
func Demanded(ctx context.Context, m *ptx.Module, kernels []string) (*Demands, error) {
	out := &Demands{}
	for _, name := range kernels {
		f := m.Func(name)
		if f == nil {
			return nil, fmt.Errorf("%s: there is no kernel %s", m.File, name)
		}
		src, err := readSource(m, f)
		if err != nil {
			return nil, err
		}
		d := &demander{src: src, seen: map[string]*Verdict{}, out: out}
		d.places()
		if err := d.run(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type demander struct {
	src     *source
	place   [][]string // of each operation: the buffers that it may go to, none if that is not known
	seen    map[string]*Verdict
	partner map[[2]string][][2]role
	out     *Demands
}

// role is an access in one of its parts, to one of its buffers: an atomic reads and
// writes.
type role struct {
	op     int
	writes bool
	place  string
}

// places finds the buffers.
func (d *demander) places() {
	from := map[*ptx.Func][]map[string]bool{}
	d.place = make([][]string, len(d.src.ops))
	for k, op := range d.src.ops {
		e := &op.Effect
		if !e.Kind.IsAccess() || e.Space != "global" && e.Space != "generic" {
			continue
		}
		if from[op.Func] == nil {
			from[op.Func] = origins(op.Func)
		}
		names := map[string]bool{}
		for i := range op.Inst.Args {
			if a := &op.Inst.Args[i]; a.Kind == ptx.Mem {
				addOrigins(a, from[op.Func], names)
			}
		}
		if len(names) > 0 && len(names) <= maxPlaces && !names[unknownOrigin] {
			d.place[k] = slices.Sorted(maps.Keys(names))
		} else {
			d.out.Open++
		}
	}
}

const (
	unknownOrigin = "?"
	maxPlaces     = 4 // buffers that one access may go to
)

// origins are, of each register, the parameters and variables that an address in it
// may come from.
func origins(f *ptx.Func) []map[string]bool {
	out := make([]map[string]bool, len(f.Regs))
	size := map[string]int64{}
	for _, p := range f.Params {
		size[p.Name] = p.Size
	}
	for changed := true; changed; {
		changed = false
		for _, st := range f.Body {
			if st.Inst == nil {
				continue
			}
			names := map[string]bool{}
			switch e := st.Inst.Effect(); {
			case e.Space == "param" && e.Kind == ptx.Load:
				if n := st.Inst.Args[1].Elems[0].Name; size[n] == 8 {
					names[n] = true
				}
			case e.Kind == ptx.Load && e.Width == 8:
				names[unknownOrigin] = true
			case e.Kind == ptx.None:
				for i := 1; i < len(st.Inst.Args); i++ {
					addOrigins(&st.Inst.Args[i], out, names)
				}
			}
			for _, r := range defined(st.Inst) {
				for n := range names {
					if out[r] == nil {
						out[r] = map[string]bool{}
					}
					changed = changed || !out[r][n]
					out[r][n] = true
				}
			}
		}
	}
	return out
}

// addOrigins adds what an operand may come from.
func addOrigins(o *ptx.Operand, from []map[string]bool, names map[string]bool) {
	for _, r := range o.Registers(nil) {
		for n := range from[r] {
			names[n] = true
		}
	}
	if o.Kind == ptx.Sym && !strings.HasPrefix(o.Name, "%") {
		names[o.Name] = true
	}
	for i := range o.Elems {
		if e := &o.Elems[i]; e.Kind == ptx.Sym {
			names[e.Name] = true
		}
	}
}

// roles are the parts that an operation plays.
func (d *demander) roles(k int) (out []role) {
	op := d.src.ops[k]
	for _, place := range d.place[k] {
		if op.Effect.Kind != ptx.Store && op.Effect.Kind != ptx.Reduction && !op.Dead {
			out = append(out, role{k, false, place})
		}
		if op.Effect.Kind != ptx.Load {
			out = append(out, role{k, true, place})
		}
	}
	return out
}

// pairs calls do for each pair of accesses that could communicate.
func (d *demander) pairs(do func(a, b role) error) error {
	n := 0
	for i := range d.src.ops {
		for j := i + 1; j < len(d.src.ops); j++ {
			x, y := d.src.ops[i], d.src.ops[j]
			if len(d.place[i]) == 0 || len(d.place[j]) == 0 || x.Func != y.Func {
				continue
			}
			apart := x.addr.root != "" && x.addr.root == y.addr.root && !overlap(x.addr, y.addr)
			if n++; n > maxDemandPairs {
				return fmt.Errorf("%s: more than %d pairs of accesses", x.Func.Name, maxDemandPairs)
			}
			for _, a := range d.roles(i) {
				for _, b := range d.roles(j) {
					if a.place == b.place && !apart {
						continue
					}
					if err := do(a, b); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// at is where an access goes, for partners.
func (d *demander) at(r role) string {
	return fmt.Sprintf("%s+%d", r.place, map[bool]int64{true: d.src.ops[r.op].addr.offset}[d.src.ops[r.op].addr.root != ""])
}

func (d *demander) run(ctx context.Context) error {
	d.partner = map[[2]string][][2]role{}
	if err := d.pairs(func(a, b role) error {
		key := [2]string{d.at(a), d.at(b)}
		d.partner[key] = append(d.partner[key], [2]role{a, b})
		return nil
	}); err != nil {
		return err
	}
	best := map[[2]int]Demand{}
	err := d.pairs(func(a, b role) error {
		for _, p := range d.partner[[2]string{d.at(b), d.at(a)}] {
			// Each location is written by one side and read by the other.
			if p[0].writes == b.writes || p[1].writes == a.writes {
				continue
			}
			pattern, s := d.slice(a, b, p)
			had, ok := best[[2]int{a.op, b.op}]
			if s == nil || ok && slices.Index(patterns, had.Pattern) <= slices.Index(patterns, pattern) {
				continue
			}
			v, err := d.judge(ctx, s)
			if err != nil {
				return err
			}
			if v == nil || v.Class != Miscompiled {
				continue
			}
			best[[2]int{a.op, b.op}] = Demand{First: d.where(a), Second: d.where(b), Partner: [2]Place{d.where(p[0]), d.where(p[1])},
				Pattern: pattern, Test: v.Machine, Fenced: v.Source, Outcome: v.Outcome,
				first: d.src.ops[a.op].Inst.N, second: d.src.ops[b.op].Inst.N}
		}
		return nil
	})
	for _, pair := range slices.SortedFunc(maps.Keys(best), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		d.out.List = append(d.out.List, best[pair])
	}
	return err
}

// patterns are the patterns of pairs, that first which most programs rely on.
var patterns = []string{"message passing, the writer", "message passing, the reader", "load buffering", "store buffering"}

func (d *demander) where(r role) Place {
	op := d.src.ops[r.op]
	return placeIn(op.Func.Name, op.Inst)
}

func (d *demander) judge(ctx context.Context, s *slice) (*Verdict, error) {
	key := s.source.String() + s.machine.String()
	if v, ok := d.seen[key]; ok {
		return v, nil
	}
	v, err := s.verdict(ctx)
	if err == nil {
		d.seen[key] = v
	}
	return v, err
}

// slice makes the tests of a pair and its partner: what stands between them and orders
// is there in both, the fence in one.
func (d *demander) slice(a, b role, p [2]role) (pattern string, out *slice) {
	const fence = "fence.sc.gpu"
	ours := &slicer{scope: "gpu", locs: [2]location{{writes: a.writes}, {writes: b.writes}}}
	theirs := &slicer{locs: [2]location{{writes: p[1].writes}, {writes: p[0].writes}}}
	access := func(r role, at int) member { return member{op: d.src.ops[r.op], at: at} }
	mine, its := []member{access(a, 0), access(b, 1)}, []member{access(p[0], 1), access(p[1], 0)}
	regs, others := namesOf(mine, nil)[0], namesOf(its, nil)[0]
	own, err := ours.thread(mine, regs)
	if err != nil {
		return "", nil
	}
	other, err := theirs.thread(its, others)
	if err != nil {
		return "", nil
	}
	cond := ours.outcome(0, [2]string{regs[0], regs[1]}, [2]string{others[1], others[0]})
	var between []string
	for k := a.op + 1; k < b.op; k++ {
		if op := d.src.ops[k]; op.Effect.Kind == ptx.Fence {
			between = append(between, op.Inst.Op)
		}
	}
	out = &slice{pattern: ours.pattern()}
	for _, x := range []struct {
		to   **litmus.Test
		more []string
		name string
	}{{&out.source, append(between, fence), "fenced"}, {&out.machine, between, "plain"}} {
		threads := [2][]string{slices.Concat(own[:1], x.more, own[1:]), {other[0], fence, other[1]}}
		if *x.to, err = ours.parse(x.name, out.pattern, threads, cond); err != nil {
			return "", nil
		}
	}
	return out.pattern, out
}
