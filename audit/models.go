package audit

import (
	"slices"

	"optcheck/ptxgen"
)

// readings are the models under which PTX is read: the vendor's from sm_70 on, and that of
// 2015, before the vendor had one.
var readings = []string{ptxModel, "ptx-2015"}

// ModelsFor lists the models that judge code for a target, the target's own first. Without a
// target it returns the model of the CPUs that PoCL compiles OpenCL C for (x86).
func ModelsFor(target string) []string {
	if target == "" {
		return []string{"tso"}
	}
	if sm, err := ptxgen.SM(target); err == nil && sm < 70 {
		return []string{readings[1], readings[0]}
	}
	return slices.Clone(readings)
}

// DefaultModel returns the model that judges the code of a target.
func DefaultModel(target string) string { return ModelsFor(target)[0] }

// otherModel returns another model under which code for the target could be read, "" for none.
func otherModel(name string) string {
	if i := slices.Index(readings, name); i >= 0 {
		return readings[1-i]
	}
	return ""
}
