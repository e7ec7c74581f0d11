package litmus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"optcheck/internal/patient"
	"optcheck/internal/required"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// assemblers returns the installed releases of ptxas, oldest first.
func assemblers(t *testing.T) (list []*toolchain.Toolchain) {
	found, errs := tested.CUDA(context.Background(), toolchain.Options{})
	for _, e := range errs {
		t.Log(e)
	}
	for _, tc := range found {
		if tc.Ptxas != "" && tc.MaxPTX != "" {
			list = append(list, tc)
		}
	}
	if len(list) == 0 {
		required.Missing(t, "no ptxas found; make toolchains installs some")
	}
	slices.SortFunc(list, func(a, b *toolchain.Toolchain) int { return version(a.MaxPTX) - version(b.MaxPTX) })
	return list
}

// version returns the number of a PTX version: 84 for "8.4".
func version(s string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(s, ".", ""))
	return n
}

// smOf returns the number of a target: 90 for "sm_90a".
func smOf(target string) int {
	n, _ := strconv.Atoi(strings.Trim(target, "sm_a"))
	return n
}

// ptxVersions are the versions of PTX from 5.0 on that CUDA 8 to 12.4 brought.
var ptxVersions = []int{50, 60, 61, 62, 63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84}

// Registers are named after their width: w32 is one of 32 bits.
const preface = ".version %d.%d\n.target %s\n.address_size 64\n.visible .entry k(){\n" +
	".reg .b8 w8; .reg .b16 w16; .reg .b32 w32; .reg .b64 w64; .reg .pred w1;\n"

var diagnostic = regexp.MustCompile(`\.ptx, line (\d+); (?:error|fatal) *: (.*)`)

// ask returns what a ptxas says against each line, "" if it takes it; ok is false
// if it does not know the target in that version at all. If quick is set, a last line
// is wrong, so that ptxas reads the lines, but makes no code.
func ask(ctx context.Context, dir string, tc *toolchain.Toolchain, target string, v int, lines []string, quick bool) (verdicts []string, ok bool, err error) {
	head := fmt.Sprintf(preface, v/10, v%10, target)
	if v >= 83 && smOf(target) >= 70 {
		head += ".reg .b128 w128;\n"
	}
	first := strings.Count(head, "\n") + 1
	verdicts = make([]string, len(lines))
	file := filepath.Join(dir, fmt.Sprintf("%s-%s-%d.ptx", tc.Name, target, v))
	// A refused line may hide others, so drop what was refused and repeat.
	for {
		var b strings.Builder
		b.WriteString(head)
		for i, l := range lines {
			if verdicts[i] == "" {
				b.WriteString(l + ";")
			}
			b.WriteByte('\n')
		}
		if quick {
			b.WriteString("st.acquire.gpu.b32 [w64],w32;\n")
		}
		b.WriteString("ret; }\n")
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			return nil, false, err
		}
		out, failed := exec.CommandContext(ctx, tc.Ptxas, "-arch="+target, "-O0", "-o", file+".cubin", file).CombinedOutput()
		again := false
		for _, m := range diagnostic.FindAllStringSubmatch(string(out), -1) {
			line, _ := strconv.Atoi(m[1])
			if line < first {

				return nil, false, nil
			}
			if i := line - first; i < len(lines) && verdicts[i] == "" {
				verdicts[i], again = m[2], true
			}
		}
		if failed == nil || quick && !again && failed.Error() == "exit status 255" {
			return verdicts, true, nil
		}
		if !again {
			return nil, false, fmt.Errorf("%s %s: %w\n%s", tc.ID, target, failed, out)
		}
	}
}

// operandsFor gives the instruction registers of its type's width.
func operandsFor(in Instr) Instr {
	r := fmt.Sprint("w", in.Type.Bits())
	if in.Op.IsAccess() {
		in.Addr = Addr{Reg: "w64"}
	}
	if in.Op == OpLd || in.Op == OpAtom || in.Op >= OpMov && in.Op <= OpSelp {
		in.Dst = r
	}
	for range arity(&in) {
		in.Src = append(in.Src, Reg(r))
	}
	switch in.Op {
	case OpCvt:
		in.Src[0] = Reg(fmt.Sprint("w", in.FromType.Bits()))
	case OpSetp:
		in.Dst = "w1"
	case OpSelp:
		in.Src[2] = Reg("w1")
	case OpShl, OpShr:
		in.Src[1] = Reg("w32")
	}
	return in
}

