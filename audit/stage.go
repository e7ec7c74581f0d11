package audit

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"optcheck/litmus"
	"optcheck/llvmir"
	"optcheck/optcheck"
	"optcheck/report"
	"optcheck/spec"
	"optcheck/toolchain"
)

// Where a finding arose.
const (
	StageFrontEnd = "front end" // clang made other IR of the source
	StageLibrary  = "library"   // libclc defines the function so
	StagePasses   = "IR passes"
	StageBackEnd  = "back end"
)

// irKernel is a kernel's LLVM IR after the front end and after the optimiser.
type irKernel struct{ front, middle []llvmir.Access }

// stages names for every finding of the job's cells the stage at which it
// arose. It compiles the kernels that findings are about twice more, to LLVM
// IR. What cannot be read leaves the stage empty and is a problem.
func (w *worker) stages(ctx context.Context, cells []int) error {
	if w.a.o.Source == LLVMIR { // nothing else has touched it
		for _, c := range cells {
			for i := range w.res.cells[c].Findings {
				w.res.cells[c].Findings[i].Stage = StageBackEnd
			}
		}
		return nil
	}
	units := map[build][]int{} // kernels with findings
	seen := map[int]bool{}
	for _, c := range cells {
		for _, f := range w.res.cells[c].Findings {
			if k := w.em.of[c][f.Thread]; !seen[k] {
				seen[k] = true
				b := w.em.kernels[k].build
				units[b] = append(units[b], k)
			}
		}
	}
	ir := map[int]*irKernel{}
	for _, b := range builds {
		if len(units[b]) == 0 {
			continue
		}
		for _, st := range []toolchain.Stage{toolchain.FrontEnd, toolchain.Middle} {
			if err := w.stage(ctx, b, st, units[b], ir); err != nil {
				return err
			}
		}
	}
	for _, c := range cells {
		for i := range w.res.cells[c].Findings {
			f := &w.res.cells[c].Findings[i]
			k := ir[w.em.of[c][f.Thread]]
			if k == nil || k.front == nil || k.middle == nil {
				continue
			}
			s := w.em.units[c].Kernels[f.Thread].Spec
			f.Stage = k.arose(f, s, sharedOf(w.test(c)))
		}
	}
	return nil
}

// stage reads the IR of some kernels at one stage.
func (w *worker) stage(ctx context.Context, b build, st toolchain.Stage, kernels []int, ir map[int]*irKernel) error {
	var units []toolchain.Unit
	for _, k := range kernels {
		units = append(units, toolchain.Unit{Name: w.em.kernels[k].name, Text: w.em.kernels[k].text})
	}
	job := w.llvmJob(b, units)
	job.Emit = st
	res, err := w.j.tc.CompileLLVM(ctx, job)
	if err != nil {
		return err
	}
	for u := range units {
		if e := res.Failed[u]; errors.Is(e, toolchain.ErrCancelled) {
			return e
		} else if e != nil {
			w.problem("llvm-ir", firstLine(e.Error()))
		}
	}
	for _, batch := range res.Batches {
		funcs, err := w.readIR(ctx, batch.Text)
		if errors.Is(err, toolchain.ErrCancelled) {
			return err
		}
		if err != nil {
			w.problem("llvm-ir", firstLine(err.Error()))
			continue
		}
		by := map[string][]llvmir.Access{}
		for _, f := range funcs {
			name, body := strings.CutPrefix(f.Name, toolchain.KernelBody)
			if _, ok := by[name]; body || !ok {
				by[name] = f.Accesses
			}
		}
		for _, u := range batch.Units {
			k := ir[kernels[u]]
			if k == nil {
				k = &irKernel{}
				ir[kernels[u]] = k
			}
			if st == toolchain.FrontEnd {
				k.front = by[units[u].Name]
			} else {
				k.middle = by[units[u].Name]
			}
		}
	}
	return nil
}

