package realcode

import (
	"fmt"
	"strings"

	"optcheck/ptx"
)

var widths = map[string]int{"pred": 1, "b8": 8, "u8": 8, "s8": 8, "b16": 16, "u16": 16, "s16": 16, "b32": 32, "u32": 32, "s32": 32,
	"b64": 64, "u64": 64, "s64": 64}

// special bounds special registers: numbers of threads, and of lanes.
func special(name string) knownBits {
	switch name {
	case "%laneid":
		return open(5)
	case "%tid.x", "%tid.y":
		return open(10)
	case "%tid.z":
		return open(6)
	case "%ntid.x", "%ntid.y":
		return open(11)
	case "%ntid.z":
		return open(7)
	}
	return open(64)
}

// reg is what is known of a register at a place.
func (n *numbers) reg(p spot, r int) knownBits {
	width := widths[p.f.Regs[r].Type]
	if width == 0 {
		width = 64
	}
	return n.cell(p, r, one, width).cut(width)
}

// maxDefs bounds the definitions of one value that are looked at.
const maxDefs = 64

// cell is what is known of a register or a parameter: what all leave there that may have written it.
func (n *numbers) cell(p spot, cell int, want extent, width int) knownBits {
	var v knownBits
	found := false
	join := func(x knownBits, ok bool) {
		switch {
		case !ok:
		case found:
			v = v.or(x)
		default:
			v, found = x, true
		}
	}
	defs := n.reach[p.f].defs(p.step, cell, want)
	if len(defs) > maxDefs {
		return open(width)
	}
	for _, d := range defs {
		if d == entry {
			join(n.passed(p, cell, want, width))
			continue
		}
		in := p.f.Body[d].Inst
		switch name, at, isStore := paramAt(in, "st"); {
		case isStore && n.reach[p.f].names[name] == cell && at != want:
			return open(width) // in parts
		case in.Name == "call":
			if p.seen[d] {
				join(n.returned(spot{p.frame, d}, in, cell, want, width), true)
			}
		default:
			x, ok := p.known[d]
			if !ok && p.seen[d] && len(defined(in)) != 1 && !isStore {
				x, ok = open(width), true
			}
			join(x, ok)
		}
	}
	if !found {
		return open(width)
	}
	return v
}

// passed is what the caller passes for a parameter. A register that is none has nothing when its function begins.
func (n *numbers) passed(p spot, cell int, want extent, width int) (v knownBits, ok bool) {
	k := n.reach[p.f].parameter(p.f.Params, cell)
	if k < 0 {
		return v, false
	}
	if p.caller == nil {
		return open(width), true
	}
	at := spot{p.caller, p.at}
	_, _, args := callOperands(at.inst())
	if k >= len(args) {
		return open(width), true
	}
	switch a := &args[k]; a.Kind {
	case ptx.Sym:
		return n.cell(at, n.reach[at.f].name(a.Name), want, width), true
	case ptx.Reg, ptx.Imm:
		return n.operand(at, a, width), true
	}
	return open(width), true
}

// returned is what the functions that a call goes to leave in what it returns into.
func (n *numbers) returned(p spot, in *ptx.Inst, cell int, want extent, width int) (v knownBits) {
	rets, _, _ := callOperands(in)
	found := false
	for k := range rets {
		if rets[k].Kind == ptx.Reg && rets[k].Reg != cell || rets[k].Kind == ptx.Sym && n.reach[p.f].names[rets[k].Name] != cell {
			continue
		}
		for _, fr := range p.calls[p.step] {
			if k >= len(fr.f.Returns) {
				return open(width)
			}
			for i, seen := range fr.seen {
				if seen && (i == len(fr.f.Body) || n.source.steps[fr.base+int32(i)].ret) {
					x := n.cell(spot{fr, int32(i)}, n.reach[fr.f].cell(fr.f.Returns[k]), want, width)
					if found {
						x = x.or(v)
					}
					v, found = x, true
				}
			}
		}
	}
	if !found {
		return open(width)
	}
	return v
}

func (n *numbers) operand(p spot, o *ptx.Operand, width int) knownBits {
	switch o.Kind {
	case ptx.Reg:
		v := n.reg(p, o.Reg)
		if o.Neg {
			v = v.plus(constant(1)) // of a predicate
		}
		return v.cut(width)
	case ptx.Imm:
		return constant(uint64(o.Value)).cut(width)
	case ptx.Sym:
		return special(o.Name).cut(width)
	}
	return open(width)
}

