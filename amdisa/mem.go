package amdisa

import (
	"strings"

	"optcheck/isa"
)

// atomNames maps the names of atomics to the operation names of package isa.
var atomNames = map[string]string{
	"add": "ADD", "sub": "SUB", "rsub": "RSUB", "inc": "INC", "dec": "DEC", "and": "AND", "or": "OR", "xor": "XOR", "mskor": "MSKOR",
	"swap": "EXCH", "wrxchg": "EXCH", "storexchg": "EXCH", "wrap": "WRAP", "csub": "CSUB", "cond_sub": "CSUB", "sub_clamp": "SUBCLAMP",
	"cmpswap": "CAS", "cmpst": "CAS", "cmpstore": "CAS", "fcmpswap": "FCAS",
	"min": "MIN", "max": "MAX", "smin": "MIN", "smax": "MAX", "umin": "UMIN", "umax": "UMAX", "fmin": "FMIN", "fmax": "FMAX",
	"min_num": "FMIN", "max_num": "FMAX", "pk_add": "PKADD", "ordered_add": "ORDEREDADD", "append": "APPEND", "consume": "CONSUME",
	"condxchg32": "CONDXCHG",
}

// atomic splits the name of an atomic into operation and number of bytes. Types are add_u32,
// cmpswap_x2, smax, add_f32, pk_add_bf16.
func atomic(name string) (op string, width int, ok bool) {
	width = 4
	if n, x2 := strings.CutSuffix(name, "_x2"); x2 {
		name, width = n, 8
	}
	typ := ""
	if i := strings.LastIndexByte(name, '_'); i > 0 && isType(name[i+1:]) {
		name, typ = name[:i], name[i+1:]
	}
	op, ok = atomNames[name]
	if !ok {
		return "", 0, false
	}
	if strings.HasSuffix(typ, "64") {
		width = 8
	}
	switch {
	case strings.HasPrefix(typ, "f") && (op == "ADD" || op == "MIN" || op == "MAX" || op == "CAS"):
		op = "F" + op
	case strings.HasPrefix(typ, "u") && (op == "MIN" || op == "MAX"):
		op = "U" + op
	}
	return op, width, true
}

// accessWidth returns the bytes that load_… and store_… move per thread, and whether the rest
// of the name was understood. d16 is set if the value goes to one half of a register (with "hi"
// to the upper one), whose other half is unchanged.
func accessWidth(name string) (width int, d16 bool, ok bool) {
	name = strings.TrimPrefix(name, "lds_")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_addtid"), "_tfe")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "addtid_"), "monitor_")
	if strings.HasPrefix(name, "d16_") {
		d16, name = true, name[4:]
	} else if n, c := strings.CutSuffix(name, "_d16_hi"); c {
		d16, name = true, n
	} else if n, c := strings.CutSuffix(name, "_d16"); c {
		d16, name = true, n
	}
	name = strings.TrimPrefix(name, "hi_")
	if f, c := strings.CutPrefix(name, "format_"); c {
		if g, c := strings.CutPrefix(f, "d16_"); c {
			f, d16 = strings.TrimPrefix(g, "hi_"), true
		}
		switch f {
		case "x", "xy", "xyz", "xyzw":
			if d16 {
				return 2 * len(f), len(f) == 1, true
			}
			return 4 * len(f), false, true
		}
		return 0, false, false
	}
	switch name {
	case "dword", "b32":
		width = 4
	case "dwordx2", "b64":
		width = 8
	case "dwordx3", "b96":
		width = 12
	case "dwordx4", "b128":
		width = 16
	case "dwordx8", "b256":
		width = 32
	case "dwordx16", "b512":
		width = 64
	case "ubyte", "sbyte", "byte", "u8", "i8", "b8":
		width = 1
	case "ushort", "sshort", "short", "u16", "i16", "b16":
		width = 2
	case "tr_b64", "tr4_b64", "tr8_b64", "tr16_b64", "b64_tr_b16", "b64_tr_b4", "b64_tr_b8":
		width = 8
	case "tr6_b96", "b96_tr_b6":
		width = 12
	case "tr_b128", "tr16_b128":
		width = 16
	case "block":
		width = 128
	default:
		return 0, false, false
	}
	return width, d16, true
}

