package amdisa

import (
	"strings"

	"optcheck/isa"
)

// twinPrefix is the prefix of the names of the callable bodies that clang-22 emits beside each
// OpenCL kernel. Without optimisation the kernel itself only calls its body.
const twinPrefix = "__clang_ocl_kern_imp_"

// maxInline bounds the length of a kernel including its body, in instructions.
const maxInline = 1 << 20

// inlineTwins replaces the call by the body in kernels that consist of one call of their twin,
// so that one function is one kernel. The call stays as an instruction without effect on the
// control flow; the body's returns become jumps to its end.
func (p *gcn) inlineTwins() {
	byName := make(map[string]*isa.Func, len(p.prog.Funcs))
	for _, f := range p.prog.Funcs {
		if strings.HasPrefix(f.Name, twinPrefix) {
			byName[f.Name] = f
		}
	}
	if len(byName) == 0 {
		return
	}
	for _, f := range p.prog.Funcs {
		twin := byName[twinPrefix+f.Name]
		if twin == nil || len(f.Insts)+len(twin.Insts) > maxInline {
			continue
		}
		if call := onlyCall(f, twin.Name); call >= 0 && onlyCall(twin, "") == -1 {
			delete(byName, twin.Name) // once: names may repeat in hostile input
			f.Insts = splice(f.Insts, call, twin.Insts)
			if p.prog.Dialect == DialectLLVM {
				for i := range f.Insts {
					f.Insts[i].Addr = uint64(4 * i)
				}
			}
			f.BuildCFG()
		}
	}
}

// onlyCall returns the only call of a function, -1 if there is none and -2 if
// there are several, or if the symbols that the function names are not want.
func onlyCall(f *isa.Func, want string) int {
	call, named, found := -1, false, false
	for i := range f.Insts {
		in := &f.Insts[i]
		if in.Flow == isa.FlowCall {
			if call != -1 {
				return -2
			}
			call = i
		}
		for k := range in.Args {
			if o := &in.Args[k]; o.Kind == isa.OpdSym && strings.Contains(o.Text, "@") {
				named = true
				found = found || o.Sym == want
			}
		}
	}
	if call >= 0 && named && !found {
		return -2
	}
	return call
}

// splice puts a body after the call.
func splice(insts []isa.Inst, call int, body []isa.Inst) []isa.Inst {
	n := len(body)
	out := make([]isa.Inst, 0, len(insts)+n)
	moved := func(in isa.Inst, by func(int) int) isa.Inst {
		if in.Target >= 0 {
			in.Target = by(in.Target)
		}
		if len(in.Targets) > 0 {
			l := make([]int, len(in.Targets))
			for i, t := range in.Targets {
				l[i] = by(t)
			}
			in.Targets = l
		}
		return in
	}
	outer := func(t int) int {
		if t > call {
			return t + n
		}
		return t
	}
	for _, in := range insts[:call+1] {
		out = append(out, moved(in, outer))
	}
	out[call].Flow = isa.FlowNext
	for _, in := range body {
		in = moved(in, func(t int) int { return t + call + 1 })
		if in.Flow == isa.FlowReturn {
			in.Flow, in.Target = isa.FlowJump, call+1+n
			in.Args = nil // the register is not a condition
		}
		out = append(out, in)
	}
	for _, in := range insts[call+1:] {
		out = append(out, moved(in, outer))
	}
	return out
}