// written returns the instructions of the list that PTX would write: with their
// types, and without what is of litmus tests alone.
func written(list []Instr) (out []Instr) {
	for _, in := range list {
		typed := in.Op.IsAccess() || in.Op >= OpMov && in.Op <= OpSelp
		if typed && in.Type == TypeNone || in.Op == OpCvt && in.FromType == TypeNone || in.Op >= OpBra || in.Op == OpNop || in.Op == OpBar ||
			in.Op == OpSetp && in.Cmp == CmpNone || in.Op == OpFenceProxy && in.Proxy == ProxyNone {
			continue
		}
		out = append(out, operandsFor(in))
	}
	return out
}

// TestGrammarAgainstPtxas asks every release of ptxas for every combination of
// modifiers, and for what the table says is PTX on every target in every version:
// each takes exactly what the table says, so that what is not there yet is known
// before a compiler says so. Without OPTCHECK_FULL=1 it is a slice: the whole span
// on one target of each release, and with the newest release the targets and versions
// that begin something.
func TestGrammarAgainstPtxas(t *testing.T) {
	full := os.Getenv("OPTCHECK_FULL") == "1"
	whole := written(span())
	legal := slices.DeleteFunc(slices.Clone(whole), func(in Instr) bool { return GPUPTX.form(&in) == nil })
	dir := t.TempDir()
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(2)
	releases := assemblers(t)
	for n, tc := range releases {
		newest := tc.Targets[len(tc.Targets)-1]
		asked, taken, pairs := 0, 0, 0
		for _, target := range tc.Targets {
			for _, v := range ptxVersions {
				top := v == version(tc.MaxPTX)
				begins := slices.Contains([]int{35, 50, 60, 70, 90}, smOf(target)) &&
					(top || n == len(releases)-1 && slices.Contains([]int{50, 60, 63, 75, 78, 82}, v))
				if v > version(tc.MaxPTX) || !full && !begins && !(top && target == newest) {
					continue
				}
				list := legal
				if top && (full || target == newest) {
					list = whole
				}
				group.Go(func() error {
					ctx, cancel := context.WithTimeout(ctx, patient.Long)
					defer cancel()
					lines := make([]string, len(list))
					for i := range list {
						lines[i] = list[i].String()
					}
					verdicts, ok, err := ask(ctx, dir, tc, target, v, lines, !full && target != newest)
					if err != nil || !ok {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					n := compare(t, fmt.Sprintf("%s %s PTX %d", tc.ID, target, v), list, verdicts, v, smOf(target))
					asked, taken, pairs = asked+len(list), taken+n, pairs+1
					return nil
				})
			}
		}
		require.NoError(t, group.Wait())
		group, ctx = errgroup.WithContext(context.Background())
		group.SetLimit(2)
		t.Logf("%s: %d combinations asked on %d pairs of target and version: %d taken, %d refused", tc.ID, asked, pairs, taken, asked-taken)
		require.Greater(t, taken, 3000)
	}
	require.Greater(t, len(whole), 60000)
	require.Greater(t, len(legal), 4000)
}

// compare reports where a ptxas and the table differ and returns how many
// instructions it took.
func compare(t *testing.T, where string, list []Instr, verdicts []string, v, sm int) (taken int) {
	wrong := 0
	for i := range list {
		in := &list[i]
		want := ""
		if msg, _ := GPUPTX.illegal(in); msg != "" {
			want = msg
		}
		for _, n := range in.Needs() {
			if n.PTX > v || n.SM > sm {
				want = fmt.Sprintf("%s needs PTX %d and sm_%d", n.What, n.PTX, n.SM)
			}
		}
		if verdicts[i] == "" {
			taken++
		}
		if (want == "") != (verdicts[i] == "") {
			if wrong++; wrong <= 10 {
				t.Errorf("%s: %s: ptxas says %q, the table %q", where, in, verdicts[i], want)
			}
		}
	}
	return taken
}

// lenient lists what ptxas takes and the dialect refuses, with the reason.
var lenient = []struct {
	form *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`^bar(\.cta)?\.(sync|arrive) \S+,(0|-32)$`), "the manual wants a positive multiple of the warp's size"},
	{regexp.MustCompile(`^barrier`), "without .aligned; its code is another one"},
	{regexp.MustCompile(`\.(uni|hi|wide|nc|v2|async)\b`), "not in the dialect"},
	{regexp.MustCompile(`\.pred\b`), "a second type that ptxas does not look at"},
}