// scope sets Mem.Scope from the bits that express one.
func (d *decoder) scope(in *inst) {
	b := in.Mem.Bits
	switch {
	case b.Has(isa.BitScopeSys):
		in.Mem.Scope = isa.ScopeSys
	case b.Has(isa.BitScopeDev):
		in.Mem.Scope = isa.ScopeGPU
	case b.Has(isa.BitScopeSE):
		in.Mem.Scope = isa.ScopeCTA
	}
	if !d.t.gfx94 {
		return
	}
	atomic := in.Role == isa.RoleAtomic || in.Role == isa.RoleReduction
	switch {
	case atomic && b.Has(isa.BitSC1), b.Has(isa.BitSC0 | isa.BitSC1):
		in.Mem.Scope = isa.ScopeSys
	case atomic:
	case b.Has(isa.BitSC1):
		in.Mem.Scope = isa.ScopeGPU
	case b.Has(isa.BitSC0):
		in.Mem.Scope = isa.ScopeCTA
	}
}

// returns reports whether the bits of an atomic request the old value.
func (d *decoder) returns(in *inst) bool {
	if strings.Contains(in.Mem.Cache, "RETURN") {
		return true
	}
	if in.Mem.Bits.Has(isa.BitGLC) {
		return true
	}
	return (d.t.gfx94 || d.t.gen == 0) && in.Mem.Bits.Has(isa.BitSC0)
}

// memOperand replaces operands [i, j) by an address operand.
func (d *decoder) memOperand(i, j int, o isa.Operand) {
	o.Kind = isa.OpdMem
	var texts []string
	for k := i; k < j; k++ {
		texts = append(texts, d.args[k].Text)
	}
	o.Text = strings.Join(texts, ", ")
	d.args[i] = o
	d.args = append(d.args[:i+1], d.args[j:]...)
}

// insertArg inserts an operand at index i.
func (d *decoder) insertArg(i int, o isa.Operand) {
	d.args = append(d.args, isa.Operand{})
	copy(d.args[i+1:], d.args[i:])
	d.args[i] = o
}

// take removes operand i and returns it.
func (d *decoder) take(i int) isa.Operand {
	o := d.args[i]
	d.args = append(d.args[:i], d.args[i+1:]...)
	return o
}

// part returns words [from, from+n) of a register operand.
func part(o isa.Operand, from, n int) isa.Operand {
	o.Reg.Num += uint16(from)
	o.Words = n
	o.Text = ""
	if from == 0 {
		o.Text = "lo"
	}
	return o
}

// splitCAS splits the data operand of a global compare-and-swap into two, compared value first.
// The operand holds the new value in its lower half and the compared one in its upper half.
func (d *decoder) splitCAS(i int) bool {
	o := d.args[i]
	if o.Kind != isa.OpdReg || o.Words%2 != 0 {
		return false
	}
	n := o.Words / 2
	hi, lo := part(o, n, n), part(o, 0, n)
	hi.Text, lo.Text = o.Text+" (compared)", o.Text+" (new)"
	d.args[i] = hi
	d.insertArg(i+1, lo)
	return true
}

// accessRegs sets definitions and uses of an access whose operands are in order: dst
// destination operands, addresses (OpdMem), values.
func (d *decoder) accessRegs(in *inst, dst int) {
	for i := range d.args {
		o := &d.args[i]
		switch {
		case i < dst:
			d.def(o)
		case o.Kind == isa.OpdMem:
			d.memRegs(o)
		default:
			d.datum(o)
		}
	}
}

// memRegs adds the registers of an address.
func (d *decoder) memRegs(o *isa.Operand) {
	reg := func(r isa.Reg, words int) {
		if r.Class != isa.ClassNone {
			x := isa.Operand{Kind: isa.OpdReg, Reg: r, Words: words}
			d.addr(&x)
		}
	}
	if o.Desc.Class != isa.ClassNone {
		reg(o.Desc, 2)
		x := isa.Operand{Kind: isa.OpdReg, Reg: isa.Reg{Class: o.Desc.Class, Num: o.Desc.Num + 2}, Words: 2}
		d.use(&x)
	}
	reg(o.Reg, o.Words)
	words := 1
	if o.Base2.Class != isa.ClassNone && o.Part == "pair" {
		words = 2
	}
	reg(o.Base2, words)
}

