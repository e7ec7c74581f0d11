package litmus

import (
	"fmt"
	"slices"
	"strings"
)

var asyncForms, asyncByName = func() ([]AsyncForm, map[string]*AsyncForm) {
	list := []AsyncForm{
		{Name: "cp.async.ca.shared.global", Kind: AsyncCopy, Operands: "aas", PTX: 70, SM: 80},
		{Name: "cp.async.cg.shared.global", Kind: AsyncCopy, Operands: "aas", PTX: 70, SM: 80},
		{Name: "cp.async.commit_group", Kind: AsyncCommit, PTX: 70, SM: 80},
		{Name: "cp.async.wait_group", Kind: AsyncWait, Operands: "s", PTX: 70, SM: 80},
		{Name: "cp.async.wait_all", Kind: AsyncWait, All: true, PTX: 70, SM: 80},
		{Name: "cp.async.mbarrier.arrive.shared.b64", Kind: AsyncCopyArrive, Operands: "a", PTX: 70, SM: 80},
		{Name: "cp.async.mbarrier.arrive.noinc.shared.b64", Kind: AsyncCopyArrive, Operands: "a", NoInc: true, PTX: 70, SM: 80},
		{Name: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", Kind: BulkCopy, Operands: "aasa", PTX: 80, SM: 90},
		{Name: "cp.async.bulk.global.shared::cta.bulk_group", Kind: BulkCopy, Operands: "aas", PTX: 80, SM: 90},
		{Name: "cp.async.bulk.commit_group", Kind: BulkCommit, PTX: 80, SM: 90},
		{Name: "cp.async.bulk.wait_group", Kind: BulkWait, Operands: "s", PTX: 80, SM: 90},
		{Name: "cp.async.bulk.wait_group.read", Kind: BulkWait, Operands: "s", Read: true, PTX: 80, SM: 90},
		{Name: "mbarrier.expect_tx.relaxed.cta.shared.b64", Kind: MbarExpect, Operands: "as", Sem: SemRelaxed, Scope: ScopeCTA, PTX: 80, SM: 90},
		{Name: "mbarrier.expect_tx.relaxed.cluster.shared.b64", Kind: MbarExpect, Operands: "as", Sem: SemRelaxed, Scope: ScopeCluster, PTX: 80, SM: 90},
		{Name: "mbarrier.complete_tx.relaxed.cta.shared.b64", Kind: MbarComplete, Operands: "as", Sem: SemRelaxed, Scope: ScopeCTA, PTX: 80, SM: 90},
		{Name: "mbarrier.complete_tx.relaxed.cluster.shared.b64", Kind: MbarComplete, Operands: "as", Sem: SemRelaxed, Scope: ScopeCluster, PTX: 80, SM: 90},
		{Name: "fence.proxy.async", Kind: AsyncProxyFence, PTX: 80, SM: 90},
		{Name: "fence.proxy.async.global", Kind: AsyncProxyFence, Only: GlobalObjects, PTX: 80, SM: 90},
		{Name: "fence.proxy.async.shared::cta", Kind: AsyncProxyFence, Only: SharedCTA, PTX: 80, SM: 90},
		{Name: "fence.proxy.async.shared::cluster", Kind: AsyncProxyFence, Only: SharedCluster, PTX: 80, SM: 90},
		{Name: "griddepcontrol.launch_dependents", Kind: GridControl, PTX: 78, SM: 90},
		{Name: "griddepcontrol.wait", Kind: GridControl, PTX: 78, SM: 90},
		{Name: "fence.mbarrier_init.release.cluster", Kind: InitFence, Sem: SemRelease, Scope: ScopeCluster, PTX: 80, SM: 90},
	}
	for sem, only := range map[Sem]Objects{SemAcquire: SharedCluster, SemRelease: SharedCTA} {
		rest := "." + sem.String() + ".sync_restrict::" + map[Objects]string{SharedCluster: "shared::cluster", SharedCTA: "shared::cta"}[only] + ".cluster"
		f := AsyncForm{Name: "fence" + rest, Kind: RestrictedFence, Sem: sem, Scope: ScopeCluster, Only: only, PTX: 86, SM: 90}
		list = append(list, f)
		f.Name, f.Kind = "fence.proxy.async::generic"+rest, OneWayProxyFence
		list = append(list, f)
	}
	const completes = ".shared::cluster.mbarrier::complete_tx::bytes"
	list = append(list, AsyncForm{Name: "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", Kind: BulkCopy, Operands: "aasa", PTX: 80, SM: 90})
	for _, weak := range []string{"", ".weak"} {
		for _, t := range []Type{B32, U32, B64, U64} {
			f := AsyncForm{Name: "st.async" + weak + completes + "." + t.String(), Kind: StoreAsync, Operands: "asa", Type: t, PTX: 81, SM: 90}
			list = append(list, f)
			for f.Vector = 2; f.Vector*t.Bits() <= 128; f.Vector *= 2 {
				f.Name, f.Operands = fmt.Sprintf("st.async%s%s.v%d.%s", weak, completes, f.Vector, t), "ava"
				list = append(list, f)
			}
		}
	}
	for op, types := range map[AtomOp][]Type{AtomAdd: {U32, S32, U64}, AtomInc: {U32}, AtomDec: {U32}, AtomMin: {U32, S32}, AtomMax: {U32, S32},
		AtomAnd: {B32}, AtomOr: {B32}, AtomXor: {B32}} {
		for _, t := range types {
			list = append(list, AsyncForm{Name: "red.async.relaxed.cluster" + completes + "." + op.String() + "." + t.String(), Kind: ReduceAsync,
				Operands: "asa", Sem: SemRelaxed, Scope: ScopeCluster, Type: t, Atom: op, PTX: 81, SM: 90})
		}
	}
	ordered := func(name string, f AsyncForm, sem Sem, ptx, relaxed int) {
		with := func(word string, sem Sem, scope Scope, ptx, sm int) {
			g := f
			g.Name, g.Sem, g.Scope, g.PTX, g.SM = strings.Replace(name, "{}", word, 1), sem, scope, max(ptx, f.PTX), max(sm, f.SM)
			list = append(list, g)
		}
		with("", sem, ScopeCTA, ptx, 80)
		for _, scope := range []Scope{ScopeCTA, ScopeCluster} {
			with("."+sem.String()+"."+scope.String(), sem, scope, 80, map[Scope]int{ScopeCTA: 80, ScopeCluster: 90}[scope])
			with(".relaxed."+scope.String(), SemRelaxed, scope, relaxed, 90)
		}
	}
	ordered("mbarrier.arrive{}.shared.b64", AsyncForm{Kind: MbarArrive, Operands: "da?s"}, SemRelease, 70, 86)
	ordered("mbarrier.arrive.expect_tx{}.shared.b64", AsyncForm{Kind: MbarArrive, Operands: "das", Expect: true, PTX: 80, SM: 90}, SemRelease, 80, 86)
	ordered("mbarrier.arrive_drop{}.shared.b64", AsyncForm{Kind: MbarArrive, Operands: "da?s", Drop: true}, SemRelease, 70, 86)
	ordered("mbarrier.arrive_drop.expect_tx{}.shared.b64", AsyncForm{Kind: MbarArrive, Operands: "das", Expect: true, Drop: true, PTX: 80, SM: 90}, SemRelease, 80, 86)
	for _, op := range []string{"test_wait", "try_wait"} {
		ptx := map[string]int{"test_wait": 70, "try_wait": 78}[op]
		sm := map[string]int{"test_wait": 80, "try_wait": 90}[op]
		ordered("mbarrier."+op+"{}.shared.b64", AsyncForm{Kind: MbarWait, Operands: "das", SM: sm}, SemAcquire, ptx, 86)
		ordered("mbarrier."+op+".parity{}.shared.b64", AsyncForm{Kind: MbarWait, Operands: "das", Parity: true, SM: sm}, SemAcquire, max(ptx, 71), 86)
	}
	for _, aligned := range []string{"", ".aligned"} { // as all threads of a warp that perform one do in tests
		for word, sem := range map[string]Sem{"": SemRelease, ".release": SemRelease, ".relaxed": SemRelaxed} {
			f := AsyncForm{Name: "barrier.cluster.arrive" + word + aligned, Kind: ClusterArrive, Sem: sem, Scope: ScopeCluster, PTX: 78, SM: 90}
			if word != "" {
				f.PTX = 80
			}
			list = append(list, f)
		}
		for word, ptx := range map[string]int{"": 78, ".acquire": 80} {
			list = append(list, AsyncForm{Name: "barrier.cluster.wait" + word + aligned, Kind: ClusterWait, Sem: SemAcquire, Scope: ScopeCluster, PTX: ptx, SM: 90})
		}
	}
	list = append(append(list, groupForms()...), bulkReductions()...)
	slices.SortFunc(list, func(a, b AsyncForm) int { return strings.Compare(a.Name, b.Name) })
	byName := map[string]*AsyncForm{}
	for i := range list {
		byName[list[i].Name] = &list[i]
	}
	return list, byName
}()
