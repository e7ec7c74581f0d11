package ptxgen

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
)

// Asynchronous operations, mbarriers, and shared memory of other CTAs of a cluster.
//
// A kernel with them carries no markers: their specification is the PTX itself, which realcode compares with
// the machine code. An mbarrier's initial value in the test is the number of arrivals that it expects: the
// kernel initialises the mbarriers of its CTA, and waits for its block or cluster, before the test begins.

// Program reports whether the kernels of a test are compared as programs are, by their PTX: they have what no marker says.
func Program(t *litmus.Test) bool { return t.Extended() || t.Distributed() }

// LineAsync is the line of the first asynchronous operation of a thread.
const LineAsync = 500

// Instr is the number of the instruction of the kernel's thread that a line stands for, -1 if it is none.
func (k *Kernel) Instr(line int) int {
	if k.Lines != nil {
		line = k.Lines[line]
	}
	if line >= LineAsync && line < LineOther {
		return line - LineAsync
	}
	for _, e := range k.Spec.Entries {
		if e.Line() == line {
			return e.Instr
		}
	}
	return -1
}

// spelledFar is the mnemonic of an operation at a shared location of another CTA.
func spelledFar(name string) string {
	if strings.Contains(name, ".shared::") {
		return name
	}
	return strings.Replace(name, ".shared", ".shared::cluster", 1)
}

// async emits an asynchronous operation.
func (k *body) async(in *litmus.Instr) error {
	f := in.Async
	addrs, src := append([]litmus.Addr{in.Addr}, in.More...), in.Src
	name := f.Name
	if f.Kind == litmus.WarpElect { // its other result is left out
		return k.elect(in)
	}
	var ops []string
	for i, c := range strings.ReplaceAll(f.Operands, "?", "") {
		switch {
		case c == 'd' && in.Dst == "_":
			ops = append(ops, "_")
		case c == 'd':
			ops = append(ops, reg(in.Dst))
		case c == 'a' && len(addrs) > 0:
			a := addrs[0]
			addrs = addrs[1:]
			loc := k.loc(k.named0(a))
			if loc < 0 {
				return unsupported("%s: the address of an asynchronous operation is not known", in)
			}
			if k.far(loc) && i < 2 {
				name = spelledFar(name)
			}
			ops = append(ops, k.asyncAddr(loc, a.Offset))
		case (c == 's' && (f.Type == litmus.TypeNone || f.Together() || f.Copies()) || c == 'p') && len(src) > 0:
			s, err := k.plainOperand(src[0])
			if err != nil {
				return err
			}
			if c == 'p' {
				s = k.byLane(s, litmus.Pred)
			}
			ops, src = append(ops, s), src[1:]
		case (c == 's' || c == 'v') && len(src) > 0:
			var list []string
			for _, s := range src {
				v, err := k.value(s, f.Type)
				if err != nil {
					return err
				}
				if f.Together() {
					list = append(list, k.byLane(v, f.Type))
					break
				}
				list = append(list, v)
			}
			if f.Together() {
				src = src[1:]
			} else if src = nil; c == 'v' {
				list = []string{"{" + strings.Join(list, ", ") + "}"}
			}
			ops = append(ops, list...)
		}
	}
	if strings.Contains(name, "::cluster.b64") && f.Kind == litmus.MbarArrive && in.Dst != "_" {
		return unsupported("%s: an arrival at an mbarrier of another CTA returns nothing", in)
	}
	k.c("%s%s;", guard(in), strings.TrimSpace(name+" "+strings.Join(ops, ", ")))
	return nil
}

// elect emits elect.sync, whose other result no test has.
func (k *body) elect(in *litmus.Instr) error {
	k.c("%s _|%s, %d;", in.Async.Name, reg(in.Dst), in.Mask())
	return nil
}

// named0 is the location that an address of an asynchronous operation names.
func (k *body) named0(a litmus.Addr) string {
	if d := k.th.Decl(a.Reg); a.Loc == "" && d != nil {
		return d.Init.Name
	}
	return a.Loc
}

// asyncAddr is the operand for a location.
func (k *body) asyncAddr(loc int, offset int64) string {
	at := k.operandAddr(&litmus.Instr{}, loc)
	if offset == 0 {
		return at
	}
	return fmt.Sprintf("%s+%d]", strings.TrimSuffix(at, "]"), offset)
}

// mbarriers lists the locations that are mbarriers.
func mbarriers(t *litmus.Test) (locs []int) {
	for l := range t.Locations {
		name := t.Locations[l].Name
		if slices.ContainsFunc(t.Threads, func(th litmus.Thread) bool {
			return slices.ContainsFunc(th.Body, func(in litmus.Instr) bool {
				a, ok := in.Mbarrier()
				if d := th.Decl(a.Reg); ok && a.Loc == "" && d != nil {
					return d.Init.Name == name
				}
				return ok && a.Loc == name
			})
		}) {
			locs = append(locs, l)
		}
	}
	return locs
}

// near is the operand for a location in the thread's own CTA, also if the test's one is in another.
func (k *body) near(loc int) string {
	if k.e.named(loc) {
		return "[" + k.symbol(loc) + "]"
	}
	return k.loaded(loc)
}

// begin initialises the mbarriers of a thread's CTA by one of its threads, which alone performs the test, and
// waits for those who use them.
func (k *body) begin() {
	if !k.e.u.Program {
		return
	}
	k.p(".reg .b32 %%me;\n\t.reg .pred %%other;\n\tmov.u32 %%me, %%tid.x;")
	if k.performers(); k.lanes == 0 {
		k.p("setp.ne.u32 %%other, %%me, %d;", k.lane())
	}
	objects := mbarriers(k.e.t)
	for _, l := range objects { // also those of other CTAs, which execute this, too
		k.p("@!%%other mbarrier.init.shared.b64 %s, %d;", k.near(l), k.e.t.Locations[l].Init)
	}
	if len(objects) > 0 {
		for _, in := range k.e.initialised() {
			k.p("%s;", in)
		}
	}
	k.p("@%%other bra $NONE;")
}

// initialised are the instructions that make initialised mbarriers known to those who use them.
func (e *emitter) initialised() (list []string) {
	cluster := e.t.Distributed()
	if e.sm >= 90 && (cluster || e.bulk()) {
		list = append(list, "fence.mbarrier_init.release.cluster")
		e.u.Needs = max(e.u.Needs, 80)
	}
	if e.bulk() {
		list = append(list, "fence.proxy.async")
	}
	if cluster {
		return append(list, "barrier.cluster.arrive", "barrier.cluster.wait")
	}
	return append(list, fmt.Sprintf("bar.sync %d", HarnessBarrier))
}

// bulk reports whether the test has bulk copies.
func (e *emitter) bulk() bool { return e.has(litmus.BulkCopy, litmus.BulkReduce) }

func (e *emitter) has(kinds ...litmus.AsyncKind) bool {
	return slices.ContainsFunc(e.t.Threads, func(th litmus.Thread) bool {
		return slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Async != nil && slices.Contains(kinds, in.Async.Kind) })
	})
}

// answers lists the registers with the answers of waits, and of what threads do together, which nothing else keeps alive.
func (k *body) answers() (regs []string) {
	for i := range k.th.Body {
		in := &k.th.Body[i]
		if in.Async != nil && (in.Async.Kind == litmus.MbarWait || in.Async.Together()) && in.Dst != "" && !slices.Contains(regs, in.Dst) {
			regs = append(regs, in.Dst)
		}
	}
	return regs
}
