package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// foreignLines are what commands plausibly work on in a folder of somebody else's, by command. Words in braces stand for
// one of foreignFiles. A command that is not here gets any files.
var foreignLines = map[string][]string{
	"app cost": {"mp", "{yaml}"}, "app harden": {"mp", "{yaml}"}, "app list": {"", "{yaml}"}, "app test": {"mp", "{yaml}"},
	"audit": {"mp {narrow}", "{ptx} {narrow}", "{ptx} {ptx} {narrow}", "{cu} {narrow}", "{any} {narrow}", ". {narrow}", "{litmus} {narrow}",
		"mp {narrow} --store {store}", "mp {narrow} --html {out}", "mp {narrow} --output {new}", "{ptx} {narrow} --keep-code {out}",
		"mp {narrow} --engine local --folder {out} --store {store}", "mp {narrow} --known {yaml}", "mp {narrow} --model {cat}"},
	"bench-gpu": {""}, "bench-ordering": {""}, "bug": {"{finding} --out {out}", "{finding} --zip {new}", "{finding} --log {any} --out {out}"},
	"campaign attach": {"{folder}"}, "campaign cancel": {"{folder}"}, "campaign init": {"", "{yaml}"}, "campaign run": {"{yaml}"},
	"campaign status": {"{folder}"}, "check": {"{any}", "{ptx} k.cubin", "{ptx} damaged.cubin", "{any} --against {any}", "k.cubin --against {litmus}"}, "config": {"", "--json"},
	"convert": {"--to lisa {litmus} --out {out}", "--to opencl {litmus}", "--to lisa mp --out {out}"}, "deps": {"{narrow}", "{narrow} --json"},
	"devices": {""}, "diff": {"{stream} {stream}", "{store} {stream}", "{stream} {stream} --mapping {any}"}, "disturbance": {"mp {narrow}"},
	"emit": {"{litmus} --targets sm_80"}, "emulate": {"{ptx} --steps 9999", "k.cubin --steps 9999", "damaged.cubin --steps 9999"},
	"explain": {"", "crash", "{any}"}, "gen": {"--config {yaml} --count", "--presets quick --names", "--presets quick --out {out}", "--presets {any}"},
	"gen cycle": {"PodWW Rfe PodRR Fre", "{any}"}, "gen name": {"mp", "{litmus}"}, "hunt": {"--for 1ms {narrow}", "--for 1ms --store {store} {narrow}",
		"--for 1ms --bundles {out} {narrow}", "--for 1ms --values {narrow}"},
	"isa": {"{any}", "k.cubin --hazards", "damaged.cubin", "damaged.cubin --hazards"}, "issues": {"{stream}", "{store}"}, "known list": {"--known {yaml}", "{yaml}"},
	"lift": {"mp {narrow}", "{litmus} {narrow}"}, "log check": {"{any}", "{any} --cat {cat}"}, "mapping": {"ld.weak* {narrow}", "ld.weak* {narrow} --html {out}"},
	"merge": {"{store} {stream}", "{store} {stream} {stream}", "{store} {store}"}, "model": {"mp --cat {cat}", "{litmus} --model {cat}", "{litmus}"},
	"model compare": {"ptx {cat} mp", "sc tso {litmus}"}, "model search": {"sc tso {litmus}", "ptx {cat} mp"}, "models": {"", "{cat}"},
	"reduce": {"{finding}", "{finding} --out {new}", "--check {finding}"}, "replay": {"{folder}", "{finding}", "{any}"},
	"report": {"{stream}", "{store}", "{stream} --html {out}", "{stream} --report sarif={new}", "{stream} --known {yaml}", "{stream} --format github"},
	"run":    {"mp", "mp --cubins {folder}", "{litmus}"}, "store artefact extract": {"{store} 1 {out}"}, "store artefact get": {"{store} {any}"},
	"store artefact list": {"{store}"}, "store artefact put": {"{store} name {any}"}, "store check": {"{store}", "{stream}"},
	"store export": {"{store}", "{store} --output {new}"}, "store gc": {"{store}"}, "store import": {"{store} {stream}"}, "store info": {"{store}"},
	"store merge": {"{store} {stream}", "{store} {store}"}, "tests": {"{litmus}", ".", "{litmus} --print"}, "toolchain add": {"{archive}"},
	"toolchain driver": {"{out}"}, "toolchain list": {""}, "toolchain remove": {"{any}"}, "toolchain verify": {"", "{any}"}, "tune": {""},
	"verify": {"{ptx}", "{any}", "{cu}"},
}

