package verify

import (
	"fmt"

	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/ptx/lower"
)

// lowered is a kernel to be run. What a fetch of a texture reads is content that was chosen: no thread of the launch writes it by an access
// that is followed.
func lowered(m *ptx.Module, kernel string, l *Launch) (*ir.Program, error) {
	p, err := lower.Kernel(m, kernel)
	if err != nil {
		return nil, err
	}
	if err := l.cluster(p); err != nil {
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

// cluster makes the clusters of a launch those of the program, which may have asked for some itself.
func (l *Launch) cluster(p *ir.Program) error {
	none := [3]int{}
	switch {
	case l.Cluster == none:
	case p.Cluster != none && p.Cluster != l.Cluster:
		return fmt.Errorf("the kernel asks for clusters of %s blocks", commas(p.Cluster))
	default:
		p.Cluster = l.Cluster
	}
	for i, n := range p.Cluster {
		if n > 0 && l.Grid[i]%n != 0 {
			return fmt.Errorf("a grid of %s blocks has no whole clusters of %s", commas(l.Grid), commas(p.Cluster))
		}
	}
	return nil
}
