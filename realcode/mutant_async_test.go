package realcode

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/ptx"
)

// weakerAsync are the words that make an asynchronous operation less than it was.
var weakerAsync = []struct{ from, to string }{
	{".release.cluster", ".release.cta"}, {".acquire.cluster", ".acquire.cta"}, {"fence.acq_rel.cluster", "fence.acq_rel.cta"},
	{"fence.sc.cluster", "fence.acq_rel.cluster"}, {".cluster.arrive.release", ".cluster.arrive.relaxed"},
	{".cluster.arrive.aligned", ".cluster.arrive.relaxed.aligned"}, {"bulk.wait_group ", "bulk.wait_group.read "},
	{"fence.proxy.async ", "fence.proxy.async.shared::cta "}, {".relaxed.cluster", ".relaxed.cta"}, {"and.pred", "or.pred"}, {"red.popc", "red.and"},
}

// async changes one asynchronous operation, or what belongs to it: the number of its group, of
// its barrier, the mbarrier that it is about.
func (u *mutations) async(op *Op, i int) {
	e, in := &op.Effect, op.Inst
	is := func(kinds ...ptx.Kind) bool { return slices.Contains(kinds, e.Kind) }
	one := func(kind, text string) { u.add(kind, op, map[int]string{in.N: text + ";"}) }
	if is(ptx.ProxyFence, ptx.MatrixCommit, ptx.Copy) {
		u.add("drop", op, map[int]string{in.N: ""})
	}
	if is(ptx.Bulk, ptx.CopyCommit, ptx.BulkCommit, ptx.MatrixCommit, ptx.Matrix, ptx.CopyArrive) && !(is(ptx.CopyArrive) && !in.Has("noinc")) {
		u.add("duplicate", op, map[int]string{in.N: in.Text + ";\n" + in.Text + ";"})
	}
	if n := len(in.Args); is(ptx.BulkWait, ptx.MatrixWait) && n == 1 {
		one("group", strings.TrimSuffix(in.Text, fmt.Sprint(in.Args[0].Value))+fmt.Sprint(in.Args[0].Value+1))
	}
	for _, w := range weakerAsync {
		if is(ptx.BulkWait) && !u.readsLater(i) {
			continue
		}
		if strings.Contains(in.Text+" ", w.from) && !e.Kind.IsAccess() || e.Kind.IsAccess() && e.Space != "shared" && strings.Contains(in.Text, w.from) {
			one("weaken "+w.from+" to "+w.to, strings.TrimSpace(strings.Replace(in.Text+" ", w.from, w.to, 1)))
		}
	}
	if is(ptx.Barrier, ptx.Arrive) && e.Scope == "cta" && len(in.Args) > 0 {
		at := slices.IndexFunc(in.Args, func(o ptx.Operand) bool { return o.Kind == ptx.Imm })
		if at >= 0 && !(in.Has("red") && at == 0) {
			old := fmt.Sprint(in.Args[at].Value)
			one("number to another barrier", replaced(in.Text, old, fmt.Sprint((in.Args[at].Value+5)%16)))
		}
		if n := len(in.Args); n > at+1 && in.Args[at+1].Kind == ptx.Imm {
			old := fmt.Sprint(in.Args[at+1].Value)
			one("number of threads", replaced(in.Text, old, fmt.Sprint(in.Args[at+1].Value+32)))
		}
	}
	known := op.barrier.variable() || strings.HasPrefix(op.barrier.root, remote)
	if known && is(ptx.MbarArrive, ptx.MbarWait, ptx.Mbarrier, ptx.CopyArrive) {
		if other := u.otherBarrier(op, i); other != "" {
			from, to := strings.IndexByte(in.Text, '['), strings.IndexByte(in.Text, ']')
			one("address to "+other, in.Text[:from]+other+in.Text[to+1:])
		}
	}
	if known && is(ptx.Bulk) {
		from := strings.LastIndexByte(in.Text, '[')
		if other := u.otherBarrier(op, i); other != "" && !strings.Contains(in.Text[from:], other) {
			one("address to "+other, in.Text[:from]+other)
		}
	}
	u.early(op, i)
}

