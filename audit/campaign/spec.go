// Package campaign describes a whole campaign in one file, divides it into tasks, and executes
// them with an engine: this machine, or a cluster under Slurm. A folder that all machines share
// records what is done, running and lost.
//
// It compiles, checks and runs nothing itself: a task is a call of the program (optcheck
// campaign task), and its results are a store of package audit/store.
package campaign

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"optcheck/runner/drive"
	"optcheck/spec"
	"optcheck/target"
)

// Spec is the content of a campaign file. Paths are as written; they are
// relative to the file's folder.
type Spec struct {
	// Name is for people and for the names of generated files.
	Name string `yaml:"name" json:"name"`
	// Tests are the sources of tests; empty means the default of optcheck audit.
	Tests []Tests `yaml:"-" json:"tests,omitempty"`
	// Vendors lists the vendors whose compilers are audited; empty means nvidia.
	Vendors       []string `yaml:"vendors" json:"vendors"`
	Toolchains    []string `yaml:"toolchains" json:"toolchains,omitempty"`
	ToolchainDirs []string `yaml:"toolchain-dirs" json:"toolchain_dirs,omitempty"`
	Targets       []string `yaml:"targets" json:"targets,omitempty"`
	Levels        []string `yaml:"levels" json:"levels,omitempty"`
	Layouts       []string `yaml:"layouts" json:"layouts,omitempty"`
	Source        string   `yaml:"source" json:"source,omitempty"` // of kernels: ptx, opencl or llvm-ir
	Flags         []string `yaml:"ptxas-flags" json:"ptxas_flags,omitempty"`
	Model         string   `yaml:"model" json:"model,omitempty"`
	NoVerdict     bool     `yaml:"no-verdict" json:"no_verdict,omitempty"`
	// Execute is on how many inputs kernels are executed; nil: as optcheck audit does by itself.
	Execute *uint    `yaml:"execute" json:"execute,omitempty"`
	Known   []string `yaml:"known" json:"known,omitempty"`
	// Timeout bounds one external process.
	Timeout Duration `yaml:"timeout" json:"timeout,omitempty"`
	// Jobs is the number of concurrent jobs within a task; 0 is the program's default.
	Jobs int `yaml:"jobs" json:"jobs,omitempty"`

	Store   string `yaml:"store" json:"store"`   // where the results go
	Folder  string `yaml:"folder" json:"folder"` // the folder of the tasks and their state
	Shards  int    `yaml:"shards" json:"shards"`
	Retries *int   `yaml:"retries" json:"retries"` // how often a failed task is submitted again
	Engine  string `yaml:"engine" json:"engine"`
	// Parallel is the number of concurrent tasks: of the local engine (0: one), or the limit of
	// a job array (0: none).
	Parallel int    `yaml:"parallel" json:"parallel,omitempty"`
	Slurm    *Slurm `yaml:"slurm" json:"slurm,omitempty"`
	GPU      *GPU   `yaml:"gpu" json:"gpu,omitempty"`
}

