package optcheck

import (
	"errors"
	"fmt"

	"optcheck/isa"
	"optcheck/spec"
)

// loops records what the loops of a harness kernel change, by the first instruction of each loop. One iteration is
// checked of the loop over the rounds of a kernel, and of the loop over the work-items of a group. It starts in
// whatever state any other iteration may leave. The lists are made from the whole code, which has all roles, and so
// hold for what remains when it is specialised.
type loops struct {
	varies map[int]map[int]bool   // registers
	lost   map[int]map[int64]bool // words of the stack, by offset from its symbol
	// exact reports whether a register or word that is not listed holds the same value in each iteration. If not set,
	// every register that a loop writes is listed, and every word is lost.
	exact bool
	// open is set while the lists are being made.
	open  bool
	grown bool
	heads map[int]*state
}

// maxSettle bounds the walks by which the lists are found.
const maxSettle = 64

// loopsOf finds what the loops of a kernel change; it returns nil if all of its code runs once.
func (c *Checker) loopsOf(fn *isa.Func, h *spec.Harness) (*loops, error) {
	if h.Rounds == 0 && !h.Items {
		return nil, nil
	}
	f, err := newFlow(fn)
	if err != nil {
		return nil, err
	}
	l := &loops{varies: map[int]map[int]bool{}, lost: map[int]map[int64]bool{}, exact: h.Items}
	for _, b := range f.order {
		if len(f.carried[b]) == 0 {
			continue
		}
		first := f.blocks[b].First
		l.varies[first], l.lost[first] = map[int]bool{}, map[int64]bool{}
		for _, r := range f.carried[b] {
			l.varies[first][r] = !l.exact
		}
	}
	if !l.exact {
		return l, nil
	}
	// Initially every register and word is assumed to hold the same value in each iteration. Whatever a walk of the
	// code contradicts, varies; when nothing more does, induction over the iterations proves the rest.
	l.open = true
	for range maxSettle {
		l.grown, l.heads = false, map[int]*state{}
		if _, err := c.trace(fn, walkOptions{pool: takePool(), view: &view{h: h, loops: l}}); err != nil {
			return nil, err
		}
		if !l.grown {
			l.open, l.heads = false, nil
			return l, nil
		}
	}
	return nil, errors.New("what the loops of the kernel change could not be found")
}

// at reports whether a loop begins at an instruction.
func (l *loops) at(i int) bool { return l != nil && l.varies[i] != nil }

// enter forgets what the iterations of a loop that begins at an instruction change.
func (m *machine) enter(i int) {
	if m.view == nil || !m.view.loops.at(i) {
		return
	}
	l := m.view.loops
	for r, varies := range l.varies[i] {
		if varies {
			m.cur.v[r] = m.tr.pool.mk(node{kind: kSpecial, imm: m.tr.pool.str(fmt.Sprintf("round %d %d", i, r)), a: none, b: none, c: none})
		}
	}
	if !l.exact {
		m.cur.slots = nil
	}
	for at := range m.cur.slots {
		if off, ok := m.onSymbol(at); !ok || l.lost[i][off] {
			delete(m.cur.slots, at)
		}
	}
	if l.open {
		s := &state{v: make([]value, len(m.cur.v)), t: make([]taint, len(m.cur.t))}
		s.set(m.cur)
		l.heads[i] = s
	}
}

// onSymbol returns the offset of a word on the stack from the stack's symbol.
func (m *machine) onSymbol(at slot) (off int64, ok bool) {
	return at.off, at.base != none && m.tr.pool.nodes[at.base].kind == kSym
}

// learn adds whatever a walk contradicts to the lists.
func (l *loops) learn(m *machine) {
	for _, b := range m.flow.order {
		first := m.flow.blocks[b].First
		head := l.heads[first]
		if head == nil {
			continue
		}
		for _, p := range m.flow.blocks[b].Preds {
			end := m.in[p]
			if end == nil || !m.flow.isLoopHead(b, p) {
				continue
			}
			for r := range l.varies[first] {
				if !l.varies[first][r] && head.v[r] != end.v[r] {
					l.varies[first][r], l.grown = true, true
				}
			}
			for at, c := range head.slots {
				if o := end.slots[at]; o.v != c.v || o.bytes != c.bytes {
					l.lost[first][at.off], l.grown = true, true
				}
			}
		}
	}
}