// TestParserAgainstPtxas: the parser takes and refuses modifiers in any order and
// number as the newest ptxas does. Words are drawn from all that the parser knows;
// operands fit the last type.
func TestParserAgainstPtxas(t *testing.T) {
	tcs := assemblers(t)
	tc := tcs[len(tcs)-1]
	n, seed := 20000, uint64(13)
	if os.Getenv("OPTCHECK_FULL") == "1" {
		n = 400000
	}
	t.Logf("seed %d", seed)
	lines := append(randomLines(rand.New(rand.NewPCG(seed, 0)), n), barriers()...)
	var verdicts []string
	for some := range slices.Chunk(lines, 20000) { // more at once takes ptxas more than twice the time
		ctx, cancel := context.WithTimeout(context.Background(), patient.Long)
		list, ok, err := ask(ctx, t.TempDir(), tc, tc.Targets[len(tc.Targets)-1], version(tc.MaxPTX), some, false)
		cancel()
		require.NoError(t, err)
		require.True(t, ok)
		verdicts = append(verdicts, list...)
	}
	taken, excused, wrong := 0, 0, 0
	for i, line := range lines {
		lt, err := Parse("f", []byte("GPU_PTX t\n{ x=0; 0:.reg .b8 w8; 0:.reg .b16 w16; 0:.reg .b32 w32; 0:.reg .b64 w64 = x; 0:.reg .pred w1; }\nT0 ;\n"+line+" ;\n"))
		refused := err != nil
		if !refused {
			for _, need := range lt.Threads[0].Body[0].Needs() {
				refused = refused || need.PTX > version(tc.MaxPTX)
			}
		}
		if verdicts[i] == "" {
			taken++
		}
		switch why := excuse(line); {
		case refused == (verdicts[i] != ""):
		case refused && why != "":
			excused++
		default:
			if wrong++; wrong <= 20 {
				t.Errorf("%s: ptxas says %q, the parser %v", line, verdicts[i], err)
			}
		}
	}
	t.Logf("%s: %d lines, %d taken, %d refused, %d taken but not in the dialect, %d differ", tc.ID, len(lines), taken, len(lines)-taken, excused, wrong)
	require.Greater(t, taken, n/40)
}

func excuse(line string) string {
	for _, l := range lenient {
		if l.form.MatchString(line) {
			return l.why
		}
	}
	return ""
}

