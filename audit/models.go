package audit

import (
	"slices"

	"optcheck/ptxgen"
)

// readings are the models that PTX is read under: the vendor's from sm_70 on,
// and that of 2015, when there was none.
var readings = []string{ptxModel, "ptx-2015"}

// ModelsFor lists the models that code for a target is judged by, the target's
// own first. Without a target it is the model of the CPUs that OpenCL C is
// compiled for (PoCL, x86).
func ModelsFor(target string) []string {
	if target == "" {
		return []string{"tso"}
	}
	if sm, err := ptxgen.SM(target); err == nil && sm < 70 {
		return []string{readings[1], readings[0]}
	}
	return slices.Clone(readings)
}

// DefaultModel returns the model under which the code of a target is judged.
func DefaultModel(target string) string { return ModelsFor(target)[0] }

// otherModel returns a further model that a target could be read under, "" for none.
func otherModel(name string) string {
	if i := slices.Index(readings, name); i >= 0 {
		return readings[1-i]
	}
	return ""
}