// result is what an instruction leaves in its register.
func (n *numbers) result(p spot, in *ptx.Inst) knownBits {
	args, mods := len(in.Args), in.Mods
	if len(mods) == 0 || args < 2 || in.Args[0].Kind != ptx.Reg || in.Has("sat", "cc", "hi") {
		return open(64)
	}
	typ := mods[len(mods)-1]
	width := widths[typ]
	if name, at, ok := paramAt(in, "ld"); ok && width > 0 {
		if typ[0] == 's' && width < widths[p.f.Regs[in.Args[0].Reg].Type] {
			return open(64)
		}
		return n.cell(p, n.reach[p.f].name(name), at, width).cut(width)
	}
	if in.Name == "setp" {
		return n.compared(p, in, typ, width)
	}
	if width == 0 {
		return open(64)
	}
	arg := func(k int) knownBits { return n.operand(p, &in.Args[k], width) }
	switch in.Name {
	case "mov":
		return arg(1)
	case "not":
		return constant(mask(width)).minus(arg(1)).cut(width)
	case "neg":
		return constant(0).minus(arg(1)).cut(width)
	case "popc", "clz":
		return open(7)
	case "cnot":
		return open(1)
	case "cvt":
		if a, to := arg(1), widths[mods[max(0, len(mods)-2)]]; to > 0 && (to <= width || typ[0] != 's' || a.most() < 1<<(width-1)) {
			return a.cut(to)
		}
	}
	if args < 3 {
		return open(64)
	}
	a, b := arg(1), arg(2)
	switch in.Name {
	case "selp":
		return a.or(b)
	case "mul":
		return mul(in, a, b, width)
	case "mad":
		if in.Has("wide") {
			width *= 2
		}
		if args == 4 {
			return mul(in, a, b, widths[typ]).plus(n.operand(p, &in.Args[3], width)).cut(width)
		}
	case "min", "max", "rem", "div":
		if typ[0] == 'u' {
			return bounded(in.Name, a, b)
		}
	case "bfe":
		if c := n.operand(p, &in.Args[args-1], 8); args == 4 && typ[0] == 'u' && c.open == 0 && b.cut(8).open == 0 {
			return knownBits{a.value >> b.cut(8).value, a.open >> b.cut(8).value}.cut(max(1, int(min(c.value, 64)))).cut(width)
		}
	case "lop3":
		if args == 5 && in.Args[4].Kind == ptx.Imm {
			return lop3(a, b, arg(3), uint64(in.Args[4].Value)).cut(width)
		}
	case "xor", "sub":
		if n.same(p, in) {
			return constant(0)
		}
		fallthrough
	case "add", "and", "or", "shl", "shr":
		return combination(in.Name, typ, a, b, width).cut(width)
	}
	return open(64)
}

// compared is the result of a comparison, with another condition if it has one.
func (n *numbers) compared(p spot, in *ptx.Inst, typ string, width int) (v knownBits) {
	same := n.same(p, in)
	if width > 0 {
		v = comparedAs(in.Mods[0], typ, width, n.operand(p, &in.Args[1], width), n.operand(p, &in.Args[2], width), same)
	} else {
		v = comparedFloats(in.Mods[0], same)
	}
	for _, m := range in.Mods[1:] {
		if m == "and" || m == "or" || m == "xor" {
			if len(in.Args) < 4 {
				return open(1)
			}
			v = combination(m, "pred", v, n.operand(p, &in.Args[3], 1), 1).cut(1)
		}
	}
	return v
}

// same reports whether both operands are one value: that of one register, or what is copied or computed of the same.
func (n *numbers) same(p spot, in *ptx.Inst) bool {
	if len(in.Args) < 3 || in.Args[1].Neg != in.Args[2].Neg {
		return false
	}
	a, b := &in.Args[1], &in.Args[2]
	if a.Kind != ptx.Reg || b.Kind != ptx.Reg {
		return false
	}
	if a.Reg == b.Reg {
		return true
	}
	x, y := n.identity(p, a, 0), n.identity(p, b, 0)
	return x != "" && x == y
}

// identity names the value of an operand: values of one name are equal at the place. It is "" if that is not known.
func (n *numbers) identity(p spot, o *ptx.Operand, depth int) string {
	switch {
	case depth > 16 || o.Neg:
		return ""
	case o.Kind == ptx.Imm:
		return fmt.Sprintf("#%d", o.Value)
	case o.Kind == ptx.Sym && !changes(o.Name):
		return "&" + o.Name
	case o.Kind != ptx.Reg:
		return ""
	}
	return n.identityOf(p, o.Reg, one, depth+1)
}

// identityOf is that of a register or a parameter.
func (n *numbers) identityOf(p spot, cell int, want extent, depth int) string {
	r := n.reach[p.f]
	defs := r.defs(p.step, cell, want)
	if len(defs) != 1 || depth > 16 {
		return ""
	}
	d := defs[0]
	if d == entry {
		k := r.parameter(p.f.Params, cell)
		if k < 0 {
			return ""
		}
		if p.caller == nil {
			return fmt.Sprintf("[%s:%d %v]", p.f.Name, k, want)
		}
		at := spot{p.caller, p.at}
		_, _, args := callOperands(at.inst())
		switch {
		case k >= len(args):
		case args[k].Kind == ptx.Sym:
			return n.identityOf(at, n.reach[at.f].name(args[k].Name), want, depth+1)
		default:
			return n.identity(at, &args[k], depth+1)
		}
		return ""
	}
	in, at := p.f.Body[d].Inst, spot{p.frame, d}
	if in.Guard >= 0 || !r.once(d, p.step) {
		return ""
	}
	if name, bytes, ok := paramAt(in, "st"); ok && r.names[name] == cell && cell >= len(p.f.Regs) {
		if bytes != want {
			return ""
		}
		return n.identity(at, &in.Args[1], depth+1)
	}
	if name, bytes, ok := paramAt(in, "ld"); ok && bytes.hi-bytes.lo == int64(widths[p.f.Regs[cell].Type]/8) {
		return n.identityOf(at, r.name(name), bytes, depth+1)
	}
	if in.Name == "mov" && len(in.Args) == 2 && in.Args[0].Kind == ptx.Reg && in.Args[1].Kind == ptx.Reg {
		return n.identity(at, &in.Args[1], depth+1)
	}
	if computesAlone(in) {
		parts := []string{in.Op}
		for i := range in.Args[1:] {
			x := n.identity(at, &in.Args[1+i], depth+1)
			if x == "" {
				return fmt.Sprintf("@%p:%d", p.frame, d)
			}
			parts = append(parts, x)
		}
		if x := strings.Join(parts, " "); len(x) < 400 {
			return "(" + x + ")"
		}
	}
	return fmt.Sprintf("@%p:%d:%d", p.frame, d, cell)
}
