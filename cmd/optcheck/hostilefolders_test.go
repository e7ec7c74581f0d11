package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	campaigns "optcheck/audit/campaign"
)

// attack is a machine on which a user, who trusts compilers in a folder of his own, works in folders
// that somebody else has filled.
type attack struct {
	t                              *testing.T
	base, home, tools, spied, here string
	r                              *rand.Rand
	evil, kept                     string // a program that leaves a trace; what must stay as it is
	n, ran                         int
	real                           string            // folders of compilers that compile
	made                           map[string][]byte // files of a foreign folder that are in order
	counts                         map[string]int
	longest                        time.Duration
	slowest                        string
}

// spies are compilers that say who they are and write down what else they are told.
var spies = map[string]string{
	"ptxas": `case " $* " in
*" --version "*) printf 'ptxas: NVIDIA (R) spy\nCuda compilation tools, release 12.4, V12.4.131\nBuild cuda_12.4.r12.4/compiler.1_0\n'; exit 0;;
*" --help "*) printf -- "--gpu-name <gpu name> (-arch)\n 'sm_80'.\n Default value: 'sm_52'\n"; exit 0;;
*probe.ptx*) echo "ptxas probe.ptx, line 1; fatal   : Unsupported .version 99.9; current version is '8.4'" >&2; exit 255;;
esac
`,
	"clang": `case " $* " in
*" --version "*) echo 'spy clang version 19.1.7'; exit 0;;
*" --print-supported-cpus "*) printf 'Available CPUs for this target:\n\n\tgfx900\n\n' >&2; exit 0;;
esac
`,
	"llc": `case " $* " in
*" --version "*) printf 'LLVM version 19.1.7\n'; exit 0;;
esac
`,
}

func newAttack(t *testing.T, seed uint64) *attack {
	base := t.TempDir()
	a := &attack{t: t, base: base, home: filepath.Join(base, "home"), tools: filepath.Join(base, "tools"),
		spied: filepath.Join(base, "spied"),
		r:     rand.New(rand.NewPCG(seed, 310)), counts: map[string]int{}}
	a.evil = "#!/bin/sh\necho \"$0 $*\" >> '" + filepath.Join(base, "ran") + "'\n"
	for _, dir := range []string{a.home, a.tools, filepath.Join(base, "precious")} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	for name, script := range spies {
		a.write(filepath.Join(a.tools, name),
			"#!/bin/sh\n"+script+"echo \""+name+" $*\" >> '"+a.spied+"'\necho \"$0 : error : none\" >&2\nexit 1\n")
	}
	a.write(filepath.Join(base, "precious", "file"), "mine")
	return a
}

func (a *attack) write(file, text string) {
	require.NoError(a.t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(a.t, os.WriteFile(file, []byte(text), 0o700))
}

// folder fills a folder anew.
func (a *attack) folder() {
	a.n++
	a.here = filepath.Join(a.base, "case"+strconv.Itoa(a.n))
	in := func(name string) string { return filepath.Join(a.here, name) }
	for _, name := range []string{"ptxas", "bin/ptxas", "bin/gcc", "bin/clang", "bin/sbatch", "sub/bin/ptxas", "sub/ptxas",
		"evil.so", "optcheck"} {
		a.write(in(name), a.evil)
	}
	a.write(in("own.txt"), "mine")
	a.write(in("k.ptx"), someKernel)
	a.write(in("bad.ptx"), string(broken(a.r, []byte(someKernel))))
	a.write(in("sub/own.db"), "mine")
	a.write(in("evil"), "-o own.txt\n")
	for _, name := range []string{"optcheck.yaml", "sub/optcheck.yaml"} {
		switch a.r.IntN(16) {
		case 0:
			require.NoError(a.t, syscall.Mkfifo(in(name), 0o600))
		case 1:
			require.NoError(a.t, os.Symlink("/dev/zero", in(name)))
		case 2, 3, 4, 5, 6, 7:
			a.write(in(name), "toolchain-dirs: ["+anyOf(a.r, "bin", ".", "sub/bin")+"]\nlimits: [bytes=1]\ntimeout: 1000h\njobs: 99999\n")
		}
	}
	for _, name := range []string{"fifo", "fifo.cat", "fifo.ptx"} {
		require.NoError(a.t, syscall.Mkfifo(in(name), 0o600))
	}
	require.NoError(a.t, os.Link(filepath.Join(a.base, "precious", "file"), in("hard")))
	for name, to := range map[string]string{"link": "../precious", "linked": "../precious/file", "sub/link": "../../precious",
		"x.db-wal": "../precious/file", "out/mp.litmus": "../../precious/file", "out/index.html": "../../precious/file",
		"nightly.campaign/optcheck.new": "../../precious/file",
		"nightly.campaign/logs":         "../../precious", "nightly.campaign/campaign.json": "../../precious/file"} {
		require.NoError(a.t, os.MkdirAll(filepath.Dir(in(name)), 0o700))
		require.NoError(a.t, os.Symlink(to, in(name)))
	}
	a.write(in("bundle/report.md"), "mine")
	a.write(in("bundle/manifest.json"), `{"optcheck": "v", "sha256": {"report.md": ""}}`)
	a.kept = a.state()
}

// state is what must not change: what is not the program's own in the folder, the user's files, and
// whom the user trusts.
func (a *attack) state() string {
	h := sha256.New()
	for _, dir := range []string{filepath.Join(a.base, "precious"), a.tools, a.here} {
		require.NoError(a.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			own := dir != a.here || slices.Contains([]string{"own.txt", "own.db", "evil", "report.md"}, d.Name())
			switch {
			case d.Type()&fs.ModeSymlink != 0:
				text, _ := os.Readlink(path)
				fmt.Fprintf(h, "%s %q\n", path, text)
			case own && d.Type().IsRegular():
				b, err := os.ReadFile(path)
				require.NoError(a.t, err)
				fmt.Fprintf(h, "%s %q\n", path, b)
			}
			return nil
		}))
	}
	trusted, _ := os.ReadFile(filepath.Join(a.home, ".config", "optcheck", "trusted"))
	fmt.Fprintf(h, "%q", trusted)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// theirs is the folder of a campaign under way that somebody else made.
