package realcode

import (
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
)

// async changes an instruction of an asynchronous operation.
func (l *listing) async(i int, op *Op, in *isa.Inst) {
	e := &op.Effect
	is := func(kinds ...ptx.Kind) bool { return slices.Contains(kinds, e.Kind) }
	switch {
	case is(ptx.MbarArrive, ptx.MbarWait, ptx.Mbarrier) && in.Op == "SYNCS" && l.same(i) == 1:
		l.one("mbarrier dropped", i, nothing)
	case is(ptx.CopyArrive) && in.Op == "ARRIVES":
		l.one("mbarrier dropped", i, nothing)
	case is(ptx.Bulk) && (in.Role == isa.RoleCopy || in.Op == "STAS" || in.Op == "REDAS"), is(ptx.Copy) && in.Op == "LDGSTS":
		l.one("copy dropped", i, nothing)
	case is(ptx.BulkCommit) && in.Op == "UTMACMDFLUSH":
		l.one("group dropped", i, nothing)
	case is(ptx.BulkWait, ptx.CopyWait) && in.Op == "DEPBAR":
		l.one("group dropped", i, nothing)
		l.one("group left", i, oneMore)
	case is(ptx.ProxyFence) && in.Op == "FENCE":
		l.one("proxy fence dropped", i, nothing)
	case is(ptx.Arrive, ptx.Await) && strings.HasPrefix(in.Op, "UCGABAR"):
		l.one("cluster barrier dropped", i, nothing)
	case is(ptx.Arrive, ptx.MbarArrive) && in.Op == "MEMBAR" && in.Mem.Scope > isa.ScopeCTA && l.written(i):
		l.one("release's fence dropped", i, nothing)
		l.one("release's fence narrowed", i, func(in *isa.Inst) { in.Mem.Scope = isa.ScopeCTA })
	case is(ptx.GridWait, ptx.GridLaunch) && (in.Op == "ACQBULK" || in.Op == "PREEXIT"):
		l.one("grid's barrier dropped", i, nothing)
	case is(ptx.Barrier, ptx.Arrive) && in.Op == "BAR" && len(in.Args) > 0 && in.Args[0].Kind == isa.OpdImm && e.Scope == "cta" && numbered(op):
		l.one("barrier's number", i, func(in *isa.Inst) {
			in.Args = slices.Clone(in.Args)
			in.Args[0].Imm = (in.Args[0].Imm + 5) % 16
		})
	}
}

// numbered reports whether the PTX says which barrier it is.
func numbered(op *Op) bool {
	at := map[bool]int{true: 1}[op.Inst.Has("red")]
	return at < len(op.Inst.Args) && op.Inst.Args[at].Kind == ptx.Imm
}

// oneMore has a wait leave one group more.
func oneMore(in *isa.Inst) {
	in.Args = slices.Clone(in.Args)
	in.Args[len(in.Args)-1].Imm++
}

// same is how many instructions of an opcode there are on the line of one.
func (l *listing) same(i int) (n int) {
	for k := range l.insts {
		if l.insts[k].Src.Line == l.insts[i].Src.Line && l.insts[k].Op == l.insts[i].Op {
			n++
		}
	}
	return n
}

// written reports whether a store of the PTX stands before, in the text, and no wider fence between.
func (l *listing) written(i int) bool {
	for k := i - 1; k >= 0; k-- {
		in := &l.insts[k]
		if in.Op == "MEMBAR" && in.Mem.Scope > isa.ScopeCTA || in.Role == isa.RoleBarrier || in.Role == isa.RoleBranch {
			return false
		}
		if op := l.ops[k]; op != nil && op.Effect.Kind == ptx.Store && in.Role == isa.RoleStore {
			return true
		}
	}
	return false
}

// matrix changes an operation on matrices, the mark of its group, its fence or wait.
func (l *listing) matrix(i int, in *isa.Inst) {
	if in.Op != "WARPGROUP" && !strings.HasSuffix(in.Op, "GMMA") || in.Guard.Never {
		return
	}
	nearest := i
	for nearest > 0 && l.ops[nearest] == nil {
		nearest--
	}
	op := l.ops[nearest]
	if op == nil {
		return
	}
	l.ops[i] = op
	switch {
	case in.Op == "WARPGROUP" && slices.Contains(in.Mods, "DEPBAR"):
		l.one("matrix wait dropped", i, nothing)
		l.one("group left", i, oneMore)
	case in.Op == "WARPGROUP" && slices.Contains(in.Mods, "ARRIVE"):
		l.one("matrix fence dropped", i, nothing)
	case strings.HasSuffix(in.Op, "GMMA"):
		l.one("matrix dropped", i, nothing)
		l.twice("matrix", i)
		if strings.HasSuffix(in.Text, ", gsb0") {
			l.one("group dropped", i, func(in *isa.Inst) { in.Text = strings.TrimSuffix(in.Text, ", gsb0") })
		}
	}
}