// randomLines draws instructions with random modifiers, most of them likely ones.
func randomLines(r *rand.Rand, n int) (lines []string) {
	vocabulary := slices.Concat(semNames[1:], scopeNames[1:], []string{"gl"}, spaceNames[1:], cacheNames[1:], proxyNames[1:], atomNames[1:AtomIncOne],
		cmpNames[1:], []string{"ls", "hi", "hs", "lo", "proxy", "sync", "arrive", "aligned", "uni"}, typeNames[1:], []string{"nc", "v2", "f32", "wide", "async"})
	legal := written(legalOf(GPUPTX))
	for range n {
		in := legal[r.IntN(len(legal))]
		if r.IntN(2) == 0 { // accesses are most of the list
			op := OpFence + Op(r.IntN(int(OpSelp-OpFence+1)))
			if i := slices.IndexFunc(legal, func(in Instr) bool { return in.Op == op }); i >= 0 {
				in = legal[i]
			}
		}
		words := strings.Split(string(appendMnemonic(nil, &in, GPUPTX)), ".")
		mods := words[1:]
		for range r.IntN(3) {
			word := vocabulary[r.IntN(len(vocabulary))]
			switch k := r.IntN(max(len(mods), 1)); {
			case len(mods) == 0 || r.IntN(3) == 0:
				mods = slices.Insert(mods, k, word)
			case r.IntN(2) == 0:
				mods = slices.Delete(mods, k, k+1)
			default:
				mods[k] = word
			}
		}
		r.Shuffle(len(mods), func(i, j int) { mods[i], mods[j] = mods[j], mods[i] })
		in.Type, in.FromType = TypeNone, TypeNone
		in.Atom = min(in.Atom, AtomAdd)
		for _, m := range mods {
			if typ := typeOf(m); typ != TypeNone && in.Type == TypeNone {
				in.Type = typ
			} else if typ != TypeNone {
				in.FromType = typ
			}
			if in.Op == OpAtom && m == "cas" {
				in.Atom = AtomCAS
			} else if in.Op == OpAtom && classOf(m) == clAtom && in.Atom != AtomCAS {
				in.Atom = AtomAdd
			}
		}
		in.Src, in.Dst = nil, ""
		if in.Type == TypeNone && words[0] != "fence" && words[0] != "membar" {
			continue // litmus tests may leave types out
		}
		in = operandsFor(in)
		lines = append(lines, strings.Join(append(words[:1], mods...), ".")+string(appendOperands(nil, &in, GPUPTX)))
	}
	return lines
}

func classOf(m string) class { cl, _ := classify(m); return cl }

// barriers are barriers with all kinds of operands.
func barriers() (lines []string) {
	for _, head := range []string{"bar.sync", "bar.cta.sync", "bar.arrive", "barrier.sync", "barrier.sync.aligned", "barrier.cta.arrive.aligned", "bar.sync.aligned", "bar", "bar.gpu.sync"} {
		for id := -1; id < 18; id++ {
			lines = append(lines, fmt.Sprintf("%s %d", head, id))
		}
		for _, count := range []int{-32, -1, 0, 1, 31, 32, 33, 64, 96, 100, 1024, 2048} {
			lines = append(lines, fmt.Sprintf("%s 1,%d", head, count))
		}
		lines = append(lines, head+" w32", head+" w32,w32", head+" 0,w32")
	}
	return lines
}