func (a *attack) theirs() string {
	retries := 0
	s := &campaigns.Spec{Name: "x", Engine: anyOf(a.r, "local", "local", "slurm"), Vendors: []string{"nvidia"}, Shards: 1,
		Retries: &retries,
		Store:   "x2.db", Folder: "theirs"}
	if a.r.IntN(2) == 0 {
		s.ToolchainDirs = []string{filepath.Join(a.here, "bin")}
	}
	if a.r.IntN(2) == 0 {
		s.Flags = []string{anyOf(a.r, hostileFlags...)}
	}
	program := filepath.Join(a.here, "optcheck")
	if a.r.IntN(2) == 0 {
		program = "/proc/self/exe" // this very program: then what the plan says decides
	}
	build, err := hashFile(program)
	require.NoError(a.t, err)
	c, err := campaigns.Create(filepath.Join(a.here, "theirs"), program, &campaigns.Plan{Build: build, Spec: s,
		Parts: []campaigns.Part{{Vendor: "nvidia"}},
		Store: anyOf(a.r, filepath.Join(a.here, "x2.db"), filepath.Join(a.base, "precious", "file"), filepath.Join(a.base, "precious",
			"new.db"))},
		[][]campaigns.Test{nil})
	require.NoError(a.t, err)
	if a.r.IntN(2) == 0 {
		text, _ := json.Marshal(map[string]any{"submissions": []map[string]any{{"id": anyOf(a.r, "--user=root", "-1", "1;x", "77",
			"../x"), "stage": "shard",
			"tasks": []int{1}, "engine": s.Engine, "at": "2026-01-01T00:00:00Z"}}})
		a.write(filepath.Join(c.Dir, "state.json"), string(text))
	}
	if a.r.IntN(2) == 0 {
		text, _ := json.Marshal(map[string]any{"plan": c.Plan.ID, "store": anyOf(a.r, "../../linked", "..", "/etc/passwd", "fifo")})
		a.write(filepath.Join(c.Dir, "shard", "00001", "done.json"), string(text))
	}
	return "theirs"
}

