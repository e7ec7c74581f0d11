package audit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/amdisa"
	"optcheck/event"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model/amdhw"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/toolchain"
)

// amdInserted are the instructions that are put between others; v0 to v3 and s0 to
// s3 are what kernels use first.
var amdInserted = []string{
	"s_trap 2", "s_sethalt 1", "s_setkill 1", "s_endpgm", "s_sleep 1", "s_nop 0", "s_setprio 1", "s_icache_inv", "s_sendmsg sendmsg(MSG_INTERRUPT)", "s_dcache_inv", "s_dcache_wb",
	"s_barrier", "s_waitcnt 0", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)", "s_waitcnt_vscnt null, 0x0", "s_wait_loadcnt 0x0", "s_wait_storecnt 0x0",
	"buffer_wbinvl1", "buffer_wbinvl1_vol", "buffer_gl0_inv", "buffer_gl1_inv", "buffer_inv sc1", "buffer_wbl2 sc1", "global_inv scope:SCOPE_DEV", "global_wb scope:SCOPE_SYS",
	"v_mov_b32_e32 v0, 0", "v_mov_b32_e32 v1, v0", "v_add_u32_e32 v1, 1, v1", "s_mov_b32 s0, 0", "s_mov_b64 exec, 0", "s_mov_b64 exec, -1", "v_readfirstlane_b32 s0, v0",
	"global_load_dword v0, v1, s[0:1]", "global_store_dword v1, v0, s[0:1]", "global_atomic_add v1, v0, s[0:1]", "flat_store_dword v[0:1], v2", "s_load_dword s0, s[4:5], 0x0",
	"ds_write_b32 v0, v1", "s_memtime s[0:1]", "s_wakeup",
}

var amdGroups = [][]string{
	{"load_dword", "load_ubyte", "load_dwordx2", "load_sbyte"}, {"load_b32", "load_u8", "load_b64"}, {"store_dword", "store_byte", "store_dwordx2"}, {"store_b32", "store_b8"},
	{"atomic_add", "atomic_sub", "atomic_swap", "atomic_smax", "atomic_umax", "atomic_or", "atomic_and", "atomic_inc"}, {"atomic_add_u32", "atomic_sub_u32", "atomic_swap_b32", "atomic_max_i32", "atomic_add_f32"},
	{"v_cmp_eq_u32", "v_cmp_ne_u32", "v_cmp_lt_u32", "v_cmp_gt_i32"}, {"s_cmp_eq_u32", "s_cmp_lg_u32", "s_cmp_lt_i32"}, {"v_and_b32", "v_or_b32", "v_xor_b32"},
	{"s_and_b64", "s_or_b64", "s_xor_b64", "s_andn2_b64"}, {"s_and_saveexec_b64", "s_or_saveexec_b64"}, {"s_cbranch_execz", "s_cbranch_execnz", "s_cbranch_scc0", "s_cbranch_scc1", "s_cbranch_vccz"},
	{"s_and_b32", "s_or_b32", "s_xor_b32", "s_andn2_b32"}, {"v_add_u32", "v_sub_u32"}, {"vmcnt", "lgkmcnt", "expcnt"}, {"glc", "slc", "dlc"}, {"sc0", "sc1", "nt"},
	{"scope:SCOPE_CU", "scope:SCOPE_SE", "scope:SCOPE_DEV", "scope:SCOPE_SYS"}, {"v_mov_b32", "v_not_b32"}, {"s_mov_b32", "s_not_b32"},
}

var (
	amdRegister = regexp.MustCompile(`\b([vs])(\d+)\b|\b([vs])\[(\d+):(\d+)\]`)
	amdNumber   = regexp.MustCompile(`(?:\b0x[0-9a-f]+\b|\b\d+\b)`)
)

