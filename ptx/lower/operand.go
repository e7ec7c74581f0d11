package lower

import (
	"math"
	"strings"

	"optcheck/ir"
	"optcheck/ptx"
)

// width is the width of a register in bits.
func (x *inst) width(r int) int {
	t, ok := types[x.f.Regs[r].Type]
	if !ok {
		x.fail("registers of type .%s are not understood", x.f.Regs[r].Type)
	}
	return t.Bits()
}

// src is operand number i as a source of a type.
func (x *inst) src(i int, t ir.Type) ir.Reg { return x.read(&x.in.Args[i], t) }

// srcs are the operands from number i on, all of one type.
func (x *inst) srcs(i int, t ir.Type) (out []ir.Reg) {
	for ; i < len(x.in.Args); i++ {
		out = append(out, x.src(i, t))
	}
	return out
}

// read is an operand as a source of a type: a register of that width, or a constant.
func (x *inst) read(o *ptx.Operand, t ir.Type) ir.Reg {
	if o.Kind == ptx.Reg && x.width(o.Reg) != t.Bits() {
		x.fail("a register of %d bits as .%s is not understood", x.width(o.Reg), t)
	}
	return x.readWide(o, t)
}

// readWide allows the register to be wider than the type, too: PTX ISA 9.4.1. The bits above are still there.
func (x *inst) readWide(o *ptx.Operand, t ir.Type) ir.Reg {
	switch o.Kind {
	case ptx.Reg:
		if o.Name != "" || x.width(o.Reg) < t.Bits() {
			x.fail("a part of a register is not understood")
		}
		r := x.regs[o.Reg]
		if o.Neg {
			if t != ir.Pred {
				x.fail("an operand with a sign is not understood")
			}
			return x.op(ir.Xor, ir.Pred, r, x.imm(1))
		}
		return r
	case ptx.Imm:
		return x.constant(o, t)
	case ptx.Sym:
		return x.symbol(o, t)
	}
	x.fail("an operand of this kind is not understood")
	return ir.None
}

// constant is an immediate as a number of a type.
func (x *inst) constant(o *ptx.Operand, t ir.Type) ir.Reg {
	v := uint64(o.Value)
	switch {
	case o.Float > 0:
		return x.imm(x.float(o, t))
	case t == ir.Pred:
		if v+1 > 2 {
			x.fail("the number %d as a predicate is not understood", o.Value)
		}
		return x.imm(v & 1)
	case t.Float() || t == ir.B128:
		x.fail("a number as .%s is not understood", t)
	case t.Bits() < 64:
		v &= 1<<t.Bits() - 1
	}
	return x.imm(v)
}

// float is an immediate of floating point as the bits of a type: PTX ISA 4.5.2. Those of 32 and 64 bits may stand for
// untyped bits, too.
func (x *inst) float(o *ptx.Operand, t ir.Type) uint64 {
	v := uint64(o.Value)
	switch {
	case o.Float == 64 && t == ir.F32:
		return uint64(math.Float32bits(float32(math.Float64frombits(v))))
	case o.Float != t.Bits():
		x.fail("a number of %d bits as .%s is not understood", o.Float, t)
	}
	return v
}

// symbol is a name as a source: a special register, or the address of a variable or function.
func (x *inst) symbol(o *ptx.Operand, t ir.Type) ir.Reg {
	if o.Neg {
		x.fail("a symbol with a sign is not understood")
	}
	if o.Name == "WARP_SZ" {
		return x.imm(32)
	}
	if strings.HasPrefix(o.Name, "%") {
		return x.special(o.Name, t)
	}
	if v := x.variable(o); v != nil {
		if t.Bits() < 32 || t.Float() {
			x.fail("an address as .%s is not understood", t)
		}
		x.form(" variable")
		return x.address(v, o.Value)
	}
	if f := x.byName[o.Name]; f != nil && t.Bits() == 64 && o.Value == 0 {
		x.form(" function")
		return x.b.Symbol(o.Name, 0, false)
	}
	x.fail("%s is not a name that is understood here", o.Name)
	return ir.None
}

// form adds to the instruction's form.
func (x *inst) form(suffix string) {
	if !strings.HasSuffix(x.out.Form, suffix) {
		x.out.Form += suffix
	}
}

// dst is operand number i as a destination of a type.
func (x *inst) dst(i int, t ir.Type) ir.Reg { return x.write(&x.in.Args[i], t) }

func (x *inst) write(o *ptx.Operand, t ir.Type) ir.Reg {
	switch {
	case o.Kind == ptx.Sink:
		return x.b.Temp()
	case o.Kind != ptx.Reg || o.Neg || o.Name != "":
		x.fail("a destination of this kind is not understood")
	case x.width(o.Reg) != t.Bits():
		x.fail("a register of %d bits as .%s is not understood", x.width(o.Reg), t)
	}
	return x.regs[o.Reg]
}

// extended writes a value of a type to a register that may be wider: PTX ISA 9.4.1.
func (x *inst) extended(o *ptx.Operand, t ir.Type, r ir.Reg) {
	if o.Kind == ptx.Sink {
		return
	}
	if o.Kind != ptx.Reg || o.Neg || o.Name != "" || x.width(o.Reg) < t.Bits() {
		x.fail("a destination of this kind is not understood")
	}
	to := raw(t)
	if t.Signed() {
		to = ir.Unsigned(x.width(o.Reg))
	} else {
		t = to
	}
	x.to(x.regs[o.Reg], ir.Ext, t, r).To = to
}

