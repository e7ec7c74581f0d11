package realcode

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/ptx"
)

// mutant is a change of one kernel on its way into the compiler, which the model
// forbids.
type mutant struct {
	kernel, kind, what string
	pos                ptx.Pos
	// text takes the place of instructions, by their numbers.
	text map[int]string
}

// weakenings are the words that make an operation less than it was.
var weakenings = []struct{ from, to string }{
	{".sys", ".gpu"}, {".sys", ".cta"}, {".gpu", ".cta"}, {"membar.gl", "membar.cta"}, {"membar.sys", "membar.gl"},
	{".volatile", ""}, {"fence.sc", "fence.acq_rel"}, {".acquire", ".relaxed"}, {".release", ".relaxed"}, {".acq_rel", ".relaxed"},
	{".acq_rel", ".acquire"}, {".acq_rel", ".release"},
}

// mutations makes the mutants of one kernel.
type mutations struct {
	m   *ptx.Module
	f   *ptx.Func
	src *source
	out []mutant
	// block are the compared instructions of the block so far.
	block []*Op
}

// mutants lists the changes of a module: operations dropped, made twice, weakened,
// what synchronises moved to the other side of what stands next to it, and loads
// that became one although something that synchronises stands between them.
func mutants(m *ptx.Module) (out []mutant) {
	for _, f := range m.Funcs {
		src, err := readSource(m, f)
		if !f.Entry || err != nil {
			continue
		}
		u := &mutations{m: m, f: f, src: src}
		for i, st := range f.Body {
			if st.Inst == nil || st.Inst.Name == "bra" || st.Inst.Name == "call" {
				u.block = nil
				continue
			}
			if k := slices.IndexFunc(src.ops, func(op *Op) bool { return op.Inst == st.Inst }); k >= 0 {
				u.alone(src.ops[k], i)
				u.async(src.ops[k], i)
				u.moved(src.ops[k])
				u.merged(src.ops[k])
				u.block = append(u.block, src.ops[k])
			}
		}
		out = append(out, u.out...)
	}
	return out
}

func (u *mutations) add(kind string, op *Op, text map[int]string) {
	kind, to, _ := strings.Cut(kind, " ")
	what := fmt.Sprintf("%s %d: %s %s", kind, op.Inst.Pos.Line, op.Inst.Text, to)
	u.out = append(u.out, mutant{u.f.Name, kind, strings.TrimSpace(what), op.Inst.Pos, text})
}

// alone changes one operation.
func (u *mutations) alone(op *Op, i int) {
	e, in := &op.Effect, op.Inst
	if !op.strong() || e.Kind == ptx.WarpSync || e.Kind == ptx.ProxyFence || e.Kind == ptx.MatrixCommit {
		return
	}
	if !(e.Kind == ptx.Load && op.Dead) && !(e.Kind == ptx.CopyArrive && !in.Has("noinc") && u.arrivesAgain(i, op)) {
		u.add("drop", op, map[int]string{in.N: ""})
	}
	switch e.Kind {
	case ptx.Atomic, ptx.Reduction, ptx.Barrier, ptx.Arrive, ptx.MbarArrive:
		u.add("duplicate", op, map[int]string{in.N: in.Text + ";\n" + in.Text + ";"})
	}
	if n, args := len(in.Args), in.Text; e.Kind == ptx.CopyWait && n == 1 {
		u.add("weaken", op, map[int]string{in.N: strings.TrimSuffix(args, fmt.Sprint(in.Args[0].Value)) + fmt.Sprint(in.Args[0].Value+1) + ";"})
	}
	for _, w := range weakenings {
		if !strings.Contains(in.Op, w.from) || e.Space == "shared" || u.same(i, w.from, w.to) ||
			(w.from == ".acquire" || w.to == ".release") && u.src.again(in) {
			continue
		}
		u.add("weaken "+w.from+" to "+w.to, op, map[int]string{in.N: strings.Replace(in.Text, w.from, w.to, 1) + ";"})
	}
}

// arrivesAgain reports whether another arrival at an mbarrier follows in a block:
// without .noinc neither counts, and the second waits for the copies of both.
func (u *mutations) arrivesAgain(i int, op *Op) bool {
	for _, st := range u.f.Body[i+1:] {
		if st.Inst == nil || st.Inst.Name == "bra" {
			return false
		}
		if e := st.Inst.Effect(); e.Kind == ptx.CopyArrive && !st.Inst.Has("noinc") {
			k := slices.IndexFunc(u.src.ops, func(x *Op) bool { return x.Inst == st.Inst })
			return u.src.ops[k].addr == op.addr
		}
	}
	return false
}