// replaced replaces the last word of a text that is another.
func replaced(text, old, with string) string {
	at := strings.LastIndex(text, " "+old)
	return text[:at+1] + with + text[at+1+len(old):]
}

// otherBarrier is the address of another mbarrier that is known before an instruction, "" if there is none.
func (u *mutations) otherBarrier(op *Op, i int) string {
	known := map[int]bool{}
	for _, st := range u.f.Body[:i] {
		if st.Inst != nil {
			for _, r := range defined(st.Inst) {
				known[r] = true
			}
		}
	}
	for _, x := range u.src.ops {
		e := &x.Effect
		if x.Func != u.f || !x.barrier.variable() || x.barrier == op.barrier || e.Kind != ptx.MbarArrive && e.Kind != ptx.MbarWait && e.Kind != ptx.Mbarrier {
			continue
		}
		at := slices.IndexFunc(x.Inst.Args, func(o ptx.Operand) bool { return o.Kind == ptx.Mem })
		if at < 0 || slices.ContainsFunc(x.Inst.Args[at].Registers(nil), func(r int) bool { return !known[r] }) {
			continue
		}
		text := x.Inst.Text
		if text = text[strings.IndexByte(text, '[') : strings.IndexByte(text, ']')+1]; !strings.Contains(op.Inst.Text, text) {
			return text
		}
	}
	return ""
}

// early performs the first load behind a wait before it: what waits in a loop, in each turn.
func (u *mutations) early(op *Op, i int) {
	switch op.Effect.Kind {
	case ptx.MbarWait, ptx.Await, ptx.BulkWait, ptx.CopyWait, ptx.GridWait, ptx.MatrixWait:
	default:
		return
	}
	known := map[int]bool{}
	for _, st := range u.f.Body[:i] {
		if st.Inst != nil {
			for _, r := range defined(st.Inst) {
				known[r] = true
			}
		}
	}
	for _, st := range u.f.Body[i+1:] {
		if st.Inst == nil {
			return
		}
		b := st.Inst
		e := b.Effect()
		access := e.Kind.IsAccess() && e.Weak() && compared(&e) || op.Effect.Kind == ptx.MatrixWait && e.Kind == ptx.MbarArrive
		if (e.Kind == ptx.None || e.Kind.IsAccess() && !compared(&e)) && b.Name != "bra" || b.Name == "bra" && op.Effect.Kind == ptx.MbarWait && b.Guard >= 0 {
			continue
		}
		if !access || slices.ContainsFunc(used(b), func(r int) bool { return !known[r] }) || e.Kind == ptx.Load && u.isDead(b) {
			return
		}
		line := fmt.Sprintf("\n.loc 1 %d 0\n%s;", b.N, b.Text)
		own := fmt.Sprintf("\n.loc 1 %d 0\n%s;", op.Inst.N, op.Inst.Text)
		if op.Inst.Guard >= 0 || b.Guard >= 0 {
			return
		}
		u.add("early over "+b.Text, op, map[int]string{op.Inst.N: line + own, b.N: ""})
		return
	}
}

// readsLater reports whether a weak load of global memory follows in the text.
func (u *mutations) readsLater(i int) bool {
	return slices.ContainsFunc(u.f.Body[i:], func(st ptx.Stmt) bool {
		if st.Inst == nil {
			return false
		}
		e := st.Inst.Effect()
		return e.Kind == ptx.Load && e.Weak() && e.Space == "global" && !u.isDead(st.Inst)
	})
}

func (u *mutations) isDead(in *ptx.Inst) bool {
	k := slices.IndexFunc(u.src.ops, func(op *Op) bool { return op.Inst == in })
	return k < 0 || u.src.ops[k].Dead
}