// flat decodes flat_, global_, scratch_ and cluster_ instructions.
func (d *decoder) flat(in *inst, unit, name string) {
	switch name {
	case "inv", "wb", "wbinv":
		d.cacheOp(in, unit, name)
		return
	case "prefetch_b8", "prefetch":
		in.Role, in.Guard.Reg = isa.RoleCache, isa.RegExec
		for i := range d.args {
			d.use(&d.args[i])
		}
		return
	}
	in.Guard.Reg = isa.RegExec
	in.Mem.Space = isa.SpaceGlobal
	switch unit {
	case "flat":
		in.Mem.Space = isa.SpaceGeneric
		d.addUse(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecFlatScratchLo})
		d.addUse(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecFlatScratchHi})
	case "scratch":
		in.Mem.Space = isa.SpaceLocal
	}
	dst, at, ok := d.flatKind(in, name)
	if !ok {
		return
	}
	// at is the vector address; the scalar base, if there is one, comes last.
	n := len(d.args)
	o := isa.Operand{Off: in.off, Words: 1}
	if at >= n {
		d.unknown(in, "number of operands")
		return
	}
	va := d.args[at]
	if va.Kind != isa.OpdReg {
		d.unknown(in, "no address")
		return
	}
	if !va.Zero {
		o.Reg, o.Words = va.Reg, va.Words
	}
	values := 0
	if in.Role != isa.RoleLoad && in.Role != isa.RoleCopy {
		values = 1
	}
	end := at + 1
	switch n - at - 1 - values {
	case 0: // flat: no scalar base
	case 1:
		sa := d.take(n - 1)
		if sa.Kind != isa.OpdReg {
			d.unknown(in, "no scalar base")
			return
		}
		if !sa.Zero {
			o.Base2 = sa.Reg
			if sa.Words == 2 {
				o.Part = "pair"
			}
		}
		o.Text = sa.Text
	default:
		d.unknown(in, "number of operands")
		return
	}
	text := o.Text
	d.memOperand(at, end, o)
	if text != "" {
		d.args[at].Text += ", " + text
	}
	if strings.HasSuffix(in.Mem.Atom, "CAS") && !d.splitCAS(at+1) {
		d.unknown(in, "operands of compare-and-swap")
		return
	}
	d.scope(in)
	d.vectorCounts(in, unit == "flat")
	d.accessRegs(in, dst)
}

// flatKind reads the operation: role, width, number of destination operands and the index of
// the address.
func (d *decoder) flatKind(in *inst, name string) (dst, at int, ok bool) {
	switch {
	case strings.HasPrefix(name, "atomic_"):
		op, width, known := atomic(name[len("atomic_"):])
		if !known {
			d.unknown(in, "unknown opcode")
			return 0, 0, false
		}
		in.Mem.Atom, in.Mem.Width = op, width
		in.Role = isa.RoleReduction
		if d.returns(in) {
			in.Role, dst = isa.RoleAtomic, 1
		}
		return dst, dst, true
	case strings.HasPrefix(name, "load_lds_"), strings.HasPrefix(name, "load_async_to_lds_"), strings.HasPrefix(name, "store_async_from_lds_"),
		strings.HasPrefix(name, "load_") && in.Mem.Bits.Has(isa.BitLDS):
		return d.copyKind(in, name)
	case strings.HasPrefix(name, "load_"):
		width, d16, known := accessWidth(name[5:])
		if !known {
			d.unknown(in, "unknown opcode")
			return 0, 0, false
		}
		in.Role, in.Mem.Width = isa.RoleLoad, width
		d.keepHalf(d16)
		if strings.Contains(name, "addtid") {
			d.insertArg(1, isa.Operand{Kind: isa.OpdReg, Zero: true, Words: 1, Text: "tid"})
		}
		return 1, 1, true
	case strings.HasPrefix(name, "store_"):
		width, _, known := accessWidth(name[6:])
		if !known {
			d.unknown(in, "unknown opcode")
			return 0, 0, false
		}
		in.Role, in.Mem.Width = isa.RoleStore, width
		if strings.Contains(name, "addtid") {
			d.insertArg(0, isa.Operand{Kind: isa.OpdReg, Zero: true, Words: 1, Text: "tid"})
		}
		return 0, 0, true
	}
	d.unknown(in, "unknown opcode")
	return 0, 0, false
}

