package amdisa

import (
	"strings"

	"optcheck/isa"
)

// How operands appear in isa.Inst.Args:
//
//   - Register operands have the width that is printed. "off" and "null" are
//     OpdReg with Zero set.
//   - The address of a memory instruction is one OpdMem, whatever operands it is
//     printed as. Off is the sum of the immediate offsets in bytes. FLAT, global
//     and scratch: Reg is the vector address (one word is an unsigned 32-bit
//     offset, two are a 64-bit address), Base2 the scalar base. Buffers: Desc is
//     the first of four descriptor registers, whose first two words hold the base
//     address (48 bits), Reg the vector offset, index or address (Part "offen",
//     "idxen", "bothen" or "addr64"), Base2 the scalar offset. Scalar loads: Reg
//     is the base (two words; for s_buffer_load Desc is the descriptor), Base2
//     the scalar offset. LDS: Reg is the byte address. Instructions with two
//     addresses (ds_read2_b32) have two OpdMem. Descriptors of buffers count as
//     part of the address: their first two words are in Inst.Addrs.
//   - The values of a compare-and-swap follow the address as two operands, the
//     compared one first, whatever the order in the encoding; so do the words in
//     Inst.Data.
//   - VLIW groups and v_dual_ pairs are one instruction with the operands and
//     micro-operations of all their parts, because all parts read the registers
//     from before. Text joins them with " :: ".

// template is a decoded instruction text.
type template struct {
	in     isa.Inst
	label  string // branch target as printed
	why    string // why it is unknown
	indexS bool   // s_set_gpr_idx_on: vector operands become relative
}

// decoder decodes instruction texts of one target. The slices of its results
// live in arenas.
type decoder struct {
	t target

	ops                     []string
	args                    []isa.Operand
	mods                    []string
	defs, uses, addrs, data []isa.Reg
	micros                  []isa.Micro

	regArena   []isa.Reg
	argArena   []isa.Operand
	strArena   []string
	microArena []isa.Micro
}

// inst is the instruction being decoded.
type inst struct {
	isa.Inst
	base string // mnemonic without encoding suffix
	enc  string
	why  string
	idx  bool
	off  int64 // offset: of the modifiers
	off0 int64 // offset0:, offset1: of LDS pairs
	off1 int64
	cop  string // condition or operation of the mnemonic
}

// decode decodes one instruction without its comment.
func (d *decoder) decode(text string) *template {
	tm := &template{}
	if i := strings.Index(text, "::"); i > 0 {
		d.dual(tm, text, i)
		return tm
	}
	in := inst{}
	in.Text, in.Target = text, -1
	op, rest := cutWord(text)
	d.begin()
	in.base, in.enc = cutEncoding(strings.ToLower(op))
	in.Op = in.base
	if !mnemonic(in.base) {
		in.Op = ""
		d.unknown(&in, "not an instruction")
	} else if d.operands(&in, rest) {
		d.dispatch(&in)
	} else {
		d.unknown(&in, "operand not understood")
	}
	d.finish(tm, &in)
	return tm
}

func (d *decoder) begin() {
	d.args, d.mods = d.args[:0], d.mods[:0]
	d.defs, d.uses, d.addrs, d.data, d.micros = d.defs[:0], d.uses[:0], d.addrs[:0], d.data[:0], d.micros[:0]
}

// mnemonic reports whether s can be one.
func mnemonic(s string) bool {
	if s == "exp" || s == "export" {
		return true
	}
	i := strings.IndexByte(s, '_')
	if i <= 0 || i == len(s)-1 {
		return false
	}
	for j := 0; j < len(s); j++ {
		if c := s[j]; c != '_' && (c < 'a' || c > 'z') && !isDigit(c) {
			return false
		}
	}
	return true
}

