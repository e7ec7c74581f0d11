package emu

import (
	"encoding/binary"
	"fmt"
	"slices"

	"optcheck/ir"
)

// Code is a program prepared for execution: it is immutable, and many warps may share it.
type Code struct {
	P       *ir.Program
	insts   []inst
	uniform []bool
	zero    int32 // a register that is always 0
	regs    int
	again   []bool // functions that a call may reach from themselves
	grouped bool   // a program that asks which lanes are active
	inside  []*ir.Var
}

type inst struct {
	guard     int32
	not       bool
	opaque    bool
	pre, post []op
	do        ir.Effect
}

// op is an ir.Op with its kind of execution.
type op struct {
	code       ir.Code
	fast       bool // by the loop of its code; else by ir.Eval
	uniform    bool
	dst        int32
	a, b, c, d int32
	mask       uint64
	imm        uint64
	o          *ir.Op
}

// Prepare makes a program ready. The error is that it is malformed.
func Prepare(p *ir.Program) (*Code, error) {
	c := &Code{P: p, regs: p.Regs + 1 + spares, zero: int32(p.Regs)}
	c.uniform = make([]bool, c.regs)
	for _, r := range p.Uniform {
		c.uniform[r] = true
	}
	c.insts = make([]inst, len(p.Insts))
	for i := range p.Insts {
		in := &p.Insts[i]
		if in.Guard >= ir.Reg(p.Regs) {
			return nil, fmt.Errorf("instruction %d of %s: register %d of %d", i, p.Kernel, in.Guard, p.Regs)
		}
		x := &c.insts[i]
		*x = inst{guard: int32(in.Guard), not: in.Not, opaque: in.Opaque != "", do: in.Do}
		x.pre, x.post = c.ops(in.Pre), c.ops(in.Post)
		if w, ok := in.Do.(*ir.Warp); ok && w.Kind == ir.ActiveMask && !p.Machine {
			c.grouped = true
		}
	}
	c.again = recursive(p)
	for i := range p.Vars {
		if v := &p.Vars[i]; v.Space == ir.ConstBank || v.Space == ir.Local {
			c.inside = append(c.inside, v)
		}
	}
	return c, nil
}

// spares is the number of registers behind those of a program, for what lanes do together at several instructions.
const spares = 5

// spare is one of them.
func (c *Code) spare(n int) ir.Reg { return ir.Reg(c.zero) + 1 + ir.Reg(n) }

// funcAt is the function of an instruction, nil if there is none.
func (c *Code) funcAt(pc int32) *ir.Func {
	for i := range c.P.Funcs {
		if f := &c.P.Funcs[i]; pc >= f.First && pc < f.End {
			return f
		}
	}
	return nil
}

// called is the entry of the function of PTX that a register calls by its address.
func (c *Code) called(v uint64, signature string) (int32, bool) {
	for i := range c.P.Funcs {
		f := &c.P.Funcs[i]
		if at, ok := c.P.Functions[f.Name]; ok && at == v && f.Signature == signature {
			return f.First, true
		}
	}
	return 0, false
}

func (c *Code) recursive(f *ir.Func) bool {
	for i := range c.P.Funcs {
		if &c.P.Funcs[i] == f {
			return c.again[i]
		}
	}
	return false
}

