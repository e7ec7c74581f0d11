package reduce

import (
	"regexp"
	"slices"
	"strconv"

	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/ptx/lower"
	"optcheck/realcode"
	"optcheck/refine"
)

// executed are the rules that execution finds broken.
var executed = []realcode.Rule{realcode.WrongValue, realcode.WrongAddress, realcode.NotPerformed, realcode.Rule(refine.ExtraAccess), realcode.DoesNotEnd,
	realcode.HazardRAW, realcode.HazardWAW, realcode.HazardWAR}

// executions is on how many inputs kernels are executed when a finding is looked for.
const executions = 32

// Executed reports whether a finding with the signature is one of execution.
func (s KernelSignature) Executed() bool {
	return s.Gist == "" && s.Class != "" && slices.Contains(executed, realcode.Rule(s.Rule))
}

// runs is on how many inputs kernels are executed: on none if what is looked for is no finding of execution.
func (f *KernelFinding) runs() int {
	if f.Signature != (KernelSignature{}) && !f.Signature.Executed() {
		return 0
	}
	return executions
}

// Show says on which input a kernel of the module shows the finding: everything is made smaller on that.
func (f *KernelFinding) Show(kernel string, in *refine.Input) error {
	program, err := lower.Kernel(f.Module, kernel)
	if err != nil {
		return err
	}
	f.Input, f.params = in, program.Params
	return nil
}

// keptName is the name of a parameter that Extract has given it: its number is that in the kernel as it was.
var keptName = regexp.MustCompile(`^p([0-9]+)$`)

// execution says how the kernel of a module is executed: on the input of the finding, with the parameters that are left.
func (f *KernelFinding) execution(m *ptx.Module) (refine.Options, error) {
	at := slices.IndexFunc(m.Funcs, func(x *ptx.Func) bool { return x.Entry })
	if at < 0 || f.Input == nil {
		return refine.Options{Runs: executions}, nil
	}
	program, err := lower.Kernel(m, m.Funcs[at].Name)
	if err != nil {
		return refine.Options{}, err
	}
	in := *f.Input
	in.Vars, in.Params = nil, make([]byte, len(f.Input.Params)+8*len(program.Params))
	for _, v := range program.Params {
		was := f.param(v.Name)
		if was == nil || was.Size != v.Size || v.Offset+v.Size > int64(len(in.Params)) {
			continue
		}
		copy(in.Params[v.Offset:v.Offset+v.Size], f.Input.Params[was.Offset:])
	}
	return refine.Options{Inputs: []*refine.Input{&in}}, nil
}

// param is the parameter that one of a smaller kernel was.
func (f *KernelFinding) param(name string) *ir.Var {
	for i := range f.params {
		if f.params[i].Name == name {
			return &f.params[i]
		}
	}
	if m := keptName.FindStringSubmatch(name); m != nil {
		if i, err := strconv.Atoi(m[1]); err == nil && i < len(f.params) {
			return &f.params[i]
		}
	}
	return nil
}