// operands reads the operand list and the modifiers after it. Operands whose syntax is not that
// of a list (waits, messages) are kept as one OpdSym.
func (d *decoder) operands(in *inst, rest string) bool {
	if rest == "" {
		return true
	}
	if freeForm(in.base) {
		d.args = append(d.args, isa.Operand{Kind: isa.OpdSym, Sym: rest, Text: rest, Words: 1})
		return true
	}
	var ok bool
	if d.ops, ok = splitArgs(rest, d.ops[:0]); !ok {
		return false
	}
	for i, s := range d.ops {
		first, tail := cutWord(s)
		if modifier(first) || isa.CacheBitByName(first) != 0 || i > 0 && bareModifier(first) {
			// format:[…] and dfmt:4 stand between operands; bits may be all there is.
			tail = s
		} else {
			o, ok := parseOperand(first)
			if !ok {
				return false
			}
			d.args = append(d.args, o)
		}
		for tail != "" {
			var m string
			m, tail = cutWord(tail)
			if m == "" {
				break
			}
			if !d.modifier(in, m) {
				return false
			}
		}
	}
	return true
}

// freeForm reports whether an instruction's operands are not a list of registers and numbers.
func freeForm(op string) bool {
	switch op {
	case "s_waitcnt", "s_delay_alu", "s_sendmsg", "s_sendmsghalt", "s_waitcnt_depctr", "s_wait_alu", "exp", "export", "s_wait_event",
		"s_clause":
		return true
	}
	return false
}

// modifier reports whether an operand has the form name:value.
func modifier(s string) bool {
	i := strings.IndexByte(s, ':')
	if i <= 0 {
		return false
	}
	for j := 0; j < i; j++ {
		c := s[j]
		if (c < 'a' || c > 'z') && c != '_' && !isDigit(c) {
			return false
		}
	}
	return true
}

// bareModifier reports whether a word is a flag that may stand where an operand could.
func bareModifier(s string) bool {
	switch s {
	case "offen", "idxen", "addr64", "glc", "slc", "dlc", "gds", "lds", "tfe", "clamp", "nv":
		return true
	}
	return false
}

// modifier records one modifier. An unknown one is kept in Mods, and makes a memory instruction
// unknown.
func (d *decoder) modifier(in *inst, m string) bool {
	if b := isa.CacheBitByName(m); b != 0 {
		in.Mem.Bits |= b
		return true
	}
	name, val, has := strings.Cut(m, ":")
	if !has {
		if !modSet(knownFlags, m) {
			return false
		}
		d.mods = append(d.mods, m)
		return true
	}
	switch name {
	case "offset", "inst_offset", "offset0", "offset1", "offset12":
		v, ok := integer(val)
		if !ok {
			if name == "offset" && (strings.HasPrefix(in.base, "ds_swizzle") || strings.HasPrefix(in.base, "ds_")) {
				d.mods = append(d.mods, m)
				return true
			}
			if o, ok := parseOperand(val); ok && strings.HasPrefix(in.base, "s_") { // offset:s4 is not printed today
				d.args = append(d.args, o)
				return true
			}
			return false
		}
		switch name {
		case "offset0":
			in.off0 = v
		case "offset1":
			in.off1 = v
		default:
			in.off = v
		}
		d.mods = append(d.mods, m)
		return true
	case "th":
		in.Mem.Cache = val
		return true
	case "scope":
		return false // CacheBitByName knows the scopes
	}
	if !modSet(knownMods, name) {
		return false
	}
	d.mods = append(d.mods, m)
	return true
}

const (
	knownFlags = " offen idxen addr64 gds tfe lwe clamp unorm da a16 r128 d16 done vm compr off done row_en bound_ctrl high mul2 mul4" +
		" div2 row_mirror row_half_mirror" +
		" inline_const scale_offset off_en lds bank_mask row_mask barrier force_export wait "
	knownMods = " op_sel op_sel_hi neg_lo neg_hi mul div omod clamp quad_perm row_shl row_shr row_ror row_share row_xmask row_newbcast" +
		" row_bcast row_mask bank_mask bound_ctrl fi" +
		" wave_shl wave_rol wave_shr wave_ror row_mirror row_half_mirror dpp8 dst_sel dst_unused src0_sel src1_sel dmask dim format dfmt" +
		" nfmt cbsz abid blgp mask" +
		" wait_vdst wait_exp wait_va_vdst wait_vm_vsrc bitop3 byte_sel index_key index_key_8bit index_key_16bit index_key_32bit neg negate" +
		" a_fmt b_fmt matrix_a_fmt matrix_b_fmt" +
		" matrix_a_scale matrix_b_scale matrix_a_scale_fmt matrix_b_scale_fmt matrix_a_reuse matrix_b_reuse swizzle mem_fmt attr mbcnt row" +
		" ctrl op "
)

