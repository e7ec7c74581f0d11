package amdisa

import (
	"strings"

	"optcheck/isa"
)

// R600 to Cayman ("TeraScale") code is a list of control-flow instructions, some
// of which run a clause of ALU groups or of fetches. The readers of the two
// layouts make cfLines of it, and tsBuilder turns those into instructions:
//
//   - Each ALU group is one instruction, each fetch and each memory write one.
//   - T0.x … T127.w and R0.x … are ClassGPR 4n+channel. PV.x … PV.w and PS are
//     special registers that every group writes. Entries of the LDS output queue
//     are ClassGPR from 512 on: within a clause its order is known.
//   - EXEC is the active mask. Pushes, pops and ELSE are instructions that move it
//     from and to the registers stack0, stack1 …, whose number is the depth of
//     nesting. Jumps are taken when no thread is active: their guard is the
//     thread's own bit, negated, and they go to the instruction that restores the
//     mask. A loop ends in a branch that is taken while the thread is active, and
//     after it an instruction restores the mask that LOOP_START saved.
//   - Addresses (OpdMem) are in bytes for fetches. MEM_RAT stores take an index
//     of 32-bit words, Part "dword"; clang passes byte addresses to MEM_RAT
//     atomics.

// cfLine is one control-flow instruction.
type cfLine struct {
	addr   int // its number in the list
	op     string
	rest   string
	text   string
	line   int
	clause *clause
}

// clause is a list of ALU groups or of fetches.
type clause struct {
	groups  []group
	fetches []fetch
	kcache  [4]kcache
}

// kcache is a window into a constant buffer.
type kcache struct {
	buf, base int
	set       bool
}

// group is one VLIW group.
type group struct {
	slots    []slot
	literals []uint32
	line     int
}

// slot is one operation of a group.
type slot struct {
	unit  byte // 'x' … 'w', 't'; 0 if the listing does not say
	op    string
	args  []string
	flags []string
	text  string
	line  int
}

// modifiers takes what is done to the result off the operation: MOV/2, MUL*4, ADD_sat.
func (s *slot) modifiers() {
	if i := strings.IndexAny(s.op, "/*"); i > 0 {
		s.op, s.flags = s.op[:i], append(s.flags, s.op[i:])
	}
	for _, sat := range []string{"_sat", "_SAT"} {
		if op, ok := strings.CutSuffix(s.op, sat); ok {
			s.op, s.flags = op, append(s.flags, "CLAMP")
		}
	}
}

// fetch is one instruction of a fetch clause.
type fetch struct {
	text string
	line int
}

// Register numbers.
const (
	oqFirst = 512
	oqCount = 64
)

// tsBuilder turns control-flow lines into instructions.
type tsBuilder struct {
	*base
	cayman bool
	amd    bool   // constants are numbered by buffer
	op     string // of the control-flow instruction being decoded
	depth  int
	loops  []tsLoop
	at     map[int]int // control-flow address → first instruction of it
	restor map[int]int // control-flow address → instruction that restores the mask
	jumps  []tsJump
	consts map[uint16]uint32 // registers with known constants
	oqPush int
	oqPop  int
}

type tsLoop struct {
	start, depth int
	breaks       []int // instructions that leave it
}

type tsJump struct {
	inst, to int
	pops     bool
}

// build builds a function from its control-flow list.
func (b *tsBuilder) build(fn *isa.Func, list []cfLine) error {
	b.depth, b.loops, b.jumps = 0, nil, nil
	b.at, b.restor, b.consts = map[int]int{}, map[int]int{}, map[uint16]uint32{}
	b.insts = b.insts[:0]
	for i := range list {
		l := &list[i]
		b.line, b.op = l.line, l.op
		b.at[l.addr] = len(b.insts)
		b.cf(l)
	}
	for n := len(b.insts); n > 1 && b.insts[n-1].Role == isa.RoleNop && b.insts[n-2].Flow == isa.FlowExit; n-- {
		b.insts = b.insts[:n-1]
	}
	if n := len(b.insts); n == 0 || b.insts[n-1].Flow != isa.FlowExit {
		// The last instruction carries the end-of-program bit.
		b.add(isa.Inst{Op: "END_OF_PROGRAM", Text: "(end of program)", Role: isa.RoleBranch, Flow: isa.FlowExit})
	}
	if len(b.loops) > 0 {
		return b.fail(ErrTruncated, "loop without end in "+fn.Name)
	}
	for _, j := range b.jumps {
		t, ok := b.at[j.to]
		if j.pops {
			if r, has := b.restor[j.to-1]; has {
				t, ok = r, true
			}
		}
		if !ok || t >= len(b.insts) {
			b.line = b.insts[j.inst].Line
			return b.fail(ErrTruncated, "jump out of "+fn.Name+": "+b.insts[j.inst].Text)
		}
		b.insts[j.inst].Target = t
	}
	fn.Insts = append([]isa.Inst(nil), b.insts...)
	for i := range fn.Insts {
		fn.Insts[i].Addr = uint64(i)
	}
	fn.BuildCFG()
	b.prog.Funcs = append(b.prog.Funcs, fn)
	return nil
}