// amdTokenMutants lists all changes of an instruction's line.
func amdTokenMutants(l string) (out []tokenMutant) {
	body := strings.TrimSpace(strings.SplitN(l, ";", 2)[0])
	add := func(kind, line string) {
		if line != body {
			out = append(out, tokenMutant{kind: kind, line: line})
		}
	}
	add("delete", "")
	add("duplicate", body+"\n\t"+body)
	for _, s := range amdInserted {
		add("insert", s+"\n\t"+body)
	}
	for _, g := range amdGroups {
		for _, x := range g {
			if strings.Contains(body, x) {
				for _, y := range g {
					add("opcode", strings.Replace(body, x, y, 1))
				}
				if strings.HasPrefix(" "+x, " gl") || len(x) <= 3 || strings.HasPrefix(x, "scope:") {
					add("drop modifier", strings.Replace(body, " "+x, "", 1))
				}
			}
		}
	}
	for _, m := range []string{" glc", " slc", " dlc", " sc0", " sc1", " nt", " scope:SCOPE_SYS", " offset:4", " offset:16"} {
		add("add modifier", body+m)
	}
	for _, at := range amdRegister.FindAllStringSubmatchIndex(body, -1) {
		for _, d := range []int{-2, -1, 1, 2} {
			var s string
			if at[2] >= 0 {
				n, _ := strconv.Atoi(body[at[4]:at[5]])
				s = fmt.Sprintf("%s%d", body[at[2]:at[3]], max(n+d, 0))
			} else {
				a, _ := strconv.Atoi(body[at[8]:at[9]])
				b, _ := strconv.Atoi(body[at[10]:at[11]])
				s = fmt.Sprintf("%s[%d:%d]", body[at[6]:at[7]], max(a+2*d, 0), max(a+2*d, 0)+b-a)
			}
			add("register", body[:at[0]]+s+body[at[1]:])
		}
	}
	mnemonic, rest, _ := strings.Cut(body, " ")
	for _, at := range amdNumber.FindAllStringIndex(rest, -1) {
		if at[0] > 0 && strings.ContainsAny(rest[at[0]-1:at[0]], "vs[:_x") && !strings.HasSuffix(rest[:at[0]], "offset:") {
			continue
		}
		n, err := strconv.ParseInt(rest[at[0]:at[1]], 0, 64)
		if err != nil {
			continue
		}
		for _, w := range []int64{n + 1, n - 1, n + 4, 0, 1, n ^ 0x40} {
			if w >= 0 {
				add("number", mnemonic+" "+rest[:at[0]]+fmt.Sprint(w)+rest[at[1]:])
			}
		}
	}
	if ops := strings.Split(rest, ", "); len(ops) > 1 {
		for i := range ops {
			for j := i + 1; j < len(ops); j++ {
				o := slices.Clone(ops)
				o[i], o[j] = o[j], o[i]
				add("operand order", mnemonic+" "+strings.Join(o, ", "))
			}
		}
	}
	return out
}

// amdSubject is a test with its kernels compiled.
type amdSubject struct {
	t     *litmus.Test
	u     *ptxgen.Unit
	parts []part
	lines [][]string // of each thread's function, as the compiler printed it
	insts [][]int    // numbers of the lines that hold instructions
	// What the machine can do, by the model of the hardware: as it is; in order alone,
	// with caches that keep nothing; and with fences that leave the caches alone.
	want, ordered, untouched []string
}

// TestTokenMutationAMD changes tokens of what clang prints for AMD's targets. Each
// mutant that the assembler accepts and that is other code must have a finding, be
// unknown, or come to nothing new on the model of the hardware, over all registers
// and locations.
func TestTokenMutationAMD(t *testing.T) {
	list := clangs(t)
	tc := list[len(list)-1]
	targets, levels, perKernel := []string{"gfx900", "gfx942", "gfx1030", "gfx1100", "gfx1200"}, []string{"O0", "O2"}, 40
	if !full() {
		targets, levels, perKernel = []string{"gfx900", "gfx1030"}, []string{"O2"}, 6
	}
	perKernel = tokenNumber(t, "OPTCHECK_TOKENS", perKernel)
	seed := tokenNumber(t, "OPTCHECK_TOKENS_SEED", 3)
	kinds := map[string]*tokenTally{}
	var wrong []string
	r := &tokenRun{tc: tc, kinds: kinds}
	for i, target := range targets {
		for j, level := range levels {
			rnd := rand.New(rand.NewPCG(uint64(seed), uint64(10*i+j)))
			wrong = append(wrong, r.amdCell(t, target, level, perKernel, rnd)...)
		}
	}
	r.print(t)
	r.wrong = wrong
	r.left(t)
}