// dispatch decodes an instruction according to its unit.
func (d *decoder) dispatch(in *inst) {
	if _, ok := nops[in.base]; ok {
		in.Role = isa.RoleNop
		return
	}
	unit, rest, _ := strings.Cut(in.base, "_")
	switch unit {
	case "s":
		d.scalar(in, rest)
	case "v":
		d.vector(in, rest)
	case "ds", "lds":
		d.lds(in, rest)
	case "buffer", "tbuffer":
		d.buffer(in, rest)
	case "flat", "global", "scratch", "cluster":
		d.flat(in, unit, rest)
	case "image":
		d.image(in, rest)
	case "exp", "export":
		in.Role = isa.RoleALU
		in.Guard.Reg = isa.RegExec
		in.Counts = counts(isa.CountExp)
		d.exportUses(in)
	default:
		d.unknown(in, "unknown opcode")
	}
}

// exportUses reads the registers of exp mrt0 v0, v1, off, off done.
func (d *decoder) exportUses(in *inst) {
	if len(d.args) == 0 {
		return
	}
	s := strings.NewReplacer(",", " ").Replace(d.args[0].Sym)
	for _, w := range strings.Fields(s) {
		if o, ok := parseOperand(w); ok && o.Kind == isa.OpdReg {
			d.use(&o)
		}
	}
}

// unknown marks an instruction as unknown: all its registers may be read, nothing is known to
// be written, and consumers must give up.
func (d *decoder) unknown(in *inst, why string) {
	in.Role, in.why = isa.RoleUnknown, why
	in.Mem, in.Counts, in.Waits = isa.Mem{}, nil, nil
	d.defs, d.uses, d.addrs, d.data, d.micros = d.defs[:0], d.uses[:0], d.addrs[:0], d.data[:0], d.micros[:0]
	for i := range d.args {
		d.use(&d.args[i])
	}
}

// finish copies the collected data into the template.
func (d *decoder) finish(tm *template, in *inst) {
	if g := in.Guard.Reg; g.Class != isa.ClassNone {
		d.addUse(g)
	}
	if in.enc != "" {
		d.mods = append(d.mods, in.enc)
	}
	in.Mem.Type = atomType(in.Mem.Atom)
	in.Args = copyTo(&d.argArena, d.args)
	in.Mods = copyTo(&d.strArena, d.mods)
	in.Defs, in.Uses = copyTo(&d.regArena, d.defs), copyTo(&d.regArena, d.uses)
	in.Addrs, in.Data = copyTo(&d.regArena, d.addrs), copyTo(&d.regArena, d.data)
	in.Micro = d.copyMicros()
	tm.in, tm.why, tm.indexS = in.Inst, in.why, in.idx
	if tm.in.Role == isa.RoleBranch && len(in.Args) > 0 {
		if o := &in.Args[len(in.Args)-1]; o.Kind == isa.OpdLabel {
			tm.label = o.Sym
			if tm.label == "" {
				tm.label = o.Text
			}
		}
	}
}

// atomType returns the type of an atomic, which is part of the operation's name: unsigned and
// floating-point minima have others.
func atomType(op string) isa.AtomType {
	if op == "MIN" || op == "MAX" {
		return isa.AtomSigned
	}
	return isa.AtomInteger
}

// copyTo copies a list into an arena.
func copyTo[T any](arena *[]T, l []T) []T {
	if len(l) == 0 {
		return nil
	}
	if cap(*arena)-len(*arena) < len(l) {
		*arena = make([]T, 0, 512+len(l))
	}
	n := len(*arena)
	*arena = append(*arena, l...)
	return (*arena)[n:len(*arena):len(*arena)]
}

