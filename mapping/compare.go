package mapping

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/realcode"
)

// compared are the groups of PTX whose operations are judged: their machine code is compared with the PTX as that of programs is, for
// no instruction of it says what it orders.
var compared = []string{"copies", "mbarriers", "warps"}

// compare notes of the mapped operations of these groups whether their machine code is their PTX.
func compare(ctx context.Context, ops []Op, cells []Cell, p pipeline.Place) error {
	var text strings.Builder
	fmt.Fprintf(&text, ".version %s\n.target %s\n.address_size 64\n", p.Toolchain.MaxPTX, p.Target)
	var at []int
	for i := range cells {
		if cells[i].Status == Mapped && slices.Contains(compared, ops[i].Group) {
			at = append(at, i)
			text.WriteString(ops[i].kernel(fmt.Sprintf("m%d", i)))
		}
	}
	if len(at) == 0 {
		return nil
	}
	note := func(code func(i int) string) error {
		for _, i := range at {
			cells[i].Code = code(i)
		}
		return ctx.Err()
	}
	m, err := ptx.Parse("mapping.ptx", []byte(text.String()))
	if err != nil {
		return note(func(int) string { return Unknown })
	}
	code, err := realcode.Build(ctx, p.Toolchain, m, p.Target, p.Level)
	if err != nil {
		return note(func(int) string { return Unknown })
	}
	res, err := realcode.Compare(ctx, m, code, p.Target)
	if err != nil {
		return err
	}
	return note(func(i int) string {
		for k := range res.Kernels {
			if res.Kernels[k].Name == fmt.Sprintf("m%d", i) {
				class, _ := res.Kernels[k].Class()
				return class
			}
		}
		return Unknown
	})
}
