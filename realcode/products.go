package realcode

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/ptx"
)

// products compares the words that operations on matrices make, with their fences, groups and waits: of
// those that have their own fence and wait, of the operations alone.
func (c *checker) products() {
	w := &products{c: c, steps: c.matrices(), ids: map[string]int32{}, names: []string{"", "", ""}}
	w.alone = c.anySerial(w.steps)
	var ops []int
	for k := range c.src.ops {
		if len(c.inPTX[k]) > 0 && w.letter(c.src.ops[k]) != "" {
			ops = append(ops, k)
		}
	}
	if len(ops) == 0 {
		return
	}
	w.inPTX = make([]int32, len(c.pg.next))
	for _, k := range ops {
		for _, n := range c.inPTX[k] {
			w.inPTX[n] = w.id(w.letter(c.src.ops[k]))
		}
	}
	v := w.compare(c.loose, c.inLoose)
	if v != nil {
		switch g, in, err := c.narrow(w.steps...); {
		case c.exactly() == nil:
			v = w.compare(c.exact, c.inExact)
		case err == nil:
			v = w.compare(g, in)
		}
	}
	if v == nil {
		return
	}
	f := Finding{Rule: Reordered, Kernel: c.name, First: c.place(w.near(ops, v.node)), Code: c.code(v.node),
		Detail: fmt.Sprintf("a path through the machine code has the operations on matrices %s, which none through the PTX has", w.word(v))}
	c.res.Findings = append(c.res.Findings, f)
}

// products is the question about operations on matrices.
type products struct {
	c     *checker
	steps []int32
	alone bool // fences, groups and waits are not compared
	ids   map[string]int32
	names []string // of letters
	inPTX []int32
}

func (w *products) id(name string) int32 {
	id, ok := w.ids[name]
	if !ok {
		id = int32(len(w.names))
		w.ids[name], w.names = id, append(w.names, name)
	}
	return id
}

// letter is what an operation of the PTX counts as.
func (w *products) letter(op *Op) string {
	switch kind := op.Effect.Kind; {
	case kind == ptx.Matrix:
		return product(op.Inst.Mods)
	case w.alone:
	case kind == ptx.MatrixFence:
		return "fence"
	case kind == ptx.MatrixCommit:
		return "commit"
	case kind == ptx.MatrixWait:
		return fmt.Sprint("wait ", op.Inst.Args[0].Value)
	}
	return ""
}

// letters are what an instruction counts as.
func (w *products) letters(n int) (out []string) {
	in := w.c.mach.insts[w.steps[n]]
	switch {
	case multiplies(in) && (empty(in) || w.c.serial(w.steps, n) && w.c.kindAt(w.c.mach.insts[w.steps[n-1]]) == ptx.MatrixCommit):
		return w.unlessAlone("commit")
	case multiplies(in) && w.alone && !w.c.serial(w.steps, n):
		return []string{product(in.Mods) + " that nothing waits for"}
	case multiplies(in) && (w.alone || !endsGroup(in)):
		return []string{product(in.Mods)}
	case multiplies(in):
		return []string{product(in.Mods), "commit"}
	case warpgroup(in, "ARRIVE"):
		return w.unlessAlone("fence")
	}
	return w.unlessAlone(fmt.Sprint("wait ", groups(in)))
}

func (w *products) unlessAlone(letter string) []string {
	if w.alone {
		return nil
	}
	return []string{letter}
}

// compare asks the question of a graph of the machine code.
func (w *products) compare(code *graph, in [][]int32) *violation {
	g := &graph{letter: code.letter, of: slices.Clone(code.of), next: slices.Clone(code.next)}
	inCode := make([]int32, len(g.next))
	for n, i := range w.steps {
		for _, at := range in[i] {
			for k, name := range w.letters(n) {
				if k > 0 {
					g.next, g.of, inCode = append(g.next, g.next[at]), append(g.of, i), append(inCode, 0)
					g.next[at] = []int32{int32(len(g.next) - 1)}
					at = g.next[at][0]
				}
				inCode[at] = w.id(name)
			}
		}
	}
	// ptxas may make one more fence, for registers that a loop has written since: two in a row are one.
	fence := w.id("fence")
	alike := &graph{letter: g.letter, of: slices.Clone(g.of), next: g.next}
	for n, l := range inCode {
		if l == fence {
			alike.of[n] = w.steps[0]
		}
	}
	q := &pairing{ptx: w.c.pg, code: alike, inPTX: w.inPTX, inCode: inCode, more: make([]bool, len(w.names))}
	q.more[fence] = true
	v := q.check()
	if v != nil {
		v.node = g.of[v.node]
	}
	return v
}

// near is the operation that an instruction is, or the last one before it that is known; else the first.
func (w *products) near(ops []int, step int32) int {
	best := ops[0]
	for _, i := range w.steps {
		if o := w.c.owner[i]; o >= 0 && i <= step {
			best = int(o)
		}
	}
	return best
}

// word is the end of the word that is none of the PTX's.
func (w *products) word(v *violation) string {
	var names []string
	for _, l := range v.word {
		names = append(names, w.names[l])
	}
	text := strings.Join(names[max(0, len(names)-6):], ", ")
	if len(names) > 6 {
		text = "…, " + text
	}
	if v.node == end {
		text += ", and then ends"
	}
	return text
}
