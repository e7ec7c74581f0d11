package main

import (
	"bytes"
	"context"
	le "encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// subjects are what a command works on where its flags are tried; @run is an event stream that is right, @store a store.
// Commands that would wait for a browser or for the network get something that they refuse.
var subjects = map[string]string{
	"app cost": "mp", "app harden": "mp", "app list": "", "app test": "mp", "bench-gpu": "", "bench-ordering": "", "bug": "@run#1",
	"campaign attach": "@folder", "campaign run": "@run", "check": "@run", "config": "", "deps": "", "diff": "@run @run", "emulate": "@run",
	"gen": "", "gen cycle": "PodWW Rfe PodRR Fre", "hunt": "--for 1ms", "isa": "@run", "known list": "", "log check": "@run",
	"mapping": "ld.weak", "model compare": "sc tso mp", "model search": "sc tso mp", "reduce": "@run#1", "report": "@run", "serve": "@folder",
	"store export": "@store", "store gc": "@store", "toolchain list": "", "tune": "",
}

// hostileWords are what nobody names a toolchain, a target, a level, a layout, a rule or a file.
var hostileWords = []string{"", " ", "-", "--", "-o", "nvcc-12.4+", "+11.2", "12.4@", "cuda-12.4:", "..", "./x.so", "a,b,,", "99999999999999999999", "-1",
	"sm_80 -o x", "$(touch ran)", "x\x00y", "\xff\xfe", "é\u202e", "<script>", strings.Repeat("12.4,", 5000), "%s%n", "*", "[", "("}

// flagTrials try each flag that takes a text, with a file that is none and with a word that means nothing.
func flagTrials(r *rand.Rand, files []string, add func(kind, command, file string, t trial)) {
	for _, c := range visible(newRootCmd(&environment{getenv: func(string) string { return "" }})) {
		path := strings.TrimPrefix(c.CommandPath(), "optcheck ")
		subject, ok := subjects[path]
		if !ok {
			subject = "mp"
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "string", "stringSlice", "stringArray", "strings", "stringToInt64":
				command := path + " " + subject + " --" + f.Name + "=@"
				if r.IntN(2) == 0 {
					add("special file as a flag", command, anyOf(r, files...), trial{})
				} else {
					add("word as a flag", command, anyOf(r, hostileWords...), trial{})
				}
			}
		})
	}
}

// hostileTools are the folders of a release of ptxas and nvdisasm, and of an nvcc, for the corpus; "" for none.
func hostileTools(t *testing.T) (ptxas, nvcc string) {
	t.Helper()
	tcs, _ := tested.CUDA(context.Background(), toolchain.Options{})
	for _, tc := range tcs {
		if tc.Name == "cuda-12.4" {
			ptxas = filepath.Dir(tc.Ptxas)
		}
	}
	fronts, _ := tested.Fronts(context.Background(), toolchain.Options{})
	for _, tc := range fronts {
		if f, ok := tc.Kind.(*toolchain.Front); ok && tc.Name == "nvcc-12.4" {
			nvcc = filepath.Dir(f.Path)
		}
	}
	if ptxas == "" || nvcc == "" {
		required.Missing(t, "no ptxas 12.4 and nvcc 12.4")
	}
	return ptxas, nvcc
}

// modelTrials damage one letter of a word that a model uses twice and more.
func modelTrials(t *testing.T, dir string, r *rand.Rand) (trials []trial) {
	files, err := filepath.Glob("../../model/cat/lib/*.cat")
	require.NoError(t, err)
	used := regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9.-]*`)
	for i := range 40 {
		text, err := os.ReadFile(files[r.IntN(len(files))])
		require.NoError(t, err)
		bare := regexp.MustCompile(`(?s)\(\*.*?\*\)|"[^"]*"|\bas\s+[\w.-]+`).ReplaceAllFunc(text, func(b []byte) []byte { return bytes.Repeat([]byte(" "), len(b)) })
		all := used.FindAllIndex(bare, -1)
		if len(all) == 0 {
			continue
		}
		at := all[r.IntN(len(all))]
		word := string(bare[at[0]:at[1]])
		if len(regexp.MustCompile(`(^|[^\w.-])`+regexp.QuoteMeta(word)+`($|[^\w.-])`).FindAllIndex(bare, -1)) < 2 {
			continue
		}
		text[at[0]+r.IntN(len(word))] = '\x60'
		file := filepath.Join(dir, fmt.Sprintf("damaged%d.cat", i))
		require.NoError(t, os.WriteFile(file, text, 0o600))
		trials = append(trials, trial{Name: "damaged letter of " + word, Args: []string{"model", "mp", "--cat", file}, Must: true})
	}
	return trials
}