func (d *decoder) copyMicros() []isa.Micro {
	for i := range d.micros {
		d.micros[i].Src = copyTo(&d.argArena, d.micros[i].Src)
	}
	return copyTo(&d.microArena, d.micros)
}

// dual decodes a pair v_dual_x … :: v_dual_y …. Both halves read the registers from before, so
// they are one instruction with the micro-operations of both.
func (d *decoder) dual(tm *template, text string, at int) {
	x, y := d.decode(trim(text[:at])), d.decode(trim(text[at+2:]))
	in := x.in
	in.Text = text
	in.Op = x.in.Op
	in.Args = append(append([]isa.Operand(nil), x.in.Args...), y.in.Args...)
	in.Mods = append(append([]string(nil), x.in.Mods...), y.in.Op)
	for _, l := range []struct{ to, from *[]isa.Reg }{{&in.Defs, &y.in.Defs}, {&in.Uses, &y.in.Uses}} {
		out := append([]isa.Reg(nil), *l.to...)
		for _, r := range *l.from {
			out = appendReg(out, r)
		}
		*l.to = out
	}
	in.Micro = append(append([]isa.Micro(nil), x.in.Micro...), y.in.Micro...)
	tm.in, tm.why = in, x.why
	if x.in.Role != isa.RoleALU || y.in.Role != isa.RoleALU || !strings.HasPrefix(x.in.Op, "v_dual_") ||
		!strings.HasPrefix(y.in.Op, "v_dual_") {
		tm.in.Role, tm.in.Micro, tm.in.Mem, tm.in.Counts, tm.in.Waits, tm.in.Flow = isa.RoleUnknown, nil, isa.Mem{}, nil, nil, isa.FlowNext
		tm.in.Addrs, tm.in.Data, tm.in.Defs = nil, nil, nil
		tm.why = "not a pair of vector operations"
	}
}

// Register lists.

func appendReg(l []isa.Reg, r isa.Reg) []isa.Reg {
	for _, x := range l {
		if x == r {
			return l
		}
	}
	return append(l, r)
}

func (d *decoder) addDef(r isa.Reg) { d.defs = appendReg(d.defs, r) }
func (d *decoder) addUse(r isa.Reg) { d.uses = appendReg(d.uses, r) }

// each calls f for the registers of an operand.
func each(o *isa.Operand, f func(isa.Reg)) {
	if o.Kind != isa.OpdReg || o.Zero || o.Reg.Class == isa.ClassNone {
		return
	}
	for k := 0; k < max(1, o.Words); k++ {
		f(isa.Reg{Class: o.Reg.Class, Num: o.Reg.Num + uint16(k)})
	}
}

func (d *decoder) def(o *isa.Operand) { each(o, d.addDef) }
func (d *decoder) use(o *isa.Operand) { each(o, d.addUse) }

func (d *decoder) addr(o *isa.Operand) {
	each(o, func(r isa.Reg) {
		d.addUse(r)
		d.addrs = appendReg(d.addrs, r)
	})
}

func (d *decoder) datum(o *isa.Operand) {
	each(o, func(r isa.Reg) {
		d.addUse(r)
		d.data = append(d.data, r) // in order, the same register may hold two values
	})
}

// hasMod reports whether a modifier is present.
func (d *decoder) hasMod(m string) bool {
	for _, x := range d.mods {
		if x == m {
			return true
		}
	}
	return false
}

// arg returns operand i, or the none operand if there is no such operand.
func (d *decoder) arg(i int) isa.Operand {
	if i < len(d.args) {
		return d.args[i]
	}
	return isa.Operand{}
}

// counts returns a shared list of counters.
func counts(c ...isa.Counter) []isa.Counter {
	if len(c) == 1 {
		return countSingle[c[0] : c[0]+1 : c[0]+1]
	}
	return c
}

var countSingle = func() []isa.Counter {
	l := make([]isa.Counter, isa.CountAck+1)
	for i := range l {
		l[i] = isa.Counter(i)
	}
	return l
}()