// Tests is one source of tests: a name (corpus, corpus-cl, a test of the corpus, a file or a
// folder), a built-in preset of the generator or a configuration of it. Limit, if positive,
// takes only the first tests.
type Tests struct {
	Name   string `json:"name,omitempty"`
	Preset string `json:"preset,omitempty"`
	Gen    string `json:"gen,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// Slurm is what a job requests from Slurm. Empty means Slurm's default.
type Slurm struct {
	Partition string   `yaml:"partition" json:"partition,omitempty"`
	Account   string   `yaml:"account" json:"account,omitempty"`
	QOS       string   `yaml:"qos" json:"qos,omitempty"`
	Time      string   `yaml:"time" json:"time,omitempty"`
	Memory    string   `yaml:"memory" json:"memory,omitempty"`
	CPUs      int      `yaml:"cpus" json:"cpus,omitempty"`
	Gres      string   `yaml:"gres" json:"gres,omitempty"`
	Args      []string `yaml:"args" json:"args,omitempty"` // further arguments of sbatch
}

// GPU is the stage that runs tests on a device. The shards compile the tests for Target; the
// machine with the device only checks and runs them.
type GPU struct {
	Device    string `yaml:"device" json:"device,omitempty"`
	Target    string `yaml:"target" json:"target,omitempty"`
	Toolchain string `yaml:"toolchain" json:"toolchain,omitempty"`
	Level     string `yaml:"level" json:"level,omitempty"`
	// Incantations are sets of incantations, as optcheck run takes them.
	Incantations []string `yaml:"incantations" json:"incantations,omitempty"`
	Iterations   string   `yaml:"iterations" json:"iterations,omitempty"`
	Budget       Duration `yaml:"budget" json:"budget,omitempty"`
	Seed         uint64   `yaml:"seed" json:"seed,omitempty"`
	Tune         []string `yaml:"tune" json:"tune,omitempty"`
	Unvalidated  bool     `yaml:"unvalidated" json:"unvalidated,omitempty"`
	// Slurm is what the stage's jobs request, instead of what the shards do.
	Slurm *Slurm `yaml:"slurm" json:"slurm,omitempty"`
}

// Duration is a span of time, written like 90s or 2m.
type Duration string

// Value returns the duration, 0 if there is none. A Duration of a checked Spec is
// valid.
func (d Duration) Value() time.Duration {
	v, _ := time.ParseDuration(string(d))
	return v
}

// The engines.
const (
	EngineLocal = "local"
	EngineSlurm = "slurm"
)

// MaxShards bounds the number of shards; clusters bound the size of arrays, too.
const MaxShards = 100000

// defaults sets omitted values.
func (s *Spec) defaults() {
	if len(s.Vendors) == 0 {
		s.Vendors = []string{target.NVIDIA}
	}
	if s.Engine == "" {
		s.Engine = EngineLocal
	}
	if s.Shards == 0 {
		s.Shards = 1
	}
	if s.Store == "" {
		s.Store = s.Name + ".db"
	}
	if s.Folder == "" {
		s.Folder = s.Name + ".campaign"
	}
	if s.Retries == nil {
		n := 2
		s.Retries = &n
	}
	if g := s.GPU; g != nil {
		if g.Level == "" {
			g.Level = "O3"
		}
		if g.Seed == 0 {
			g.Seed = 1
		}
		if len(g.Incantations) == 0 {
			g.Incantations = []string{"none"}
		}
		if g.Iterations == "" && g.Budget == "" {
			g.Iterations = "1e6"
		}
	}
}

// Complete sets omitted values of a campaign that was not read from a file, and returns what is
// wrong with it.
func (s *Spec) Complete() error {
	s.defaults()
	var errs []error
	for _, f := range s.check() {
		errs = append(errs, fmt.Errorf("%s%s", label(f.at), f.why))
	}
	return errors.Join(errs...)
}

var (
	// A name becomes part of file names and of Slurm's job names.
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	wordForm  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.,@:+-]*$`)
	gresForm  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:,-]*$`)
	timeForm  = regexp.MustCompile(`^(\d+-)?\d+(:\d+){0,2}$`)
	sizeForm  = regexp.MustCompile(`^\d+[KMGT]?$`)
	countForm = regexp.MustCompile(`^\d[\d_]*(e\d{1,2})?$`)
)

// fault is an invalid value: its place in the file, as keys and positions, and the reason.
type fault struct {
	at  []any
	why string
}

// check returns the invalid values.
func (s *Spec) check() (faults []fault) {
	bad := func(why string, at ...any) { faults = append(faults, fault{at, why}) }
	word := func(form *regexp.Regexp, v, want string, at ...any) {
		if v != "" && !form.MatchString(v) {
			bad(fmt.Sprintf("%q is not a %s", v, want), at...)
		}
	}
	oneOf := func(v string, list []string, at ...any) {
		if !slices.Contains(list, v) {
			bad(fmt.Sprintf("unknown value %q (%s)", v, strings.Join(list, ", ")), at...)
		}
	}
	if s.Name == "" {
		bad("a campaign needs a name")
	}
	word(nameForm, s.Name, "name (letters, digits, dots, dashes and underscores)", "name")
	for i, v := range s.Vendors {
		oneOf(v, []string{target.NVIDIA, target.AMD}, "vendors", i)
		if slices.Contains(s.Vendors[:i], v) {
			bad(fmt.Sprintf("%q is listed twice", v), "vendors", i)
		}
	}
	for i, v := range s.Levels {
		oneOf(v, []string{"O0", "O1", "O2", "O3"}, "levels", i)
	}
	for i, v := range s.Layouts {
		if _, err := spec.ParseLayout(v); err != nil {
			bad(err.Error(), "layouts", i)
		}
	}
	oneOf(s.Engine, []string{EngineLocal, EngineSlurm}, "engine")
	if s.Source != "" {
		oneOf(s.Source, []string{"ptx", "opencl", "llvm-ir"}, "source")
		if of := map[string]string{"ptx": target.NVIDIA, "opencl": target.AMD}[s.Source]; of != "" && !slices.Equal(s.Vendors, []string{of}) {
			bad(fmt.Sprintf("only vendor %[2]s has the source %[1]s", s.Source, of), "source")
		}
	}
	duration(s.Timeout, bad, "timeout")
	for key, n := range map[string]int{"jobs": s.Jobs, "parallel": s.Parallel, "retries": *s.Retries} {
		if n < 0 || n > 10000 {
			bad(fmt.Sprintf("%d is out of range", n), key)
		}
	}
	if s.Shards < 1 || s.Shards > MaxShards {
		bad(fmt.Sprintf("%d is out of range (1 to %d)", s.Shards, MaxShards), "shards")
	}
	s.Slurm.check(word, bad, "slurm")
	s.GPU.check(s, word, bad)
	slices.SortStableFunc(faults, func(a, b fault) int { return strings.Compare(fmt.Sprint(a.at), fmt.Sprint(b.at)) })
	return faults
}

func duration(d Duration, bad func(string, ...any), at ...any) {
	if v, err := time.ParseDuration(string(d)); d != "" && (err != nil || v <= 0) {
		bad(fmt.Sprintf("%q is not a duration (60s, 2m)", string(d)), at...)
	}
}

type wordCheck func(form *regexp.Regexp, v, want string, at ...any)

func (s *Slurm) check(word wordCheck, bad func(string, ...any), at ...any) {
	if s == nil {
		return
	}
	in := func(key ...any) []any { return append(slices.Clone(at), key...) }
	word(wordForm, s.Partition, "partition", in("partition")...)
	word(wordForm, s.Account, "account", in("account")...)
	word(wordForm, s.QOS, "quality of service", in("qos")...)
	word(timeForm, s.Time, "time limit of Slurm (30, 2:00:00, 1-12:00:00)", in("time")...)
	word(sizeForm, s.Memory, "size of memory (4G, 500M)", in("memory")...)
	word(gresForm, s.Gres, "generic resource (gpu:1)", in("gres")...)
	if s.CPUs < 0 || s.CPUs > 100000 {
		bad(fmt.Sprintf("%d is out of range", s.CPUs), in("cpus")...)
	}
	for i, a := range s.Args {
		if !strings.HasPrefix(a, "--") || strings.ContainsAny(a, "\x00\n\r") {
			bad(fmt.Sprintf("%q is not an sbatch argument: write --name=value", a), in("args", i)...)
		}
		// sbatch accepts prefixes of names.
		if name, _, _ := strings.Cut(a, "="); slices.ContainsFunc(ownArgs, func(own string) bool { return strings.HasPrefix(own, name) }) {
			bad(fmt.Sprintf("%s is set by optcheck itself", name), in("args", i)...)
		}
	}
}

// ownArgs lists the arguments of sbatch that following and collecting rely on.
var ownArgs = []string{"--array", "--parsable", "--chdir", "--output", "--error", "--job-name", "--dependency", "--wrap", "--open-mode",
	"--kill-on-invalid-dep", "--wait", "--test-only", "--export", "--requeue", "--no-requeue"}

func (g *GPU) check(s *Spec, word wordCheck, bad func(string, ...any)) {
	if g == nil {
		return
	}
	if !slices.Contains(s.Vendors, target.NVIDIA) {
		bad("devices run the tests of the vendor nvidia, which is not among the vendors", "gpu")
	}
	if !slices.Contains([]string{"O0", "O1", "O2", "O3"}, g.Level) {
		bad(fmt.Sprintf("unknown level %q (O0, O1, O2, O3)", g.Level), "gpu", "level")
	}
	if _, err := drive.ParseIncantations(strings.Join(g.Incantations, ",")); err != nil {
		bad(err.Error(), "gpu", "incantations")
	}
	word(countForm, g.Iterations, "number of instances (100000, 1e8)", "gpu", "iterations")
	duration(g.Budget, bad, "gpu", "budget")
	opencl := strings.HasPrefix(g.Device, "opencl:")
	switch {
	case g.Target == "" && !opencl:
		bad("the target to compile for is missing (sm_90): the machine that compiles may have no such device", "gpu")
	case g.Target == "" && !g.Unvalidated:
		bad("no decoder reads what a device of OpenCL runs: say unvalidated: true, and the results say so, too", "gpu")
	}
	g.Slurm.check(word, bad, "gpu", "slurm")
}
