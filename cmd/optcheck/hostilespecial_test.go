package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// specialFiles makes files that never end, never begin or take nothing, with each of some endings;
// @ in a command stands for one of them.
func specialFiles(t *testing.T, dir string, endings []string) (files []string) {
	fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "socket")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	for _, of := range []string{fifo, socket, "/dev/zero", "/dev/full", "/dev/random"} {
		files = append(files, of)
		for _, e := range endings {
			require.NoError(t, os.Symlink(of, filepath.Join(dir, filepath.Base(of)+e)))
		}
	}
	return files
}

// specialCommands open a file that is not the one that they work on. @E is a special file with the
// ending E.
var specialCommands = []string{
	"model mp --cat @.cat", "model mp --model @.cat", "audit mp --model @.cat", "log check @run --cat @.cat", "report @run --known @",
	"audit mp --known @", "bug mp@12.4/sm_80/O3:merged --log @ --gpu g --driver d --zip @new", "app test @.yaml", "app cost @.yaml",
	"gen --config @.yaml --count", "run mp --cubins @", "toolchain add @", "store artefact put @new name @", "check @run --against @",
	"diff @run @", "diff @ @run", "audit @.ptx", "audit @.cu", "audit @.cubin", "reduce @.ptx@12.4/sm_80/O3:1",
	"bug @.ptx@12.4/sm_80/O3:1 --zip @new",
	"reduce @run#2", "report @ --format sarif", "store import @new @run @", "store check @", "store export @", "merge @new @run @",
	"config --config @",
	"campaign run @", "campaign run @.yaml", "campaign status @folder", "campaign attach @folder", "report @run --html @folder",
	"model @.litmus", "tests @.litmus", "emit @.litmus", "convert --to lisa @.litmus --out @new", "audit mp --store @",
	"report @run --report json=/dev/full", "report @run --report sarif=/dev/full", "store export @store --output /dev/full",
	"report @run --html /dev/full",
	"gen --presets quick --out /dev/full", "convert --to lisa mp --out /dev/full", "merge /dev/full @run", "store import /dev/full @run",
}

// fullCommands print; standard output takes nothing.
var fullCommands = []string{"config", "config --json", "emit mp", "gen --presets quick --names", "version", "report @run",
	"report @run --format json",
	"tests corpus --json", "model mp", "store info @store", "models --json"}

// specialTrials are what no mutation of a file makes: what is no regular file, campaigns that choose
// what they must not, and words in streams that mean nothing.
func specialTrials(t *testing.T, dir string, seed uint64) (trials []trial) {
	r := rand.New(rand.NewPCG(seed, 31))
	dir = filepath.Join(dir, "special")
	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	for _, name := range []string{"campaign.json", "index.html"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(folder, name), 0o600))
	}
	files := specialFiles(t, dir, []string{".cat", ".yaml", ".ptx", ".cu", ".cubin", ".litmus"})
	run := filepath.Join(dir, "run.jsonl")
	require.NoError(t, os.WriteFile(run, []byte(fmt.Sprintf(oneConfig, 0, 0)), 0o600))
	add := func(kind, command, file string, t trial) {
		for _, w := range strings.Fields(command) {
			w = strings.NewReplacer("@run", run, "@new", filepath.Join(dir, fmt.Sprint("new", len(trials))), "@folder", folder,
				"@store", filepath.Join(dir, "x.store"), "@.", filepath.Join(dir, filepath.Base(file))+".", "@12.4", "@12.4", "@",
				file).Replace(w)
			t.Args = append(t.Args, w)
		}
		t.Name = kind
		trials = append(trials, t)
	}
	add("a store", "store import @store @run", "", trial{})
	all := readers(t)
	for _, file := range files {
		for _, rd := range all {
			for _, c := range rd.commands {
				add("special file, "+rd.name, c, file, trial{Must: true})
			}
		}
		for _, c := range specialCommands {
			add("special file", c, file, trial{Must: true})
		}
	}
	flagTrials(r, files, add)
	for _, c := range fullCommands {
		add("full device", c, "", trial{Full: true, Must: true})
	}
	for i := range 120 {
		file := filepath.Join(dir, fmt.Sprintf("c%d.yaml", i))
		require.NoError(t, os.WriteFile(file, []byte(hostileCampaign(r, i)), 0o600))
		add("campaign", "campaign run @", file, trial{Must: true, Dir: dir})
	}
	for i := range 120 {
		file := filepath.Join(dir, fmt.Sprintf("s%d.jsonl", i))
		require.NoError(t, os.WriteFile(file, []byte(strangeStream(r)), 0o600))
		add("stream", []string{"report @", "store import @new @", "merge @new @", "diff @ @run", "report @ --format sarif",
			"report @ --html @new",
			"reduce @#3", "bug @#3 --zip @new"}[i%8], file, trial{})
	}
	return trials
}