// steps are the command lines of one attack, done one after the other in the folder or below it.
func (a *attack) steps() []trial {
	in := func(name string) string { return filepath.Join(a.here, name) }
	do := func(dir, command string) trial {
		return trial{Args: strings.Fields(command), Dir: filepath.Join(a.here, dir)}
	}
	after := []trial{do(".", "config"), do("sub", "config"), do(anyOf(a.r, ".", "sub"),
		"audit mp --targets sm_80 --levels O0 --layouts pointers -q")}
	switch a.r.IntN(6) {
	case 0, 1:
		text := hostileCampaign(a.r, a.r.IntN(7))
		if a.r.IntN(4) == 0 { // nothing wrong but where it stands
			text = "name: nightly\nfolder: " + anyOf(a.r, ".", "sub", "fresh", "nightly.campaign") + "\nptxas-flags: [-v]\n"
		}
		if !strings.Contains(text, "\ntests:") {
			text += "tests: [mp]\n"
		}
		for key, value := range map[string]string{"targets": "[sm_80]", "levels": "[O0]", "layouts": "[pointers]", "retries": "0"} {
			if !strings.Contains(text, "\n"+key+":") {
				text += key + ": " + value + "\n"
			}
		}
		a.write(in("c.yaml"), text)
		return append([]trial{do(".", "campaign run c.yaml -q")}, after...)
	case 2:
		dir := a.theirs()
		return append([]trial{do(".", anyOf(a.r, "campaign attach "+dir+" -q", "campaign cancel "+dir, "campaign status "+dir,
			"campaign task "+dir+" shard 1",
			"campaign task "+dir+" merge 1"))}, after[0])
	case 3:
		a.write(in("run.jsonl"), strangeStream(a.r))
		if a.r.IntN(2) == 0 {
			return []trial{do(".", "store import kept.db run.jsonl"), do(".", anyOf(a.r, "reduce kept.db#1", "bug kept.db#1 --out fresh",
				"bug kept.db#1 --out bundle", "report kept.db --html pages", "merge more.db kept.db run.jsonl", "store artefact extract kept.db 1 linked"))}
		}
		return []trial{do(".", anyOf(a.r, "report run.jsonl", "report run.jsonl --html pages", "report run.jsonl --html out",
			"reduce run.jsonl#3", "bug run.jsonl#3 --out bundle",
			"store import new.db run.jsonl", "merge x.db run.jsonl", "merge linked run.jsonl", "diff run.jsonl run.jsonl",
			"report run.jsonl --known fifo"))}
	case 4:
		return []trial{do(".", anyOf(a.r, "convert --to lisa mp --out out", "gen --presets quick --out link/../out",
			"bug mp@12.4/sm_80/O0:merged --out bundle",
			"merge x.db x.db", "audit mp --targets sm_80 --levels O0 --store x.db -q", "audit mp --targets sm_80 --levels O0 --output hard -q",
			"verify k.ptx --sarif hard", "verify k.ptx --resume hard", "report run.jsonl --report sarif=hard", "store check x.db", "tests .", "audit . -q",
			"model mp --cat fifo.cat",
			"audit mp --model ./fifo.cat", "audit fifo.ptx", "app test fifo.yaml", "check own.txt --against fifo",
			"audit k.ptx bad.ptx --targets sm_80 -q", "audit k.ptx --execute 2 --targets sm_80 --keep-code link -q", "emulate bad.ptx", "emulate k.ptx --arg n=1000000000",
			"check k.ptx evil.so", "check k.ptx fifo.ptx", "reduce k.ptx@12.4/sm_80/O3:17", "bug bad.ptx@12.4/sm_80/O3:17 --out bundle"))}
	}
	return after
}

// env is the user's environment, the compilers last.
func (a *attack) env() []string {
	return []string{"HOME=" + a.home, "TMPDIR=" + a.base, "OCL_ICD_VENDORS=" + a.home, "PATH=" + os.Getenv("PATH"), "OPTCHECK_TOOLCHAIN_DIRS=" + a.tools}
}

// do does the steps and looks at what they have left behind.
func (a *attack) do(steps []trial) []outcome {
	env := a.env()
	results := make([]outcome, len(steps))
	for next := 0; next < len(steps); {
		next = hostileBatch(a.t, a.here, env, steps, results, next, 1)
	}
	for i, o := range results {
		a.ran++
		a.counts[fmt.Sprint("exit code ", o.Code)]++
		line := fmt.Sprintf("%q", steps[i].Args)
		if o.Wall > a.longest {
			a.longest, a.slowest = o.Wall, line
		}
		if o.Code > 2 || o.Memory > hostileMemory || o.CPU > hostileTime {
			a.fell("limits", "optcheck %s: exit code %d, %d MiB, %v of CPU: %s", line, o.Code, o.Memory>>20, o.CPU, o.Errors)
		}
		if o.Wall > hostileWait && full() {
			a.fell("hang", "optcheck %s: %v", line, o.Wall)
		}
		if o.Code == 0 && steps[i].Tools == "" && slices.Contains([]string{"audit", "reduce", "bug", "check"}, steps[i].Args[0]) && !slices.Contains(steps[i].Args, "--check") {
			a.fell("nothing done", "optcheck %s: exit code 0, and no compiler compiles: %s", line, o.Errors)
		}
	}
	if text, err := os.ReadFile(filepath.Join(a.base, "ran")); err == nil {
		a.fell("executed", "%q: foreign code was executed: %s", steps, text)
		_ = os.Remove(filepath.Join(a.base, "ran"))
	}
	if a.state() != a.kept && !a.asked(steps) {
		a.fell("overwritten", "%q: something was overwritten, or somebody is trusted", steps)
		a.restore()
	}
	for _, line := range a.told() {
		for _, word := range strings.Fields(line) {
			if slices.Contains(hostileFlags, word) && !slices.Contains([]string{"-o", "-x", "-Xclang"}, word) || strings.Contains(word,
				"precious") {
				a.fell("told", "%q: a compiler was told %s", steps, line)
			}
		}
	}
	return results
}