// recursive finds the functions that may call themselves, through others or by address.
func recursive(p *ir.Program) []bool {
	n := len(p.Funcs)
	if n > 256 {
		return slices.Repeat([]bool{true}, n)
	}
	reach := make([][]bool, n)
	index := func(pc int32) int {
		return slices.IndexFunc(p.Funcs, func(f ir.Func) bool { return pc >= f.First && pc < f.End })
	}
	for i := range reach {
		reach[i] = make([]bool, n)
		for pc := p.Funcs[i].First; pc < p.Funcs[i].End; pc++ {
			f, ok := p.Insts[pc].Do.(*ir.Flow)
			if !ok {
				continue
			}
			if to := index(f.Target); f.Kind == ir.Call && to >= 0 {
				reach[i][to] = true
			}
			for k := range n {
				reach[i][k] = reach[i][k] || f.Kind == ir.CallAt
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	out := make([]bool, n)
	for i := range out {
		out[i] = reach[i][i]
	}
	return out
}

func (c *Code) ops(list []ir.Op) []op {
	out := make([]op, len(list))
	for i := range list {
		o := &list[i]
		reg := func(r ir.Reg) int32 {
			if r < 0 {
				return c.zero
			}
			return int32(r)
		}
		bits := min(o.Type.Bits(), 64)
		out[i] = op{code: o.Code, dst: reg(o.Dst), a: reg(o.Src[0]), b: reg(o.Src[1]), c: reg(o.Src[2]), d: reg(o.Src[3]),
			mask: ^uint64(0) >> (64 - bits), imm: o.Imm, o: o, fast: fast(o)}
		out[i].uniform = c.uniform[out[i].dst]
	}
	return out
}

// fast reports whether an operation has a loop of its own.
func fast(o *ir.Op) bool {
	if o.Type.Float() || o.Mode != 0 {
		return false
	}
	switch o.Code {
	case ir.Mov, ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor, ir.Not, ir.Lop3, ir.Sel, ir.Ext, ir.Carry, ir.Join, ir.HighWord:
		return o.Code != ir.Carry || o.Type.Bits() == 32
	case ir.Shl, ir.Shr:
		return true
	case ir.Cmp:
		return o.Cond <= ir.GE
	}
	return false
}

type row = [Lanes]uint64

// exec performs operations for the active lanes.
func (w *Warp) exec(list []op, act uint32) {
	for i := range list {
		o := &list[i]
		if o.uniform {
			w.execUniform(o, act)
			continue
		}
		d := &w.regs[o.dst]
		if !o.fast {
			w.execEach(o, act, d)
			continue
		}
		if act == ^uint32(0) {
			w.loop(o, d)
			continue
		}
		var tmp row
		w.loop(o, &tmp)
		for x := act; x != 0; x &= x - 1 {
			l := lowest(x)
			d[l] = tmp[l]
		}
	}
}

// execUniform performs an operation of the uniform datapath: once, with the operands of the lowest lane.
func (w *Warp) execUniform(o *op, act uint32) {
	if act == 0 {
		return
	}
	l := lowest(act)
	s := [4]uint64{w.regs[o.a][l], w.regs[o.b][l], w.regs[o.c][l], w.regs[o.d][l]}
	v := ir.Eval(o.o, &s, w.policy.Fill)
	w.setUniform(ir.Reg(o.dst), v)
}

func (w *Warp) execEach(o *op, act uint32, d *row) {
	a, b, c, e := &w.regs[o.a], &w.regs[o.b], &w.regs[o.c], &w.regs[o.d]
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		w.args = [4]uint64{a[l], b[l], c[l], e[l]}
		d[l] = ir.Eval(o.o, &w.args, w.policy.Fill)
	}
}

// loop computes a simple operation for all 32 lanes.
func (w *Warp) loop(o *op, d *row) {
	a, b, m := &w.regs[o.a], &w.regs[o.b], o.mask
	switch o.code {
	case ir.Mov:
		for i := range d {
			d[i] = a[i] & m
		}
	case ir.Add:
		for i := range d {
			d[i] = (a[i] + b[i]) & m
		}
	case ir.Sub:
		for i := range d {
			d[i] = (a[i] - b[i]) & m
		}
	case ir.Mul:
		for i := range d {
			d[i] = a[i] * b[i] & m
		}
	case ir.And:
		for i := range d {
			d[i] = a[i] & b[i] & m
		}
	case ir.Or:
		for i := range d {
			d[i] = (a[i] | b[i]) & m
		}
	case ir.Xor:
		for i := range d {
			d[i] = (a[i] ^ b[i]) & m
		}
	case ir.Not:
		for i := range d {
			d[i] = ^a[i] & m
		}
	case ir.Lop3:
		c := &w.regs[o.c]
		for i := range d {
			d[i] = ir.Lop(uint8(o.imm), a[i], b[i], c[i]) & m
		}
	case ir.Sel:
		c := &w.regs[o.c]
		for i := range d {
			v := c[i]
			if a[i] != 0 {
				v = b[i]
			}
			d[i] = v & m // last, because it may be an operand, too
		}
	case ir.Join:
		for i := range d {
			d[i] = a[i]&0xffffffff | b[i]<<32
		}
	case ir.HighWord:
		for i := range d {
			d[i] = a[i] >> 32
		}
	case ir.Ext:
		w.loopExt(o, d, a)
	case ir.Carry:
		c := &w.regs[o.c]
		for i := range d {
			d[i] = (a[i]&m + b[i]&m + c[i]&1) >> 32 & 1
		}
	case ir.Shl, ir.Shr:
		w.loopShift(o, d, a, b)
	case ir.Cmp:
		w.loopCmp(o, d, a, b)
	}
}

func (w *Warp) loopExt(o *op, d, a *row) {
	to := ^uint64(0) >> (64 - min(o.o.To.Bits(), 64))
	if !o.o.Type.Signed() {
		for i := range d {
			d[i] = a[i] & o.mask & to
		}
		return
	}
	sh := 64 - o.o.Type.Bits()
	for i := range d {
		d[i] = uint64(int64(a[i]<<sh)>>sh) & to
	}
}

func (w *Warp) loopShift(o *op, d, a, b *row) {
	m := o.mask
	if o.code == ir.Shl {
		for i := range d {
			d[i] = a[i] & m << min(b[i]&0xffffffff, 64) & m
		}
		return
	}
	if !o.o.Type.Signed() {
		for i := range d {
			d[i] = a[i] & m >> min(b[i]&0xffffffff, 64)
		}
		return
	}
	sh := 64 - o.o.Type.Bits()
	for i := range d {
		d[i] = uint64(int64(a[i]<<sh)>>sh>>min(b[i]&0xffffffff, 63)) & m
	}
}

func (w *Warp) loopCmp(o *op, d, a, b *row) {
	var sh uint
	if o.o.Type.Signed() {
		sh = uint(64 - o.o.Type.Bits())
	}
	c, signed, m := o.o.Cond, o.o.Type.Signed(), o.mask
	for i := range d {
		x, y := a[i]&m, b[i]&m
		if signed {
			x, y = x<<sh^1<<63, y<<sh^1<<63
		}
		var r bool
		switch c {
		case ir.EQ:
			r = x == y
		case ir.NE:
			r = x != y
		case ir.LT:
			r = x < y
		case ir.LE:
			r = x <= y
		case ir.GT:
			r = x > y
		default:
			r = x >= y
		}
		d[i] = 0
		if r {
			d[i] = 1
		}
	}
}

// bank makes the constant banks of a launch for a block.
func (c *Code) bank0(l *Launch) []byte {
	p := c.P
	b := make([]byte, max(int(p.ParamBase)+len(l.Params), len(p.Banks[0])))
	copy(b, p.Banks[0])
	for _, x := range p.Launch {
		v := x.Fixed
		if v == 0 {
			v = l.special(x.Reg) - x.Before
		}
		if end := x.Offset + int64(x.Bytes); x.Offset >= 0 && end <= int64(len(b)) && x.Bytes <= 8 {
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], v)
			copy(b[x.Offset:end], word[:])
		}
	}
	if len(p.ParamFrom) != len(p.Params) {
		copy(b[p.ParamBase:], l.Params)
		return b
	}
	for i, v := range p.Params {
		from, to := p.ParamFrom[i], p.ParamBase+v.Offset
		if from >= 0 && v.Size >= 0 && from+v.Size <= int64(len(l.Params)) && to >= 0 && to+v.Size <= maxBank {
			if end := int(to + v.Size); end > len(b) {
				b = append(b, make([]byte, end-len(b))...)
			}
			copy(b[to:], l.Params[from:from+v.Size])
		}
	}
	return b
}

