package realcode

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/report"
	"optcheck/sass/cubin"
)

var recompile = flag.Bool("recompile", false, "compile testdata anew, testdata/stored.gz")

var update = flag.Bool("update", false, "write what is said of testdata/stored.gz, testdata/stored.txt.gz")

// storedCode is what a release made of a module.
type storedCode struct {
	File, Toolchain, Target, Level string
	Text                           string // of the module: other packages may change theirs
	Program                        *isa.Program
	Data                           []byte // the cubin, of what is executed
}

// executedFiles are those of which kernels are executed, too.
var executedFiles = []string{"execute.ptx", "minimum.ptx", "guarded.ptx", "narrowloop.ptx", "unused.ptx"}

// storedFiles are the modules of testdata, and some of other packages, as seen from there.
func storedFiles(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.ptx", "../../sass/lower/testdata/*.ptx", "../../verify/testdata/[cp]*.ptx", "../../program/cases/*/cbe-[dh]*t*-lock.ptx",
		"../../program/cases/*/sdk-red.ptx", "../../program/cases/*/tpo-tm-fenced.ptx", "../../program/cases/*/cub-scan.ptx", "../../program/cases/*/ct-octree.ptx",
		"../../program/cases/*/order-[ci]*.ptx"} {
		found, err := filepath.Glob(filepath.Join("testdata", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		for _, f := range found {
			name, err := filepath.Rel("testdata", f)
			require.NoError(t, err)
			files = append(files, name)
		}
	}
	return files
}

// compileStored compiles them.
func compileStored(t *testing.T) (list []storedCode) {
	t.Helper()
	files := storedFiles(t)
	for _, way := range []struct{ release, target, level string }{{"11.8", "sm_80", "O3"}, {"12.4", "sm_90", "O3"}, {"12.4", "sm_70", "O1"}} {
		tc := releases(t, way.release)[0]
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join("testdata", file))
			require.NoError(t, err)
			m, err := ptx.Parse(filepath.Base(file), text)
			require.NoError(t, err)
			b, err := build(t.Context(), tc, m, way.target, way.level)
			if err != nil {
				continue // it is for other targets
			}
			code, err := b.decode(t.Context())
			require.NoError(t, err)
			c := storedCode{file, tc.ID, way.target, way.level, string(text), code.Program, nil}
			if way.target == "sm_90" && slices.Contains(executedFiles, c.File) {
				c.Data = b.lined
			}
			for _, f := range c.Program.Funcs {
				for i := range f.Insts {
					f.Insts[i].Code = nil
				}
			}
			list = append(list, c)
		}
	}
	return list
}

