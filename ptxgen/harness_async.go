package ptxgen

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
)

// What the harness of a test with asynchronous operations does beyond others: addresses in other CTAs, and an end
// that waits for every copy, so that none writes memory that the next launch uses.

// farther reports whether some thread uses a location from another CTA.
func (e *harnessEmitter) farther(l int) bool {
	return slices.ContainsFunc(e.bodies, func(k *body) bool { return k.usedFar[l] })
}

// mapped computes the address of a location of the thread's instance in the CTA that has it.
func (e *harnessEmitter) mapped(l int) {
	n := e.h.Shape.Ranks
	e.divide("", "%a3", set("add_rank"), n)
	e.f("\tsub.u32 %%a3, %d, %%a3;\n", n+e.rank(l))
	e.divide("", "%a3", "%a3", n)
	e.f("\tmapa.shared::cluster.u64 %%hf%d, %%hl%d, %%a3;\n", l, l)
}

// finished waits for the copies of a role.
func (e *harnessEmitter) finished(k *body) {
	for i := range k.th.Body {
		switch f := k.th.Body[i].Async; {
		case f == nil:
		case f.Kind == litmus.AsyncCopy:
			e.f("\tcp.async.wait_all;\n")
			return
		case f.Copies() && len(k.th.Body[i].More) == 1:
			e.f("\tcp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;\n")
			return
		}
	}
}

// pending lists the mbarriers that bulk copies complete.
func (e *harnessEmitter) pending() (list []int) {
	for _, l := range mbarriers(e.t) {
		if copied, _, _, _ := e.traffic(l); copied > 0 {
			list = append(list, l)
		}
	}
	return list
}

// traffic sums up the bytes that are copied with an mbarrier, those that are expected, and the arrivals, and reports whether any of that
// depends on a condition (a wait's does not count).
func (e *harnessEmitter) traffic(loc int) (copied, expected int64, arrivals int, conditional bool) {
	for i := range e.flat.Threads {
		th := &e.flat.Threads[i]
		branches := slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Op == litmus.OpBra })
		for j := range th.Body {
			in := &th.Body[j]
			a, ok := in.Mbarrier()
			if d := th.Decl(a.Reg); ok && a.Loc == "" && d != nil {
				a.Loc = d.Init.Name
			}
			if !ok || a.Loc != e.t.Locations[loc].Name {
				continue
			}
			conditional = conditional || in.Async.Kind != litmus.MbarWait && (in.Guard != nil || branches)
			switch f := in.Async; f.Kind {
			case litmus.BulkCopy, litmus.BulkReduce, litmus.StoreAsync, litmus.ReduceAsync, litmus.MbarComplete:
				copied += in.Bytes()
			case litmus.MbarExpect:
				expected += in.Bytes()
			case litmus.MbarArrive:
				switch {
				case f.Expect:
					expected, arrivals = expected+in.Bytes(), arrivals+1
				case len(in.Src) > 0:
					arrivals += int(in.Src[0].Value)
				default:
					arrivals++
				}
			case litmus.AsyncCopyArrive:
				if f.NoInc {
					arrivals++
				}
			}
		}
	}
	return copied, expected, arrivals, conditional
}

// clustered reports whether a test has operations that only launches of clusters may have: an H200 calls STAS, UBLKCP and UBLKRED from shared
// to shared memory illegal instructions in others, and performs them in clusters of one CTA.
func clustered(t *litmus.Test) bool {
	return slices.ContainsFunc(t.Threads, func(th litmus.Thread) bool {
		return slices.ContainsFunc(th.Body, func(in litmus.Instr) bool {
			f := in.Async
			return f != nil && (f.Kind == litmus.StoreAsync || f.Kind == litmus.ReduceAsync || strings.Contains(f.Name, ".shared::cluster.shared::cta."))
		})
	})
}

// settled returns an error if the end of a launch would not wait for all bulk copies to shared memory.
func (e *harnessEmitter) settled() error {
	if slices.ContainsFunc(e.t.Threads, func(th litmus.Thread) bool {
		return slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Word != nil && in.Word.Multi })
	}) {
		return unsupported("multimem: an address of a multicast object, which one device without NVLink multicast does not have")
	}
	for _, l := range mbarriers(e.t) {
		copied, expected, arrivals, conditional := e.traffic(l)
		if n := int(e.t.Locations[l].Init); copied > 0 && (conditional || copied != expected || n <= 0 || arrivals%n != 0 || arrivals == 0) {
			return unsupported("bulk copies for which no phase of an mbarrier waits, in a harness of many instances")
		}
		if n := int(e.t.Locations[l].Init); copied > 0 && arrivals > n {
			return unsupported("bulk copies of several phases of an mbarrier: its parity does not tell the end of a launch whether all are complete")
		}
	}
	return nil
}

// complete waits, for a bounded time, for the one phase of an mbarrier of the thread's instance.
func (e *harnessEmitter) complete(l int) {
	e.f("\tsetp.ne.u32 %%p0, %%a10, %d;\n\t@%%p0 bra $WHOLE%d;\n", e.h.Shape.Shared[l], l)
	e.offset(l, "%thr", set("cta_mask"), fmt.Sprintf("[window%d]", l))
	e.f("\tadd.u32 %%a3, %%a3, %%win;\n\tmov.u32 %%a6, 0;\n")
	e.f("$PART%[1]d:\n\tmbarrier.test_wait.parity.shared.b64 %%p0, [%%a3], 0;\n\t@%%p0 bra $WHOLE%[1]d;\n"+
		"\tadd.u32 %%a6, %%a6, 1;\n\tsetp.lt.u32 %%p0, %%a6, %[2]d;\n\t@%%p0 bra $PART%[1]d;\n$WHOLE%[1]d:\n", l, waitBound)
}

// waitBound is how often an unfinished copy is asked for.
const waitBound = 1 << 20