// banks are the banks of constants of a launch, which all its warps share.
func (c *Code) banks(l *Launch) map[int][]byte {
	if l.banks[c] != nil {
		return l.banks[c]
	}
	out, own := map[int][]byte{}, map[int]bool{0: true}
	for n, b := range c.P.Banks {
		out[n] = b
	}
	out[0] = c.bank0(l)
	for _, p := range c.P.Pointers {
		end := p.Offset + int64(p.Bytes)
		if p.Offset < 0 || p.Bytes > 8 || end > maxBank {
			continue
		}
		v, ok := l.Vars[p.Symbol]
		if !ok {
			if v, ok = c.P.Functions[p.Symbol]; !ok {
				v = unknownAddress
			}
		}
		if v += uint64(p.Addend); p.Generic && v < 1<<32 {
			v |= SharedWindow
		}
		b := out[p.Bank]
		if !own[p.Bank] || int(end) > len(b) {
			b = make([]byte, max(int(end), len(b)))
			copy(b, out[p.Bank])
			own[p.Bank] = true
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], v>>p.Shift)
		copy(b[p.Offset:end], word[:])
		out[p.Bank] = b
	}
	if c.P.Machine {
		c.constants(l, out)
	}
	if l.banks == nil {
		l.banks = map[*Code]map[int][]byte{}
	}
	l.banks[c] = out
	return out
}

