package realcode

import (
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
)

// Asynchronous operations on matrices have the lines of instructions around them; their fences and
// waits have their own. So their order tells which they are: from one fence to the next, each is that of
// its place. The end of a group is a mark of its last operation. At O0 ptxas waits for each at once, with a
// fence in front; there the lines are right, and fences, groups and waits need no instructions.

// factors are the types of what is multiplied that both programs name.
var factors = []string{"bf16", "tf32", "e4m3", "e5m2"}

// product is what an operation on matrices multiplies: its shape and types.
func product(mods []string) (out string) {
	for _, m := range mods {
		if rest, ok := strings.CutPrefix(m, "m"); ok && strings.ContainsRune(rest, 'k') {
			m = strings.NewReplacer("n", "x", "k", "x").Replace(rest)
		}
		if strings.Count(m, "x") == 2 {
			out = m
		}
	}
	for _, f := range factors {
		if slices.Contains(mods, f) || slices.Contains(mods, strings.ToUpper(f)) {
			out += " " + f
		}
	}
	return out
}

// empty reports whether an operation on matrices is there for the mark alone: of a group in which is nothing.
func empty(in *isa.Inst) bool { return endsGroup(in) && len(in.Args) > 0 && in.Args[0].Zero }

func multiplies(in *isa.Inst) bool { return strings.HasSuffix(in.Op, "GMMA") && !in.Guard.Never }

func warpgroup(in *isa.Inst, what string) bool {
	return in.Op == "WARPGROUP" && slices.Contains(in.Mods, what) && !in.Guard.Never
}

// endsGroup reports whether an operation on matrices is the last of its group.
func endsGroup(in *isa.Inst) bool { return strings.HasSuffix(in.Text, "gsb0") }

// matrices are the steps that are operations on matrices, their fences and waits.
func (m *matcher) matrices() (at []int32) {
	for i, in := range m.mach.insts {
		if m.mach.reach[i] && (multiplies(in) || warpgroup(in, "ARRIVE") || warpgroup(in, "DEPBAR")) {
			at = append(at, int32(i))
		}
	}
	return at
}

// serial reports whether an operation on matrices has a fence, which has its line, and a wait of its own.
func (m *matcher) serial(steps []int32, n int) bool {
	if n == 0 || n+1 == len(steps) {
		return false
	}
	fence, in, wait := m.mach.insts[steps[n-1]], m.mach.insts[steps[n]], m.mach.insts[steps[n+1]]
	return multiplies(in) && endsGroup(in) && warpgroup(fence, "ARRIVE") && warpgroup(wait, "DEPBAR") && groups(wait) == 0 &&
		m.kindAt(fence) != ptx.MatrixFence && !m.relies(steps[n]+1, steps[n+1])
}

// relies reports whether a stretch has a jump, or an image of what may rely on a product.
func (m *matcher) relies(from, to int32) bool {
	for i := from; i < to; i++ {
		o := m.owner[i]
		if m.mach.insts[i].Role == isa.RoleBranch || o >= 0 && (!relaxed(m.src.ops[o]) || m.src.ops[o].Effect.Space == "shared") {
			return true
		}
	}
	return false
}

// kindAt is what the operation on the line of an instruction is.
func (m *matcher) kindAt(in *isa.Inst) ptx.Kind {
	if k, ok := m.opAt[in.Src.Line]; ok {
		return m.src.ops[k].Effect.Kind
	}
	return ptx.None
}

func (m *matcher) anySerial(steps []int32) bool {
	for n := range steps {
		if m.serial(steps, n) {
			return true
		}
	}
	return false
}

// multiplied gives operations on matrices their images.
func (m *matcher) multiplied() {
	steps, cursor := m.matrices(), -1
	give := func(k int, i int32) {
		m.img[k].main, m.img[k].shape = append(m.img[k].main, i), inOrder
		m.owner[i] = int32(k)
	}
	for n, i := range steps {
		in := m.mach.insts[i]
		switch {
		case m.serial(steps, n):
			if fence := m.mach.insts[steps[n-1]]; m.kindAt(fence) == ptx.Matrix {
				give(m.opAt[fence.Src.Line], i)
			}
		case warpgroup(in, "ARRIVE"):
			cursor = -1
			if m.kindAt(in) == ptx.MatrixFence {
				cursor = m.opAt[in.Src.Line]
				give(cursor, i)
			}
		case multiplies(in) && cursor >= 0 && !empty(in):
			if cursor = m.nextProduct(cursor); cursor >= 0 && product(m.src.ops[cursor].Inst.Mods) == product(in.Mods) {
				give(cursor, i)
			} else {
				cursor = -1
			}
		}
	}
}

// nextProduct is the next operation on matrices in the text, -1 if a fence comes first.
func (m *matcher) nextProduct(k int) int {
	for k++; k < len(m.src.ops); k++ {
		switch m.src.ops[k].Effect.Kind {
		case ptx.Matrix:
			return k
		case ptx.MatrixFence:
			return -1
		}
	}
	return -1
}

// afterMatrices reports whether an operation may have to stay behind the wait for operations on matrices: it
// tells others that these have read, or writes where they may read, or reads what they return.
func (s *source) afterMatrices(op *Op) bool {
	switch e := &op.Effect; e.Kind {
	case ptx.MbarArrive, ptx.Copy, ptx.Bulk:
		return true
	case ptx.Store:
		if e.Space == "shared" {
			return true
		}
	}
	return slices.ContainsFunc(s.ops, func(x *Op) bool {
		return x.Effect.Kind == ptx.Matrix && x.Func == op.Func &&
			slices.ContainsFunc(used(op.Inst), func(r int) bool { return slices.Contains(defined(x.Inst), r) })
	})
}