// zipped reads a file, or writes it anew.
func zipped(t *testing.T, file string, anew bool, data func() []byte) []byte {
	t.Helper()
	if anew {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, err := w.Write(data())
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	out, err := io.ReadAll(z)
	require.NoError(t, err)
	return out
}

// edits are changes of a function: each instruction that the checker looks at left out, the next one before it, made weaker, narrower,
// or performed twice; of each kind at most so many, chosen at random.
func edits(f *isa.Func, rnd *rand.Rand, most int) (names []string, out []*isa.Func) {
	add := func(name string, i int, insts []isa.Inst) {
		g := *f
		g.Insts = insts
		g.BuildCFG()
		names, out = append(names, fmt.Sprintf("%s %d %s", name, i, f.Insts[i].Text)), append(out, &g)
	}
	one := func(name string, i int, change func(*isa.Inst)) {
		insts := slices.Clone(f.Insts)
		change(&insts[i])
		add(name, i, insts)
	}
	for kind, each := range []func(i int, in *isa.Inst){
		func(i int, in *isa.Inst) { one("without", i, nothing) },
		func(i int, in *isa.Inst) {
			if i+1 < len(f.Insts) && in.Target < 0 && f.Insts[i+1].Target < 0 {
				insts := slices.Clone(f.Insts)
				insts[i], insts[i+1] = insts[i+1], insts[i]
				add("swapped", i, insts)
			}
		},
		func(i int, in *isa.Inst) {
			if in.Mem.Strength != isa.Weak {
				one("weak", i, func(in *isa.Inst) { in.Mem.Strength, in.Mem.Scope = isa.Weak, isa.ScopeNone })
			}
		},
		func(i int, in *isa.Inst) {
			if in.Mem.Scope > isa.ScopeCTA {
				one("of the block", i, func(in *isa.Inst) { in.Mem.Scope = isa.ScopeCTA })
			}
		},
		func(i int, in *isa.Inst) {
			l := &listing{f: f, insts: f.Insts, ops: make([]*Op, len(f.Insts))}
			l.ops[i] = &Op{Inst: &ptx.Inst{}}
			l.twice("x", i)
			names, out = append(names, fmt.Sprintf("twice %d %s", i, in.Text)), append(out, l.out[0].code)
		},
		func(i int, in *isa.Inst) { one("always", i, func(in *isa.Inst) { in.Guard = isa.Guard{} }) },
		func(i int, in *isa.Inst) { one("of another line", i, func(in *isa.Inst) { in.Src.Line++ }) },
		func(i int, in *isa.Inst) {
			if in.Guard.Reg.Class != isa.ClassNone {
				one("otherwise", i, func(in *isa.Inst) { in.Guard.Neg = !in.Guard.Neg })
			}
		},
		func(i int, in *isa.Inst) {
			if at := slices.IndexFunc(in.Args, func(o isa.Operand) bool { return o.Kind == isa.OpdMem }); at >= 0 {
				one("elsewhere", i, func(in *isa.Inst) {
					in.Args = slices.Clone(in.Args)
					in.Args[at].Off += 4
				})
			}
		},
		func(i int, in *isa.Inst) {
			if in.Mem.Width > 1 && in.Mem.Width <= 4 {
				one("narrower", i, func(in *isa.Inst) { in.Mem.Width /= 2 })
			}
		},
		func(i int, in *isa.Inst) {
			if in.Mem.Atom != "" {
				one("another operation", i, func(in *isa.Inst) { in.Mem.Atom = map[bool]string{true: "MAX", false: "ADD"}[in.Mem.Atom == "ADD"] })
			}
		},
		func(i int, in *isa.Inst) { // under the condition of another one
			for k := range f.Insts {
				if g := f.Insts[(i+k)%len(f.Insts)].Guard; g != in.Guard {
					one("under "+g.Reg.String(), i, func(in *isa.Inst) {
						if in.Guard = g; g.Reg.Class != isa.ClassNone {
							in.Uses = append(slices.Clone(in.Uses), g.Reg)
						}
					})
					return
				}
			}
		},
		func(i int, in *isa.Inst) { // far from where it stands
			to := rnd.IntN(len(f.Insts))
			if in.Target < 0 && f.Insts[to].Target < 0 && in.Flow == isa.FlowNext && f.Insts[to].Flow == isa.FlowNext {
				insts := slices.Clone(f.Insts)
				insts[i], insts[to] = insts[to], insts[i]
				add("exchanged", i, insts)
			}
		},
	} {
		var at []int
		for i := range f.Insts {
			if r := f.Insts[i].Role; r.IsAccess() || r == isa.RoleFence || r == isa.RoleBarrier || r == isa.RoleCache || (kind == 0 || kind == 5) && r == isa.RoleBranch {
				at = append(at, i)
			}
		}
		rnd.Shuffle(len(at), func(i, k int) { at[i], at[k] = at[k], at[i] })
		for _, i := range at[:min(len(at), most)] {
			each(i, &f.Insts[i])
		}
	}
	return names, out
}

// someOf are mutants of a kernel's PTX, at most two of a kind.
func someOf(all []mutant, kernel string) (some []mutant) {
	n := map[string]int{}
	for _, x := range all {
		if x.kernel == kernel {
			if n[x.kind]++; n[x.kind] <= 2 {
				some = append(some, x)
			}
		}
	}
	return some
}

// asked is what is said of a kernel's machine code if its PTX were another.
func (r *compiled) asked(t *testing.T, x mutant, code *isa.Func) *Result {
	t.Helper()
	m, err := ptx.Parse(r.m.File, []byte(apply(r.m.Lined(lineFile, ""), x.text)))
	if err != nil {
		return &Result{Unknown: []Finding{{Detail: err.Error()}}}
	}
	r.renumber(m, x.text)
	at := slices.IndexFunc(m.Funcs, func(f *ptx.Func) bool { return f.Name == x.kernel })
	return (&compiled{m: m, prog: r.prog, sm: r.sm}).said(m.Funcs[at], code)
}

// renumber gives the instructions of a module in which texts take the place of some the numbers that the machine code knows.
func (r *compiled) renumber(m *ptx.Module, by map[int]string) {
	var numbers []int
	for n := range r.m.Insts + 1 {
		times := 1
		if text, ok := by[n]; ok {
			times = strings.Count(text, ";")
		}
		numbers = append(numbers, slices.Repeat([]int{n}, times)...)
	}
	for _, f := range m.Funcs {
		for _, st := range f.Body {
			if st.Inst != nil {
				st.Inst.N = numbers[min(st.Inst.N, len(numbers)-1)]
			}
		}
	}
}

// inBrief is what is said, in brief, with a hash of it in full.
func inBrief(r *Result) string {
	var words, full []string
	h := fnv.New32a()
	fmt.Fprintf(h, "%+v", r.Count)
	for what, list := range map[string][]Finding{"": r.Findings, "?": r.Unknown, "!": r.Notes} {
		for _, f := range list {
			line := 0
			if f.First != nil {
				line = f.First.Pos.Line
			}
			words = append(words, fmt.Sprintf("%s%s@%d", what, f.Rule, line))
			full = append(full, f.Detail)
		}
	}
	slices.Sort(words)
	slices.Sort(full)
	fmt.Fprint(h, full)
	return fmt.Sprintf("%s %08x", strings.Join(words, " "), h.Sum32())
}

// TestStored: what is said of what real releases made of testdata is what was said of it, word by word, and so is what is said of it in
// brief after each of many changes. Where it shall be something else, -update writes it
// anew; -recompile compiles testdata anew.
func TestStored(t *testing.T) {
	data := zipped(t, "testdata/stored.gz", *recompile, func() []byte {
		var b bytes.Buffer
		enc := gob.NewEncoder(&b)
		for _, c := range compileStored(t) {
			require.NoError(t, enc.Encode(c))
		}
		return b.Bytes()
	})
	var out bytes.Buffer
	dec := gob.NewDecoder(bytes.NewReader(data))
	reports := map[string]*event.Run{}
	changes, noticed := 0, 0
	var want []byte
	if !*update {
		want = zipped(t, "testdata/stored.txt.gz", false, nil)
	}
	for *update || bytes.HasPrefix(want, out.Bytes()) { // else it is told below
		var s storedCode
		if err := dec.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "\n== %s %s %s %s\n", s.File, s.Toolchain, s.Target, s.Level)
		m, err := ptx.Parse(filepath.Base(s.File), []byte(s.Text))
		require.NoError(t, err)
		c := &Cell{File: m.File, Toolchain: s.Toolchain, Target: s.Target, Level: s.Level}
		runs, code := 0, &pipeline.Code{Program: s.Program}
		if s.Data != nil {
			runs = 1
			code.File, err = cubin.Parse(s.Data)
			require.NoError(t, err)
		}
		require.NoError(t, c.judge(t.Context(), m, nil, code, runs))
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		p := NewProgram(m, Origin{})
		for i := range p.Tests {
			require.NoError(t, enc.Encode(p.Tests[i]))
		}
		require.NoError(t, p.Events(c, func(e event.Event) error { return enc.Encode(e) }))
		for i := range c.Result.Kernels {
			fmt.Fprintf(&out, "%s: %+v\n", c.Result.Kernels[i].Name, c.Result.Kernels[i].Count)
		}
		for i := range c.Result.Executed {
			fmt.Fprintf(&out, "%s: %s\n", c.Result.Executed[i].Kernel, c.Result.Executed[i].Known())
		}
		key := s.Toolchain + s.Target
		if reports[key] == nil {
			reports[key] = event.NewRun()
			reports[key].Config = event.Config{Layouts: []string{event.OwnLayout}, Claims: Statement(len(reports))}
		}
		for i := range p.Tests {
			require.NoError(t, reports[key].Handle(event.Event{Test: &p.Tests[i]}))
		}
		require.NoError(t, p.Events(c, reports[key].Handle))
		r := &compiled{m: m, prog: s.Program, sm: number(s.Target)}
		for _, f := range Roots(m) {
			at := slices.IndexFunc(s.Program.Funcs, func(g *isa.Func) bool { return g.Name == f.Name })
			if at < 0 || s.File == "paths.ptx" { // whose graphs are large
				continue
			}
			honest := inBrief(r.said(f, s.Program.Funcs[at]))
			fmt.Fprintf(&out, "%s: %s\n", f.Name, honest)
			for _, x := range someOf(mutants(m), f.Name) {
				if says := inBrief(r.asked(t, x, s.Program.Funcs[at])); says != honest {
					fmt.Fprintf(&out, "  if %s: %s\n", x.what, says)
				}
			}
			names, list := edits(s.Program.Funcs[at], rand.New(rand.NewPCG(uint64(len(s.Program.Funcs[at].Insts)), 31)), 6)
			for i := range list {
				changes++
				if says := inBrief(r.said(f, list[i])); says != honest {
					noticed++
					fmt.Fprintf(&out, "  %s: %s\n", names[i], says)
				}
			}
		}
	}
	for i, key := range slices.Sorted(maps.Keys(reports)) {
		require.NoError(t, report.WriteText(&out, reports[key], report.TextOptions{Notes: i != 1, Cells: i > 0, Claims: i > 1}))
	}
	if *update {
		zipped(t, "testdata/stored.txt.gz", true, out.Bytes)
		return
	}
	if !bytes.Equal(want, out.Bytes()) {
		lines := strings.SplitN(string(diff.Diff("stored", want[:min(len(want), out.Len()+1000)], "now", out.Bytes())), "\n", 60)
		t.Fatalf("%.8000s", strings.Join(lines[:min(len(lines), 59)], "\n"))
	}
	t.Logf("%d changes, %d noticed", changes, noticed)
	require.Greater(t, noticed, 800)
}
