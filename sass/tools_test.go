package sass

import (
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"optcheck/internal/required"
)

// release is an installed CUDA toolkit.
type release struct {
	name, bin string
	ptx       int // newest PTX ISA times ten
	sms       []int
}

var knownReleases = map[string]release{
	"11.2": {name: "11.2", ptx: 72, sms: []int{35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86}},
	"11.8": {name: "11.8", ptx: 78, sms: []int{35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90}},
	"12.4": {name: "12.4", ptx: 84, sms: []int{50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90}},
}

// releases finds the toolkits that the tests know: in $OPTCHECK_TOOLCHAIN_DIRS (a
// colon-separated list of bin folders), or in the managed folder.
func releases(t testing.TB) []release {
	t.Helper()
	var bins []string
	if env := os.Getenv("OPTCHECK_TOOLCHAIN_DIRS"); env != "" {
		bins = strings.Split(env, ":")
	} else {
		cache, err := os.UserCacheDir()
		if err == nil {
			bins, _ = filepath.Glob(filepath.Join(cache, "optcheck", "toolchains", "*", "root", "usr", "bin"))
		}
	}
	var out []release
	for _, b := range bins {
		v, err := exec.Command(filepath.Join(b, "nvdisasm"), "--version").CombinedOutput()
		if err != nil {
			continue
		}
		for k, r := range knownReleases {
			if strings.Contains(string(v), "release "+k) {
				r.bin = b
				out = append(out, r)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	if len(out) == 0 {
		required.Missing(t, "no CUDA toolkit found (set OPTCHECK_TOOLCHAIN_DIRS)")
	}
	return out
}

// compile runs ptxas and returns the cubin's path.
func (r release) compile(t testing.TB, ptx string, sm int, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "t.ptx"), filepath.Join(dir, "t.cubin")
	if err := os.WriteFile(src, []byte(ptx), 0o644); err != nil {
		t.Fatal(err)
	}
	arch := "sm_" + strconv.Itoa(sm)
	if strings.Contains(ptx, ".target "+arch+"a\n") {
		arch += "a"
	}
	args = append(args, "-arch", arch, src, "-o", bin)
	if out, err := exec.Command(filepath.Join(r.bin, "ptxas"), args...).CombinedOutput(); err != nil {
		t.Fatalf("ptxas %s sm_%d: %v\n%s", r.name, sm, err, out)
	}
	return bin
}

// tool runs nvdisasm or cuobjdump and returns its text.
func (r release) tool(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(filepath.Join(r.bin, name), args...)
	cmd.Env = append(os.Environ(), "PATH="+r.bin+":"+os.Getenv("PATH"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s %v: %v\n%s", name, r.name, args, err, errs.String())
	}
	return out
}