// amdCell mutates the kernels of the corpus for one target and level.
func (r *tokenRun) amdCell(t *testing.T, target, level string, n int, rnd *rand.Rand) (wrong []string) {
	a := newAuditor(Options{Layouts: spec.Layouts[:1]}, event.NewRun())
	for _, s := range r.amdSubjects(t, a, target, level) {
		type choice struct {
			tokenMutant
			thread, line int
		}
		var all []choice
		for th := range s.lines {
			byKind := map[string][]choice{}
			for _, i := range s.insts[th] {
				for _, m := range amdTokenMutants(s.lines[th][i]) {
					byKind[m.kind] = append(byKind[m.kind], choice{m, th, i})
				}
			}
			names := sortedKeys(byKind)
			for range n {
				list := byKind[names[rnd.IntN(len(names))]]
				all = append(all, list[rnd.IntN(len(list))])
			}
		}
		var lines []string
		for _, c := range all {
			lines = append(lines, c.line2())
		}
		accepted := r.assembles(t, target, lines)
		for i, c := range all {
			k := r.kind(c.kind)
			k.mutants++
			if !accepted[i] {
				k.refused++
				continue
			}
			text := slices.Clone(s.lines[c.thread])
			text[c.line] = "\t" + c.tokenMutant.line
			p, err := r.amdCheck(a, s, c.thread, target, strings.Join(text, "\n"))
			if err != nil {
				k.unknown++
				continue
			}
			if p.code == s.parts[c.thread].code {
				k.same++
				continue
			}
			parts := slices.Clone(s.parts)
			parts[c.thread] = p
			cell, _, err := a.decide(t.Context(), s.t, s.u, target, parts)
			require.NoError(t, err)
			switch {
			case cell.Class == event.Unknown:
				k.unknown++
			case cell.Class != event.Preserved:
				k.found++
			case fewer(amdStates(t, s, parts, asItIs), s.want):
				k.equal++
			case s.untouched != nil && fewer(amdStates(t, s, parts, orderAlone), s.ordered) && fewer(amdStates(t, s, parts, asItIs), s.untouched):
				k.equal++
			default:
				k.wrong++
				wrong = append(wrong, fmt.Sprintf("%s %s %s T%d, %s: %s => %s", s.t.Name, target, level, c.thread, c.kind, strings.TrimSpace(s.lines[c.thread][c.line]), strings.ReplaceAll(c.tokenMutant.line, "\n\t", "; ")))
			}
		}
	}
	return wrong
}

// fewer reports whether a cell was explored and comes to nothing that another one does
// not come to: AMD's machine code may wait and invalidate more than it has to, which
// no rule calls a change.
func fewer(got, want []string) bool { return got != nil && len(minus(got, want)) == 0 }

// line2 returns the line that was changed, as one assembler statement a line.
func (c tokenMutant) line2() string { return strings.ReplaceAll(c.line, "\n\t", "\n") }

// amdSubjects compiles the corpus and keeps what is preserved and explored in full.
func (r *tokenRun) amdSubjects(t *testing.T, a *auditor, target, level string) (out []*amdSubject) {
	byBuild := map[pipeline.Way][]toolchain.Unit{}
	units := map[string]*ptxgen.Unit{}
	for _, x := range corpus.OpenCL() {
		x = x.Canonical()
		u, err := ptxgen.EmitOpenCL(x, ptxgen.Options{Target: target})
		if err != nil {
			continue
		}
		units[x.Name] = u
		for _, k := range u.Kernels {
			b := pipeline.Way{CL2: k.CL2, Library: k.Library}
			byBuild[b] = append(byBuild[b], toolchain.Unit{Name: k.Name, Text: globals(u, k.Text) + k.Text})
		}
	}
	lines := map[string][]string{}
	for _, b := range []pipeline.Way{{}, {CL2: true}, {Library: true}, {CL2: true, Library: true}} {
		if len(byBuild[b]) == 0 {
			continue
		}
		res, err := r.tc.CompileLLVM(t.Context(), toolchain.LLVMJob{Job: toolchain.Job{Target: target, Level: level, LineInfo: true, Units: byBuild[b]}, Source: toolchain.OpenCLC, CL2: b.CL2, Library: b.Library})
		require.NoError(t, err)
		for _, batch := range res.Batches {
			text := strings.Split(string(batch.Text), "\n")
			prog, err := amdisa.ParseFor("mutants", batch.Text, target)
			require.NoError(t, err)
			for i, f := range prog.Funcs {
				end := len(text)
				if i+1 < len(prog.Funcs) {
					end = prog.Funcs[i+1].Line - 1
				}
				lines[f.Name] = text[f.Line-1 : end]
			}
		}
	}
	for _, x := range corpus.OpenCL() {
		x = x.Canonical()
		s := &amdSubject{t: x, u: units[x.Name]}
		if s.u != nil && r.amdPrepare(t, a, s, lines, target) {
			out = append(out, s)
		}
	}
	return out
}

func (r *tokenRun) amdPrepare(t *testing.T, a *auditor, s *amdSubject, lines map[string][]string, target string) bool {
	for th, k := range s.u.Kernels {
		text := lines[k.Name]
		if text == nil {
			return false
		}
		s.lines = append(s.lines, text)
		p, err := r.amdCheck(a, s, th, target, strings.Join(text, "\n"))
		if err != nil || p.result.Class != optcheck.Preserved {
			return false
		}
		s.parts = append(s.parts, p)
		prog, err := amdisa.ParseFor("mutants", []byte(strings.Join(text, "\n")), target)
		require.NoError(t, err)
		var at []int
		for i := range prog.Funcs[0].Insts {
			if in := &prog.Funcs[0].Insts[i]; in.Role != isa.RoleNop {
				at = append(at, in.Line-1)
			}
		}
		s.insts = append(s.insts, slices.Compact(at))
	}
	s.want = amdStates(t, s, s.parts, asItIs)
	if languageFences(s.t) {
		s.ordered, s.untouched = amdStates(t, s, s.parts, orderAlone), amdStates(t, s, s.parts, untouched)
	}
	return s.want != nil
}

