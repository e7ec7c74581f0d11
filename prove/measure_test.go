package prove_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/prove"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/ptxgen/values"
	"optcheck/refine"
	"optcheck/sass"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// count is what came of some kernels.
type count struct {
	all, proved, insts, instsProved int
	why                             map[string]int
	times                           []time.Duration
}

var details = regexp.MustCompile(`(event \d+|the end|differs|not proved).*|\d+`)

// effort is what is looked for of a kernel (OPTCHECK_EFFORT=quick).
var effort = map[string]prove.Effort{"": prove.Thorough, "quick": prove.Quick}[os.Getenv("OPTCHECK_EFFORT")]

// prove proves a kernel, and counts.
func (c *count) prove(t *testing.T, name string, p pair) bool {
	began := time.Now()
	r := prove.Prove(p.program, p.machine, effort)
	took := time.Since(began)
	c.times = append(c.times, took)
	c.all++
	c.insts += len(p.program.Insts)
	if r.Proved {
		c.proved++
		c.instsProved += len(p.program.Insts)
	} else {
		c.why[details.ReplaceAllStringFunc(r.Why, func(s string) string {
			for _, w := range []string{"not proved", "differs", "other stores", "of the machine code"} {
				if strings.Contains(s, w) {
					return w
				}
			}
			return "n"
		})]++
	}
	t.Logf("%s: %v, %d instructions, %d events, %d claims, %v: %.2000s", name, r.Proved, len(p.program.Insts), r.Events, r.Claims, took, r.Why)
	return r.Proved
}

func (c *count) log(t *testing.T) {
	slices.Sort(c.times)
	for _, w := range slices.SortedFunc(maps.Keys(c.why), func(a, b string) int { return c.why[b] - c.why[a] }) {
		t.Logf("%4d %s", c.why[w], w)
	}
	t.Logf("%d of %d kernels proved, %d of %d instructions, median %v, longest %v", c.proved, c.all, c.instsProved, c.insts,
		c.times[len(c.times)/2], c.times[len(c.times)-1])
}

// TestMeasureRandom (OPTCHECK_KERNELS=100): random kernels of integers, below 200 statements. Those that are wrong must not be proved.
func TestMeasureRandom(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("OPTCHECK_KERNELS"))
	if n == 0 {
		t.Skip("OPTCHECK_KERNELS")
	}
	seed, _ := strconv.ParseUint(os.Getenv("OPTCHECK_SEED"), 10, 64)
	o := values.Options{PTX: 80, SM: 80, Without: strings.Fields("f32 f64 f16 fconvert fcompare shared atomic shuffle vote reduce lanes")}
	texts := map[string]string{}
	for i := range n {
		if k := values.Generate(seed, i, o); k.Count() < 200 {
			name := fmt.Sprintf("k%04d", i)
			texts[name] = k.Text(name)
		}
	}
	list := lowered(t, tested.Release(t, "12.4"), texts)
	c, differ, wrong := count{why: map[string]int{}}, 0, 0
	for _, name := range slices.Sorted(maps.Keys(list)) {
		p := list[name]
		proved := c.prove(t, name, p)
		res, err := refine.Compare(t.Context(), p.program, p.machine, refine.Options{Runs: 4})
		require.NoError(t, err)
		if len(res.Findings) > 0 {
			differ++
			t.Logf("%s: %s", name, res.Findings[0].Why)
		}
		if proved && len(res.Findings) > 0 {
			wrong++
			t.Errorf("%s: proved, but %s", name, res.Findings[0].Why)
		}
	}
	c.log(t)
	t.Logf("%d kernels are wrong, %d of them proved", differ, wrong)
	require.Zero(t, wrong)
}

// TestMeasureReal (OPTCHECK_REAL=folder): the kernels of files of PTX of less than 300 kB that 12.4 made.
func TestMeasureReal(t *testing.T) {
	dir := os.Getenv("OPTCHECK_REAL")
	if dir == "" {
		t.Skip("OPTCHECK_REAL")
	}
	tc := tested.Release(t, "12.4")
	files, err := filepath.Glob(filepath.Join(dir, "*-12.4.ptx"))
	require.NoError(t, err)
	c := count{why: map[string]int{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		first, body, ok := strings.Cut(string(text), ".address_size 64\n")
		if len(text) > 300_000 || !ok {
			continue
		}
		target := regexp.MustCompile(`sm_\d+a?`).FindString(first)
		if target < "sm_80" {
			target = "sm_80"
		}
		first += ".address_size 64\n"
		m, err := ptx.Parse(file, text)
		require.NoError(t, err)
		job := toolchain.Job{Target: target, Level: "O3", Header: first, Units: []toolchain.Unit{{Name: "unit", Text: body}}}
		res, err := tc.Compile(t.Context(), job)
		if err != nil || len(res.Failed) > 0 {
			t.Logf("%s: does not compile for %s", file, target)
			continue
		}
		listing, err := tc.Disassemble(t.Context(), res.Batches[0].Cubin, toolchain.DisasmOptions{})
		require.NoError(t, err)
		code, err := sass.Parse("listing", listing)
		require.NoError(t, err)
		f, err := cubin.Parse(res.Batches[0].Cubin)
		require.NoError(t, err)
		for _, fn := range m.Funcs {
			if !fn.Entry {
				continue
			}
			program, err := ptxlower.Kernel(m, fn.Name)
			require.NoError(t, err)
			machine, err := sasslower.Kernel(code, f, fn.Name)
			require.NoError(t, err)
			c.prove(t, filepath.Base(file)+" "+fn.Name, pair{program, machine})
		}
	}
	c.log(t)
}