// anyOf draws one of some words.
func anyOf(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

// hostilePaths lead out of a folder, or to where a configuration is; precious stands for a folder
// of somebody's.
var hostilePaths = []string{".", "sub", "sub/../sub", "..", "../precious/new", "precious/new", "/tmp/../precious", "link",
	"link/new", "linked", "sub/link/new", "~",
	"sub/optcheck.yaml", "optcheck.yaml", "precious/file", "/dev/full", "fifo", "x\x00y", "-x", "--output=x", "$(touch ran)",
	strings.Repeat("a/", 3000)}

// hostileFlags are arguments that load, read, write or start something in one of the compilers.
var hostileFlags = []string{"-fplugin=./evil.so", "-fpass-plugin=./evil.so", "-load=./evil.so", "-Xclang", "-MD", "-MF",
	"precious/file", "-MFprecious/file",
	"-o", "-oprecious/file", "--output-file=precious/file", "--options-file=evil", "@evil", "--config=evil", "-Bbin",
	"-ccbin=bin/gcc", "-save-temps", "--keep",
	"-include", "-mllvm=-info-output-file=precious/file", "-ftime-trace=precious/file", "-serialize-diagnostics",
	"-pass-remarks-output=precious/file",
	"-O3 -fplugin=./evil.so", "-DX=\n", "-v\x00", "--cuda-path=bin", "-I/", "-Xptxas=-o,precious/file", "-x", "-###",
	"-target=evil", "bin/ptxas"}

// hostileCampaign is a campaign file of which at least one line is something that no file may say.
func hostileCampaign(r *rand.Rand, i int) string {
	flag := func() string { return fmt.Sprintf("%q", anyOf(r, hostileFlags...)) }
	lines := []func() string{
		func() string {
			return fmt.Sprintf("folder: %q", anyOf(r, "..", "../precious/new", "precious/new", "/tmp/away", "link/new", "-x/../.."))
		},
		func() string {
			return fmt.Sprintf("store: %q", anyOf(r, "../new.db", "precious/new", "/tmp/away.db", "link/new.db", "linked"))
		},
		func() string {
			return "ptxas-flags: [" + anyOf(r, "-v, ", "-O1, ", "") + flag() + anyOf(r, "", ", -v") + "]"
		},
		func() string { return "toolchain-dirs: [" + anyOf(r, "bin", ".", "sub") + "]" },
		func() string {
			return "engine: slurm\nslurm: {args: [" + anyOf(r, "--wrap=touch ran", "--comment=x", "--uid=0") + "]}"
		},
		func() string {
			return fmt.Sprintf("engine: slurm\nslurm: {%s: %q}", anyOf(r, "partition", "account", "qos", "gres"), anyOf(r, "-x",
				"--wrap=x", "a b", "$(touch ran)"))
		},
		func() string { return fmt.Sprintf("folder: %q", anyOf(r, ".", "sub", "./sub/", "sub/../sub")) },
	}
	rest := []func() string{
		func() string { return fmt.Sprintf("known: [%q]", anyOf(r, hostilePaths...)) },
		func() string {
			return fmt.Sprintf("model: %q", anyOf(r, "fifo.cat", "/dev/zero", "./link/x.cat", "sc"))
		},
		func() string { return fmt.Sprintf("tests: [%q]", anyOf(r, "fifo", "/dev/zero", "mp", "link", "..")) },
		func() string { return "vendors: [" + anyOf(r, "amd", "nvidia, amd") + "]" },
		func() string { return "levels: [" + anyOf(r, `"O3 -o x"`, "O0", `"-O3"`) + "]" },
		func() string { return "targets: [" + anyOf(r, `"sm_80 -o x"`, "sm_80", `"-o"`) + "]" },
		func() string { return "parallel: 9999\nshards: 9\njobs: 9999" },
		func() string {
			return "gpu: {device: " + anyOf(r, `"cuda:0;x"`, `"opencl:0"`, `"/x.so:0"`) + ", target: sm_80, unvalidated: true}"
		},
	}
	text := "name: " + anyOf(r, append(slices.Repeat([]string{"x"}, 17), "../x", "-x", `"a b"`)...) + "\n" + lines[i%len(lines)]() + "\n"
	r.Shuffle(len(rest), func(a, b int) { rest[a], rest[b] = rest[b], rest[a] })
	for _, line := range rest[:r.IntN(4)] {
		text += line() + "\n"
	}
	return text
}

// strangeStream is a stream with words that mean nothing, or that could be taken for paths and flags.
func strangeStream(r *rand.Rand) string {
	quoted := func(s string) string {
		text, _ := json.Marshal(s) // a string
		return string(text)
	}
	word := func(usual string) string {
		if r.IntN(3) > 0 {
			return quoted(usual)
		}
		return quoted(anyOf(r, "", "miscompilee", "preserved ", "Unknown", "-o", "--x=y", "../../x", "/dev/zero", "fifo", "fifo.ptx",
			"fifo.cat", "$(touch ran)", "`touch ran`", "a;touch ran",
			"<script>", "\x1b[2J", strings.Repeat("x", 5000), "null", "sm_80 -o x", "%n%s"))
	}
	return fmt.Sprintf(`{"config":{"schema":3,"tool":%s,"spec_version":2,"tests":1,"cells":1,"toolchains":[{"id":%s}],"targets":[%s],"levels":[%s],"layouts":[%s],"source":%s,"flags":[%s,%s],"model":%s}}
{"test":{"name":%s,"hash":"aa","file":%s,"dialect":%s,"text":%s,"lines":[[1,2]]}}
{"cell":{"test":%s,"hash":"aa","toolchain":%s,"target":%s,"level":%s,"layout":%s,"class":%s,"findings":[{"rule":%s,"thread":0,"access":0,"detail":%s,"stage":%s}],"verdict":{"model":%s,"new":[%s],"lifted":%s}}}
`,
		word("t"), word("ptxas 12.4.131"), word("sm_80"), word("O3"), word("pointers"), word(""), quoted(anyOf(r, hostileFlags...)),
		quoted(anyOf(r, hostileFlags...)), word("ptx"),
		word("mp"), word("fifo.ptx"), word("GPU_PTX"), word(""),
		word("mp"), word("ptxas 12.4.131"), word("sm_80"), word("O3"), word("pointers"), word("miscompiled"), word("merged"),
		word("d"), word("ptxas"), word("fifo.cat"), word("1:r1=1"), word(""))
}