// pair is operand number i as two destinations of types, the second None where there is one only.
func (x *inst) pair(i int, t, u ir.Type) (ir.Reg, ir.Reg) {
	o := &x.in.Args[i]
	if o.Kind != ptx.Pair {
		return x.write(o, t), ir.None
	}
	if len(o.Elems) != 2 {
		x.fail("a pair of %d destinations is not understood", len(o.Elems))
	}
	x.form(" |")
	return x.write(&o.Elems[0], t), x.write(&o.Elems[1], u)
}

// number is operand number i, which must be a constant.
func (x *inst) number(i int) uint64 {
	o := &x.in.Args[i]
	if o.Kind != ptx.Imm {
		x.fail("operand %d is not a constant", i+1)
	}
	if o.Float > 0 {
		x.fail("operand %d is not an integer", i+1)
	}
	return uint64(o.Value)
}

// specials are the special registers of 32 bits: PTX ISA 10.
var specials = map[string]ir.SpecialReg{
	"%tid.x": ir.TidX, "%tid.y": ir.TidY, "%tid.z": ir.TidZ, "%ntid.x": ir.NtidX, "%ntid.y": ir.NtidY, "%ntid.z": ir.NtidZ,
	"%ctaid.x": ir.CtaidX, "%ctaid.y": ir.CtaidY, "%ctaid.z": ir.CtaidZ, "%nctaid.x": ir.NctaidX, "%nctaid.y": ir.NctaidY,
	"%nctaid.z": ir.NctaidZ, "%laneid": ir.LaneID, "%warpid": ir.WarpID, "%nwarpid": ir.NwarpID, "%smid": ir.SMID, "%nsmid": ir.NSMID,
	"%lanemask_eq": ir.LaneMaskEQ, "%lanemask_lt": ir.LaneMaskLT, "%lanemask_le": ir.LaneMaskLE, "%lanemask_gt": ir.LaneMaskGT,
	"%lanemask_ge": ir.LaneMaskGE, "%clock": ir.Clock, "%dynamic_smem_size": ir.DynamicSharedSize, "%total_smem_size": ir.TotalSharedSize,
	"%clusterid.x": ir.ClusterIDX, "%clusterid.y": ir.ClusterIDY, "%clusterid.z": ir.ClusterIDZ,
	"%nclusterid.x": ir.NclusterIDX, "%nclusterid.y": ir.NclusterIDY, "%nclusterid.z": ir.NclusterIDZ,
	"%cluster_ctaid.x": ir.ClusterCtaidX, "%cluster_ctaid.y": ir.ClusterCtaidY, "%cluster_ctaid.z": ir.ClusterCtaidZ,
	"%cluster_nctaid.x": ir.ClusterNctaidX, "%cluster_nctaid.y": ir.ClusterNctaidY, "%cluster_nctaid.z": ir.ClusterNctaidZ,
	"%is_explicit_cluster": ir.ExplicitCluster, "%envreg1": ir.EnvReg1, "%envreg2": ir.EnvReg2,
	"%cluster_ctarank": ir.ClusterCtarank, "%cluster_nctarank": ir.ClusterNctarank,
	// Where the system's part of shared memory lies, the manual does not tell: PTX ISA, Special Registers.
	"%reserved_smem_offset_begin": ir.Undefined, "%reserved_smem_offset_end": ir.Undefined, "%reserved_smem_offset_cap": ir.Undefined,
	"%reserved_smem_offset_0": ir.Undefined, "%reserved_smem_offset_1": ir.Undefined,
}

// specials64 are those of 64 bits.
var specials64 = map[string]ir.SpecialReg{"%clock64": ir.Clock64, "%globaltimer": ir.GlobalTimer, "%gridid": ir.GridID}

// specialHalves are those that are half of one of 64 bits.
var specialHalves = map[string]struct {
	of    string
	shift uint64
}{"%clock_hi": {"%clock64", 32}, "%globaltimer_lo": {"%globaltimer", 0}, "%globaltimer_hi": {"%globaltimer", 32}}

// special reads a special register, which an instruction can do once.
func (x *inst) special(name string, t ir.Type) ir.Reg {
	if h, ok := specialHalves[name]; ok && t.Bits() == 32 {
		return x.op(ir.Shr, ir.U64, x.special(h.of, ir.U64), x.imm(h.shift))
	}
	r, bits := specials[name], 32
	if _, ok := specials[name]; !ok {
		if r, ok = specials64[name]; !ok {
			x.fail("%s is not understood", name)
		}
		bits = 64
	}
	if r == ir.ExplicitCluster {
		bits = 1
	}
	if name == "%gridid" && t.Bits() == 32 { // of 32 bits before PTX 3.0
		bits = 32
	}
	if t.Bits() != bits && (t.Bits() != 16 || bits != 32) { // the first versions had 16 bits
		x.fail("%s as .%s is not understood", name, t)
	}
	x.form(" " + name)
	d := x.b.Temp()
	x.do(&ir.Special{Reg: r, Dst: d})
	return d
}
