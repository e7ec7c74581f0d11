package ptxgen

import (
	"fmt"
	"strconv"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
	"optcheck/target"
)

// Version is a PTX ISA version, major*10+minor: 78 is 7.8.
type Version int

// String returns the version as in a .version directive.
func (v Version) String() string { return fmt.Sprintf("%d.%d", int(v)/10, int(v)%10) }

// ParseVersion reads "7.8".
func ParseVersion(s string) (Version, error) {
	major, minor, ok := strings.Cut(s, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if !ok || err1 != nil || err2 != nil || a < 1 || a > 99 || b < 0 || b > 9 {
		return 0, fmt.Errorf("%q is no PTX version", s)
	}
	return Version(a*10 + b), nil
}

// SM returns the number of a target: 90 for sm_90a.
func SM(name string) (int, error) {
	n, ok := target.SM(name)
	if !ok {
		return 0, fmt.Errorf("%q is no NVIDIA target (sm_NN)", name)
	}
	return n, nil
}

// generations are the first targets that have more features than those before.
var generations = litmus.FirstTargets()

// Generation returns the number of a target's generation. Emit, and EmitLLVMIR for
// NVIDIA's targets, write the same units, or refuse tests for the same reason, for
// all targets of a generation; only Unit.Version differs.
func Generation(target string) (int, error) {
	sm, err := SM(target)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, first := range generations {
		if sm >= first {
			n++
		}
	}
	return n, nil
}

// VersionFor returns the lowest PTX version that has everything that a unit uses, and a target
// of the unit's generation.
func (u *Unit) VersionFor(target string) (Version, error) {
	sm, err := SM(target)
	return max(u.Needs, minVersion(target, sm)), err
}

// NewestSM is the newest target whose rules this package knows.
const NewestSM = 121

// minVersion returns the PTX version that introduced a target (PTX ISA, release notes), at
// least 5.0, which every supported toolchain accepts.
func minVersion(target string, sm int) Version {
	v := Version(50)
	switch {
	case sm == 110 || sm == 88:
		v = 90
	case strings.HasSuffix(target, "f"), sm >= 121: // family targets
		v = 88
	case sm >= 120, sm == 101:
		v = 87
	case sm == 103:
		v = 88
	case sm >= 100:
		v = 86
	case sm == 90:
		v = 78
		if strings.HasSuffix(target, "a") {
			v = 80
		}
	case sm == 89:
		v = 78
	case sm == 87:
		v = 74
	case sm == 86:
		v = 71
	case sm == 80:
		v = 70
	case sm == 75:
		v = 63
	case sm == 72:
		v = 61
	case sm >= 70:
		v = 60
	}
	return v
}

func unsupported(format string, args ...any) error {
	return &spec.Unsupported{Reason: fmt.Sprintf(format, args...)}
}

// requirement returns the PTX version that an instruction, in its emitted form, needs, or a
// *spec.Unsupported error if no version of PTX has it for the target. litmus has the table of
// what PTX has, and since when.
func requirement(in *litmus.Instr, sm int) (Version, error) {
	if in.Op == litmus.OpFenceProxy && in.Formal() {
		return 0, unsupported("fence.proxy.%v has no meaning for the accesses of a kernel in audit form", in.Proxy)
	}
	if in.Formal() {
		return 0, unsupported("%s is of memory models only", in.Mnemonic())
	}
	if why := in.Illegal(); why != "" && in.Async == nil {
		return 0, unsupported("%s", why)
	}
	var v Version
	for _, n := range in.Needs() {
		if sm < n.SM {
			return 0, unsupported("%s needs sm_%d or higher", n.What, n.SM)
		}
		v = max(v, Version(n.PTX))
	}
	return v, nil
}