// readIR reads IR with the reader that fits the release: typed pointers here,
// others with the release's own library in a child process.
func (w *worker) readIR(ctx context.Context, text []byte) ([]llvmir.Func, error) {
	if llvmir.Typed(w.j.tc.Major()) {
		return llvmir.ReadTyped(w.j.tc.ID, text)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	out, err := w.j.tc.ReadIR(ctx, program, llvmir.ChildCommand, text)
	if err != nil {
		return nil, err
	}
	return llvmir.Decode(out)
}

// sharedOf counts for each location the locations before it that lie in local
// memory, each of which has a parameter of padding.
func sharedOf(t *litmus.Test) []int {
	n, out := 0, make([]int, len(t.Locations))
	for i := range t.Locations {
		out[i] = n
		if t.Locations[i].Space == litmus.Shared {
			n++
		}
	}
	return out
}

// irEvent is an access of a kernel's IR to one of the test's locations, or a
// fence.
type irEvent struct {
	op  string // ld, st, rmw, fence
	loc int
	acc llvmir.Access
	at  int // index in the function's accesses
}

// events lists what of the IR belongs to the test.
func events(acc []llvmir.Access, s *spec.Spec, shared []int) []irEvent {
	var out []irEvent
	for i, a := range acc {
		e := irEvent{acc: a, at: i, loc: -1}
		switch {
		case a.Op == llvmir.Load:
			e.op = "ld"
		case a.Op == llvmir.Store:
			e.op = "st"
		case a.Op == llvmir.AtomicRMW || a.Op == llvmir.CmpXchg, a.Op == llvmir.Call && strings.Contains(a.Detail, "atomic_"):
			e.op = "rmw"
		case a.Op == llvmir.Fence, a.Op == llvmir.Call && (strings.Contains(a.Detail, "mem_fence") || strings.Contains(a.Detail, "s.waitcnt") || strings.Contains(a.Detail, "barrier")):
			e.op = "fence"
			out = append(out, e)
			continue
		default:
			continue
		}
		if e.loc = locationOf(a, s, shared); e.loc >= 0 {
			out = append(out, e)
		}
	}
	return out
}

// locationOf is the location that an access of IR goes to, -1 for none.
func locationOf(a llvmir.Access, s *spec.Spec, shared []int) int {
	switch s.Layout {
	case spec.Symbols:
		if i := strings.LastIndex(a.Global, "_L"); i >= 0 {
			if n, err := strconv.Atoi(a.Global[i+2:]); err == nil {
				return n
			}
		}
	case spec.Adjacent:
		if n, ok := s.LocationAt(a.Offset); ok && (strings.HasSuffix(a.Global, "_LG") || strings.HasSuffix(a.Global, "_LS")) {
			return n
		}
	case spec.Offsets:
		if n, ok := s.LocationAt(a.Offset); ok && (a.Arg == 0 || a.Arg == 1) {
			return n
		}
	default:
		for i := range shared {
			if a.Arg == i+shared[i] {
				return i
			}
		}
	}
	return -1
}

func opOf(k spec.Kind) string {
	switch k.Op {
	case litmus.OpLd:
		return "ld"
	case litmus.OpSt:
		return "st"
	case litmus.OpAtom, litmus.OpRed:
		return "rmw"
	}
	return "fence"
}

// matched assigns the accesses of the IR to those of the specification, in
// order; ok is false if they are not the same sequence.
func matched(ev []irEvent, s *spec.Spec) (at map[int]irEvent, ok bool) {
	var acc []irEvent
	for _, e := range ev {
		if e.op != "fence" {
			acc = append(acc, e)
		}
	}
	at = map[int]irEvent{}
	i := 0
	for _, en := range s.Entries {
		if en.IsFence() {
			continue
		}
		if i >= len(acc) || acc[i].op != opOf(en.Kind) || acc[i].loc != en.Loc ||
			en.Kind.Sem == litmus.SemVolatile && !acc[i].acc.Volatile || en.Kind.Sem >= litmus.SemRelaxed && acc[i].acc.Ordering == "" {
			return at, false
		}
		at[en.Pos] = acc[i]
		i++
	}
	return at, i == len(acc)
}

// arose tells at which stage a finding arose; "" if that cannot be said.
func (k *irKernel) arose(f *report.Finding, s *spec.Spec, shared []int) string {
	front, middle := events(k.front, s, shared), events(k.middle, s, shared)
	fm, frontOK := matched(front, s)
	mm, middleOK := matched(middle, s)
	switch f.Rule {
	case optcheck.DependencyBroken.ID, optcheck.ControlChanged.ID:
		switch {
		case !frontOK:
			return StageFrontEnd
		case !depends(fm, s, f.Access):
			return StageFrontEnd
		case !middleOK || !depends(mm, s, f.Access):
			return StagePasses
		}
		return StageBackEnd
	case optcheck.FenceRemoved.ID, optcheck.FenceWeakened.ID, optcheck.InvalidateMissing.ID, optcheck.WritebackMissing.ID,
		optcheck.WaitMissing.ID, optcheck.WaitWeakened.ID:
		return fenceStage(front, middle, s, f.Access)
	}
	switch {
	case !frontOK:
		return StageFrontEnd
	case !middleOK:
		return StagePasses
	}
	return StageBackEnd
}

// depends reports whether all dependencies of an access are there in the IR: by
// data flow into its address and value, and for control by a path that passes
// the access by.
func depends(at map[int]irEvent, s *spec.Spec, pos int) bool {
	for _, d := range s.Deps {
		if d.To != pos {
			continue
		}
		if d.Kind == spec.DepCtrl {
			to, ok := at[d.To] // fences are not matched
			if ok && !to.acc.Maybe {
				return false
			}
			continue
		}
		from := at[d.To].acc.Data
		if d.Kind == spec.DepAddr {
			from = at[d.To].acc.Addr
		}
		found := false
		for _, i := range from {
			found = found || i == at[d.From].at
		}
		if !found {
			return false
		}
	}
	return true
}

// fenceStage tells where a fence, or the ordering of an access, was lost: the
// fence number n of the specification is the fence number n of the IR as far as
// there are as many. A fence that libclc makes of something else than LLVM's
// fence is the library's.
func fenceStage(front, middle []irEvent, s *spec.Spec, pos int) string {
	if pos < 0 || pos >= len(s.Entries) {
		return ""
	}
	if !s.Entries[pos].IsFence() {
		if m, ok := matched(middle, s); !ok || m[pos].acc.Ordering == "" && s.Entries[pos].Kind.Sem >= litmus.SemRelaxed {
			return StagePasses
		}
		return StageBackEnd
	}
	n, want := 0, 0
	for _, e := range s.Entries {
		if e.IsFence() {
			want++
			if e.Pos < pos {
				n++
			}
		}
	}
	fences := func(ev []irEvent) (out []irEvent) {
		for _, e := range ev {
			if e.op == "fence" {
				out = append(out, e)
			}
		}
		return out
	}
	f, m := fences(front), fences(middle)
	library := s.Entries[pos].Kind.Op == litmus.OpFence && s.Entries[pos].Kind.Scope == litmus.ScopeNone
	switch {
	case len(f) < want:
		return StageFrontEnd
	case len(m) < want && library, library && m[min(n, len(m)-1)].acc.Op == llvmir.Call:
		return StageLibrary
	case len(m) < want:
		return StagePasses
	}
	return StageBackEnd
}
