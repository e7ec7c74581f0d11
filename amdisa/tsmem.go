package amdisa

import (
	"strings"

	"optcheck/isa"
)

// fetch decodes VTX_READ_32 T0.X, T0.X, 28, #1 (LLVM) and VFETCH R1.x___, R0.z,
// fc153 OFFSET(4) (AMD), and texture instructions.
func (b *tsBuilder) fetch(text string) {
	op, rest := cutWord(text)
	args, ok := splitArgs(rest, nil)
	in := isa.Inst{Text: text, Op: op, Guard: isa.Guard{Reg: isa.RegExec}}
	if !ok || len(args) < 2 {
		b.unknownCF(text, "operands of a fetch")
		return
	}
	vertex := strings.HasPrefix(op, "VTX_") || strings.HasPrefix(op, "VFETCH") || op == "FETCH" || op == "SEMFETCH"
	num, _, ok := gprs(args[0])
	if !ok {
		b.unknownCF(text, "operands of a fetch")
		return
	}
	// Channels of the destination: a letter writes the channel at its position.
	_, ch, dot := strings.Cut(args[0], ".")
	if !dot {
		ch = "xyzw"
	}
	for i := 0; i < len(ch) && i < 4; i++ {
		place := i
		if vertex && b.prog.Dialect == DialectR600 { // T0.Y names the channel itself
			place = strings.IndexByte("xyzw", ch[i]|0x20)
		}
		if ch[i] == '_' || place < 0 {
			continue
		}
		in.Defs = append(in.Defs, tsReg(num, place))
	}
	src, _ := cutWord(args[1])
	snum, sch, ok := gprs(src)
	if !ok || len(sch) == 0 {
		b.unknownCF(text, "operands of a fetch")
		return
	}
	in.Role, in.Mem.Space = isa.RoleLoad, isa.SpaceTexture
	for _, c := range sch {
		in.Uses = appendReg(in.Uses, tsReg(snum, c))
		in.Addrs = appendReg(in.Addrs, tsReg(snum, c))
	}
	in.Mem.Width = 4 * len(in.Defs)
	dstOpd := isa.Operand{Kind: isa.OpdReg, Words: len(in.Defs), Text: args[0]}
	if len(in.Defs) > 0 {
		dstOpd.Reg = in.Defs[0]
	}
	in.Args = []isa.Operand{dstOpd}
	if !vertex {
		if !textureOps[op] {
			b.unknownCF(text, "unknown opcode")
			return
		}
		if strings.HasPrefix(op, "SET_") { // gradients: nothing is read or written yet
			in.Role, in.Defs = isa.RoleALU, nil
		}
		b.forget(in.Defs)
		b.add(in)
		return
	}
	b.vertexFetch(&in, args, tsReg(snum, sch[0]))
	b.forget(in.Defs)
	b.add(in)
}

// vertexFetch completes a read of a buffer, whose address is in a register.
func (b *tsBuilder) vertexFetch(in *isa.Inst, args []string, at isa.Reg) {
	op := in.Op
	in.Mem.Space = isa.SpaceGlobal
	in.Addrs, in.Uses = in.Addrs[:1], in.Uses[:1]
	o := isa.Operand{Kind: isa.OpdMem, Reg: at, Words: 1, Text: strings.Join(args[1:], ", ")}
	buffer := -1
	for _, a := range args[1:] {
		if n, ok := cfNumber(a, "#", "fc"); ok {
			buffer = n
		}
		if n, ok := cfNumber(a, "OFFSET("); ok {
			o.Off = int64(n)
		}
	}
	if b.prog.Dialect == DialectR600 && len(args) >= 3 {
		if v, ok := integer(args[2]); ok {
			o.Off = v
		}
	}
	switch {
	case strings.HasSuffix(op, "_8"):
		in.Mem.Width = 1
	case strings.HasSuffix(op, "_16"):
		in.Mem.Width = 2
	}
	in.Args = append(in.Args, o)
	// Buffer 0 (and 3 since LLVM 5) of LLVM holds the arguments.
	if b.prog.Dialect == DialectR600 && (buffer == 0 || buffer == 3) {
		in.Role, in.Mem.Space = isa.RoleConst, isa.SpaceConst
		in.Addrs = nil
		if k, known := b.consts[o.Reg.Num]; known && in.Mem.Width >= 4 {
			for i, r := range in.Defs {
				in.Micro = append(in.Micro, isa.Micro{Op: isa.MicroMov, Dst: r,
					Src: []isa.Operand{{Kind: isa.OpdConst, Bank: isa.ConstKernarg, Off: int64(k) + o.Off + int64(4*i), Words: 1}}})
			}
		}
	}
}