// add appends an instruction and returns its index.
func (b *tsBuilder) add(in isa.Inst) int {
	in.Line, in.Target = b.line, -1
	if in.Op == "" {
		in.Op = b.op
	}
	if in.Guard.Reg.Class != isa.ClassNone {
		in.Uses = appendReg(in.Uses, in.Guard.Reg)
	}
	b.insts = append(b.insts, in)
	return len(b.insts) - 1
}

func stackReg(depth int) isa.Reg {
	return isa.Reg{Class: isa.ClassSpecial, Num: uint16(isa.SpecStack + min(max(depth, 0), 31))}
}

func regOpd(r isa.Reg) isa.Operand { return isa.Operand{Kind: isa.OpdReg, Reg: r, Words: 1} }

// move adds dst = src as an instruction of its own.
func (b *tsBuilder) move(text string, dst, src isa.Reg) int {
	return b.add(isa.Inst{Text: text, Role: isa.RoleALU, Defs: []isa.Reg{dst}, Uses: []isa.Reg{src},
		Micro: []isa.Micro{{Op: isa.MicroMov, Dst: dst, Src: []isa.Operand{regOpd(src)}}}})
}

func (b *tsBuilder) push(text string) {
	b.move(text+" (push)", stackReg(b.depth), isa.RegExec)
	b.depth++
}

// pop restores the mask that was saved n pushes ago.
func (b *tsBuilder) pop(text string, n, addr int) {
	if n <= 0 {
		return
	}
	b.depth = max(0, b.depth-n)
	b.restor[addr] = b.move(text+" (pop)", isa.RegExec, stackReg(b.depth))
}

// orElse activates the threads that the condition left out.
func (b *tsBuilder) orElse(text string) {
	top := stackReg(b.depth - 1)
	b.add(isa.Inst{Text: text, Role: isa.RoleALU, Defs: []isa.Reg{isa.RegExec}, Uses: []isa.Reg{top, isa.RegExec},
		Micro: []isa.Micro{{Op: isa.MicroLop3, Dst: isa.RegExec, LUT: lutAndN2, Src: []isa.Operand{regOpd(top), regOpd(isa.RegExec), imm(0)}}}})
}

// leave is a break: an active thread goes to the end of the loop.
func (b *tsBuilder) leave(text string) {
	i := b.add(isa.Inst{Text: text, Role: isa.RoleBranch, Flow: isa.FlowJump, Guard: isa.Guard{Reg: isa.RegExec}})
	if n := len(b.loops); n > 0 {
		b.loops[n-1].breaks = append(b.loops[n-1].breaks, i)
		return
	}
	b.unknownInst(i, "break outside of a loop")
}

// again is a continue.
func (b *tsBuilder) again(text string) {
	i := b.add(isa.Inst{Text: text, Role: isa.RoleBranch, Flow: isa.FlowJump, Guard: isa.Guard{Reg: isa.RegExec}})
	if n := len(b.loops); n > 0 {
		b.insts[i].Target = b.loops[n-1].start
		return
	}
	b.unknownInst(i, "continue outside of a loop")
}

func (b *tsBuilder) unknownInst(i int, why string) {
	in := &b.insts[i]
	in.Role, in.Flow, in.Guard, in.Micro, in.Mem = isa.RoleUnknown, isa.FlowNext, isa.Guard{}, nil, isa.Mem{}
	in.Counts, in.Waits, in.Addrs, in.Data, in.Defs = nil, nil, nil, nil, nil
	b.problem(in.Text, why)
}

// unknownCF adds an instruction that is not understood.
func (b *tsBuilder) unknownCF(text, why string) {
	b.unknownInst(b.add(isa.Inst{Text: text}), why)
}