// TestAsyncFormsAgainstPtxas: ptxas takes each asynchronous operation from the version and the target on that the
// table names, and not before.
func TestAsyncFormsAgainstPtxas(t *testing.T) {
	forms := AsyncForms()
	var lines []string
	var since [][2]int
	add := func(f *AsyncForm, operands string) {
		in := Instr{Op: OpAsync, Async: f}
		for _, c := range operands {
			switch c {
			case 'd':
				if in.Dst = map[AsyncKind]string{MbarWait: "w1", MbarArrive: "w64"}[f.Kind]; f.Together() {
					in.Dst = fmt.Sprint("w", max(f.To.Bits(), 1))
				}
			case 'a':
				if a := (Addr{Reg: "w64"}); in.Addr == (Addr{}) {
					in.Addr = a
				} else {
					in.More = append(in.More, a)
				}
			case 'p':
				in.Src = append(in.Src, Reg("w1"))
			case 's':
				if f.Together() || f.Copies() {
					in.Src = append(in.Src, Const(map[bool]int64{true: 1, false: 16}[f.Together()]))
					continue
				}
				in.Src = []Operand{Const(16)}
				if f.Type != TypeNone {
					in.Src[0] = Reg(fmt.Sprint("w", f.Type.Bits()))
				} else if f.Kind == MbarWait {
					in.Src[0] = Reg(map[bool]string{true: "w32", false: "w64"}[f.Parity])
				} else if f.Kind == AsyncWait || f.Kind == BulkWait {
					in.Src[0] = Const(1)
				}
			case 'v':
				in.Src = append(in.Src, slices.Repeat([]Operand{Reg(fmt.Sprint("w", f.Type.Bits()))}, max(f.Vector, 1))...)
			}
		}
		lines = append(lines, strings.Replace(in.String(), "elect.sync ", "elect.sync w32|", 1))
		ptx, sm := in.since()
		since = append(since, [2]int{ptx, sm})
	}
	for i := range forms {
		less, _, optional := strings.Cut(forms[i].Operands, "?")
		add(&forms[i], less)
		if optional {
			add(&forms[i], strings.ReplaceAll(forms[i].Operands, "?", ""))
		}
	}
	asked := 0
	for _, tc := range assemblers(t) {
		for _, target := range []string{"sm_75", "sm_80", "sm_90"} {
			for _, v := range []int{63, 70, 71, 78, 80, 81, 84} {
				if v > version(tc.MaxPTX) || target == "sm_80" && v < 70 || target == "sm_90" && v < 78 || !slices.Contains(tc.Targets, target) {
					continue
				}
				var list []string
				var which []int
				for i := range lines { // words that a release does not know end its reading: once is enough
					if since[i][0] <= version(tc.MaxPTX) || v == 78 && target == "sm_80" {
						list, which = append(list, lines[i]), append(which, i)
					}
				}
				got, ok, err := ask(t.Context(), t.TempDir(), tc, target, v, list, true)
				require.NoError(t, err)
				require.True(t, ok, "%s %s %d", tc.ID, target, v)
				for k, i := range which {
					has := v >= since[i][0] && smOf(target) >= since[i][1]
					if has != (got[k] == "") {
						t.Errorf("%s %s PTX %d: %s: ptxas says %q", tc.ID, target, v, lines[i], got[k])
					}
					asked++
				}
			}
		}
	}
	require.Greater(t, asked, 300)
}

// TestWordsAgainstPtxas: ptxas takes each access of the table of words from the version and the target on that it names, and not before.
func TestWordsAgainstPtxas(t *testing.T) {
	var lines []string
	var of []*Word
	all := slices.Clone(wordTable)
	for i := range all {
		w := &all[i]
		for _, s := range w.Spaces {
			r := fmt.Sprint("w", w.Instr.Type.Bits())
			parts := make([]Instr, w.Parts)
			for k := range parts {
				parts[k] = spelled{w, s}.instr(k)
				parts[k].Dst, parts[k].Addr = r, Addr{Reg: "w64"}
				for range arity(&parts[k]) {
					parts[k].Src = append(parts[k].Src, Reg(r))
				}
			}
			if w.Whole {
				parts = parts[:1]
				parts[0].Dst = "w128"
				for n := range parts[0].Src {
					parts[0].Src[n] = Reg("w128")
				}
			}
			lines = append(lines, string(appendInstr(nil, parts, GPUPTX)))
			of = append(of, w)
		}
	}
	asked := 0
	for _, tc := range assemblers(t) {
		for _, at := range []struct {
			target string
			v      int
		}{{"sm_61", 50}, {"sm_61", 61}, {"sm_61", 62}, {"sm_70", 60}, {"sm_70", 84}, {"sm_80", 78}, {"sm_90", 78}, {"sm_90", 80}, {"sm_90", 81}, {"sm_90", 82}, {"sm_90", 83}} {
			if at.v > version(tc.MaxPTX) || !slices.Contains(tc.Targets, at.target) {
				continue
			}
			list := slices.Clone(lines)
			for i := range list {
				if of[i].Whole && at.v < 83 { // there are no such registers either
					list[i] = "unknown"
				}
			}
			got, ok, err := ask(t.Context(), t.TempDir(), tc, at.target, at.v, list, true)
			require.NoError(t, err)
			require.True(t, ok, "%s %s %d", tc.ID, at.target, at.v)
			for i := range lines {
				has := at.v >= of[i].PTX && smOf(at.target) >= of[i].SM
				if has != (got[i] == "") {
					t.Errorf("%s %s PTX %d: %s: ptxas says %q", tc.ID, at.target, at.v, lines[i], got[i])
				}
				asked++
			}
		}
	}
	require.Greater(t, asked, 5000)
}