// languageFences reports whether a test synchronises by mem_fence and its kin alone.
// OpenCL 1.2 says that they order the accesses of a work-item, and promises nothing
// between work-groups: a compiler may leave the caches alone, as libclc's did
// until release 19, and a mutant may weaken what it does to them.
func languageFences(t *litmus.Test) bool {
	for i := range t.Threads {
		for k := range t.Threads[i].Body {
			switch in := &t.Threads[i].Body[k]; {
			case in.IsFence() && (in.Op != litmus.OpFence || in.Scope != litmus.ScopeNone),
				in.Op.IsAccess() && in.Sem != litmus.SemNone && in.Sem != litmus.SemWeak && in.Sem != litmus.SemVolatile && in.Sem != litmus.SemRelaxed:
				return false
			}
		}
	}
	return true
}

// Machines on which machine code is looked at.
func asItIs(*amdhw.Program) {}

// orderAlone has no cache that keeps an old line or a store.
func orderAlone(p *amdhw.Program) { p.Fresh, p.System.WriteBack = true, false }

// untouched has caches on which no instruction does anything.
func untouched(p *amdhw.Program) {
	for t := range p.Threads {
		for i := range p.Threads[t].Ops {
			if o := &p.Threads[t].Ops[i]; o.Kind == amdhw.Invalidate || o.Kind == amdhw.WriteBack {
				o.Kind = amdhw.Other
			}
		}
	}
}

// amdCheck checks a kernel's text as an audit does.
func (r *tokenRun) amdCheck(a *auditor, s *amdSubject, th int, target, text string) (part, error) {
	prog, err := amdisa.ParseFor("mutant", []byte(text), target)
	if err != nil {
		return part{}, err
	}
	if len(prog.Problems) > 0 || len(prog.Funcs) != 1 {
		return part{}, fmt.Errorf("not understood")
	}
	c := optcheck.NewChecker()
	c.Locations = locationNames(s.t)
	fn := prog.Funcs[0]
	code := optcheck.CodeHash(fn, nil)
	return part{code: code, result: a.cache.check(c, fn, code, s.u.Kernels[th].Spec, c.Locations, liftTest)}, nil
}

// amdStates returns the final states of what the machine code can do by the model of the
// hardware, which on changes; nil if that cannot be told.
func amdStates(t *testing.T, s *amdSubject, parts []part, on func(*amdhw.Program)) (states []string) {
	cl, err := litmus.ToOpenCL(s.t)
	require.NoError(t, err)
	cl, _ = workGroupFences(cl)
	cl = cl.ObserveAll()
	var threads []optcheck.LiftedThread
	for i, p := range parts {
		if p.result.liftErr != nil || p.result.lifted == nil {
			return nil
		}
		threads = append(threads, optcheck.LiftedThread{Lifted: p.result.lifted, Spec: s.u.Kernels[i].Spec, Values: s.u.Kernels[i].Values})
	}
	m, err := optcheck.NewMachine(cl, threads)
	if err != nil {
		return nil
	}
	on(&m.(*optcheck.AMDMachine).Program)
	terms := cl.Terms()
	err = m.Explore(t.Context(), false, func(f *amdhw.Final, _ func() []amdhw.Step) error {
		values, err := optcheck.MachineState(cl, threads, f)
		if err != nil {
			return err
		}
		states = append(states, stateText(terms, values))
		return nil
	})
	if err != nil {
		return nil
	}
	slices.Sort(states)
	return slices.Compact(states)
}

// assembles says which of some texts the assembler accepts.
func (r *tokenRun) assembles(t *testing.T, target string, texts []string) []bool {
	var b bytes.Buffer
	owner := []int{}
	for i, s := range texts {
		for _, l := range strings.Split(s, "\n") {
			fmt.Fprintln(&b, l)
			owner = append(owner, i)
		}
	}
	out := make([]bool, len(texts))
	for i := range out {
		out[i] = true
	}
	file := filepath.Join(t.TempDir(), "m.s")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	cmd := exec.CommandContext(t.Context(), r.tc.Kind.(*toolchain.LLVM).MC, "-triple=amdgcn-amd-amdhsa", "-mcpu="+target, "-filetype=null", file)
	cmd.Env = r.tc.Kind.(*toolchain.LLVM).Environment()
	msg, _ := cmd.CombinedOutput()
	for _, m := range regexp.MustCompile(`m\.s:(\d+):\d+: error`).FindAllSubmatch(msg, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		if n >= 1 && n <= len(owner) {
			out[owner[n-1]] = false
		}
	}
	return out
}