// foreignFiles are words for files of a foreign folder, by what they seem to be.
var foreignFiles = map[string][]string{
	"any": {"own.txt", "fifo", "zero", "link", "linked", "huge.ptx", "k.ptx", "bad.ptx", "evil.so", "bytes.litmus", "utf16.ptx", "run.jsonl", "kept.db", "sub",
		"-", "..", "nothing", "@evil", "optcheck", "bomb.gz", "ptxas", "bad\xff.ptx", "archive.tar.gz", "k.cu", "optcheck.yaml", "k.cubin", "damaged.cubin", "good.jsonl", "good.db"},
	"ptx":     {"k.ptx", "k.ptx", "@evil.ptx", "./-o.ptx", "--output-file=own.ptx", "much.ptx", "spin.ptx", "bad.ptx", "fifo.ptx", "zero.ptx", "huge.ptx", "utf16.ptx", "deep.ptx", "bad\xff.ptx", "include.ptx"},
	"cu":      {"k.cu", "include.cu", "made.cu", "pipe.cu", "itself.cu", "pragma.cu", "fifo.cu"},
	"yaml":    {"c.yaml", "optcheck.yaml", "fifo.yaml", "zero.yaml", "alias.yaml", "huge.yaml", "program.yaml", "gen.yaml", "linked"},
	"cat":     {"evil.cat", "fifo.cat", "loop.cat", "link/x.cat", "./zero.cat", "huge.cat"},
	"litmus":  {"mp", "path.litmus", "bytes.litmus", "deep.litmus", ".", "sub", "link", "fifo.litmus"},
	"stream":  {"run.jsonl", "good.jsonl", "good.jsonl", "bomb.gz", "fifo", "zero", "huge.jsonl", "linked", "own.txt"},
	"store":   {"good.db", "good.db", "damaged.db", "kept.db", "new.db", "x.db", "link/new.db", "linked", "run.jsonl", "fifo", "huge.db", "sub/link/x.db", "hard"},
	"finding": {"good.jsonl#1", "good.db#1", "run.jsonl#1", "run.jsonl#3", "kept.db#1", "mp@12.4/sm_80/O0:merged", "k.ptx@12.4/sm_80/O3:17", "bad.ptx@12.4/sm_80/O3:1", "k.ptx", "k.cu@x/sm_80/O3:crash", "zero#1", "fifo#1"},
	"folder":  {"bundle", "nightly.campaign", "sub", "link", "out", ".", "linked", "theirs"},
	"out":     {"fresh", "out", "bundle", "link", "linked", "hard", "sub/link", "nightly.campaign", "link/new", "fifo", "/dev/full", "zero"},
	"new":     {"new.file", "link/new.file", "linked", "fifo", "/dev/full", "sub/link/new.file", "hard", "hard", "evil.so/x", "nowhere/new.file"},
	"archive": {"archive.tar.gz", "bomb.gz", "huge.db", "fifo", "own.txt", "linked", "archive.whl"},
	"narrow":  {"--targets sm_80 --levels O0 --timeout 5s"},
}

// neverAlone are commands that only the user's own wish explains: they grant trust, wait for a browser, or use the network;
// and those of the shell.
var neverAlone = []string{"trust", "serve", "toolchain install", "completion", "help", "campaign task"}