// storeTrials make stores of streams with words that mean nothing, and have commands read them.
func storeTrials(t *testing.T, dir string, r *rand.Rand) (trials []trial) {
	made := 0
	for i := 0; made < 12; i++ {
		require.Less(t, i, 1000)
		stream, kept := filepath.Join(dir, "strange.jsonl"), filepath.Join(dir, fmt.Sprintf("strange%d.store", made))
		require.NoError(t, os.WriteFile(stream, []byte(strangeStream(r)), 0o600))
		if Main(context.Background(), func(string) string { return "" }, strings.NewReader(""), io.Discard, io.Discard, []string{"store", "import", kept, stream}) != exitOK {
			continue
		}
		made++
		for _, c := range []string{"report @", "report @ --html @pages", "report @ --format sarif", "bug @#1 --out @bundle", "reduce @#1", "store export @",
			"store artefact extract @ 1 @files", "diff @ @"} {
			trials = append(trials, trial{Name: "store of strange words", Args: strings.Fields(strings.ReplaceAll(c, "@", kept))})
		}
	}
	return trials
}

// toolCorpus is what commands get that compile, disassemble or execute.
type toolCorpus struct {
	t           *testing.T
	r           *rand.Rand
	dir         string
	ptxas, nvcc string
	n           int
	trials      []trial
}