// moved moves what synchronises over the access before it, or after it.
func (u *mutations) moved(op *Op) {
	if len(u.block) == 0 {
		return
	}
	last := u.block[len(u.block)-1]
	over := func(sync, other *Op) bool {
		weak := other.Effect.Kind.IsAccess() && !other.Effect.Acquires() && !other.Effect.Releases() && !(other.Effect.Kind == ptx.Load && other.Dead)
		switch sync.Effect.Kind {
		case ptx.Fence, ptx.Barrier:
			return weak
		case ptx.Arrive:
			return weak && sync != last && sync.Effect.Releases()
		case ptx.CopyCommit:
			return other.Effect.Kind == ptx.Copy
		case ptx.BulkCommit:
			return other.Effect.Kind == ptx.Bulk
		case ptx.MatrixFence:
			return other.Effect.Kind == ptx.Matrix
		case ptx.MbarArrive, ptx.CopyArrive, ptx.ProxyFence:
			return sync != last && (weak && other.Effect.Kind == ptx.Store || sync.Effect.Kind == ptx.CopyArrive && other.Effect.Kind == ptx.Copy)
		case ptx.CopyWait:
			return weak && other.Effect.Space == "shared" && sync == last || other.Effect.Kind == ptx.Barrier && sync == last
		}
		return false
	}
	fixed := func(op *Op) bool { return len(used(op.Inst)) == 0 && len(defined(op.Inst)) == 0 }
	a, b := last.Inst, op.Inst
	line := func(in *ptx.Inst) string { return fmt.Sprintf("\n.loc 1 %d 0\n%s;", in.N, in.Text) }
	if over(last, op) && fixed(last) {
		u.add("move behind "+op.Inst.Text, last, map[int]string{a.N: "", b.N: b.Text + ";" + line(a)})
	}
	if over(op, last) && fixed(op) {
		u.add("move before "+last.Inst.Text, op, map[int]string{b.N: "", a.N: line(b) + line(a)})
	}
}

var plainLoad = regexp.MustCompile(`^ld(\.\w+)*\.[busf](8|16|32|64) (%\w+), *\[`)

// merged makes one load of two.
func (u *mutations) merged(op *Op) {
	here := plainLoad.FindStringSubmatch(op.Inst.Text)
	if here == nil || op.Dead || op.addr.root == "" || here[2] == "8" {
		return
	}
	apart := op.Effect.Sem != "weak"
	for _, before := range slices.Backward(u.block) {
		e := &before.Effect
		was := plainLoad.FindStringSubmatch(before.Inst.Text)
		switch {
		case e.Kind == ptx.Load && e.Sem == op.Effect.Sem && before.addr == op.addr && was != nil && was[2] == here[2] && before.Inst.Op == op.Inst.Op:
			if apart && !op.Effect.Acquires() {
				u.add("merge", op, map[int]string{op.Inst.N: fmt.Sprintf("mov.b%s %s, %s;", here[2], here[3], was[3])})
			}
			return
		case e.Kind == ptx.Store || e.Kind == ptx.Atomic || e.Kind == ptx.Reduction:
			return // what this thread writes may be known
		case e.Acquires() && e.Kind != ptx.CopyWait:
			apart = true
		}
	}
}

// same reports whether a weaker operation orders the same, because of its neighbour:
// an acq_rel fence of less scope in front of an acq_rel atomic of the full one, and
// a relaxed store or reduction behind a fence that is a release by itself, or
// in front of which there is nothing.
func (u *mutations) same(i int, from, to string) bool {
	f := u.f
	e := f.Body[i].Inst.Effect()
	if e.Kind == ptx.Fence && e.Sem == "acq_rel" && i+1 < len(f.Body) && f.Body[i+1].Inst != nil {
		n := f.Body[i+1].Inst.Effect()
		return n.Kind == ptx.Atomic && n.Sem == "acq_rel" && scopes[n.Scope] >= scopes[e.Scope]
	}
	if from != ".release" && (from != ".acq_rel" || to != ".acquire") {
		return false
	}
	if u.src.ops[0].Inst == f.Body[i].Inst {
		return true // nothing is released
	}
	if len(u.block) == 0 {
		return false
	}
	b := u.block[len(u.block)-1].Effect
	return b.Kind == ptx.Fence && b.Releases() && scopes[b.Scope] >= scopes[e.Scope]
}

// again reports whether what follows an acquire, wherever the program goes, is an
// acquire of the same location before anything but strong accesses of it: that one
// orders all that the first would, for one location is read in one order. Or nothing
// follows but the end of the kernel.
func (s *source) again(in *ptx.Inst) bool {
	k := slices.IndexFunc(s.ops, func(op *Op) bool { return op.Inst == in })
	work := []int32{}
	for i := range s.steps {
		if s.steps[i].letter == int32(k) {
			work = append(work, int32(i)+1)
		}
	}
	a, seen := s.ops[k], map[int32]bool{}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		if i < 0 || seen[i] {
			continue
		}
		seen[i] = true
		st := &s.steps[i]
		if st.ret && int(i) <= len(s.ops[k].Func.Body) && s.entries[s.ops[k].Func] == 0 {
			continue
		} else if st.ret || len(st.call) > 0 {
			return false
		}
		if st.letter >= 0 {
			b := s.ops[st.letter]
			if a.addr.root == "" || a.addr != b.addr || !b.strong() || b.Effect.Releases() {
				return false
			}
			if b.Effect.Acquires() && scopes[b.Effect.Scope] >= scopes[a.Effect.Scope] && st.guard < 0 && b != a {
				continue
			}
		}
		work = append(work, st.next...)
		if st.guard >= 0 {
			work = append(work, i+1)
		}
	}
	return true
}
