package realcode

import (
	"slices"

	"optcheck/ptx"
)

// endAlike reports whether what follows two operations up to where their paths meet
// is alike: of two such ends, a compiler makes one.
func (s *source) endAlike(a, b *Op) bool {
	at := func(op *Op) int {
		return slices.IndexFunc(op.Func.Body, func(st ptx.Stmt) bool { return st.Inst == op.Inst })
	}
	body := a.Func.Body
	i, j := at(a)+1, at(b)+1
	for i != j {
		x, y := s.matters(body, i), s.matters(body, j)
		if x < 0 || y < 0 || x == y {
			return x == y
		}
		p, q := body[x].Inst, body[y].Inst
		if p.Op != q.Op || p.Name == "bra" && p.Args[0].Name != q.Args[0].Name {
			return false
		}
		switch {
		case p.Name == "ret" || p.Name == "exit" || p.Name == "trap" || p.Name == "bra" && p.Guard < 0:
			return true
		}
		i, j = x+1, y+1
	}
	return true
}

// matters is the next statement that is compared or jumps, -1 at the end of the body.
// Jumps without a condition are followed, unless they go back.
func (s *source) matters(body []ptx.Stmt, i int) int {
	for ; i < len(body); i++ {
		in := body[i].Inst
		if in == nil {
			continue
		}
		e := in.Effect()
		if compared(&e) || warpWide(in) || in.Name == "call" || in.Name == "brx" || in.Name == "ret" || in.Name == "exit" || in.Name == "trap" {
			return i
		}
		if in.Name == "bra" {
			to := slices.IndexFunc(body, func(st ptx.Stmt) bool { return st.Kind == ptx.StmtLabel && st.Name == in.Args[0].Name })
			if in.Guard >= 0 || to < i {
				return i
			}
			i = to
		}
	}
	return -1
}
