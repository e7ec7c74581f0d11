// Package target contains the table of the GPUs that code is compiled for: their vendors, names
// and generations. The packages that read and check a generation's code describe its
// instruction set and memory system.
package target

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// The vendors, as named in options and results.
const (
	NVIDIA = "nvidia"
	AMD    = "amd"
	X86    = "x86"
)

// Family is a generation of AMD's GPUs: those with one instruction set and one memory
// system, as far as LLVM's "User Guide for AMDGPU Backend" tells them apart.
type Family uint8

// The families, in the order in which they appeared.
const (
	NoFamily  Family = iota // not AMD's
	TeraScale               // R600 to Cayman, LLVM's r600 back end
	GFX6                    // GCN 1: Southern Islands
	GFX7                    // GCN 2: Sea Islands
	GFX8                    // GCN 3 and 4: Volcanic Islands
	GFX9                    // GCN 5 and CDNA 1: Vega
	GFX90A                  // CDNA 2
	GFX940                  // CDNA 3, and gfx950
	GFX10                   // RDNA 1 and 2
	GFX11                   // RDNA 3
	GFX12                   // RDNA 4
	GFX125                  // gfx125x
)

// Target is one GPU architecture, or an AMD family that a listing names without details.
type Target struct {
	// Name is the given name, in lower case and without features: "sm_90a", "tahiti", "gfx90a"
	// for gfx90a:sramecc+.
	Name   string
	Vendor string
	// SM is the number of an NVIDIA target: 90 for sm_90a. Suffix is what follows it: "", "a"
	// (features of this target alone) or "f" (of its family).
	SM     int
	Suffix string
	// Chip is the gfx number of an AMD target: gfx600 for tahiti. For TeraScale and for whole
	// families, which have none, it is the name.
	Chip   string
	Family Family
	// Major is the generation of a gfx target, 6 to 12; Step orders the targets of one
	// generation.
	Major, Step int
}

// teraScale lists the targets before GCN as LLVM and AMD's tools name them.
var teraScale = strings.Fields(`r600 r630 rs880 rv610 rv620 rv630 rv635 rv670 r700 rv710 rv730 rv740 rv770
	evergreen cedar palm redwood sumo sumo2 juniper cypress hemlock northern-islands barts turks caicos cayman aruba`)

// chips maps the code names that LLVM and AMD's tools use to gfx numbers (LLVM, AMDGPUUsage,
// "Processors").
var chips = map[string]string{
	"tahiti": "gfx600", "pitcairn": "gfx601", "verde": "gfx601", "capeverde": "gfx601", "oland": "gfx602", "hainan": "gfx602",
	"kaveri": "gfx700", "spectre": "gfx700", "hawaii": "gfx701", "kabini": "gfx703", "kalindi": "gfx703",
	"mullins": "gfx703", "bonaire": "gfx704",
	"carrizo": "gfx801", "iceland": "gfx802", "tonga": "gfx802", "tongapro": "gfx805", "fiji": "gfx803",
	"polaris10": "gfx803", "ellesmere": "gfx803", "polaris11": "gfx803", "baffin": "gfx803", "polaris12": "gfx803", "stoney": "gfx810",
	"vega": "gfx900", "vega10": "gfx900", "greenland": "gfx900", "vega20": "gfx906", "navi10": "gfx1010", "navi21": "gfx1030",
}

// cpu is the only x86-64 target.
const cpu = "x86-64"

// Of returns the target with a name: sm_90a, gfx90a, tahiti, gfx9-4-generic,
// amdgcn-amd-amdhsa--gfx90a:sramecc+, gfx9. ok is false for unknown names.
func Of(name string) (t Target, ok bool) {
	if num, is := strings.CutPrefix(name, "sm_"); is {
		return nvidia(name, num)
	}
	if name == cpu {
		return Target{Name: name, Vendor: X86}, true
	}
	s := strings.ToLower(strings.TrimSpace(name))
	if i := strings.LastIndex(s, "--"); i >= 0 {
		s = s[i+2:]
	}
	s, _, _ = strings.Cut(s, ":")
	t = Target{Name: s, Vendor: AMD, Chip: s}
	if slices.Contains(teraScale, s) {
		t.Family = TeraScale
		return t, true
	}
	if chip, known := chips[s]; known {
		t.Chip = chip
	}
	if !t.number() {
		return Target{}, false
	}
	return t, true
}

func nvidia(name, num string) (Target, bool) {
	digits := strings.TrimRight(num, "af")
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(num)-len(digits) > 1 {
		return Target{}, false
	}
	return Target{Name: name, Vendor: NVIDIA, SM: int(n), Suffix: num[len(digits):]}, true
}

// number parses the gfx number: one or two digits of the generation and, for single targets,
// two hexadecimal digits. It reports whether there is one.
func (t *Target) number() bool {
	num, ok := strings.CutPrefix(t.Chip, "gfx")
	if !ok {
		return false
	}
	num, generic := strings.CutSuffix(num, "-generic")
	if major, minor, ok := strings.Cut(num, "-"); ok && generic { // gfx9-4-generic
		num = major + minor + "0"
	}
	major, step := num, ""
	if len(num) > 2 {
		major, step = num[:len(num)-2], num[len(num)-2:]
		s, err := strconv.ParseUint(step, 16, 8)
		if err != nil {
			return false
		}
		t.Step = int(s)
	}
	if generic {
		t.Step |= 15 // after the targets that it stands for
	}
	n, err := strconv.ParseUint(major, 10, 8)
	t.Major = int(n)
	t.Family = familyOf(t.Major, step)
	return err == nil && t.Family != NoFamily
}

// familyOf returns the family of a gfx number.
func familyOf(major int, step string) Family {
	switch {
	case major == 9 && step == "0a":
		return GFX90A
	case major == 9 && step >= "40" && step < "60":
		return GFX940
	case major == 12 && strings.HasPrefix(step, "5"):
		return GFX125
	}
	if major < len(byMajor) {
		return byMajor[major]
	}
	return NoFamily
}

// byMajor maps generation numbers to families, where the number alone decides.
var byMajor = [...]Family{6: GFX6, 7: GFX7, 8: GFX8, 9: GFX9, 10: GFX10, 11: GFX11, 12: GFX12}

// Vendor returns the vendor of a target; "" if the name is unknown.
func Vendor(name string) string {
	t, _ := Of(name)
	return t.Vendor
}

// SM returns the number of an NVIDIA target, 90 for sm_90a; ok is false for other names.
func SM(name string) (n int, ok bool) {
	t, ok := Of(name)
	return t.SM, ok && t.Vendor == NVIDIA
}

// IsTeraScale reports whether a name is that of a target before GCN.
func IsTeraScale(name string) bool {
	t, _ := Of(name)
	return t.Family == TeraScale
}

// Compare orders the names of targets: NVIDIA's by number and suffix (sm_90, sm_90a, sm_100);
// AMD's from TeraScale, by name, to the newest, with code names next to the gfx numbers that
// they stand for. Unknown names come last.
func Compare(a, b string) int {
	x, _ := Of(a)
	y, _ := Of(b)
	return cmp.Or(-cmp.Compare(x.Vendor, y.Vendor), cmp.Compare(x.SM, y.SM), cmp.Compare(x.Suffix, y.Suffix),
		cmp.Compare(x.Major, y.Major), cmp.Compare(x.Step, y.Step), cmp.Compare(a, b))
}