// cf decodes one control-flow instruction.
func (b *tsBuilder) cf(l *cfLine) {
	clear(b.consts)
	op := l.op
	if n, ok := strings.CutPrefix(op, "ALU"); ok && l.clause != nil {
		b.aluClause(l, strings.TrimPrefix(n, "_"))
		return
	}
	switch {
	case op == "ALU" || strings.HasPrefix(op, "ALU_"), op == "TEX", op == "VTX", op == "VC", op == "TC", op == "VTX_TC":
		if l.clause == nil {
			b.unknownCF(l.text, "clause is missing")
			return
		}
		for _, f := range l.clause.fetches {
			b.line = f.line
			b.fetch(f.text)
		}
		if len(l.clause.groups) > 0 {
			b.unknownCF(l.text, "alu group in a fetch clause")
		}
	case strings.HasPrefix(op, "MEM_"), strings.HasPrefix(op, "EXP"):
		b.write(l)
	case op == "JUMP", op == "JUMP_ANY", op == "ELSE", op == "POP", op == "PUSH", op == "PUSH_ELSE", strings.HasPrefix(op, "LOOP"),
		strings.HasSuffix(op, "LOOP"),
		strings.HasPrefix(op, "BREAK"), strings.HasPrefix(op, "CONTINUE"), strings.HasPrefix(op, "ENDLOOP"), strings.HasPrefix(op, "END_LOOP"):
		b.flow(l)
	case op == "CF_END", op == "END_OF_PROGRAM", op == "END":
		b.add(isa.Inst{Text: l.text, Role: isa.RoleBranch, Flow: isa.FlowExit})
	case op == "PAD", op == "NOP", op == "CF_NOP":
		b.add(isa.Inst{Text: l.text, Role: isa.RoleNop})
	case op == "WAIT_ACK":
		n := 0
		if i := strings.LastIndexAny(l.rest, "= "); i >= 0 {
			n, _ = small(trim(l.rest[i+1:]))
		} else if v, ok := small(trim(l.rest)); ok {
			n = v
		}
		b.add(isa.Inst{Text: l.text, Role: isa.RoleWait, Waits: []isa.Wait{{Counter: isa.CountAck, N: n}}})
	case strings.HasPrefix(op, "CALL"):
		b.add(isa.Inst{Text: l.text, Role: isa.RoleBranch, Flow: isa.FlowCall})
	case op == "RETURN", op == "RET":
		b.add(isa.Inst{Text: l.text, Role: isa.RoleBranch, Flow: isa.FlowReturn, Guard: isa.Guard{Reg: isa.RegExec}})
	default:
		b.unknownCF(l.text, "unknown opcode")
	}
}

// cfNumber reads the number after a key: @9, POP:1, ADDR(7), POP_CNT(1).
func cfNumber(s string, keys ...string) (int, bool) {
	for _, k := range keys {
		i := strings.Index(s, k)
		if i < 0 {
			continue
		}
		t := s[i+len(k):]
		j := 0
		for j < len(t) && isDigit(t[j]) {
			j++
		}
		if n, ok := small(t[:j]); ok {
			return n, true
		}
	}
	return 0, false
}

// flow decodes jumps, loops and the mask stack.
func (b *tsBuilder) flow(l *cfLine) {
	to, hasTo := cfNumber(l.rest, "@", "FAIL_JUMP_ADDR(", "PASS_JUMP_ADDR(", "ADDR(")
	pops, _ := cfNumber(l.rest, "POP:", "POP_CNT(", "POP_COUNT(")
	jump := func() {
		if !hasTo {
			return
		}
		i := b.add(isa.Inst{Text: l.text, Role: isa.RoleBranch, Flow: isa.FlowJump, Guard: isa.Guard{Reg: isa.RegExec, Neg: true}})
		b.jumps = append(b.jumps, tsJump{i, to, pops > 0})
	}
	switch {
	case l.op == "JUMP" || l.op == "JUMP_ANY":
		if !hasTo {
			b.unknownCF(l.text, "jump without target")
			return
		}
		jump()
	case l.op == "ELSE":
		if b.depth == 0 {
			b.unknownCF(l.text, "else without condition")
			return
		}
		b.orElse(l.text)
		jump()
	case l.op == "POP":
		n := pops
		if n == 0 {
			n, _ = cfNumber(l.rest, "(")
		}
		b.pop(l.text, max(1, n), l.addr)
	case l.op == "PUSH" || l.op == "PUSH_ELSE":
		b.push(l.text)
		if l.op == "PUSH_ELSE" {
			b.orElse(l.text)
		}
		jump()
	case strings.HasPrefix(l.op, "LOOP_START"), l.op == "LOOP", l.op == "LOOP_DX10", l.op == "LOOP_NO_AL":
		b.push(l.text)
		b.loops = append(b.loops, tsLoop{start: len(b.insts), depth: b.depth})
		if len(b.loops) > 32 {
			b.unknownCF(l.text, "loops nested too deeply")
		}
	case strings.HasPrefix(l.op, "END"), l.op == "LOOP_END":
		b.endLoop(l)
	case strings.HasPrefix(l.op, "LOOP_BREAK"), strings.HasPrefix(l.op, "BREAK"):
		b.leave(l.text)
	case strings.HasPrefix(l.op, "LOOP_CONTINUE"), strings.HasPrefix(l.op, "CONTINUE"):
		b.again(l.text)
	default:
		b.unknownCF(l.text, "unknown opcode")
	}
}

