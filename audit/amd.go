package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"optcheck/amdisa"
	"optcheck/isa"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/toolchain"
)

// Sources of an audit's kernels, of those that a vendor's compilers have more
// than one.
const (
	PTX    = "ptx"
	OpenCL = "opencl"
	LLVMIR = "llvm-ir"
)

// build says how a kernel is compiled by LLVM.
type build struct{ cl2, library bool }

// builds are the ways to compile OpenCL kernels, in the order in which they are
// taken.
var builds = []build{{false, false}, {true, false}, {false, true}, {true, true}}

// amd does a job of a release of LLVM: OpenCL C (or LLVM IR) for an AMD target.
func (w *worker) amd(ctx context.Context) error {
	w.parts = map[int][]part{}
	var cells []int
	for i := range w.em.units {
		if w.skip(i) {
			continue
		}
		if err := w.em.errs[i]; err != nil {
			w.set(i, optcheck.UnsupportedClass, reasonOf(err))
			continue
		}
		cells = append(cells, i)
		w.parts[i] = make([]part, len(w.em.of[i]))
	}
	for _, b := range builds {
		if err := w.amdBuild(ctx, b, cells); err != nil {
			return err
		}
	}
	for _, c := range cells {
		w.cell(c)
		if err := w.hardware(ctx, c); err != nil {
			return err
		}
	}
	if !w.a.plain && w.a.visit == nil {
		if err := w.stages(ctx, cells); err != nil {
			return err
		}
	}
	w.artefacts("", cells)
	w.users, w.parts, w.units = nil, nil, nil
	return nil
}

// amdBuild compiles and checks the kernels that are compiled in one way.
func (w *worker) amdBuild(ctx context.Context, b build, cells []int) error {
	units := w.distinct(cells, func(k *distinctKernel) bool { return k.build == b })
	if len(units) == 0 {
		return nil
	}
	res, err := w.j.tc.CompileLLVM(ctx, w.llvmJob(b, units))
	if err != nil {
		return err
	}
	var failed []error
	for u := range units {
		e := res.Failed[u]
		if e == nil {
			continue
		}
		if errors.Is(e, toolchain.ErrCancelled) {
			return e
		}
		if reason := lacks(e); reason != "" {
			w.lack(u, reason)
			continue
		}
		w.fail(u, kindOf(e)+": "+firstLine(e.Error()))
		failed = append(failed, e)
	}
	w.failures(failed)
	for _, batch := range res.Batches {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		w.listing(batch, units)
	}
	return nil
}

// llvmJob is the job that compiles units in one way.
func (w *worker) llvmJob(b build, units []toolchain.Unit) toolchain.LLVMJob {
	source, header := toolchain.OpenCLC, ""
	if w.a.o.Source == LLVMIR {
		source, header = toolchain.LLVMIR, ptxgen.HeaderAMD
	}
	return toolchain.LLVMJob{Job: toolchain.Job{Target: w.j.target, Level: w.j.level, LineInfo: source == toolchain.OpenCLC, Header: header, Units: units, Flags: w.a.o.Flags, BatchUnits: w.a.o.BatchUnits},
		Source: source, CL2: b.cl2, Library: b.library}
}

// What LLVM's messages say of its own objects: addresses of nodes with the number
// of a result, names of values, and lines of the pseudo source.
var (
	pointers = regexp.MustCompile(`,? ?\b0x[0-9a-f]{6,}(:\d+)?:? ?`)
	operands = regexp.MustCompile("(?: dereferenceable\\b| (?:into|from) (?:%ir[^,)]*|@[^,)]*|`[^`]*`))")
	load     = regexp.MustCompile(`\(dereferenceable `)
	places   = regexp.MustCompile(`, ` + regexp.QuoteMeta(ptxgen.SourceName) + `:\d+(:\d+)?`)
	fenceIDs = regexp.MustCompile(`(AtomicFence), TargetConstant:i64<(\d+)>, TargetConstant:i64<(\d+)>`)
)

// fenceOrders are LLVM's numbers of orderings.
var fenceOrders = map[string]string{"4": "acquire", "5": "release", "6": "acq_rel", "7": "seq_cst"}