// foreignWords are values of flags.
var foreignWords = append([]string{"sm_80", "O0", "12.4", "own.txt2", "fifo", "zero", "link", "link/new", "fresh", "linked", "c.yaml", "./evil.so", "evil.cat", "2", "ptx"}, hostileWords...)

// theUsersOwn are flags by which the user himself names programs, arguments of programs, or files to be replaced.
var theUsersOwn = []string{"config", "toolchain-dirs", "ptxas-flags", "flags", "include", "I", "addr", "for", "engine"}

// fillForeign adds to a folder the files that random command lines name.
func (a *attack) fillForeign() {
	in := func(name string) string { return filepath.Join(a.here, name) }
	sparse := func(name string) {
		a.write(in(name), "x")
		require.NoError(a.t, os.Truncate(in(name), 6<<30))
	}
	for _, name := range []string{"huge.ptx", "huge.db", "huge.cat", "huge.yaml", "huge.jsonl"} {
		sparse(name)
	}
	for _, name := range []string{"zero", "zero.ptx", "zero.yaml", "zero.cat"} {
		require.NoError(a.t, os.Symlink("/dev/zero", in(name)))
	}
	for name, text := range map[string]string{
		"k.cu":                  "__global__ void k(int* p) { p[threadIdx.x] = 1; }\n",
		"include.cu":            "#include \"/etc/passwd\"\n#include \"../precious/file\"\n__global__ void k(int* p) { p[0] = 1; }\n",
		"made.cu":               "#define HASH #\nHASH include \"../precious/file\"\n__global__ void k(int* p) { p[0] = 1; }\n",
		"pipe.cu":               "#include \"fifo\"\n__global__ void k(int* p) { p[0] = 1; }\n",
		"itself.cu":             "#include \"itself.cu\"\n#include \"itself.cu\"\n__global__ void k(int* p) { p[0] = 1; }\n",
		"@evil.ptx":             someKernel,
		"-o.ptx":                someKernel,
		"--output-file=own.ptx": someKernel,
		"much.ptx":              strings.Replace(someKernel, ".param .u32 n", ".param .u32 n, .param .b8 much[2147483647]", 1),
		"spin.ptx":              strings.Replace(someKernel, "loop:", "spin:\n\tld.acquire.gpu.global.u32 %r4, [%rd1];\n\tbra spin;\nloop:", 1),
		"pragma.cu":             "#pragma clang __debug crash\n#pragma comment(lib, \"evil\")\n__global__ void k(int* p) { p[0] = 1; }\n",
		"include.ptx":           strings.Replace(someKernel, "loop:", ".loc 1 1 1\n\t.pragma \"-o own.txt\";\nloop:", 1) + "\n.file 1 \"../precious/file\"\n",
		"deep.ptx":              strings.Replace(someKernel, "loop:", strings.Repeat("{", 5000)+strings.Repeat("}", 5000)+"\nloop:", 1),
		"utf16.ptx":             "\xff\xfe.\x00v\x00e\x00r\x00",
		"bad\xff.ptx":           strings.ReplaceAll(someKernel, "k(", "k\xff("),
		"bytes.litmus":          "GPU_PTX \xff\xfe\n{}\n T0 ;\n st.s32 [x],1 ;\nexists (x=1)\n",
		"path.litmus":           "GPU_PTX ../precious/file\n{}\n T0@cta 0 | T1@cta 1 ;\n st.s32 [x],1 | ld.s32 r0,[x] ;\nexists (1:r0=1)\n",
		"deep.litmus":           "GPU_PTX deep\n{}\n T0 ;\n st.s32 [x],1 ;\nexists (" + strings.Repeat("(", 3000) + "x=1" + strings.Repeat(")", 3000) + ")\n",
		"evil.cat":              "evil\ninclude \"../precious/file\"\ninclude \"fifo.cat\"\nacyclic po\n",
		"loop.cat":              "loop\ninclude \"loop.cat\"\nlet rec r = r ; r | po\nacyclic r\n",
		"alias.yaml":            "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nname: x\ntests: *c\n",
		"program.yaml":          "name: p\nsource: ../precious/file\nthreads: 2\n",
		"gen.yaml":              "name: ../../precious/file\ncycles: [\"PodWW Rfe PodRR Fre\"]\nedges: [PodWW, Rfe]\nmax: 999999999\n",
		"archive.whl":           "PK\x03\x04" + strings.Repeat("\x00", 40),
		"bomb.gz":               string(zip([]byte(strings.Repeat("{\"cell\":{}}\n", 1<<20)))),
		"theirs/campaign.json":  "{\"id\": \"1\", \"spec\": {\"name\": \"x\", \"folder\": \"..\", \"store\": \"../../precious/x\"}}",
		"run.jsonl":             strangeStream(a.r),
		"kept.db":               string(mutate(a.r, []byte("SQLite format 3\x00"+strings.Repeat("\x01\x00", 3000)), 8192)),
		"c.yaml":                hostileCampaign(a.r, a.n),
		"archive.tar.gz":        string(evilArchive(a.t, a.evil)),
		"good.jsonl":            goodStream,
	} {
		a.write(in(name), text)
	}
	for _, name := range slices.Sorted(maps.Keys(a.made)) {
		data := a.made[name]
		a.write(in(name), string(data))
		a.write(in("damaged"+filepath.Ext(name)), string(mutate(a.r, data, len(data))))
	}
	for _, name := range []string{"fifo.yaml", "fifo.cu", "fifo.litmus"} {
		require.NoError(a.t, syscall.Mkfifo(in(name), 0o600))
	}
	a.kept = a.state()
}

