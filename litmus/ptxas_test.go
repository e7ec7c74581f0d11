package litmus

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// findPtxas returns a ptxas that knows PTX ISA 8.4 (CUDA 12.4 or later).
func findPtxas(t *testing.T) string {
	dirs := filepath.SplitList(os.Getenv("OPTCHECK_TOOLCHAIN_DIRS"))
	if len(dirs) == 0 {
		cache, err := os.UserCacheDir()
		require.NoError(t, err)
		dirs, err = filepath.Glob(filepath.Join(cache, "optcheck", "toolchains", "*", "root", "usr", "bin"))
		require.NoError(t, err)
	}
	release := regexp.MustCompile(`release (\d+)\.(\d+)`)
	for _, d := range dirs {
		path := filepath.Join(d, "ptxas")
		out, err := exec.Command(path, "--version").Output()
		if err != nil {
			continue
		}
		if m := release.FindStringSubmatch(string(out)); m != nil {
			major, _ := strconv.Atoi(m[1])
			minor, _ := strconv.Atoi(m[2])
			if major > 12 || major == 12 && minor >= 4 {
				return path
			}
		}
	}
	if os.Getenv("OPTCHECK_REQUIRE_TOOLS") == "1" {
		t.Fatal("no ptxas of CUDA 12.4 or later found")
	}
	t.Skip("no ptxas of CUDA 12.4 or later found")
	return ""
}

// allInstrs returns every combination of qualifiers and types that Check
// judges. Registers are named after their width: w32 is one of 32 bits.
func allInstrs() (list []Instr) {
	for op := OpLd; op <= OpRed; op++ {
		for i := range int(SemSC+1) * int(ScopeSys+1) * int(Shared+1) * int(CacheWT+1) {
			in := Instr{Op: op, Type: U32, Addr: Addr{Reg: "w64"}}
			in.Sem, i = Sem(i%int(SemSC+1)), i/int(SemSC+1)
			in.Scope, i = Scope(i%int(ScopeSys+1)), i/int(ScopeSys+1)
			in.Space, i = Space(i%int(Shared+1)), i/int(Shared+1)
			in.Cache = CacheOp(i)
			if op == OpAtom || op == OpRed {
				if in.Atom = AtomAdd; in.Cache != CacheNone {
					continue
				}
			}
			list = append(list, operandsFor(in, "w32"))
		}
		for typ := B8; typ <= Pred; typ++ {
			in := Instr{Op: op, Type: typ, Addr: Addr{Reg: "w64"}}
			if op == OpLd || op == OpSt {
				list = append(list, operandsFor(in, ""))
				continue
			}
			for in.Atom = AtomAdd; in.Atom <= AtomMax; in.Atom++ {
				list = append(list, operandsFor(in, ""))
			}
		}
	}
	for sem := SemNone; sem <= SemSC; sem++ {
		for scope := ScopeNone; scope <= ScopeSys; scope++ {
			list = append(list, Instr{Op: OpFence, Sem: sem, Scope: scope})
		}
	}
	for scope := ScopeCTA; scope <= ScopeSys; scope++ {
		list = append(list, Instr{Op: OpMembar, Scope: scope})
	}
	for op := OpMov; op <= OpSelp; op++ {
		for typ := B8; typ <= Pred; typ++ {
			in := Instr{Op: op, Type: typ}
			switch op {
			case OpCvt:
				for in.FromType = B8; in.FromType <= Pred; in.FromType++ {
					list = append(list, operandsFor(in, ""))
				}
				continue
			case OpSetp:
				in.Cmp = CmpLt
				list = append(list, operandsFor(in, ""))
				in.Cmp = CmpEq
			}
			list = append(list, operandsFor(in, ""))
		}
	}
	return list
}

// operandsFor gives the instruction registers of its type's width.
func operandsFor(in Instr, r string) Instr {
	if r == "" {
		r = fmt.Sprint("w", in.Type.Bits())
	}
	if in.Op != OpSt && in.Op != OpRed {
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

// TestQualifiersAgainstPtxas: Check takes exactly what the real assembler
// takes, over all combinations of qualifiers and types.
func TestQualifiersAgainstPtxas(t *testing.T) {
	ptxas := findPtxas(t)
	list := allInstrs()
	const preface = ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(){\n" +
		".reg .b8 w8; .reg .b16 w16; .reg .b32 w32; .reg .b64 w64; .reg .pred w1;\n"
	rejected := make([]bool, len(list))
	diagnostic := regexp.MustCompile(`line (\d+); (?:error|fatal) *:`)
	dir := t.TempDir()
	// A rejected line may hide others, so drop what was rejected and repeat.
	for again := true; again; {
		again = false
		var b strings.Builder
		b.WriteString(preface)
		for i := range list {
			if !rejected[i] {
				b.WriteString(list[i].String() + ";")
			}
			b.WriteByte('\n')
		}
		b.WriteString("ret; }\n")
		file := filepath.Join(dir, "k.ptx")
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
		ctx, cancel := context.WithTimeout(context.Background(), patient.Long)
		out, err := exec.CommandContext(ctx, ptxas, "-arch=sm_90", "-O0", "-o", filepath.Join(dir, "k.cubin"), file).CombinedOutput()
		cancel()
		for _, m := range diagnostic.FindAllStringSubmatch(string(out), -1) {
			line, _ := strconv.Atoi(m[1])
			if i := line - 1 - strings.Count(preface, "\n"); i >= 0 && i < len(list) && !rejected[i] {
				rejected[i], again = true, true
			}
		}
		require.False(t, err != nil && !again, "%s", out)
	}
	good, bad := 0, 0
	for i := range list {
		in := &list[i]
		if in.Op == OpFence && (in.Sem == SemAcquire || in.Sem == SemRelease) {
			continue // PTX ISA 8.6, which not every ptxas here knows
		}
		msg := qualifiers(in)
		if msg == "" {
			msg = typed(in)
		}
		if rejected[i] {
			bad++
		} else {
			good++
		}
		if (msg != "") != rejected[i] {
			t.Errorf("%s: ptxas rejects: %v, Check says %q", in, rejected[i], msg)
		}
	}
	t.Logf("ptxas takes %d and rejects %d instructions", good, bad)
	require.Greater(t, good, 200)
	require.Greater(t, bad, 1000)
}