// variableBank is the bank of machine code that has the variables of constant memory.
const variableBank = 3

// constants puts what a launch says of variables into their bank.
func (c *Code) constants(l *Launch, banks map[int][]byte) {
	own := false
	for i := range c.P.Vars {
		v := &c.P.Vars[i]
		data, ok := l.Constants[v.Name]
		if !ok || v.Space != ir.ConstBank || v.Offset < 0 || v.Offset+int64(len(data)) > maxBank {
			continue
		}
		if b := banks[variableBank]; !own || v.Offset+int64(len(data)) > int64(len(b)) {
			banks[variableBank] = append(make([]byte, 0, maxBank), b...)[:max(len(b), int(v.Offset)+len(data))]
			own = true
		}
		copy(banks[variableBank][v.Offset:], data)
	}
}

// maxBank bounds a bank of constants.
const maxBank = 1 << 20

// special is a special register that is the same for all threads.
func (l *Launch) special(r ir.SpecialReg) uint64 {
	switch r {
	case ir.NtidX, ir.NtidY, ir.NtidZ:
		return uint64(l.Block[r-ir.NtidX])
	case ir.NctaidX, ir.NctaidY, ir.NctaidZ:
		return uint64(l.Grid[r-ir.NctaidX])
	case ir.SharedWindow:
		return SharedWindow
	case ir.LocalWindow:
		return LocalWindow
	case ir.NwarpID:
		return 64
	case ir.NSMID:
		return 132
	case ir.GridID:
		return 1
	case ir.NclusterIDX, ir.NclusterIDY, ir.NclusterIDZ:
		return uint64(l.Grid[r-ir.NclusterIDX] / l.cluster()[r-ir.NclusterIDX])
	case ir.ClusterNctaidX, ir.ClusterNctaidY, ir.ClusterNctaidZ:
		return uint64(l.cluster()[r-ir.ClusterNctaidX])
	case ir.ClusterInverseX, ir.ClusterInverseY, ir.ClusterInverseZ:
		return inverse(l.cluster()[r-ir.ClusterInverseX])
	case ir.ClusterNctarank:
		return uint64(l.clusterBlocks())
	case ir.ExplicitCluster:
		return truth(l.Cluster != [3]int{})
	case ir.ParamWindow:
		return ParamWindow
	case ir.ParamWindowEnd:
		return ParamWindow | ^uint64(windowMask)
	case ir.ConstWindow:
		return ConstWindow
	case ir.EnvReg1:
		return Workspace >> 32
	case ir.EnvReg2:
		return Workspace & 0xffffffff
	case ir.DynamicSharedSize:
		return uint64(l.Dynamic)
	}
	return 0
}