// randomLine is a command line of any command, on what is in the folder.
func (a *attack) randomLine() []string {
	commands := visible(newRootCmd(&environment{getenv: func(string) string { return "" }}))
	for {
		c := commands[a.r.IntN(len(commands))]
		path := strings.TrimPrefix(c.CommandPath(), "optcheck ")
		if !c.Runnable() || path == "optcheck" || slices.ContainsFunc(neverAlone, func(n string) bool { return path == n || strings.HasPrefix(path, n+" ") }) {
			continue
		}
		line := "{any} {any}"
		if lines := foreignLines[path]; lines != nil {
			line = anyOf(a.r, lines...)
		}
		args := strings.Fields(path)
		for _, w := range strings.Fields(line) {
			from, to := strings.Index(w, "{"), strings.Index(w, "}")
			if from < 0 {
				args = append(args, w)
				continue
			}
			files, ok := foreignFiles[w[from+1:to]]
			require.True(a.t, ok, w)
			args = append(args, strings.Fields(w[:from]+anyOf(a.r, files...)+w[to+1:])...)
		}
		for range max(0, a.r.IntN(5)-2) {
			args = append(args, a.randomFlag(c)...)
		}
		return args
	}
}

// randomFlag is a flag of a command with any value, none that is the user's own.
func (a *attack) randomFlag(c *cobra.Command) []string {
	var all []*pflag.Flag
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(theUsersOwn, f.Name) && f.Name != "help" {
			all = append(all, f)
		}
	})
	if len(all) == 0 {
		return nil
	}
	f := all[a.r.IntN(len(all))]
	switch f.Value.Type() {
	case "bool":
		return []string{"--" + f.Name}
	case "duration":
		return []string{"--" + f.Name + "=" + anyOf(a.r, "1ms", "-1s", "x", "1s")}
	case "int", "int64", "uint", "uint64", "float64":
		return []string{"--" + f.Name + "=" + anyOf(a.r, "0", "1", "-1", "2", "x", "99999999999999999999")}
	}
	return []string{"--" + f.Name + "=" + strings.ReplaceAll(anyOf(a.r, foreignWords...), "\x00", "")}
}

// listing is what the folder and the home hold, to see whether anything was done.
func (a *attack) listing() string {
	var b strings.Builder
	for _, dir := range []string{a.here, a.home} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil {
				if info, err := d.Info(); err == nil && !d.IsDir() {
					fmt.Fprintf(&b, "%s %d %v\n", path, info.Size(), info.ModTime())
				}
			}
			return nil
		})
	}
	return b.String()
}