// plainReason makes the back end's message independent of the file that it is
// about: it gives named scopes their numbers in the order in which it meets them.
func plainReason(msg string) string {
	msg = places.ReplaceAllString(pointers.ReplaceAllString(msg, ""), "")
	msg = load.ReplaceAllString(operands.ReplaceAllString(msg, ""), "(")
	msg = strings.Replace(msg, "Cannot select:", "Cannot select: ", 1)
	if m := fenceIDs.FindStringSubmatch(msg); m != nil {
		scope := "with a named scope"
		if m[3] == "1" {
			scope = "of the whole system"
		}
		msg = strings.Replace(msg, m[0], m[1]+" "+cmp.Or(fenceOrders[m[2]], m[2])+" "+scope, 1)
	}
	return strings.ReplaceAll(strings.TrimSpace(msg), "  ", " ")
}

// lacks says what the release lacks for a kernel, "" if the failure is of
// another kind. What the back end refuses is something that it lacks; what the
// front end refuses is a fault of the kernel.
func lacks(err error) string {
	var e *toolchain.Error
	if !errors.As(err, &e) {
		return ""
	}
	if errors.Is(err, toolchain.ErrNoLibrary) {
		return e.Detail
	}
	// llc aborts where clang has a message.
	if i := strings.Index(e.Error(), "Cannot select: "); i >= 0 && e.ExitCode != 0 && len(e.Diagnostics) == 0 {
		msg, _, _ := strings.Cut(firstLine(e.Error()[i:]), " # D:")
		return "the compiler cannot: " + pointers.ReplaceAllString(msg, "")
	}
	if !errors.Is(err, toolchain.ErrCompile) {
		return ""
	}
	if e.ExitCode == 0 {
		return e.Detail // a call that was not resolved
	}
	for _, d := range e.Diagnostics {
		if d.Unit != "" {
			// LLVM prints addresses of its own objects, which differ each time.
			msg, _, _ := strings.Cut(d.Message, " # D:")
			return "the compiler cannot: " + plainReason(msg)
		}
	}
	// r600 refuses calls, and its library lacks some functions (mem_fence).
	if i := strings.Index(e.Error(), "unsupported call to function"); i >= 0 {
		return "the compiler cannot: " + firstLine(e.Error()[i:])
	}
	return ""
}

// lack makes all cells that use a unit unsupported.
func (w *worker) lack(unit int, reason string) {
	for _, x := range w.users[unit] {
		p := &w.parts[x.cell][x.thread]
		p.reason, p.unsupported = reason, true
	}
}

// listing checks the kernels of an assembly listing.
func (w *worker) listing(b toolchain.Batch, units []toolchain.Unit) {
	prog, err := amdisa.ParseFor(fmt.Sprintf("%s %s %s", w.j.tc.ID, w.j.target, w.j.level), b.Text, w.j.target)
	if err != nil {
		w.problem("parse", err.Error())
		for _, u := range b.Units {
			w.fail(u, "parse: "+err.Error())
		}
		return
	}
	funcs := make(map[string]*isa.Func, len(prog.Funcs))
	for _, f := range prog.Funcs {
		funcs[f.Name] = f
	}
	why := problems(prog)
	for _, u := range b.Units {
		name := units[u].Name
		fn := funcs[name]
		if p, bad := why[fn]; bad && fn != nil {
			w.problem("parse", p)
			w.fail(u, "parse: "+p)
			continue
		}
		w.kernel(u, name, fn)
	}
}

// problems assigns the lines of a listing that were not understood to its
// functions: those of one kernel leave the others alone.
func problems(prog *isa.Program) map[*isa.Func]string {
	if len(prog.Problems) == 0 {
		return nil
	}
	out := map[*isa.Func]string{}
	for _, p := range prog.Problems {
		var in *isa.Func
		for _, f := range prog.Funcs {
			if f.Line <= p.Line && (in == nil || f.Line > in.Line) {
				in = f
			}
		}
		if _, ok := out[in]; !ok {
			out[in] = fmt.Sprintf("line %d of the listing not understood: %s (%s)", p.Line, p.Text, p.Why)
		}
	}
	return out
}
