package hazard

import (
	"testing"

	"optcheck/isa"
)

func BenchmarkCheck(b *testing.B) {
	var list []*isa.Func
	load(b, *cubins, func(_ string, fn *isa.Func) { list = append(list, fn) })
	insts := 0
	for b.Loop() {
		insts = 0
		for _, fn := range list {
			Check(fn)
			insts += len(fn.Insts)
		}
	}
	b.ReportMetric(float64(insts), "instructions")
}
