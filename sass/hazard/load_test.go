package hazard

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"optcheck/internal/required"
	"optcheck/isa"
	"optcheck/ptxgen"
	"optcheck/ptxgen/values"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/sass/dict"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// newest is the newest release that tests name and that is installed.
func newest(t testing.TB) *toolchain.Toolchain {
	t.Helper()
	discover := tested.CUDA
	if *cubins != "" { // of any compiler
		discover = toolchain.Discover
	}
	tcs, _ := discover(t.Context(), toolchain.Options{})
	var found *toolchain.Toolchain
	for _, tc := range tcs {
		if found == nil || tc.Release() > found.Release() {
			found = tc
		}
	}
	if found == nil {
		required.Missing(t, "no CUDA toolkit found")
	}
	return found
}

// headerVersion is the version of PTX that is compiled.
const headerVersion ptxgen.Version = 80

// compile compiles kernels.
func compile(t testing.TB, tc *toolchain.Toolchain, target, text string) []byte {
	t.Helper()
	res, err := tc.Compile(t.Context(), toolchain.Job{Target: target, Level: "O3", Header: ptxgen.Header(headerVersion, target),
		Units: []toolchain.Unit{{Name: "unit", Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range res.Failed {
		t.Fatal(err)
	}
	return res.Batches[0].Cubin
}

// decoded is a cubin with its functions.
type decoded struct {
	file *cubin.File
	prog *isa.Program
}

// decode reads the functions of a cubin with their control codes, by the encodings that were seen before, or from a listing.
// (Package pipeline, which does so, imports this one.)
func decode(t testing.TB, tc *toolchain.Toolchain, file string, data []byte) decoded {
	t.Helper()
	f, err := cubin.Parse(data)
	if err != nil {
		t.Fatal(file, err)
	}
	generation := dict.Generation(f.Arch())
	d := dicts[generation]
	if d == nil {
		name, _ := tc.Disassembler()
		d = dict.Open(filepath.Join(tc.Dictionaries(), tc.Release()+"-"+generation), name+" for "+generation)
		dicts[generation] = d
	}
	if d.Learn(t.Context(), tc.DisassembleRaw, f.Arch(), f) == nil {
		if p, err := d.Program(file, f); err == nil {
			return decoded{f, p}
		}
	}
	text, err := tc.Disassemble(t.Context(), data, toolchain.DisasmOptions{Encoding: true, Input: file})
	if err != nil {
		t.Fatal(err)
	}
	p, err := sass.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded{f, p}
}

var dicts = map[string]*dict.Dict{}

//go:embed testdata/waits.ptx
var waits string

// load reads the machine code of files; of testdata and of random kernels, made by the newest release, if none are named.
func load(t testing.TB, patterns string, f func(file string, fn *isa.Func)) {
	t.Helper()
	var found *toolchain.Toolchain
	tools := func() *toolchain.Toolchain { // listings need none
		if found == nil {
			found = newest(t)
		}
		return found
	}
	if patterns == "" {
		tc := tools()
		for _, fn := range decode(t, tc, "waits", compile(t, tc, "sm_90a", waits)).prog.Funcs {
			f("waits", fn)
		}
		for _, target := range []string{"sm_75", "sm_80", "sm_90"} {
			var text strings.Builder
			for n := range 12 {
				text.WriteString(values.Generate(7, n, values.Options{PTX: 70, SM: 70}).Text(fmt.Sprintf("k%d", n)))
			}
			prog := decode(t, tc, target, compile(t, tc, target, text.String())).prog
			for _, fn := range prog.Funcs {
				f(target, fn)
			}
		}
	}
	for _, p := range strings.Fields(patterns) {
		files, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			prog := &isa.Program{}
			if strings.HasSuffix(file, ".sass") { // a listing of nvdisasm -hex
				if prog, err = sass.Parse(file, data); err != nil {
					t.Log(file, err)
					continue
				}
			} else if f, err := cubin.Parse(data); err != nil || len(f.Funcs) > 0 {
				prog = decode(t, tools(), file, data).prog
			}
			for _, fn := range prog.Funcs {
				f(filepath.Base(file), fn)
			}
		}
	}
}
