package ptxgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// irEdge is a jump: the block that it leaves and the content of registers there.
type irEdge struct {
	from string
	env  map[string]irValue
}

// edge records a jump from the current block to a label.
func (k *irBody) edge(label string) {
	env := make(map[string]irValue, len(k.env))
	for n, v := range k.env {
		env[n] = v
	}
	k.jumps[label] = append(k.jumps[label], irEdge{k.block, env})
}

// to opens a basic block.
func (k *irBody) to(name string) {
	fmt.Fprintf(&k.out, "%s:\n", name)
	k.block = name
}

// join opens the block of a label and merges the registers.
func (k *irBody) join(label string) {
	if k.block != "" {
		k.ir("br label %%%s", irLabel(label))
		k.edge(label)
	}
	edges := k.jumps[label]
	k.to(irLabel(label))
	k.merge(edges, label)
}

func irLabel(l string) string { return "L_" + strings.NewReplacer("$", "_", "%", "_").Replace(l) }

// merge makes phis of registers that differ between the edges into the current
// block, and of those that a loop writes of which it is the head. A register that some
// edge does not have is not live here.
func (k *irBody) merge(edges []irEdge, label string) {
	if len(edges) == 0 {
		return
	}
	env := map[string]irValue{}
	names := make([]string, 0, len(edges[0].env))
	for n := range edges[0].env {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		v, same, all := edges[0].env[n], true, true
		for _, e := range edges[1:] {
			w, ok := e.env[n]
			all = all && ok && w.typ == v.typ
			same = same && w == v
		}
		if !all {
			continue
		}
		if carried := k.writes(label, n); !same || carried {
			var in []string
			for _, e := range edges {
				in = append(in, incoming(e, n))
			}
			phi := k.fresh("phi")
			fmt.Fprintf(&k.out, "  %s = phi %s %s", phi, k.spell(v.typ), strings.Join(in, ", "))
			if carried {
				k.carried = append(k.carried, irCarried{label, n, len(edges), k.out.Len()})
			}
			k.end()
			v.name = phi
		}
		env[n] = v
	}
	k.env = env
}

// branch emits a jump.
func (k *irBody) branch(in *litmus.Instr) error {
	cond := ""
	switch {
	case in.Cmp != litmus.CmpNone:
		a, err := k.operandAs(in.Src[0], "i32")
		if err != nil {
			return err
		}
		b, err := k.operandAs(in.Src[1], "i32")
		if err != nil {
			return err
		}
		cond = k.fresh("b")
		k.ir("%s = icmp %s i32 %s, %s", cond, irCmp(in.Cmp, true), a, b)
	case in.Guard != nil:
		cond = k.predicate(in.Guard)
	}
	if cond == "" {
		k.ir("br label %%%s", irLabel(in.Target))
		k.edge(in.Target)
		k.block = ""
		return nil
	}
	k.n++
	rest := fmt.Sprintf("next%d", k.n)
	k.ir("br i1 %s, label %%%s, label %%%s", cond, irLabel(in.Target), rest)
	k.edge(in.Target)
	k.to(rest)
	return nil
}

// predicate returns a guard's condition.
func (k *irBody) predicate(g *litmus.Guard) string {
	p := k.env[g.Reg].name
	if !g.Neg {
		return p
	}
	n := k.fresh("b")
	k.ir("%s = xor i1 %s, true", n, p)
	return n
}

// guarded emits an instruction, in a block of its own if it has a guard.
func (k *irBody) guarded(in *litmus.Instr, ents []*spec.Entry) error {
	if in.Guard == nil {
		return k.emit(in, ents)
	}
	cond := k.predicate(in.Guard)
	k.n++
	then, done := fmt.Sprintf("then%d", k.n), fmt.Sprintf("done%d", k.n)
	k.ir("br i1 %s, label %%%s, label %%%s", cond, then, done)
	k.edge(done)
	before := maps.Clone(k.env)
	k.to(then)
	if err := k.emit(in, ents); err != nil {
		return err
	}
	operands := k.operandCopies(ents, before)
	k.ir("br label %%%s", done)
	k.edge(done)
	k.to(done)
	k.merge(k.jumps[done], done)
	maps.Copy(k.env, operands)
	return nil
}

// operandCopies returns the copies of a skipped atomic's operands that hold
// whether it is skipped or not, as Emit has them: ptxas may combine the atomic
// with those of other lanes, and what is combined is compared with the copy.
func (k *irBody) operandCopies(ents []*spec.Entry, before map[string]irValue) map[string]irValue {
	out := map[string]irValue{}
	for _, ent := range ents {
		if !k.nv || ent.Kind.Op != litmus.OpAtom {
			continue
		}
		for _, i := range ent.Operands() {
			key := fmt.Sprintf(" o%d_%d", ent.Pos, i)
			v := k.env[key]
			known := strings.HasPrefix(v.name, "%v") // a parameter
			for _, b := range before {
				known = known || b == v
			}
			if known {
				out[key] = v
			}
		}
	}
	return out
}
