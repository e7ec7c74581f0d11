package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"optcheck/litmus"
)

// Ring returns the text of the store-buffering ring of n threads: thread i
// writes location i and reads location i+1.
func Ring(n int) string { return ring(n, "") }

// FencedRing is Ring with a fence.sc.gpu between the accesses of each thread.
func FencedRing(n int) string { return ring(n, "fence.sc.gpu") }

func ring(n int, fence string) string {
	var init, head, st, mid, ld, cond []string
	for i := range n {
		init = append(init, fmt.Sprintf("x%d=0;", i))
		head = append(head, fmt.Sprintf("P%d@cta %d,gpu 0", i, i))
		st = append(st, fmt.Sprintf("st.relaxed.gpu x%d, 1", i))
		mid = append(mid, fence)
		ld = append(ld, fmt.Sprintf("ld.relaxed.gpu r0, x%d", (i+1)%n))
		cond = append(cond, fmt.Sprintf("P%d:r0 == 0", i))
	}
	name, rows := "", [][]string{head, st, ld}
	if fence != "" {
		name, rows = "+"+fence+"s", [][]string{head, st, mid, ld}
	}
	return fmt.Sprintf("PTX ring%d.SB%s\n{ %s }\n%sexists (%s)\n", n, name, strings.Join(init, " "),
		table(rows...), strings.Join(cond, ` /\ `))
}

// Writers returns the text of the test with n threads that write different
// values to one location and a thread that reads it twice.
func Writers(n int) string {
	var head, st, rest []string
	for i := range n {
		head = append(head, fmt.Sprintf("P%d@cta %d,gpu 0", i, i))
		st = append(st, fmt.Sprintf("st.relaxed.gpu x, %d", i+1))
		rest = append(rest, "")
	}
	head = append(head, fmt.Sprintf("P%d@cta %d,gpu 0", n, n))
	st = append(st, "ld.relaxed.gpu r0, x")
	rest = append(rest, "ld.relaxed.gpu r1, x")
	return fmt.Sprintf("PTX CO%d\n{ x=0; }\n%sexists (P%d:r0 == 1 /\\ P%d:r1 == 2)\n", n, table(head, st, rest), n, n)
}

func table(rows ...[]string) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(" " + strings.Join(r, " | ") + " ;\n")
	}
	return b.String()
}

// Ordinary makes tests of the classic kind: a cycle through 2 to 4 threads,
// each with two accesses, sometimes with fences or dependencies between them;
// every location has a writer. Such tests are what generators produce and
// people judge by the thousand.
func Ordinary(r *rand.Rand, name string, membar bool) *litmus.Test {
	n := 2 + r.IntN(3)
	t := &litmus.Test{Dialect: litmus.PTX, Name: name}
	for i := range n {
		t.Locations = append(t.Locations, litmus.Location{Name: string("xyzw"[i])})
	}
	var atoms []litmus.Expr
	written := map[string]int64{}
	writes := make([][2]bool, n)
	for i := range n {
		writes[i] = [2]bool{r.IntN(2) == 0, r.IntN(2) == 0}
	}
	for i := range n {
		// Location i is shared by the second access of thread i-1 and the
		// first of thread i; one of them must write.
		if before := &writes[(i+n-1)%n]; !before[1] && !writes[i][0] {
			writes[i][0] = true
		}
	}
	for i := range n {
		th := litmus.Thread{Name: fmt.Sprintf("P%d", i), ID: i, Placed: true, Place: litmus.Place{CTA: 0, Cluster: r.IntN(2) * i, Warp: i}}
		var last string
		for k := range 2 {
			loc := t.Locations[(i+k)%n].Name
			if k == 1 {
				switch f := r.IntN(4); {
				case f == 0 && membar:
					th.Body = append(th.Body, litmus.Instr{Op: litmus.OpMembar,
						Scope: []litmus.Scope{litmus.ScopeCTA, litmus.ScopeGPU, litmus.ScopeSys}[r.IntN(3)]})
				case f == 0:
					th.Body = append(th.Body, litmus.Instr{Op: litmus.OpFence, Sem: litmus.SemSC, Scope: litmus.ScopeGPU})
				}
			}
			in := litmus.Instr{Op: litmus.OpLd, Addr: litmus.Addr{Loc: loc}, Dst: fmt.Sprintf("r%d", k),
				Sem: litmus.SemRelaxed, Scope: litmus.ScopeGPU}
			if membar {
				in.Sem, in.Scope, in.Cache = litmus.SemNone, litmus.ScopeNone, litmus.CacheCG
			}
			if writes[i][k] {
				written[loc]++
				in.Op, in.Dst, in.Src = litmus.OpSt, "", []litmus.Operand{litmus.Const(written[loc])}
			} else {
				last = in.Dst
				atoms = append(atoms, litmus.Atom{Left: litmus.Term{Kind: litmus.TermReg, Thread: i, Name: last}, Cmp: litmus.CmpEq,
					Right: litmus.Term{Kind: litmus.TermConst, Value: int64(r.IntN(2))}})
			}
			th.Body = append(th.Body, in)
		}
		t.Threads = append(t.Threads, th)
	}
	for _, l := range t.Locations {
		if written[l.Name] > 1 {
			atoms = append(atoms, litmus.Atom{Left: litmus.Term{Kind: litmus.TermLoc, Name: l.Name}, Cmp: litmus.CmpEq,
				Right: litmus.Term{Kind: litmus.TermConst, Value: 2}})
		}
	}
	if len(atoms) == 1 {
		t.Cond.Expr = atoms[0]
	} else {
		t.Cond.Expr = litmus.And{List: atoms}
	}
	return t
}
