package verify

import (
	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/ptx/lower"
)

// lowered is a kernel to be run. What a fetch of a texture reads is content that was chosen: no thread of the launch writes it by an access
// that is followed.
func lowered(m *ptx.Module, kernel string) (*ir.Program, error) {
	p, err := lower.Kernel(m, kernel)
	if err != nil {
		return nil, err
	}
	for i := range p.Insts {
		if in := &p.Insts[i]; in.Opaque != "" && len(in.Results) > 0 {
			in.Opaque, in.Do = "", &ir.Special{Reg: ir.Undefined, Dst: in.Results[0]}
			for _, r := range in.Results[1:] {
				in.Post = append(in.Post, ir.Op{Type: ir.U32, To: ir.U32, Code: ir.Mov, Dst: r, Src: [4]ir.Reg{in.Results[0], ir.None, ir.None, ir.None}})
			}
		}
	}
	return p, nil
}
