package refine

import (
	"reflect"
	"slices"

	"optcheck/ir"
)

// unread tells of each instruction of a program whether anything reads what it sets: by the text, whatever the path.
func unread(p *ir.Program) []bool {
	own := owned(p)
	live := map[ir.Reg]bool{}
	var ops []ir.Op
	for i := range p.Insts {
		in := &p.Insts[i]
		live[own(i, in.Guard)] = true
		for _, r := range reads(in) {
			live[own(i, r)] = true
		}
		for _, o := range slices.Concat(in.Pre, in.Post) {
			o.Dst = own(i, o.Dst)
			for n, r := range o.Src {
				o.Src[n] = own(i, r)
			}
			ops = append(ops, o)
		}
	}
	for again := true; again; {
		again = false
		for _, o := range slices.Backward(ops) {
			for _, r := range o.Src {
				if live[o.Dst] && !live[r] {
					live[r], again = true, true
				}
			}
		}
	}
	out := make([]bool, len(p.Insts))
	for i := range p.Insts {
		out[i] = !slices.ContainsFunc(p.Insts[i].Written(), func(r ir.Reg) bool { return live[own(i, r)] })
	}
	return out
}

// reads are the registers that an instruction's effect reads.
func reads(in *ir.Inst) (regs []ir.Reg) {
	if in.Do == nil {
		return nil
	}
	var results []string
	switch do := in.Do.(type) {
	case *ir.Access:
		if results = []string{"Dst", "Done"}; do.Kind == ir.Load {
			results = append(results, "Data", "Fragments")
		}
		if do.Tile != nil {
			regs = append(regs, do.Tile.Pitch)
		}
	case *ir.Warp:
		results = []string{"Dst", "Pred", "Dsts"}
	case *ir.Special:
		results = []string{"Dst"}
	case *ir.Flow:
		if do.Kind != ir.BarrierWait && do.Kind != ir.BarrierLeave {
			results = []string{"Bar"}
		}
	}
	v := reflect.ValueOf(in.Do).Elem()
	for i := range v.NumField() {
		if slices.Contains(results, v.Type().Field(i).Name) {
			continue
		}
		switch x := v.Field(i).Interface().(type) {
		case ir.Reg:
			regs = append(regs, x)
		case []ir.Reg:
			regs = append(regs, x...)
		}
	}
	return regs
}
