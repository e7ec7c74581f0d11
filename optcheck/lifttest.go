package optcheck

import (
	"fmt"
	"slices"
	"strconv"

	"optcheck/litmus"
	"optcheck/spec"
)

// LiftedThread is the machine code of one thread of a test with what the test knows about its kernel.
type LiftedThread struct {
	Lifted LiftedCode
	Spec   *spec.Spec   // from spec.FromTest
	Values []spec.Value // what the kernel's parameters stand for
}

// LiftedTest is machine code as a litmus test.
type LiftedTest struct {
	Test *litmus.Test
	// Equal lists the registers of the test's condition that no access of the machine code defines any more, with
	// what they equal: "1:r2 = 1:r1".
	Equal []string
}

// maxVariants bounds the number of tests for one machine code.
const maxVariants = 64

// LiftTest reassembles the threads of a test. The result is one test, or several that together allow what the machine
// code allows: the words of a wide access are not ordered among themselves, so each order is a test.
func LiftTest(src *litmus.Test, threads []LiftedThread) ([]LiftedTest, error) {
	src, _, err := src.Unrolled()
	if err != nil {
		return nil, err
	}
	if len(threads) != len(src.Threads) {
		return nil, fmt.Errorf("%d threads of machine code for the %d of test %s", len(threads), len(src.Threads), src.Name)
	}
	base := src.Clone()
	base.Meta = nil
	base.Doc = ""
	variants := []LiftedTest{{Test: base}}
	for i := range threads {
		var next []LiftedTest
		code, ok := threads[i].Lifted.(*Lifted)
		if !ok {
			return nil, fmt.Errorf("thread %s: its machine code was not lifted to litmus instructions", src.Threads[i].Name)
		}
		for _, order := range code.orders(src) {
			th, equal, err := liftThread(src, i, &threads[i], code, order)
			if err != nil {
				return nil, fmt.Errorf("thread %s: %w", src.Threads[i].Name, err)
			}
			for _, v := range variants {
				t := v.Test.Clone()
				t.Threads[i] = *th
				next = append(next, LiftedTest{t, append(slices.Clone(v.Equal), equal...)})
				if len(next) > maxVariants {
					return nil, fmt.Errorf("too many orders of the words of wide accesses")
				}
			}
		}
		variants = next
	}
	for i := range threads {
		code := threads[i].Lifted.(*Lifted)
		for k := range code.ops {
			if code.ops[k].texture {
				for _, v := range variants {
					addAlias(v.Test, src, code.ops[k].loc)
				}
			}
		}
	}
	return variants, nil
}

// aliasOf names the address by which non-coherent loads access a location, through the texture path (PTX ISA,
// ld.global.nc). It is another proxy, so nothing orders these loads with the thread's own stores.
func aliasOf(t *litmus.Test, loc int) string {
	name := t.Locations[loc].Name + "_nc"
	for t.Location(name) != nil {
		name += "0"
	}
	return name
}

// addAlias declares that address.
func addAlias(t, src *litmus.Test, loc int) {
	if name := aliasOf(src, loc); t.Location(name) == nil {
		l := src.Locations[loc]
		l.Name, l.Alias, l.Proxy = name, l.Name, litmus.ProxyTexture
		t.Locations = append(t.Locations, l)
	}
}