// write writes a file into the folder of the next trial.
func (c *toolCorpus) write(name string, data []byte) string {
	file := filepath.Join(c.dir, fmt.Sprint(c.n), name)
	require.NoError(c.t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(c.t, os.WriteFile(file, data, 0o600))
	return file
}

func (c *toolCorpus) add(kind string, must bool, args ...string) {
	c.n++
	c.trials = append(c.trials, trial{Name: kind, Args: args, Must: must, Tools: c.nvcc + ":" + c.ptxas, Dir: c.dir})
}

// toolTrials give programs, cubins, and names of compilers to commands that compile, disassemble or execute.
func toolTrials(t *testing.T, dir string, r *rand.Rand) []trial {
	c := &toolCorpus{t: t, r: r, dir: filepath.Join(dir, "tools")}
	c.ptxas, c.nvcc = hostileTools(t)
	source := c.write("good.ptx", []byte(someKernel))
	cubin := filepath.Join(c.dir, "good.cubin")
	out, err := exec.Command(filepath.Join(c.ptxas, "ptxas"), "-arch=sm_80", "-lineinfo", "-o", cubin, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	c.besideGood()
	c.programs(cubin)
	c.cubins(source, cubin)
	c.names()
	return c.trials
}

// shortAudit let an audit be short.
var shortAudit = []string{"--targets", "sm_80", "--levels", "O3", "--timeout", "5s", "-q"}

// besideGood are programs that are none beside ones that are.
func (c *toolCorpus) besideGood() {
	for i := range 12 {
		c.n++
		folder := filepath.Dir(c.write("a/good.ptx", []byte(someKernel)))
		c.write("a/bad.ptx", broken(c.r, []byte(someKernel)))
		more := [][]string{nil, {"--fail-on", "changed"}, {"--fail-on", "unknown"}, {"--format", "sarif"}, {"--execute", "0"}, {"--fail-on", "never"}}[i%6]
		c.add("syntax error beside a kernel", true, slices.Concat([]string{"audit", folder}, shortAudit, more)...)
	}
	for _, bad := range []string{"__global__ void k(int* p) { p[0] = ; }", "#include \"/dev/zero\"\n", "__global__ void k(int* p) { p[0] = 1;"} {
		c.n++
		folder := filepath.Dir(c.write("a/good.cu", []byte("__global__ void k(int* p) { p[threadIdx.x] = 1; }")))
		c.write("a/bad.cu", []byte(bad))
		c.add("syntax error beside CUDA C++", true, append([]string{"audit", folder, "--toolchains", "nvcc-12.4+12.4"}, shortAudit...)...)
	}
}

// programs are real ones that were changed at random, executed, emulated, and held against the cubin of another.
func (c *toolCorpus) programs(cubin string) {
	var sources [][]byte
	for _, p := range []string{"../../realcode/testdata/execute.ptx", "../../realcode/testdata/values.ptx", "../../realcode/testdata/patterns.ptx",
		"../../sass/lower/testdata/loops.ptx", "../../sass/lower/testdata/warp.ptx"} {
		data, err := os.ReadFile(p)
		require.NoError(c.t, err)
		sources = append(sources, data)
	}
	c.n++
	endless := ".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n" +
		"\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, 0;\nspin:\n\tadd.u32 %r1, %r1, 1;\n\tst.volatile.global.u32 [%rd1], %r1;\n\tbra spin;\n}\n"
	c.add("endless program, executed", false, append([]string{"audit", c.write("endless.ptx", []byte(endless))}, shortAudit...)...)
	for i := range 30 {
		c.n++
		source := mutate(c.r, sources[c.r.IntN(len(sources))], 1<<16)
		file := c.write("m.ptx", source)
		switch i % 3 {
		case 0:
			c.add("program, executed", false, append([]string{"audit", file, "--execute", "2"}, shortAudit...)...)
		case 1:
			c.add("program, emulated", false, "emulate", file, "--steps", "100000", "--kernel", anyKernel(c.r, source))
		case 2:
			c.add("program beside a cubin", false, "check", file, cubin, "--timeout", "5s")
		}
	}
}

// cubins have damaged sections.
func (c *toolCorpus) cubins(source, cubin string) {
	data, err := os.ReadFile(cubin)
	require.NoError(c.t, err)
	for i := range 60 {
		c.n++
		file := c.write("d.cubin", damage(c.r, data))
		switch i % 5 {
		case 0:
			c.add("damaged cubin", false, "isa", file, "--timeout", "2s")
		case 1:
			c.add("damaged cubin", false, "emulate", file, "--steps", "100000")
		case 2:
			c.add("damaged cubin", false, "audit", file, "--timeout", "2s", "-q")
		default:
			c.add("kernel and damaged cubin", false, "check", source, file, "--timeout", "2s")
		}
	}
}

// names are those of no toolchain.
func (c *toolCorpus) names() {
	for i, word := range hostileWords {
		if strings.ContainsAny(word, "\x00") || word == "" || word == "*" {
			continue
		}
		c.add("name of a toolchain", true, "audit", "mp", "--targets", "sm_80", "--levels", "O3", "-q", "--toolchains="+word)
		c.add("name of a toolchain", true, "bug", "mp@"+word+"/sm_80/O3:merged", "--out", filepath.Join(c.dir, fmt.Sprint("bug", i)))
	}
}

// anyKernel names a kernel of a module, if it has one.
func anyKernel(r *rand.Rand, source []byte) string {
	if all := regexp.MustCompile(`\.entry\s+(\w+)`).FindAllSubmatch(source, -1); len(all) > 0 {
		return string(all[r.IntN(len(all))][1])
	}
	return "k"
}

// broken is a module with an error of syntax.
func broken(r *rand.Rand, good []byte) []byte {
	lines := bytes.SplitAfter(bytes.Clone(good), []byte("\n"))
	i := 4 + r.IntN(len(lines)-6)
	switch r.IntN(4) {
	case 0:
		lines[i] = append([]byte("\tst.global.u32 [%nothing], ;\n"), lines[i]...)
	case 1:
		lines[i] = append([]byte("\t)(\n"), lines[i]...)
	case 2:
		lines[i] = append([]byte("\tld.globe.u32 %r1, [%rd1];\n"), lines[i]...)
	case 3:
		lines = lines[:i]
	}
	return bytes.Join(lines, nil)
}

// damage changes an ELF file where its sections are: their headers, their names, or what they hold.
func damage(r *rand.Rand, data []byte) []byte {
	out := bytes.Clone(data)
	table, sections := int(le.LittleEndian.Uint64(data[0x28:])), int(le.LittleEndian.Uint16(data[0x3c:]))
	for range 1 + r.IntN(3) {
		i := r.IntN(sections)
		header := out[table+64*i:][:64]
		strange := []uint64{0, 1, 3, 16, 1 << 20, 1 << 31, 1 << 40, 1<<64 - 1, uint64(len(data)), uint64(len(data)) - 1, r.Uint64()}
		value := strange[r.IntN(len(strange))]
		switch r.IntN(6) {
		case 0: // name, type
			le.LittleEndian.PutUint32(header[4*r.IntN(2):], uint32(value))
		case 1, 2: // flags, address, offset, size, and those of the entries
			le.LittleEndian.PutUint64(header[[]int{8, 16, 24, 32, 48, 56}[r.IntN(6)]:], value)
		case 3: // link, info
			le.LittleEndian.PutUint32(header[40+4*r.IntN(2):], uint32(value))
		default:
			was := data[table+64*i:]
			from, size := le.LittleEndian.Uint64(was[24:]), le.LittleEndian.Uint64(was[32:])
			if size > 0 && from+size <= uint64(len(out)) {
				part := out[from:][:size]
				for range 1 + r.IntN(8) {
					part[r.IntN(len(part))] = []byte{0, 0xff, byte(r.Uint32())}[r.IntN(3)]
				}
			}
		}
	}
	if r.IntN(8) == 0 {
		out = out[:r.IntN(len(out))]
	}
	return out
}

// someKernel is a kernel with a loop, a barrier, shared memory and a fence.
const someKernel = `.version 7.1
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<3>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 s[512];
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, 0;
	and.b32 %r6, %r2, 127;
	shl.b32 %r6, %r6, 2;
	mov.u32 %r7, s;
	add.u32 %r7, %r7, %r6;
loop:
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, %r1;
	@%p1 bra loop;
	st.shared.u32 [%r7], %r3;
	bar.sync 0;
	ld.shared.u32 %r4, [%r7];
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	membar.gl;
	st.relaxed.gpu.global.u32 [%rd3], %r4;
	ret;
}
`