// whereLinksLead counts what is new outside of the folder, because the user has named a link.
const whereLinksLead = "where the user's link leads"

// asked reports whether the user himself has named a link as the place for what is new, and nothing else has changed: then
// that is where it goes.
func (a *attack) asked(steps []trial) bool {
	named := slices.ContainsFunc(steps, func(t trial) bool {
		return slices.ContainsFunc(t.Args, func(w string) bool { return slices.Contains(strings.Split(w, "/"), "link") })
	})
	if !named {
		return false
	}
	entries, err := os.ReadDir(filepath.Join(a.base, "precious"))
	require.NoError(a.t, err)
	for _, e := range entries {
		if e.Name() != "file" {
			require.NoError(a.t, os.RemoveAll(filepath.Join(a.base, "precious", e.Name())))
			a.counts[whereLinksLead]++
		}
	}
	return a.state() == a.kept
}

// fell notes that an attack of a class has come through.
func (a *attack) fell(class, format string, args ...any) {
	a.counts["fell: "+class]++
	a.t.Errorf("case %d: "+format, append([]any{a.n}, args...)...)
}

// restore makes precious what it was.
func (a *attack) restore() {
	require.NoError(a.t, os.RemoveAll(filepath.Join(a.base, "precious")))
	a.write(filepath.Join(a.base, "precious", "file"), "mine")
}

// told is what the compilers were told since it was last asked.
func (a *attack) told() []string {
	text, _ := os.ReadFile(a.spied)
	_ = os.Remove(a.spied)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// full reports whether all is to be tried that takes long.
func full() bool { return os.Getenv("OPTCHECK_FULL") != "" }

// TestForeignFolders: in folders that somebody else has filled no foreign code is executed, no
// compiler told what files may not tell it, nothing overwritten, nobody trusted, nothing waits
// for ever, and nothing that did nothing claims success. OPTCHECK_SEED chooses others, OPTCHECK_FULL=1
// more of them: 2,000 command lines, or with OPTCHECK_TEST_FOLDERS those of so many folders.
func TestForeignFolders(t *testing.T) {
	seed, cases := uint64(20150314), 60
	if s := os.Getenv("OPTCHECK_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	if full() {
		cases = 1400
	}
	if s := os.Getenv("OPTCHECK_TEST_FOLDERS"); s != "" {
		var err error
		cases, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	a := newAttack(t, seed)
	ptxas, nvcc := hostileTools(t)
	a.real = nvcc + ":" + ptxas
	a.make()
	for i := range cases {
		if a.folder(); i%2 == 0 {
			a.do(a.steps())
		} else {
			a.random()
		}
		require.NoError(t, os.RemoveAll(a.here))
	}
	t.Logf("seed %d: %d folders, %d command lines, %v; the longest took %v (%s)", seed, cases, a.ran, a.counts, a.longest, a.slowest)

	// The traps work: what a user trusts is executed, and told what its file says.
	a.folder()
	require.NoError(t, os.RemoveAll(filepath.Join(a.here, "optcheck.yaml"))) // it may be a pipe
	c := "name: n\nvendors: [nvidia]\ntests: [mp]\ntargets: [sm_80]\nlevels: [O0]\nlayouts: [pointers]\nretries: 0\n"
	a.write(filepath.Join(a.here, "fine", "c.yaml"), c+"ptxas-flags: [--maxrregcount=32]\n")
	env := a.env()
	hostileBatch(t, a.here, env, []trial{{Args: []string{"campaign", "run", "c.yaml", "-q"}, Dir: filepath.Join(a.here, "fine")}},
		make([]outcome, 1), 0, 1)
	require.Contains(t, strings.Join(a.told(), "\n"), "--maxrregcount=32")
	a.write(filepath.Join(a.here, "c.yaml"), c+"ptxas-flags: [--options-file=evil]\n")
	a.write(filepath.Join(a.here, "optcheck.yaml"), "toolchain-dirs: [bin]\n")
	steps := []trial{{Args: []string{"trust", "."}, Dir: a.here}, {Args: []string{"campaign", "run", "c.yaml", "-q"}, Dir: a.here}}
	hostileBatch(t, a.here, env, steps, make([]outcome, 2), 0, 1)
	require.Contains(t, strings.Join(a.told(), "\n"), "--options-file=evil")
	hostileBatch(t, a.here, env[:4], []trial{{Args: []string{"audit", "mp"}, Dir: a.here}}, make([]outcome, 1), 0, 1)
	require.FileExists(t, filepath.Join(a.base, "ran"))
	require.NotEqual(t, a.kept, a.state(), "the user trusts somebody now")
}
