package x86

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/isa"
)

// object reads a shared object of PoCL's; package audit/device makes them.
func object(t testing.TB, name string) (file []byte, kernel string) {
	t.Helper()
	file, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	f, err := elf.NewFile(bytes.NewReader(file))
	require.NoError(t, err)
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	for _, s := range symbols {
		if k, ok := strings.CutSuffix(s.Name, "_workgroup"); ok {
			return file, strings.TrimPrefix(k, "_pocl_kernel_")
		}
	}
	t.Fatal("no kernel")
	return nil, ""
}

// TestObjdump: code is cut into the instructions into which binutils cut it, and their
// operations have the same names but for synonyms.
func TestObjdump(t *testing.T) {
	tool, err := exec.LookPath("objdump")
	if err != nil {
		required.Missing(t, "no objdump")
	}
	line := regexp.MustCompile(`^ *([0-9a-f]+):\t(.*)$`)
	files, err := filepath.Glob("testdata/*.so")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	n := 0
	for _, path := range files {
		file, kernel := object(t, filepath.Base(path))
		code, at, err := Code(file, WorkGroup(kernel))
		require.NoError(t, err)
		fn, err := Func(kernel, code, at)
		require.NoError(t, err)
		texts := map[uint64]string{}
		for i := range fn.Insts {
			texts[fn.Insts[i].Addr] = fn.Insts[i].Text
		}
		out, err := exec.Command(tool, "-d", "-M", "intel", "--no-show-raw-insn", "--disassemble="+WorkGroup(kernel), path).Output()
		require.NoError(t, err)
		for _, l := range strings.Split(string(out), "\n") {
			m := line.FindStringSubmatch(l)
			if m == nil {
				continue
			}
			addr, err := strconv.ParseUint(m[1], 16, 64)
			require.NoError(t, err)
			text, ok := texts[addr]
			require.True(t, ok, "no instruction at %x: %s", addr, m[2])
			require.Equal(t, synonym(operation(m[2])), synonym(operation(text)), "%s and %s", m[2], text)
			delete(texts, addr)
			n++
		}
		require.Empty(t, texts)
	}
	require.Greater(t, n, 500)
}

// operation returns the mnemonic without prefixes.
func operation(text string) string {
	for _, w := range strings.Fields(text) {
		switch w {
		case "lock", "data16", "cs", "rep":
		default:
			return w
		}
	}
	return ""
}

var synonyms = strings.NewReplacer("jz", "je", "jnz", "jne", "cmovz", "cmove", "cmovnz", "cmovne", "setz", "sete", "setnz", "setne",
	"jnb", "jae", "jnbe", "ja", "jna", "jbe", "jnl", "jge", "jnle", "jg", "jng", "jle", "cmovnb", "cmovae", "setnb", "setae")

func synonym(op string) string {
	if op == "xchg" {
		return "nop" // of ax with itself
	}
	return synonyms.Replace(op)
}

// TestKernels: an archive is read by the names of its members; a damaged one is refused.
func TestKernels(t *testing.T) {
	file, kernel := object(t, "cas-sl.so")
	name := "/" + kernel + "/0-0-0/" + kernel + ".so"
	archive := append(binary.LittleEndian.AppendUint32([]byte("poclbin"), uint32(len(name))), name...)
	archive = append(binary.LittleEndian.AppendUint32(archive, uint32(len(file))), file...)
	p, err := Kernels(archive)
	require.NoError(t, err)
	require.Len(t, p.Funcs, 1)
	require.Equal(t, kernel, p.Funcs[0].Name)
	require.Empty(t, p.Problems)
	for _, bad := range [][]byte{nil, archive[:len(archive)-1], bytes.Replace(archive, []byte("/0-0-0/"), []byte("/8-1-1/"), 1)} {
		_, err := Kernels(bad)
		require.ErrorIs(t, err, isa.ErrNoCode)
	}
	p, err = Kernels(bytes.Replace(archive, []byte("\x7fELF"), []byte("\x7fELX"), 1))
	require.NoError(t, err)
	require.Len(t, p.Problems, 1)
}

