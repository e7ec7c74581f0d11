package toolchain

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Toolchain is one compiler release at one place. It is immutable once found
// and safe for concurrent use.
type Toolchain struct {
	// ID is unique among the toolchains of one Discover: "ptxas 12.4.131".
	ID string `json:"id"`
	// Name is short and stable: "cuda-12.4"; with the patch number appended
	// when a second build of the same release is present.
	Name string `json:"name"`
	// Version is the full version of ptxas, "12.4.131".
	Version string `json:"version"`
	// Build is ptxas's build tag, "cuda_12.4.r12.4/compiler.34097967_0".
	Build string `json:"build"`
	// Ptxas, Nvdisasm and Cuobjdump are the paths of the three tools. The last
	// two are of the same release as the first, of the next newer one found
	// (Reader), or empty.
	Ptxas     string `json:"ptxas,omitempty"`
	Nvdisasm  string `json:"nvdisasm,omitempty"`
	Cuobjdump string `json:"cuobjdump,omitempty"`
	// Reader is the release of Nvdisasm and Cuobjdump where it is not that of
	// Ptxas, "13.0". The tools read what older compilers wrote (CUDA Binary
	// Utilities, §1); a target they have dropped is an error of theirs.
	Reader string `json:"reader,omitempty"`
	// Targets are the real architectures the compiler accepts, in numeric
	// order: "sm_50", …, "sm_90", "sm_90a".
	Targets []string `json:"targets"`
	// MaxPTX is the highest PTX ISA version the compiler accepts, "8.4".
	MaxPTX string `json:"max_ptx,omitempty"`
	// Source says where it was found: "OPTCHECK_TOOLCHAIN_DIRS", "configured",
	// "PATH", "CUDA_HOME", "system", "managed" or "added".
	Source string `json:"source"`
	// Kind says which compilers it has: CUDA, *LLVM or *LLC.
	Kind Kind `json:"-"`

	runner       *Runner
	listings     bool
	dictionaries string
	newer        *Toolchain
}

// Newer is the next newer toolchain with a disassembler of its own, nil if none was found: it knows
// what this one's does not print.
func (t *Toolchain) Newer() *Toolchain { return t.newer }

// Listings reports whether nvdisasm is to print every cubin as a whole, although
// a dictionary of encodings would do.
func (t *Toolchain) Listings() bool { return t.listings }

// Listed is the toolchain with listings of every cubin: for code whose encodings come once only, of which a dictionary
// would learn for nothing.
func (t *Toolchain) Listed() *Toolchain {
	c := *t
	c.listings = true
	return &c
}

// Dictionaries is the folder in which what nvdisasm said of encodings is kept;
// "" if it is not.
func (t *Toolchain) Dictionaries() string { return t.dictionaries }

// Disassembler names the disassembler and its file's state, which stand for what
// it prints: "nvdisasm 12.4, 50679016 bytes of 1708912345".
func (t *Toolchain) Disassembler() (string, error) {
	info, err := os.Stat(t.Nvdisasm)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("nvdisasm %s, %d bytes of %d", cmp.Or(t.Reader, t.Release()), info.Size(), info.ModTime().UnixNano()), nil
}

// Release is the first two numbers of the version, "12.4".
func (t *Toolchain) Release() string { return release(t.Version) }

// HasTarget tells whether the compiler accepts the target.
func (t *Toolchain) HasTarget(target string) bool {
	for _, s := range t.Targets {
		if s == target {
			return true
		}
	}
	return false
}

// Runner is what starts this toolchain's processes and counts them.
func (t *Toolchain) Runner() *Runner {
	if t.runner == nil {
		return DefaultRunner()
	}
	return t.runner
}

// Stats is what the processes of this toolchain's Runner cost so far; a Runner
// may be shared by several toolchains.
func (t *Toolchain) Stats() Stats { return t.Runner().Stats() }

// release cuts "12.4.131" to "12.4".
func release(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return version
	}
	return parts[0] + "." + parts[1]
}

// CompareVersions orders dotted numbers: 11.8.89 before 12.4.131.
func CompareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if c := cmp.Compare(part(as, i), part(bs, i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a, b)
}

func part(p []string, i int) int {
	if i >= len(p) {
		return -1
	}
	n, err := strconv.Atoi(p[i])
	if err != nil {
		return -1
	}
	return n
}