// evilArchive has names and links that lead out of the folder that it is unpacked in.
func evilArchive(t *testing.T, program string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	// What has the name of a tool is no program: whoever adds compilers wants theirs to be run.
	for _, h := range []tar.Header{{Name: "../../precious/file"}, {Name: "bin/ptxas", Linkname: "../../../precious/file", Typeflag: tar.TypeSymlink},
		{Name: "bin/nvdisasm", Linkname: "/etc/passwd", Typeflag: tar.TypeLink}, {Name: "/tmp/../precious/libevil.so"}, {Name: "bin/gcc", Mode: 0o755}} {
		if h.Typeflag == 0 {
			h.Size = int64(len(program))
		}
		require.NoError(t, w.WriteHeader(&h))
		if h.Typeflag == 0 || h.Typeflag == tar.TypeReg {
			_, err := w.Write([]byte(program))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return zip(b.Bytes())
}

// goodStream is a stream with a finding, in a test and in PTX, that is in order.
const goodStream = `{"config":{"schema":3,"tool":"t","spec_version":2,"tests":2,"cells":2,"toolchains":[{"id":"ptxas 12.4.131"}],"targets":["sm_80"],"levels":["O3"],"layouts":["pointers"]}}
{"test":{"name":"mp","hash":"aa","dialect":"GPU_PTX","text":"GPU_PTX mp\n{ x=0; }\n T0@cta 0 ;\n st.s32 [x],1 ;\nexists (x=1)\n"}}
{"test":{"name":"k.ptx","hash":"bb","file":"k.ptx","dialect":"PTX program"}}
{"cell":{"test":"mp","hash":"aa","toolchain":"ptxas 12.4.131","target":"sm_80","level":"O3","layout":"pointers","class":"optimised","findings":[{"rule":"merged","thread":0,"access":0,"detail":"d"}]}}
{"cell":{"test":"k.ptx","hash":"bb","toolchain":"ptxas 12.4.131","target":"sm_80","level":"O3","layout":"pointers","class":"changed","findings":[{"rule":"merged","thread":0,"access":-1,"detail":"d"}]}}
`

// make makes what only compilers and the program itself can: a cubin and a store.
func (a *attack) make() {
	source, cubin := filepath.Join(a.base, "k.ptx"), filepath.Join(a.base, "k.cubin")
	a.write(source, someKernel)
	out, err := exec.Command(filepath.Join(filepath.SplitList(a.real)[1], "ptxas"), "-arch=sm_80", "-lineinfo", "-o", cubin, source).CombinedOutput()
	require.NoError(a.t, err, "%s", out)
	stream, db := filepath.Join(a.base, "good.jsonl"), filepath.Join(a.base, "good.db")
	a.write(stream, goodStream)
	require.Equal(a.t, exitOK, Main(a.t.Context(), func(string) string { return "" }, strings.NewReader(""), io.Discard, io.Discard,
		[]string{"store", "import", db, stream}))
	a.made = map[string][]byte{}
	for _, file := range []string{cubin, db} {
		a.made[filepath.Base(file)], err = os.ReadFile(file)
		require.NoError(a.t, err)
	}
}

// random does a random command line in a folder, and reports whether it claims that something was done and did nothing.
func (a *attack) random() {
	a.fillForeign()
	step := trial{Args: a.randomLine(), Dir: filepath.Join(a.here, anyOf(a.r, ".", ".", ".", "sub"))}
	if a.r.IntN(3) == 0 {
		step.Tools = a.real
	}
	before, led := a.listing(), a.counts[whereLinksLead]
	o := a.do([]trial{step})[0]
	if o.Code == 0 && o.Printed == 0 && o.Errors == "" && a.listing() == before && a.counts[whereLinksLead] == led {
		a.fell("nothing done", "optcheck %q: exit code 0, and nothing was done or said", step.Args)
	}
}