// TestUnknown: what is not understood is unknown, and never skipped.
func TestUnknown(t *testing.T) {
	for name, code := range map[string][]byte{
		"vector":          {0xc5, 0xf9, 0x6f, 0x07},             // vmovdqa xmm0, [rdi]
		"segment":         {0x64, 0x8b, 0x07},                   // mov eax, fs:[rdi]
		"unlocked xadd":   {0x0f, 0xc1, 0x0f},                   // xadd [rdi], ecx
		"unlocked cas":    {0x0f, 0xb1, 0x0f},                   // cmpxchg [rdi], ecx
		"second byte":     {0x88, 0xe0},                         // mov al, ah
		"string":          {0xf3, 0xa4},                         // rep movsb
		"non-temporal":    {0x0f, 0xc3, 0x07},                   // movnti [rdi], eax
		"locked 16 bits":  {0x66, 0xf0, 0x01, 0x07},             // lock add [rdi], ax
		"byte exchange":   {0x86, 0x07},                         // xchg [rdi], al
		"jump elsewhere":  {0xe9, 0x00, 0x01, 0x00, 0x00},       // jmp out of the function
		"processor state": {0x0f, 0xa2},                         // cpuid
		"indexed vector":  {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x07}, // vmovups zmm0, [rdi]
	} {
		fn, err := Func("f", append(code, 0xc3), 0x1000)
		require.NoError(t, err, name)
		require.Equal(t, isa.RoleUnknown, fn.Insts[0].Role, name)
	}
	_, err := Func("f", []byte{0x90, 0x06}, 0x1000)
	require.ErrorContains(t, err, "f+0x1: no instruction that is known")
}

// TestMemory: what instructions do to memory.
func TestMemory(t *testing.T) {
	type access struct {
		role  isa.Role
		atom  string
		width int
	}
	for name, x := range map[string]struct {
		code []byte
		want []access
	}{
		"mov eax, [rdi]":          {[]byte{0x8b, 0x07}, []access{{isa.RoleLoad, "", 4}}},
		"mov [rdi], rax":          {[]byte{0x48, 0x89, 0x07}, []access{{isa.RoleStore, "", 8}}},
		"add [rdi], eax":          {[]byte{0x01, 0x07}, []access{{isa.RoleLoad, "", 4}, {isa.RoleStore, "", 4}}},
		"lock add [rdi], eax":     {[]byte{0xf0, 0x01, 0x07}, []access{{isa.RoleReduction, "ADD", 4}}},
		"lock xadd [rdi], eax":    {[]byte{0xf0, 0x0f, 0xc1, 0x07}, []access{{isa.RoleAtomic, "ADD", 4}}},
		"xchg [rdi], eax":         {[]byte{0x87, 0x07}, []access{{isa.RoleAtomic, "EXCH", 4}}},
		"lock cmpxchg [rdi], ecx": {[]byte{0xf0, 0x0f, 0xb1, 0x0f}, []access{{isa.RoleAtomic, "CAS", 4}}},
		"mfence":                  {[]byte{0x0f, 0xae, 0xf0}, []access{{isa.RoleFence, "", 0}}},
		"lock or [rsp-64], 0":     {[]byte{0xf0, 0x83, 0x4c, 0x24, 0xc0, 0x00}, []access{{isa.RoleFence, "", 0}}},
		"push rbx":                {[]byte{0x53}, []access{{isa.RoleStore, "", 8}}},
	} {
		fn, err := Func("f", append(x.code, 0xc3), 0x1000)
		require.NoError(t, err)
		var got []access
		for i := range fn.Insts {
			if in := &fn.Insts[i]; in.Role.IsAccess() || in.Role == isa.RoleFence {
				got = append(got, access{in.Role, in.Mem.Atom, in.Mem.Width})
			}
		}
		require.Equal(t, x.want, got, name)
	}
}

// FuzzFunc: no bytes make the reader panic, and each instruction is inside.
func FuzzFunc(f *testing.F) {
	file, kernel := object(f, "cas-sl.so")
	code, at, err := Code(file, WorkGroup(kernel))
	require.NoError(f, err)
	f.Add(code)
	f.Add([]byte{0x66, 0xf0, 0x01, 0x07})
	f.Fuzz(func(t *testing.T, code []byte) {
		fn, err := Func("f", code, at)
		if err != nil {
			return
		}
		for i := range fn.Insts {
			if a := fn.Insts[i].Addr; a < at || a >= at+uint64(len(code)) {
				t.Fatalf("instruction at 0x%x", a)
			}
		}
		_, _ = Kernels(code)
	})
}