// copyKind decodes copies between global memory and LDS. The address in LDS is M0, or a vector
// register that is printed first.
func (d *decoder) copyKind(in *inst, name string) (dst, at int, ok bool) {
	i := strings.LastIndex(name, "_")
	if strings.HasPrefix(name, "load_lds_") {
		i = len("load_lds")
	}
	width, _, known := accessWidth(name[i+1:])
	if !known {
		d.unknown(in, "unknown opcode")
		return 0, 0, false
	}
	in.Role, in.Mem.Width = isa.RoleCopy, width
	d.addUse(isa.RegM0)
	if strings.Contains(name, "async") {
		if len(d.args) == 0 {
			d.unknown(in, "number of operands")
			return 0, 0, false
		}
		o := d.take(0)
		d.use(&o)
	}
	return 0, 0, true
}

// keepHalf records that a load leaves the other half of its register unchanged.
func (d *decoder) keepHalf(d16 bool) {
	if d16 && len(d.args) > 0 && d.args[0].Words == 1 {
		d.use(&d.args[0])
	}
}

// image decodes image_ instructions: textures.
func (d *decoder) image(in *inst, name string) {
	in.Guard.Reg = isa.RegExec
	in.Mem.Space = isa.SpaceTexture
	kind, _, _ := strings.Cut(name, "_")
	if len(d.args) < 2 || d.args[0].Kind != isa.OpdReg {
		d.unknown(in, "number of operands")
		return
	}
	data := d.args[0]
	in.Mem.Width = 4 * data.Words
	switch kind {
	case "load", "sample", "gather4", "get", "msaa", "gather4h", "bvh", "bvh64", "bvh8", "gather8h":
		in.Role = isa.RoleLoad
		if kind == "get" {
			in.Role = isa.RoleConst
		}
		d.def(&data)
	case "store":
		in.Role = isa.RoleStore
		d.datum(&data)
	case "atomic":
		in.Mem.Atom = strings.ToUpper(strings.TrimPrefix(name, "atomic_"))
		in.Role = isa.RoleReduction
		d.datum(&data)
		if d.returns(in) {
			in.Role = isa.RoleAtomic
			d.def(&data)
		}
	default:
		d.unknown(in, "unknown opcode")
		return
	}
	for i := 1; i < len(d.args); i++ {
		d.addr(&d.args[i])
	}
	d.scope(in)
	d.vectorCounts(in, false)
	if d.t.gen >= 12 {
		switch {
		case strings.HasPrefix(kind, "bvh"):
			in.Counts = counts(isa.CountBVH)
		case kind == "sample" || strings.HasPrefix(kind, "gather") || kind == "get":
			in.Counts = counts(isa.CountSample)
		}
	}
}

// cacheOp decodes cache invalidates and write-backs.
func (d *decoder) cacheOp(in *inst, unit, name string) {
	in.Role = isa.RoleCache
	m := &in.Mem
	b := m.Bits
	switch unit + "_" + name {
	case "buffer_wbinvl1", "buffer_wbinvl1_vol", "buffer_wbinvl1_sc":
		m.Invalidate, m.WriteBack, m.Scope = true, true, isa.ScopeGPU
	case "buffer_gl0_inv":
		m.Invalidate, m.Scope = true, isa.ScopeCTA
	case "buffer_gl1_inv":
		m.Invalidate, m.Scope = true, isa.ScopeGPU
	case "buffer_invl2":
		m.Invalidate, m.Scope = true, isa.ScopeSys
		in.Counts = counts(isa.CountVM)
	case "buffer_inv", "buffer_wbl2":
		m.Invalidate, m.WriteBack = name == "inv", name == "wbl2"
		in.Counts = counts(isa.CountVM)
		switch {
		case b.Has(isa.BitSC0 | isa.BitSC1):
			m.Scope = isa.ScopeSys
		case b.Has(isa.BitSC1):
			m.Scope = isa.ScopeGPU
		case b.Has(isa.BitSC0):
			m.Scope = isa.ScopeCTA
		case name == "wbl2" && !d.t.gfx94: // gfx90a has no bits: it writes back the whole L2
			m.Scope = isa.ScopeSys
		}
	default: // global_inv, global_wb, global_wbinv of gfx12
		m.Invalidate, m.WriteBack = strings.HasSuffix(name, "inv"), strings.HasPrefix(name, "wb")
		d.scope(in)
		in.Counts = counts(isa.CountStore)
		if name == "inv" {
			in.Counts = counts(isa.CountLoad)
		}
	}
}