func (b *tsBuilder) endLoop(l *cfLine) {
	n := len(b.loops)
	if n == 0 {
		b.unknownCF(l.text, "end of a loop that has no start")
		return
	}
	lp := b.loops[n-1]
	b.loops = b.loops[:n-1]
	i := b.add(isa.Inst{Text: l.text, Role: isa.RoleBranch, Flow: isa.FlowJump, Guard: isa.Guard{Reg: isa.RegExec}})
	b.insts[i].Target = lp.start
	b.depth = lp.depth
	b.pop(l.text, 1, l.addr)
	for _, x := range lp.breaks {
		b.insts[x].Target = b.restor[l.addr]
	}
	if lp.start > i {
		b.unknownInst(i, "empty loop")
	}
}

// aluClause emits the groups of a clause and the changes of the mask around it.
func (b *tsBuilder) aluClause(l *cfLine, kind string) {
	if kind == "PUSH_BEFORE" {
		b.push(l.text)
	}
	b.oqPush, b.oqPop = 0, 0
	returning(l.clause)
	for i := range l.clause.groups {
		b.group(l.clause, &l.clause.groups[i])
	}
	for _, f := range l.clause.fetches {
		b.line = f.line
		b.unknownCF(f.text, "fetch in an alu clause")
	}
	b.line = l.line
	switch kind {
	case "", "PUSH_BEFORE", "EXT", "EXTENDED":
	case "POP_AFTER":
		b.pop(l.text, 1, l.addr)
	case "POP2_AFTER":
		b.pop(l.text, 2, l.addr)
	case "ELSE_AFTER":
		b.orElse(l.text + " (else)")
	case "BREAK":
		b.leave(l.text + " (break)")
	case "CONTINUE":
		b.again(l.text + " (continue)")
	default:
		b.unknownCF(l.text, "unknown opcode")
	}
	if b.oqPush != b.oqPop {
		b.unknownCF(l.text, "values stay in the lds queue")
	}
}

// returning marks LDS atomics that LLVM prints without _RET although they put a value into the
// queue (LDS_CMPST): otherwise a later group would take a value from an empty queue.
func returning(c *clause) {
	var last *slot
	n := 0
	for i := range c.groups {
		for k := range c.groups[i].slots {
			s := &c.groups[i].slots[k]
			if strings.HasPrefix(s.op, "LDS_") {
				last = s
				if strings.HasSuffix(s.op, "_RET") {
					n++
				}
				continue
			}
			for _, a := range s.args {
				if !strings.HasPrefix(a, "OQAP") {
					continue
				}
				if n == 0 && last != nil && strings.HasPrefix(last.op, "LDS_CMPST") {
					last.op += "_RET"
					n++
				}
				n--
			}
		}
	}
}

// gprs reads T0.X, R1.xy__, T1.XYZW, T2 (all four): register number and channels.
func gprs(s string) (num int, chans []int, ok bool) {
	s = trim(s)
	if len(s) < 2 || s[0] != 'T' && s[0] != 'R' {
		return 0, nil, false
	}
	body, ch, dot := strings.Cut(s[1:], ".")
	num, ok = small(body)
	if !ok || num > 127 {
		return 0, nil, false
	}
	if !dot {
		return num, []int{0, 1, 2, 3}, true
	}
	if len(ch) > 4 {
		return 0, nil, false
	}
	for i := 0; i < len(ch); i++ {
		c := strings.IndexByte("xyzw", ch[i]|0x20)
		switch {
		case c >= 0 && ch[i] != '_':
			chans = append(chans, c)
		case ch[i] == '_':
		case ch[i] == '0', ch[i] == '1':
		default:
			return 0, nil, false
		}
	}
	return num, chans, true
}

func tsReg(num, ch int) isa.Reg {
	return isa.Reg{Class: isa.ClassGPR, Num: uint16(4*num + ch)}
}