func permutations(n int) [][]int {
	if n <= 1 {
		return [][]int{{0}}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for at := 0; at <= len(p); at++ {
			out = append(out, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return out
}

// threadLifter builds the code of one thread.
type threadLifter struct {
	src    *litmus.Thread
	t      *litmus.Test
	in     *LiftedThread
	code   *Lifted
	th     *litmus.Thread
	ptx    bool
	regs   map[int]string // reading event → register
	direct map[int]bool   // reading event → the register is the test's own
	values map[int64]spec.Value
	addrs  map[int]string // location → register that holds its address
	taken  map[string]bool
	preds  map[string]string          // expression → predicate register
	halves map[int]*[2]litmus.Operand // words of locations one half of which is stored
	next   int
}

func liftThread(t *litmus.Test, i int, in *LiftedThread, code *Lifted, order []int) (*litmus.Thread, []string, error) {
	src := &t.Threads[i]
	l := &threadLifter{src: src, t: t, in: in, code: code, ptx: t.Dialect == litmus.PTX, regs: map[int]string{}, direct: map[int]bool{},
		values: map[int64]spec.Value{}, addrs: map[int]string{}, taken: map[string]bool{}, preds: map[string]string{},
		halves: map[int]*[2]litmus.Operand{}}
	th := *src
	th.Regs, th.Body = slices.Clone(src.Regs), nil
	l.th = &th
	for _, d := range src.Regs {
		l.taken[d.Name] = true
		if d.Init.Kind == litmus.OperandLoc && !l.written(d.Name) {
			for k := range t.Locations {
				if t.Locations[k].Name == d.Init.Name {
					l.addrs[k] = d.Name
				}
			}
		}
	}
	for k := range src.Body {
		in := &src.Body[k]
		l.taken[in.Dst] = true
		for _, r := range in.Reads() {
			l.taken[r] = true
		}
	}
	for _, v := range in.Values {
		l.values[v.Offset] = v
	}
	l.nameReads()
	for _, k := range order {
		var err error
		if code.oneAccess(t, k) {
			err = l.words64(&code.ops[k], &code.ops[k+1])
		} else {
			err = l.op(&code.ops[k])
		}
		if err != nil {
			return nil, nil, err
		}
	}
	equal, err := l.tail()
	l.prune()
	return l.th, equal, err
}

// prune drops the declarations of unused registers.
func (l *threadLifter) prune() {
	used := map[string]bool{}
	for i := range l.th.Body {
		in := &l.th.Body[i]
		used[in.Dst] = true
		for _, r := range in.Reads() {
			used[r] = true
		}
	}
	for _, t := range l.t.Terms() {
		if t.Kind == litmus.TermReg && t.Thread == l.src.ID {
			used[t.Name] = true
		}
	}
	l.th.Regs = slices.DeleteFunc(l.th.Regs, func(d litmus.RegDecl) bool { return !used[d.Name] })
}

// written reports whether the source thread writes a register.
func (l *threadLifter) written(r string) bool {
	return slices.ContainsFunc(l.src.Body, func(in litmus.Instr) bool { return in.Dst == r })
}

// source returns the source instruction of an entry.
func (l *threadLifter) source(entry int) *litmus.Instr {
	return &l.src.Body[l.in.Spec.Entries[entry].Instr]
}

// nameReads assigns registers to read events: that of the test's access if nothing else writes it.
func (l *threadLifter) nameReads() {
	writes := map[string]int{}
	for k := range l.src.Body {
		writes[l.src.Body[k].Dst]++
	}
	for r, rd := range l.code.reads {
		if rd.entry >= 0 && !rd.chosen {
			if dst := l.source(rd.entry).Dst; dst != "" && dst != "_" && writes[dst] == 1 {
				l.regs[r], l.direct[r] = dst, true
			}
		}
	}
}

// fresh declares a new register.
func (l *threadLifter) fresh(prefix string, t litmus.Type) string {
	for {
		name := prefix + strconv.Itoa(100+l.next)
		l.next++
		if !l.taken[name] && !l.isLocation(name) {
			l.taken[name] = true
			if !l.ptx {
				l.th.Regs = append(l.th.Regs, litmus.RegDecl{Name: name, Type: t})
			}
			return name
		}
	}
}

func (l *threadLifter) isLocation(name string) bool { return l.t.Location(name) != nil }

// read returns the register of a reading event.
func (l *threadLifter) read(r int) string {
	name, ok := l.regs[r]
	if !ok {
		t := litmus.S32
		if r < maxReads && l.code.reads[r].wide {
			t = litmus.S64
		}
		name = l.fresh("r", t)
		l.regs[r] = name
	}
	return name
}

// readWord returns the register of a word of a reading event.
func (l *threadLifter) readWord(r, word int) string {
	if !l.code.reads[r].split || word == 0 {
		return l.read(r)
	}
	return l.read(r + word*maxReads)
}

func (l *threadLifter) emit(in litmus.Instr) { l.th.Body = append(l.th.Body, in) }