func (b *tsBuilder) forget(l []isa.Reg) {
	for _, r := range l {
		delete(b.consts, r.Num)
	}
}

// textureOps are fetches that read no buffer of a compute kernel.
var textureOps = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`SAMPLE SAMPLE_L SAMPLE_LB SAMPLE_LZ SAMPLE_G SAMPLE_G_L SAMPLE_G_LB SAMPLE_G_LZ SAMPLE_C SAMPLE_C_L
		SAMPLE_C_LB SAMPLE_C_LZ SAMPLE_C_G
		SAMPLE_C_G_L SAMPLE_C_G_LB SAMPLE_C_G_LZ LD TEX_LD GET_TEXTURE_RESINFO GET_TEXTURE_INFO GET_BUFFER_RESINFO GET_LERP GET_GRADIENTS_H
		GET_GRADIENTS_V GATHER4 GATHER4_O
		GATHER4_C GATHER4_C_O FETCH4 SET_GRADIENTS_H SET_GRADIENTS_V SET_TEXTURE_OFFSETS SET_CUBEMAP_INDEX KEEP_GRADIENTS TEX_SAMPLE TEX_SAMPLE_C
		TEX_GET_TEXTURE_RESINFO TEX_SET_GRADIENTS_H TEX_SET_GRADIENTS_V TEX_SAMPLE_G TEX_SAMPLE_LB TEX_SAMPLE_L TEX_SAMPLE_C_G TEX_SAMPLE_C_L
		TEX_SAMPLE_C_LB TEX_VTX_CONSTBUF TEX_VTX_TEXBUF`) {
		m[s] = true
	}
	return m
}()

// ratAtoms maps the atomics of MEM_RAT to operations.
var ratAtoms = map[string]string{
	"ADD": "ADD", "SUB": "SUB", "RSUB": "RSUB", "INC_UINT": "INC", "DEC_UINT": "DEC", "INC": "INC", "DEC": "DEC", "AND": "AND", "OR": "OR",
	"XOR": "XOR", "MSKOR": "MSKOR", "MIN_INT": "MIN", "MIN_UINT": "UMIN", "MAX_INT": "MAX", "MAX_UINT": "UMAX", "XCHG": "EXCH",
	"XCHG_INT": "EXCH", "CMPXCHG_INT": "CAS", "CMPXCHG_FLT": "FCAS", "CMPXCHG_FDENORM": "FCAS", "XCHG_FDENORM": "EXCH", "MIN": "MIN",
	"MAX": "MAX", "UMIN": "UMIN", "UMAX": "UMAX", "CMPXCHG": "CAS",
}

// write decodes memory writes and exports:
//
//	MEM_RAT_CACHELESS STORE_RAW T0.XY, T2.X, 1
//	MEM_RAT ATOMIC_CMPXCHG_INT T0, T1.X
//	MEM_RAT_CACHELESS_STORE_RAW_ACK: RAT(1)[R1].x___, R0, ARRAY_SIZE(4) MARK VPM
func (b *tsBuilder) write(l *cfLine) {
	in := isa.Inst{Text: l.text, Op: l.op, Guard: isa.Guard{Reg: isa.RegExec}}
	if strings.HasPrefix(l.op, "EXP") {
		in.Role = isa.RoleALU
		b.textUses(&in, l.rest)
		b.add(in)
		return
	}
	op, rest := l.op, l.rest
	ack := strings.Contains(op, "_ACK") || hasWord(rest, "ACK") || hasWord(rest, "MARK")
	op = strings.Replace(op, "_ACK", "", 1)
	var what string
	switch {
	case strings.HasPrefix(op, "MEM_RAT"):
		in.Mem.Space = isa.SpaceGlobal
		what = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(op, "MEM_RAT"), "_CACHELESS"), "_NOCACHE")
		what = strings.TrimPrefix(what, "_")
		if what == "" {
			what, rest = cutWord(rest)
			what = strings.TrimSuffix(what, ":")
		}
		if strings.Contains(op, "CACHELESS") {
			in.Mem.Cache = "CACHELESS"
		}
	case strings.HasPrefix(op, "MEM_SCRATCH"):
		in.Mem.Space, what = isa.SpaceLocal, "STORE_RAW"
	case strings.HasPrefix(op, "MEM_EXPORT"), strings.HasPrefix(op, "MEM_GLOBAL"), strings.HasPrefix(op, "MEM_REDUCTION"):
		in.Mem.Space, what = isa.SpaceGlobal, "STORE_RAW"
	case strings.HasPrefix(op, "MEM_RING"), strings.HasPrefix(op, "MEM_STREAM"):
		in.Mem.Space, what = isa.SpaceTexture, "STORE_RAW"
	}
	what = strings.TrimSuffix(strings.TrimSuffix(what, "__NI"), "_ACK")
	addr, data, mask, ok := ratOperands(rest)
	if !ok {
		b.unknownCF(l.text, "operands of a memory write")
		return
	}
	if !b.ratKind(&in, what, data, mask) {
		b.unknownCF(l.text, "unknown opcode")
		return
	}
	if in.Mem.Space == isa.SpaceGlobal && ack {
		in.Counts = counts(isa.CountAck)
	}
	o := isa.Operand{Kind: isa.OpdMem, Words: 1, Text: rest}
	if strings.HasPrefix(what, "STORE") {
		o.Part = "dword"
	}
	if num, ch, ok := gprs(addr); ok {
		o.Reg = tsReg(num, append(ch, 0)[0])
		in.Uses = appendReg(in.Uses, o.Reg)
		in.Addrs = []isa.Reg{o.Reg}
	} else if n, ok := small(addr); ok {
		o.Off = int64(n)
	} else if addr != "" {
		b.unknownCF(l.text, "address of a memory write")
		return
	}
	in.Args = append([]isa.Operand{o}, in.Args...)
	b.add(in)
}

func hasWord(s, w string) bool {
	for _, f := range strings.Fields(s) {
		if f == w || strings.TrimSuffix(f, ",") == w {
			return true
		}
	}
	return false
}

// ratOperands splits off address, value and component mask.
func ratOperands(rest string) (addr, data, mask string, ok bool) {
	args, ok := splitArgs(rest, nil)
	if !ok || len(args) == 0 {
		return "", "", "", false
	}
	first := trim(args[0])
	i := strings.IndexByte(first, '[')
	if strings.Contains(first, "(") || i >= 0 { // RAT(1)[R1].x___, R0, ARRAY_SIZE(4)
		if i >= 0 {
			j := strings.IndexByte(first[i:], ']')
			if j < 0 {
				return "", "", "", false
			}
			addr = trim(first[i+1 : i+j])
			mask = strings.TrimPrefix(first[i+j+1:], ".")
		}
		if len(args) < 2 {
			return "", "", "", false
		}
		data, _ = cutWord(args[1])
		return addr, data, mask, true
	}
	if len(args) < 2 {
		return "", "", "", false
	}
	data, _ = cutWord(args[0])
	addr, _ = cutWord(args[1])
	return addr, data, "", true
}

// ratKind sets role, width and data registers.
func (b *tsBuilder) ratKind(in *isa.Inst, what, data, mask string) bool {
	num, chans, ok := gprs(data)
	if !ok {
		return false
	}
	if mask != "" {
		chans = chans[:0]
		for i := 0; i < len(mask) && i < 4; i++ {
			if mask[i] != '_' {
				chans = append(chans, i)
			}
		}
	}
	value := func(c int) {
		r := tsReg(num, c)
		in.Data = append(in.Data, r)
		in.Uses = appendReg(in.Uses, r)
		in.Args = append(in.Args, isa.Operand{Kind: isa.OpdReg, Reg: r, Words: 1, Text: data})
	}
	switch {
	case what == "STORE_RAW" || what == "STORE_DWORD" || what == "STORE_TYPED" || what == "STORE_RAW_FDENORM" || what == "STORE_BYTE" ||
		what == "STORE_SHORT":
		in.Role = isa.RoleStore
		in.Mem.Width = 4 * len(chans)
		switch what {
		case "STORE_BYTE":
			in.Mem.Width = 1
		case "STORE_SHORT":
			in.Mem.Width = 2
		}
		for _, c := range chans {
			value(c)
		}
		return len(chans) > 0
	case what == "NOP" || what == "NOP_RTN":
		in.Role = isa.RoleCache
		return true
	}
	name, rtn := strings.CutSuffix(strings.TrimPrefix(what, "ATOMIC_"), "_RTN")
	atom, ok := ratAtoms[name]
	if !ok {
		return false
	}
	in.Mem.Atom, in.Mem.Type, in.Mem.Width = atom, atomType(atom), 4
	in.Role = isa.RoleReduction
	if rtn {
		in.Role = isa.RoleAtomic // the old value goes to a buffer, not to registers
	}
	if strings.HasSuffix(atom, "CAS") { // new value in x, compared one in w
		value(3)
	}
	value(0)
	return true
}

// textUses adds the registers in an operand text.
func (b *tsBuilder) textUses(in *isa.Inst, s string) {
	for _, f := range strings.FieldsFunc(s, func(r rune) bool {
		return r == ',' || r == ' ' || r == '[' || r == ']' || r == '(' ||
			r == ')'
	}) {
		if num, ch, ok := gprs(f); ok {
			for _, c := range ch {
				in.Uses = appendReg(in.Uses, tsReg(num, c))
			}
		}
	}
}
